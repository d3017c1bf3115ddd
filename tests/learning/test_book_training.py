"""learning.book: what training on a book costs of talk comes back when it settles."""

from __future__ import annotations

import copy
import random
from dataclasses import replace

import pytest
import torch

from engine.model import Model
from engine.tokenizer import Tokenizer
from learning.book import BookSettings, BookTraining, EpochReport, train_book
from learning.direct.supervised import anchor_gradients
from learning.dream import dream
from learning.examples import Example, from_turns
from learning.forward import share_known

SETTINGS = BookSettings(epochs=200, batch=4, lr=3e-3, warm_up=5, others=0, talk=2)


@pytest.fixture(scope="module")
def book(tiny_tokenizer: Tokenizer) -> list[Example]:
    pairs = [("Hi", "Good day."), ("Who are you?", "A small model."), ("What is 1 + 1?", "Two.")]
    pairs += [("Do you sleep?", "Never."), ("Sing!", "La la la."), ("Bye", "Until soon.")]
    return [from_turns(tiny_tokenizer, [("user", q), ("assistant", a)], 64) for q, a in pairs]


@pytest.fixture
def talk(tiny_model: Model, tiny_tokenizer: Tokenizer) -> list[Example]:
    rows = dream(tiny_model, tiny_tokenizer, 24, 24, torch.Generator().manual_seed(1))
    return [row for row in rows if row.targets]


def train(
    model: Model, book: list[Example], talk: list[Example], settings: BookSettings
) -> tuple[BookTraining, list[EpochReport], float]:
    """With the reports at the ends of epochs, and how far talk is from where it was."""
    student, reports = copy.deepcopy(model), list[EpochReport]()
    done = train_book(student, book, talk, settings, random.Random(0), report=reports.append)
    ends = [r for r in reports if r.recall is not None]
    return done, ends, anchor_gradients(student, model, talk)


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


def test_a_book_that_is_known_needs_no_step(
    tiny_model: Model, book: list[Example], talk: list[Example]
) -> None:
    student = copy.deepcopy(tiny_model)
    train_book(student, book, talk, SETTINGS, random.Random(0))
    again, epochs, _ = train(student, book, talk, SETTINGS)
    assert again.last.step == 0 and len(epochs) == 1
