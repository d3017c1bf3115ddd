"""Turns, candidates, judgements and lessons as frozen dataclasses. Imports no torch."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, NamedTuple, cast

from engine.config import Sampling

Role = Literal["user", "assistant"]
Ending = Literal["end", "length", "cancelled"]
LessonKind = Literal[
    "pick", "correction", "rating", "example", "owner_words", "continuation", "practice", "reason"
]
"""pick, correction, rating: from a judgement. example: from a file or the book. owner_words: the owner's
own messages. continuation: an answer that the owner did not judge. reason: an answer to another message,
written by the model with the owner's reason in its context. practice: not a text; a run of practice
or distillation, recorded so that it can be undone like a lesson, with the name of its task as the
prompt."""
DISTILLATION = "distillation from "
"""How the prompt of a distillation's lesson begins; the teacher's name follows."""
LessonState = Literal["waiting", "learned", "needs_practice", "undone"]


class Turn(NamedTuple):
    """One message. It equals the pair (role, text) that the engine and books use."""

    role: Role
    text: str


Turns = tuple[Turn, ...]
Span = tuple[int, int]
"""A part of a text: its first character, and the one behind its last."""


def as_turns(pairs: Iterable[tuple[str, str]]) -> Turns:
    """Converts pairs (role, text) to turns. Does not check the roles."""
    return tuple(Turn(cast(Role, role), text) for role, text in pairs)


@dataclass(frozen=True)
class Candidate:
    """One of the answers to an ask, with all that is needed to reproduce its probability."""

    ask: int
    index: int
    """1 to n, the number on its card."""
    text: str
    tokens: tuple[int, ...]
    """Ids of the answer, with the end token if it was sampled."""
    logprobs: tuple[float, ...]
    """Log-probability in nats of each token at the temperature of its sampling, before top-p, top-k and min-p
    cut the distribution; same length. Beginnings that were forced to differ (engine.branches), and a hotter
    second try, are not marked. So it compares answers with each other, but it is no denominator of an
    importance ratio: practice draws with engine.rollout, whose probabilities are exact."""
    ending: Ending
    version: int
    """Version of the published weights that made it."""
    certainty: float | None = None
    """The model's certainty (learning.teacher.certainty), 0 to 1; None if it was not measured."""
    offered: bool = False
    """The text is another lesson's answer or says back what the owner said. The program put it here; the
    model did not write it."""


@dataclass(frozen=True)
class DisputedAnswers:
    """Answers to one message about which the model of the owner's taste is unsure."""

    message: str
    answers: tuple[str, ...]
    """Two or more different ones."""
    disagreement: float
    """Mean standard deviation of the heads about how much better one answer is than another."""
    tokens: tuple[tuple[int, ...], ...]
    logprobs: tuple[tuple[float, ...], ...]
    """Of each token, in nats, at temperature 1."""
    version: int
    """Of the weights that answer."""

    def candidates(self, ask: int) -> list[Candidate]:
        """As the journal keeps them, cards 1 to n."""
        return [
            Candidate(ask, number, text, tokens, odds, "end", self.version)
            for number, (text, tokens, odds) in enumerate(
                zip(self.answers, self.tokens, self.logprobs, strict=True), 1
            )
        ]


@dataclass(frozen=True)
class TextDelta:
    """New text of one of several answers that are being generated."""

    index: int
    """1 to n, the answer's number."""
    text: str
    """Whole UTF-8 characters to append."""


@dataclass(frozen=True)
class Again:
    """An answer that the owner wants otherwise. Both texts are not empty."""

    old: str
    """The answer."""
    reason: str
    """How it should be: "shorter please"."""


@dataclass(frozen=True)
class Ask:
    """A message of the owner with the turns before it, to be answered by candidates."""

    id: int
    conversation: int
    turns: Turns
    """All turns so far; the last is the owner's message."""
    sampling: Sampling
    seed: int | None
    created: float
    """Seconds since the epoch."""
    parent: int | None = None
    """The ask whose answer it follows; None at the beginning of a conversation."""
    again: Again | None = None
    """Why the message is answered again; None: it is not, or for no reason that was given."""


@dataclass(frozen=True)
class Pick:
    """The owner preferred candidate `index` over the others."""

    ask: int
    index: int
    reason: str | None = None
    """The reason that the candidates were written for, if any."""


@dataclass(frozen=True)
class Correction:
    """The owner typed the right answer. index: the candidate that was edited, if any."""

    ask: int
    text: str
    index: int | None = None


@dataclass(frozen=True)
class Rating:
    """The owner rated the answer good or bad. None withdraws an earlier rating."""

    ask: int
    value: Literal["good", "bad"] | None
    reason: str | None = None
    """Why, in the owner's words: "because it is short"."""
    blame: Span | None = None
    """The part of the answer that a bad rating is about; None: all of it."""


Judgement = Pick | Correction | Rating


@dataclass(frozen=True)
class Lesson:
    """One thing to learn: after `prompt`, say `answer` and none of `rejected`."""

    kind: LessonKind
    prompt: Turns
    """Ends with a user turn (except kind owner_words, where it may be empty)."""
    answer: str
    """The answer to learn; empty if only `rejected` is to be avoided (a bad rating)."""
    rejected: tuple[str, ...] = ()
    weight: float = 1.0
    """Relative weight in its batch, > 0."""
    id: int = 0
    """Id in the journal; 0 if it is not in the journal yet."""
    judgement: int | None = None
    """Id of the judgement that it came from; None for lessons from a file."""
    state: LessonState = "waiting"
    replaces: str | None = None
    """An earlier answer to the same prompt that the owner no longer wants."""
    blame: Span | None = None
    """The part of the one rejected answer that is to be avoided, if `answer` is empty. What stands before it
    is kept. None: all of it is avoided."""

    @property
    def run_name(self) -> str:
        """What a lesson of kind practice records, in words: `practice of chain_sum`."""
        name = self.prompt[-1].text
        return name if name.startswith(DISTILLATION) else f"practice of {name}"


