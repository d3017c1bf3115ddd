"""The contract of `Policy`, and of `Actor` where a policy has a gradient: every policy passes. Agents for
bandits choose for many runs at once, and have a contract of their own."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

import pytest
import torch
from torch import Tensor

from learning.agents.bandits import BanditAgent, GradientAgent, ThompsonAgent, ValueAgent
from learning.agents.interface import Decision
from learning.agents.language import IDS, LanguagePolicy, texts
from learning.agents.tables import EpsilonGreedy, SoftmaxTable
from tests.implementations import implementations
from tests.random_model import random_model, small_tokenizer

Made = tuple[Any, Sequence[Any], Callable[[Any, Decision[Any]], Tensor] | None]
"""(policy, three observations, the log-probability of a decision if the policy is an actor)."""


def softmax_table() -> Made:
    policy = SoftmaxTable(3, 4, random.Random(0))
    policy.preferences.copy_(torch.randn(3, 4, generator=torch.Generator().manual_seed(0)))
    return policy, [0, 2, 0], lambda s, made: policy.probabilities(s)[made.action].log()


def epsilon_greedy() -> Made:
    values = torch.tensor([[0.0, 1.0, 1.0], [2.0, 0.0, 1.0]])
    return EpsilonGreedy(values, random.Random(0), 0.5), [0, 1, 0], None


def language(form_of: Callable[[Any], Any], observations: Sequence[Any]) -> Callable[[], Made]:
    def make() -> Made:
        tokenizer = small_tokenizer()
        model, chance = random_model(tokenizer), torch.Generator().manual_seed(0)
        policy: LanguagePolicy[Any, Any] = LanguagePolicy(
            model,
            tokenizer,
            form_of(tokenizer),
            max_tokens=5,
            generator=chance,
            temperature=1.3,
        )
        return policy, observations, lambda _, made: policy.log_probabilities(made).sum()

    return make


POLICIES: dict[str, Callable[[], Made]] = {
    "SoftmaxTable": softmax_table,
    "EpsilonGreedy": epsilon_greedy,
    "LanguagePolicy, texts": language(lambda t: texts(t, 128), ["Hello!", "4 + 3?", "Hello!"]),
    "LanguagePolicy, ids": language(lambda _: IDS, [(1, 2), (5, 6, 7), (1, 2)]),
}
ACTORS = [name for name in POLICIES if name != "EpsilonGreedy"]


@pytest.mark.parametrize("greedy", [False, True])
@pytest.mark.parametrize("name", POLICIES)
def test_one_decision_for_each_observation(name: str, greedy: bool) -> None:
    policy, observations, _ = POLICIES[name]()
    assert policy.act([], greedy=greedy) == []
    for count in (1, 2, 3):
        decisions = policy.act(observations[:count], greedy=greedy)
        assert len(decisions) == count
        for one in decisions:
            if one.drawn is not None:
                assert len(one.drawn.tokens) == len(one.drawn.logprobs) == len(one.drawn.own) > 0
                assert all(logprob <= 0 for logprob in one.drawn.logprobs)


@pytest.mark.parametrize("name", POLICIES)
def test_greedy_decisions_are_always_the_same(name: str) -> None:
    policy, observations, _ = POLICIES[name]()
    first = policy.act(observations, greedy=True)
    assert first[0] == first[2], "the same observation, the same decision"
    policy.act(observations)
    assert policy.act(observations, greedy=True) == first
    again, _, _ = POLICIES[name]()
    assert again.act(observations, greedy=True) == first


@pytest.mark.parametrize("name", POLICIES)
def test_equal_chance_gives_equal_decisions(name: str) -> None:
    (one, observations, _), (other, _, _) = POLICIES[name](), POLICIES[name]()
    drawn = [one.act(observations) for _ in range(8)]
    assert drawn == [other.act(observations) for _ in range(8)]
    assert any(decisions != drawn[0] for decisions in drawn), "and chance there is"


@pytest.mark.parametrize("name", ACTORS)
def test_a_score_is_the_slope_of_the_log_probability(name: str) -> None:
    """Along any direction: (ln π(θ + εd) - ln π(θ - εd)) / 2ε = d · ∇ ln π."""
    policy, observations, log_probability = POLICIES[name]()
    assert log_probability is not None
    chance = torch.Generator().manual_seed(2)
    for observation, decision in zip(observations, policy.act(observations), strict=True):
        score = policy.score(observation, decision)
        assert [part.shape for part in score] == [part.shape for part in policy.parameters]
        steepest = torch.sqrt(sum((part.square().sum() for part in score), torch.zeros(())))
        for along in (score, [torch.randn(p.shape, generator=chance) for p in policy.parameters]):
            size = torch.sqrt(sum((part.square().sum() for part in along), torch.zeros(())))
            far = []
            for step in (0.01, -0.02, 0.01):
                for parameter, part in zip(policy.parameters, along, strict=True):
                    parameter.add_(part.to(parameter) / float(size), alpha=step)
                far.append(float(log_probability(observation, decision).detach()))
            found = (far[0] - far[1]) / 0.02
            wanted = float(sum((a * b).sum() for a, b in zip(score, along, strict=True)) / size)
            assert found == pytest.approx(wanted, abs=0.05 * float(steepest))


@pytest.mark.parametrize("name", ACTORS)
def test_a_score_is_linear_in_the_weights_of_tokens(name: str) -> None:
    policy, observations, _ = POLICIES[name]()
    (decision,) = policy.act(observations[:1])
    tokens = 1 if decision.drawn is None else len(decision.drawn.tokens)
    single = [policy.score(observations[0], decision, row) for row in torch.eye(tokens)]
    weights = torch.linspace(-1, 2, tokens)
    whole = policy.score(observations[0], decision, weights)
    plain = policy.score(observations[0], decision)
    for i, (weighted, even) in enumerate(zip(whole, plain, strict=True)):
        parts = [w * one[i] for w, one in zip(weights, single, strict=True)]
        torch.testing.assert_close(weighted.float(), torch.stack(parts).sum(0).float(), **NEAR)
        total = torch.stack([one[i] for one in single]).sum(0)
        torch.testing.assert_close(even.float(), total.float(), **NEAR)


NEAR: Any = {"atol": 1e-2, "rtol": 1e-2}
"""Products may be in bfloat16."""


def test_every_policy_is_tested() -> None:
    names = implementations({"act": "self, observations, greedy"})
    assert names == {name.split(",")[0] for name in POLICIES}
    actors = implementations({"score": "self, observation, decision, weights"})
    actors |= implementations({"score": "self, state, decision, weights"})
    assert actors == {name.split(",")[0] for name in ACTORS}


# ------------------------------------------------------------ agents for bandits

BANDITS: dict[str, Callable[[], BanditAgent]] = {
    "ValueAgent": lambda: ValueAgent(6, 4, epsilon=0.3),
    "ValueAgent, upper bounds": lambda: ValueAgent(6, 4, width=1.0),
    "GradientAgent": lambda: GradientAgent(6, 4, rate=0.1),
    "ThompsonAgent": lambda: ThompsonAgent(6, 4),
}


@pytest.mark.parametrize("name", BANDITS)
def test_a_bandit_agent_chooses_an_arm_for_each_run(name: str) -> None:
    agents = BANDITS[name](), BANDITS[name]()
    chances = [torch.Generator().manual_seed(4) for _ in agents]
    for step in range(10):
        one, other = (agent.choose(chance) for agent, chance in zip(agents, chances, strict=True))
        assert one.shape == (6,) and bool(((one >= 0) & (one < 4)).all())
        assert torch.equal(one, other), "equal chance, equal arms"
        for agent in agents:
            agent.learn(one, torch.full((6,), float(step)))


def test_every_bandit_agent_is_tested() -> None:
    names = implementations({"choose": "self, generator", "learn": "self, arms, rewards"})
    assert names == {name.split(",")[0] for name in BANDITS}
