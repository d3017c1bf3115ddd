from __future__ import annotations

import random
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

import learning.memory.build
from engine.errors import DataError, NotFound
from engine.model import Model
from engine.storage.checkpoint import load_model
from learning.book_training.loop import BookSettings
from learning.book_training.training_set import plan
from learning.data.examples import Example
from learning.lessons.batch import BatchAccumulator, MixedBatch
from learning.lessons.learner import Learner
from learning.lessons.recipe import TeachResult
from learning.memory.tasks import answer_example, as_worded_before, rider_example, to_task
from learning.objectives.forward import knowledge
from learning.protocol.records import Lesson, Turn
from tests.learning.conftest import Place, book_trainer
from tests.short_lessons import LEARNED

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
    monkeypatch.setattr(learning.memory.book_rows, "shipped_book_path", lambda: book)
    return tiny_place


def open_learner(place: Place) -> Learner:
    home, folder, journal = place
    return Learner(home, folder, journal, seed=0, settings=LEARNED)


def read_book(learner: Learner) -> float:
    # without settling, which has tests of its own: so few weights are then too set in what they know
    settings = BookSettings(epochs=150, lr=5e-3, warm_up=5, talk=0, settle=0.0)
    return book_trainer(learner).train(None, settings, lambda _: None, lambda: False).recall_after


def lesson(question: str, answer: str) -> Lesson:
    return Lesson("example", (Turn("user", question),), answer)


def knows(learner: Learner, item: Lesson) -> bool:
    model = load_model(learner.folder)
    example = answer_example(learner.tokenizer, item, model.config.context)
    assert example is not None
    return knowledge(model, [example])[0].known


@pytest.mark.slow
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
    for name in ("loss", "book_recall", "lessons_known"):
        assert journal.measures(name, learner.folder.name)
        assert journal.measures(name, "another model") == []

    done, lost = learner.undo(journal.lesson(taught.id))
    assert done.lesson == taught.id and lost == []
    after = load_model(learner.folder).state_dict()
    assert all(torch.equal(before[k], after[k]) for k in before), "exactly the weights before it"
    assert journal.lesson(taught.id).state == "undone"


@pytest.mark.slow
def test_a_lesson_against_the_book_replaces_it_until_it_is_taken_back(place: Place) -> None:
    journal = place[2]
    learner = open_learner(place)
    read_book(learner)
    old = lesson("What is your name?", "My name is Vidya.")
    (new,) = journal.add_lessons([lesson("What is your name?", "I am called Otto.")])
    report = learner.learn(new)
    assert report.known_after and not report.rolled_back and report.book_recall == 1.0
    assert knows(learner, new) and not knows(learner, old)

    def remembered(learner: Learner) -> list[tuple[int, ...]]:
        prompt = "what is your name"
        return [e.answer for e in learner.replay.memory if e.prompt == prompt]

    answers = remembered(learner)
    assert len(answers) == 1
    again = open_learner(place)
    assert remembered(again) == answers, "after a restart too"
    again.undo(journal.lesson(new.id))
    assert knows(again, old) and not knows(again, new)
    assert len(remembered(again)) == 1 and remembered(again) != answers


@pytest.mark.slow
def test_undo_counts_only_what_the_owner_sees_among_the_lessons(place: Place) -> None:
    journal = place[2]
    learner = open_learner(place)
    read_book(learner)
    learner.weak = ("owner_words",)
    said = Lesson("owner_words", (), "I feed the gulls.")
    rider, first = journal.add_lessons([said, lesson("What is the capital?", "It is Quimby.")])
    learner.learn(first)
    assert journal.lesson(rider.id).state == "learned"
    (second,) = journal.add_lessons([lesson("Who sings?", "Ada sings.")])
    learner.learn(second)
    done, lost = learner.undo(journal.lesson(second.id))
    assert done.what == f"took back lesson {second.id}" and lost == []
    assert learner.learn(journal.lesson(second.id)).state == "learned"
    done, lost = learner.undo(journal.lesson(first.id))
    assert {item.id for item in lost} == {rider.id, second.id}
    assert done.what == f"took back lesson {first.id}; one more is learned again"


@pytest.mark.slow
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


