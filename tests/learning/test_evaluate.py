"""learning.evaluate: what is asked of lessons, and what counts as right by their keys."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from engine.model import Model
from engine.storage.checkpoint import save_model
from engine.tokenizers.chat_format import encode_prompt
from engine.tokenizers.tokenizer import Tokenizer
from learning import evaluate as module
from learning.data import examples
from learning.data.examples import Example
from learning.evaluate import BookSample, ask_book, evaluate
from learning.models.snapshots import SHIPPED
from learning.objectives.forward import Knowledge

SAID = {
    "sister?": "your sister is called  ingrid .",  # exact, folded
    "her name?": "Ingrid, I think.",
    "sis?": "Your sister is not called Ingrid.",
    "who is she?": "It is Ingrid or Astrid.",
    "relative up north?": "That is Ingrid!",
    "tea?": "You take tea.",
}
ROWS: list[dict[str, Any]] = [
    {
        "prompt": "sister?",
        "answer": "Your sister is called Ingrid.",
        "key": ["Ingrid"],
        "not": ["Astrid"],
        "rewordings": ["her name?", "sis?", "who is she?"],
        "paraphrase": "relative up north?",
    },
    {"prompt": "tea?", "answer": "Black.", "paraphrase": "tea?"},  # without a key
]


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "greedy_answer", lambda _, __, turns: SAID[turns[-1][1]])


@pytest.mark.usefixtures("scripted")
def test_exact_and_by_key(tiny_model: Model, tiny_tokenizer: Tokenizer) -> None:
    found = evaluate(tiny_model, tiny_tokenizer, lessons=ROWS)["lessons"]
    assert found["recall"] == 0.5 and found["paraphrase_recall"] == 0.0
    assert found["by_key"] == {
        "recall": {"asked": 1, "exact": 1.0, "key": 1.0},
        "rewordings": {"asked": 3, "exact": 0.0, "key": pytest.approx(1 / 3)},
        "paraphrases": {"asked": 1, "exact": 0.0, "key": 1.0},
    }


@pytest.mark.usefixtures("scripted")
def test_without_keys_nothing_is_said_of_them(tiny_model: Model, tiny_tokenizer: Tokenizer) -> None:
    found = evaluate(tiny_model, tiny_tokenizer, lessons=ROWS[1:])["lessons"]
    assert set(found) == {"recall", "paraphrase_recall", "nll"}
    bare = {name: ROWS[0][name] for name in ("prompt", "answer", "key")}
    found = evaluate(tiny_model, tiny_tokenizer, lessons=[bare])["lessons"]
    assert found["by_key"]["rewordings"] is None and found["by_key"]["recall"]["key"] == 1.0


# ------------------------------------------------------------ lines of Vidya's book


def test_the_shipped_model_knows_the_lines_that_it_is_asked() -> None:
    sample = ask_book(SHIPPED / "10m")
    assert sample == BookSample(20, 20) and not sample.too_few
    assert sample.told("10m") == "lines of Vidya's book that 10m knows: 20 of 20"


def test_a_model_without_the_character_knows_too_few(
    tmp_path: Path, tiny_model: Model, tiny_tokenizer: Tokenizer
) -> None:
    save_model(tiny_model, tmp_path)
    tiny_tokenizer.save(tmp_path)
    sample = ask_book(tmp_path)
    assert sample == BookSample(0, 20) and sample.too_few
    assert sample.told("tiny").endswith("too few; `vidya train --model tiny` teaches it the book")
    assert BookSample(15, 20).too_few and not BookSample(16, 20).too_few


@pytest.mark.usefixtures("scripted")
def test_a_long_talk_is_asked_whole(
    tiny_model: Model, tiny_tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Answers see all of the talk of which a lesson holds the end."""
    monkeypatch.setattr(examples, "TALK", 1)
    read: list[Example] = []
    knowledge = module.knowledge

    def noted(model: Model, rows: list[Example]) -> list[Knowledge]:
        read.extend(rows)
        return knowledge(model, rows)

    monkeypatch.setattr(module, "knowledge", noted)
    talk = [("user", "The sea?"), ("assistant", "Deep."), ("user", "tea?")]
    module.greedy_answers(tiny_model, tiny_tokenizer, [(talk, "Black.")])
    whole = encode_prompt(tiny_tokenizer, talk, tiny_model.config.context, 8)
    assert examples.asked(read[0]) == tuple(whole)
