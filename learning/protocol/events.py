"""The events that the teacher sends to a session (learning.protocol.messages). Imports no torch."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from learning.protocol.compare_events import CompareBegan, CompareDone, ComparedText
from learning.protocol.model_events import Disputed, Fetched, FetchProgress, Grown, WouldPick
from learning.protocol.practice_events import PracticeStarted
from learning.protocol.reason_events import ReasonGivenUp
from learning.protocol.records import Candidate, LessonReport, StepFigures, TextDelta, Understanding


@dataclass(frozen=True)
class Ready:
    """The model is loaded."""

    model: str
    version: int
    parameters: int
    device: str
    continues_only: bool = False
    """The model was trained on plain text only: it continues a text, and does not answer."""
    takes_system: bool = False
    """The model's chat format has a system prompt."""


@dataclass(frozen=True)
class MessageCut:
    """The message of an ask is too long for the model's context: its middle is left out of the prompt."""

    ask: int
    characters: int
    """Length of the message."""
    left_out: int
    """Number of characters that are left out."""


@dataclass(frozen=True)
class MakingVectors:
    """An answer waits until all lessons can be recalled, once: see `open_teacher`."""

    lessons: int
    """Number of those whose vectors are missing."""


@dataclass(frozen=True)
class CandidateTexts:
    """New text of an ask's candidates from one decoding step: each message wakes the interface's process."""

    ask: int
    deltas: tuple[TextDelta, ...]


@dataclass(frozen=True)
class CandidateReset:
    """The candidate was a duplicate or not fit to be shown, and is generated again: clear its card."""

    ask: int
    index: int


@dataclass(frozen=True)
class CandidateDone:
    """A candidate is complete."""

    candidate: Candidate
    recalled: int | None = None
    """Id of the lesson that was recalled or offered; None if the model answered from its weights alone."""
    said_at: float | None = None
    """When the owner said what the candidate says back, in seconds since the epoch; None for all others."""


@dataclass(frozen=True)
class AskDone:
    """All candidates of the ask are done."""

    ask: int
    tokens_per_second: float
    seconds_to_first_token: float
    prompt_tokens: int = 0
    """Ids of the prompt."""


@dataclass(frozen=True)
class LearnerState:
    """What the learner is doing; sent at most four times a second."""

    phase: Literal[
        "idle",
        "gathering",
        "learning",
        "checking",
        "consolidating",
        "taste",
        "training",
        "paused",
        "off",
    ]
    waiting: int = 0
    """Number of waiting lessons."""
    loss: float | None = None
    """Loss of the last step."""
    book_recall: float | None = None
    """0 to 1, last measured."""


@dataclass(frozen=True)
class LessonDone(LessonReport):
    """A lesson was learned, or rejected by the guard."""


@dataclass(frozen=True)
class Understood:
    """A pause has rehearsed a lesson in other words."""

    lesson: int
    understanding: Understanding


@dataclass(frozen=True)
class UndoDone:
    """An undo is finished: the lesson is marked undone, and removed from the weights as far as possible."""

    lesson: int | None
    """None if the journal did not change: there was nothing to undo, or only these weights had the lesson."""
    what: str
    """What was done, for the owner."""
    version: int


@dataclass(frozen=True)
class TrainProgress:
    """Progress of a book training; sent at most four times a second."""

    epoch: int
    epochs: int
    """The limit; training may end earlier."""
    step: int
    steps: int
    loss: float
    recall: float | None
    """Recall of the book in training, 0 to 1, measured at the end of the last epoch; None until then."""
    seconds: float
    seconds_left: float
    examples: int = 0
    epoch_ended: bool = False
    known: int = 0
    """Lines of the book that the model knew when last measured."""
    entries: int = 0
    """Lines of the book; 0 if they were not counted."""
    kept: float | None = None
    """Share of other remembered examples that the model knew when last measured, 0 to 1; None: of none."""
    asked: float | None = None
    """While lines are measured: the share that is done, 0 to 1; otherwise None."""
    own: bool = False
    """The training is on a book that was named, so its recall is not that of Vidya's book."""
    begun: int = 0
    """Steps taken before this process resumed the training."""


@dataclass(frozen=True)
class TrainDone:
    """Book training ended. Recall is measured on the book that was trained."""

    epochs: int
    steps: int
    loss: float
    recall_before: float | None
    """0 to 1; None if training stopped before it was measured."""
    recall_after: float | None
    seconds: float
    cancelled: bool
    rolled_back: bool
    version: int
    entries: int = 0
    known: int = 0
    """Entries that the model knows afterwards."""
    left_out: tuple[str, ...] = ()
    """Entries that are too long for the model: "book.txt:12", "lesson 7"."""
    own: bool = False
    """See TrainProgress."""
    goes_on: bool = False
    """Nothing was published, but the next training resumes this one."""


