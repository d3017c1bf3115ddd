"""learning.book_training.loop: what training on a book costs of talk comes back when it settles."""

from __future__ import annotations

import copy
import random
from dataclasses import replace

import pytest
import torch

from engine.config import CONFIGS
from engine.model import Model
from engine.tokenizers.tokenizer import Tokenizer
from learning.book_training.asking import EpochReport
from learning.book_training.loop import BookSettings, BookTraining, train_book
from learning.data.examples import Example, from_turns
from learning.memory.own_talk import generate_talk
from learning.objectives.forward import share_known
from learning.objectives.supervised import anchor_gradients

SETTINGS = BookSettings(epochs=200, batch=4, lr=3e-3, warm_up=5, others=0, talk=2)


@pytest.fixture(scope="module")
def book(tiny_tokenizer: Tokenizer) -> list[Example]:
    pairs = [("Hi", "Good day."), ("Who are you?", "A small model."), ("What is 1 + 1?", "Two.")]
    pairs += [("Do you sleep?", "Never."), ("Sing!", "La la la."), ("Bye", "Until soon.")]
    return [from_turns(tiny_tokenizer, [("user", q), ("assistant", a)], 64) for q, a in pairs]


@pytest.fixture(scope="module")
def read(tiny_tokenizer: Tokenizer, book: list[Example]) -> Model:
    """The tiny model after it has read the book: for a test to copy, because training takes long."""
    config = replace(CONFIGS["tiny"], vocab_size=tiny_tokenizer.vocab_size)
    model = Model(config, generator=torch.Generator().manual_seed(0))
    train_book(model, book, [], SETTINGS, random.Random(0))
    return model


@pytest.fixture
def talk(tiny_model: Model, tiny_tokenizer: Tokenizer) -> list[Example]:
    rows = generate_talk(tiny_model, tiny_tokenizer, 24, 24, torch.Generator().manual_seed(1))
    return [row for row in rows if row.targets]


def train(
    model: Model, book: list[Example], talk: list[Example], settings: BookSettings
) -> tuple[BookTraining, list[EpochReport], float]:
    """Trains, and returns the reports at the ends of epochs and the divergence of the model's own talk."""
    student, reports = copy.deepcopy(model), list[EpochReport]()
    done = train_book(student, book, talk, settings, random.Random(0), report=reports.append)
    ends = [r for r in reports if r.recall is not None]
    return done, ends, anchor_gradients(student, model, talk)


@pytest.mark.slow
def test_settling_brings_talk_back_and_keeps_the_book(
    tiny_model: Model, book: list[Example], talk: list[Example]
) -> None:
    assert talk
    short, epochs, apart = train(tiny_model, book, talk, replace(SETTINGS, settle=0.0))
    settled, more, near = train(tiny_model, book, talk, replace(SETTINGS, settle=0.5))
    assert share_known(short.after) == share_known(settled.after) == 1.0
    took = epochs[-1].epoch
    assert more[took].loss == epochs[-1].loss, "until then they are the same"
    assert more[-1].epoch >= took + round(0.5 * took)
    assert near < 0.7 * apart


@pytest.mark.slow
def test_a_book_that_is_known_needs_no_step(
    read: Model, book: list[Example], talk: list[Example]
) -> None:
    again, epochs, _ = train(read, book, talk, SETTINGS)
    assert again.last.step == 0 and len(epochs) == 1


@pytest.mark.slow
def test_new_lines_beside_a_known_book_come_first_and_often(
    read: Model, tiny_tokenizer: Tokenizer, book: list[Example]
) -> None:
    student = copy.deepcopy(read)
    pairs = [("Whose boat?", "The boat is mine."), ("Which day?", "It is Tuesday.")]
    mine = [from_turns(tiny_tokenizer, [("user", q), ("assistant", a)], 64) for q, a in pairs]
    reports = list[EpochReport]()
    done = train_book(
        student, mine, [], SETTINGS, random.Random(0), rest=book, report=reports.append
    )
    ends = [r for r in reports if r.recall is not None]
    assert [r.entries for r in ends] == [2] * len(ends)
    assert (ends[0].known, ends[0].kept) == (0, 1.0)
    assert (ends[-1].known, ends[-1].recall, ends[-1].kept) == (2, 1.0, 1.0)
    steps = [r for r in reports if r.recall is None and r.asked is None]
    assert all(r.examples > 2 for r in steps), "both new ones and some that are known in each step"
    assert ends[1].step == SETTINGS.short, (
        "an epoch is as long as what is new, not as what is known"
    )
    assert share_known(done.after) == 1.0


def test_lines_that_are_known_are_not_gone_through_again(
    read: Model, tiny_tokenizer: Tokenizer, book: list[Example]
) -> None:
    student = copy.deepcopy(read)
    new = from_turns(tiny_tokenizer, [("user", "Whose boat?"), ("assistant", "Mine.")], 64)
    reports = list[EpochReport]()
    train_book(student, [*book, new], [], SETTINGS, random.Random(0), report=reports.append)
    ends = [r for r in reports if r.recall is not None]
    assert ends[0].known == len(book) and ends[-1].known == len(book) + 1
    assert ends[1].step == SETTINGS.short


def test_asking_every_line_stops_at_once(
    tiny_model: Model, book: list[Example], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("learning.book_training.asking.PIECE", 1)
    student, reports = copy.deepcopy(tiny_model), list[EpochReport]()
    done = train_book(
        student,
        book,
        [],
        SETTINGS,
        random.Random(0),
        report=reports.append,
        stop=lambda: len(reports) >= 3,
    )
    assert [r.asked for r in reports] == [0.0, 1 / 6, 2 / 6], "no further line was asked"
    assert (done.before, done.after, done.last.step) == ([], [], 0)
    for now, was in zip(student.parameters(), tiny_model.parameters(), strict=True):
        assert torch.equal(now, was)


@pytest.mark.parametrize("patience", [0.0, 60.0])
def test_what_cannot_be_asked_in_time_is_given_up(
    tiny_model: Model, book: list[Example], monkeypatch: pytest.MonkeyPatch, patience: float
) -> None:
    monkeypatch.setattr("learning.book_training.asking.PATIENCE", patience)
    student, reports = copy.deepcopy(tiny_model), list[EpochReport]()
    settings = replace(SETTINGS, until_known=False, batch=1)
    done = train_book(
        student,
        book,
        [],
        settings,
        random.Random(0),
        report=reports.append,
        stop=lambda: reports[-1].step >= 5,
    )
    if patience:
        assert done.last.step == 5, "it was asked what five steps have made"
        assert len(done.after) == 6
        return
    assert done.last.step == 0, "no epoch was asked whole"
    assert done.after == done.before


def test_stopping_goes_back_to_the_last_epoch_that_was_asked(
    tiny_model: Model, book: list[Example], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("learning.book_training.asking.PATIENCE", 0.0)
    student, reports = copy.deepcopy(tiny_model), list[EpochReport]()
    whole = dict[str, torch.Tensor]()

    def report(now: EpochReport) -> None:
        reports.append(now)
        if now.epoch == 1 and now.recall is not None:
            whole.update({k: v.clone() for k, v in student.state_dict().items()})

    settings = replace(SETTINGS, until_known=False)
    done = train_book(
        student,
        book,
        [],
        settings,
        random.Random(0),
        report=report,
        stop=lambda: reports[-1].step >= 3,
    )
    assert (done.last.epoch, done.last.step) == (1, 2)
    for name, weight in student.state_dict().items():
        assert torch.equal(weight, whole[name])
