"""The requests that a session sends to the teacher, as frozen dataclasses (sent by
learning.protocol.messages).

Imports no torch.
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.config import Sampling
from learning.protocol.records import Again, LessonKind, Span, Turns


@dataclass(frozen=True)
class Generate:
    """Generate n candidates for an ask, streaming them."""

    ask: int
    turns: Turns
    n: int
    sampling: Sampling
    seed: int | None = None
    raw: bool = False
    """Continue the last turn as plain text, instead of answering in the chat format."""
    recall: bool = False
    """True: a lesson may help to answer a message that asks for it in other words (learning.teacher.recall),
    and what the owner told earlier may be said back. False wherever the weights alone are to be seen."""
    offers: bool = False
    """True: some of several candidates may be the answers of lessons that the last message perhaps asks for,
    and candidates may say back what the owner told earlier. False wherever the model alone is to be seen."""
    others: bool = False
    """True: the owner has seen answers to the same turns and wants others. The likeliest one comes again only
    if other weights give it."""
    again: Again | None = None
    """Answer with an earlier answer and a reason against it in the context."""
    system: str = ""
    """What the model is told first, in place of its own system prompt; empty: its own. Ignored where the chat
    format has no system prompt (`Ready.takes_system`)."""
    stops: tuple[str, ...] = ()
    """Texts, none empty, before the first of which an answer ends."""


@dataclass(frozen=True)
class Keep:
    """A candidate was picked while it streamed: finish it, and cancel the others."""

    ask: int
    index: int


@dataclass(frozen=True)
class Cancel:
    """Stop all candidates of the ask; CandidateDone(ending="cancelled") follows for each."""

    ask: int


@dataclass(frozen=True)
class Learn:
    """Learn the waiting lessons in the journal."""


@dataclass(frozen=True)
class Undo:
    """Remove a lesson from the weights and mark it undone."""

    lesson: int | None = None
    """None: the newest."""


@dataclass(frozen=True)
class Train:
    """Book training in the background."""

    epochs: int | None = None
    """None: until every entry is known or the limit is reached."""
    book: str | None = None
    """Path of a book; None: the shipped one and the owner's."""
    batch: int | None = None
    """Lines a step; None: the default."""
    skip_bad: bool = False
    """Skip bad lines of the book instead of failing."""
    rank: int | None = None
    """Rank of the low-rank adapters to train, which are then merged into the weights; None: train all
    weights."""
    blocks: int | None = None
    """Number of upper blocks with adapters; None: a third of all blocks."""
    adapter: str | None = None
    """Path of a folder to which the adapters are written in addition."""
    own_talk: str | None = None
    """Path of conversations in the model's own words, near which it stays, with everyday talk to learn beside
    them; None: it makes talk up. Adapters learn everyday talk in any case."""


@dataclass(frozen=True)
class CancelTraining:
    """Stop book training at the next step. The result so far is kept if it passes the guard."""


@dataclass(frozen=True)
class Practise:
    """Practise a task in the background. Lessons have priority."""

    task: str
    """Name in learning.rewards.task; with `arms`, what they are called together."""
    steps: int | None = None
    """None: the default."""
    group_size: int | None = None
    """Answers sampled for each problem; None: the default."""
    data: str | None = None
    """Path of a file with problems; None: the task's own."""
    warm_up: bool | None = None
    """Whether to begin with worked examples; None: only if the model solves
    fewer than a fifth of the problems of some task, or if its last warm-up for these was interrupted."""
    settings: tuple[str, ...] = ()
    """Settings of the task's generator, such as "max_terms=3"."""
    options: tuple[str, ...] = ()
    """Options of practice, such as "kl_weight=0.05" (learning.practice.options)."""
    again: int | None = None
    """Journal id of the run that this one repeats; what differs from it is told."""
    seed: int | None = None
    """None: a new seed each time."""
    arms: tuple[str, ...] = ()
    """Tasks, each with its settings, such as "chain_sum max_terms=3", among which a curriculum chooses.
    Empty: `task` with `settings` alone."""
    own_arms: int = 1
    """How many arms, from the first on, together get the share `curriculum.first`."""
    climbs: bool = False
    """Whether tasks without settings are practised on their ladders (learning.practice.supply.ladder)."""
    idle: bool = False
    """The owner is away: practise at the lowest priority, and stop at the first key press."""


@dataclass(frozen=True)
class CancelPractice:
    """Stop practice after this step. The result so far is kept if it passes the guard."""


@dataclass(frozen=True)
class SetLearning:
    """Changes the settings of the background learner."""

    on: bool
    """False: lessons wait."""
    in_pauses: bool = False
    """True: a lesson begins only when the owner has not typed for a while."""
    weak: tuple[LessonKind, ...] = ()
    """Kinds of weak lessons (learning.journal.lessons.RIDER_KINDS) that are learned."""
    reasons: bool = False
    """True: the owner's reasons are carried over to other messages in pauses (learning.lessons.reasons)."""


@dataclass(frozen=True)
class Grow:
    """Grow the model in use into a larger one (learning.models.grow)."""

    config: str
    """One of engine.config.CONFIGS."""
    name: str
    """Name of the new model in the home."""


@dataclass(frozen=True)
class OwnerActive:
    """The owner pressed a key: the learner pauses for a moment."""


@dataclass(frozen=True)
class Probe:
    """Something that the model may know. It knows it if greedy decoding after `prompt` gives `answer`."""

    prompt: Turns
    answer: str
    """If empty, the model knows it if greedy decoding gives none of `rejected`."""
    rejected: tuple[str, ...] = ()
    blame: Span | None = None
    """The part of the rejected answer that is not to follow its beginning; None: all of it."""


@dataclass(frozen=True)
class Check:
    """Measure which probes the published weights know."""

    key: int
    """Returned in Checked."""
    probes: tuple[Probe, ...]


@dataclass(frozen=True)
class Compare:
    """Answer a conversation with earlier and with the current weights: one greedy answer, and samples with
    the same random numbers."""

    key: int
    """Returned in the events of this comparison."""
    turns: Turns
    n: int
    """Answers of each side, including the greedy one."""
    lesson: int | None = None
    """Compare with the newest weights without this lesson; None: with the newest earlier weights."""
    version: int | None = None
    """Compare with this version, and ignore `lesson`."""
    max_tokens: int = 64
    seed: int | None = None


@dataclass(frozen=True)
class Foretell:
    """Say which candidate of an ask, of which one was picked, the owner's taste would have picked."""

    ask: int


@dataclass(frozen=True)
class FindDisputed:
    """Find the messages about whose answers the model of the owner's taste is most unsure."""

    count: int
    """Messages, at least 1."""


@dataclass(frozen=True)
class StopComparing:
    """Stop a comparison: its screen was closed."""

    key: int


@dataclass(frozen=True)
class Forget:
    """Erase a conversation from the weights, their snapshots, the owner's book and the journal."""

    conversation: int
    keep_weights: bool = False
    """True: do not change the weights."""


@dataclass(frozen=True)
class Shutdown:
    """Save and end."""


Request = (
    Generate
    | Keep
    | Cancel
    | Learn
    | Undo
    | Train
    | CancelTraining
    | Practise
    | CancelPractice
    | SetLearning
    | Grow
    | OwnerActive
    | Check
    | Compare
    | Foretell
    | FindDisputed
    | StopComparing
    | Forget
    | Shutdown
)
