"""learning.practice.warm_up: which worked answers it teaches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from engine.errors import ConfigError
from engine.model import Model
from engine.tokenizers.tokenizer import Tokenizer
from learning.memory.replay import Replay
from learning.practice.sampling.rollouts import RolloutSampler
from learning.practice.settings import PracticeSettings, WarmUpSettings
from learning.practice.supply.source import SingleSource
from learning.practice.trainer import GrpoTrainer
from learning.practice.warm_up import WarmUpReport
from tests.sums import Sums

WARM_UP = WarmUpSettings(batch=4, measured=2, measure_every=9, enough=1.0, steps=3)
SETTINGS = PracticeSettings(groups=2, group_size=2, max_tokens=8, held_out=4, warm_up=WARM_UP)


@pytest.fixture
def taught(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The prompts of the worked answers, as they are taught."""
    prompts: list[str] = []
    worked = RolloutSampler.worked

    def spied(self, model, problem, encode):  # type: ignore[no-untyped-def]
        prompts.append(problem.prompt)
        return worked(self, model, problem, encode)

    monkeypatch.setattr(RolloutSampler, "worked", spied)
    return prompts


def _warm_up(
    model: Model, tokenizer: Tokenizer, replay: Replay, examples: int, steps: int = 3
) -> None:
    settings = replace(SETTINGS, warm_up=replace(WARM_UP, examples=examples, steps=steps))
    trainer = GrpoTrainer(model, tokenizer, Sums(), replay, settings, seed=1)
    trainer.warm_up(lambda _: None, lambda: False)


def test_a_fixed_number_of_worked_answers_comes_again_and_again_in_turn(
    tiny_model: Model, tiny_tokenizer: Tokenizer, replay: Replay, taught: list[str]
) -> None:
    _warm_up(tiny_model, tiny_tokenizer, replay, examples=5)
    assert len(taught) == 12
    assert taught[5:10] == taught[:5] and taught[10:] == taught[:2]
    assert len(set(taught)) > 1


def test_without_a_number_they_are_new_in_every_step(
    tiny_model: Model, tiny_tokenizer: Tokenizer, replay: Replay, taught: list[str]
) -> None:
    _warm_up(tiny_model, tiny_tokenizer, replay, examples=0)
    assert len(taught) == 12 and taught[4:8] != taught[:4]


@pytest.mark.parametrize(
    ("rates", "measured", "steps"),
    [([0.0, 0.1, 0.8], [0, 3, 6], 6), ([0.0, 0.1, 0.2, 0.3], [0, 3, 6, 8], 8)],
)
def test_the_success_rate_is_measured_every_few_steps_and_at_the_last(
    rates: list[float],
    measured: list[int],
    steps: int,
    tiny_model: Model,
    tiny_tokenizer: Tokenizer,
    replay: Replay,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    coming = iter(rates)
    monkeypatch.setattr(SingleSource, "warmed", lambda *_: next(coming))
    reports, last = _watched(tiny_model, tiny_tokenizer, replay, lambda _: False)
    assert [one.step for one in reports if one.success is not None] == measured
    assert (last.step, last.success) == (steps, rates[-1])


def test_a_warm_up_that_is_stopped_returns_its_newest_figures(
    tiny_model: Model, tiny_tokenizer: Tokenizer, replay: Replay, monkeypatch: pytest.MonkeyPatch
) -> None:
    coming = iter([0.0, 0.1])
    monkeypatch.setattr(SingleSource, "warmed", lambda *_: next(coming))
    reports, last = _watched(tiny_model, tiny_tokenizer, replay, lambda told: len(told) > 5)
    assert (last.step, last.success, last.loss) == (5, 0.1, reports[-1].loss)


def _watched(
    model: Model,
    tokenizer: Tokenizer,
    replay: Replay,
    stop: Callable[[list[WarmUpReport]], bool],
) -> tuple[list[WarmUpReport], WarmUpReport]:
    """The reports of a warm-up that is measured every three steps of at most eight, and the last one."""
    own = replace(WARM_UP, measure_every=3, enough=0.8, steps=8)
    trainer = GrpoTrainer(model, tokenizer, Sums(), replay, replace(SETTINGS, warm_up=own))
    reports: list[WarmUpReport] = []
    return reports, trainer.warm_up(reports.append, lambda: stop(reports))


def test_a_number_below_zero_is_refused() -> None:
    with pytest.raises(ConfigError, match="examples"):
        WarmUpSettings(examples=-1)
