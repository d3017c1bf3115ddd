"""learning.pretraining.loop: it learns, it resumes as if nothing had happened, its schedule has the shape."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F

from engine.config import CONFIGS
from engine.errors import CheckpointError, ConfigError, NumericsError
from engine.model import Model, document_mask
from engine.storage.checkpoint import load_tensors
from engine.tokenizers.ranks import RankTokenizer
from learning.data.corpus import Document
from learning.data.token_stream import TokenStream
from learning.data.tokens import Corpus, tokenise
from learning.maths.optim import AdamWAlone
from learning.pretraining.checkpoint import TRAINING, read_record, run_folder
from learning.pretraining.loop import (
    PretrainReport,
    PretrainSettings,
    Progress,
    accumulate,
    bits_per_byte,
    fresh_model,
    load_model,
    next_token_loss,
    pretrain,
    schedule,
)

ROOT = Path(__file__).parents[3]
T = RankTokenizer({bytes([b]): b for b in range(256)})
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


@pytest.mark.slow
def test_a_machine_without_a_compiler_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch._inductor.config.cpp, "cxx", (None, "no-such-compiler"))
    monkeypatch.setattr(torch._inductor.config, "force_disable_caches", True)
    torch._dynamo.reset()
    with pytest.raises(
        ConfigError, match="compiler.*install a C.. compiler, or leave --compile out"
    ):
        pretrain(fresh_model(CONFIG, 0), _stream(), replace(SETTINGS, compile=True))


@pytest.mark.slow
@pytest.mark.parametrize("kind", [torch.float32, torch.bfloat16])
def test_the_loss_is_compiled_in_one_piece(kind: torch.dtype) -> None:
    """Graph breaks, such as reading the clock, would make each step ten times as slow."""
    model = fresh_model(CONFIG, 0)
    ids, documents = torch.arange(128).view(2, 64), torch.zeros(2, 64, dtype=torch.long)
    torch._dynamo.reset()
    compiled = torch.compile(next_token_loss, backend="eager", fullgraph=True)
    losses, gradients = [], []
    for loss_of in (next_token_loss, compiled):
        model.zero_grad()
        losses.append(loss_of(model, ids, documents, kind))
        losses[-1].backward()
        gradients.append(
            torch.cat([p.grad.flatten() for p in model.parameters() if p.grad is not None])
        )
    torch.testing.assert_close(losses[0], losses[1])
    torch.testing.assert_close(gradients[0], gradients[1])


def _stop_after(steps: int) -> Callable[[], bool]:
    calls = iter(range(10_000))
    return lambda: next(calls) >= steps


def test_schedule_rises_holds_and_falls() -> None:
    values = [schedule(d, 0.1, 0.4) for d in (0.0, 0.05, 0.1, 0.5, 0.6, 0.8, 1.0, 1.2)]
    assert values == pytest.approx([0.0, 0.5, 1.0, 1.0, 1.0, 0.5, 0.0, 0.0])
    assert schedule(0.0, 0.0, 0.0) == schedule(1.0, 0.0, 0.0) == 1.0
    # the middle of the last step may lie beyond the limit
    assert schedule(1.2, 0.0, 0.0) == 1.0


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"tokens": 5, "minutes": 1.0},
        {"tokens": 5, "rows": 8, "micro_rows": 3},
        {"tokens": -5},
        {"tokens": 5, "row": 1},
        {"tokens": 5, "warm_up": 0.6, "decay": 0.6},
        {"tokens": 5, "warm_up": float("nan")},
        {"tokens": 5, "muon_lr": float("nan")},
        {"tokens": 5, "adam_lr": -1.0},
    ],
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


def test_the_last_step_is_told_whatever_its_number() -> None:
    reports: list[PretrainReport] = []
    pretrain(fresh_model(CONFIG, 0), _stream(), SETTINGS, report=reports.append)
    assert [(r.step, r.done) for r in reports] == [(10, 10 / 12), (12, 1.0)]


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


def _gradient(documents: list[Document], micro: int) -> tuple[float, torch.Tensor]:
    model = fresh_model(CONFIG, 0)
    batch = next(TokenStream.of(documents, T, seed=3).batches(4, 64))
    loss = float(accumulate(model, *batch, replace(SETTINGS, micro_rows=micro, fp32=True)))
    parameters = list(model.parameters())
    return loss, torch.cat([g.flatten() for p in parameters if (g := p.grad) is not None])


def test_what_is_not_learned_has_no_loss_and_no_gradient() -> None:
    questions = [replace(d, unlearned=frozenset({0})) for d in DOCUMENTS]
    nothing = [replace(d, unlearned=frozenset({0, 1})) for d in DOCUMENTS]
    model = fresh_model(CONFIG, 0)
    ids, documents = next(TokenStream.of(questions, T, seed=3).batches(4, 64))
    read = torch.where(ids < 0, ~ids, ids)
    logits = model.logits(model.hidden_states(read, mask=document_mask(documents).float()))[:, :-1]
    losses = F.cross_entropy(logits.flatten(0, 1), read[:, 1:].flatten(), reduction="none")
    learned = (ids[:, 1:] >= 0).flatten()
    assert 0 < learned.sum() < len(learned)
    loss, gradient = _gradient(questions, 4)
    assert loss == pytest.approx((losses * learned).sum().item() / len(losses), rel=1e-4)
    # rows with more and with fewer tokens to learn add up to the same, however they are split
    assert _gradient(questions, 1)[0] == pytest.approx(loss, rel=1e-4)
    torch.testing.assert_close(_gradient(questions, 1)[1], gradient, rtol=1e-3, atol=1e-6)
    # only what opens a turn is left to learn, and the answer's words alone make no difference
    assert _gradient(nothing, 4)[0] < loss < _gradient(DOCUMENTS, 4)[0]


@pytest.mark.slow
def test_what_is_not_learned_is_read() -> None:
    """The answer is the question: it can only be learned by looking at it."""
    heard = [
        Document("x", (("user", w), ("assistant", w)), unlearned=frozenset({0})) for w in "abcdefgh"
    ]
    model = fresh_model(CONFIG, 0)
    stream = TokenStream.of(heard, T, seed=3)
    pretrain(model, stream, replace(SETTINGS, tokens=150 * 256, row=16, rows=16))
    ids = torch.tensor([[T.user, ord(w), T.assistant] for w in "abcdefgh"])
    said = model.logits(model.hidden_states(ids)[:, -1]).argmax(-1)
    assert [chr(i) for i in said] == list("abcdefgh")
    first = model.logits(model.hidden_states(ids)[:, 0]).softmax(-1)[0]
    assert first[[ord(w) for w in "abcdefgh"]].sum() < 0.2  # the questions were not learned


@pytest.mark.slow
@pytest.mark.parametrize("fp32", [True, False])
def test_resumed_equals_uninterrupted_bit_for_bit(tmp_path: Path, fp32: bool) -> None:
    settings = replace(SETTINGS, fp32=fp32, tokens=24 * 256)
    whole = fresh_model(CONFIG, 0)
    curve = pretrain(whole, _stream(), settings).curve

    first = fresh_model(CONFIG, 0)
    stopped = pretrain(first, _stream(), settings, folder=tmp_path, stop=_stop_after(13))
    assert stopped.step == 13
    second = fresh_model(CONFIG, 99)  # its weights must come from the folder
    resumed = pretrain(second, _stream(), settings, folder=tmp_path)
    assert (resumed.step, resumed.tokens) == (24, 24 * 256)
    assert resumed.seconds > stopped.seconds
    assert [entry[:3] for entry in resumed.curve] == [entry[:3] for entry in curve]
    for one, other in zip(whole.parameters(), second.parameters(), strict=True):
        assert torch.equal(one, other)
    assert not torch.equal(whole.embedding.weight, first.embedding.weight)


KILLED = """
import os, signal, sys
from pathlib import Path
import torch
from tests.learning.pretraining.test_loop import CONFIG, SETTINGS, _stream, fresh_model, pretrain, replace

