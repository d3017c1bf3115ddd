"""Credit: advantages a token, against numbers worked out by hand."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from engine.errors import ShapeError
from learning.agents.credit import decayed, token_gae, turn_gae, whole_answer
from learning.agents.interface import Decision, DrawnTokens, Move, Trajectory
from learning.maths.policy import centred_advantages


def move(reward: float, discount: float, own: tuple[bool, ...]) -> Move[str, str]:
    count = len(own)
    drawn = DrawnTokens((1,), tuple(range(count)), (0.0,) * count, own)
    return Move("?", Decision("!", drawn), reward, discount)


def talk(
    *moves: Move[str, str], group: Any = None, after: str | None = None
) -> Trajectory[str, str]:
    return Trajectory(moves, group, after)


def numbers(found: list[list[Tensor]]) -> list[list[list[float]]]:
    return [[pytest.approx(row.tolist()) for row in rows] for rows in found]


PAIR = [
    talk(move(0, 1, (True,) * 3), move(1, 0, (True, False, True)), group="a"),
    talk(move(0, 0, (True, True)), group="a"),
    talk(move(5, 0, (True,)), group="b"),
]


def test_a_whole_answer_shares_its_advantage() -> None:
    found = whole_answer(centred_advantages)(PAIR)
    assert numbers(found) == [[[0.5] * 3, [0.5, 0, 0.5]], [[-0.5, -0.5]], [[0.0]]]


def test_half_lives_count_own_tokens_back_from_the_end() -> None:
    found = decayed(centred_advantages, half_life=1.0)(PAIR)
    assert numbers(found) == [
        [[0.5 / 16, 0.5 / 8, 0.5 / 4], [0.5 / 2, 0, 0.5]],
        [[-0.25, -0.5]],
        [[0.0]],
    ]
    with pytest.raises(ShapeError, match="half_life is 0"):
        decayed(centred_advantages, 0)


def test_turns_get_generalised_advantages() -> None:
    """Values 0.5 and 0.25, rewards 0 and 1, λ 0.9: errors -0.25 and 0.75."""
    ended = talk(move(0, 1, (True, True)), move(1, 0, (True,)))
    values = torch.tensor([0.5, 0.25, 9.0], dtype=torch.float64)
    assert numbers(turn_gae(lambda _: values, 0.9)([ended])) == [[[0.425, 0.425], [0.75]]]
    cut = talk(move(0, 1, (True,)), move(0, 1, (True,)), after="..")
    values = torch.tensor([0.5, 0.25, 0.4], dtype=torch.float64)
    assert numbers(turn_gae(lambda _: values, 0.9)([cut])) == [[[-0.115], [0.15]]]


def test_tokens_get_generalised_advantages() -> None:
    one = talk(move(0, 1, (True, False)), move(1, 0, (True,)))

    def values(_: Trajectory[Any, Any]) -> list[Tensor]:
        return [torch.tensor(part, dtype=torch.float64) for part in ([0.5, 0.5], [0.25], [9.0])]

    # errors 0, -0.25, 0.75; from behind 0.75, -0.25 + 0.675 = 0.425, 0 + 0.3825
    found = token_gae(values, 0.9)([one])
    assert numbers(found) == [[[0.3825, 0.0], [0.75]]], "the second token is not its own"


def test_a_later_turn_counts_less_the_more_it_is_discounted() -> None:
    ended = talk(move(0, 1, (True, False)), move(1, 0, (True,)))
    cut = talk(move(0, 1, (True,)), move(0, 1, (True,)), after="..")

    def turns(*values: float) -> Any:
        return turn_gae(lambda _: torch.tensor(values, dtype=torch.float64), 0.9, 0.5)

    # errors 0.5 * 0.25 - 0.5 = -0.375 and 1 - 0.25 = 0.75; -0.375 + 0.5 * 0.9 * 0.75 = -0.0375
    assert numbers(turns(0.5, 0.25, 9.0)([ended])) == [[[-0.0375, 0.0], [0.75]]]
    # errors -0.375 and 0.5 * 0.4 - 0.25 = -0.05; -0.375 + 0.45 * -0.05 = -0.3975
    assert numbers(turns(0.5, 0.25, 0.4)([cut])) == [[[-0.3975], [-0.05]]]

    def values(_: Trajectory[Any, Any]) -> list[Tensor]:
        return [torch.tensor(part, dtype=torch.float64) for part in ([0.5, 0.5], [0.25], [9.0])]

    # errors 0, -0.375, 0.75; between tokens nothing is discounted: 0 + 0.9 * -0.0375 = -0.03375
    assert numbers(token_gae(values, 0.9, 0.5)([ended])) == [[[-0.03375, 0.0], [0.75]]]


def test_no_trajectories_no_credit() -> None:
    assert whole_answer()([]) == []
