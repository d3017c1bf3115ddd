"""umbrella_talk: a forecast, one piece of advice, small talk that pays by a coin, and the weather at the end.

The umbrella chain of DeepMind's bsuite (Osband et al., 1908.03568) as a conversation: the first reply alone
decides the last reward, and every turn between pays +1 or -1 by chance, so the variance of the return grows
with the small talk. What has to be found out is which thing fits which weather.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from engine.errors import ConfigError
from learning.rewards.dialogue import DialogueTask, PartnerTurn
from learning.rewards.task import Problem, TaskOptions
from learning.rewards.verifiers.verified import check_choice, configure, generated
from learning.text.normalise import fold

FITS = {
    "rain": "an umbrella",
    "be hot": "a hat",
    "snow": "some boots",
    "be cold": "a coat",
}
"""Weather, as in "it will rain" -> what fits it."""
NEWS = (
    *("I had soup today.", "My sister called me.", "The train was late.", "I read a book."),
    *("I saw a black cat.", "We have a new door.", "I baked some bread.", "My cup is broken."),
    *("I slept well.", "The shop was full.", "I found a key.", "My friend is here."),
)
"""What the partner says besides."""
REPLIES = ("I see.", "Tell me more.", "That is nice.", "What then?")
"""Replies to small talk in the worked answers."""
PARTNERS = ("quiet", "reminds", "reacts")
BESIDES = 2
"""Sentences of NEWS in the first message."""


@dataclass(frozen=True)
class UmbrellaTalkSettings:
    """Difficulty of umbrella_talk."""

    small_talk: int = 6
    """Turns of small talk between the advice and the weather, >= 0."""
    weathers: int = 2
    """Kinds of weather, 2 to 4, each with one thing that fits."""
    partner: str = "reminds"
    """What the partner's messages tell of what was said before: "quiet", nothing, so the model has to
    remember it; "reminds", the forecast and what is packed, as every observation of the chain does; "reacts",
    besides that whether the partner likes it."""

    known: float = 0.0
    """Share of the worked answers, 0 to 1, whose advice fits; in the others it is drawn at random."""

    def __post_init__(self) -> None:
        if not 0.0 <= self.known <= 1.0:
            raise ConfigError(f"known is {self.known}", "give a number from 0 to 1")
        if self.small_talk < 0:
            raise ConfigError(f"small_talk is {self.small_talk}", "give a number from 0 on")
        check_choice("partner", self.partner, PARTNERS)
        if not 2 <= self.weathers <= len(FITS):
            raise ConfigError(f"{self.weathers} weathers", f"give a number from 2 to {len(FITS)}")


class Traveller:
    """The partner of one conversation."""

    def __init__(self, weather: str, settings: UmbrellaTalkSettings, chance: random.Random) -> None:
        self._weather, self._left, self._chance = weather, settings.small_talk, chance
        self._kind = settings.partner
        self._advice: str | None = None

    @property
    def right(self) -> float:
        """1 if the first reply named the thing that fits, and no other."""
        return float(self._advice is not None and named(self._advice) == [FITS[self._weather]])

    def hear(self, reply: str) -> PartnerTurn:
        """See Partner."""
        if self._advice is None:
            self._advice = reply
        if not self._left:
            return PartnerTurn("", 1.0 if self.right else -1.0, over=True)
        self._left -= 1
        told = [] if self._kind == "quiet" else [self._reminder(self._advice)]
        if self._kind == "reacts":
            told.append("Good!" if self.right else "Really?")
        says = " ".join([*told, self._chance.choice(NEWS)])
        return PartnerTurn(says, self._chance.choice((1.0, -1.0)))

    def _reminder(self, advice: str) -> str:
        packed = " and ".join(named(advice)) or "nothing"
        return f"It will {self._weather} and I have {packed}."


def named(reply: str) -> list[str]:
    """The things that a reply names, in order of FITS."""
    said = set(fold(reply).split())
    return [thing for thing in FITS.values() if thing.split()[-1] in said]


def umbrella_talk(name: str, options: TaskOptions) -> DialogueTask:
    """The task. Raises ConfigError."""
    settings = configure(UmbrellaTalkSettings, options, name)
    weathers = list(FITS)[: settings.weathers]

    def draw(rng: random.Random) -> Problem:
        weather = rng.choice(weathers)
        told = [*rng.sample(NEWS, BESIDES), f"Tomorrow it will {weather}."]
        rng.shuffle(told)
        meant = weather if rng.random() < settings.known else rng.choice(weathers)
        advice = FITS[meant].capitalize() + "."
        worked = [advice, *(rng.choice(REPLIES) for _ in range(settings.small_talk))]
        return Problem(" ".join([*told, "What shall I pack?"]), weather, "\n".join(worked), name)

    def meet(problem: Problem, chance: random.Random) -> Traveller:
        return Traveller(problem.truth, settings, chance)

    return DialogueTask(name, generated(draw), meet, settings.small_talk + 1, options.weights)
