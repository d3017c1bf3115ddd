"""What the learner does, in plain words."""

from __future__ import annotations

from dataclasses import replace

import pytest

from learning.protocol.events import (
    LearnerState,
    LessonDone,
    Ready,
    TrainDone,
    TrainProgress,
    Understood,
    UndoDone,
    WorkerLost,
)
from learning.protocol.records import Understanding
from vidya_tui.state.learner import (
    Learning,
    after,
    doing,
    fraction,
    lines_known,
    outcome,
    recall,
    short,
    trained,
    waiting,
)
from vidya_tui.text.numbers import percent, seconds

DONE = LessonDone(7, "pick", False, True, 3, 32, 0.2, 0.98, 2.14, False, 5)
READY = after(Learning(), Ready("10m", 4, 10, "cpu"))
PROGRESS = TrainProgress(2, 10, 15, 100, 0.4142, None, 10.0, 30.0)


@pytest.mark.parametrize(
    ("state", "words"),
    [
        (LearnerState("gathering", 3), "gathering"),
        (LearnerState("learning", 1, 0.414), "learning, loss 0.41"),
        (LearnerState("paused", 1), "paused while you type"),
        (LearnerState("off"), "learning is switched off"),
        (LearnerState("checking"), "checking that nothing was forgotten"),
        (LearnerState("idle"), "ready"),
    ],
)
def test_phases(state: LearnerState, words: str) -> None:
    assert doing(after(READY, state)) == words


def test_before_and_without_the_model() -> None:
    assert doing(Learning()) == "the model is waking up"
    lost = after(READY, WorkerLost("killed", restarting=True))
    assert doing(lost) == "the model is waking up"
    assert doing(after(lost, Ready("10m", 4, 10, "cpu"))) == "ready"
    assert doing(after(READY, WorkerLost("killed", restarting=False))) == "the model is gone"


def test_what_was_measured_of_another_model_is_not_shown() -> None:
    measured = after(after(READY, DONE), LearnerState("idle", book_recall=0.98))
    assert measured.recall == 0.98 and measured.outcome
    again = after(measured, Ready("10m", 5, 10, "cpu"))
    assert (again.recall, again.outcome, again.took) == (0.98, measured.outcome, measured.took)
    other = after(measured, Ready("49m", 1, 49, "cpu"))
    assert (other.recall, other.outcome, other.took) == (None, "", ())


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, "learned in 2.1 s"),
        ({"understanding": Understanding(4, 5)}, "learned in 2.1 s, known in 4 of 5 ways"),
        (
            {"understanding": Understanding(4, 5, 1, 3)},
            "learned in 2.1 s, known in 4 of 5 ways, given to 1 of 3 other questions",
        ),
        (
            {"understanding": Understanding(1, 1, 0, 3)},
            "learned in 2.1 s, known in 1 of 1 way",
        ),
        ({"known_after": False}, "needs practice"),
        ({"state": "needs_practice"}, "needs practice"),
        ({"known_before": True, "steps": 0}, "knew it already"),
    ],
)
def test_outcomes(changes: dict[str, object], words: str) -> None:
    assert outcome(replace(DONE, **changes)) == words  # type: ignore[arg-type]


def test_a_lesson_that_was_rolled_back_says_so() -> None:
    assert outcome(replace(DONE, rolled_back=True)).startswith("rolled back")


def test_a_lesson_tells_what_it_changed_in_other_words() -> None:
    done = replace(DONE, changed=("Where does\nmy sister live?",))
    assert outcome(done) == (
        f"{outcome(DONE)}, and \u201cWhere does my sister live?\u201d is answered so too"
    )
    several = replace(DONE, changed=("a", "b"))
    assert outcome(several) == f"{outcome(DONE)}, and 2 other ways to ask are answered so too"


def test_the_line_has_everything() -> None:
    now = after(after(READY, DONE), LearnerState("idle", 2))
    assert short(now) == "learned in 2.1 s \u00b7 2 lessons waiting \u00b7 book recall 98 %"
    assert now.version == 5
    assert waiting(after(READY, LearnerState("idle", 1))) == "1 lesson waiting"
    assert doing(after(now, UndoDone(7, "taken back", 6))) == "ready"


def test_what_a_pause_made_of_a_lesson_is_told() -> None:
    now = after(
        after(READY, replace(DONE, understanding=Understanding(1, 5))),
        Understood(7, Understanding(5, 5)),
    )
    assert short(now) == "known in 5 of 5 ways \u00b7 book recall 98 %"
    now = after(now, Understood(7, Understanding(5, 5, 2, 3)))
    assert doing(now) == "known in 5 of 5 ways, given to 2 of 3 other questions"


