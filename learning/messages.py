"""What session and teacher say to each other: frozen dataclasses and their JSON form.

Requests go to the teacher, events come back. In the app the two run in different processes and
speak one JSON object a line; the shell commands and the tests pass the objects as they are.
Imports no torch.
"""

from __future__ import annotations

import json
import types
import typing
from dataclasses import asdict, dataclass, fields, is_dataclass
from typing import Any, Literal, get_args, get_origin

from engine.config import Sampling
from engine.errors import VidyaError
from learning.methods import RECIPE
from learning.records import Ending, LessonState, Turn, Turns

# ---------------------------------------------------------------- requests


@dataclass(frozen=True)
class Generate:
    """Answer an ask with n candidates, streamed."""

    ask: int
    turns: Turns
    n: int
    sampling: Sampling
    seed: int | None = None


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
    warm_up: bool = False
    """Begin with worked examples, until the task succeeds now and then."""
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
    method: str = RECIPE
    """RECIPE, or one of learning.methods.METHODS."""


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

# ---------------------------------------------------------------- events


@dataclass(frozen=True)
class Ready:
    """The model is loaded."""

    model: str
    version: int
    parameters: int
    device: str


@dataclass(frozen=True)
class CandidateText:
    """More of a candidate: whole UTF-8 characters to append."""

    ask: int
    index: int
    delta: str


@dataclass(frozen=True)
class CandidateReset:
    """The candidate was a duplicate and is drawn anew: clear its card."""

    ask: int
    index: int


@dataclass(frozen=True)
class CandidateDone:
    """A candidate is complete. Carries all of learning.records.Candidate."""

    ask: int
    index: int
    text: str
    tokens: tuple[int, ...]
    logprobs: tuple[float, ...]
    ending: Ending
    version: int


@dataclass(frozen=True)
class AskDone:
    """All candidates of the ask are done."""

    ask: int
    tokens_per_second: float
    seconds_to_first_token: float


@dataclass(frozen=True)
class LearnerState:
    """What the learner does now; at most four a second."""

    phase: Literal[
        "idle", "gathering", "learning", "checking", "consolidating", "training", "paused", "off"
    ]
    waiting: int = 0
    """Lessons that wait."""
    gathered: int = 0
    """Examples in the batch so far ..."""
    batch: int = 0
    """... of this many."""
    loss: float | None = None
    """Loss of the last step."""
    book_recall: float | None = None
    """0 to 1, last measured."""


@dataclass(frozen=True)
class LessonDone:
    """A lesson was learned, or thrown back by the guard. Fields as in records.LessonReport."""

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
    state: LessonState = "learned"


@dataclass(frozen=True)
class UndoDone:
    """The lesson is out of the journal's book and out of the weights. lesson is None: nothing to undo."""

    lesson: int | None
    what: str
    """In plain words, for the owner."""
    version: int


@dataclass(frozen=True)
class TrainProgress:
    """Book training moves; at most four a second."""

    epoch: int
    epochs: int
    """The limit; training may end earlier."""
    step: int
    steps: int
    loss: float
    recall: float | None
    """0 to 1, measured at the end of an epoch; None until then."""
    seconds: float
    seconds_left: float
    examples: int = 0
    epoch_ended: bool = False


@dataclass(frozen=True)
class TrainDone:
    """Book training ended. recall and nll are measured on the book, talk_nll on held-out talk."""

    epochs: int
    steps: int
    loss: float
    recall_before: float
    recall_after: float
    seconds: float
    cancelled: bool
    rolled_back: bool
    version: int
    entries: int = 0


@dataclass(frozen=True)
class PracticeStage:
    """Practice goes through something that is not a step: looks, warm-up."""

    task: str
    stage: Literal["before", "warm_up", "warmed_up", "during", "after"]
    step: int = 0
    """Of warm-up in "warm_up", else of practice."""
    loss: float | None = None
    success: float | None = None
    """Share of drawn answers that are right, 0 to 1, where it was looked at."""
    accuracy: float | None = None
    """On held-out problems, 0 to 1, where it was looked at."""
    book_recall: float | None = None
    saved: bool = False
    """These weights are published."""
    alarm: str = ""


@dataclass(frozen=True)
class PracticeSample:
    """One answer of a step, with what it was paid for."""

    step: int
    prompt: str
    text: str
    reward: float
    components: dict[str, float]
    truncated: bool = False
    failed: str | None = None
    """Why the verifier could not judge it."""


@dataclass(frozen=True)
class PracticeStep:
    """One step of practice. Fields as in learning.practice.session.StepReport."""

    task: str
    step: int
    steps: int
    reward_mean: float
    reward_std: float
    success: float
    groups: int
    dead_groups: int
    kl: float
    loss: float
    entropy: float
    clipped: float
    length: float
    truncated: float
    failed: int
    tokens: int
    tokens_per_second: float
    seconds: float
    components: dict[str, float]
    accuracy: float | None = None
    """On held-out problems, last measured."""
    book_recall: float | None = None
    """Last measured."""


