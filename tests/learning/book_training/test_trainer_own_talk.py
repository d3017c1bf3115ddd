"""Trains a book beside a base's own answers to everyday messages."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest
import torch

import learning.book_training.trainer as trainer_module
import learning.memory.build
from engine.errors import DataError
from engine.lora import LoraSettings
from engine.tokenizers.tokenizer import Tokenizer
from learning.book_training.loop import ADAPTER_SETTINGS, OWN_TALK_SETTINGS, BookSettings
from learning.book_training.moved import AdapterPlan
from learning.data.examples import Example, from_turns
from learning.lessons.learner import Learner
from learning.memory.own_talk import generate_talk
from learning.protocol.requests import Train
from learning.teacher.training_events import book_settings
from tests.learning.conftest import Place, book_trainer

ANSWER = "Because it is frozen."
CONTEXT = 128


@pytest.fixture
def own(tmp_path: Path) -> Path:
    path = tmp_path / "own.txt"
    path.write_text(f"<|user|> why is ice cold <|assistant|> {ANSWER}\n")
    return path


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What each training was given besides the lines."""
    found: list[dict[str, Any]] = []
    train = trainer_module.train_book

    def noted(*args: Any, **more: Any) -> Any:
        found.append({"talk": args[2], "manner": more["manner"]})
        return train(*args, **more)

    monkeypatch.setattr(trainer_module, "train_book", noted)
    monkeypatch.setattr(
        learning.memory.build,
        "own_talk",
        lambda model, tokenizer, _: generate_talk(
            model, tokenizer, 3, 24, torch.Generator().manual_seed(0)
        ),
    )
    return found


def _train(
    place: Place, book: Path, own: Path | None, *, plan: AdapterPlan | None = None
) -> Learner:
    home, folder, journal = place
    learner = Learner(home, folder, journal)
    settings = dataclasses.replace(OWN_TALK_SETTINGS, epochs=1, until_known=False)
    book_trainer(learner).train(
        book, settings, lambda _: None, lambda: False, own_talk=own, plan=plan
    )
    return learner


def test_all_weights_stay_near_own_answers_and_learn_everyday_talk(
    tiny_place: Place, tmp_path: Path, own: Path, given: list[dict[str, Any]]
) -> None:
    book = tmp_path / "book.txt"
    book.write_text("<|user|> one <|assistant|> two\n")
    _train(tiny_place, book, None)
    learner = _train(tiny_place, book, own)
    plain, beside = given
    assert plain["manner"] == [] and len(beside["manner"]) > 1000
    more: list[Example] = beside["talk"][len(plain["talk"]) :]
    assert [row.said for row in more] == [ANSWER], "beside the talk that it makes up"
    assert more[0].target[-1], "with the id that ends the answer"
    _train(tiny_place, book, own, plan=AdapterPlan(LoraSettings(2, 4.0, first_block=1)))
    (row,) = given[-1]["talk"]
    assert row.said == ANSWER and not row.target[-1], "an adapter may stop sooner"
    assert learner.published.version > 0


def test_a_bad_file_changes_nothing(
    tiny_place: Place, tmp_path: Path, own: Path, given: list[dict[str, Any]]
) -> None:
    book = tmp_path / "book.txt"
    book.write_text("<|user|> one <|assistant|> two\n")
    own.write_text("no conversation\n")
    with pytest.raises(DataError, match=r"own\.txt"):
        _train(tiny_place, book, own)
    assert given == []


def test_the_settings_are_those_of_the_request() -> None:
    assert book_settings(Train()) == BookSettings()
    assert book_settings(Train(own_talk="own.txt")) == OWN_TALK_SETTINGS
    assert book_settings(Train(own_talk="own.txt", rank=4)) == ADAPTER_SETTINGS


def test_own_talk_that_contradicts_a_line_is_left_out(
    tiny_place: Place,
    tmp_path: Path,
    tiny_tokenizer: Tokenizer,
    given: list[dict[str, Any]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    talk = [
        from_turns(tiny_tokenizer, [*before, ("user", asked), ("assistant", "No.")], CONTEXT)
        for before in ((), (("user", "Hello."), ("assistant", "Hello!")))
        for asked in ("One?", "Two?")
    ]
    monkeypatch.setattr(learning.memory.build, "own_talk", lambda *_: talk)
    book = tmp_path / "book.txt"
    book.write_text("<|user|> one <|assistant|> two\n")
    _train(tiny_place, book, None)
    assert given[0]["talk"] == [talk[1], talk[3]]
