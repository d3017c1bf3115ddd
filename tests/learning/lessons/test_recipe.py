"""One lesson on a tiny model: what moves, what holds the rest, and when it ends."""

from __future__ import annotations

import copy
import random
from dataclasses import replace

import pytest
import torch

from engine.config import CONFIGS, ModelConfig
from engine.model import Model
from engine.tokenizers.tokenizer import Tokenizer
from learning.data.examples import Example, from_answer
from learning.lessons.recipe import TeachResult, TeachSettings, teach
from learning.memory.prefix_cache import PrefixCache
from learning.memory.reference import frozen_reference
from learning.memory.replay import Replay
from learning.memory.tasks import LessonTask
from learning.objectives.forward import knowledge, mean_loss
from learning.objectives.supervised import anchor_gradients

SETTINGS = TeachSettings(lr=3e-3, steps=20, repair=0)


@pytest.fixture
def replay(tiny_model: Model, tiny_tokenizer: Tokenizer) -> Replay:
    memory = [
        from_answer(tiny_tokenizer, [("user", f"Question {i}?")], f"Answer {i}.", 128)
        for i in range(12)
    ]
    talk = [Example((1, 2, 3, i, i + 7), (False, True, True, True, True)) for i in range(20, 30)]
    return Replay(tiny_model, memory[:8], memory[8:], talk)


@pytest.fixture
def task(tiny_tokenizer: Tokenizer) -> LessonTask:
    return LessonTask(from_answer(tiny_tokenizer, [("user", "Who sings?")], "The lark sings.", 128))


def taught(
    model: Model, task: LessonTask, replay: Replay, settings: TeachSettings
) -> tuple[Model, TeachResult]:
    """A copy after the lesson."""
    pupil = copy.deepcopy(model)
    trunk = PrefixCache(pupil, settings.trunk_layers(pupil.config))
    return pupil, teach(pupil, task, replay, settings, random.Random(0), trunk=trunk)


def test_a_lesson_moves_the_matrices_of_the_upper_blocks_alone(
    tiny_model: Model, task: LessonTask, replay: Replay
) -> None:
    pupil, result = taught(tiny_model, task, replay, SETTINGS)
    assert result.steps > 0
    before = tiny_model.state_dict()
    moved = {name for name, now in pupil.state_dict().items() if not torch.equal(now, before[name])}
    upper = f"blocks.{len(tiny_model.blocks) - 1}."
    matrices = {name for name, weight in before.items() if name.startswith(upper)}
    assert moved == {name for name in matrices if before[name].dim() == 2}


def test_it_ends_as_soon_as_the_answer_is_known_with_the_margin(
    tiny_model: Model, task: LessonTask, replay: Replay
) -> None:
    settings = replace(SETTINGS, steps=200, talk_weight=0.0)
    pupil, result = taught(tiny_model, task, replay, settings)
    assert result.known and 0 < result.steps < settings.steps
    assert knowledge(pupil, task.answers)[0].margin > settings.margin
    _, again = taught(pupil, task, replay, settings)
    assert (again.steps, again.known) == (0, True)


@pytest.mark.slow
def test_the_anchor_holds_the_talk(tiny_model: Model, task: LessonTask, replay: Replay) -> None:
    reference = frozen_reference(tiny_model)

    def drift(weight: float) -> float:
        """Nats a token, after steps that all are taken."""
        settings = replace(SETTINGS, talk_weight=weight, margin=100.0)
        return anchor_gradients(
            taught(tiny_model, task, replay, settings)[0], reference, replay.talk
        )

    assert drift(10.0) < 0.5 * drift(0.0)


@pytest.mark.slow
def test_what_is_replayed_is_learned_along(
    tiny_model: Model, task: LessonTask, replay: Replay
) -> None:
    settings = replace(SETTINGS, talk_weight=0.0, margin=100.0)

    def loss(memory: Replay) -> float:
        """Nats a token of all that is remembered."""
        pupil, _ = taught(tiny_model, task, memory, settings)
        return mean_loss(knowledge(pupil, replay.memory))

    alone = Replay(tiny_model, [], [], replay.talk)
    for part in (replay, replace(replay, book=[]), replace(replay, taught=[])):
        assert loss(part) < loss(alone) - 0.5


def test_a_large_model_moves_fewer_blocks() -> None:
    smollm2 = ModelConfig(
        vocab_size=49152, dim=576, layers=30, heads=9, kv_heads=3, hidden=1536, context=2048
    )
    frozen = TeachSettings().trunk_layers
    assert (frozen(CONFIGS["10m"]), frozen(CONFIGS["49m"]), frozen(smollm2)) == (3, 4, 28)
    assert TeachSettings(moving_of_large=1).trunk_layers(smollm2) == 29