@dataclass(frozen=True)
class PracticeDone:
    """Practice ended. Fields as in learning.practice.run.Outcome."""

    task: str
    ended: str
    why: str
    """In plain words, with what to do next; empty where all steps were taken."""
    steps: int
    warm_up_steps: int
    accuracy_before: float
    accuracy_warm: float | None
    accuracy_after: float
    book_before: float
    book_after: float
    seconds: float
    alarm: str
    saves: int
    held_out: int
    """Problems that accuracy was measured on."""
    version: int
    idle: bool = False


@dataclass(frozen=True)
class Checked:
    """What a Check found."""

    key: int
    known: tuple[bool, ...]
    """As many as there were probes; none where it could not be looked at."""
    version: int
    """Of the weights that were asked."""
    trouble: str = ""


@dataclass(frozen=True)
class CompareBegan:
    """The earlier weights are loaded."""

    key: int
    before: int
    """Version of the earlier weights; 0 is the model as it came."""
    after: int
    kept: tuple[int, ...]
    """All earlier versions that are left, newest first."""
    lessons: int
    """Lessons that `after` has learned and `before` has not."""


@dataclass(frozen=True)
class ComparedText:
    """More of an answer: whole characters to append."""

    key: int
    side: Literal["before", "after"]
    index: int
    """1 is the likeliest answer."""
    delta: str


@dataclass(frozen=True)
class CompareDone:
    """Nothing more comes, and the earlier weights are let go."""

    key: int
    trouble: str = ""
    """Why it could not be done; empty where it was."""
    next_step: str = ""


@dataclass(frozen=True)
class Forgotten:
    """What became of a Forget."""

    conversation: int
    records: int = 0
    """Asks and lessons that are gone."""
    book_lines: int = 0
    went_back: bool = False
    """The weights are those from before it; later lessons are learned again."""
    trouble: str = ""
    """Why it could not be done; nothing was erased then."""
    next_step: str = ""


@dataclass(frozen=True)
class Failed:
    """A request could not be done; nothing was lost."""

    where: str
    """Which request: "generate", "learn", "train", "practise", "undo", "grow", "model", "load",
    "worker"."""
    what: str
    next_step: str = ""
    ask: int | None = None


@dataclass(frozen=True)
class WorkerLost:
    """The teacher's process ended; a new one is being started (sent by worker.py, not by the teacher)."""

    reason: str
    restarting: bool


@dataclass(frozen=True)
class ModelChanging:
    """The teacher closes, and one with other weights begins (sent by switch.py, not by the teacher)."""

    model: str
    """Name or path of what comes."""


@dataclass(frozen=True)
class Grown:
    """The larger model is in the home."""

    name: str
    parameters: int


Event = (
    Ready
    | CandidateText
    | CandidateReset
    | CandidateDone
    | AskDone
    | LearnerState
    | LessonDone
    | UndoDone
    | TrainProgress
    | TrainDone
    | PracticeStage
    | PracticeSample
    | PracticeStep
    | PracticeDone
    | Checked
    | CompareBegan
    | ComparedText
    | CompareDone
    | Forgotten
    | Failed
    | WorkerLost
    | ModelChanging
    | Grown
)

Message = Request | Event
_BY_NAME: dict[str, type] = {cls.__name__: cls for cls in (*get_args(Request), *get_args(Event))}


class TeacherPort(typing.Protocol):
    """What a session needs of a teacher: a way to send requests. Events arrive at the callback
    that the teacher was built with, from any thread, in order."""

    def send(self, request: Request) -> None:
        """Hands a request over; returns at once."""

    def close(self) -> None:
        """Stops the teacher; returns when it has saved and stopped."""


def encode(message: Message) -> str:
    """One line of JSON, without the newline."""
    return json.dumps({"type": type(message).__name__, **asdict(message)}, ensure_ascii=True)


def decode(line: str) -> Message:
    """The inverse of encode. Raises VidyaError on anything else."""
    try:
        raw = json.loads(line)
        cls = _BY_NAME[raw.pop("type")]
        return typing.cast(Message, _build(cls, raw))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise VidyaError(f"not a message: {line[:80]!r} ({error})", "update both sides") from error


def _build(kind: Any, value: Any) -> Any:
    """Rebuilds dataclasses and tuples from what json gives."""
    if is_dataclass(kind) and isinstance(kind, type):
        hints = typing.get_type_hints(kind)
        known = {f.name for f in fields(kind)}
        if unknown := set(value) - known:
            raise KeyError(f"{kind.__name__} has no field {sorted(unknown)}")
        return kind(**{k: _build(hints[k], v) for k, v in value.items()})
    if get_origin(kind) is tuple:
        return tuple(_build(get_args(kind)[0], v) for v in value)
    if get_origin(kind) in (types.UnionType, typing.Union):
        inner = [k for k in get_args(kind) if k is not type(None)]
        return None if value is None else _build(inner[0], value)
    return value


__all__ = list(_BY_NAME) + [
    "Event",
    "Message",
    "Request",
    "TeacherPort",
    "Turn",
    "decode",
    "encode",
]
