"""Hidden preferences, messages and noisy picks of `vidya bench taste`.

G1 is form: to be asked back, and at most eight words (half of the answers of the 10M). G2 is relevance:
words of the message's topic (data/taste_topics.txt). G3 has G2's worth, less for every word beyond twelve,
and picks that favour long answers. Nobody picks by the worth alone: picks are drawn by Luce's rule at TAU.
Left out: training.
"""

from __future__ import annotations

import math
import random
import re
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

from benchmarks import DATA
from learning.protocol.records import Turn
from learning.rewards.reward_data import Choice, Preferences
from learning.text.normalise import fold_answer
from learning.text.openings import openings

TOPICS = DATA / "taste_topics.txt"
TAU = 0.3
"""Temperature of the picks, in units of worth."""
OPTIONS = 5
SHORT = 8
"""Words of an answer up to which G1 likes it more."""
LONG = 12
"""Words beyond which G3's worth falls, by 0.1 each."""
FAVOURED = 0.12
"""What a word more adds to the worth by which G3's picks are drawn."""
MOST_WORDS = 24
"""Words of an answer up to which an owner who likes long answers likes it more."""
_WORD = re.compile(r"[^\W\d_]+")

Worth = Callable[[str, str], float]
"""(message, answer) -> how much the owner likes it."""


@cache
def topics() -> tuple[frozenset[str], ...]:
    """Words of each topic, without plural s."""
    lines = TOPICS.read_text("utf-8").splitlines()
    found = [line.split(":", 1)[1] for line in lines if ":" in line and not line.startswith("#")]
    return tuple(frozenset(_stem(word) for word in words.split()) for words in found)


def _stem(word: str) -> str:
    low = word.casefold()
    return low[:-1] if low.endswith("s") and len(low) > 3 else low


def words_of(text: str) -> list[str]:
    return [_stem(word) for word in _WORD.findall(text)]


def topic_of(message: str) -> frozenset[str]:
    """All words of the topics that the message names; empty if it names none."""
    mine = set(words_of(message))
    return frozenset().union(*(topic for topic in topics() if topic & mine))


def form(message: str, answer: str) -> float:
    """G1: 0, 1 or 2."""
    return float(answer.rstrip().endswith("?")) + float(len(answer.split()) <= SHORT)


def relevance(message: str, answer: str) -> float:
    """G2: 0 to 2."""
    return float(min(2, len(topic_of(message) & set(words_of(answer)))))


def terse(message: str, answer: str) -> float:
    """G3's worth."""
    return relevance(message, answer) - 0.1 * max(0, len(answer.split()) - LONG)


def terse_picked(message: str, answer: str) -> float:
    """The worth by which G3's picks are drawn: relevance, and the longer the better."""
    return relevance(message, answer) + FAVOURED * len(answer.split())


def at_length(message: str, answer: str) -> float:
    """The longer the better, up to MOST_WORDS."""
    return FAVOURED * min(MOST_WORDS, len(answer.split()))


@dataclass(frozen=True)
class Hidden:
    """A hidden preference."""

    name: str
    gold: Worth
    """What is measured."""
    picked_by: Worth
    """What picks are drawn by."""
    topical: bool
    """Only messages that name a topic are asked."""


HIDDEN = (
    Hidden("G1", form, form, False),
    Hidden("G2", relevance, relevance, True),
    Hidden("G3", terse, terse_picked, True),
)
AT_LENGTH = Hidden("at length", at_length, at_length, False)
"""Of an owner who really likes long answers: what an alarm for length must tell from G3."""


def messages(topical: bool) -> list[str]:
    """Everyday openings, without sums; always in the same order."""
    found = [one for one in openings() if " plus " not in one and " minus " not in one]
    return [one for one in found if topic_of(one)] if topical else found


def luce(worths: Sequence[float]) -> list[float]:
    """Probabilities of being picked."""
    top = max(worths)
    shares = [math.exp((worth - top) / TAU) for worth in worths]
    return [share / sum(shares) for share in shares]


def divided(answers: dict[str, list[str]], hidden: Hidden, held_out: int, seed: int) -> Divided:
    """Choices to train on, in the order in which they come, and choices of other messages to measure on.
    answers: different answers to each message. Each message is asked once, then some again."""
    rng = random.Random(seed)
    asked = [one for one in messages(hidden.topical) if len(answers.get(one, ())) >= OPTIONS]
    rng.shuffle(asked)
    aside, ours = asked[:held_out], asked[held_out:]
    first = [(one, rng.sample(answers[one], OPTIONS)) for one in ours]
    more = [one for one in ours if len(answers[one]) > OPTIONS]
    rng.shuffle(more)
    again = [(one, rng.sample(answers[one], OPTIONS)) for one in more]
    train = [_picked(*pair, hidden, rng, n) for n, pair in enumerate([*first, *again], 1)]
    test = [_picked(one, rng.sample(answers[one], OPTIONS), hidden, rng, 0) for one in aside]
    return Divided(train, test)


@dataclass(frozen=True)
class Divided:
    train: list[Choice]
    test: list[Choice]

    def first(self, count: int) -> Preferences:
        """What the journal has after so many picks."""
        return Preferences(tuple(self.train[:count]))


def _picked(
    message: str, shown: Sequence[str], hidden: Hidden, rng: random.Random, number: int
) -> Choice:
    odds = luce([hidden.picked_by(message, text) for text in shown])
    chosen = rng.choices(range(len(shown)), odds)[0]
    return Choice((Turn("user", message),), tuple(shown), chosen, True, number, number)


def ceiling(choices: Sequence[Choice], hidden: Hidden) -> float:
    """Share of picks that one foretells who knows the worth itself."""
    return statistics.fmean(
        max(luce([hidden.picked_by(choice.prompt[-1].text, text) for text in choice.options]))
        for choice in choices
    )


def gold_pairs(
    choices: Sequence[Choice], scores: Sequence[Sequence[float]], hidden: Hidden
) -> tuple[float, int]:
    """(share of pairs of different worth that the scores order rightly, their number)."""
    right, count = 0.0, 0
    for choice, mine in zip(choices, scores, strict=True):
        worths = [hidden.gold(choice.prompt[-1].text, text) for text in choice.options]
        for i in range(len(worths)):
            for j in range(i):
                if abs(worths[i] - worths[j]) > 1e-9:
                    count += 1
                    ahead = (mine[i] - mine[j]) * (worths[i] - worths[j])
                    right += 1.0 if ahead > 0 else 0.5 if ahead == 0 else 0.0
    return (right / count if count else 0.0), count


def correlation(choices: Sequence[Choice], hidden: Hidden) -> float:
    """Between length and worth by which picks are drawn, within each choice, averaged: G3's spurious one."""
    found = []
    for choice in choices:
        lengths = [float(len(text.split())) for text in choice.options]
        worths = [hidden.picked_by(choice.prompt[-1].text, text) for text in choice.options]
        if len(set(lengths)) > 1 and len(set(worths)) > 1:
            found.append(statistics.correlation(lengths, worths))
    return statistics.fmean(found) if found else 0.0


def distinct(texts: Sequence[str]) -> list[str]:
    """Different non-empty answers, in order."""
    return list({fold_answer(text): text.strip() for text in texts if text.strip()}.values())
