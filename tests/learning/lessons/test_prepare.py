"""learning.lessons.prepare: the caches of a large model are computed when it is fetched."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from made_tokenizers import trained, write

import learning.memory.book_rows
import learning.memory.build
from engine.config import CONFIGS
from engine.model import Model
from engine.storage.checkpoint import save_model
from learning.home import Home
from learning.journal.journal import Journal
from learning.lessons import prepare
from learning.lessons.learner import Learner
from learning.lessons.prepare import prepare_model
from learning.memory import caches, own_talk, prefix_cache, reference
from learning.memory.caches import TRUNK, WATCH
from learning.memory.own_talk import generate_talk
from learning.models.files import REFERENCE, TALK
from learning.models.store import ModelStore
from learning.protocol.records import Lesson, Turn


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    """With a model that counts as large."""
    book = tmp_path / "vidya.txt"
    book.write_text("<|user|> hello <|assistant|> Hello, I am well.\n")
    monkeypatch.setattr(learning.memory.book_rows, "shipped_book_path", lambda: book)
    for place in (prefix_cache, caches, own_talk, prepare):
        monkeypatch.setattr(place, "LARGE", 0)
    monkeypatch.setattr(own_talk, "talk_rows", lambda _: 4)
    home = Home(tmp_path / "home")
    config = replace(CONFIGS["tiny"], vocab_size=640, context=256)
    folder = home.models_path / "other"
    save_model(Model(config, generator=torch.Generator().manual_seed(0)), folder)
    write(folder, trained())
    home.book_path.write_text("<|user|> what is my cat called <|assistant|> Biscuit.\n")
    return home


@pytest.mark.parametrize(
    ("dtype", "takes"),
    [(torch.bfloat16, "a minute or two, once"), (torch.float32, "some five minutes, once")],
)
def test_it_says_how_long_it_takes_on_this_machine(
    home: Home, monkeypatch: pytest.MonkeyPatch, dtype: torch.dtype, takes: str
) -> None:
    monkeypatch.setattr(prepare, "fast_dtype", lambda _: dtype)
    told: list[str] = []
    prepare_model(home, ModelStore(home).info("other"), say=told.append)
    assert told == [f"preparing other for lessons, {takes}"]


def test_a_later_start_only_reads(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    info = ModelStore(home).info("other")
    prepare_model(home, info, say=told.append)
    assert "preparing other" in told[0] and len(told) == 1
    assert {TALK, REFERENCE, WATCH, TRUNK} <= {path.name for path in info.path.iterdir()}

    def again(*_: object, **__: object) -> None:
        raise AssertionError("it was made already")

    monkeypatch.setattr(own_talk, "generate_talk", again)
    monkeypatch.setattr(reference, "capture_reference", again)
    passed: list[int] = []
    trunk = Model.trunk
    monkeypatch.setattr(
        Model, "trunk", lambda self, ids, n: passed.append(len(ids)) or trunk(self, ids, n)
    )
    learner = Learner(home, info.path, Journal(home.journal_path), seed=0)
    learner.caches.prepare()
    assert passed == [1], "the owner's own line alone is not in the file"
    assert len(learner.tracker) == 2


def test_after_renewals_a_later_start_only_reads_too(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    info = ModelStore(home).info("other")
    prepare_model(home, info, say=lambda _: None)
    renewed = Learner(home, info.path, Journal(home.journal_path), seed=0).caches
    assert renewed.renew_talk(random.Random(0))
    talk = renewed.replay.talk

    def again(*_: object, **__: object) -> None:
        raise AssertionError("it was made already")

    monkeypatch.setattr(reference, "capture_reference", again)
    learner = Learner(home, info.path, Journal(home.journal_path), seed=0)
    learner.caches.prepare()
    monkeypatch.setattr(Model, "trunk", again)
    assert learner.replay.talk == talk
    learner.caches.trunk.fill(talk)


def test_talk_is_drawn_in_the_numbers_that_answer_fastest(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(own_talk, "fast_dtype", lambda _: torch.bfloat16)
    kinds = []

    def drawn(model: Model, *rest: object, pause: object) -> object:
        kinds.append(model.dtype)
        return generate_talk(model, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(own_talk, "generate_talk", drawn)
    folder = ModelStore(home).info("other").path
    learner = Learner(home, folder, Journal(home.journal_path), seed=0)
    assert learner.replay.talk and kinds == [torch.bfloat16]
    assert learner.weights.model.dtype == torch.float32


def test_a_small_model_is_quick_enough(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prepare, "LARGE", 1_000_000_000)
    told: list[str] = []
    info = ModelStore(home).info("other")
    prepare_model(home, info, say=told.append)
    assert not told and not (info.path / WATCH).exists()


def test_it_tells_how_far_it_is(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(caches, "PIECE", 1)
    shares: list[float] = []
    prepare_model(home, ModelStore(home).info("other"), say=lambda _: None, progress=shares.append)
    assert shares == sorted(shares) and shares[0] == 0.0 and shares[-1] == pytest.approx(1.0)
    assert any(0.4 < share < 1.0 for share in shares)


def test_the_journal_stays_with_the_weights_that_it_follows(
    home: Home,
) -> None:
    """Another program may be learning with another model meanwhile."""
    journal = Journal(home.journal_path)
    prompt = (Turn("user", "what is my dog called"),)
    journal.add_lessons([Lesson("correction", prompt, "Your dog is called Rex.")])
    (number,) = (lesson.id for lesson in journal.waiting())
    version = journal.latest_version() + 1
    journal.add_publication(version, 0, [number], str(home.models_path / "mine" / "x"), "")
    journal.mark_saved(version)
    journal.set_version_in_use(version)
    journal.set_lesson_state(number, "learned")
    prepare_model(home, ModelStore(home).info("other"), say=lambda _: None)
    again = Journal(home.journal_path)
    assert [lesson.state for lesson in again.lessons()] == ["learned"]
    assert again.lessons_not_saved() == []


def test_a_bad_book_only_puts_it_off(home: Home) -> None:
    home.book_path.write_text("no entry\n")
    told: list[str] = []
    prepare_model(home, ModelStore(home).info("other"), say=told.append)
    assert "not prepared" in told[-1]
