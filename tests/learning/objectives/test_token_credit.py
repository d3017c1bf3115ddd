"""Groups of scored answers credited token by token; whole answers as before, to the last bit."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor

from engine.model import Model
from learning.agents.credit import decayed, scaled, token_gae, turn_gae, whole_answer
from learning.agents.interface import Trajectory
from learning.maths.policy import centred_advantages, standardised_advantages
from learning.objectives.grpo import GrpoAnswer, GrpoGroup, GrpoSettings, grpo_gradients
from learning.objectives.token_credit import credited, trajectories

REWARDS = [[[1.0], [0.1], [0.3]], [[0.0], [0.7]]]


def answer(tokens: list[int], active: bool = True) -> GrpoAnswer:
    return GrpoAnswer(tuple(tokens), (-6.0,) * len(tokens), 0.0, active)


GROUPS = [
    GrpoGroup((1, 2, 3, 4), (answer([5, 6, 7]), answer([8]), answer([9, 10], active=False))),
    GrpoGroup((11, 12), (answer([13, 14, 15, 16, 17]), answer([18, 19]))),
]


def test_whole_answers_have_the_advantages_of_their_group_to_the_last_bit() -> None:
    found = credited(GROUPS, REWARDS, whole_answer(standardised_advantages))
    for group, rewards in zip(found, REWARDS, strict=True):
        wanted = standardised_advantages(torch.tensor(rewards, dtype=torch.float64).T)[0].tolist()
        assert [one.advantage for one in group.answers] == wanted
        assert [one.by_token for one in group.answers] == [None] * len(rewards)
    assert [replace(a, advantage=0.0) for g in found for a in g.answers] == [
        a for g in GROUPS for a in g.answers
    ]


def test_a_cut_answer_is_no_true_end() -> None:
    first, _, cut, *_ = trajectories(GROUPS, REWARDS)
    assert (first.moves[0].discount, first.after, first.group) == (0.0, None, 0)
    assert (cut.moves[0].discount, cut.after) == (1.0, (1, 2, 3, 4, 9, 10))
    assert (cut.total, cut.moves[0].decision.drawn and cut.moves[0].decision.drawn.ending) == (
        0.3,
        "length",
    )


def test_tokens_have_advantages_of_their_own(tiny_model: Model) -> None:
    found = credited(GROUPS, REWARDS, decayed(centred_advantages, half_life=1.0))
    group = found[1].answers
    assert group[1].by_token == pytest.approx((0.175, 0.35))
    assert group[0].advantages == pytest.approx([-0.35 * 0.5**n for n in (4, 3, 2, 1, 0)])
    whole = credited(GROUPS, REWARDS, whole_answer(centred_advantages))

    def gradient(groups: list[GrpoGroup]) -> tuple[float, Tensor]:
        tiny_model.zero_grad(set_to_none=True)
        report = grpo_gradients(
            tiny_model, groups, GrpoSettings(low=0.999, high=50.0, dual_clip=math.inf)
        )
        grad = tiny_model.blocks[0].ffn.down.weight.grad
        assert grad is not None
        return report.loss, grad.clone()

    same = [
        replace(g, answers=tuple(replace(a, by_token=a.advantages) for a in g.answers))
        for g in whole
    ]
    assert gradient(same)[0] == gradient(whole)[0]
    assert torch.equal(gradient(same)[1], gradient(whole)[1])
    assert not torch.allclose(gradient(found)[1], gradient(whole)[1])


def test_values_credit_tokens_too() -> None:
    def values(one: Trajectory[Any, Any]) -> list[Tensor]:
        drawn = one.moves[0].decision.drawn
        assert drawn is not None
        rising = torch.arange(len(drawn.tokens) + 1, dtype=torch.float64) / 10
        return [rising[:-1], rising[-1:]]

    found = credited(GROUPS, REWARDS, token_gae(values, 0.0))
    assert found[0].answers[0].by_token == pytest.approx((0.1, 0.1, 0.8))
    even = credited(GROUPS, REWARDS, scaled(token_gae(values, 0.0)))
    given = torch.tensor([x for g in even for a in g.answers for x in a.advantages])
    assert float(given.square().mean()) == pytest.approx(1.0)
    assert credited([], [], scaled(token_gae(values, 0.0))) == []


def test_a_conversation_is_a_move_for_each_reply() -> None:
    """Two replies, between them two ids of the partner; values 0.5 and 0.25, rewards 0 and 1, λ 0.9."""
    own = (True, True, False, False, True)
    talk = GrpoAnswer((5, 6, 7, 8, 9), (-1.0, -2.0, -3.0), 0.0, own=own)
    groups, rewards = [GrpoGroup((1, 2), (talk,))], [[[0.0, 1.0]]]
    (one,) = trajectories(groups, rewards)
    drawn = [move.decision.drawn for move in one.moves]
    assert [d and (d.prompt, d.tokens, d.logprobs) for d in drawn] == [
        ((1, 2), (5, 6), (-1.0, -2.0)),
        ((1, 2, 5, 6, 7, 8), (9,), (-3.0,)),
    ]
    assert [(move.reward, move.discount) for move in one.moves] == [(0.0, 1.0), (1.0, 0.0)]
    values = torch.tensor([0.5, 0.25, 9.0], dtype=torch.float64)
    ((credit,),) = (g.answers for g in credited(groups, rewards, turn_gae(lambda _: values, 0.9)))
    assert credit.by_token == pytest.approx((0.425, 0.425, 0.75)), "own tokens alone"
    assert groups[0].tokens == 3
