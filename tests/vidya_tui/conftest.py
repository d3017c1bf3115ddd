from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from learning.home import Home
from tests.talk import Start, Talk
from tests.vidya_tui.shell import BOOK, Shell

if TYPE_CHECKING:  # the other tests here are of an interface without torch
    from engine.model import Model
    from engine.tokenizers.tokenizer import Tokenizer


@pytest.fixture
def shell(
    tmp_path: Path, tiny_model: Model, tiny_tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> Shell:
    """A home whose model in use is tiny, a short book in place of the shipped one, short lessons."""
    import torch

    import learning.memory.build
    import personality.book
    from engine.storage.checkpoint import save_model
    from tests.short_lessons import SHORT

    monkeypatch.setattr("learning.lessons.learner.TeachSettings", lambda: SHORT)
    monkeypatch.delenv("VIDYA_HOME", raising=False)
    book = tmp_path / "shipped.txt"
    book.write_text(BOOK)
    monkeypatch.setattr(learning.memory.book_rows, "shipped_book_path", lambda: book)
    monkeypatch.setattr(personality.book, "shipped_book_path", lambda: book)
    home = Home(tmp_path / "home")
    folder = home.models_path / "tiny"
    save_model(tiny_model, folder, dtype=torch.float32)
    tiny_tokenizer.save(folder)
    home.settings_path.write_text('model = "tiny"\nmax_tokens = 8\n')
    return Shell(home)


@pytest.fixture
def start(tmp_path: Path) -> Start:
    """Starts the program on the same home, again and again."""

    def begin(**options: object) -> Talk:
        return Talk(tmp_path, **options)  # type: ignore[arg-type]

    return begin