torch.set_num_threads(1)
settings = replace(SETTINGS, fp32=True, tokens=24 * 256, checkpoint_minutes=1e-9)
def report(r):
    if r.step == 20 and sys.argv[2] == "kill":  # the last checkpoint is that of step 19
        os.kill(os.getpid(), signal.SIGKILL)
pretrain(fresh_model(CONFIG, 0), _stream(), settings, folder=Path(sys.argv[1]), report=report)
"""


@pytest.mark.slow
def test_killed_between_checkpoints_goes_on_as_if_nothing_had_happened(tmp_path: Path) -> None:
    settings = replace(SETTINGS, fp32=True, tokens=24 * 256)
    whole = fresh_model(CONFIG, 0)
    curve = pretrain(whole, _stream(), settings).curve
    for action, status in (("kill", -signal.SIGKILL), ("finish", 0)):
        (tmp_path / f".training.safetensors.{'0' * 32}").write_text("half")  # as a kill leaves it
        command = [sys.executable, "-c", KILLED, str(tmp_path), action]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        assert done.returncode == status, done.stderr
    record = json.loads((tmp_path / "record.json").read_text("utf-8"))
    assert [e[0] for e in record["curve"]] == [10 * 256, 20 * 256, 24 * 256]
    assert [e[1] for e in record["curve"]] == [round(e[1], 4) for e in curve]
    with run_folder(tmp_path):
        assert not list(tmp_path.glob(".training*"))
    tensors, _ = load_tensors(tmp_path / TRAINING)
    for name, weight in whole.state_dict().items():
        assert torch.equal(tensors[f"model/{name}"], weight)


@pytest.mark.parametrize(
    ("changes", "seed", "named"),
    [({"rows": 8}, 3, "rows"), ({"row": 32}, 3, "row size"), ({}, 4, "shuffling seed")],
)
def test_a_run_goes_on_only_with_the_same_order(
    tmp_path: Path, changes: dict[str, Any], seed: int, named: str
) -> None:
    pretrain(fresh_model(CONFIG, 0), _stream(), SETTINGS, folder=tmp_path, stop=_stop_after(1))
    stream = TokenStream.of(DOCUMENTS, T, seed=seed)
    with pytest.raises(ConfigError, match=named):
        pretrain(fresh_model(CONFIG, 0), stream, replace(SETTINGS, **changes), folder=tmp_path)


def test_neither_the_first_step_nor_the_last_is_taken_at_rate_0() -> None:
    settings = replace(SETTINGS, warm_up=0.5, decay=0.5)
    rates = []
    for step in range(12):
        middle = Progress(step, step * 256).middle(settings)
        rates.append(schedule(middle, settings.warm_up, settings.decay))
    assert [rates[0], rates[-1]] == pytest.approx([1 / 12] * 2)
    assert rates[5:7] == pytest.approx([11 / 12] * 2)
    for limit in ({"tokens": 12 * 256}, {"tokens": None, "minutes": 1.0}):
        model = fresh_model(CONFIG, 0)
        before = model.embedding.weight.clone()
        pretrain(model, _stream(), replace(settings, **limit), stop=_stop_after(1))
        assert not torch.equal(model.embedding.weight, before)


class _Poisoned(TokenStream):
    """Batch 70 is noise."""

    def batches(self, *args: Any, **kwargs: Any) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
        for number, (ids, owners) in enumerate(super().batches(*args, **kwargs)):
            noise = torch.randint(0, 256, ids.shape, generator=torch.Generator().manual_seed(0))
            yield (noise if number == 70 else ids), owners


@pytest.mark.slow
def test_a_spike_is_skipped() -> None:
    corpus = Corpus([tokenise(DOCUMENTS, T)], hold_out=False)
    # the loss falls steeply so early, which widens what is usual: three deviations, not six
    for spike, skipped in ((3.0, 1), (0.0, 0)):
        settings = replace(SETTINGS, tokens=72 * 256, spike=spike)
        model = fresh_model(CONFIG, 0)
        assert pretrain(model, _Poisoned(corpus, seed=3), settings).skipped == skipped


def test_adamw_alone_learns_and_resumes(tmp_path: Path) -> None:
    def adamw(model: Model, settings: PretrainSettings) -> AdamWAlone:
        return AdamWAlone(model, lr=settings.adam_lr, weight_decay=0.05, betas=(0.9, 0.95))

    whole, part = fresh_model(CONFIG, 0), fresh_model(CONFIG, 0)
    before = bits_per_byte(whole, T, DOCUMENTS)["all"]
    pretrain(whole, _stream(), SETTINGS, optimizer_of=adamw)
    assert bits_per_byte(whole, T, DOCUMENTS)["all"] < before
    for stop in (_stop_after(4), _stop_after(100)):
        pretrain(part, _stream(), SETTINGS, folder=tmp_path, stop=stop, optimizer_of=adamw)
    assert torch.equal(part.embedding.weight, whole.embedding.weight)


def test_the_record_says_what_the_weights_were_made_of(tmp_path: Path) -> None:
    settings = replace(SETTINGS, tokens=20 * 256)
    pretrain(fresh_model(CONFIG, 0), _stream(), settings, folder=tmp_path, told={"data": "mine"})
    record = read_record(tmp_path)
    assert record["data"] == "mine" and record["parameters"] == CONFIG.parameters
    assert record["settings"]["muon_lr"] == 0.003 and record["done"] == 1.0
    assert [len(entry) for entry in record["curve"]] == [len(record["curve_columns"])] * 2
    assert record["code"].count("+") == 1
    (tmp_path / "record.json").write_text("{")
    assert read_record(tmp_path) == {}


def test_a_damaged_checkpoint_is_named(tmp_path: Path) -> None:
    (tmp_path / TRAINING).write_bytes(b"cut short")
    with pytest.raises(CheckpointError, match="training.safetensors.*begin anew"):
        pretrain(fresh_model(CONFIG, 0), _stream(), SETTINGS, folder=tmp_path)


def test_a_folder_is_held_for_one_run(tmp_path: Path) -> None:
    with (
        run_folder(tmp_path),
        pytest.raises(CheckpointError, match="another run"),
        run_folder(tmp_path),
    ):
        pass
    with run_folder(tmp_path):
        pass


def test_rows_longer_than_the_context_are_refused() -> None:
    with pytest.raises(ConfigError, match="context"):
        pretrain(fresh_model(CONFIG, 0), _stream(), replace(SETTINGS, row=256))


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
