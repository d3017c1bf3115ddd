"""Filters weak lessons, which the owner did not judge and which are learned only if the settings allow it,
and weighs them by what the talk came to.

An answer that the owner left without a judgement must not teach anything that contradicts a lesson or that
was taken back. This is checked when the weak lesson is made, and again each time before it is added to a
batch, because the owner may have corrected it in between.

What the owner judged later reaches it too (`Leading`). Its share is stored nowhere: it follows from the
judgements in effect, so that it goes with a judgement that is taken back or forgotten, counts once, and no
crash loses it. Imports no torch.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from learning.channels import REACH, Outcome, credit_of, with_what_followed
from learning.journal.contradictions import Contradictions, touches
from learning.journal.database import Store
from learning.journal.journal import Journal
from learning.journal.rows import BRANCHES
from learning.journal.standing import JUDGEMENT_STANDS
from learning.journal.tree import ConversationTree
from learning.protocol.records import Lesson
from learning.text.normalise import fold, fold_answer


def weak_lessons(lessons: Iterable[Lesson], journal: Journal) -> list[Lesson]:
    """Those of the weak lessons that contradict no lesson in effect and repeat none that was taken back."""
    lessons = list(lessons)
    if not any(lesson.kind == "continuation" for lesson in lessons):
        return lessons
    taught, gone = Contradictions(journal.standing()), journal.taken_back()
    return [lesson for lesson in lessons if _may_teach(lesson, taught, gone)]


def _may_teach(lesson: Lesson, taught: Contradictions, gone: Iterable[Lesson]) -> bool:
    if lesson.kind != "continuation" or not lesson.prompt:
        return True
    question = lesson.prompt[-1].text
    if taught.against(question, lesson.answer):
        return False
    return taught.said(question, lesson.answer) or not any(
        fold_answer(other.answer) == fold_answer(lesson.answer)
        and (fold(asked) == fold(question) or touches(asked, question))
        for other in gone
        if other.prompt and (asked := other.prompt[-1].text)
    )


@dataclass(frozen=True)
class Share:
    """What reached an answer that was left standing from one later turn."""

    outcome: Outcome
    turns: int
    """How many turns after the answer that was, at least 1."""
    credit: float
    """The share, -1 to 1."""
    created: float
    """When the owner judged or left, in seconds since the epoch."""


class Leading:
    """What the talk came to after answers that were left standing. Reads each conversation once."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._talks: dict[int, tuple[ConversationTree, dict[int, tuple[Outcome, float]]]] = {}

    def shares(self, lesson: int, until: float = float("inf")) -> tuple[Share, ...]:
        """What reached a weak lesson, the nearest turn first; nothing for a lesson without an ask.

        Where a message was answered several times, or the talk branched, the newest ask that has an outcome
        counts among those equally far away. until: only what was there then, in seconds since the epoch.
        """
        row = self._store.row(
            "SELECT a.id, a.conversation FROM lessons l JOIN asks a ON a.id = l.ask WHERE l.id = ?",
            lesson,
        )
        if row is None:
            return ()
        tree, outcomes = self._talk(row[1])
        found: dict[int, Share] = {}
        for ask, turns in tree.after(row[0]).items():
            if turns <= REACH and ask in outcomes and outcomes[ask][1] <= until:
                outcome, created = outcomes[ask]
                found[turns] = Share(outcome, turns, credit_of({turns: outcome}), created)
        return tuple(found[turns] for turns in sorted(found))

    def weighed(self, lesson: Lesson) -> Lesson | None:
        """The lesson with the weight that it has after what followed; None: it is not to be learned."""
        if lesson.kind != "continuation":
            return lesson
        return with_what_followed(lesson, credit(self.shares(lesson.id)))

    def _talk(self, conversation: int) -> tuple[ConversationTree, dict[int, tuple[Outcome, float]]]:
        """The tree of a conversation, and ask -> (outcome, when) for those of its asks that have one."""
        if conversation not in self._talks:
            tree = ConversationTree(self._store.rows(BRANCHES, conversation))
            rows = self._store.rows(
                f"""SELECT j.ask, CASE j.kind WHEN 'correction' THEN 'corrected' ELSE j.value END, j.created
                FROM judgements j WHERE j.ask IN (SELECT id FROM asks WHERE conversation = ?)
                AND (j.kind = 'correction' OR j.value IS NOT NULL) AND {JUDGEMENT_STANDS}
                ORDER BY j.kind = 'correction', j.id""",  # a correction counts, whatever is said of it
                conversation,
            )
            outcomes: dict[int, tuple[Outcome, float]] = {
                ask: (outcome, created) for ask, outcome, created in rows
            }
            last = tree.newest() or 0
            if left := self._left(last):
                outcomes[last] = "left", left
            self._talks[conversation] = tree, outcomes
        return self._talks[conversation]

    def _left(self, last: int) -> float | None:
        """When the owner went from a conversation, whose last ask is given, to another one; None: not yet, or
        with a judgement, which says more."""
        judged = f"""SELECT 1 FROM judgements j WHERE j.ask = ? AND {JUDGEMENT_STANDS}
            AND (j.kind != 'rating' OR j.value IS NOT NULL)"""
        if self._store.row(judged, last):
            return None
        # what was imported since has a later number, and may be older
        row = self._store.row(
            """SELECT created FROM asks WHERE id > ?1
            AND created > (SELECT created FROM asks WHERE id = ?1) ORDER BY id LIMIT 1""",
            last,
        )
        return float(row[0]) if row else None


def credit(shares: Iterable[Share]) -> float:
    """What an answer gets of all that reached it."""
    return credit_of({share.turns: share.outcome for share in shares})
