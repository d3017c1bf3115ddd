"""What the teacher tells a session, as frozen dataclasses (learning.protocol.messages carries them).

Imports no torch.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from learning.protocol.records import Candidate, LessonReport, StepFigures, TextDelta


@dataclass(frozen=True)
class Ready:
    """The model is loaded."""

    model: str
    version: int
    parameters: int
    device: str
    continues_only: bool = False
    """It was trained on plain text only: it goes on with a text, and does not answer."""


@dataclass(frozen=True)
class MessageCut:
    """The message of an ask is longer than the model's context: it reads the beginning and the end."""

    ask: int
    characters: int
    """Of the message."""
    left_out: int
    """Of its middle, of these characters."""


@dataclass(frozen=True)
class CandidateTexts:
    """What one step of the model added to the candidates of an ask. One message a step, however many
    candidates stream: every message wakes the interface's process."""

    ask: int
    deltas: tuple[TextDelta, ...]


@dataclass(frozen=True)
class CandidateReset:
    """The candidate was a duplicate or not fit to be shown, and is drawn anew: clear its card."""

    ask: int
    index: int


@dataclass(frozen=True)
class CandidateDone:
    """A candidate is complete."""

    candidate: Candidate
    recalled: int | None = None
    """The lesson that was recalled for it; None where it comes from the weights alone."""


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
class LessonDone(LessonReport):
    """A lesson was learned, or thrown back by the guard."""


@dataclass(frozen=True)
class UndoDone:
    """The lesson is out of the journal's book and out of the weights, as far as that can be. lesson is
    None where the journal has not changed: there was nothing to undo, or it was undone before, in
    another model, and these weights followed now."""

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
    """0 to 1, of the book that is trained, as measured at the end of the last epoch; None until then."""
    seconds: float
    seconds_left: float
    examples: int = 0
    epoch_ended: bool = False
    known: int = 0
    """Lines of that book that are known, as last asked ..."""
    entries: int = 0
    """... of so many; 0 where nobody counted."""
    kept: float | None = None
    """Share known of all else that is remembered, 0 to 1, as last asked; None where there is nothing."""
    asked: float | None = None
    """While lines are asked: the share of them that was, 0 to 1; None between."""
    own: bool = False
    """It is a book that was named, and says nothing of the recall of Vidya's."""
    begun: int = 0
    """Steps that were done before this program began; it goes on from there."""


@dataclass(frozen=True)
class TrainDone:
    """Book training ended. recall is measured on the book that was trained."""

    epochs: int
    steps: int
    loss: float
    recall_before: float | None
    """0 to 1; None where it was stopped before that was known."""
    recall_after: float | None
    seconds: float
    cancelled: bool
    rolled_back: bool
    version: int
    entries: int = 0
    known: int = 0
    """Entries known afterwards."""
    left_out: tuple[str, ...] = ()
    """What is too long for the model, by place: "book.txt:12", "lesson 7"."""
    own: bool = False
    """See TrainProgress."""
    goes_on: bool = False
    """Nothing of it was published, but the next one goes on where this one was."""


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
    held: bool = False
    """They are not, because they solve clearly fewer held-out problems than earlier ones."""
    alarm: str = ""
    steps: int = 0
    """The limit of warm-up; 0 elsewhere ..."""
    enough: float = 0.0
    """... which ends when this share of the answers is right, 0 to 1."""
    seconds: float = 0.0
    """Since warm-up began."""


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
class PracticeStep(StepFigures):
    """One step of practice."""

    task: str
    steps: int
    """The limit."""
    accuracy: float | None = None
    """On held-out problems, last measured."""
    book_recall: float | None = None
    """Last measured."""


@dataclass(frozen=True)
class PracticeDone:
    """Practice ended. Fields as in learning.practice.run.PracticeOutcome."""

    task: str
    ended: str
    why: str
    """In plain words, with what to do next; empty where all steps were taken."""
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
    """What one step added to the answers of one side."""

    key: int
    side: Literal["before", "after"]
    deltas: tuple[TextDelta, ...]
    """Answer 1 is the likeliest."""


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
    unvouched: tuple[str, ...] = ()
    """Models that may still know it."""
    trouble: str = ""
    """Why it could not be done; nothing was erased then."""
    next_step: str = ""


@dataclass(frozen=True)
class Failed:
    """A request could not be done; nothing was lost."""

    where: str
    """Which request: "generate", "learn", "train", "practise", "undo", "grow", "model", "load",
    "worker", "fetch"."""
    what: str
    next_step: str = ""
    ask: int | None = None


class TeacherEnded:
    """The teacher is gone, and with it everything that it was doing; requests that were not answered are
    sent again to the next one."""


@dataclass(frozen=True)
class WorkerLost(TeacherEnded):
    """The teacher's process ended (sent by worker/supervisor.py, not by the teacher)."""

    reason: str
    restarting: bool
    """A new one is being started."""


@dataclass(frozen=True)
class ModelChanging(TeacherEnded):
    """The teacher closes, and one with other weights begins (sent by worker/switching.py, not by
    the teacher)."""

    model: str
    """Name or path of what comes."""


@dataclass(frozen=True)
class FetchProgress:
    """A model is being fetched; at most four a second (sent by worker/fetch.py, not by the teacher)."""

    name: str
    done: int
    """Bytes that are there ..."""
    total: int
    """... of so many. Where all are there, the model is being prepared."""


@dataclass(frozen=True)
class Fetched:
    """The model is in the home (sent by worker/fetch.py, not by the teacher)."""

    name: str
    parameters: int


@dataclass(frozen=True)
class Grown:
    """The larger model is in the home."""

    name: str
    parameters: int


Event = (
    Ready
    | MessageCut
    | CandidateTexts
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
    | FetchProgress
    | Fetched
    | Grown
)
