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
from learning.rewards import gym
from learning.rewards.gym_names import GYM
from learning.rewards.sandbox import Sandbox
from learning.rewards.task import Problem, TaskOptions, find_task, tasks

SPEC = importlib.util.find_spec("reasoning_gym")
if SPEC is None or SPEC.origin is None:
    pytest.skip("needs the extra practice", allow_module_level=True)
PACKAGE = Path(SPEC.origin).parent

SOME = ["chain_sum", "syllogism", "maze", "countdown", "word_sorting", "caesar_cipher", "rearc"]
"""Of different kinds: default scorer, own scorers, data files, late imports."""
EVALUATES = ["binary_matrix", "number_sorting", "polynomial_multiplication", "puzzle24"]
"""Their scorers evaluate the answer."""


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


@pytest.mark.parametrize("name", SOME)
def test_problems_are_made_and_the_own_answer_is_right(sandbox: Sandbox, name: str) -> None:
    task = find_task(f"gym/{name}", TaskOptions(sandbox=sandbox))
    for problem in take(sandbox, name, 2):
        assert problem.worked is not None
        scores = task.score(problem, [problem.worked, "", "<answer></answer>", "nonsense"])
        assert [s.correct for s in scores] == [True, False, False, False]
        assert not any(s.failed for s in scores)
        assert scores[0].components["partial"] == 1.0


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


def test_part_of_the_truth_is_recorded_and_not_right(sandbox: Sandbox) -> None:
    task = find_task("gym/caesar_cipher", TaskOptions(sandbox=sandbox))
    [problem] = take(sandbox, "caesar_cipher", 1)
    truth = problem.truth["answer"]
    around, half = task.score(problem, [f"it is {truth} or not", truth[: len(truth) // 2]])
    assert 0.0 < around.components["partial"] < 1.0
    assert around.total == half.total == 0.0


def test_what_json_would_change_comes_back(sandbox: Sandbox) -> None:
    task = find_task("gym/gsm_symbolic", TaskOptions(sandbox=sandbox))  # has fractions
    for problem in take(sandbox, "gsm_symbolic", 12):
        assert json.loads(json.dumps(problem.truth)) == problem.truth
        assert task.score(problem, [str(problem.worked)])[0].correct


def test_difficulty_is_that_of_the_generator(sandbox: Sandbox) -> None:
    for problem in take(sandbox, "chain_sum", 5, min_terms="3", max_terms=3, max_digits=1):
        assert problem.truth["metadata"]["num_terms"] == 3
    for wrong in ({"terms": 3}, {"seed": 3}, {"min_terms": 9}, {"min_terms": "many"}):
        with pytest.raises(ConfigError, match="gym/chain_sum: no problem could be made"):
            take(sandbox, "chain_sum", 1, **wrong)


def test_the_same_seed_gives_the_same_problems(sandbox: Sandbox) -> None:
    assert take(sandbox, "maze") == take(sandbox, "maze")


def test_without_reasoning_gym_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gym.importlib.util, "find_spec", lambda _: None)
    with pytest.raises(ConfigError, match=r"reasoning-gym; pip install 'vidya\[practice\]'"):
        find_task("gym/maze")
