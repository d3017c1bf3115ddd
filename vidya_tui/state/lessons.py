"""Sentences about lessons, for the list of lessons and for line mode.

Pure functions. Texts of people and models go through `one_line`, so that no control character in them
reaches the terminal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vidya_tui.state.learner import understanding_words
from vidya_tui.text.dates import when
from vidya_tui.text.numbers import counted
from vidya_tui.text.sanitise import one_line

if TYPE_CHECKING:  # the first frame waits for no more than it needs
    from learning.channels import Outcome
    from learning.journal.lesson_list import State, Taught
    from learning.protocol.records import Lesson

KINDS = {
    "pick": "picked",
    "correction": "corrected",
    "rating": "rated",
    "example": "told",
    "continuation": "left",
    "owner_words": "own words",
    "reason": "reason",
}
"""Where a lesson comes from; at most nine characters."""
LONG_KINDS = KINDS | {
    "continuation": "left standing, not judged",
    "owner_words": "your own words, not judged",
    "reason": "carried over from a reason, not judged",
}
STATES: dict[State, str] = {
    "waiting": "waiting",
    "learned": "learned",
    "needs_practice": "practice",
    "taken_back": "taken back",
}
ARROW = " \u2192 "
"""Between question and answer."""
LONG_STATES: dict[State, str] = {
    "waiting": "waits to be learned",
    "learned": "learned",
    "needs_practice": "needs practice: a book training may learn it, or a shorter answer",
    "taken_back": "taken back",
}

OUTCOMES: dict[Outcome, str] = {
    "good": "rated good",
    "bad": "rated bad",
    "corrected": "corrected",
    "left": "left for another conversation",
}
"""What became of a later turn."""
MOST_SHARES = 3
"""Most later turns that `led_to` names."""


def quote(text: str, limit: int = 60) -> str:
    """A text in quotation marks, for use in a sentence."""
    return f"\u201c{one_line(text, limit)}\u201d"


def question(lesson: Lesson) -> str:
    """The message that the lesson answers; empty where there is none."""
    return lesson.prompt[-1].text if lesson.prompt else ""


def understood(lesson: Lesson) -> str:
    """What the model is to do after the lesson, in words."""
    if lesson.kind == "owner_words":
        return f"expects you to say {quote(lesson.answer, 120)}"
    if lesson.kind in ("continuation", "reason"):
        return f"leans a little towards {quote(lesson.answer, 120)}"
    others = [text for text in lesson.rejected if text != lesson.answer]
    if not lesson.answer:
        if others and lesson.blame:
            before = others[0][: lesson.blame[0]].rstrip()
            after = f" after {quote(before)}" if before else " at the beginning"
            return f"will not say {quote(avoided(lesson), 120)}{after}"
        return f"will not answer {quote(others[0], 120)}" if others else "nothing to learn"
    said = f"will answer {quote(lesson.answer, 120)}"
    if lesson.replaces:
        return f"{said}, no longer {quote(lesson.replaces)}"
    if len(others) == 1:
        return f"{said} rather than {quote(others[0])}"
    return f"{said} rather than {counted(len(others), 'other')}" if others else said


def avoided(lesson: Lesson) -> str:
    """What a lesson without an answer avoids: an answer, or the part of it that is to blame. Empty for a
    practice, which is no text."""
    start, end = lesson.blame or (0, None)
    return next(iter(lesson.rejected), "")[start:end]


def short(lesson: Lesson, room: int = 0) -> str:
    """Question and answer on one line; for the owner's own words, only these. room: columns for both; a long
    question is cut so that at least half of them are left to the answer; 0: no limit."""
    if lesson.kind == "owner_words":
        return one_line(lesson.answer)
    if lesson.kind == "practice":
        return named(lesson)
    asked = one_line(question(lesson))
    answer = one_line(lesson.answer) if lesson.answer else f"not {quote(avoided(lesson))}"
    if room and len(asked) + len(answer) + len(ARROW) > room:
        asked = one_line(asked, max(room // 2 - len(ARROW), room - len(ARROW) - len(answer), 8))
    return f"{asked}{ARROW}{answer}"


def named(lesson: Lesson) -> str:
    """A lesson named by its question and answer, or by what was practised, for use in a sentence."""
    if lesson.kind == "practice":
        return one_line(lesson.run_name, 100)
    said = quote(lesson.answer, 50) if lesson.answer else f"not {quote(avoided(lesson), 50)}"
    return f"{quote(question(lesson), 50)}{ARROW}{said}" if question(lesson) else said


def state(taught: Taught) -> str:
    """The lesson's state in one or two words, at most ten characters."""
    if _held_back(taught):
        return "held back"
    if _lost(taught):
        return "lost"
    return "replaced" if taught.replaced_by else STATES[taught.state]


def long_state(taught: Taught) -> str:
    """The lesson's state in words."""
    if _held_back(taught):
        return "not learned, as it led to nothing good"
    if taught.lesson.kind == "reason" and taught.state == "waiting":
        return "learned in a pause"
    if taught.unjudged and taught.state == "waiting":
        return "learned along with your next lesson, while /settings says so"
    if _lost(taught):
        return "lost, because the weights went back to earlier ones; practise again to repeat it"
    return LONG_STATES[taught.state]


def _lost(taught: Taught) -> bool:
    """Whether the weights lack a practice that was not taken back. No lesson brings it back."""
    return taught.lesson.kind == "practice" and taught.state == "needs_practice"


def _held_back(taught: Taught) -> bool:
    """Whether an answer that was left standing is not learned because of what it led to."""
    return taught.state == "waiting" and not taught.replaced_by and taught.counts == 0


def led_to(taught: Taught) -> str:
    """What the talk came to after an answer that was left standing, and how much the answer counts for that
    beside a picked one; empty where nothing is known of it."""
    if not taught.shares:
        return ""
    said = [
        f"{OUTCOMES[share.outcome]} {counted(share.turns, 'turn')} later ({share.credit:+.2f})"
        for share in taught.shares[:MOST_SHARES]
    ]
    if others := taught.shares[MOST_SHARES:]:
        total = sum(share.credit for share in others)
        said.append(f"{counted(len(others), 'more turn')} ({total:+.2f})")
    return f"counts {taught.counts:.2f} of a picked one: {', '.join(said)}"


def measured(taught: Taught, now: float) -> str:
    """How well it was understood when that was last measured, and when; empty where it was not. now: seconds
    since the epoch."""
    if taught.measured is None:
        return ""
    well = understanding_words(taught.understanding, none_too=True)
    return f"{well} ({when(taught.measured, now).strip()})"


def mark(known: bool | None, due: bool) -> str:
    """One character for whether the lesson is known now. due: it ought to be."""
    if not due:
        return "\u00b7"
    return "?" if known is None else "\u2713" if known else "\u2717"


def known_words(known: bool | None, due: bool, weak: bool = False) -> str:
    """The same in words. weak: it never had to be."""
    if not due:
        return "need not be known" if weak else "need not be known any more"
    return "not looked at yet" if known is None else "known now" if known else "not known now"


def due(taught: Taught) -> bool:
    """Whether the model ought to know it: the owner judged it, and it was neither undone nor replaced."""
    return not taught.unjudged and taught.state != "taken_back" and not taught.replaced_by
