"""reasoning-gym's tasks: all there, made and scored in the sandbox, not to be fooled."""

from __future__ import annotations

import importlib.util
import itertools
import json
import random
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.errors import ConfigError
from learning.rewards.gym_names import GYM
from learning.rewards.registry import find_task, tasks
from learning.rewards.sandbox.pool import Sandbox, SandboxOutcome
from learning.rewards.task import Problem, TaskOptions
from learning.rewards.tasks import gym

SPEC = importlib.util.find_spec("reasoning_gym")
if SPEC is None or SPEC.origin is None:
    pytest.skip("needs the extra practice", allow_module_level=True)
PACKAGE = Path(SPEC.origin).parent

SOME = ["chain_sum", "syllogism", "maze", "countdown", "word_sorting", "caesar_cipher", "rearc"]
"""Of different kinds: default scorer, own scorers, data files, late imports."""
EVALUATES = ["binary_matrix", "number_sorting", "polynomial_multiplication", "puzzle24"]
"""Their scorers evaluate the answer."""

CONSTANTS = ["0", "1", "-1", "nan", "inf", "[]", '""', "yes", "no"]
# fmt: off
QUICK = [
    "advanced_geometry", "basic_arithmetic", "bitwise_arithmetic", "calendar_arithmetic", "chain_sum",
    "coin_flip", "complex_arithmetic", "count_bits", "countdown", "decimal_arithmetic", "dice",
    "fraction_simplification", "gsm_symbolic", "largest_island", "list_functions", "number_filtering",
    "number_format", "number_sequence", "number_sorting", "polynomial_equations", "power_function",
    "prime_factorization", "products", "rectangle_count", "shortest_path", "simple_equations",
    "simple_geometry", "time_intervals", "word_sorting",
]
# fmt: on
"""Made and scored in no time, most of them with scorers of their own."""


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(workers=1) as box:
        yield box


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gym, "SCORE_SECONDS", 60.0)  # the machine may be busy


def take(sandbox: Sandbox, name: str, count: int = 3, **difficulty: object) -> list[Problem]:
    task = find_task(f"gym/{name}", TaskOptions(sandbox=sandbox, difficulty=difficulty))
    return list(itertools.islice(task.problems("train", random.Random(3)), count))


def test_every_text_task_is_named_and_there_are_a_hundred() -> None:
    # read, not imported: that takes seconds
    found = {"composite"}  # which only mixes others
    for file in PACKAGE.rglob("*.py"):
        source = file.read_text("utf-8")
        found |= set(re.findall(r'(?:DATASET_NAME = |register_dataset\(\s*)"(\w+)"', source))
    assert set(GYM) == found - {"composite"}
    assert len(GYM) >= 100
    assert {f"gym/{name}" for name in GYM} <= set(tasks())


@pytest.mark.slow
@pytest.mark.parametrize("name", SOME)
def test_problems_are_made_and_the_own_answer_is_right(sandbox: Sandbox, name: str) -> None:
    task = find_task(f"gym/{name}", TaskOptions(sandbox=sandbox))
    for problem in take(sandbox, name, 2):
        assert problem.worked is not None
        scores = task.score(problem, [problem.worked, "", "<answer></answer>", "nonsense"])
        assert [s.correct for s in scores] == [True, False, False, False]
        assert not any(s.failed for s in scores)
        assert scores[0].components["partial"] == 1.0


