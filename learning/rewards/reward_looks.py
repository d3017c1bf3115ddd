"""What a reward model looks for, measured by taking properties away from answers; and how it likes the last
answers.

A property is never read off the weights or off a correlation: the same answer is rated with it and without
it. Left out: training and measuring (reward_training).
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from engine.tokenizers.tokenizer import Tokenizer
from learning.journal.journal import Journal
from learning.protocol.records import Turns
from learning.rewards.reward_model import RewardModel, read
from learning.rewards.reward_report import Look, Rated, TasteReport
from learning.text.flaws import sentences_of

ASKS = 60
"""Messages whose candidates are looked at."""
LAST = 100
"""Answers among which the best and least liked are."""
NAMED = 5
"""Best, and least liked, answers that are kept."""
WORDS, ANSWERS_A_WORD = 24, 20
"""Most words that are taken away, the most frequent ones, and most answers that each is taken from: a pause
must not be long."""
LEAST_ANSWERS = 5
"""Answers that must have a property, before it is reported."""
SHOWN_WORDS = 6
"""Words that are reported."""
_WORD = re.compile(r"[^\W\d_]+(?:['\u2019][^\W\d_]+)*")


@dataclass(frozen=True)
class ShownAnswer:
    """A candidate that was shown."""

    ask: int
    number: int
    prompt: Turns
    text: str


def last_shown(journal: Journal, asks: int = ASKS) -> list[ShownAnswer]:
    """The whole candidates of the last `asks` messages, newest first. Raises JournalError."""
    found = list[ShownAnswer]()
    for (number,) in journal.rows("SELECT id FROM asks ORDER BY id DESC LIMIT ?", asks):
        prompt = journal.ask(number).turns
        found += [
            ShownAnswer(number, one.index, prompt, one.text.strip())
            for one in journal.candidates(number)
            if one.ending != "cancelled" and one.text.strip()
        ]
    return found


def with_looks(
    report: TasteReport,
    model: RewardModel,
    tokenizer: Tokenizer,
    context: int,
    journal: Journal,
    *,
    pause: Callable[[], None] = lambda: None,
) -> TasteReport:
    """The report with what the model looks for and how it likes the last answers."""

    def rate(prompts: Sequence[Turns], texts: Sequence[str]) -> list[float]:
        groups = read(tokenizer, zip(prompts, texts, strict=True), context)
        rewards = model.rewards(groups, pause=pause).mean(1).tolist()
        return [report.score(reward) for reward in rewards]

    shown = last_shown(journal)
    scores = rate([one.prompt for one in shown], [one.text for one in shown])
    rated = [
        Rated(one.ask, one.number, score)
        for one, score in list(zip(shown, scores, strict=True))[:LAST]
    ]
    rated.sort(key=lambda one: -one.score)
    return replace(
        report,
        looks=tuple(looks(shown, scores, rate)),
        best=tuple(rated[:NAMED]),
        least=tuple(rated[::-1][:NAMED]),
        looked_at=len(rated),
    )


Rate = Callable[[Sequence[Turns], Sequence[str]], list[float]]
"""Scores of answers to prompts."""


def looks(shown: Sequence[ShownAnswer], scores: Sequence[float], rate: Rate) -> list[Look]:
    """The properties that change the score, the strongest of each kind first: a question back, one more
    sentence, words. scores: of the answers as they were shown."""
    variants = dict[str, list[tuple[int, str]]]()
    for place, one in enumerate(shown):
        for what, less in shortened(one.text):
            variants.setdefault(what, []).append((place, less))
    for word, places in _frequent(shown):
        less_of = [(place, without_word(shown[place].text, word)) for place in places]
        variants[f"\u201c{word}\u201d"] = [(place, less) for place, less in less_of if less]
    flat = [(what, place, less) for what, rows in variants.items() for place, less in rows]
    without = rate([shown[place].prompt for _, place, _ in flat], [text for _, _, text in flat])
    changes = dict[str, list[float]]()
    for (what, place, _), score in zip(flat, without, strict=True):
        changes.setdefault(what, []).append(scores[place] - score)
    found = [_look(what, values) for what, values in changes.items()]
    found = [one for one in found if one.count >= LEAST_ANSWERS]
    found.sort(key=lambda one: -abs(one.change))
    forms = [one for one in found if not one.what.startswith("\u201c")]
    words = [one for one in found if one.what.startswith("\u201c") and one.sure]
    return [*forms, *words[:SHOWN_WORDS]]


def shortened(text: str) -> list[tuple[str, str]]:
    """(what is taken away, the text without it): the last sentence of several, which is a question back or
    just one more; and the question mark at the end."""
    sentences, asks = sentences_of(text), text.rstrip().endswith("?")
    found = [("a question mark", f"{text.rstrip().rstrip('?')}.")] if asks else []
    if len(sentences) > 1:
        what = "a question back" if asks else "one more sentence"
        found.append((what, " ".join(sentences[:-1])))
    return found


def without_word(text: str, word: str) -> str:
    """The text without every occurrence of a word; "" if nothing else is in it."""
    kept = re.sub(rf"(?<!\w){re.escape(word)}(?!\w)", "", text, flags=re.IGNORECASE)
    kept = re.sub(r"\s+([,.;:!?])", r"\1", " ".join(kept.split()))
    return kept if _WORD.search(kept) else ""


def _frequent(shown: Sequence[ShownAnswer]) -> list[tuple[str, list[int]]]:
    """The most frequent words with the places of the answers that have them."""
    words = [{word.casefold() for word in _WORD.findall(one.text)} for one in shown]
    counts = Counter(word for mine in words for word in mine)
    common = [word for word, count in counts.most_common(WORDS) if count >= LEAST_ANSWERS]
    return [
        (word, [i for i, mine in enumerate(words) if word in mine][:ANSWERS_A_WORD])
        for word in common
    ]


def _look(what: str, changes: Sequence[float]) -> Look:
    count = len(changes)
    mean = sum(changes) / count
    spread = sum((one - mean) ** 2 for one in changes) / max(1, count - 1)
    return Look(what, mean, math.sqrt(spread / count), count)
