"""learning.lessons.undo: removes a lesson from the weights, also if no weights without it are left."""

from __future__ import annotations

import queue
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

import learning.lessons.learner
import learning.lessons.undo
from engine.storage.checkpoint import load_model
from learning.lessons.learner import Learner
from learning.lessons.recipe import TeachResult
from learning.memory.tasks import NOT_KNOWN
from learning.protocol.events import Event, LessonDone, UndoDone
from learning.protocol.records import Lesson, Turn
from learning.protocol.requests import Learn, Request
from learning.teacher.teacher import Teacher
from tests.learning.conftest import Place
from tests.learning.lessons.test_learner import knows, lesson, open_learner, place  # noqa: F401
from tests.short_lessons import SHORT

MOVES = "blocks.1.ffn.down.weight"
"""What a lesson moves here."""


class Written:
    """Whether lessons write whole files or deltas; `written` runs a test with both."""

    moved: tuple[str, ...] | None = None


@pytest.fixture(params=[None, (MOVES,)], ids=["whole", "deltas"])
def written(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Written, "moved", request.param)


def publish(learner: Learner, item: Lesson) -> Lesson:
    """As if it had been learned: other weights, published with it, at no cost of time."""
    (kept,) = learner.journal.add_lessons([item])
    with torch.no_grad():
        learner.weights.model.get_parameter(MOVES).add_(0.001 * kept.id)
    learner.weights.publish([kept.id], f"lesson {kept.id}", moved=Written.moved)
    learner.journal.set_lesson_state(kept.id, "learned")
    return kept


def versions(folder: Path) -> list[int]:
    return sorted(int(shot.stem) for shot in (folder / "snapshots").glob("*.safetensors"))


def let_go(folder: Path) -> None:
    """All earlier weights, as in a model that was grown just now."""
    for shot in (folder / "snapshots").iterdir():
        shot.unlink()


def hear(
    place: Place,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
    until: type[Event],
    *requests: Request,
    meanwhile: Callable[[Event], None] = lambda _: None,
) -> list[Event]:
    """What a teacher says, from its start to the first event of that kind. meanwhile: called with each."""
    home, folder, journal = place
    monkeypatch.setattr(learning.lessons.learner, "TeachSettings", lambda: SHORT)
    events: queue.Queue[Event] = queue.Queue()
    teacher = Teacher(home, folder, journal, device="cpu", seed=0, on_event=events.put)
    said: list[Event] = []
    try:
        for request in requests:
            teacher.send(request)
        while not (said and isinstance(said[-1], until)):
            said.append(events.get(timeout=120))
            meanwhile(said[-1])
    except queue.Empty:
        raise AssertionError(f"no {until.__name__} came, only {said}") from None
    finally:
        teacher.close()
    return said


@pytest.mark.slow
def test_where_no_weights_without_it_are_left_the_model_is_taught_not_to_say_it(
    place: Place,  # noqa: F811
) -> None:
    journal = place[2]
    learner = open_learner(place)
    before, other, wrong = journal.add_lessons(
        [
            lesson("What is the capital?", "It is Quimby."),
            lesson("What is 12 and 30?", "They make 42."),
            lesson("What is the capital?", "It is Ostend."),
        ]
    )
    assert all(learner.learn(item).known_after for item in (before, other, wrong))
    let_go(learner.folder)
    done, lost = learner.undo(journal.lesson(wrong.id))
    assert done.what == (
        f"took back lesson {wrong.id}: no weights without it are left, so the model was taught not"
        " to say it"
    )
    assert done.version == learner.version and lost == []
    assert not knows(learner, wrong) and knows(learner, other)
    assert knows(learner, before), "what was said before it is said again"
    assert journal.lesson(wrong.id).state == "undone"
    assert journal.lesson(other.id).state == "learned"
    assert journal.taught_against(learner.version) == {wrong.id}


@pytest.mark.parametrize("good", ["nothing", "not said any more", "all"])
def test_steps_against_it_that_do_not_do_that_or_cost_too_much_are_put_back(
    place: Place,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
    good: str,
) -> None:
    learner = open_learner(place)
    taught = publish(learner, lesson("What is the capital?", "It is Ostend."))
    let_go(learner.folder)
    weight = learner.weights.model.blocks[1].ffn.down.weight
    before = weight.detach().clone()

    def steps(*_: object, **__: object) -> TeachResult:
        with torch.no_grad():
            weight.add_(float("nan") if good == "not said any more" else 1.0)
        return TeachResult(3, 1.0, good != "nothing", 32)

    monkeypatch.setattr(learner.transaction, "teach", steps)
    monkeypatch.setattr(learning.lessons.undo, "known_before", lambda *_: False)
    done, _ = learner.undo(taught)
    assert ("so the model was taught" in done.what) == (good == "all")
    assert ("could not be taught" in done.what) == (good != "all")
    wanted = before + 1.0 if good == "all" else before
    assert torch.equal(weight, wanted)
    torch.testing.assert_close(load_model(learner.folder).blocks[1].ffn.down.weight, wanted)
    assert learner.journal.taught_against(learner.version) == {taught.id}


