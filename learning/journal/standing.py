"""What stands and what was taken back, in SQL: the one definition that all queries use.

A judgement is withdrawn. A lesson is taken back with its judgement or, where it has none, by itself; it
is undone when the weights no longer have it, which may come later.
"""

from __future__ import annotations

from collections.abc import Iterable


def of_kinds(kinds: Iterable[str], lesson: str = "lessons") -> str:
    """The lesson is of one of these kinds."""
    return f"{lesson}.kind IN ({', '.join(repr(kind) for kind in kinds)})"


def withdrawn(judgement: str = "j.id", until: str = "") -> str:
    """The judgement of this number was withdrawn. until: only what was withdrawn up to then counts."""
    then = f" AND w.created <= {until}" if until else ""
    return f"EXISTS (SELECT 1 FROM withdrawals w WHERE w.judgement = {judgement}{then})"


def taken_back(lesson: str = "lessons") -> str:
    """The owner took the lesson back, or the judgement that it came from."""
    retracted = f"EXISTS (SELECT 1 FROM retractions r WHERE r.lesson = {lesson}.id)"
    return f"({withdrawn(f'{lesson}.judgement')} OR {retracted})"


def stands(lesson: str = "lessons") -> str:
    """The lesson is neither taken back nor undone."""
    return f"({lesson}.state != 'undone' AND NOT {taken_back(lesson)})"


TAUGHT = "EXISTS (SELECT 1 FROM lessons l WHERE l.judgement = j.id AND l.state != 'undone')"
"""Of a judgement `j`: it has a lesson that is not undone."""
JUDGEMENT_STANDS = f"""(NOT {withdrawn()} AND (
    NOT EXISTS (SELECT 1 FROM lessons l WHERE l.judgement = j.id) OR {TAUGHT}))"""
"""Of a judgement `j`: neither withdrawn nor all its lessons undone."""
ANSWERS = f"""FROM answers a LEFT JOIN judgements j ON j.id = a.judgement
    WHERE (a.judgement IS NULL OR {JUDGEMENT_STANDS})"""
"""Answers `a` that count; the newest of an ask is what its answer is now."""
