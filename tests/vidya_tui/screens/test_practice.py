"""Practice in the app: requests to the teacher, the display, and practice in idle hours."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from engine.errors import VidyaError
from learning.home import Home
from learning.journal.journal import Journal
from learning.practice.report import Gain
from learning.protocol.events import (
    Event,
    Failed,
    PracticeDone,
    PracticeSample,
    PracticeStage,
    PracticeStep,
    Ready,
    WorkerLost,
)
from learning.protocol.messages import decode, encode
from learning.protocol.practice_events import PracticeStarted
from learning.protocol.records import ArmFigures, AskingFigures
from learning.protocol.requests import CancelPractice, OwnerActive, Practise, Request
from tests.fakes import ScriptedTeacher
from tests.stage import Stage, play
from vidya_tui.controller.practice import PracticeDesk
from vidya_tui.line_mode.loop import run_lines
from vidya_tui.settings.file import Settings
from vidya_tui.state import practice as practice_state
from vidya_tui.state.message import StatusMessage

STEP = PracticeStep(
    task="syllogism",
    step=4,
    steps=100,
    reward_mean=0.5,
    reward_std=0.25,
    success=0.41,
    groups=20,
    dead_groups=4,
    kl=0.012,
    loss=-0.01,
    entropy=0.4,
    clipped=0.01,
    length=38.2,
    truncated=0.02,
    failed=0,
    tokens=4000,
    tokens_per_second=1300.0,
    seconds=12.0,
    components={"correct": 0.41},
)
SAMPLE = PracticeSample(
    4, "Is it [bold]?", "<answer>No</answer>", 0.95, {"correct": 1.0, "format": 0.5}
)
BEFORE = PracticeStage("syllogism", "before", accuracy=0.3, book_recall=1.0)
LATER = PracticeStage("syllogism", "during", 10, accuracy=0.62, book_recall=0.99, saved=True)
DONE = PracticeDone(
    "syllogism", "steps", "", 100, 0, 0.3, None, 0.62, 1.0, 0.99, 1800.0, "", 10, 100, 7
)


def hear(practice: PracticeDesk, event: Event) -> StatusMessage | None:
    """As the controller does it."""
    practice.hear(event)
    return practice.known.take(event)


def desk(**more: object) -> tuple[PracticeDesk, ScriptedTeacher]:
    teacher = ScriptedTeacher(["one"])
    return PracticeDesk(teacher, **more), teacher  # type: ignore[arg-type]


# ---------------------------------------------------------------- words


def test_a_step_in_a_line() -> None:
    words = practice_state.stepped(STEP)
    for part in (
        "step 4 of 100",
        "0.50 \u00b1 0.25",
        "41 %",
        "nothing to compare in 4 of 20",
        "drift 0.012",
        "12 s",
    ):
        assert part in words


def test_where_nothing_is_right_or_wrong_answers_are_liked() -> None:
    assert "right 41 %" in practice_state.stepped(STEP)
    liked = replace(STEP, components={"taste": 0.6, "length": 1.0})
    assert "liked 41 %" in practice_state.stepped(liked)


def test_a_look_says_what_was_looked_at() -> None:
    assert practice_state.staged(LATER) == (
        "after step 10: held-out accuracy 62 %, book recall 99 %, saved"
    )
    held = practice_state.staged(PracticeStage("x", "during", 10, accuracy=0.2, held=True))
    assert held.endswith("held-out accuracy 20 %, held back: fewer problems solved than before")
    warm = PracticeStage("x", "warm_up", 5, 0.4, steps=200, enough=0.2)
    assert practice_state.staged(warm) == "warm-up, step 5 of at most 200: loss 0.40"
    warm = PracticeStage("x", "warm_up", 20, 0.4, 0.11, steps=200, enough=0.2)
    assert practice_state.staged(warm) == (
        "warm-up, step 20 of at most 200: 11 % of its answers are right, loss 0.40, "
        "it ends with 20 %"
    )


def test_a_sample_with_its_rewards_by_component() -> None:
    words = practice_state.sampled(SAMPLE)
    assert words.startswith("0.95 (correct 1, format 0.5)\n  Is it [bold]?\n")
    failed = PracticeSample(1, "p", "t", 0.0, {"correct": 0.0}, True, "out of time")
    assert practice_state.sampled(failed) == "not judged: out of time\n  p\n  t (cut off)"


def test_the_end_in_a_sentence() -> None:
    assert practice_state.done(DONE) == (
        "syllogism: held-out accuracy 30 % \u2192 62 % on 100 problems after 100 steps in 30 min; "
        "book recall 100 % \u2192 99 %"
    )
    gain = Gain("syllogism", 12, 3600.0, 0.41, 0.63, 3)
    assert practice_state.gained(gain) == (
        "syllogism: 12 steps in 60 min, held-out accuracy 41 % \u2192 63 %"
    )


def test_figures_of_the_newest_step_and_look() -> None:
    now = practice_state.begun("syllogism")
    for event in (BEFORE, STEP, LATER):
        now = practice_state.after(now, event)
    figures = dict(practice_state.figures(now))
    assert figures["held-out accuracy"] == "30 % \u2192 62 %"
    assert figures["nothing to compare"] == "in 4 of 20: all answers scored alike"
    assert figures["drift"] == "0.012 nats a token from before (KL)"
    assert figures["reward"].endswith("\u2585")
    assert (
        practice_state.short(now) == "practising syllogism, step 4 of 100, right 41 %, 19 min left"
    )
    assert practice_state.short(practice_state.after(now, DONE)) == ""
    assert practice_state.spark([0.0, 0.5, 1.0, 2.0, -1.0]) == "\u2581\u2585\u2588\u2588\u2581"


# ---------------------------------------------------------------- the desk


def test_warm_up_says_how_long_it_may_take() -> None:
    now = practice_state.begun("chain_sum")
    assert practice_state.short(now) == "practising chain_sum, measuring first"
    for event in (
        PracticeStage("chain_sum", "before", accuracy=0.0, book_recall=1.0),
        PracticeStage("chain_sum", "warm_up", 20, 1.5, 0.04, steps=200, enough=0.2, seconds=40.0),
    ):
        now = practice_state.after(now, event)
    words = "warming up, 20 of at most 200 steps, 6 min left"
    assert practice_state.short(now) == f"practising chain_sum, {words}"
    assert practice_state.share(now) == 0.1
    now = practice_state.after(now, STEP)
    assert practice_state.share(now) == 0.04 and "step 4 of 100" in practice_state.short(now)


def test_advice_can_be_followed_where_one_is() -> None:
    practice, teacher = desk()
    practice.begin("gym/maze")
    assert teacher.requests == [Practise("gym/maze")], "it warms up where it has to"
    hard = replace(DONE, ended="too_hard", why="too hard", warm_up_steps=0)
    words = hear(practice, replace(hard, task="gym/maze"))
    assert words is not None
    assert words.text.endswith("too hard; /practice gym/maze warm-up begins with worked examples")
    practice.begin("chain_sum max_terms=3 warm-up")
    assert teacher.requests[-1] == Practise("chain_sum", warm_up=True, settings=("max_terms=3",))


def test_options_are_told_from_settings_of_the_task_and_shown() -> None:
    practice, teacher = desk()
    practice.idle_as(0, "chain_sum", ("max_digits=2",), ("lr=1e-5",))
    practice.begin("chain_sum max_terms=3 normalise=by_answer")
    options = ("lr=1e-5", "normalise=by_answer")
    assert teacher.requests == [Practise("chain_sum", settings=("max_terms=3",), options=options)]
    hear(practice, PracticeStarted("chain_sum", 3, 7, {}, {"normalise": "by_answer"}))
    hear(practice, replace(STEP, updates=0, waiting=12, needed=32))
    figures = dict(practice_state.figures(practice.state))
    assert figures["options"] == "normalise=by_answer"
    assert figures["no update yet"] == "12 of the 32 problems that one needs"
    hear(practice, replace(STEP, ratio=1.01))
    figures = dict(practice_state.figures(practice.state))
    assert figures["ratio"] == "1.010 now to when drawn, 1 % clipped"
    said = practice_state.started(PracticeStarted("x", 3, 7, {}, {"lr": "1e-05"}, ("the data",)))
    assert said == "run 3, seed 7, lr=1e-05\ndiffers: the data"


def test_several_tasks_are_begun_and_each_is_shown() -> None:
    practice, teacher = desk()
    practice.idle_as(0, "chain_sum", options=("lr=1e-5",))
    practice.begin("chain_sum max_terms=3 syllogism curriculum.method=exp3 warm-up")
    label, arms = "chain_sum, syllogism", ("chain_sum max_terms=3", "syllogism")
    options = ("lr=1e-5", "curriculum.method=exp3")
    assert teacher.requests == [Practise(label, warm_up=True, options=options, arms=arms)]
    told = (
        ArmFigures(arms[0], 0.75, 0.4, 24, 6, 0.5, 0.25),
        ArmFigures(arms[1], 0.25, 0.0, 0, 0, None, None),
    )
    hear(practice, replace(STEP, task=label, arms=told))
    figures = dict(practice_state.figures(practice.state))
    first = "75 % of the problems, held out 25 %, right 50 %, 6 of 24 alike, worth 0.40"
    assert figures[arms[0]] == first
    assert figures[arms[1]] == "25 % of the problems, worth 0.00"
    assert f"chosen: {arms[0]} 75 %, syllogism 25 %" in practice_state.stepped(
        replace(STEP, arms=told)
    )
    hard = replace(DONE, task=label, ended="too_hard", warm_up_steps=0)
    words = hear(practice, replace(hard, arms_before=dict.fromkeys(arms, 0.0)))
    assert words is not None
    assert f"/practice {' '.join(arms)} warm-up begins with" in words.text, "it can be typed"


ASKING = AskingFigures(64, 48, 36, 0.42, 0.3, 2, 16, 640, {"2x1": 36, "3x1": 12})


def test_self_play_is_begun_and_its_questions_are_shown() -> None:
    practice, teacher = desk()
    practice.idle_as(0, "chain_sum", options=("lr=1e-5",))
    practice.begin("chain_sum self-play self_play.reward=min warm-up")
    options = ("lr=1e-5", "self_play.questions=16", "self_play.reward=min")
    assert teacher.requests == [Practise("chain_sum", warm_up=True, options=options)]
    step = replace(STEP, task="chain_sum", asking=ASKING)
    assert decode(encode(step)) == step, "over the worker's pipe"
    hear(practice, step)
    figures = dict(practice_state.figures(practice.state))
    assert figures["questions"] == "64 asked, 48 valid, 36 different, worth 0.42"
    assert figures["asked"] == "2x1 75 %, 3x1 25 %"
    assert "questions: 64 asked, 48 valid, 36 different" in practice_state.stepped(step)
    assert "(2x1 75 %, 3x1 25 %)" in practice_state.stepped(step)
    done = replace(DONE, asked_before={"2x1": 3, "3x1": 1}, asked_after={"3x1": 5})
    said = practice_state.done(done)
    assert said.endswith(". Questions asked at first: 2x1 75 %, 3x1 25 %; at the end: 3x1 100 %")
    assert practice_state.levels({}) == "nothing"


def test_a_night_practises_the_owners_task_and_others() -> None:
    now = [0.0]
    practice, teacher = desk(idle_minutes=1, idle_task="syllogism", clock=lambda: now[0])
    practice.idle_as(1, "syllogism", others=("chain_sum", "syllogism"))
    now[0] = 60.0
    practice.away(busy=False)
    [request] = teacher.requests
    assert isinstance(request, Practise) and request.idle and request.warm_up
    assert request.arms == ("syllogism", "chain_sum"), "the owner's first, and once"
    assert request.options == ("curriculum.first=0.5",)


def test_a_task_is_begun_and_stopped() -> None:
    practice, teacher = desk()
    practice.begin("syllogism warm-up")
    assert teacher.requests == [Practise("syllogism", warm_up=True)]
    with pytest.raises(VidyaError, match="practised already"):
        practice.begin("chain_sum")
    practice.stop()
    assert teacher.requests[-1] == CancelPractice()
    assert practice_state.short(practice.state) == "practising syllogism, ending after this step"
    words = hear(practice, DONE)
    assert words is not None and words.text.startswith("syllogism: held-out") and not words.stay
    assert not practice.running


@pytest.mark.parametrize(
    ("wanted", "said"), [("sylogism", "syllogism"), ("syllogism now", "warm-up")]
)
def test_what_cannot_be_practised_is_told(wanted: str, said: str) -> None:
    practice, teacher = desk()
    with pytest.raises(VidyaError) as raised:
        practice.begin(wanted)
    assert said in str(raised.value) and teacher.requests == [] and not practice.running


def test_an_alarm_is_told_once() -> None:
    practice, _ = desk()
    alarming = PracticeStage("x", "during", 20, accuracy=0.2, alarm="the reward rises while ...")
    first = hear(practice, alarming)
    assert first is not None and first.trouble and first.stay
    assert hear(practice, alarming) is None


@pytest.mark.parametrize(
    "event", [Failed("practise", "no"), Failed("worker", "gave up"), WorkerLost("killed", True)]
)
def test_what_goes_wrong_ends_it(event: Failed | WorkerLost) -> None:
    practice, _ = desk()
    practice.begin("syllogism")
    hear(practice, event)
    assert not practice.running


def test_idle_hours() -> None:
    now = [0.0]
    practice, teacher = desk(idle_minutes=15, idle_task="syllogism", clock=lambda: now[0])
    now[0] = 800.0
    practice.key()
    now[0] = 1000.0
    practice.away(busy=False)
    assert teacher.requests == []
    now[0] = 1700.0
    practice.away(busy=True)
    assert teacher.requests == []
    practice.away(busy=False)
    assert teacher.requests == [Practise("syllogism", warm_up=True, idle=True)]
    assert practice.running
    words = hear(practice, PracticeDone(**{**vars(DONE), "idle": True}))
    assert words is not None and words.stay and words.text.startswith("while you were away: ")


def test_in_the_morning_the_whole_night_is_told() -> None:
    now = [0.0]
    practice, _ = desk(idle_minutes=1, idle_task="syllogism", clock=lambda: now[0])

    def run(*, key: bool = False, **changes: object) -> str:
        """The notes at the begin and the end of a practice."""
        now[0] += 60.0
        practice.away(busy=False)
        assert practice.running
        if key:
            practice.key()
        words = hear(practice, PracticeDone(**{**vars(DONE), "idle": True, **changes}))
        assert words is not None and words.stay
        return words.text

    run(accuracy_before=0.1, accuracy_warm=0.3, warm_up_steps=40, steps=100, seconds=600.0)
    run(accuracy_before=0.5, accuracy_after=0.7, steps=100, seconds=600.0)
    nothing = {"accuracy_before": None, "accuracy_after": None, "steps": 0, "seconds": 1.0}
    said = run(key=True, **nothing, ended="stopped", why="interrupted, nothing was measured")
    assert "30 % \u2192 70 %" in said and "after 200 steps in 20 min" in said
    assert "(warm-up, 40 steps: 10 % \u2192 30 %)" in said and "interrupted" not in said
    assert "after 7 steps" in run(key=True, steps=7), "that night is over"
    assert "nothing was measured" in run(key=True, **nothing, why="nothing was measured")


# ---------------------------------------------------------------- the app


def test_practice_is_begun_shown_and_stopped_in_the_app(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.say("/practice syllogism")
        assert stage.teacher.sent(Practise) == [Practise("syllogism")]
        await stage.sees("syllogism \u00b7 beginning")
        for event in (BEFORE, SAMPLE, STEP):
            stage.hear(event)
        await stage.sees("step 4 of 100")
        await stage.sees("0.95 (correct 1, format 0.5)")
        await stage.sees("Is it [bold]?")
        await stage.sees("4 of 20")
        await stage.press("x")
        await stage.until(lambda: bool(stage.teacher.sent(CancelPractice)))
        stage.hear(DONE)
        await stage.sees("30 % \u2192 62 %")
        await stage.press("escape")
        await stage.sees("Say something")

    play(scenario, tmp_path)


def test_the_learning_line_says_what_is_practised(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        stage.hear(STEP)
        await stage.sees("practising syllogism, step 4 of 100, right 41 %")
        stage.hear(DONE)
        await stage.until(lambda: "practising syllogism" not in stage.text())

    play(scenario, tmp_path)


@pytest.mark.slow
def test_practice_without_a_task_shows_how_it_goes(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.say("/practice")
        await stage.sees("Nothing is practised")
        await stage.press("escape")
        await stage.say("/practice sylogism")
        await stage.sees("did you mean")
        assert stage.prompt == "/practice sylogism"

    play(scenario, tmp_path)


def test_a_bar_that_was_hidden_comes_with_its_whole_width(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.say("/practice")
        await stage.sees("Nothing is practised")
        stage.hear(BEFORE)
        stage.hear(STEP)
        await stage.sees("held-out accuracy")
        await stage.still(7)
        line = next(line for line in stage.text().split("\n") if "about" in line)
        assert line.count("\u2501") + line.count("\u2500") > 40

    play(scenario, tmp_path)


def test_practice_line_by_line(tmp_path: Path) -> None:
    class Practising(ScriptedTeacher):
        def send(self, request: Request) -> None:
            super().send(request)
            if isinstance(request, Practise) and self.on_event:
                for event in (BEFORE, SAMPLE, STEP, DONE):
                    self.on_event(event)

    home = Home(tmp_path / "home")
    journal = Journal(home.journal_path)
    teacher = Practising(["one"], journal=journal)

    def make(on_event: Callable[[Event], None], model: str | None = None, /) -> ScriptedTeacher:
        teacher.on_event = on_event
        on_event(Ready("10m", 1, 10_200_000, "cpu"))
        return teacher

    out = io.StringIO()
    source = io.BytesIO(b"/practice\n/practice syllogism\n")
    assert run_lines(home, journal, make, Settings(), source=source, out=out) == 0
    journal.close()
    said = out.getvalue()
    assert "nothing is practised; /practice TASK begins" in said
    assert "before: held-out accuracy 30 %" in said and "step 4 of 100" in said
    assert "30 % \u2192 62 %" in said


@pytest.mark.slow
def test_a_key_on_any_screen_is_told_to_the_learner(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.press("f1")
        await stage.until(lambda: bool(stage.teacher.sent(OwnerActive)))

    play(scenario, tmp_path)
