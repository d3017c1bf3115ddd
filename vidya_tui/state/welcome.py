"""Hints for a new owner: ask a question, pick an answer, correct one, and see that it was learned.

Each hint follows from what the journal holds. Pure. Left out: the mark in the home that the hints were seen,
and how they are drawn (widgets/welcome_hint.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from learning.protocol.records import Lesson
from vidya_tui.commands.keymap import Keymap, usual, way
from vidya_tui.text.sanitise import one_line

EXAMPLE = "What is your name?"


@dataclass(frozen=True)
class WelcomeState:
    """What the owner has done so far."""

    asked: bool = False
    """A message was sent."""
    picked: bool = False
    """An answer was chosen."""
    correction: Lesson | None = None
    """The last correction; None: there was none."""
    again: bool = False
    """The corrected question was asked more than once."""


@dataclass(frozen=True)
class Advice:
    """A hint."""

    step: int
    """1 to 4."""
    words: str
    last: bool = False
    """It is the last hint."""


STEPS = 4


def seen(
    lessons: Sequence[Lesson], questions: Sequence[str], *, chosen: bool = False
) -> WelcomeState:
    """What the owner has done. lessons: all, oldest first; questions: all messages, oldest first. chosen: an
    answer is chosen, even if it still streams."""
    taught = [lesson for lesson in lessons if lesson.kind == "correction"]
    correction = taught[-1] if taught else None
    question = correction.prompt[-1].text if correction else ""
    return WelcomeState(
        asked=bool(questions),
        picked=chosen or any(lesson.kind == "pick" for lesson in lessons) or correction is not None,
        correction=correction,
        again=questions.count(question) > 1 if correction else False,
    )


def advice(now: WelcomeState, keys: Keymap | None = None) -> Advice:
    """The next hint. keys: None: the default keys."""
    correct, more = (way(keys or usual(), name) for name in ("correct", "help"))
    if not now.asked:
        return Advice(1, f"Ask something, for example \u201c{EXAMPLE}\u201d, and press Enter.")
    if not now.picked:
        return Advice(
            2,
            "Press the number of the answer you like best: it is taken, and Vidya learns to prefer it.",
        )
    lesson = now.correction
    if lesson is None:
        return Advice(
            3,
            f"Now teach it something: {correct}, type what the answer should have been, ctrl+s.",
        )
    question = one_line(lesson.prompt[-1].text, 40)
    if lesson.state == "waiting":
        return Advice(4, "This is being learned now: the weights of the model change.")
    if lesson.state == "undone":
        return Advice(
            4,
            f"You took that back: Vidya is as it was before. {more} shows all the rest.",
            last=True,
        )
    if lesson.state != "learned":
        return Advice(
            4,
            "That one needs practice: /train goes over everything. You have seen how it goes; "
            f"{more} shows the rest.",
            last=True,
        )
    if not now.again:
        return Advice(4, f"Learned. Ask \u201c{question}\u201d once more, and see.")
    return Advice(
        4, f"That is how it learns, and it stays so. {more} shows all the rest.", last=True
    )
