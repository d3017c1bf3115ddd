"""What a session asks of the teacher, as frozen dataclasses (learning.protocol.messages carries them).

Imports no torch.
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.config import Sampling
from learning.protocol.records import LessonKind, Turns


@dataclass(frozen=True)
class Generate:
    """Answer an ask with n candidates, streamed."""

    ask: int
    turns: Turns
    n: int
    sampling: Sampling
    seed: int | None = None
    raw: bool = False
    """Go on with the last turn as with any text: no answer, and no conversation."""


@dataclass(frozen=True)
class Keep:
    """A pick came before the streams ended: finish this candidate, cancel the others."""

    ask: int
    index: int


@dataclass(frozen=True)
class Cancel:
    """Stop all candidates of the ask; CandidateDone(ending="cancelled") follows for each."""

    ask: int


@dataclass(frozen=True)
class Learn:
    """New lessons wait in the journal."""


@dataclass(frozen=True)
class Undo:
    """Take a lesson back out of the weights and mark it undone; None: the last one."""

    lesson: int | None = None


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
    """Learn what is right in a book that also has bad lines."""
    rank: int | None = None
    """Of low-rank adapters, which alone are trained and then added to the weights; None: all weights are
    trained."""
    blocks: int | None = None
    """Upper blocks that have adapters; None: the upper third."""
    adapter: str | None = None
    """Path of a folder into which the adapters are written too."""
    own_talk: str | None = None
    """Path of conversations in the base's own words, near which the adapters stay; None: it makes talk up."""


@dataclass(frozen=True)
class CancelTraining:
    """Stop book training at the next step; what was learned so far is kept if the guard agrees."""


@dataclass(frozen=True)
class Practise:
    """Practise a task alone, in the background; lessons go first."""

    task: str
    """Name in learning.rewards.task."""
    steps: int | None = None
    """None: the default."""
    group_size: int | None = None
    """Answers to each problem; None: the default."""
    data: str | None = None
    """Path of the task's problems; None: those it makes or finds itself."""
    warm_up: bool | None = None
    """Begin with worked examples, until the task succeeds now and then; None: where it does not yet."""
    settings: tuple[str, ...] = ()
    """Of the task's generator, as "max_terms=3"."""
    seed: int | None = None
    idle: bool = False
    """The owner is away: at the lowest priority, and given up at the first key."""


@dataclass(frozen=True)
class CancelPractice:
    """Stop practice after this step; what was gained so far is kept if the guard agrees."""


@dataclass(frozen=True)
class SetLearning:
    """How the background learner works from now on."""

    on: bool
    """Off: lessons wait."""
    in_pauses: bool = False
    """A lesson begins only once the owner has typed nothing for a while."""
    weak: tuple[LessonKind, ...] = ()
    """Kinds of lessons that nobody judged and that are learned all the same, weakly: RIDER_KINDS or some
    of them."""


@dataclass(frozen=True)
class Grow:
    """Make a larger model out of the one in use, with all that it knows."""

    config: str
    """One of engine.config.CONFIGS."""
    name: str
    """Of the new model in the home."""


@dataclass(frozen=True)
class OwnerActive:
    """A key was pressed: the learner leaves the machine to the owner for a moment."""


@dataclass(frozen=True)
class Probe:
    """Something that the model may know: after `prompt`, greedy decoding says `answer`."""

    prompt: Turns
    answer: str
    """Empty: known means that none of `rejected` is what it says."""
    rejected: tuple[str, ...] = ()


@dataclass(frozen=True)
class Check:
    """Ask the published weights what they know now."""

    key: int
    """Comes back in Checked."""
    probes: tuple[Probe, ...]


@dataclass(frozen=True)
class Compare:
    """Answer the same with earlier weights and with those of now: the likeliest answer and some
    drawn by the same dice."""

    key: int
    """Comes back in what is said about it."""
    turns: Turns
    n: int
    """Answers of each, the likeliest among them."""
    lesson: int | None = None
    """The newest weights that lack this lesson; None: the last ones before those of now."""
    version: int | None = None
    """These earlier weights, whatever `lesson` says."""
    max_tokens: int = 64
    seed: int | None = None


@dataclass(frozen=True)
class StopComparing:
    """Nobody looks at the comparison any more."""

    key: int


@dataclass(frozen=True)
class Forget:
    """Erase a conversation: out of the weights, their snapshots, the owner's book and the journal."""

    conversation: int
    keep_weights: bool = False
    """What the model knows of it stays."""


@dataclass(frozen=True)
class Shutdown:
    """Save and stop."""


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
    | StopComparing
    | Forget
    | Shutdown
)
