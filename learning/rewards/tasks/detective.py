"""detective: find one of eight things by questions that are answered with yes or no, then name it.

A thing has a colour, a size and a material, two of each are possible. Three different questions are enough;
with fewer the last reply is a guess, and only that one is paid. The worked answers ask
from none to three questions at random and then name a thing that agrees with what they heard: about a third
are right.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from engine.errors import ConfigError
from learning.rewards.dialogue import DialogueTask, PartnerTurn
from learning.rewards.task import Problem, TaskOptions
from learning.rewards.verifiers.verified import configure, generated
from learning.text.normalise import fold

COLOURS = ("red", "blue", "green", "white", "black", "yellow")
SIZES = (("big", "small"), ("long", "short"))
MATERIALS = ("glass", "paper", "stone", "silver", "gold", "wool")
PLACES = ("bag", "box", "room", "garden", "shop", "car")
UNCLEAR = "What do you mean?"
NAME_IT = "Which one is it?"
"""Said with the answer to the last question."""
PARTNERS = ("brief", "says", "reminds")


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
        if self.partner not in PARTNERS:
            raise ConfigError(
                f"partner is {self.partner!r}", f"choose among: {', '.join(PARTNERS)}"
            )


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
        """See Partner."""
        words = fold(reply).split()
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
        true = [self._thing[one] for one in sorted(self._found)]
        if 2 in self._found:
            true[-1] = f"made of {true[-1]}"
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
        return Problem(asked, truth, worked(truth, rng), name)

    def meet(problem: Problem, chance: random.Random) -> Keeper:
        return Keeper(problem.truth, settings)

    return DialogueTask(name, generated(draw), meet, settings.questions + 1, options.weights)


def worked(truth: Mapping[str, Sequence[str]], rng: random.Random) -> str:
    """Random questions and a thing that agrees with the answers, one reply a line."""
    lines, known = list[str](), dict[int, str]()
    for _ in range(rng.randrange(4)):
        kind = rng.randrange(3)
        word = rng.choice((truth["thing"][kind], truth["others"][kind]))
        lines.append(f"Is it made of {word}?" if kind == 2 else f"Is it {word}?")
        known[kind] = truth["thing"][kind]
    named = [
        known.get(kind) or rng.choice((truth["thing"][kind], truth["others"][kind]))
        for kind in range(3)
    ]
    return "\n".join([*lines, f"It is the {' '.join(named)} one."])
