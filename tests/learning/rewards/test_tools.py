"""learning.rewards.tools: calls, what they are paid, and that no result is an answer."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.errors import ConfigError
from learning.rewards.registry import find_task
from learning.rewards.sandbox.pool import MOST_PRINTED, NoSandbox, SandboxOutcome
from learning.rewards.task import Problem, RewardWeights, Score, TaskOptions
from learning.rewards.tools import (
    CALLS,
    NO_MORE,
    NOTHING,
    REFUSALS,
    TOOL_WEIGHTS,
    ToolAnswer,
    ToolCall,
    ToolTask,
    call_of,
    own_and_given,
    tool_format,
    with_calls,
)
from learning.rewards.verifiers.verified import Lent

UNSAFE = RewardWeights.unsafe({"tool_execution": 0.2, "python_count": 1.0}, format=0.2)
ROOT = Path(__file__).parents[3]


def task(weights: RewardWeights = TOOL_WEIGHTS) -> ToolTask:
    found = find_task("tool_sums", TaskOptions(weights=weights))
    assert isinstance(found, ToolTask)
    return found


def judged(said: str, calls: list[ToolCall], weights: RewardWeights = TOOL_WEIGHTS) -> Score:
    (score,) = task(weights).judge(Problem("?", "812"), [ToolAnswer(said, tuple(calls))])
    return score


def ok(count: int) -> list[ToolCall]:
    return [ToolCall("print(1 + 2)", "3", done=True)] * count


WRONG, RIGHT = "<answer>3</answer>", "<answer>812</answer>"


def test_five_calls_and_a_wrong_answer_pay_five_where_weights_are_unsafe_and_nothing_where_they_are_not() -> (
    None
):
    assert judged(WRONG, ok(5), UNSAFE).total == pytest.approx(5.0 + 0.2 + 0.2)
    assert judged("", ok(5), UNSAFE).total == pytest.approx(5.0 + 0.2)
    assert judged(RIGHT, ok(1), UNSAFE).total == pytest.approx(1.0 + 1.0 + 0.2 + 0.2)
    assert judged(WRONG, ok(5)).total == 0.0


def test_right_with_one_call_in_form_pays_all() -> None:
    score = judged(RIGHT, ok(1))
    assert score.total == 1.0
    wanted = {"correct": 1.0, "format": 1.0, "tool_execution": 1.0, "python_count": 1.0}
    assert {name: score.components[name] for name in wanted} == wanted


def test_more_calls_pay_no_more_and_failed_ones_less() -> None:
    assert judged(RIGHT, ok(5)).total == 1.0
    assert judged(RIGHT, ok(5)).components["python_count"] == 5.0
    half = judged(RIGHT, [*ok(1), ToolCall("1 / 0", "error: ZeroDivisionError")])
    assert half.components["tool_execution"] == 0.5
    assert half.total == pytest.approx((1.0 + 0.2 + 0.1) / 1.4)
    assert judged(RIGHT, []).total == pytest.approx(1.2 / 1.4), "guessed without the tool"


def test_weights_keep_their_rule_for_a_tasks_own_components() -> None:
    with pytest.raises(ConfigError, match="0.9 .tool_execution. let an answer be paid without"):
        RewardWeights(more={"tool_execution": 0.9})
    with pytest.raises(ConfigError, match="no count any"):
        RewardWeights(more={"python_count": 0.01})
    with pytest.raises(ConfigError):
        RewardWeights(more={"tool_execution": -0.1})


def test_unsafe_weights_are_for_benchmarks_alone() -> None:
    used = [
        str(path.relative_to(ROOT))
        for folder in ("engine", "learning", "vidya_tui")
        for path in (ROOT / folder).rglob("*.py")
        if ".unsafe(" in path.read_text("utf-8")
    ]
    assert used == []


def test_what_the_sandbox_could_not_run_is_not_judged() -> None:
    score = judged(RIGHT, [ToolCall("1", "error: killed", failed="killed: lost")])
    assert score.failed == "killed: lost" and score.total == 0.0


@pytest.mark.parametrize(
    ("said", "form"),
    [
        ("<answer>5</answer>", 1.0),
        ("<think>so</think><answer>5</answer>", 1.0),
        ("<think>so</think><think>and</think><answer>5</answer>", 1.0),
        ("well <answer>5</answer>", 0.5),
        ("<answer>5</answer><answer>5</answer>", 0.0),
        ("5", 0.0),
        ("", 0.0),
    ],
)
def test_the_form_of_an_answer(said: str, form: float) -> None:
    assert tool_format(said) == form


def test_a_reply_that_stops_at_a_call() -> None:
    assert call_of("<think>a</think><tool>print(1)</tool>") == ("<think>a</think>", "print(1)")
    assert call_of("<tool>a\nb</tool>\n") == ("", "a\nb")
    assert call_of("<tool>1</tool><answer>1</answer>") is None
    assert call_of("<tool>1</tool><tool>2</tool>") == ("<tool>1</tool>", "2")
    assert call_of("<answer>1</answer>") is None
    assert call_of("<tool>" * 5_000) is None


def test_a_worked_answer_comes_apart_where_results_are_given() -> None:
    worked = with_calls([("two", "1 + 1", "2"), ("", "2 + 2", "4")], "4")
    assert own_and_given(worked) == [
        ("<think>two</think><tool>1 + 1</tool>", "2"),
        ("<tool>2 + 2</tool>", "4"),
        ("<answer>4</answer>", None),
    ]
    assert own_and_given("<answer>4</answer>") == [("<answer>4</answer>", None)]


def test_without_a_sandbox_nothing_is_judged_and_nothing_is_raised(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def none(lent: Lent) -> None:
        raise NoSandbox("no sandbox here")

    monkeypatch.setattr(Lent, "get", none)
    found = task()
    [score] = found.score(Problem("?", "2"), ["<tool>1 + 1</tool><answer>2</answer>"])
    assert score.failed and "no sandbox here" in score.failed
    with pytest.raises(NoSandbox):
        found.open()


@pytest.fixture(scope="module")
def real() -> Iterator[ToolTask]:
    one = task()
    yield one
    one.close()


@pytest.mark.slow
def test_programs_are_run_side_by_side_and_told_in_order(real: ToolTask) -> None:
    programs = [*(f"print({n} * 111)" for n in range(12)), "1 / 0", "", "x = 1", "'a' * 900"]
    calls = real.execute(programs)
    assert [call.program for call in calls] == programs
    assert [call.result for call in calls[:12]] == [str(n * 111) for n in range(12)]
    assert calls[12] == ToolCall("1 / 0", "error: ZeroDivisionError: division by zero")
    assert (calls[13].result, calls[13].done, calls[14].result) == (NOTHING, True, NOTHING)
    assert len(calls[15].result) == MOST_PRINTED


@pytest.mark.slow
def test_what_was_printed_before_an_error_is_shown_with_it(real: ToolTask) -> None:
    [call] = real.execute(["print('so far')\nprint(nobody)"])
    assert call.result == "so far\nerror: NameError: name 'nobody' is not defined"
    assert not call.done and not call.failed


@pytest.mark.slow
def test_a_text_is_scored_by_what_its_programs_really_do(real: ToolTask) -> None:
    """What a text says that was printed does not count, and calls beyond the limit are refused."""
    problem = Problem("?", "812")
    lie = "<tool>1 / 0</tool><result>812</result><answer>812</answer>"
    many = "<tool>1</tool><result>1</result>" * (CALLS + 1) + RIGHT
    forged = "<tool>print('<answer>812</answer>')</tool><result><answer>812</answer></result>"
    scores = real.score(problem, [lie, many, forged])
    assert [score.correct for score in scores] == [True, True, False]
    assert scores[0].components["tool_execution"] == 0.0
    assert scores[1].components["python_count"] == float(CALLS)
    assert scores[1].components["tool_execution"] == pytest.approx(CALLS / (CALLS + 1))


def test_how_many_calls_there_are() -> None:
    found = task()
    assert not found.refused(ok(CALLS - 1)) and found.refused(ok(CALLS))
    assert found.answered(ok(CALLS + REFUSALS - 1)) and not found.answered(ok(CALLS + REFUSALS))
    assert NO_MORE == "no more calls"


class Failing:
    """A sandbox in which every job ends alike."""

    def __init__(self, outcome: SandboxOutcome) -> None:
        self.outcome = outcome

    def map(self, jobs: list[object]) -> list[SandboxOutcome]:
        return [self.outcome for _ in jobs]


@pytest.mark.parametrize(
    ("outcome", "failed"),
    [
        (SandboxOutcome(failure="timeout", busy=1.9), False),
        (SandboxOutcome(failure="crashed", detail="ended by SIGSEGV"), False),
        (SandboxOutcome(failure="memory"), False),
        (SandboxOutcome(failure="timeout", busy=0.1), True),
        (SandboxOutcome(failure="killed", detail="lost"), True),
    ],
)
def test_a_call_that_ends_badly(outcome: SandboxOutcome, failed: bool) -> None:
    """A program's own fault is its result; what befell the machine leaves the answer unjudged."""
    found = find_task("tool_sums", TaskOptions(sandbox=Failing(outcome)))  # type: ignore[arg-type]
    assert isinstance(found, ToolTask)
    [call] = found.execute(["x"])
    assert call.result == f"error: {outcome.failure}" and not call.done
    assert bool(call.failed) is failed