def test_training() -> None:
    now = after(READY, PROGRESS)
    assert doing(now) == "book, epoch 2 of 10, loss 0.41, 30 s left"
    first = replace(PROGRESS, epoch=0, step=0, loss=0.0, seconds_left=0.0)
    assert doing(after(READY, first)) == "asking every line of the book before it is learned"
    assert fraction(PROGRESS) == 0.15
    assert fraction(replace(PROGRESS, step=0)) == fraction(replace(PROGRESS, steps=0)) == 0.0
    done = TrainDone(3, 30, 0.1, 0.9, 1.0, 65.0, False, False, 6)
    assert trained(done) == "trained after 3 epochs in 65 s: book recall 90 % \u2192 100 %"
    stopped = trained(replace(done, epochs=1, cancelled=True, recall_after=0.92))
    assert stopped == "training stopped in epoch 1 after 65 s: book recall 90 % \u2192 92 %"
    now = after(now, done)
    assert recall(now) == "book recall 100 %" and now.training is None
    long = trained(replace(done, left_out=("book.txt:2", "lesson 7")))
    assert long.endswith("100 %; left out, too long for this model: book.txt:2, lesson 7")
    back = replace(done, rolled_back=True)
    assert "rolled back" in trained(back) and recall(after(READY, back)) == "book recall 90 %"


def test_a_training_that_stops_says_so_and_one_that_goes_on_where_it_is() -> None:
    asking = replace(PROGRESS, epoch=0, step=0, asked=0.4)
    assert doing(after(READY, asking)).endswith("before it is learned, 40 %")
    resumed = replace(PROGRESS, epoch=7, epochs=25, step=98, steps=350, begun=98, asked=0.4)
    words = "going on after epoch 7 of 25: asking every line first, 40 %"
    assert doing(after(READY, resumed)) == words
    assert fraction(resumed) == 0.28
    assert doing(after(READY, replace(resumed, asked=None, recall=0.9))) == words.split(":")[0]
    measuring = replace(PROGRESS, asked=0.5)
    assert doing(after(READY, measuring)) == "epoch 2 of 10: asking what is known now, 50 %"
    for event in (asking, PROGRESS):
        now = replace(after(READY, event), stopping=True)
        assert doing(now) == "stopping the training"
        assert doing(after(now, event)) == "stopping the training", "until it has ended"
    last = replace(after(READY, measuring), stopping=True)
    assert doing(last) == "stopping: asking every line what was learned, 50 %"
    unasked = TrainDone(0, 0, 0.0, None, None, 1.0, True, False, 5)
    ended = after(replace(last, recall=0.9), unasked)
    assert not ended.stopping and recall(ended) == "book recall 90 %"
    assert doing(ended) == "training stopped before it began; nothing was changed"
    assert "goes on where it was" in trained(replace(unasked, goes_on=True))
    late = replace(unasked, recall_before=0.9, recall_after=0.9)
    assert "nothing of it was kept" in trained(late)


def test_another_book_says_nothing_of_vidyas() -> None:
    known = replace(READY, recall=0.9)
    mine = replace(PROGRESS, recall=0.5, own=True, known=1, entries=2)
    assert recall(after(known, mine)) == "book recall 90 %"
    assert lines_known(mine) == "1 of 2 known"
    done = TrainDone(3, 30, 0.1, 0.0, 0.5, 65.0, False, False, 6, own=True)
    assert recall(after(known, done)) == "book recall 90 %"


def test_only_all_is_a_hundred_per_cent() -> None:
    assert [percent(x) for x in (0, 0.001, 0.5, 0.994, 0.9999, 1)] == [
        "0 %", "1 %", "50 %", "99 %", "99 %", "100 %",
    ]  # fmt: skip


def test_spans() -> None:
    assert [seconds(x) for x in (0.04, 2.14, 12.3, 89, 90, 3000, 3900, 9000)] == [
        "0.0 s", "2.1 s", "12 s", "89 s", "2 min", "50 min", "65 min", "2 h 30 min",
    ]  # fmt: skip


def test_a_book_that_is_known_needs_no_training() -> None:
    done = TrainDone(0, 0, 0.01, 1.0, 1.0, 11.0, False, False, 3)
    assert trained(done) == "nothing to train: book recall is 100 % already"