@dataclass(frozen=True)
class Understanding:
    """How well a lesson was understood: whether its answer is known in other words, and not given to other
    questions."""

    ways_known: int = 0
    """Number of other wordings of the question in which the answer is known."""
    ways_asked: int = 0
    """Number of wordings that were asked; none of them is ever trained. 0: none were asked."""
    neighbours_leaked: int = 0
    """Number of questions about somebody or something else that get the lesson's own words, and did not
    before the lesson."""
    neighbours_asked: int = 0
    """Number of these questions that were asked; 0: none were asked."""

    @property
    def figures(self) -> dict[str, int]:
        """The figures by name, without those of questions that were not asked."""
        asked = ("ways" if self.ways_asked else "", "neighbours" if self.neighbours_asked else "")
        return {name: value for name, value in vars(self).items() if name.split("_")[0] in asked}


@dataclass(frozen=True)
class LessonReport:
    """The result of learning a lesson."""

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
    """Published version of the weights afterwards."""
    state: LessonState = "learned"
    why: str = ""
    """Why it was not tried, for the owner; otherwise empty."""
    understanding: Understanding = Understanding()
    changed: tuple[str, ...] = ()
    """Questions that ask for the same thing in other words, and that were answered otherwise before."""


@dataclass(frozen=True)
class ArmFigures:
    """One arm, a task at one difficulty, in one step of practice with a curriculum."""

    name: str
    """Task and settings, as one types them."""
    weight: float
    """Probability with which each problem of the step was drawn from it, 0 to 1."""
    value: float
    """What the curriculum now thinks of it, in its own unit (for SEC mean |advantage|)."""
    groups: int
    """Problems of it in the step."""
    dead_groups: int
    """Those whose judged answers all have the same reward."""
    success: float | None
    """Share of right answers, 0 to 1; None without problems."""
    accuracy: float | None = None
    """Accuracy on its held-out problems when last measured, 0 to 1; None: not measured."""


@dataclass(frozen=True)
class AskingFigures:
    """The questions that the model asked itself in one step of practice."""

    asked: int
    valid: int
    """Those that may be practised: a program can answer them, none is held out or says its answer."""
    distinct: int
    """Different ones of the valid."""
    reward_mean: float
    """Of the questioner: over all that were asked, -1 for those that are not valid."""
    success: float
    """Mean share of right answers to the different ones, 0 to 1; 0 without any."""
    dead_groups: int
    """Groups of questions that were all worth the same."""
    groups: int
    tokens: int
    """Of all questions."""
    levels: dict[str, int]
    """How many of the valid ones are of each level (for sums terms x digits: `3x2`), the easiest first."""

    @property
    def variety(self) -> float:
        """Different ones as a share of the valid, 0 to 1; 1 without any."""
        return self.distinct / self.valid if self.valid else 1.0


@dataclass(frozen=True)
class StepFigures:
    """The figures of one practice step. Means are over all answers that were sampled in it."""

    step: int
    reward_mean: float
    reward_std: float
    """Mean over the groups of the standard deviation within each group."""
    success: float
    """Share of right answers among those that could be judged, 0 to 1."""
    groups: int
    """Number of sampled problems, each with a group of answers, including repeated ones."""
    dead_groups: int
    """Number of groups in which all judged answers (two or more) have exactly the same reward."""
    kl: float
    """KL divergence from the weights before the first step in nats a token, estimated on the answers of some
    groups, dead ones among them."""
    loss: float
    """0 without an update."""
    entropy: float
    """Entropy of the distribution that answers are drawn from, nats a token, estimated on all drawn tokens
    (-log p)."""
    clipped: float
    """Share of tokens without gradient because their probability ratio was clipped, 0 to 1."""
    length: float
    """Mean number of tokens of an answer."""
    truncated: float
    """Share of answers cut off at the token limit, 0 to 1."""
    failed: int
    """Number of answers that the verifier could not judge."""
    tokens: int
    """Number of tokens of all answers."""
    tokens_per_second: float
    """While sampling."""
    seconds: float
    components: dict[str, float]
    """Mean of each component of the reward, over the judged answers."""
    unjudged_groups: int = 0
    """Number of groups of which fewer than two answers could be judged."""
    updates: int = 1
    """Optimizer steps taken; 0 while there are too few groups for one."""
    waiting: int = 0
    """Groups that wait for the next step's."""
    needed: int = 0
    """Groups that an update needs."""
    dropped: int = 0
    """Groups that waited too long, or from whose answers the model has moved away."""
    age: float = 0.0
    """Mean age in steps of the groups that were learned from."""
    entropy_live: float = 0.0
    """Mean entropy of the answers that gave a gradient, nats a token; 0 without an update."""
    ratio: float = 1.0
    """Mean ratio of probabilities, now to when drawn, over the updates; 1 without an update."""
    mismatch: float = 0.0
    """Mean difference of log-probabilities as drawn and as computed in float32, in nats a token, over some of
    the answers."""
    arms: tuple[ArmFigures, ...] = ()
    """Of each task and difficulty, where several are practised."""
    asking: AskingFigures | None = None
    """Of self-play; None: the questions were the task's own."""
