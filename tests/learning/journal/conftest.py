"""A new journal."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from learning.journal.journal import Journal


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    journal = Journal(tmp_path / "journal.sqlite3")
    yield journal
    journal.close()