@dataclass(frozen=True)
class PracticeStage:
    """A measurement of practice at a save point, or a report of a warm-up step ("warm_up")."""

    task: str
    stage: Literal["before", "warm_up", "warmed_up", "during", "after"]
    step: int = 0
    """Step of warm-up in stage "warm_up", otherwise of practice."""
    loss: float | None = None
    success: float | None = None
    """Share of sampled answers that are right, 0 to 1; None if not measured."""
    accuracy: float | None = None
    """Accuracy on held-out problems, 0 to 1; None if not measured."""
    book_recall: float | None = None
    """Recall of the book, 0 to 1; None if not measured."""
    saved: bool = False
    """These weights are published."""
    held: bool = False
    """These weights are not published: they solve clearly fewer held-out problems than earlier ones."""
    alarm: str = ""
    """A message if what is paid rises while accuracy or book recall falls; otherwise empty."""
    steps: int = 0
    """Most steps of warm-up; 0 in other stages."""
    enough: float = 0.0
    """Share of right answers at which warm-up ends, 0 to 1."""
    seconds: float = 0.0
    """Seconds since warm-up began."""
    by_arm: dict[str, float] = field(default_factory=dict)
    """Accuracy of each task and difficulty."""


@dataclass(frozen=True)
class PracticeSample:
    """One answer of a practice step, with its reward and the components of the reward."""

    step: int
    prompt: str
    text: str
    reward: float
    components: dict[str, float]
    truncated: bool = False
    failed: str | None = None
    """Why the verifier could not judge it; None if it could."""


@dataclass(frozen=True, kw_only=True)
class PracticeStep(StepFigures):
    """One step of practice."""

    task: str
    steps: int
    """Most steps of this practice."""
    accuracy: float | None = None
    """Accuracy on held-out problems, 0 to 1, when last measured."""
    book_recall: float | None = None
    """Recall of the book, 0 to 1, when last measured."""


@dataclass(frozen=True)
class PracticeDone:
    """Practice ended. Fields as in learning.practice.run.PracticeOutcome."""

    task: str
    ended: str
    why: str
    """Why it ended and what to do next, for the owner; empty if all steps were taken."""
    steps: int
    warm_up_steps: int
    accuracy_before: float | None
    accuracy_warm: float | None
    accuracy_after: float | None
    book_before: float | None
    book_after: float | None
    seconds: float
    alarm: str
    saves: int
    held_out: int
    """Number of problems that accuracy was measured on."""
    version: int
    idle: bool = False
    run: int | None = None
    """Journal id; None if it had not begun."""
    arms_before: dict[str, float] = field(default_factory=dict)
    arms_after: dict[str, float] = field(default_factory=dict)
    """Before, after: accuracy of each task and difficulty, where several were practised."""
    asked_before: dict[str, int] = field(default_factory=dict)
    asked_after: dict[str, int] = field(default_factory=dict)
    """In self-play: questions of each level in the first and in the last step."""
    joined: tuple[str, ...] = ()
    """The rungs that the next run has besides (learning.practice.supply.ladder), each an arm."""


@dataclass(frozen=True)
class Checked:
    """The result of a Check."""

    key: int
    known: tuple[bool, ...]
    """Whether the model knows each probe; empty if the check failed."""
    version: int
    """Version of the weights that were checked."""
    trouble: str = ""
    """Why the check failed; empty if it did not."""


@dataclass(frozen=True)
class Forgotten:
    """The result of a Forget."""

    conversation: int
    records: int = 0
    """Number of erased asks and lessons."""
    book_lines: int = 0
    """Number of lines removed from the owner's book."""
    went_back: bool = False
    """The weights from before the conversation were restored; later lessons are learned again."""
    unvouched: tuple[str, ...] = ()
    """Models that may still know the conversation."""
    practice_lost: bool = False
    """The restored weights lack what was practised since."""
    trouble: str = ""
    """Why it failed; nothing was erased then. Empty if it did not."""
    next_step: str = ""


@dataclass(frozen=True)
class Failed:
    """A request failed. Nothing was lost."""

    where: str
    """The kind of request: "generate", "learn", "train", "practise", "undo", "grow", "model", "load",
    "worker", "fetch"."""
    what: str
    next_step: str = ""
    ask: int | None = None
    refused: bool = False
    """The request itself is at fault: it fails again unless it is changed."""


class TeacherEnded:
    """The teacher ended, with everything it was doing. Unanswered requests are sent again to the next
    teacher."""


@dataclass(frozen=True)
class WorkerLost(TeacherEnded):
    """The teacher's process ended (sent by worker/supervisor.py, not by the teacher)."""

    reason: str
    restarting: bool
    """A new process is being started."""


@dataclass(frozen=True)
class ModelChanging(TeacherEnded):
    """The teacher is replaced by one with another model (sent by worker/switching.py, not by the teacher)."""

    model: str
    """Name or path of the new model."""


Event = (
    Ready
    | MessageCut
    | MakingVectors
    | CandidateTexts
    | CandidateReset
    | CandidateDone
    | AskDone
    | LearnerState
    | LessonDone
    | Understood
    | UndoDone
    | TrainProgress
    | TrainDone
    | PracticeStarted
    | PracticeStage
    | PracticeSample
    | PracticeStep
    | PracticeDone
    | Checked
    | WouldPick
    | ReasonGivenUp
    | Disputed
    | CompareBegan
    | ComparedText
    | CompareDone
    | Forgotten
    | Failed
    | WorkerLost
    | ModelChanging
    | FetchProgress
    | Fetched
    | Grown
)