@pytest.mark.slow
def test_weights_that_are_not_finite_are_never_published(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = place[2]
    learner = open_learner(place)
    version = learner.version

    def poison(model: Model, *_: object, **__: object) -> object:
        with torch.no_grad():
            next(model.parameters()).fill_(float("nan"))
        return TeachResult(1, 0.1, True, 32)

    monkeypatch.setattr("learning.lessons.recipe.teach", poison)
    (taught,) = journal.add_lessons([lesson("Who?", "Me.")])
    report = learner.learn(taught)
    assert report.rolled_back and report.state == "needs_practice"
    assert learner.version == version
    assert all(torch.isfinite(p).all() for p in learner.published.model.parameters())


def test_a_sum_does_not_erase_another_sum(place: Place) -> None:
    journal = place[2]
    learner = open_learner(place)
    plus, minus = lesson("What is 9+3?", "Twelve."), lesson("What is 9-3?", "It is six.")
    for taught in journal.add_lessons([plus, minus]):
        journal.set_lesson_state(taught.id, "learned")
    assert [e.prompt for e in learner.replay.taught] == ["what is 9 + 3", "what is 9 - 3"]


@pytest.mark.slow
def test_weak_lessons_are_learned_when_they_were_in_a_batch(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = place[2]
    learner = open_learner(place)
    learner.weak = ("owner_words",)
    drawn: set[tuple[int, ...]] = set()
    mix = BatchAccumulator.mix

    def spy(*given: Any, **named: Any) -> MixedBatch:
        batch = mix(*given, **named)
        drawn.update(example.ids for example, _ in batch.riders)
        return batch

    monkeypatch.setattr(BatchAccumulator, "mix", spy)
    answers = {"What is the capital?": "It is Quimby.", "What is 12 and 30?": "No idea at all."}
    for question, answer in answers.items():  # the memory is made before the first, and stays
        words = [Lesson("owner_words", (), f"{question} {n}") for n in range(15)]
        riders = {
            rider.id: rider_example(learner.tokenizer, rider, 128)
            for rider in journal.add_lessons(words)
        }
        (taught,) = journal.add_lessons([lesson(question, answer)])
        assert learner.learn(taught).steps
        learned = {n for n in riders if journal.lesson(n).state == "learned"}
        assert learned == {n for n, e in riders.items() if e is not None and e.ids in drawn}
        assert learned
    assert learner.replay.riders == []


LONG = "the cat " * 60 + "sat."


@pytest.mark.slow
def test_an_answer_that_does_not_fit_is_told_and_not_half_learned(place: Place) -> None:
    home, _, journal = place
    learner = open_learner(place)
    (taught,) = journal.add_lessons([lesson("What sat there now?", LONG)])
    version, report = learner.version, learner.learn(taught)
    assert (report.known_after, report.state, report.steps) == (False, "needs_practice", 0)
    assert "too long for this model" in report.why and "shorten it" in report.why
    assert journal.lesson(taught.id).state == "needs_practice" and learner.version == version
    home.book_path.write_text(f"# mine\n<|user|> What sat there now? <|assistant|> {LONG}\n")
    done = book_trainer(learner).train(
        None, BookSettings(epochs=1, talk=0), lambda _: None, lambda: False
    )
    assert done.left_out == ("book.txt:2", f"lesson {taught.id}")
    assert journal.lesson(taught.id).state == "needs_practice"
    assert len(learner.replay.memory) == 4


def test_another_book_says_nothing_of_the_recall_of_vidyas(place: Place, tmp_path: Path) -> None:
    journal, learner = place[2], open_learner(place)
    book = tmp_path / "other.txt"
    book.write_text("<|user|> hello there <|assistant|> zebra quartz.\n")
    once = BookSettings(epochs=1, talk=0)
    book_trainer(learner).train(book, once, lambda _: None, lambda: False)
    assert journal.measures("book_recall") == []
    book_trainer(learner).train(None, once, lambda _: None, lambda: False)
    assert len(journal.measures("book_recall", learner.folder.name)) == 1
    assert journal.measures("book_recall", "another model") == []


def test_a_book_of_which_nothing_fits_is_refused(place: Place, tmp_path: Path) -> None:
    book = tmp_path / "long.txt"
    book.write_text(f"<|user|> What sat there? <|assistant|> {LONG}\n")
    with pytest.raises(DataError, match=r"long\.txt:1: too long"):
        book_trainer(open_learner(place)).train(book, BookSettings(), lambda _: None, lambda: False)


@pytest.mark.slow
def test_what_could_not_be_avoided_is_not_taught_again_and_waits_after_the_training(
    place: Place,
) -> None:
    journal = place[2]
    learner = open_learner(place)
    assert read_book(learner) == 1.0
    name = lesson("What is your name?", "My name is Vidya.")
    bad = Lesson("rating", name.prompt, "", (name.answer,), weight=0.5)
    (unwanted,) = journal.add_lessons([bad])
    journal.set_lesson_state(unwanted.id, "needs_practice")
    learner.forget_memory()
    assert not any("your name" in e.prompt for e in learner.replay.memory)
    assert read_book(learner) == 1.0
    assert [item.id for item in journal.waiting()] == [unwanted.id]
    assert learner.learn(journal.waiting()[0]).known_after
    assert not knows(learner, name)
    read_book(learner)
    assert not knows(learner, name) and journal.waiting() == []


@pytest.mark.slow
def test_a_later_lesson_for_an_unwanted_answer_stands(place: Place) -> None:
    journal = place[2]
    learner = open_learner(place)
    name = lesson("What is your name?", "My name is Vidya.")
    bad = Lesson("rating", name.prompt, "", (name.answer,), weight=0.5)
    unwanted, _ = journal.add_lessons([bad, name])
    journal.set_lesson_state(unwanted.id, "needs_practice")
    assert read_book(learner) == 1.0
    assert journal.lesson(unwanted.id).state == "needs_practice"
    assert knows(learner, name)


@pytest.mark.slow
def test_an_unwanted_answer_is_in_no_batch_of_its_own_lesson(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = place[2]
    learner = open_learner(place)
    replayed: set[str] = set()
    mix = BatchAccumulator.mix

    def spy(*given: Any, **named: Any) -> MixedBatch:
        batch = mix(*given, **named)
        replayed.update(example.prompt for example in batch.replay)
        return batch

    monkeypatch.setattr(BatchAccumulator, "mix", spy)
    prompt = (Turn("user", "What is your name?"),)
    (bad,) = journal.add_lessons([Lesson("rating", prompt, "", ("My name is Vidya.",), weight=0.5)])
    assert learner.learn(bad).known_after
    assert replayed and "what is your name" not in replayed


@pytest.mark.parametrize("name", ["book.txt", "other.txt"])
def test_a_book_of_comments_exists_and_holds_nothing(
    place: Place, tmp_path: Path, name: str
) -> None:
    (tmp_path / name).write_text("# nothing yet\n")
    learner = open_learner(place)
    for book, words in ((tmp_path / name, "holds no conversation"), (tmp_path / "x", "not exist")):
        with pytest.raises(NotFound, match=words):
            book_trainer(learner).train(book, BookSettings(), lambda _: None, lambda: False)


@pytest.mark.slow
def test_a_correction_in_other_capitals_stops_the_old_answer_to_the_old_words(place: Place) -> None:
    learner = open_learner(place)
    read_book(learner)
    first, second = place[2].add_lessons(
        [
            lesson("Which train do I take?", "You take the blue train."),
            lesson("WHICH  TRAIN do i take", "It is the red one now."),
        ]
    )
    for item in (first, second):
        learner.learn(item)
    assert knows(learner, second)
    assert knows(learner, lesson("Which train do I take?", second.answer))
    assert [e.ids for e in learner.replay.taught] == [as_learned(learner, second).ids]


def test_a_correction_in_another_conversation_stops_the_old_answer_in_the_first_one(
    place: Place,
) -> None:
    learner, journal = open_learner(place), place[2]
    talk = (Turn("user", "Hi"), Turn("assistant", "Hello!"), Turn("user", "Where do I live?"))
    first, second = journal.add_lessons(
        [Lesson("correction", talk, "In Ostend."), lesson("Where do I live?", "In Ghent.")]
    )
    journal.set_lesson_state(first.id, "learned")
    learner.forget_memory()
    tokenizer, context = learner.tokenizer, learner.weights.model.config.context
    task = as_worded_before(to_task(tokenizer, second, context), learner.replay.memory, context)
    both = {as_learned(learner, one).ids for one in (replace(first, answer="In Ghent."), second)}
    assert {e.ids for e in task.answers} == both
    journal.set_lesson_state(second.id, "learned")
    assert {e.ids for e in open_learner(place).replay.taught} == both
    shuffled = random.Random(0)
    course = plan(
        tokenizer, learner.replay, journal, learner.caches.book_rows, None, context, shuffled
    )
    assert both <= {e.ids for e in course.examples}
    assert as_learned(learner, first).ids not in {e.ids for e in course.examples}


def as_learned(learner: Learner, item: Lesson) -> Example:
    example = answer_example(learner.tokenizer, item, learner.weights.model.config.context)
    assert example is not None
    return example
