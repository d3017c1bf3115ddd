"""Runs of an agent in a world: what is recorded, where it ends, and what is bootstrapped from."""

from __future__ import annotations

import random
from collections.abc import Sequence

from learning.agents.interface import Decision, TimeStep, Trajectory
from learning.agents.run import collect, run
from learning.agents.tables import SoftmaxTable
from learning.envs.corridor import Corridor
from learning.envs.gridworld import two_jumps
from learning.envs.umbrella import UmbrellaChain


class Countdown:
    """Ends after as many steps as the generator says, 1 to 3; observes what is left."""

    def reset(self, rng: random.Random) -> TimeStep[int]:
        self.left = rng.randint(1, 3)
        return TimeStep(self.left)

    def step(self, action: int) -> TimeStep[int]:
        self.left -= 1
        ended = not self.left
        return TimeStep(self.left, float(action), 0.0 if ended else 0.5, ended)


class Counting:
    """Answers with the observation, and counts how often it was asked."""

    def __init__(self) -> None:
        self.asked: list[int] = []

    def act(self, observations: Sequence[int], *, greedy: bool = False) -> list[Decision[int]]:
        self.asked.append(len(observations))
        return [Decision(observation) for observation in observations]


class Recorder:
    def __init__(self) -> None:
        self.seen: list[Trajectory[int, int]] = []

    def learn(self, trajectories: Sequence[Trajectory[int, int]]) -> None:
        self.seen += trajectories


def test_moves_are_learned_one_by_one() -> None:
    recorder, policy = Recorder(), Counting()
    totals = run(Countdown(), policy, recorder, 30, random.Random(0))
    lengths = [0]
    for part in recorder.seen:
        (move,) = part.moves
        if part.begins:
            lengths.append(0)
        lengths[-1] += 1
        assert (part.after is None) == (move.discount == 0)
        if part.after is not None:
            assert part.after == move.observation - 1
    assert set(lengths[1:]) == {1, 2, 3}
    assert totals == [n * (n + 1) / 2 for n in lengths[1:]], "the sum of what was observed"


def test_a_cut_episode_leaves_a_state_to_bootstrap_from() -> None:
    recorder = Recorder()
    policy = SoftmaxTable(25, 4, random.Random(0))
    run(two_jumps(), policy, recorder, 2, random.Random(0), longest=5)
    assert len(recorder.seen) == 10
    assert [part.begins for part in recorder.seen] == [True, *[False] * 4] * 2
    assert all(part.after is not None for part in recorder.seen)
    (whole,) = collect([two_jumps()], policy, [random.Random(0)], longest=5)
    assert len(whole.moves) == 5
    assert whole.after is not None


def test_worlds_run_side_by_side() -> None:
    worlds, policy = [Countdown() for _ in range(20)], Counting()
    found = collect(worlds, policy, [random.Random(seed) for seed in range(20)], groups=range(20))
    alone = [
        collect([Countdown()], Counting(), [random.Random(seed)], groups=[seed])[0]
        for seed in range(20)
    ]
    assert found == alone
    assert policy.asked[0] == 20
    assert policy.asked == sorted(policy.asked, reverse=True), "only worlds that are not over"
    assert len(policy.asked) == 3


def test_equal_seeds_begin_alike() -> None:
    worlds = [UmbrellaChain(3) for _ in range(6)]
    policy = SoftmaxTable(16, 2, random.Random(0))
    found = collect(worlds, policy, [random.Random(4) for _ in worlds], groups=["a"] * 6)
    assert len({one.moves[0].observation for one in found}) == 1
    assert {one.group for one in found} == {"a"}
    assert Corridor.states == 1
