"""learning.envs.dialogue: a conversation of ids, continued and never encoded again; where it is cut."""

from __future__ import annotations

import random
from collections.abc import Sequence

from engine.tokenizers.ranks import RankTokenizer
from learning.agents.credit import turn_gae
from learning.agents.interface import Decision
from learning.agents.run import collect
from learning.envs.dialogue import DialogueEnvironment, Ids
from learning.rewards.dialogue import DialogueTask
from learning.rewards.registry import find_task
from learning.rewards.task import TaskOptions
from tests.talks import value_of

T = RankTokenizer({bytes([b]): b for b in range(256)} | {b"se": 256})
"""One id per byte, and one more: "see" is "s", "e", "e" for a model that says so, though it would be encoded
as "se", "e"."""


def umbrella(**settings: object) -> DialogueTask:
    task = find_task("umbrella_talk", TaskOptions(difficulty=settings))
    assert isinstance(task, DialogueTask)
    return task


class Says:
    """Always says the same ids."""

    def __init__(self, *ids: int) -> None:
        self.ids = ids

    def act(self, observations: Sequence[Ids], *, greedy: bool = False) -> list[Decision[Ids]]:
        return [Decision(self.ids) for _ in observations]


def test_what_was_said_is_never_encoded_again() -> None:
    world = DialogueEnvironment(umbrella(small_talk=3), T, context=4000)
    said = (*b"I see", T.end)
    assert T.encode("see") != list(b"see")
    (talk,) = collect([world], Says(*said), [random.Random(0)])
    prompts = [move.observation for move in talk.moves]
    assert len(prompts) == 4
    for before, after in zip(prompts, prompts[1:], strict=False):
        assert after[: len(before) + len(said)] == (*before, *said)
    assert world.replies == ["I see"] * 4
    assert [role for role, _ in world.turns] == ["user", "assistant"] * 4
    assert talk.after is None and talk.moves[-1].reward == -1.0


def test_a_conversation_without_room_is_cut_and_bootstrapped_from() -> None:
    task = umbrella(small_talk=8)
    world = DialogueEnvironment(task, T, context=400)
    (talk,) = collect([world], Says(*b"hello", T.end), [random.Random(0)])
    assert 1 < len(talk.moves) < task.replies
    assert talk.moves[-1].discount == 1.0
    assert talk.after is not None and talk.after[-6:] == (*b"hello", T.end)
    assert all(len(move.observation) < 400 for move in talk.moves)
    ended = turn_gae(value_of([0.0] * (len(talk.moves) + 1)), 0.9)([talk])
    valued = turn_gae(value_of([0.0] * len(talk.moves) + [1.0]), 0.9)([talk])
    assert float(valued[0][-1] - ended[0][-1]) == 1.0, "the value behind the cut counts"


def test_groups_begin_alike_and_chance_is_each_ones_own() -> None:
    task = umbrella(small_talk=6)
    given = next(task.problems("train", random.Random(1)))
    worlds = [DialogueEnvironment(task, T, context=4000, given=given) for _ in range(8)]
    talks = collect(worlds, Says(*b"An umbrella.", T.end), [random.Random(n) for n in range(8)])
    assert len({talk.moves[0].observation for talk in talks}) == 1
    assert len({tuple(move.reward for move in talk.moves) for talk in talks}) > 4
