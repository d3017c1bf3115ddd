"""learning.evaluate: what is asked of lessons, and what counts as right by their keys."""

from __future__ import annotations

from typing import Any

import pytest

from engine.model import Model
from engine.tokenizers.tokenizer import Tokenizer
from learning import evaluate as module
from learning.evaluate import evaluate

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
