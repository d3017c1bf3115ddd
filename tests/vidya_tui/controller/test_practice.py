"""Practice as the controller has it: requests to the teacher, what it tells, and idle hours."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.errors import ConfigError, VidyaError
from learning.protocol.events import (
    Event,
    Failed,
    PracticeDone,
    PracticeStage,
    WorkerLost,
)
from learning.protocol.messages import decode, encode
from learning.protocol.practice_events import PracticeStarted
from learning.protocol.records import ArmFigures, AskingFigures
from learning.protocol.requests import CancelPractice, Practise
from tests.fakes import ScriptedTeacher
from tests.practice_events import DONE, STEP
from vidya_tui.controller.practice import PracticeController
from vidya_tui.state import practice as practice_state
from vidya_tui.state.message import StatusMessage


def hear(practice: PracticeController, event: Event) -> StatusMessage | None:
    """As the controller does it."""
    practice.hear(event)
    return practice.known.take(event)


def controller(**more: object) -> tuple[PracticeController, ScriptedTeacher]:
    teacher = ScriptedTeacher(["one"])
    return PracticeController(teacher, **more), teacher  # type: ignore[arg-type]


def test_advice_can_be_followed_where_one_is() -> None:
    practice, teacher = controller()
    practice.begin("gym/maze")
    assert teacher.requests == [Practise("gym/maze")], "it warms up where it has to"
    hard = replace(DONE, ended="too_hard", why="too hard", warm_up_steps=0)
    words = hear(practice, replace(hard, task="gym/maze"))
    assert words is not None
    assert words.text.endswith("too hard; /practice gym/maze warm-up begins with worked examples")
    few = hear(practice, replace(hard, ended="too_few", why="too few problems"))
    assert few is not None and "warm-up" not in few.text, "a task that is nearly solved"
    practice.begin("chain_sum max_terms=3 warm-up")
    assert teacher.requests[-1] == Practise("chain_sum", warm_up=True, settings=("max_terms=3",))


def test_options_are_told_from_settings_of_the_task_and_shown() -> None:
    practice, teacher = controller()
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
    assert said == f"run 3, seed 7, lr=1e-05\ndiffers: the data\n{practice_state.BEGINNING}"


@pytest.mark.parametrize("forms", ["'forms=all,some not'", "forms='all,some not'"])
def test_a_setting_with_spaces_stands_in_quotes(forms: str) -> None:
    practice, teacher = controller()
    practice.begin(f"syllogism {forms} warm-up")
    settings = ("forms=all,some not",)
    assert teacher.requests == [Practise("syllogism", warm_up=True, settings=settings)]


def test_a_wrong_value_is_refused_before_anything_begins() -> None:
    practice, teacher = controller()
    with pytest.raises(ConfigError, match="updates is 'x'"):
        practice.begin("chain_sum updates=x")
    assert not teacher.requests and not practice.running


def test_several_tasks_are_begun_and_each_is_shown() -> None:
    practice, teacher = controller()
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
    practice, teacher = controller()
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
    practice, teacher = controller(idle_minutes=1, idle_task="syllogism", clock=lambda: now[0])
    practice.idle_as(1, "syllogism", others=("chain_sum", "syllogism"))
    now[0] = 60.0
    practice.away(busy=False)
    [request] = teacher.requests
    assert isinstance(request, Practise) and request.idle and request.warm_up is None
    assert request.arms == ("syllogism", "chain_sum"), "the owner's first, and once"
    assert request.options == ("curriculum.first=0.5",)


def test_a_task_is_begun_and_stopped() -> None:
    practice, teacher = controller()
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
    practice, teacher = controller()
    with pytest.raises(VidyaError) as raised:
        practice.begin(wanted)
    assert said in str(raised.value) and teacher.requests == [] and not practice.running


def test_an_alarm_is_told_once() -> None:
    practice, _ = controller()
    alarming = PracticeStage("x", "during", 20, accuracy=0.2, alarm="the reward rises while ...")
    first = hear(practice, alarming)
    assert first is not None and first.trouble and first.stay
    assert hear(practice, alarming) is None


@pytest.mark.parametrize(
    "event", [Failed("practise", "no"), Failed("worker", "gave up"), WorkerLost("killed", True)]
)
def test_what_goes_wrong_ends_it(event: Failed | WorkerLost) -> None:
    practice, _ = controller()
    practice.begin("syllogism")
    hear(practice, event)
    assert not practice.running


def test_idle_hours() -> None:
    now = [0.0]
    practice, teacher = controller(idle_minutes=15, idle_task="syllogism", clock=lambda: now[0])
    now[0] = 800.0
    practice.key()
    now[0] = 1000.0
    practice.away(busy=False)
    assert teacher.requests == []
    now[0] = 1700.0
    practice.away(busy=True)
    assert teacher.requests == []
    practice.away(busy=False)
    climbing = Practise("syllogism", arms=("syllogism",), climbs=True, idle=True)
    assert teacher.requests == [climbing]
    assert practice.running
    words = hear(practice, PracticeDone(**{**vars(DONE), "idle": True}))
    assert words is not None and words.stay and words.text.startswith("while you were away: ")


def test_in_the_morning_the_whole_night_is_told() -> None:
    now = [0.0]
    practice, _ = controller(idle_minutes=1, idle_task="syllogism", clock=lambda: now[0])

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
