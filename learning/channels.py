"""Turns what the owner did into lessons: one pure function per channel.

Only this file knows how a judgement becomes a lesson: a pick is relative, a rating is absolute, a
correction is both. Left out: the journal and sending requests. Imports no torch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal

from learning.maths.discounting import discounted_sums
from learning.protocol.records import (
    Ask,
    Candidate,
    Correction,
    Judgement,
    Lesson,
    Pick,
    Span,
    Turns,
)

RATING_WEIGHT = 0.5
"""A rating weighs less than a picked or typed answer: it gives no better answer."""
OWNER_WORDS_WEIGHT = 0.02
"""The owner's messages show how people talk; they must not outweigh how Vidya should answer."""
CONTINUATION_WEIGHT = 0.1
"""An answer after which the owner went on talking was acceptable: a hint, not a judgement."""
Outcome = Literal["good", "bad", "corrected", "left"]
"""What became of a turn: rated good or bad, corrected, or the last one, after which the owner went away."""
OUTCOMES: Mapping[Outcome, float] = {"good": 1.0, "bad": -1.0, "corrected": -1.0, "left": -0.5}
"""The reward of a turn, for the answers that led there. Leaving is the weakest sign: every talk ends. A pick
is none: it says which answer is better, not whether the talk went well."""
LEADING = 0.99 * 0.9
"""How much less of a reward reaches an answer one turn earlier: γλ of the credit of turns. About half of it
reaches an answer six turns earlier."""
REACH = 40
"""Most turns that an outcome reaches back; less than a hundredth of it would reach further."""
REMEMBERED = 100
"""Most turns before the answer of a lesson; more than fit into any model's context. Without a limit every
lesson of a long conversation would store the whole conversation."""


def learn_from_selection(ask: Ask, pick: Pick, candidates: Sequence[Candidate]) -> Lesson:
    """A lesson to prefer the picked candidate to the others.

    candidates: one per index, including `pick.index` with a text. A candidate that is empty, equals the
    chosen one, or was cancelled while it was still a prefix of it is not rejected. Where the message was
    answered again for a reason, only the earlier answer is rejected: all candidates follow the reason.
    """
    chosen = next(c.text.strip() for c in candidates if c.index == pick.index)
    if ask.again is not None:
        wrong = ask.again.old if ask.again.old != chosen else None
        rejected = (wrong,) if wrong else ()
        return Lesson("pick", _recent(ask.turns), chosen, rejected, replaces=wrong)
    return Lesson(
        kind="pick",
        prompt=_recent(ask.turns),
        answer=chosen,
        rejected=tuple(_not_chosen(chosen, candidates)),
    )


def _recent(turns: Turns) -> Turns:
    """The last REMEMBERED turns, starting with a message of the owner."""
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
    """A lesson to give the typed answer. Rejects the answer `old` that it replaces, if any, and those of
    the candidates `shown` that a pick would reject too."""
    wrong = old if old and old != text else None
    others = [other for other in _not_chosen(text, shown) if other != wrong]
    return Lesson(
        kind="correction",
        prompt=_recent(ask.turns),
        answer=text,
        rejected=(wrong, *others) if wrong else tuple(others),
        replaces=wrong,
    )


def learn_from_rating(
    ask: Ask, answer: str, value: Literal["good", "bad"] | None, blame: Span | None = None
) -> Lesson | None:
    """Good: a lesson to give this answer. Bad: a lesson to avoid it, or the part of it that is to blame
    (`learn_with_traces` of the sources). None (rating withdrawn): no lesson."""
    if value is None:
        return None
    good = value == "good"
    return Lesson(
        kind="rating",
        prompt=_recent(ask.turns),
        answer=answer if good else "",
        rejected=() if good else (answer,),
        weight=RATING_WEIGHT,
        blame=None if good else blame,
    )


def learn_from_human(turns: Turns) -> Lesson:
    """A lesson to predict the owner's message, the last of `turns`, from the turns before it."""
    return Lesson(
        kind="owner_words",
        prompt=_recent(turns[:-1]),
        answer=turns[-1].text,
        weight=OWNER_WORDS_WEIGHT,
    )


def learn_from_continuation(ask: Ask, answer: str) -> Lesson:
    """A weak lesson for an answer after which the owner went on talking without judging it. Its weight is for
    a talk of which nothing more is known (`with_what_followed`)."""
    return Lesson(
        kind="continuation", prompt=_recent(ask.turns), answer=answer, weight=CONTINUATION_WEIGHT
    )


def credit_of(outcomes: Mapping[int, Outcome]) -> float:
    """What an answer gets of what the turns after it came to. outcomes: how many turns after it -> of that
    turn.

    Σ_k (γλ)^k r_k: the generalised advantage of a turn (arXiv 1506.02438, eq. 16) where no values are known.
    """
    rewards = [0.0] * (max(outcomes, default=0) + 1)
    for turns, outcome in outcomes.items():
        rewards[turns] = OUTCOMES[outcome]
    return discounted_sums(rewards, [LEADING] * len(rewards), 0.0)[0]


def with_what_followed(lesson: Lesson, credit: float) -> Lesson | None:
    """A weak lesson of `learn_from_continuation` with its weight times 1 + credit, at most twice. None where
    nothing is left: an answer that led to a bad one is not learned, but nothing is taught against it."""
    weight = lesson.weight * (1 + min(1.0, max(-1.0, credit)))
    return replace(lesson, weight=weight) if weight > 0 else None


def learn_from_book(turns: Turns, answer: str, old: str | None = None) -> Lesson:
    """A lesson for a line that the owner wrote into the book: this answer after `turns`, not `old`."""
    wrong = old if old and old != answer else None
    return Lesson(
        kind="correction" if wrong else "example",
        prompt=turns,
        answer=answer,
        rejected=(wrong,) if wrong else (),
        replaces=wrong,
    )


def learn_from_removal(turns: Turns, old: str) -> Lesson:
    """A lesson to avoid an answer that the owner removed from the book."""
    return Lesson(kind="example", prompt=turns, answer="", rejected=(old,), replaces=old)


def learn_again(lesson: Lesson, old: str | None = None) -> Lesson:
    """A new lesson with the same content, for one that was undone or that nobody had judged. old: the owner's
    answer that the new lesson replaces. The answer that `lesson` replaced is not taken over: the model may
    have written it."""
    weight = 1.0 if lesson.kind == "continuation" else lesson.weight
    again = replace(lesson, kind="example", id=0, judgement=None, state="waiting", weight=weight)
    return replace(again, replaces=old)


def learn_from_judgement(
    ask: Ask, judgement: Judgement, seen: str, candidates: Sequence[Candidate]
) -> Lesson | None:
    """The lesson for a judgement in the journal; None for a withdrawn rating.

    seen: the text as the owner saw it; used if the picked candidate was never completed.
    """
    if isinstance(judgement, Pick):
        mine = (c for c in candidates if c.index == judgement.index and c.ending != "cancelled")
        seen = next((c.text for c in mine if c.text.strip().startswith(seen)), seen)
        # as Exchange.as_seen: an offer is no wrong answer because another was picked
        others = [c for c in candidates if c.index != judgement.index and not c.offered]
        picked = Candidate(ask.id, judgement.index, seen, (), (), "cancelled", 0)
        return learn_from_selection(ask, judgement, [picked, *others])
    if isinstance(judgement, Correction):
        old = next((c.text.strip() for c in candidates if c.index == judgement.index), None)
        return learn_from_correction(ask, judgement.text, old)
    return learn_from_rating(ask, seen, judgement.value, judgement.blame)
