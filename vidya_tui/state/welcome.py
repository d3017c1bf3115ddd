"""The first minutes: one question, one pick, one correction, and seeing that it was learned.

Looks at what the session has and says what to do next; nobody has to do it. Pure. Left out: the mark
in the home that it was seen, and how it looks (widgets/welcome_hint.py).
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
    """What there is so far."""

    asked: bool = False
    """Something was asked, and ..."""
    picked: bool = False
    """... an answer was chosen."""
    correction: Lesson | None = None
    """The last that was typed."""
    again: bool = False
    """Its question was asked once more since."""


@dataclass(frozen=True)
class Advice:
    """What to do now."""

    step: int
    """1 to 4."""
    words: str
    last: bool = False
    """There is nothing more to show."""


STEPS = 4


def seen(
    lessons: Sequence[Lesson], questions: Sequence[str], *, chosen: bool = False
) -> WelcomeState:
    """What there is so far. lessons: all, in order; questions: what was asked, in order. chosen: an
    answer is, be it still being written."""
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
    """The next step. keys: None: the usual ones."""
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
