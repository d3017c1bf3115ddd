"""The task `taste`: refused without a taste, paid by the reward model, on the owner's messages and others."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from itertools import islice

import pytest

from engine.errors import ConfigError
from engine.model import Model
from engine.tokenizers.tokenizer import Tokenizer
from learning.rewards.owner import first_messages
from learning.rewards.registry import find_task
from learning.rewards.reward_keeper import RewardError
from learning.rewards.task import Problem, RewardWeights, TaskOptions
from learning.rewards.tasks.taste import TasteTask
from tests.learning.conftest import Place, made_place
from tests.picks import ask, fill
from tests.random_model import random_model
from tests.tastes import MADE_UP, taste_task

Make = Callable[..., TasteTask]


@pytest.fixture(scope="module")
def trained(
    tmp_path_factory: pytest.TempPathFactory, tiny_tokenizer: Tokenizer
) -> Iterator[TasteTask]:
    """The task after 150 picks, for tests that only read it."""
    model = random_model(tiny_tokenizer)
    with made_place(tmp_path_factory.mktemp("taste"), model, tiny_tokenizer) as (
        _,
        folder,
        journal,
    ):
        yield taste_task(folder, journal, model, tiny_tokenizer)


@pytest.fixture
def make(tiny_place: Place, tiny_model: Model, tiny_tokenizer: Tokenizer) -> Make:
    """Makes the task after `picks` more picks."""
    _, folder, journal = tiny_place

    def task(picks: int = 150, weights: RewardWeights = RewardWeights()) -> TasteTask:  # noqa: B008
        return taste_task(folder, journal, tiny_model, tiny_tokenizer, picks, weights)

    return task


def test_below_thirty_picks_it_is_refused(make: Make) -> None:
    with pytest.raises(RewardError, match="29 of the 30 picks"):
        make(29)


def test_a_taste_no_better_than_chance_is_refused(make: Make, tiny_place: Place) -> None:
    fill(tiny_place[2], 30, flipped=True, seed=1)
    with pytest.raises(RewardError, match="no better than chance"):
        make(30)


def test_it_needs_an_owner_and_takes_no_settings(make: Make) -> None:
    with pytest.raises(ConfigError, match="needs an owner"):
        find_task("taste")
    with pytest.raises(ConfigError, match="no setting 'most'"):
        find_task("taste", TaskOptions(difficulty={"most": 3}))


def test_what_the_owner_likes_is_paid(trained: TasteTask) -> None:
    asks, tells, empty = trained.score(
        Problem("Tell me of the moon.", None), ["And you?", "Yes.", " "]
    )
    assert asks.total > tells.total > empty.total == 0.0
    assert asks.correct is None and asks.success and not tells.success
    assert asks.components["taste"] == asks.total, "length is only recorded"


def test_the_same_answer_is_paid_the_same_to_the_last_digit(trained: TasteTask) -> None:
    problem = next(trained.problems("train", random.Random(0)))
    answers = ["Well, I am not sure of it at all.", "Yes.", "Yes.", "No, what about you?", "Yes."]
    totals = [score.total for score in trained.score(problem, answers)]
    assert totals[1] == totals[2] == totals[4] and len(set(totals)) > 1


def test_length_is_paid_where_it_is_asked_for(make: Make) -> None:
    task = make(weights=RewardWeights(length=0.5, format=0.0))
    start = task.starting()
    long = "a " * (start.longest + 1)
    [score] = task.score(Problem("hello", None), [long])
    assert score.components["length"] == 0.0
    assert score.total == pytest.approx(score.components["taste"] / 1.5)


def test_its_start_is_measured_once(make: Make, tiny_model: Model) -> None:
    task = make()
    before = task.starting()
    for weight in tiny_model.parameters():
        weight.data.mul_(1.5)
    assert task.starting() is before


def test_problems_are_the_owners_messages_and_made_up_ones(make: Make, tiny_place: Place) -> None:
    _, _, journal = tiny_place
    task = make()
    ask(journal, "x" * 500, ["Yes."])
    drawn = list(islice(task.problems("train", random.Random(0)), 400))
    sources = {problem.source for problem in drawn}
    assert sources == {"your messages", "made up"}
    share = sum(problem.source == "made up" for problem in drawn) / len(drawn)
    assert 0.4 < share < 0.6
    assert {one.prompt for one in drawn} <= {*first_messages(journal), *MADE_UP}
    assert max(len(one.prompt) for one in drawn) <= 200
    held_out = list(task.problems("held_out", random.Random(0)))
    assert {one.source for one in held_out[:2]} == sources, "in turn"


def test_heads_disagree_somewhere(trained: TasteTask) -> None:
    rows = [("Tell me of the sea.", "Yes."), ("What is it?", "And you?")]
    assert trained.disagreement(rows) > 0.0
    assert trained.disagreement([]) == 0.0


def test_the_heads_disagree_about_pairs(trained: TasteTask) -> None:
    assert trained.dispute("Tell me of the sea.", ["Yes.", "And you?", "I am well."]) > 0.0
    assert trained.dispute("Tell me of the sea.", ["Yes."]) == 0.0
    same = trained.dispute("Tell me of the sea.", ["Yes.", "Yes."])
    assert same == pytest.approx(0.0, abs=1e-5)
