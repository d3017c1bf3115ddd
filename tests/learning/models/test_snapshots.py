"""Earlier weights: those that a further undo needs are kept longest."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import torch

import learning.models.snapshots
from engine.storage.checkpoint_files import WEIGHTS
from engine.storage.weight_files import current_files
from learning.journal.journal import Journal
from learning.models.snapshots import KNOWN_ALREADY, kept_weights
from learning.models.store import ModelStore
from tests.learning.conftest import Place
from tests.learning.lessons.test_learner import lesson, open_learner, place  # noqa: F401
from tests.learning.lessons.test_undo import publish, versions, written  # noqa: F401

pytestmark = pytest.mark.usefixtures("written")


def test_the_last_four_of_eight_lessons_are_taken_back_bit_for_bit(place: Place) -> None:  # noqa: F811
    journal = place[2]
    learner = open_learner(place)
    states, taught = [], []
    for number in range(8):
        states.append(learner.weights.state())
        taught.append(publish(learner, lesson(f"What is {number}?", f"A {number}.")))
    for number in (7, 6, 5, 4):
        done, lost = learner.undo(journal.lesson(taught[number].id))
        assert (done.what, lost) == (f"took back lesson {taught[number].id}", [])
        now = learner.weights.model.state_dict()
        assert all(torch.equal(now[key], value) for key, value in states[number].items())


def test_weights_that_know_what_was_taken_back_are_let_go_first(place: Place) -> None:  # noqa: F811
    journal, folder = place[2], place[1]
    learner = open_learner(place)
    taught = [publish(learner, lesson(f"What is {i}?", f"A {i}.")) for i in range(8)]
    assert versions(folder) == [0, 4, 5, 6, 7], "the first is kept, and the last four"
    for one in reversed(taught[5:]):
        learner.undo(journal.lesson(one.id))
    assert learner.version == 11 and versions(folder) == [0, 4, 5, 6, 7]
    publish(learner, lesson("What is new?", "This."))
    assert versions(folder) == [0, 4, 6, 7, 11], "5 is 11 as well"
    publish(learner, lesson("What is next?", "That."))
    assert versions(folder) == [0, 4, 7, 11, 12], "6 has lesson 6 in it"
    publish(learner, lesson("What is last?", "Nothing."))
    assert versions(folder) == [0, 4, 11, 12, 13]


def test_a_lesson_that_was_known_already_pushes_no_other_weights_out(place: Place) -> None:  # noqa: F811
    journal, folder = place[2], place[1]
    learner = open_learner(place)
    for number in range(3):
        publish(learner, lesson(f"What is {number}?", f"A {number}."))
    for number in range(3, 7):
        (kept,) = journal.add_lessons([lesson(f"What is {number}?", f"A {number}.")])
        note = f"lesson {kept.id}{KNOWN_ALREADY}"
        learner.weights.publish([kept.id], note, moved=())
        journal.set_lesson_state(kept.id, "learned")
    assert versions(folder) == [0, 1, 2, 3, 6], "4 and 5 are 3"


def test_weights_that_are_newer_than_the_journal_are_not_their_own_ancestors(
    place: Place,  # noqa: F811
) -> None:
    home, folder, _ = place
    learner = open_learner(place)
    for number in range(5):
        publish(learner, lesson(f"What is {number}?", f"A {number}."))
    begun = Journal(home.path / "begun.sqlite3")
    learner = open_learner((home, folder, begun))
    assert (learner.version, begun.latest_version()) == (5, 0)
    first = publish(learner, lesson("What is new?", "This."))
    before = learner.weights.state()
    second = publish(learner, lesson("What is next?", "That."))
    assert learner.version == 7
    assert [sorted(begun.lessons_in(version)) for version in (1, 5, 6, 7)] == [
        [],
        [],
        [first.id],
        [first.id, second.id],
    ]
    done, lost = learner.undo(second)
    assert (done.what, lost) == ("took back lesson 2", [])
    now = learner.weights.model.state_dict()
    assert all(torch.equal(now[key], value) for key, value in before.items())
    begun.close()


def test_a_model_elsewhere_is_not_taken_for_the_shipped_one_of_its_name(
    place: Place,  # noqa: F811
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    home, folder, journal = place
    shipped = shutil.copytree(folder, tmp_path / "shipped" / "tiny")
    monkeypatch.setattr(learning.models.snapshots, "SHIPPED", shipped.parent)
    elsewhere = shutil.copytree(folder, tmp_path / "elsewhere" / "tiny")
    learner = open_learner((home, elsewhere, journal))
    for number in range(6):
        publish(learner, lesson(f"What is {number}?", f"A {number}."))
    assert versions(elsewhere) == [0, 2, 3, 4, 5], "its first weights are nowhere else"
    kept = kept_weights(elsewhere, journal, learner.version)
    assert (kept[-1].version, kept[-1].path.parent.parent) == (0, elsewhere)

    learner = open_learner(place)
    for number in range(6):
        publish(learner, lesson(f"What is {number}?", f"A {number}."))
    assert versions(folder) == [8, 9, 10, 11], "those of the home's own copy came with the program"
    kept = kept_weights(folder, journal, learner.version)
    assert (kept[-1].version, kept[-1].path.parent) == (0, shipped)


def test_a_rollback_can_be_taken_back_and_costs_no_undo(place: Place) -> None:  # noqa: F811
    home, folder, journal = place
    learner = open_learner(place)
    taught = [publish(learner, lesson(f"What is {i}?", f"A {i}.")) for i in range(8)]
    weights, store = current_files(folder).newest.read_bytes(), ModelStore(home)
    store.rollback("tiny", 6, journal)
    assert versions(folder) == [0, 4, 5, 7, 8], "6 is what answers; 5 is without its lesson"
    assert [journal.lesson(one.id).state for one in taught[5:]] == [
        "learned",
        "needs_practice",
        "needs_practice",
    ]
    store.rollback("tiny", 8, journal)
    assert current_files(folder).newest.read_bytes() == weights
    assert {one.state for one in journal.lessons()} == {"learned"}
    assert open_learner(place).version == journal.saved_version() == 8

    store.rollback("tiny", 6, journal)
    publish(open_learner(place), lesson("What is new?", "This."))
    assert versions(folder) == [0, 4, 5, 6, 8], "what the rollback left goes first"
    publish(open_learner(place), lesson("What is next?", "That."))
    assert versions(folder) == [0, 4, 5, 6, 9]


def test_a_look_at_another_model_does_not_undo_a_rollback(place: Place) -> None:  # noqa: F811
    home, folder, journal = place
    other = shutil.copytree(folder, home.models_path / "other")
    taught = publish(open_learner(place), lesson("What is new?", "This."))
    open_learner((home, other, journal))  # which lacks the lesson, so that it waits
    assert journal.lesson(taught.id).state == "waiting"
    ModelStore(home).rollback("tiny", 0, journal)
    assert journal.lesson(taught.id).state == "needs_practice"
    assert open_learner(place).version == 0
    assert not journal.waiting()


def test_weights_that_cannot_be_read_are_rolled_back_too(place: Place) -> None:  # noqa: F811
    home, folder, journal = place
    publish(open_learner(place), lesson("What is new?", "This."))
    (folder / WEIGHTS).write_bytes(b"cut short")
    ModelStore(home).rollback("tiny", 0, journal)
    assert versions(folder) == [0] and open_learner(place).version == 0
