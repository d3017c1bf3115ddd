"""Problems that no answer solves are learned from their worked answers."""

from __future__ import annotations

import copy
import random
from dataclasses import replace

import pytest
import torch

from engine.errors import ConfigError
from engine.model import Model
from engine.rollout import Answered
from engine.tokenizers.tokenizer import Tokenizer
from learning.memory.replay import Replay
from learning.objectives.forward import knowledge
from learning.practice.sampling.rollouts import Drawn, RolloutSampler, Sample
from learning.practice.settings import PracticeSettings, UnsolvedSettings
from learning.practice.tags import as_text
from learning.practice.trainer import GrpoTrainer
from learning.practice.unsolved import UnsolvedProblems
from learning.rewards.asked import AskedTask
from learning.rewards.registry import find_task
from learning.rewards.task import Problem, Score
from tests.sums import Sums

SUM = Sums()
HARD, OTHER = (Problem(f"{a} + 4 =", a + 4, f"It is {a + 4}.", "sums", taught=True) for a in (3, 5))


def answers(problem: Problem, *right: bool | None) -> Drawn:
    """One group of answers, right, wrong, or not judged."""
    scores = [
        Score.failure("slow") if one is None else Score({"correct": float(one)}, float(one))
        for one in right
    ]
    answer = Answered(0, (5, 6), (-5.9, -5.9), "end")
    return Drawn(
        ((1, 2, 3),), (tuple(Sample(problem, answer, "It is 3.", s) for s in scores),), 2, 0.1
    )


@pytest.fixture
def roller(tiny_tokenizer: Tokenizer) -> RolloutSampler:
    return RolloutSampler(tiny_tokenizer, SUM, max_tokens=10)


def unsolved(roller: RolloutSampler, **settings: float) -> UnsolvedProblems:
    chosen = UnsolvedSettings(**settings)  # type: ignore[arg-type]
    return UnsolvedProblems(chosen, roller, random.Random(0))


def test_a_problem_is_unsolved_until_one_answer_is_right(roller: RolloutSampler) -> None:
    found = unsolved(roller)
    found.hear([answers(HARD, False, False), answers(OTHER, False, True)])
    assert len(found) == 1
    found.hear([answers(HARD, None, None), answers(OTHER, None, None)])
    assert len(found) == 1, "what could not be judged says nothing"
    found.hear([answers(OTHER, False, None), answers(HARD, False, True)])
    assert len(found) == 1, "the other one now"
    found.hear([answers(replace(HARD, taught=False), False, False)])
    assert len(found) == 1, "its task does not want it"


def test_arithmetic_wants_it_but_not_for_questions_of_the_models_own() -> None:
    task = find_task("chain_sum")
    assert next(iter(task.problems("train", random.Random(0)))).taught
    assert isinstance(task, AskedTask)
    asked = task.accept("What is 1 - 8?")
    assert asked is not None and not asked.taught
    assert not next(iter(find_task("syllogism").problems("train", random.Random(0)))).taught


def test_the_oldest_are_forgotten_and_nothing_is_kept_where_it_is_off(
    roller: RolloutSampler, tiny_model: Model
) -> None:
    few, off = unsolved(roller, rows=1, most=1), unsolved(roller, rows=0)
    for one in (few, off):
        one.hear([answers(HARD, False), answers(OTHER, False)])
    assert list(few._problems) == [OTHER.same] and len(off) == 0
    assert off.gradients(tiny_model) == 0.0
    assert all(part.grad is None for part in tiny_model.parameters())
    with pytest.raises(ConfigError, match="most"):
        UnsolvedSettings(rows=9, most=8)


def test_few_of_them_weigh_in_proportion(roller: RolloutSampler, tiny_model: Model) -> None:
    def loss(rows: int, weight: float) -> float:
        found = unsolved(roller, rows=rows, weight=weight)
        found.hear([answers(HARD, False)])
        return found.gradients(tiny_model)

    assert loss(4, 1.0) == pytest.approx(loss(1, 1.0) / 4)
    assert loss(1, 0.5) == pytest.approx(loss(1, 1.0) / 2)


class Mixed(Sums):
    """3 + 4 is never solved; of the answers to other problems every second one is right."""

    def score(self, problem: Problem, texts: object) -> list[Score]:
        hard = problem.prompt == HARD.prompt
        return [
            Score({"correct": right}, right)
            for right in (0.0 if hard else float(i % 2) for i, _ in enumerate(texts))  # type: ignore[arg-type, var-annotated]
        ]


def test_the_worked_answer_gets_likelier_beside_practice(
    tiny_model: Model, tiny_tokenizer: Tokenizer, replay: Replay
) -> None:
    def learned(rows: int) -> float:
        model = copy.deepcopy(tiny_model)
        settings = PracticeSettings(
            groups=2,
            group_size=2,
            max_tokens=4,
            updates=1,
            held_out=2,
            lr=2e-3,
            unsolved=UnsolvedSettings(rows=rows),
        )
        trainer = GrpoTrainer(model, tiny_tokenizer, Mixed(4, 4), replay, settings)
        trainer._unsolved.hear([answers(HARD, False)])
        worked = trainer.roller.worked(model, HARD, lambda text: as_text(tiny_tokenizer, text))
        assert worked is not None
        before = knowledge(model, [worked])[0].nll
        for _ in range(6):
            trainer.step()
        assert trainer.updates == 6
        return before - knowledge(model, [worked])[0].nll

    torch.manual_seed(0)
    assert learned(rows=4) > learned(rows=0) + 1.0
