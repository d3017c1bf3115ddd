"""umbrella_talk: what pays, when, and what the partner tells of it."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from engine.errors import ConfigError
from learning.rewards.dialogue import DialogueTask
from learning.rewards.registry import find_task
from learning.rewards.task import Problem, TaskOptions
from learning.rewards.tasks.umbrella_talk import FITS, named
from tests.talks import play


def task(**settings: object) -> DialogueTask:
    found = find_task("umbrella_talk", TaskOptions(difficulty=settings))
    assert isinstance(found, DialogueTask)
    return found


def problems(one: DialogueTask, count: int) -> list[Problem]:
    supply = one.problems("train", random.Random(0))
    return [next(supply) for _ in range(count)]


def test_the_first_reply_alone_decides_the_end() -> None:
    one = task(small_talk=2)
    for problem in problems(one, 20):
        right = FITS[problem.truth]
        wrong = next(thing for thing in FITS.values() if thing != right)
        assert play(one, problem, [f"Take {right}!", "a hat", "an umbrella"]) == 1.0
        assert play(one, problem, [f"Take {wrong}.", right, right]) == 0.0
        assert play(one, problem, [f"{right} and {wrong}", "yes", "no"]) == 0.0, "no guessing"
        assert play(one, problem, [right, "yes"]) == 0.0, "it is not over"


def test_between_are_coins_and_the_end_comes_last() -> None:
    one, coins = task(small_talk=6), Counter[float]()
    problem = problems(one, 1)[0]
    for seed in range(100):
        partner = one.meet(problem, random.Random(seed))
        heard = [partner.hear(FITS[problem.truth]) for _ in range(one.replies)]
        assert [turn.over for turn in heard] == [False] * 6 + [True]
        assert heard[-1].reward == 1.0
        coins.update(turn.reward for turn in heard[:-1])
    assert set(coins) == {1.0, -1.0} and abs(coins[1.0] - 300) < 60


@pytest.mark.parametrize("partner", ["quiet", "reminds", "reacts"])
def test_what_the_partner_tells(partner: str) -> None:
    one = task(small_talk=3, partner=partner)
    for problem in problems(one, 10):
        for advice in ("an umbrella", "a hat", "what?"):
            heard = one.meet(problem, random.Random(1))
            said = [heard.hear(advice).says for _ in range(3)]
            for text in said:
                assert (f"It will {problem.truth} and I have" in text) == (partner != "quiet")
                assert named(text) == ([] if partner == "quiet" else named(advice))
                liked = FITS[problem.truth] == advice
                assert ("Good!" in text) == (partner == "reacts" and liked)
                assert ("Really?" in text) == (partner == "reacts" and not liked)


def test_worked_answers_show_the_form_and_advise_at_random() -> None:
    one = task()
    found = problems(one, 200)
    right = [play(one, p, (p.worked or "").splitlines()) for p in found]
    assert 0.4 < sum(right) / len(right) < 0.6
    turns = one.worked_turns(found[0])
    assert [role for role, _ in turns] == ["user", "assistant"] * 7


def test_settings_out_of_range_are_told() -> None:
    for wrong in ({"small_talk": -1}, {"weathers": 5}, {"partner": "shouts"}, {"talk": 1}):
        with pytest.raises(ConfigError, match="umbrella_talk"):
            task(**wrong)
