"""The list of lessons, newest first, with time, state, replacement, and how well each was understood. It
includes weak lessons, which the owner did not judge (learning.journal.weak).

As in learning.journal.conversations, the ids of all lessons are read first, and then the visible rows.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from learning.channels import with_what_followed
from learning.journal.contradictions import Contradictions, replacements
from learning.journal.database import Store
from learning.journal.lessons import MAIN_KINDS, RIDER_KINDS, LessonJournal
from learning.journal.rows import LESSON_COLUMNS, UNDERSTANDING, lesson_from_row
from learning.journal.standing import of_kinds, stands
from learning.journal.weak import Leading, Share, credit
from learning.protocol.records import Lesson, LessonKind, Understanding
from learning.protocol.requests import Probe

State = Literal["waiting", "learned", "needs_practice", "taken_back"]
Show = Literal["all", "waiting", "learned", "needs_practice", "taken_back", "judged", "unjudged"]
"""Filter: all lessons, those in one state, those that the owner judged, or weak ones ("unjudged")."""
UNJUDGED: tuple[LessonKind, ...] = (*RIDER_KINDS, "reason")
"""Kinds whose answers the owner did not judge."""
_MAIN, _WEAK, _LISTED = (
    of_kinds(kinds, "l") for kinds in (MAIN_KINDS, UNJUDGED, (*MAIN_KINDS, *UNJUDGED))
)
_STANDS = stands("l")
BLOCK = 250
"""Lessons that are compared in other words at a time."""


@dataclass(frozen=True)
class Taught:
    """One row of the list of lessons."""

    lesson: Lesson
    created: float
    """Seconds since the epoch, as `since`."""
    ask: int | None
    """The ask that it was taught at; None for a lesson from a file or from the book."""
    state: State
    since: float
    """When it came into its state."""
    replaced_by: int | None
    """The id of a later lesson with another answer to the same prompt (for a weak lesson: one that
    contradicts it), so that the model need not know this one; None if there is none."""
    shares: tuple[Share, ...] = ()
    """For an answer that was left standing: what reached it from later turns, before it was learned."""
    understanding: Understanding = Understanding()
    """As it was last measured. Nothing was measured of a lesson that is not learned."""
    measured: float | None = None
    """When that was, in seconds since the epoch; None: nothing was measured."""

    @property
    def unjudged(self) -> bool:
        """Whether it is a weak lesson, which the model need not know."""
        return self.lesson.kind in UNJUDGED

    @property
    def counts(self) -> float:
        """How much it counts beside an answer that was picked; 0: it is not learned, for what it led to."""
        led = with_what_followed(self.lesson, credit(self.shares)) if self.shares else self.lesson
        return led.weight if led else 0.0

    @property
    def probe(self) -> Probe:
        """The request that measures whether the model knows the lesson."""
        rejected = () if self.lesson.answer else self.lesson.rejected
        return Probe(self.lesson.prompt, self.lesson.answer, rejected, self.lesson.blame)


def taught_ids(store: Store, search: str = "", show: Show = "all") -> list[int]:
    """Ids of all lessons that match the filter and contain every word of `search`, newest first."""
    kinds = {"judged": _MAIN, "unjudged": _WEAK}
    where, values = [kinds.get(show, _LISTED)], list[object]()
    if show == "taken_back":
        where.append(f"NOT {_STANDS}")
    elif show != "all" and show not in kinds:
        where += ["l.state = ?", _STANDS]
        values.append(show)
    for word in search.casefold().split():
        # prompt and rejected are JSON, so the word is escaped in the same way
        quoted = json.dumps(word, ensure_ascii=False)[1:-1]
        where.append("(contains(l.answer, ?) OR contains(l.prompt, ?) OR contains(l.rejected, ?))")
        values += [word, quoted, quoted]
    rows = store.rows(
        f"SELECT l.id FROM lessons l WHERE {' AND '.join(where)} ORDER BY l.id DESC", *values
    )
    return [int(number) for (number,) in rows]


def keep_understanding(store: Store, lesson: int, found: Understanding) -> None:
    """Records how well a lesson was understood when it was measured just now, in place of what was recorded
    before. Does nothing for a lesson that was erased in the meantime."""
    measured = (
        [*vars(found).values(), time.time()] if found.figures else [None] * len(UNDERSTANDING)
    )
    with store.writing() as connection:
        connection.execute(
            f"UPDATE lessons SET {' = ?, '.join(UNDERSTANDING)} = ? WHERE id = ?",
            (*measured, lesson),
        )


def understandings(store: Store, lessons: Iterable[int]) -> dict[int, tuple[Understanding, float]]:
    """Lesson -> how well it was understood when it was last measured, and when that was, in seconds since the
    epoch. Left out are lessons that never were, and those that are not learned (any more): the weights in use
    are others."""
    rows = store.rows(
        f"""SELECT id, {", ".join(UNDERSTANDING)} FROM lessons WHERE measured IS NOT NULL
        AND state = 'learned' AND id IN (SELECT value FROM json_each(?))""",
        json.dumps(list(lessons)),
    )
    return {number: (Understanding(*figures), when) for number, *figures, when in rows}


def taught(store: LessonJournal, ids: Sequence[int]) -> list[Taught]:
    """The rows for some ids, in the order of `ids`. Lessons that were erased are left out."""
    columns = ", ".join(f"l.{name}" for name in LESSON_COLUMNS.split(", "))
    rows = store.rows(
        f"""SELECT {columns}, l.created, l.ask, {_STANDS},
            (SELECT max(e.created) FROM lesson_events e WHERE e.lesson = l.id)
        FROM lessons l WHERE l.id IN (SELECT value FROM json_each(?))""",
        json.dumps(list(ids)),
    )
    later = _replacements(store, ids)
    width = LESSON_COLUMNS.count(",") + 1
    made = dict[int, Taught]()
    against: Contradictions | None = None
    leading = Leading(store)
    understood = understandings(store, ids)
    for row in rows:
        lesson = lesson_from_row(row[:width])
        created, ask, standing, since = row[width:]
        state: State = "taken_back"
        if standing and lesson.state != "undone":
            state = lesson.state
        by = None if state == "taken_back" else later.get(lesson.id)
        if by is None and state != "taken_back" and lesson.kind == "continuation" and lesson.prompt:
            against = against or Contradictions(store.standing())
            found = against.against(lesson.prompt[-1].text, lesson.answer)
            by = found.id if found else None
        shares = tuple[Share, ...]()
        if lesson.kind == "continuation" and state != "taken_back":
            # what came later than a lesson did not change it any more
            until = since or created if state == "learned" else math.inf
            shares = leading.shares(lesson.id, until)
        measured = understood.get(lesson.id, (Understanding(), None)) if state == "learned" else ()
        made[lesson.id] = Taught(
            lesson, created, ask, state, since or created, by, shares, *measured
        )
    return [made[number] for number in ids if number in made]


def _replacements(store: LessonJournal, ids: Sequence[int]) -> dict[int, int]:
    """Lesson -> the newest later lesson of the owner with the same prompt and another answer; if there is
    none, the one that changes it in other words (learning.journal.contradictions.replacements)."""
    reworded = _reworded(store, min(ids, default=0))
    rows = store.rows(
        f"""WITH chosen AS (
            SELECT id, prompt, answer FROM lessons WHERE id IN (SELECT value FROM json_each(?))),
        same AS (
            SELECT l.id, l.prompt, l.answer FROM lessons l
            WHERE l.prompt IN (SELECT prompt FROM chosen) AND {_MAIN} AND {_STANDS})
        SELECT c.id, max(s.id) FROM chosen c JOIN same s
        ON s.prompt = c.prompt AND s.id > c.id AND s.answer != c.answer GROUP BY c.id""",
        json.dumps(list(ids)),
    )
    return reworded | {int(lesson): int(by) for lesson, by in rows}


def _reworded(store: LessonJournal, first: int) -> dict[int, int]:
    """Lesson -> the later one that changes it in other words, for lessons from number `first` on. Read once
    for BLOCK lessons, until a lesson changes."""
    since, mark = first - first % BLOCK, store.lessons_mark()
    known = store.reworded
    if known is None or known[0] != mark or known[1] > since:
        found = replacements(store.standing(since))
        known = store.reworded = mark, since, {number: by.id for number, by in found.items()}
    return known[2]
