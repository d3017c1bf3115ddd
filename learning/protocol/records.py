"""What is said and judged, as frozen dataclasses. Imports no torch: the interface's process uses it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, NamedTuple, cast

from engine.config import Sampling

Role = Literal["user", "assistant"]
Ending = Literal["end", "length", "cancelled"]
LessonKind = Literal[
    "pick", "correction", "rating", "example", "owner_words", "continuation", "practice"
]
"""A practice is no text to learn: the name of its task stands as its prompt, so that what it did to the
weights can be undone like a lesson."""
LessonState = Literal["waiting", "learned", "needs_practice", "undone"]


class Turn(NamedTuple):
    """One message: a pair of role and text, as the engine and books take them too."""

    role: Role
    text: str


Turns = tuple[Turn, ...]


def as_turns(pairs: Iterable[tuple[str, str]]) -> Turns:
    """Pairs of role and text, which are known to be right, as turns."""
    return tuple(Turn(cast(Role, role), text) for role, text in pairs)


@dataclass(frozen=True)
class Candidate:
    """One of the answers to an ask, with what is needed to reproduce its probability."""

    ask: int
    index: int
    """1 to n, the number on its card."""
    text: str
    tokens: tuple[int, ...]
    """Ids of the answer, with the end token where it was sampled."""
    logprobs: tuple[float, ...]
    """Log-probability of each token under the distribution it was drawn from, same length."""
    ending: Ending
    version: int
    """Version of the published weights that made it."""
    certainty: float | None = None
    """How sure the model was of it (learning.teacher.certainty), 0 to 1; None where that was not measured."""


@dataclass(frozen=True)
class TextDelta:
    """More of one answer of several that are being written."""

    index: int
    """1 to n, the answer's number."""
    text: str
    """Whole UTF-8 characters to append."""


@dataclass(frozen=True)
class Ask:
    """A message of the owner with the turns before it; candidates answer it."""

    id: int
    conversation: int
    turns: Turns
    """All turns so far; the last is the owner's message."""
    sampling: Sampling
    seed: int | None
    created: float
    """Seconds since the epoch."""
    parent: int | None = None
    """The ask whose answer it goes on from; None at the beginning."""


@dataclass(frozen=True)
class Pick:
    """Candidate `index` was preferred over the others."""

    ask: int
    index: int


@dataclass(frozen=True)
class Correction:
    """The owner typed what the answer should have been; `index` is the candidate retyped, if any."""

    ask: int
    text: str
    index: int | None = None


@dataclass(frozen=True)
class Rating:
    """The answer in the conversation was good or bad; None withdraws an earlier rating."""

    ask: int
    value: Literal["good", "bad"] | None


Judgement = Pick | Correction | Rating


@dataclass(frozen=True)
class Lesson:
    """One thing to learn: after `prompt`, say `answer` and do not say `rejected`."""

    kind: LessonKind
    prompt: Turns
    """Ends with a user turn (except kind owner_words, where it may be empty)."""
    answer: str
    """What to say; empty where only `rejected` is to be learned (a bad rating)."""
    rejected: tuple[str, ...] = ()
    weight: float = 1.0
    """Relative weight in its batch, > 0."""
    id: int = 0
    """Number in the journal; 0 while it is not journaled."""
    judgement: int | None = None
    """The judgement it came from; None for lessons from a file."""
    state: LessonState = "waiting"
    replaces: str | None = None
    """An earlier answer to the same prompt that the owner no longer wants."""


@dataclass(frozen=True)
class LessonReport:
    """What learning a lesson did; the `--json` object of `vidya teach`."""

    lesson: int
    kind: str
    known_before: bool
    known_after: bool
    steps: int
    batch: int
    loss: float
    book_recall: float
    seconds: float
    rolled_back: bool
    version: int
    """Published version after it."""
    state: LessonState = "learned"
    why: str = ""
    """Why it was not even tried, in plain words; else empty."""
    ways_known: int = 0
    """Other wordings of the question in which the answer is known, of ..."""
    ways_asked: int = 0
    """... so many that were asked and never trained; 0 where none were."""


@dataclass(frozen=True)
class StepFigures:
    """One step of practice in numbers; means are over all answers drawn in it."""

    step: int
    reward_mean: float
    reward_std: float
    """Mean over the groups of the standard deviation within each."""
    success: float
    """Share of the drawn answers that were right."""
    groups: int
    """Problems drawn, those drawn again counted too."""
    dead_groups: int
    """Of them those whose answers all had exactly the same reward."""
    kl: float
    """Nats a token from the weights before the first step, estimated on some of the drawn answers."""
    loss: float
    entropy: float
    clipped: float
    """Share of tokens silenced by the bounds of the ratio."""
    length: float
    """Tokens an answer."""
    truncated: float
    """Share of answers cut off at the limit."""
    failed: int
    """Answers that the verifier could not judge."""
    tokens: int
    """Of all answers."""
    tokens_per_second: float
    """While drawing."""
    seconds: float
    components: dict[str, float]
    """Mean of each component of the reward."""