@pytest.mark.slow
def test_what_cannot_be_taken_out_is_told_once_and_learning_goes_on(
    place: Place,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    journal = place[2]
    learner = open_learner(place)
    practice = publish(learner, Lesson("practice", (Turn("user", "chain_sum"),), ""))
    let_go(learner.folder)
    journal.retract(practice.id)
    journal.add_lessons([lesson("Who?", "You.")])
    said = hear(place, monkeypatch, LessonDone, Learn())
    assert [event.what for event in said if isinstance(event, UndoDone)] == [
        "took back practice of chain_sum: no weights without it are left, so what it did to them"
        " stays"
    ]
    assert journal.to_undo() == [] and journal.waiting() == []


def test_book_training_that_goes_with_a_lesson_is_told(place: Place) -> None:  # noqa: F811
    journal = place[2]
    learner = open_learner(place)
    taught = publish(learner, lesson("What is the capital?", "It is Quimby."))
    learner.weights.publish([taught.id], "book training")
    later = publish(learner, lesson("Who?", "You."))
    done, _ = learner.undo(journal.lesson(later.id))
    assert done.what == f"took back lesson {later.id}", "the training was before it"
    done, _ = learner.undo(journal.lesson(taught.id))
    assert done.what == (
        f"took back lesson {taught.id}; the book training since is gone too, a new one repeats it"
    )


def test_what_was_taken_back_in_another_model_leaves_this_one_too(
    place: Place,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    home, folder, journal = place
    learner = open_learner(place)
    before = learner.weights.state()
    taught = publish(learner, lesson("What is the capital?", "It is Quimby."))
    other = shutil.copytree(folder, folder.with_name("other"))
    journal.retract(taught.id)
    open_learner((home, other, journal)).undo(taught)
    assert journal.to_undo() == [] and journal.last_lesson() is None

    done = hear(place, monkeypatch, UndoDone)[-1]
    assert isinstance(done, UndoDone)
    assert (done.lesson, done.what) == (None, "took back lesson 1 in this model too")
    now = load_model(folder).state_dict()
    assert all(torch.equal(now[key], value) for key, value in before.items())
    assert journal.taken_back_in(done.version) == []


@pytest.mark.slow
def test_what_is_said_in_its_place_is_held_until_something_else_is_taught(
    place: Place,  # noqa: F811
) -> None:
    journal = place[2]
    learner = open_learner(place)
    question = "What is the capital?"
    (wrong,) = journal.add_lessons([lesson(question, "It is Ostend.")])
    assert learner.learn(wrong).known_after
    let_go(learner.folder)
    learner.undo(journal.lesson(wrong.id))
    unknown = lesson(question, NOT_KNOWN)
    assert not knows(learner, wrong) and knows(learner, unknown)

    def remembered(learner: Learner) -> list[str]:
        taught = [e for e in learner.replay.taught if e.prompt == "what is the capital"]
        return [learner.tokenizer.decode(list(e.answer[:-1])).strip() for e in taught]

    assert remembered(learner) == remembered(open_learner(place)) == [NOT_KNOWN]
    (example,) = learner.replay.taught
    assert learner.replay.wordings[example.ids], "in other words too"
    assert [one.example for one in learner._pauses._fresh] == [example]

    (other,) = journal.add_lessons([lesson(question, "It is Ghent.")])
    assert learner.learn(other).known_after
    assert remembered(learner) == remembered(open_learner(place)) == ["It is Ghent."]


@pytest.mark.slow
def test_an_answer_taught_after_other_talk_is_not_said_without_it_either(
    place: Place,  # noqa: F811
) -> None:
    journal = place[2]
    learner = open_learner(place)
    talk = (Turn("user", "Hi"), Turn("assistant", "Hello!"), Turn("user", "Where do I live?"))
    (wrong,) = journal.add_lessons([Lesson("example", talk, "In Ostend.")])
    assert learner.learn(wrong).known_after
    alone = lesson("Where do I live?", "In Ostend.")
    assert knows(learner, alone)
    let_go(learner.folder)
    learner.undo(journal.lesson(wrong.id))
    assert not knows(learner, wrong) and not knows(learner, alone)
