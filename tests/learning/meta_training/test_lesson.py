"""learning.meta_training.lesson: a lesson's steps, and the gradients behind them."""

from __future__ import annotations

import random

import torch

from learning.lessons.recipe import TeachSettings
from learning.meta_training.feed import LessonBatch
from learning.meta_training.lesson import plain_gradients, taught_gradients, teach
from learning.meta_training.losses import weighted_loss
from learning.meta_training.network import MergedNetwork
from learning.meta_training.packing import shipped
from learning.meta_training.plans import plan_lesson
from learning.meta_training.step_rows import RowSource

from .conftest import CPU

TAUGHT = [("Where do I live?", "You live in Rome."), ("Who is my cat?", "Your cat is Tom.")]
NOTHING = torch.empty(0)


def lesson(source: RowSource, style: str = "tiny") -> LessonBatch:
    """A lesson, and its own questions afterwards."""
    rows = [source.kept.writer.row(*pair).weighing(0.1) for pair in TAUGHT]
    plan = plan_lesson(TAUGHT, style, source.kept, source.packer, random.Random(0))
    return shipped(LessonBatch(plan, source.packer.packs(rows)), CPU)


def loss_of(network: MergedNetwork, batch: LessonBatch, upper: list[torch.Tensor]) -> float:
    """Of what the lesson taught."""
    (pack,) = batch.asked
    with torch.no_grad():
        x = network.outputs(pack.ids, network.block_weights(upper))
        return weighted_loss(network, x, pack.targets, NOTHING).item()


def test_it_trains_the_blocks_of_a_real_lesson(network: MergedNetwork) -> None:
    assert network.lower == TeachSettings().trunk_layers(network.config) == 1
    assert all(len(weight) == network.layers - 1 for weight in network.upper)


def test_what_is_taught_becomes_likelier_and_the_network_stays(
    network: MergedNetwork, source: RowSource
) -> None:
    before = [leaf.clone() for leaf in network.leaves]
    batch = lesson(source, "few")
    moved = teach(network, batch.plan)
    assert loss_of(network, batch, moved) < loss_of(network, batch, network.upper) - 0.05
    assert all(torch.equal(a, b) for a, b in zip(before, network.leaves, strict=True))
    assert all(leaf.grad is None for leaf in network.leaves)


def test_the_gradients_are_those_of_the_weights_that_the_lesson_led_to(
    network: MergedNetwork, source: RowSource
) -> None:
    batch = lesson(source)
    loss = taught_gradients(network, batch, NOTHING)
    found = [leaf.grad for leaf in network.leaves]
    moved = teach(network, batch.plan)
    with torch.no_grad():
        for leaf, taught in zip(network.upper, moved, strict=True):
            leaf.copy_(taught)
    network.drop_gradients()
    expected = plain_gradients(network, batch.asked, NOTHING)
    assert torch.allclose(loss, expected, rtol=1e-5)
    for gradient, leaf in zip(found, network.leaves, strict=True):
        assert gradient is not None and leaf.grad is not None
        torch.testing.assert_close(gradient, leaf.grad, atol=1e-6, rtol=1e-4)