@pytest.mark.slow
@pytest.mark.parametrize("name", EVALUATES)
def test_what_their_scorers_evaluate_hurts_nobody(
    sandbox: Sandbox, name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(gym, "SCORE_SECONDS", 10.0)
    target = tmp_path / "written"
    answers = [
        f"open({str(target)!r}, 'w').write('x')",
        f"[__import__('os').system('touch {target}')]",
        "__import__('sys').exit(0)",
        "9**9**9",
        "(" * 5000,
    ]
    [problem] = take(sandbox, name, 1)
    task = find_task(f"gym/{name}", TaskOptions(sandbox=sandbox))
    good = [problem.worked] if problem.worked else []
    scores = task.score(problem, [*answers, *good])
    assert not target.exists()
    assert [s.correct for s in scores] == [False] * len(answers) + [True] * len(good)


@pytest.mark.slow
def test_scorers_are_not_talked_into_full_marks(sandbox: Sandbox) -> None:
    [problem] = take(sandbox, "puzzle24", 1)
    tricks = ["6 * 4 + 1 - 1", "8 * 3 * 1 * 1", "24"]  # its own scorer takes the first two
    task = find_task("gym/puzzle24", TaskOptions(sandbox=sandbox))
    assert [s.correct for s in task.score(problem, tricks)] == [False] * 3
    [problem] = take(sandbox, "simple_integration", 1)
    integrand = problem.truth["metadata"]["integrand"]
    variable = problem.truth["metadata"]["variable"]
    task = find_task("gym/simple_integration", TaskOptions(sandbox=sandbox))
    tricks = [f"Integral({integrand}, {variable})", f"integrate({integrand}, {variable}) + C"]
    scores = task.score(problem, [*tricks, "x.__class__", str(problem.worked)])
    assert [s.correct for s in scores] == [False, False, False, True]
    [problem] = take(sandbox, "game_of_life_halting", 1)
    task = find_task("gym/game_of_life_halting", TaskOptions(sandbox=sandbox))
    scores = task.score(problem, ["anything", str(problem.worked)])  # its own takes both
    assert [s.correct for s in scores] == [False, True]
    [problem] = take(sandbox, "string_insertion", 1)
    task = find_task("gym/string_insertion", TaskOptions(sandbox=sandbox))
    [score] = task.score(problem, ["oracle_answer"])  # a name where it is evaluated
    assert score.components["partial"] == 0.0


@pytest.mark.slow
@pytest.mark.parametrize("name", QUICK)
def test_a_constant_is_not_the_answer_to_three_problems_that_differ(
    sandbox: Sandbox, name: str
) -> None:
    task = find_task(f"gym/{name}", TaskOptions(sandbox=sandbox))
    different = {str(p.truth["answer"]): p for p in take(sandbox, name, 12)}
    three = list(different.values())[:3]
    right = [[s.correct for s in task.score(problem, CONSTANTS)] for problem in three]
    assert len(three) == 3
    assert [c for c, *all_three in zip(CONSTANTS, *right, strict=True) if all(all_three)] == []


FOUR = {"numbers": [8, 3, 3, 9]}
TARGET = {"numbers": [8, 3, 5], "target": 19}
SORTED = {"direction": "ascending", "sorted_numbers": ["-1.5", "2.0", "2.25"]}
COMPLEX = {"result": [4.0, -7.0]}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "answer", "metadata", "right", "wrong"),
    [
        (
            "coin_flip",
            "0.109375",
            {},
            ["0.109375", "7/64", "0.1094", ".109375"],
            ["0", "0.1", "0.11", "0.10938000001e1", "1e999999999", "nan", "0.1092", "1"],
        ),
        ("coin_flip", "3.051757812e-05", {}, ["1/32768", "0.00003052"], ["0", "0.0001", "3"]),
        (
            "complex_arithmetic",
            "4.0 - 7.0i",
            COMPLEX,
            ["4 - 7i", "4.0-7.0i"],
            ["nan", "NaN", "(nan)", "nan+nanj", "nan - 7i", "inf", "1e999", "4 + 7i"],
        ),
        (
            "number_sorting",
            "['-1.5', '2.0', '2.25']",
            SORTED,
            ["['-1.5', '2.0', '2.25']", "[-1.50, 2, 2.25]"],
            ["[NaN, NaN, NaN]", "['nan', 'nan', 'nan']", "[-1, 2, 3]", "[-1.5, 2, 2.3]", "[]", "2"],
        ),
        (
            "puzzle24",
            "(9 - 3 / 3) * 3",
            {"numbers": [9, 3, 3, 3]},
            ["(9 - 3/3)*3", "-(3/3 - 9) * 3"],
            ["(9 - 3/3)*3*1", "3*(9-3)+3", "(9 - 3//3)*3", "24", "9*3-3", "(9 - 3/x)*3"],
        ),
        (
            "puzzle24",
            "8 * 3",
            FOUR,
            [],
            ["8*3+3/9", "(E-E)*(8+3+3+9)+(E+E+E+E+E+E+E+E+E+E+E+E+E+E+E+E+E+E+E+E+E+E+E+E)/E"],
        ),
        (
            "countdown",
            "8 * 3 - 5",
            TARGET,
            ["8*3 - 5", "-5 + (3*8)"],
            ["(E-E)*(8+3+5)+(E+E+E+E+E+E+E+E+E+E+E+E+E+E+E+E+E+E+E)/E", "8+5+3+3", "19", "8*3-5-0"],
        ),
        ("countdown", "3", {"numbers": [1, 3, 300000], "target": 3}, [], ["3+1/300000"]),
        (
            "calendar_arithmetic",
            "-12",
            {"task": "count_days"},
            ["-12"],
            ["1", "7", "-11", "12", "0"],
        ),
        ("calendar_arithmetic", "12", {"task": "count_days"}, ["12", "012"], ["1", "11", "-12"]),
        ("polynomial_equations", "", {}, ['""', "''"], ["none", "I do not know", "x", "1.5", "[]"]),
        ("polynomial_equations", "-1.5, 2.0", {}, ["-1.5, 2.0"], ['""', "none"]),
        ("letter_jumble", "nan", {"original_words": ["nan"]}, ["nan"], ["inf"]),
    ],
)
def test_full_marks_are_for_the_truth_alone(
    sandbox: Sandbox,
    name: str,
    answer: str,
    metadata: dict[str, object],
    right: list[str],
    wrong: list[str],
) -> None:
    task = find_task(f"gym/{name}", TaskOptions(sandbox=sandbox))
    problem = Problem("", {"question": "", "answer": answer, "metadata": metadata})
    scores = task.score(problem, right + wrong)
    assert [s.failed for s in scores] == [None] * len(scores)
    assert [s.correct for s in scores] == [True] * len(right) + [False] * len(wrong)


