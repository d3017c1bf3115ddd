"""A copy of a home for a process that helps another one, and must not write into the owner's."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from learning.home import Home
from learning.models.snapshots import SNAPSHOTS
from learning.models.store import ModelStore


@contextmanager
def copied_home(home: Home, model: str) -> Iterator[tuple[Home, str]]:
    """Yields a temporary home with the journal, the book, the settings and that model, and the model's name
    there. Removes it at the end. Nobody may write into the owner's home before it is yielded. Raises
    NotFound for an unknown model."""
    with tempfile.TemporaryDirectory(prefix="vidya-process-") as folder:
        copy = Home(Path(folder) / "home")
        for path in (home.journal_path, home.book_path, home.settings_path):
            # SQLite keeps a log beside the journal, which is needed too
            for file in sorted(path.parent.glob(f"{path.name}*")):
                shutil.copy(file, copy.path / file.name)
        found = ModelStore(home).info(model).path
        ignored = shutil.ignore_patterns(SNAPSHOTS, ".*")
        shutil.copytree(found, copy.models_path / found.name, ignore=ignored)
        yield copy, found.name
