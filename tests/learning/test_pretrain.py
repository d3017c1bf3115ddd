"""learning.pretrain: it learns, it resumes as if nothing had happened, its schedule has the shape."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from engine.config import CONFIGS
from engine.errors import ConfigError, NumericsError
from engine.model import Model
from engine.tokenizer import Tokenizer
from learning.corpus import Document
from learning.pretrain import (
    PretrainReport,
    PretrainSettings,
    accumulate,
    bits_per_byte,
    fresh_model,
    load_model,
    pretrain,
    schedule,
)
from learning.token_stream import TokenStream

T = Tokenizer({bytes([b]): b for b in range(256)})
CONFIG = replace(CONFIGS["tiny"], vocab_size=T.vocab_size)
DOCUMENTS = [
    Document("talk", (("user", f"What is {a}?"), ("assistant", f"It is {a}{a}.")))
    for a in "abcdefgh"
]
SETTINGS = PretrainSettings(tokens=12 * 256, row=64, rows=4, micro_rows=2, warm_up=0.1)


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    """Tiny products on two threads wait for each other longer than they compute."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def _stream() -> TokenStream:
    return TokenStream.of(DOCUMENTS, T, seed=3)


def _stop_after(steps: int) -> Callable[[], bool]:
    calls = iter(range(10_000))
    return lambda: next(calls) >= steps


def test_schedule_rises_holds_and_falls() -> None:
    values = [schedule(d, 0.1, 0.4) for d in (0.0, 0.05, 0.1, 0.5, 0.6, 0.8, 1.0, 1.2)]
    assert values == pytest.approx([0.0, 0.5, 1.0, 1.0, 1.0, 0.5, 0.0, 0.0])
    assert schedule(0.0, 0.0, 0.0) == schedule(1.0, 0.0, 0.0) == 1.0


@pytest.mark.parametrize(
    "fields", [{}, {"tokens": 5, "minutes": 1.0}, {"tokens": 5, "rows": 8, "micro_rows": 3}]
)
def test_contradictory_settings_are_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        PretrainSettings(**fields)


def test_it_learns() -> None:
    model = fresh_model(CONFIG, 0)
    before = bits_per_byte(model, T, DOCUMENTS)
    reports: list[PretrainReport] = []
    progress = pretrain(model, _stream(), replace(SETTINGS, tokens=60 * 256), report=reports.append)
    after = bits_per_byte(model, T, DOCUMENTS)
    assert after["talk"] == after["all"] < before["all"] / 2
    assert (progress.step, progress.tokens) == (60, 60 * 256)
    assert [r.step for r in reports] == [10, 20, 30, 40, 50, 60]
    assert reports[-1].loss < reports[0].loss
    assert reports[-1].done == 1.0


def test_bits_of_a_uniform_model() -> None:
    model = fresh_model(CONFIG, 0)
    with torch.no_grad():
        model.embedding.weight.zero_()
    bits = bits_per_byte(model, T, [Document("x", text="abcd")])
    # 4 bytes and the end are predicted, each at log2(V) bits, and charged to the 4 bytes
    expected = 5 / 4 * torch.log2(torch.tensor(float(T.vocab_size))).item()
    assert bits == {
        "x": pytest.approx(expected, rel=1e-4),
        "all": pytest.approx(expected, rel=1e-4),
    }


def test_micro_batches_do_not_change_loss_or_gradient() -> None:
    model = fresh_model(CONFIG, 0)
    batch = next(_stream().batches(4, 64))
    losses, gradients = [], []
    for micro in (1, 2, 4):
        settings = replace(SETTINGS, micro_rows=micro)
        losses.append(float(accumulate(model, *batch, settings)))
        parameters = list(model.parameters())
        gradients.append(torch.cat([g.flatten() for p in parameters if (g := p.grad) is not None]))
        model.zero_grad()
    assert losses == pytest.approx([losses[0]] * 3, rel=1e-3)
    for gradient in gradients[1:]:
        assert (gradient - gradients[0]).norm() < 0.03 * gradients[0].norm()


def test_resumed_equals_uninterrupted(tmp_path: Path) -> None:
    whole = fresh_model(CONFIG, 0)
    pretrain(whole, _stream(), SETTINGS)

    first = fresh_model(CONFIG, 0)
    stopped = pretrain(first, _stream(), SETTINGS, folder=tmp_path, stop=_stop_after(5))
    assert stopped.step == 5
    second = fresh_model(CONFIG, 99)  # its weights must come from the folder
    resumed = pretrain(second, _stream(), SETTINGS, folder=tmp_path)
    assert (resumed.step, resumed.tokens) == (12, 12 * 256)
    assert resumed.seconds > stopped.seconds
    for one, other in zip(whole.parameters(), second.parameters(), strict=True):
        torch.testing.assert_close(one, other, atol=1e-6, rtol=1e-5)
    assert not torch.equal(whole.embedding.weight, first.embedding.weight)


def test_a_finished_run_is_left_alone(tmp_path: Path) -> None:
    model = fresh_model(CONFIG, 0)
    pretrain(model, _stream(), replace(SETTINGS, tokens=2 * 256), folder=tmp_path)
    again = fresh_model(CONFIG, 1)
    progress = pretrain(again, _stream(), replace(SETTINGS, tokens=2 * 256), folder=tmp_path)
    assert progress.step == 2
    assert torch.equal(again.embedding.weight, model.embedding.weight)


def test_folder_holds_a_model_that_loads(tmp_path: Path) -> None:
    model = fresh_model(CONFIG, 0)
    pretrain(model, _stream(), replace(SETTINGS, tokens=2 * 256), folder=tmp_path)
    loaded: Model = load_model(tmp_path)
    expected = model.embedding.weight.to(torch.bfloat16).float()
    assert torch.equal(loaded.embedding.weight, expected)


def test_three_steps_without_a_number_end_the_run() -> None:
    model = fresh_model(CONFIG, 0)
    with torch.no_grad():
        model.norm.weight[0] = torch.nan
    untouched = model.embedding.weight.clone()
    with pytest.raises(NumericsError):
        pretrain(model, _stream(), SETTINGS)
    assert torch.equal(model.embedding.weight, untouched)