@pytest.mark.slow
def test_part_of_the_truth_is_recorded_and_not_right(sandbox: Sandbox) -> None:
    task = find_task("gym/caesar_cipher", TaskOptions(sandbox=sandbox))
    [problem] = take(sandbox, "caesar_cipher", 1)
    truth = problem.truth["answer"]
    around, half = task.score(problem, [f"it is {truth} or not", truth[: len(truth) // 2]])
    assert 0.0 < around.components["partial"] < 1.0
    assert around.total == half.total == 0.0


@pytest.mark.slow
def test_what_json_would_change_comes_back(sandbox: Sandbox) -> None:
    task = find_task("gym/gsm_symbolic", TaskOptions(sandbox=sandbox))  # has fractions
    for problem in take(sandbox, "gsm_symbolic", 12):
        assert json.loads(json.dumps(problem.truth)) == problem.truth
        assert task.score(problem, [str(problem.worked)])[0].correct


@pytest.mark.slow
def test_difficulty_is_that_of_the_generator(sandbox: Sandbox) -> None:
    for problem in take(sandbox, "chain_sum", 5, min_terms="3", max_terms=3, max_digits=1):
        assert problem.truth["metadata"]["num_terms"] == 3
    for wrong in ({"terms": 3}, {"seed": 3}, {"min_terms": 9}, {"min_terms": "many"}):
        with pytest.raises(ConfigError, match="gym/chain_sum: no problem could be made"):
            take(sandbox, "chain_sum", 1, **wrong)


@pytest.mark.slow
def test_the_same_seed_gives_the_same_problems(sandbox: Sandbox) -> None:
    assert take(sandbox, "maze") == take(sandbox, "maze")


def test_without_reasoning_gym_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gym.importlib.util, "find_spec", lambda _: None)
    with pytest.raises(
        ConfigError, match=r"reasoning-gym; in the folder of vidya: pip install '.\[practice\]'"
    ):
        find_task("gym/maze")


def test_an_answer_that_is_too_much_for_its_scorer_is_wrong_and_a_lost_sandbox_is_a_failure() -> (
    None
):
    class Fake:
        def __init__(self, outcome: SandboxOutcome) -> None:
            self.outcome = outcome

        def map(self, jobs: list[object]) -> list[SandboxOutcome]:
            return [self.outcome for _ in jobs]

    problem, answer = Problem("", {"answer": "1"}), "<answer>9**9**9</answer>"
    for outcome, failed in (
        (SandboxOutcome(failure="timeout", busy=59.0), False),
        (SandboxOutcome(failure="memory"), False),
        (SandboxOutcome(failure="timeout", busy=1.0), True),
        (SandboxOutcome(failure="killed"), True),
    ):
        options = TaskOptions(sandbox=Fake(outcome))  # type: ignore[arg-type]
        [score] = find_task("gym/chain_sum", options).score(problem, [answer])
        assert (score.failed is not None, score.total) == (failed, 0.0)
