from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import torch

import learning.memory
from engine.checkpoint import load_model
from engine.model import Model
from learning.book import BookSettings
from learning.examples import Example
from learning.forward import knowledge
from learning.learner import Learner
from learning.memory import answer_example
from learning.pauses import Pauses
from learning.records import Lesson, Turn
from learning.teaching import TeachSettings
from tests.learning.conftest import Place

BOOK = """<|user|> hello <|assistant|> Hello, I am well.
<|user|> What is your name? <|assistant|> My name is Vidya.
<|user|> Where do you live? <|assistant|> Here, in this terminal.
<|user|> What does it mean? <|assistant|> It means knowledge.
"""


@pytest.fixture
def place(tiny_place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    """A short book in place of the shipped one."""
    book = tmp_path / "shipped.txt"
    book.write_text(BOOK)
    monkeypatch.setattr(learning.memory, "shipped_book_path", lambda: book)
    return tiny_place


def open_learner(place: Place) -> Learner:
    home, folder, journal = place
    # the talk of a tiny model is noise, to which the usual weight would hold all that it can learn
    settings = TeachSettings(lr=3e-3, steps=60, repair=40, talk_weight=4.0)
    return Learner(home, folder, journal, seed=0, settings=settings)


def read_book(learner: Learner) -> float:
    # without settling, which has tests of its own: so few weights are then too set in what they know
    settings = BookSettings(epochs=150, lr=5e-3, warm_up=5, talk=0, settle=0.0)
    return learner.train(None, settings, lambda _: None, lambda: False).recall_after


def lesson(question: str, answer: str) -> Lesson:
    return Lesson("example", (Turn("user", question),), answer)


def knows(learner: Learner, item: Lesson) -> bool:
    model = load_model(learner.folder)
    example = answer_example(learner.tokenizer, item, model.config.context)
    assert example is not None
    return knowledge(model, [example])[0].known


def test_book_then_lesson_then_undo(place: Place) -> None:
    journal = place[2]
    learner = open_learner(place)
    assert read_book(learner) == 1.0
    before = load_model(learner.folder).state_dict()

    answers = learner.published.model
    (taught,) = journal.add_lessons([lesson("What is the capital?", "The capital is Quimby.")])
    report = learner.learn(taught)
    shared = learner.published.model.embedding.weight is answers.embedding.weight
    assert shared, "what a lesson leaves alone is neither copied nor packed again"
    assert (report.known_before, report.known_after, report.rolled_back) == (False, True, False)
    assert report.book_recall >= 0.95
    assert knows(learner, taught), "what is saved is what was learned"
    assert journal.lesson(taught.id).state == "learned"
    assert learner.published.version == learner.version

    done, lost = learner.undo(journal.lesson(taught.id))
    assert done.lesson == taught.id and lost == []
    after = load_model(learner.folder).state_dict()
    assert all(torch.equal(before[k], after[k]) for k in before), "exactly the weights before it"
    assert journal.lesson(taught.id).state == "undone"


def test_undo_counts_only_what_the_owner_sees_among_the_lessons(place: Place) -> None:
    journal = place[2]
    learner = open_learner(place)
    read_book(learner)
    said = Lesson("owner_words", (), "I feed the gulls.")
    rider, first = journal.add_lessons([said, lesson("What is the capital?", "It is Quimby.")])
    learner.learn(first)
    assert journal.lesson(rider.id).state == "learned"
    (second,) = journal.add_lessons([lesson("What is 12 and 30?", "They make 42.")])
    learner.learn(second)
    done, lost = learner.undo(journal.lesson(second.id))
    assert done.what == f"took back lesson {second.id}" and lost == []
    learner.learn(journal.lesson(second.id))
    done, lost = learner.undo(journal.lesson(first.id))
    assert {item.id for item in lost} == {rider.id, second.id}
    assert done.what == f"took back lesson {first.id}; one more is learned again"


def test_lessons_that_the_file_lacks_wait_again(place: Place) -> None:
    journal = place[2]
    learner = open_learner(place)
    read_book(learner)
    old = (learner.folder / "model.safetensors").read_bytes()
    (taught,) = journal.add_lessons([lesson("What is 12 and 30?", "They make 42.")])
    learner.learn(taught)
    (learner.folder / "model.safetensors").write_bytes(old)  # as after a crash before the write
    open_learner(place)
    assert [item.id for item in journal.waiting()] == [taught.id]


def test_lessons_that_only_another_model_lacks_are_learned_when_this_one_is_in_use_again(
    place: Place,
) -> None:
    home, folder, journal = place
    other = shutil.copytree(folder, folder.with_name("other"))
    learner = open_learner(place)
    taught, practice, practised = journal.add_lessons(
        [
            lesson("What is 12 and 30?", "They make 42."),
            Lesson("practice", (Turn("user", "chain_sum"),), ""),
            lesson("Who?", "You."),
        ]
    )
    for item in (taught, practice):
        learner.weights.publish([item.id], "as if it was learned")
        journal.set_lesson_state(item.id, "learned")
    learner.weights.publish([practised.id], "not learned well")
    journal.set_lesson_state(practised.id, "needs_practice")

    def states() -> list[str]:
        return [journal.lesson(item.id).state for item in (taught, practice, practised)]

    open_learner((home, other, journal))
    assert states() == ["waiting", "needs_practice", "needs_practice"]
    open_learner(place)
    assert states() == ["learned", "learned", "needs_practice"]


def test_weights_that_are_not_finite_are_never_published(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = place[2]
    learner = open_learner(place)
    version = learner.version

    def poison(model: Model, *_: object, **__: object) -> object:
        from learning.teaching import TeachResult

        with torch.no_grad():
            next(model.parameters()).fill_(float("nan"))
        return TeachResult(1, 0.1, True, 32)

    monkeypatch.setattr("learning.workshop.teach", poison)
    (taught,) = journal.add_lessons([lesson("Who?", "Me.")])
    report = learner.learn(taught)
    assert report.rolled_back and report.state == "needs_practice"
    assert learner.version == version
    assert all(torch.isfinite(p).all() for p in learner.published.model.parameters())


def test_a_pause_mends_what_is_found_broken(place: Place) -> None:
    learner = open_learner(place)
    assert read_book(learner) == 1.0
    assert not learner.catch_up(), "all is known and was looked at"
    version = learner.version
    noise = torch.Generator().manual_seed(0)
    while not learner.watch.lost(learner.replay.book):  # a lesson that nobody looked after
        with torch.no_grad():
            for weight in learner.weights.model.blocks[1].parameters():
                weight.add_(0.02 * torch.randn(weight.shape, generator=noise))
        learner.watch.look(learner.mind.upper, learner.replay.book)
    rounds = 0
    while learner.catch_up() and rounds < 20:
        rounds += 1
    assert learner.version > version
    assert learner.book_recall == 1.0
    model = load_model(learner.folder)
    assert all(item.known for item in knowledge(model, learner.replay.book))


def test_what_was_never_known_is_left_to_book_training(place: Place) -> None:
    learner = open_learner(place)
    assert learner.book_recall < 0.5
    version = learner.version
    while learner.catch_up():
        pass
    assert learner.version == version


def test_a_pause_looks_at_earlier_lessons_in_other_words_again(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    learner, journal = open_learner(place), place[2]
    assert read_book(learner) == 1.0
    earlier, later = lesson("What is my rabbit called?", "Clover."), lesson("Who are you?", "Me.")
    looked_at: list[str] = []
    wordings = Pauses._wordings

    def spy(pauses: Pauses, example: Example) -> list[Example]:
        looked_at.append(example.prompt)
        return wordings(pauses, example)

    monkeypatch.setattr(Pauses, "_wordings", spy)
    for one in (earlier, later):
        looked_at.clear()
        (taught,) = journal.add_lessons([one])
        assert learner.learn(taught).known_after
        rounds = 0
        while learner.catch_up():
            rounds += 1
            assert rounds < 60, "it comes to an end"
    assert "who" in looked_at[0], "what was learned last comes first"
    assert any("rabbit" in prompt for prompt in looked_at)


def test_a_pause_rehearses_what_was_learned_in_other_words(place: Place) -> None:
    journal = place[2]
    learner = open_learner(place)
    assert read_book(learner) == 1.0
    (taught,) = journal.add_lessons([lesson("What is my rabbit called?", "Clover.")])
    assert learner.learn(taught).known_after
    (example,) = learner.replay.taught
    wordings = learner.replay.wordings[example.ids]

    def known() -> int:
        return sum(item.known for item in knowledge(learner.published.model, wordings))

    before, snapshots = known(), sorted((learner.folder / "snapshots").iterdir())
    assert len(wordings) >= 12
    rounds = 0
    while learner.catch_up():
        rounds += 1
        assert rounds < 40, "it comes to an end"
    assert known() > before
    assert knows(learner, taught) and learner.book_recall == 1.0
    assert sorted((learner.folder / "snapshots").iterdir()) == snapshots, "the lesson can be undone"
    done, _ = learner.undo(taught)
    assert done.lesson == taught.id
    assert not knows(learner, taught)
