"""detective: find one of eight things by questions that are answered with yes or no, then name it.

A thing has a colour, a size and a material, two of each are possible. Three different questions are enough;
with fewer the last reply is a guess, and only that one is paid. The worked answers ask three questions at
random, which may be the same, and then name a thing that agrees with what they heard: about six in ten are
right. They think aloud: each later reply begins with what follows from the answer before it ("So it is
blue."), so that the thing is named from what was said, not from three answers of one word.
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import dropwhile

from engine.errors import ConfigError
from learning.rewards.dialogue import DialogueTask, PartnerTurn
from learning.rewards.task import Problem, TaskOptions
from learning.rewards.verifiers.verified import check_choice, configure, generated
from learning.text.normalise import fold

COLOURS = ("red", "blue", "green", "white", "black", "yellow")
SIZES = (("big", "small"), ("long", "short"))
MATERIALS = ("glass", "paper", "stone", "silver", "gold", "wool")
PLACES = ("bag", "box", "room", "garden", "shop", "car")
UNCLEAR = "What do you mean?"
NAME_IT = "Which one is it?"
"""Said with the answer to the last question."""
PARTNERS = ("brief", "says", "reminds")
CONCLUDES = ("so", "it", "is")
"""Begins a sentence that says what was concluded."""


@dataclass(frozen=True)
class DetectiveSettings:
    """Difficulty of detective."""

    questions: int = 4
    """Questions that are answered, >= 3; the next reply has to name the thing."""
    turn_cost: float = 0.0
    """Taken off for every question, 0 to 0.1."""
    partner: str = "brief"
    """What the partner answers: "brief", yes or no; "says", besides that which of the two words is true;
    "reminds", besides that all that was found out before."""

    def __post_init__(self) -> None:
        if self.questions < 3:
            raise ConfigError(f"{self.questions} questions", "give 3 or more: three are needed")
        if not 0.0 <= self.turn_cost <= 0.1:
            raise ConfigError(f"turn_cost is {self.turn_cost}", "give a number from 0 to 0.1")
        check_choice("partner", self.partner, PARTNERS)


class Keeper:
    """The partner, who knows the thing."""

    def __init__(self, truth: Mapping[str, Sequence[str]], settings: DetectiveSettings) -> None:
        """truth: "thing": the three words that describe the thing; "others": for each word the one that is
        wrong."""
        self._thing, self._others = list(truth["thing"]), list(truth["others"])
        self._left, self._cost = settings.questions, settings.turn_cost
        self._kind, self._found = settings.partner, set[int]()
        self._guessed: list[str] | None = None

    @property
    def right(self) -> float:
        """1 if the thing was named."""
        return float(self._guessed == self._thing)

    def hear(self, reply: str) -> PartnerTurn:
        """See Partner. What is concluded at the beginning of a reply is passed over, right or wrong."""
        words = _behind_conclusions(reply)
        pairs = zip(self._thing, self._others, strict=True)
        said = [[word for word in pair if word in words] for pair in pairs]
        if words[:3] == ["it", "is", "the"] and all(len(one) == 1 for one in said):
            self._guessed = [word for (word,) in said]
            return PartnerTurn("", self.right, over=True)
        if not self._left:
            return PartnerTurn("", 0.0, over=True)
        self._left -= 1
        asked = [(kind, word) for kind, one in enumerate(said) for word in one]
        clear = words[:2] == ["is", "it"] and len(asked) == 1
        answer = self._answer(*asked[0]) if clear else UNCLEAR
        return PartnerTurn(answer if self._left else f"{answer} {NAME_IT}", -self._cost)

    def _answer(self, kind: int, word: str) -> str:
        """The answer to the question whether this word, of the kind of that place, is true of the thing."""
        answer = "Yes." if word == self._thing[kind] else "No."
        if self._kind == "brief":
            return answer
        self._found = self._found | {kind} if self._kind == "reminds" else {kind}
        true = [_of(one, self._thing[one]) for one in sorted(self._found)]
        return f"{answer} It is {', '.join(true)}."


def detective(name: str, options: TaskOptions) -> DialogueTask:
    """The task. Raises ConfigError."""
    settings = configure(DetectiveSettings, options, name)

    def draw(rng: random.Random) -> Problem:
        pairs = [
            rng.sample(rng.choice(SIZES), 2),
            rng.sample(COLOURS, 2),
            rng.sample(MATERIALS, 2),
        ]
        size, colour, material = (f"{a} or {b}" for a, b in pairs)
        asked = (
            f"There is a thing in my {rng.choice(PLACES)}. It is {colour}, {size}, and made of {material}. "
            "Ask me, then name it."
        )
        turned = [rng.sample(pair, 2) for pair in pairs]
        truth = {"thing": [pair[0] for pair in turned], "others": [pair[1] for pair in turned]}
        return Problem(asked, truth, worked(truth, [pair[0] for pair in pairs], rng), name)

    def meet(problem: Problem, chance: random.Random) -> Keeper:
        return Keeper(problem.truth, settings)

    return DialogueTask(name, generated(draw), meet, settings.questions + 1, options.weights)


def worked(truth: Mapping[str, Sequence[str]], first: Sequence[str], rng: random.Random) -> str:
    """Random questions and a thing that agrees with the answers, one reply a line. first: size, colour and
    material that the message names first. The questions ask for these words. If the answer is "No.", the
    other word of "red or blue" is true, and it always follows the word that was asked for. The 10m learns
    that in two thirds of the steps that it needs if either word may be asked for
    (benchmarks/results/practice_learning.md)."""
    lines, known, concluded = list[str](), dict[int, str](), ""
    for _ in range(3):
        kind = rng.randrange(3)
        lines.append(f"{concluded}Is it {_of(kind, first[kind])}?")
        known[kind] = truth["thing"][kind]
        concluded = f"So it is {_of(kind, known[kind])}. "
    named = [
        known.get(kind) or rng.choice((truth["thing"][kind], truth["others"][kind]))
        for kind in range(3)
    ]
    return "\n".join([*lines, f"{concluded}It is the {' '.join(named)} one."])


def _of(kind: int, word: str) -> str:
    """A word as it is said of a thing: the third kind is the material."""
    return f"made of {word}" if kind == 2 else word


def _behind_conclusions(reply: str) -> list[str]:
    """The words of a reply without the sentences at its beginning that say what was concluded."""
    sentences = re.split(r"(?<=[.!?])\s*", reply.strip())
    spoken = dropwhile(lambda one: tuple(fold(one).split()[:3]) == CONCLUDES, sentences)
    return fold(" ".join(spoken)).split()
