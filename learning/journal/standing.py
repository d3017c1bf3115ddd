"""Which judgements and lessons are in effect: the SQL conditions that all queries share.

A judgement is "withdrawn" by the owner. A lesson is "taken back" when its judgement is withdrawn or when it
is retracted itself, and "undone" once it has been removed from the weights, which may be later. A judgement
or lesson "stands" while it is in effect.
"""

from __future__ import annotations

from collections.abc import Iterable


def of_kinds(kinds: Iterable[str], lesson: str = "lessons") -> str:
    """Condition: the lesson is of one of these kinds. lesson: name or alias of the table."""
    return f"{lesson}.kind IN ({', '.join(repr(kind) for kind in kinds)})"


def withdrawn(judgement: str = "j.id", until: str = "") -> str:
    """Condition: the judgement with this id (an SQL expression) was withdrawn, no later than `until` if
    given."""
    then = f" AND w.created <= {until}" if until else ""
    return f"EXISTS (SELECT 1 FROM withdrawals w WHERE w.judgement = {judgement}{then})"


def taken_back(lesson: str = "lessons") -> str:
    """Condition: the lesson was retracted, or its judgement withdrawn."""
    retracted = f"EXISTS (SELECT 1 FROM retractions r WHERE r.lesson = {lesson}.id)"
    return f"({withdrawn(f'{lesson}.judgement')} OR {retracted})"


def stands(lesson: str = "lessons") -> str:
    """Condition: the lesson is neither taken back nor undone."""
    return f"({lesson}.state != 'undone' AND NOT {taken_back(lesson)})"


TAUGHT = "EXISTS (SELECT 1 FROM lessons l WHERE l.judgement = j.id AND l.state != 'undone')"
"""Condition on a judgement `j`: it has a lesson that is not undone."""
JUDGEMENT_STANDS = f"""(NOT {withdrawn()} AND (
    NOT EXISTS (SELECT 1 FROM lessons l WHERE l.judgement = j.id) OR {TAUGHT}))"""
"""Condition on a judgement `j`: it is not withdrawn, and not all its lessons are undone."""
ANSWERS = f"""FROM answers a LEFT JOIN judgements j ON j.id = a.judgement
    WHERE (a.judgement IS NULL OR {JUDGEMENT_STANDS})"""
"""FROM clause for the answers `a` in effect, with their judgements `j`. The newest of an ask is its current
answer."""
