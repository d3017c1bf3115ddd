"""The contract of `Task`: every task of the registry passes, and whatever wraps a task.

A task that is added to the registry is tested without a further line where it makes its own problems;
one that reads a published set needs a row in `ROWS`.
"""

from __future__ import annotations

import itertools
import json
import os
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from benchmarks.common.processes import descendants
from benchmarks.likes.credit_rewards import OneWord
from engine.config import CONFIGS
from engine.model import Model
from engine.storage.checkpoint import save_model
from engine.tokenizers.tokenizer import Tokenizer
from learning.journal.journal import Journal
from learning.practice.background import BackgroundScorer
from learning.practice.supply.mixture import TaskMixture
from learning.rewards.dialogue import DialogueTask
from learning.rewards.registry import TASTE, find_task, tasks
from learning.rewards.task import Problem, Score, Split, Task, TaskOptions
from tests.implementations import implementations
from tests.learning.rewards.tasks import test_data_sets as published
from tests.sums import EasySums, Sums
from tests.tastes import taste_task

ROWS: dict[str, dict[str, Any]] = {
    "gsm8k": published.GSM8K,
    "tool_gsm8k": published.GSM8K,
    "svamp": published.SVAMP,
    "math": published.MATH,
    "triviaqa": published.TRIVIA,
    "humaneval": published.HUMANEVAL,
    "mbpp": published.MBPP,
}
"""A row of each published set."""
QUESTION = ("question", "Body", "problem", "prompt", "text")
"""The field of a row, whichever it has, that makes one problem differ from another."""
GYM = ["gym/chain_sum", "gym/word_sorting"]
"""Of the hundred that one module serves: with the default scorer, and with its own."""
SLOW = {"humaneval", "mbpp", "tool_sums", "tool_gsm8k", *GYM}
"""They start a sandbox."""
MIXED = ("chain_sum", "syllogism")
OTHERS: dict[str, Callable[[], Task]] = {
    "BackgroundScorer": lambda: BackgroundScorer(find_task("chain_sum"), lambda: None),
    "OneWord": lambda: OneWord(early=True),
    "TaskMixture": lambda: TaskMixture({name: find_task(name) for name in MIXED}),
    "Sums": Sums,
    "EasySums": EasySums,
}
"""What is no task of the registry: a wrapper, a benchmark's, and the tasks of other tests."""
ONE_PROMPT = "AskingTask"
"""It has one prompt, an invitation, so nothing of it can be held out; its test has what else is here."""
OWN = [name for name in tasks() if not name.startswith("gym/")]
HOSTILE = [
    "",
    " \n\t",
    "\x00",
    "\ud800",
    "<answer>",
    "</answer><answer>" * 500,
    "<answer>nan</answer>",
    "<answer>9**9**9**9</answer>",
    "<answer>" + "(" * 5_000,
    "9" * 20_000,
]
"""Texts that a model can produce and a scorer can stumble over; none is an answer."""


def marked(name: str) -> Any:
    return pytest.param(name, marks=[pytest.mark.slow] if name in SLOW else [])


