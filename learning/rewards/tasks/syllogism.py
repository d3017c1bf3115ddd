"""syllogism: two statements about kinds of things, and whether a third follows from them.

Problems have the shape of those of reasoning-gym's generator of this name (premises on A-B and B-C, a
conclusion on A-C, or the converse of one premise), in fewer words. Validity is decided by checking all
worlds in which every kind has members. (That generator does not require the middle term to be
distributed: it accepts `All A are B, some B are C, so some A are C`, and an eighth of its answers are
wrong.) The worked answer names the strongest relation that follows, then whether it implies the one
asked for.
"""

from __future__ import annotations

import functools
import itertools
import random
from collections.abc import Sequence
from dataclasses import dataclass

from engine.errors import ConfigError
from learning.rewards.task import Problem, TaskOptions
from learning.rewards.verifiers.answer import in_format
from learning.rewards.verifiers.string import string_score
from learning.rewards.verifiers.verified import VerifiedTask, configure, generated, one_by_one

FORMS = ("all", "no", "some", "some not")
Statement = tuple[str, int, int]
"""(form, subject, predicate); the terms are 0 (A), 1 (B), 2 (C)."""
# fmt: off
TERMS = (
    "cats", "dogs", "birds", "fish", "bees", "ants", "lions", "tigers", "horses", "whales", "spiders",
    "insects", "animals", "reptiles", "children", "adults", "parents", "boys", "girls", "kings",
    "queens", "friends", "neighbours", "heroes", "teachers", "doctors", "artists", "writers",
    "singers", "dancers", "cooks", "farmers", "bakers", "pilots", "sailors", "lawyers",
)
# fmt: on
"""Kinds of things, in the plural."""
_WEAKER = {"all": "some", "no": "some not"}
"""The weaker form that a form implies."""
_TRIES = 100


@dataclass(frozen=True)
class SyllogismSettings:
    """Difficulty of syllogism."""

    forms: tuple[str, ...] = FORMS
    """Forms of the statements; two or more."""
    valid_share: float = 0.5
    """Share of problems whose answer is yes, in [0, 1]."""
    turned_share: float = 0.3
    """Share of problems that ask for the converse of one premise, in [0, 1]."""
    terms: int = len(TERMS)
    """Kinds of things to choose from; >= 3."""

    def __post_init__(self) -> None:
        if len(set(self.forms)) < 2 or not set(self.forms) <= set(FORMS):
            raise ConfigError(
                f"forms is {','.join(self.forms)!r}", f"choose two or more of: {', '.join(FORMS)}"
            )
        if not (0 <= self.valid_share <= 1 and 0 <= self.turned_share <= 1):
            raise ConfigError("a share is outside 0 to 1", "give a share from 0 to 1")
        if not 3 <= self.terms <= len(TERMS):
            raise ConfigError(f"{self.terms} terms", f"give a number from 3 to {len(TERMS)}")


def syllogism(name: str, options: TaskOptions) -> VerifiedTask:
    """The task. Raises ConfigError."""
    settings = configure(SyllogismSettings, options, name)

    def draw(rng: random.Random) -> Problem | None:
        terms = rng.sample(TERMS[: settings.terms], 3)
        turned = rng.random() < settings.turned_share
        valid = rng.random() < settings.valid_share
        for _ in range(_TRIES):
            first = (rng.choice(settings.forms), 0, 1)
            second = (rng.choice(settings.forms), 1, 2)
            subject, predicate = rng.choice([(1, 0), (2, 1)]) if turned else (0, 2)
            asked = (rng.choice(settings.forms), subject, predicate)
            if follows((first, second), asked) == valid:
                return problem(first, second, asked, terms, name)
        return None

    return VerifiedTask(
        name,
        generated(draw),
        one_by_one(string_score),
        options.weights,
        options.length or 200,
        needs_field=True,
    )


@functools.cache
def follows(premises: tuple[Statement, ...], conclusion: Statement) -> bool:
    """True if the conclusion holds in every world in which the premises hold and no kind is empty."""
    return all(
        _holds(conclusion, world)
        for world in _worlds()
        if all(_holds(premise, world) for premise in premises)
    )


def problem(
    first: Statement, second: Statement, asked: Statement, terms: Sequence[str], source: str
) -> Problem:
    """The question in words, its answer and the worked reasoning."""
    truth = "Yes" if follows((first, second), asked) else "No"
    one, two, end = (say(statement, terms) for statement in (first, second, asked))
    prompt = f"{one}. {two}. Does it follow that {end[0].lower()}{end[1:]}? Yes or no."
    worked = in_format(reasoning(first, second, asked), truth)
    return Problem(prompt, truth, worked, source, form=f"{first[0]} + {second[0]}")


def say(statement: Statement, terms: Sequence[str]) -> str:
    """The statement in words."""
    form, subject, predicate = statement
    head, tail = ("Some", "are not") if form == "some not" else (form.capitalize(), "are")
    return f"{head} {terms[subject]} {tail} {terms[predicate]}"


def reasoning(first: Statement, second: Statement, asked: Statement) -> str:
    """The worked reasoning: `First to last: all + no = no. No gives some not: yes.`"""
    form, subject, predicate = asked
    given = strongest((first, second), subject, predicate)
    if (subject, predicate) == (0, 2):
        way = f"First to last: {first[0]} + {second[0]} = {given}."
    elif subject == 1:
        way = f"First turned: {first[0]} = {given}."
    else:
        way = f"Second turned: {second[0]} = {given}."
    gives = form == given or form == _WEAKER.get(given)
    return f"{way} {given.capitalize()} gives {form}: {'yes' if gives else 'no'}."


def strongest(premises: tuple[Statement, ...], subject: int, predicate: int) -> str:
    """The strongest form that follows for these two terms; `nothing` if none does."""
    return next((f for f in FORMS if follows(premises, (f, subject, predicate))), "nothing")


@functools.cache
def _worlds() -> list[tuple[frozenset[int], ...]]:
    """All worlds in which no kind is empty. A world is a set of sorts of individuals; a sort is the set
    of kinds to which its individuals belong."""
    sorts = [
        frozenset(kinds) for size in (1, 2, 3) for kinds in itertools.combinations(range(3), size)
    ]
    worlds = [world for size in range(1, 8) for world in itertools.combinations(sorts, size)]
    return [world for world in worlds if frozenset().union(*world) == {0, 1, 2}]


def _holds(statement: Statement, world: tuple[frozenset[int], ...]) -> bool:
    form, subject, predicate = statement
    inside = [predicate in sort for sort in world if subject in sort]
    return {
        "all": all(inside),
        "no": not any(inside),
        "some": any(inside),
        "some not": not all(inside),
    }[form]
