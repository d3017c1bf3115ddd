"""propositional_logic: statements about letters, and a question what else follows from them.

A right answer is a literal (a letter or its negation) that follows from all statements together and
from none of them alone, so repeating or joining statements is not an answer. Statements are always
consistent. The problems resemble those of reasoning-gym's generator of this name, in fewer words;
answers may use its symbols. The worked answer goes from the given fact to the last letter of the chain.
"""

from __future__ import annotations

import functools
import itertools
import operator
import random
import re
from collections.abc import Sequence
from dataclasses import dataclass

from engine.errors import ConfigError
from learning.rewards.task import Problem, TaskOptions
from learning.rewards.verifiers.answer import ParsedAnswer, in_format
from learning.rewards.verifiers.verified import VerifiedTask, configure, generated, one_by_one

LETTERS = "PQRSTUVW"
RULES = ("if", "unless", "or", "iff")
"""With K known and T new: if K then T; if not T then not K; not K or T; K iff T."""
Literal = tuple[str, bool]
"""(letter, True) for the letter, (letter, False) for its negation."""
Rule = tuple[str, Literal, Literal]
"""(kind, first, second). Kinds: if (first then second), or, iff, fact (first; second repeats it)."""
_LITERAL = re.compile(
    r"(?:so |therefore |thus |hence )?"
    r"(?P<not>not |¬ ?|~ ?|! ?|it is not the case that )?\(?(?P<letter>[A-Za-z])\)?"
    r"(?: is (?P<false>true|false|not true))?",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class PropositionSettings:
    """Difficulty of propositional_logic."""

    min_steps: int = 1
    max_steps: int = 2
    """Inference steps from the fact to the last letter; fewer than letters."""
    min_others: int = 0
    max_others: int = 1
    """Statements outside the chain; 0 to 6."""
    rules: tuple[str, ...] = ("if", "unless", "or")
    """Kinds of statements, from RULES."""
    letters: int = 5
    """Letters to choose from; at most 8."""

    def __post_init__(self) -> None:
        if not 1 <= self.min_steps <= self.max_steps < self.letters <= len(LETTERS):
            raise ConfigError(
                f"{self.min_steps} to {self.max_steps} steps with {self.letters} letters",
                f"give at least 1 step, fewer steps than letters, and at most {len(LETTERS)} letters",
            )
        if not 0 <= self.min_others <= self.max_others <= 6:
            raise ConfigError(
                f"{self.min_others} to {self.max_others} others",
                "give a range within 0 to 6",
            )
        if not self.rules or not set(self.rules) <= set(RULES):
            raise ConfigError(
                f"rules is {','.join(self.rules)!r}", f"choose of: {', '.join(RULES)}"
            )


def propositional_logic(name: str, options: TaskOptions) -> VerifiedTask:
    """The task. Raises ConfigError."""
    settings = configure(PropositionSettings, options, name)

    def draw(rng: random.Random) -> Problem:
        letters = rng.sample(LETTERS[: settings.letters], settings.letters)
        world = {letter: rng.random() < 0.5 for letter in letters}
        chain = letters[: rng.randint(settings.min_steps, settings.max_steps) + 1]
        fact = (chain[0], world[chain[0]])
        rules: list[Rule] = [("fact", fact, fact)]
        way, kinds = list[str](), list[str]()
        known = fact
        for letter in chain[1:]:
            new = (letter, world[letter])
            kinds.append(rng.choice(settings.rules))
            rule = _rule(kinds[-1], known, new)
            way.append(f"{say_literal(known)}, {say(rule)}: {say_literal(new)}.")
            rules.append(rule)
            known = new
        for _ in range(rng.randint(settings.min_others, settings.max_others)):
            rules.append(_other(rng, settings, letters, world))
        rng.shuffle(rules)
        said = [say(rule) for rule in dict.fromkeys(rules)]
        prompt = " ".join(f"{text[0].upper()}{text[1:]}." for text in said) + " What else follows?"
        return Problem(
            prompt,
            [say_literal(literal) for literal in new_literals(list(dict.fromkeys(rules)))],
            in_format(" ".join(way), say_literal(known)),
            name,
            form=", ".join(kinds),
        )

    return VerifiedTask(
        name,
        generated(draw),
        one_by_one(literal_score),
        options.weights,
        options.length or 200,
        needs_field=True,
    )


def literal_score(truth: Sequence[str], answer: ParsedAnswer) -> float:
    """1 if the answer is one of the literals, else 0. Never raises."""
    said = answer.said
    found = read_literal(said) if said is not None else None
    return float(found is not None and say_literal(found) in truth)


def read_literal(text: str) -> Literal | None:
    """Parses `Q`, `not Q`, `¬Q`, `Q is false`; None for anything else."""
    if len(text) > 100:
        return None
    match = _LITERAL.fullmatch(" ".join(text.split()).strip(" .$;,"))
    if match is None:
        return None
    true = not match["not"]
    if match["false"] and match["false"].lower() != "true":
        true = not true
    return match["letter"].upper(), true


def new_literals(rules: Sequence[Rule]) -> list[Literal]:
    """Literals that follow from all rules together and from none alone, in order of the letters."""
    letters = "".join(sorted({literal[0] for rule in rules for literal in rule[1:]}))
    masks = [_worlds_of(rule, letters) for rule in rules]
    together = functools.reduce(operator.and_, masks)
    found = []
    for literal in itertools.product(letters, (True, False)):
        false = ~_worlds_of(("fact", literal, literal), letters)
        if not together & false and all(mask & false for mask in masks):
            found.append(literal)
    return found


def say(rule: Rule) -> str:
    """The rule in words, without a capital at the start."""
    kind, first, second = rule
    one, two = say_literal(first), say_literal(second)
    return {
        "fact": one,
        "if": f"if {one} then {two}",
        "or": f"{one} or {two}",
        "iff": f"{one} iff {two}",
    }[kind]


def say_literal(literal: Literal) -> str:
    """`Q` or `not Q`."""
    return literal[0] if literal[1] else f"not {literal[0]}"


def holds(rule: Rule, world: dict[str, bool]) -> bool:
    """True if the rule holds in the world (letter -> truth value)."""
    kind, (a, a_true), (b, b_true) = rule
    one, two = world[a] == a_true, world[b] == b_true
    return {"fact": one, "if": two or not one, "or": one or two, "iff": one == two}[kind]


@functools.lru_cache(100_000)
def _worlds_of(rule: Rule, letters: str) -> int:
    """Bit mask of the worlds over these letters in which the rule holds."""
    bits = 0
    for i, values in enumerate(itertools.product((True, False), repeat=len(letters))):
        bits |= holds(rule, dict(zip(letters, values, strict=True))) << i
    return bits


def _rule(kind: str, known: Literal, new: Literal) -> Rule:
    """A rule of this kind from which `new` follows, given `known`."""
    if kind == "unless":
        return "if", _not(new), _not(known)
    if kind == "or":
        return "or", _not(known), new
    return kind, known, new


def _other(
    rng: random.Random,
    settings: PropositionSettings,
    letters: Sequence[str],
    world: dict[str, bool],
) -> Rule:
    """A random rule that holds in the world."""
    while True:
        one, two = rng.sample(letters, 2)
        kind = rng.choice(settings.rules)
        rule = _rule(kind, (one, rng.random() < 0.5), (two, rng.random() < 0.5))
        if holds(rule, world):
            return rule


def _not(literal: Literal) -> Literal:
    return literal[0], not literal[1]
