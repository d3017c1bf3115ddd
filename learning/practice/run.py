"""A run of practice: warm-up, steps, save points, and the rules that end it.

    measure -> warm-up (if needed) -> step, step, ... -> save point -> step, ... -> save point

Save points come every `measure_every` steps, and early where answers call a tool more often than before. At
each the guard measures the recall of the book and of earlier lessons. If it passes, the weights are
published; if not, some steps rehearse what was forgotten, and if that fails too, the weights return to the
last save point. Weights that solve clearly fewer held-out problems than the best since warm-up, or that raise
an alarm at an early save point, are held back: practice continues with them, but they are not published, and
they are dropped if the run ends before they recover. Warm-up that clearly costs one of several tasks ends the
run at the last save point.
Where the reward is learned itself, signs that it is exploited are measured too; a hard alarm, or two, end
the run at the last save point. So an interruption loses nothing that was saved, and keeps nothing that was
not measured. Warm-up has save points too, so that one that is interrupted is gone on with.
Left out: how weights are published.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from engine.errors import NumericsError
from learning.maths.alarm import Alarm, Signs, alarms, must_stop, told
from learning.memory.guard import Verdict
from learning.memory.retention import examined
from learning.memory.save_points import SavePoints
from learning.objectives.processes import ALONE, ProcessGroup
from learning.practice.checks.alarms import CountWatch, alarm, fallen_arms, fell
from learning.practice.figures import MISMATCH, StepReport
from learning.practice.sampling.rollouts import HeldOut
from learning.practice.supply.source import can_begin
from learning.practice.trainer import GrpoTrainer
from learning.practice.warm_up import WarmUpReport

Stage = Literal["before", "warmed_up", "during", "after"]
Ended = Literal["steps", "time", "stopped", "too_hard", "too_few", "solved", "rolled_back", "alarm"]
GIVEN_UP = (
    "the last steps solved fewer held-out problems than before or raised an alarm, so the weights are those "
    "of the last save point"
)
HARD = 0.02
"""Success rate below which a task counts as too hard; above 1 - HARD it counts as solved."""


class Interrupted(Exception):  # noqa: N818 - not an error: other work needs the machine
    """Raised by `pause`: stop at once, drop what was not saved, keep the rest."""


@dataclass(frozen=True)
class Evaluation:
    """Measurements at a save point."""

    step: int
    accuracy: float
    """Held-out accuracy, 0 to 1."""
    book_recall: float
    """Exact recall of the book, 0 to 1."""
    saved: bool
    """True if new weights passed the guard, were not held back and are published."""
    alarm: str = ""
    """Message if what is paid rises while accuracy or book recall falls (learning.practice.checks.alarms);
    else empty."""
    held: bool = False
    """True if the weights passed the guard but solve clearly fewer problems, so are not published."""
    stage: Stage = "during"
    by_arm: dict[str, float] = field(default_factory=dict)
    """Held-out accuracy of each arm, where there are several."""


@dataclass
class PracticeOutcome:
    """Result of a run."""

    ended: Ended = "steps"
    why: str = ""
    """Why it ended and what to do next; empty if all steps were taken."""
    steps: int = 0
    warm_up_steps: int = 0
    accuracy_before: float | None = None
    """Held-out accuracy, 0 to 1. This and the fields below are None until measured."""
    accuracy_warm: float | None = None
    """Accuracy after a successful warm-up."""
    accuracy_after: float | None = None
    """Accuracy of the weights that are kept."""
    book_before: float | None = None
    book_after: float | None = None
    seconds: float = 0.0
    alarm: str = ""
    saves: int = 0
    arms_before: dict[str, float] = field(default_factory=dict)
    """Held-out accuracy of each arm, where there are several, as `accuracy_before` and `accuracy_after`."""
    arms_after: dict[str, float] = field(default_factory=dict)
    asked_before: dict[str, int] = field(default_factory=dict)
    asked_after: dict[str, int] = field(default_factory=dict)
    """Of self-play how many questions of each level were asked, in the first and in the last step."""


@dataclass
class PracticeRun:
    """Runs a trainer from start to end and reports through the callbacks."""

    session: GrpoTrainer
    weights: SavePoints
    on_step: Callable[[StepReport], None] = lambda _: None
    on_evaluation: Callable[[Evaluation], None] = lambda _: None
    on_warm_up: Callable[[WarmUpReport], None] = lambda _: None
    stop: Callable[[], bool] = lambda: False
    team: ProcessGroup = ALONE
    """The processes that practise together."""
    signs: Callable[[HeldOut], Signs] | None = None
    """Measures whether the reward is exploited, at every save point (learning.practice.checks.signs); None
    where it cannot be."""
    advice: str = ""
    """What to do after an alarm that ends the run; a sentence."""
    _signs: Signs = Signs()
    """Those of the start, or after warm-up."""
    _steps: list[StepReport] = field(default_factory=list)
    """Those since the best look."""
    _counts: CountWatch = field(default_factory=CountWatch)
    _best: HeldOut = HeldOut((), {})
    """The look at the held-out problems at which most were solved, since warm-up."""
    _looks: int = 0
    """At the success rate of warm-up."""
    _saved: int = 0
    """Number of updates in the published weights."""
    _evaluated: int = 0
    """Number of updates in the weights measured last."""
    _mismatch: str = ""
    """The newest alarm of a step, which no save point tells."""
    _outcome: PracticeOutcome = field(default_factory=PracticeOutcome)
    _started: float = field(default_factory=time.monotonic)

    def run(self, *, warm_up: bool | None) -> PracticeOutcome:
        """Runs to the end. warm_up: None to warm up where the trainer is cold (`is_cold`). Raises what the
        task or the weights raise; the weights are then those of the last save point."""
        outcome = self._outcome
        try:
            self._practise(warm_up)
        except Interrupted:
            self.weights.restore()
            outcome.ended, outcome.why = "stopped", "interrupted; what was saved is kept"
        except NumericsError as error:
            self.weights.restore()
            outcome.ended, outcome.why = "rolled_back", f"{error.what}; {error.next_step}"
        except BaseException:
            self.weights.restore()
            raise
        outcome.seconds = time.monotonic() - self._started
        outcome.alarm = "; ".join(filter(None, (self._mismatch, outcome.alarm)))
        return outcome

    def _practise(self, warm_up: bool | None) -> None:
        session, outcome = self.session, self._outcome
        self._best = session.look()
        accuracy = self._best.accuracy
        outcome.accuracy_before = outcome.accuracy_after = accuracy
        outcome.book_before = outcome.book_after = session.keeper.book_recall
        if self.signs is not None:
            self._signs = self.signs(self._best)
        arms = outcome.arms_before = outcome.arms_after = self._best.by_arm()
        self.on_evaluation(
            Evaluation(0, accuracy, outcome.book_before, saved=False, stage="before", by_arm=arms)
        )
        if warm_up is None:
            warm_up = session.is_cold(self._best)
        if warm_up and not self._warm_up():
            return
        alike: list[float] = []
        idle = 0
        while session.step_number < session.settings.steps:
            stopped, late = self._ends()
            if stopped:
                outcome.ended, outcome.why = "stopped", "stopped; what was gained so far is kept"
                break
            if late:
                outcome.ended, outcome.why = "time", "the time is over; practise again to go on"
                break
            report = session.step()
            self.on_step(report)
            self._steps.append(report)
            outcome.steps = session.step_number
            if report.asking is not None:
                outcome.asked_after = report.asking.levels
                outcome.asked_before = outcome.asked_before or report.asking.levels
            if report.mismatch > MISMATCH:
                self._mismatch = (
                    f"drawn log-probabilities are off by {report.mismatch:.3f} nats a token: drawing has an "
                    "error; report this"
                )
            alike = self._alike(alike, report)
            idle = 0 if report.updates else idle + 1
            if len(alike) >= session.settings.patience and self._pointless(alike):
                break
            if idle >= session.settings.waits:
                outcome.ended, outcome.why = "too_few", self._too_few(report)
                break
            early = self._counts.rises(report) and session.updates > self._evaluated
            due = session.step_number % session.settings.measure_every == 0
            if (due or early) and not self._save(early=not due):
                return
        if session.updates > self._evaluated and not self._save("after"):
            return
        if session.updates > self._saved:
            self._give_up()

    def _warm_up(self) -> bool:
        """Warms up. False if practice cannot go on."""
        session, outcome = self.session, self._outcome
        last = session.warm_up(self._warmed, lambda: any(self._ends()))
        outcome.warm_up_steps = last.step
        if last.step and not self._save("warmed_up"):
            return False
        success = last.success or 0.0
        part = bool(self._best.arms) and self._best.accuracy >= HARD  # of several tasks
        if can_begin(success, last.enough) or part:
            outcome.accuracy_warm = outcome.accuracy_after
        elif not any(self._ends()):
            outcome.ended = "too_hard"
            kept = "; what warm-up taught is kept, /undo takes it back" if outcome.saves else ""
            steps = "1 step" if last.step == 1 else f"{last.step} steps"
            outcome.why = (
                f"too hard: after {steps} of warm-up {success:.0%} of the answers are right; "
                f"take easier settings, a larger model, or more warm-up{kept}"
            )
            return False
        return True

    def _ends(self) -> tuple[bool, bool]:
        """(whether the run was asked to end, whether its time is over); the same in all processes."""
        stopped, spent = self.team.agree(float(self.stop()), time.monotonic() - self._started)
        return bool(stopped), spent > self.session.settings.seconds

    def _warmed(self, report: WarmUpReport) -> None:
        """Reports a step of warm-up. Saves now and then, if the guard lets it: warm-up in idle hours is
        interrupted more often than not."""
        self.on_warm_up(report)
        self._outcome.warm_up_steps = report.step  # in case it is interrupted
        if report.success is None or not report.step:
            return
        self._looks += 1
        if self._looks % self.session.settings.warm_up.save_every or not self._examine().passed:
            return
        known = self._best.arms or self._best.accuracy >= HARD
        if known and not self.session.taught_tags:
            now = self.session.look()
            if fallen_arms(self._best, now):
                return
            self._keep(now, self.session.keeper.book_recall)
        self._publish(f"warm-up, step {report.step}")

    def _keep(self, now: HeldOut, book_recall: float) -> None:
        """Notes the figures of weights that are kept."""
        outcome = self._outcome
        outcome.accuracy_after, outcome.arms_after = now.accuracy, now.by_arm()
        outcome.book_after = book_recall

    def _publish(self, where: str) -> None:
        self.weights.save(f"practice: {self.session.task.name}, {where}")
        self._outcome.saves += 1
        self._saved = self.session.updates

    @staticmethod
    def _alike(before: list[float], report: StepReport) -> list[float]:
        """Success rates of the last steps in a row whose judged groups were all dead. A step of which most
        could not be judged says nothing."""
        known = report.groups - report.unjudged_groups
        if report.unjudged_groups > known:
            return before
        return [*before, report.success] if known == report.dead_groups else []

    def _too_few(self, report: StepReport) -> str:
        if report.unjudged_groups > report.groups // 2:
            return (
                f"most answers could not be judged: {report.unjudged_groups} of {report.groups} problems in "
                "the last step; the task's programs may be too slow here"
            )
        return (
            f"too few problems whose answers differ: {report.waiting} of the {report.needed} that an update "
            "needs; take other settings, a larger group_size, or fewer groups"
        )

    def _pointless(self, alike: list[float]) -> bool:
        """Sets the reason to end after several steps whose groups were all dead. alike: their success
        rates, 0 to 1. Returns True."""
        outcome, name = self._outcome, self.session.task.name
        if max(alike) < HARD:
            outcome.ended = "too_hard"
            outcome.why = (
                f"too hard: no group has a right answer; warm {name} up with worked examples first, take"
                " easier settings, or practise another task"
            )
        elif min(alike) > 1.0 - HARD:
            outcome.ended = "solved"
            more = "more examples" if self.session.settings.few.examples else "harder settings"
            outcome.why = f"already solved: every answer is right; take {more}"
        else:
            outcome.ended = "too_few"
            outcome.why = (
                "nothing to prefer: within each group all answers score alike; take other settings, or "
                "practise another task"
            )
        return True

    # ------------------------------------------------------------ save points

    def _save(self, stage: Stage = "during", *, early: bool = False) -> bool:
        """Measures, and publishes weights that pass and are not held back. early: before a look is due; then
        any alarm of the signs holds them back. False if the run ends: the guard failed or alarms stop it, and
        the weights went back to the last save point."""
        session, outcome = self.session, self._outcome
        verdict = self._examine()
        if not verdict.passed and verdict.book_recall > 0.0:
            session.mend(lambda: self._examine().passed)
            verdict = self._examine()
        if not verdict.passed:
            self._roll_back(verdict.reason, stage)
            return False
        now = session.look()
        accuracy, warmed = now.accuracy, stage == "warmed_up"
        # where warm-up taught the tags, every task's answers have a new form: nothing to compare
        if warmed and not session.taught_tags and (cost := fallen_arms(self._best, now)):
            self._roll_back(f"warm-up cost what was known ({cost})", stage)
            outcome.why += "; practise without warm-up"
            return False
        words, found = "", list[Alarm]()
        if not warmed:
            book = session.keeper.book_before, verdict.book_recall
            words = alarm(self._best, now, self._steps, *book)
        if self.signs is not None:
            signs = self.signs(now)
            if warmed:
                self._signs = signs
            found = alarms(self._signs, signs)
            words = "; ".join(filter(None, (told(found), words)))
            if must_stop(found):
                self._stop_by(words, stage)
                return False
        outcome.alarm = words or outcome.alarm
        held = not warmed and (fell(self._best, now) or (early and bool(found)))
        if warmed or (not held and accuracy >= self._best.accuracy):
            self._best, self._steps = now, []
        self._evaluated = session.updates
        save = session.updates > self._saved and not held
        if not held:
            self._keep(now, verdict.book_recall)
        if save:
            self._publish("warm-up" if warmed else f"step {session.step_number}")
        self.on_evaluation(
            Evaluation(
                session.step_number,
                accuracy,
                verdict.book_recall,
                save,
                words,
                held,
                stage,
                now.by_arm(),
            )
        )
        return True

    def _roll_back(self, reason: str, stage: Stage) -> None:
        """Ends the run for this reason, with the weights of the last save point."""
        self._outcome.ended = "rolled_back"
        self._outcome.why = f"{reason}; the weights are back at those of the last save point"
        self._restore(stage)

    def _stop_by(self, alarm: str, stage: Stage) -> None:
        """Ends the run because of its alarms, with the weights of the last save point."""
        outcome = self._outcome
        outcome.ended, outcome.alarm = "alarm", alarm
        kept = f"stopped by alarms ({alarm}); the weights are those of the last save point"
        outcome.why = f"{kept}. {self.advice}" if self.advice else kept
        self._restore(stage, alarm)

    def _give_up(self) -> None:
        """Drops weights that were held back to the end."""
        outcome = self._outcome
        # the usual reason says that everything is kept, which is not so here; keep its advice
        said = {"stopped": "stopped", "time": "the time is over"}.get(outcome.ended, outcome.why)
        outcome.why = f"{said}; {GIVEN_UP}" if said else GIVEN_UP
        self._restore("after")

    def _restore(self, stage: Stage, alarm: str = "") -> None:
        """Restores the last save point and reports its measurements, with an alarm."""
        outcome, step = self._outcome, self.session.step_number
        accuracy, recall, arms = outcome.accuracy_after, outcome.book_after, outcome.arms_after
        assert accuracy is not None and recall is not None
        self.weights.restore()
        self.on_evaluation(
            Evaluation(step, accuracy, recall, False, alarm, stage=stage, by_arm=arms)
        )

    def _examine(self) -> Verdict:
        return examined(self.session.keeper, self.session.model)
