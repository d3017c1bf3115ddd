"""The critic of practice: waits until it foretells rewards, then blames the token that decided."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from torch import Tensor

from engine.errors import ConfigError
from engine.model import Model
from engine.tokenizers.tokenizer import Tokenizer
from learning.agents.value import ValueHead
from learning.memory.replay import Replay
from learning.objectives.grpo import GrpoAnswer
from learning.objectives.token_credit import Answered, trajectory
from learning.practice.critic import ReplyCritic, RolloutCritic
from learning.practice.settings import CriticSettings
from tests.learning.practice.test_trainer import rigged

PROMPT = (1, 2, 3)
FIRST, SECOND = (20, 21), range(30, 40)


def answers(count: int, seed: int, decides: int) -> list[Answered]:
    """Three tokens; the reward is 1 where the one of number `decides` is the higher of two."""
    rng, found = random.Random(seed), []
    for _ in range(count):
        tokens = [rng.choice(SECOND) for _ in range(3)]
        tokens[decides] = rng.choice(FIRST)
        one = GrpoAnswer(tuple(tokens), (-1.0,) * 3, 0.0)
        found.append(trajectory(PROMPT, one, [float(tokens[decides] == FIRST[1])]))
    return found


@pytest.mark.parametrize("decides", [0, 1])
def test_the_token_that_decides_gets_the_credit(tiny_model: Model, decides: int) -> None:
    critic = RolloutCritic(tiny_model, CriticSettings(answers=150, lam=0.0))
    critic.observe(answers(100, 1, decides))
    assert not critic.ready, "too few answers"
    critic.observe(answers(100, 2, decides))
    assert critic.ready and critic.explained > 0.3
    for one, (row,) in zip(
        answers(8, 3, decides), critic.credit()(answers(8, 3, decides)), strict=True
    ):
        sizes = row.abs().tolist()
        assert sizes.index(max(sizes)) == decides
        assert (float(row[decides]) > 0) == (one.total == 1.0)


def conversations(count: int, seed: int) -> list[Answered]:
    """Three replies of one token, one id of the partner between. The first reply decides the last reward; the
    partner's next word shows it; the second is paid by a coin."""
    rng, found = random.Random(seed), []
    for _ in range(count):
        first = rng.choice(FIRST)
        word = 50 if first == FIRST[1] else 51
        tokens = (first, word, rng.choice(SECOND), word, rng.choice(SECOND))
        own = (True, False, True, False, True)
        one = GrpoAnswer(tokens, (-1.0,) * 3, 0.0, own=own)
        end = 1.0 if first == FIRST[1] else -1.0
        found.append(trajectory(PROMPT, one, [0.0, rng.choice((1.0, -1.0)), end]))
    return found


def test_the_reply_that_decides_gets_the_credit(tiny_model: Model) -> None:
    settings = CriticSettings(answers=150, lam=0.0, explained=0.1)
    critic = ReplyCritic(tiny_model, settings)
    critic.observe(conversations(150, 1))
    critic.observe(conversations(100, 2))
    assert critic.ready
    talks = conversations(20, 3)
    for one, rows in zip(talks, critic.credit()(talks), strict=True):
        assert [len(row) for row in rows] == [1, 1, 1]
        assert (float(rows[0]) > 0) == (one.moves[-1].reward > 0)
        assert (float(rows[1]) > 0) == (one.moves[1].reward > 0), "a coin is what it is"
        assert abs(float(rows[2])) < 0.5 * abs(float(rows[0])), "the end was foretold"


def test_returns_are_discounted_from_reply_to_reply(
    tiny_model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    learned: list[list[float]] = []

    def learn(head: ValueHead, states: Tensor, returns: Tensor, keep: float) -> None:
        learned.append(returns.tolist())

    monkeypatch.setattr(ValueHead, "learn", learn)
    one = GrpoAnswer((20, 50, 30, 50, 31), (-1.0,) * 3, 0.0, own=(True, False, True, False, True))
    for gamma in (0.5, 1.0):
        settings = CriticSettings(answers=1, gamma=gamma)
        ReplyCritic(tiny_model, settings).observe([trajectory(PROMPT, one, [0.0, 1.0, -1.0])])
    # from behind: -1; 1 - 0.5; 0 + 0.25. Not discounted: -1; 0; 0
    assert learned == [[0.25, 0.5, -1.0], [0.0, 0.0, -1.0]]


@pytest.mark.parametrize("gamma", [0.0, 1.1, -0.5, float("nan")])
def test_a_discount_out_of_range_is_refused(gamma: float) -> None:
    with pytest.raises(ConfigError, match="gamma"):
        CriticSettings(gamma=gamma)


def test_what_cannot_be_foretold_is_not_used(tiny_model: Model) -> None:
    critic, rng = RolloutCritic(tiny_model, CriticSettings(answers=20)), random.Random(0)
    for seed in range(3):
        luck = [
            replace(one, moves=(replace(one.moves[0], reward=rng.random()),))
            for one in answers(40, seed, 0)
        ]
        critic.observe(luck)
    assert not critic.ready
    before = critic.head
    critic.observe([])
    critic.observe([replace(one, after=(1,)) for one in answers(3, 1, 0)])
    assert critic.head is before and critic.explained < 0.2


def test_practice_credits_tokens_once_the_value_is_good(
    tiny_model: Model, tiny_tokenizer: Tokenizer, replay: Replay, monkeypatch: pytest.MonkeyPatch
) -> None:
    rewards: list[list[float | None]] = [[1.0, 0.0], [1.0, 0.0], [1.0, 0.0], [1.0, 0.0]]
    session = rigged(tiny_model, tiny_tokenizer, replay, rewards)
    assert session.critic is None
    session.critic = RolloutCritic(tiny_model, CriticSettings(answers=5))
    seen: list[bool] = []
    update = session._update

    def heard(groups):  # type: ignore[no-untyped-def]
        seen.append(all(a.by_token is None for g in groups for a in g.answers))
        return update(groups)

    monkeypatch.setattr(session, "_update", heard)
    session.step()
    monkeypatch.setattr(RolloutCritic, "ready", True)
    session.step()
    assert seen == [True, False]
