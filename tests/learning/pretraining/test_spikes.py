"""learning.pretraining.spikes: skips single steps with a far higher loss, but not a lasting rise."""

from __future__ import annotations

import math
import random

import pytest

from learning.pretraining.spikes import Running, Spikes


def _settled(threshold: float = 6.0) -> Spikes:
    rng = random.Random(0)
    spikes = Spikes(threshold)
    for _ in range(200):
        assert spikes.accept(rng.gauss(3.0, 0.1), math.exp(rng.gauss(0.0, 0.2)))
    return spikes


def test_running_statistics_by_hand() -> None:
    running = Running()
    for value in (1.0, 3.0, 5.0):
        running.add(value, memory=100)
    assert running.mean == pytest.approx(3.0)
    assert running.variance == pytest.approx(8 / 3)
    assert running.above(3.0 + 2 * math.sqrt(8 / 3), floor=0.1) == pytest.approx(2.0)
    running.add(7.0, memory=2)  # weight 1/2: mean 5, variance (8/3 + 4²/2) / 2
    assert (running.mean, running.variance) == (pytest.approx(5.0), pytest.approx(16 / 3))


@pytest.mark.parametrize(("loss", "norm"), [(4.5, 1.0), (3.0, 30.0), (9.0, 500.0)])
def test_a_spike_is_refused_and_forgotten(loss: float, norm: float) -> None:
    spikes = _settled()
    before = (spikes.loss.mean, spikes.norm.mean)
    assert not spikes.accept(loss, norm)
    assert (spikes.loss.mean, spikes.norm.mean) == before
    assert spikes.accept(3.0, 1.0)


@pytest.mark.parametrize(("loss", "norm"), [(3.2, 1.0), (3.0, 1.6), (1.0, 0.01)])
def test_the_usual_and_the_good_are_taken(loss: float, norm: float) -> None:
    assert _settled().accept(loss, norm)


def test_first_steps_are_always_taken() -> None:
    spikes = Spikes()
    assert all(spikes.accept(loss, 1.0) for loss in (9.0, 2.0, 8.0, 100.0))


def test_a_lasting_change_is_taken_after_a_few_refusals() -> None:
    spikes = _settled()
    taken = [spikes.accept(6.0, 1.0) for _ in range(60)]
    assert taken[:6] == [False] * 5 + [True]
    assert all(taken[-20:])


def test_nothing_is_a_spike_when_switched_off_but_what_is_not_finite() -> None:
    spikes = _settled(0.0)
    assert spikes.accept(50.0, 1e6)
    for broken in ((math.nan, 1.0), (3.0, math.inf)):
        assert not spikes.accept(*broken)
    assert spikes.broken == 2
    assert spikes.accept(3.0, 1.0) and spikes.broken == 0