def variants(row: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The row thirty times, with another question each time."""
    key = next(key for key in QUESTION if key in row)
    for number in range(30):
        asked = f"{row[key]}\n# {number}\n" if key == "prompt" else f"{row[key]} (No. {number})"
        yield row | {key: asked, "task_id": number}


NO_TRUTH = {TASTE}
"""Tasks without right answers: they have no worked ones."""


@pytest.fixture(scope="module", params=[marked(name) for name in (*OWN, *GYM, *OTHERS)])
def task(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Task]:
    name = request.param
    if name in OTHERS:
        made = OTHERS[name]()
    elif name == TASTE:
        made = tasted(tmp_path_factory.mktemp(name), request.getfixturevalue("tiny_tokenizer"))
    elif name in ROWS:
        rows = tmp_path_factory.mktemp(name) / "rows.jsonl"
        rows.write_text("\n".join(json.dumps(row) for row in variants(ROWS[name])), "utf-8")
        made = find_task(name, TaskOptions(data=rows))
    else:
        if name in GYM:
            pytest.importorskip("reasoning_gym")
        made = find_task(name)
    yield made
    made.close()


def tasted(folder: Path, tokenizer: Tokenizer) -> Task:
    """The task `taste` of a tiny model and an owner who likes being asked back."""
    config = replace(CONFIGS["tiny"], vocab_size=tokenizer.vocab_size)
    model = Model(config, generator=torch.Generator().manual_seed(0))
    save_model(model, folder, dtype=torch.float32)
    return taste_task(folder, Journal(folder / "journal.db"), model, tokenizer)


def take(task: Task, split: Split, count: int, seed: int = 0) -> list[Problem]:
    return list(itertools.islice(task.problems(split, random.Random(seed)), count))


def solved(task: Task) -> Problem:
    """The first problem whose worked answer is right, or the first if nothing is right or wrong. Where worked
    answers show the form alone, some are right by chance."""
    problems = take(task, "train", 40)
    if task.name in NO_TRUTH:
        return problems[0]
    return next(p for p in problems if task.score(p, [p.worked or ""])[0].correct)


def test_every_implementation_is_here() -> None:
    methods = {
        "problems": "self, split: Split, rng: random.Random",
        "score": "self, problem: Problem, answers: Sequence[str]",
    }
    through_the_registry = {"VerifiedTask", "AskedTask", "TasteTask", "DialogueTask", "ToolTask"}
    assert implementations(methods) <= through_the_registry | set(OTHERS) | {ONE_PROMPT}


def test_every_task_of_a_published_set_has_a_row() -> None:
    import learning.rewards.registry as registry

    sets = {name for name, (by, _) in registry._TASKS.items() if by == registry._PUBLISHED}
    assert sets <= set(ROWS), f"give a row of ROWS to {sets - set(ROWS)}"


def test_it_has_its_name_and_one_line(task: Task) -> None:
    assert task.name
    assert task.describe().strip() and "\n" not in task.describe()
    if task.name in tasks():
        assert task.describe() == tasks()[task.name]


def test_problems_are_of_their_split_and_the_splits_share_none(task: Task) -> None:
    train, held_out = take(task, "train", 40), take(task, "held_out", 40)
    assert {problem.split for problem in train} == {"train"}
    assert {problem.split for problem in held_out} == {"held_out"}
    assert not {problem.prompt for problem in train} & {problem.prompt for problem in held_out}


def test_training_problems_never_end_and_held_out_ones_come_once(task: Task) -> None:
    assert len(take(task, "train", 60)) == 60
    held_out = [problem.prompt for problem in take(task, "held_out", 60)]
    assert held_out and len(set(held_out)) == len(held_out)


def test_the_same_dice_give_the_same_problems(task: Task) -> None:
    splits: Sequence[Split] = ("train", "held_out")
    for split in splits:
        assert take(task, split, 8, seed=3) == take(task, split, 8, seed=3)
    assert take(task, "train", 20, seed=3) != take(task, "train", 20, seed=4)


def test_a_truth_goes_through_json_and_is_the_same(task: Task) -> None:
    for problem in take(task, "train", 3):
        again = replace(problem, truth=json.loads(json.dumps(problem.truth)))
        [first] = task.score(problem, [worked(task, problem)])
        [second] = task.score(again, [worked(task, problem)])
        assert first == second


def test_the_worked_answer_is_right_and_gets_more_than_any_wrong_one(task: Task) -> None:
    if isinstance(task, OneWord | DialogueTask):
        pytest.skip("its worked answers show the form alone: what is paid has to be found")
    if task.name in NO_TRUTH:
        pytest.skip("nothing is right or wrong in it")
    for problem in take(task, "train", 3):
        assert problem.prompt.strip() and problem.worked
        score, wrong = task.score(problem, [problem.worked, "nonsense"])
        assert score.correct and score.failed is None
        assert score.total > 0.9 > wrong.total


def worked(task: Task, problem: Problem) -> str:
    """A worked answer; where there is no right one, any."""
    if task.name in NO_TRUTH:
        return "And you?"
    assert problem.worked
    return problem.worked


def in_order(score: Score, truth: bool = True) -> None:
    assert ("correct" in score.components) is truth
    assert all(0.0 <= value <= 1.0 for value in score.components.values())
    assert 0.0 <= score.total <= 1.0
    assert score.failed is None or score.total == 0.0


def test_any_text_gets_a_score_and_none_of_these_is_right(task: Task) -> None:
    [problem] = take(task, "train", 1)
    scores = task.score(problem, HOSTILE)
    assert len(scores) == len(HOSTILE)
    for score in scores:
        in_order(score, task.name not in NO_TRUTH)
    if not isinstance(task, EasySums):  # which takes any number
        assert not any(score.correct for score in scores)
        assert scores[0].total == 0.0


def test_scores_come_in_order_and_do_not_depend_on_the_neighbours(task: Task) -> None:
    problem = solved(task)
    right = worked(task, problem)
    answers = ["", right, "nonsense", right]
    together = task.score(problem, answers)
    assert together == [task.score(problem, [answer])[0] for answer in answers]
    if task.name not in NO_TRUTH:
        assert [score.correct for score in together] == [False, True, False, True]
    assert task.score(problem, []) == []


def test_scoring_changes_no_problem(task: Task) -> None:
    [problem] = take(task, "train", 1)
    before = json.dumps(problem.truth)
    task.score(problem, [problem.worked or "", ""])
    assert json.dumps(problem.truth) == before


def test_a_close_ends_its_processes_and_it_may_be_used_again(task: Task) -> None:
    problem = solved(task)
    before = descendants(os.getpid())
    task.close()
    task.close()
    assert descendants(os.getpid()) <= before
    [score] = task.score(problem, [worked(task, problem)])
    assert score.correct or task.name in NO_TRUTH
    task.close()


def test_two_iterators_at_once_take_nothing_from_each_other(task: Task) -> None:
    first, second = (task.problems("train", random.Random(5)) for _ in range(2))
    pairs = [(next(first), next(second)) for _ in range(10)]
    assert all(one == other for one, other in pairs)
