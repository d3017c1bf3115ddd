"""From what the owner did to what is to be learned: one pure function per channel.

Only this file knows how a judgement becomes a lesson: a pick among several is relative, a rating
is absolute, a correction is both. Journals nothing, sends nothing, imports no torch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from learning.protocol.records import Ask, Candidate, Correction, Judgement, Lesson, Pick, Turns

RATING_WEIGHT = 0.5
"""A rating says less than a chosen or typed answer: it judges what was already said."""
OWNER_WORDS_WEIGHT = 0.02
"""The owner's own messages teach how people talk, and must not outweigh how Vidya answers."""
CONTINUATION_WEIGHT = 0.1
"""The talk went on with an answer: a hint that it would do, not a judgement."""
REMEMBERED = 100
"""Turns that a lesson has before its answer, more than a model sees of a talk. Each message of a long
conversation would else carry all of it along, several times over."""


def learn_from_selection(ask: Ask, pick: Pick, candidates: Sequence[Candidate]) -> Lesson:
    """Say what was picked rather than what stood beside it.

    candidates: one per number; `pick.index` is among them, with a text. Texts that are empty, that
    equal the chosen one, or that were cut off while they still agreed with it are not rejected:
    half of the right answer is not a wrong one.
    """
    chosen = next(c.text.strip() for c in candidates if c.index == pick.index)
    return Lesson(
        kind="pick",
        prompt=_recent(ask.turns),
        answer=chosen,
        rejected=tuple(_not_chosen(chosen, candidates)),
    )


def _recent(turns: Turns) -> Turns:
    """The end of the talk, beginning with a message of the owner's."""
    if len(turns) <= REMEMBERED:
        return turns
    tail = turns[-REMEMBERED:]
    return tail[1:] if tail[0].role == "assistant" else tail


def _not_chosen(chosen: str, candidates: Sequence[Candidate]) -> list[str]:
    others: list[str] = []
    for candidate in candidates:
        text = candidate.text.strip()
        agrees = candidate.ending == "cancelled" and chosen.startswith(text)
        if text and text != chosen and not agrees and text not in others:
            others.append(text)
    return others


def learn_from_correction(
    ask: Ask, text: str, old: str | None, shown: Sequence[Candidate] = ()
) -> Lesson:
    """Say what was typed, and no longer the answer that stood there (if any stood there), nor any of
    the candidates that were shown instead (those that a pick would reject too)."""
    wrong = old if old and old != text else None
    others = [other for other in _not_chosen(text, shown) if other != wrong]
    return Lesson(
        kind="correction",
        prompt=_recent(ask.turns),
        answer=text,
        rejected=(wrong, *others) if wrong else tuple(others),
        replaces=wrong,
    )


def learn_from_rating(ask: Ask, answer: str, value: Literal["good", "bad"] | None) -> Lesson | None:
    """Good: say this answer. Bad: do not say it. None, a rating withdrawn, teaches nothing."""
    if value is None:
        return None
    good = value == "good"
    return Lesson(
        kind="rating",
        prompt=_recent(ask.turns),
        answer=answer if good else "",
        rejected=() if good else (answer,),
        weight=RATING_WEIGHT,
    )


def learn_from_human(turns: Turns) -> Lesson:
    """The owner's message, the last of `turns`, as text to expect after what was said before."""
    return Lesson(
        kind="owner_words",
        prompt=_recent(turns[:-1]),
        answer=turns[-1].text,
        weight=OWNER_WORDS_WEIGHT,
    )


def learn_from_continuation(ask: Ask, answer: str) -> Lesson:
    """The owner went on talking after this answer without judging it."""
    return Lesson(
        kind="continuation", prompt=_recent(ask.turns), answer=answer, weight=CONTINUATION_WEIGHT
    )


def learn_from_book(turns: Turns, answer: str, old: str | None = None) -> Lesson:
    """The owner wrote into the book: after `turns` say this answer, no longer the old one."""
    wrong = old if old and old != answer else None
    return Lesson(
        kind="correction" if wrong else "example",
        prompt=turns,
        answer=answer,
        rejected=(wrong,) if wrong else (),
        replaces=wrong,
    )


def learn_from_removal(turns: Turns, old: str) -> Lesson:
    """The owner took an answer out of the book and wrote no other: do not say it."""
    return Lesson(kind="example", prompt=turns, answer="", rejected=(old,), replaces=old)


def learn_again(lesson: Lesson) -> Lesson:
    """The same once more, as a lesson of its own: the first one was taken back, or nobody had judged it."""
    weight = 1.0 if lesson.kind == "continuation" else lesson.weight
    return replace(lesson, kind="example", id=0, judgement=None, state="waiting", weight=weight)


def learn_from_judgement(
    ask: Ask, judgement: Judgement, seen: str, candidates: Sequence[Candidate]
) -> Lesson | None:
    """The lesson of a judgement as the journal has it; None for a rating withdrawn.

    seen: the text as the owner saw it. It stands for a picked candidate that never was complete.
    """
    if isinstance(judgement, Pick):
        others = [c for c in candidates if c.index != judgement.index]
        picked = Candidate(ask.id, judgement.index, seen, (), (), "cancelled", 0)
        return learn_from_selection(ask, judgement, [picked, *others])
    if isinstance(judgement, Correction):
        old = next((c.text.strip() for c in candidates if c.index == judgement.index), None)
        return learn_from_correction(ask, judgement.text, old)
    return learn_from_rating(ask, seen, judgement.value)
