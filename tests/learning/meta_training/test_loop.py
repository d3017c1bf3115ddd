"""learning.meta_training.loop: steps on A and B."""

from __future__ import annotations

import pytest
import torch

from learning.meta_training.feed import LessonBatch, OuterBatch
from learning.meta_training.loop import OuterLoop, OuterReport, rate_at
from learning.meta_training.losses import reference_of
from learning.meta_training.network import MergedNetwork
from learning.meta_training.packing import shipped
from learning.meta_training.settings import MetaSettings
from learning.meta_training.step_rows import RowSource

from .conftest import CPU


def loop_of(network: MergedNetwork, said: list[str] | None = None) -> OuterLoop:
    reference = torch.zeros(0, network.config.vocab_size)
    return OuterLoop(network, reference, MetaSettings(lr=2e-3), (said or []).append)


def batch_of(source: RowSource) -> OuterBatch:
    rows, packer = source.step(0, 0), source.packer
    (one,) = rows.lessons
    lessons = [LessonBatch(one.plan, packer.packs(one.asked[:12]))]
    return shipped(OuterBatch(lessons, packer.packs(rows.plain)), CPU)


def test_steps_on_a_batch_lower_its_loss(network: MergedNetwork, source: RowSource) -> None:
    loop, batch = loop_of(network), batch_of(source)
    base = [weight.clone() for weight in network.base]
    first, *_, last = [loop.step(batch).loss for _ in range(3)]
    assert loop.steps == 3 and last < first
    assert all(torch.equal(a, b) for a, b in zip(base, network.base, strict=True))


def test_rows_of_own_words_hold_the_network_where_it_is(
    network: MergedNetwork, source: RowSource
) -> None:
    reference, own = reference_of(network, source.kept.own)
    loop = OuterLoop(network, reference, MetaSettings(), print)
    packs = source.packer.packs([row.weighing(0.01) for row in own])
    done = loop.step(shipped(OuterBatch(batch_of(source).lessons, packs), CPU))
    assert done.plain < 1e-3 < done.taught


def test_a_step_whose_loss_is_not_finite_changes_nothing(
    network: MergedNetwork, source: RowSource
) -> None:
    loop, batch = loop_of(network), batch_of(source)
    before = [factor.clone() for factor in network.factors.all()]
    batch.plain[0].targets.weight.fill_(float("nan"))
    loop.step(batch)
    assert all(torch.equal(a, b) for a, b in zip(before, network.factors.all(), strict=True))


def test_where_the_loss_runs_away_it_goes_back(network: MergedNetwork) -> None:
    said: list[str] = []
    loop = loop_of(network, said)
    before = [factor.clone() for factor in network.factors.all()]
    loop.steps = 21
    loop._watch(OuterReport(1.0, 0.0, 1.0))
    with torch.no_grad():
        network.factors.all()[0].add_(1.0)
    loop._watch(OuterReport(50.0, 0.0, 1.0))
    assert all(torch.equal(a, b) for a, b in zip(before, network.factors.all(), strict=True))
    assert loop._share == pytest.approx(1 / 3)


def test_the_rate_rises_stays_and_falls() -> None:
    assert rate_at(0.0) == pytest.approx(0.02)
    assert rate_at(0.02) == pytest.approx(0.52)
    assert rate_at(0.3) == rate_at(0.54) == 1.0
    assert rate_at(0.775) == pytest.approx(0.5)
    assert rate_at(1.0) == rate_at(1.5) == 0.0
