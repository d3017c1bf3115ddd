"""Pre-training in two processes takes the steps that one would take on the same batches."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
import torch

from engine.config import CONFIGS
from engine.errors import ConfigError
from engine.storage.checkpoint import load_tensors, save_tensors
from engine.tokenizers.ranks import RankTokenizer
from learning.data.corpus import Document
from learning.data.token_stream import TokenStream
from learning.data.tokens import Corpus, tokenise
from learning.objectives.processes import ALONE, ProcessGroup
from learning.pretraining.loop import PretrainSettings, accumulate, fresh_model, pretrain
from tests.two_processes import in_two_processes

T = RankTokenizer({bytes([b]): b for b in range(256)})
CONFIG = replace(CONFIGS["tiny"], vocab_size=T.vocab_size)
SETTINGS = PretrainSettings(tokens=6 * 256, row=64, rows=4, micro_rows=2, fp32=True)


def _stream() -> TokenStream:
    return TokenStream.of([Document("a", text=f"{c} is {c}{c}.") for c in "abcdefgh"], T, seed=3)


def _train(team: ProcessGroup, out: Path, stop_after: int) -> None:
    """Saves the mean gradients of the first batch, and the weights after some steps."""
    torch.set_num_threads(1)
    # the second process's own weights must not matter
    model, stream = fresh_model(CONFIG, team.rank), _stream()
    team.share_weights(model)
    batch = next(stream.batches(4, 64, share=(team.rank, team.size)))
    loss = team.average(model, accumulate(model, *batch, SETTINGS))
    tensors = {
        f"gradient/{n}": p.grad.clone() for n, p in model.named_parameters() if p.grad is not None
    }
    model.zero_grad()
    calls = iter(range(100))
    progress = pretrain(
        model, stream, SETTINGS, team=team, stop=lambda: team.leads and next(calls) >= stop_after
    )
    tensors |= {f"weight/{n}": p.detach() for n, p in model.named_parameters()}
    tensors["numbers"] = torch.tensor([float(loss), progress.step, progress.tokens])
    save_tensors(tensors, out / f"{team.rank}of{team.size}")


@pytest.mark.slow
@pytest.mark.parametrize(("stop_after", "steps"), [(100, 6), (3, 3)])
def test_two_processes_are_as_one(tmp_path: Path, stop_after: int, steps: int) -> None:
    _train(ALONE, tmp_path, stop_after)
    in_two_processes(partial(_train, stop_after=stop_after), tmp_path)
    alone, first, second = (load_tensors(tmp_path / n)[0] for n in ("0of1", "0of2", "1of2"))
    assert alone["numbers"][1:].tolist() == [steps, steps * 256]
    assert any(name.startswith("gradient/") for name in alone)
    for name in alone:
        assert torch.equal(first[name], second[name])  # among themselves to the last bit
        torch.testing.assert_close(first[name], alone[name], rtol=2e-4, atol=2e-6)


def _train_by_curriculum(team: ProcessGroup, out: Path) -> None:
    """Saves the weights after a run of two sources, and what the curriculum knows."""
    torch.set_num_threads(1)
    texts = [
        Document(name, text=f"{letters}{number} " * 4)
        for name, letters in (("a", "abcabc"), ("b", "qzxjkv"))
        for number in range(900)
    ]
    stream = TokenStream(Corpus([tokenise(texts, T)]), seed=3)
    settings = replace(SETTINGS, tokens=12 * 256, curriculum="sec", curriculum_cost=0.5)
    model = fresh_model(CONFIG, 0)
    progress = pretrain(model, stream, settings, team=team)
    state = progress.curriculum_state
    numbers = [*state["taken"], *state["before"], *state["choice"]["estimates"]]
    tensors = {f"weight/{n}": p.detach() for n, p in model.named_parameters()}
    tensors["numbers"] = torch.tensor(numbers, dtype=torch.float64)
    save_tensors(tensors, out / f"{team.rank}of{team.size}")


@pytest.mark.slow
def test_two_processes_draw_the_same_sources_and_learn_the_same_gains(tmp_path: Path) -> None:
    _train_by_curriculum(ALONE, tmp_path)
    in_two_processes(_train_by_curriculum, tmp_path)
    alone, first, second = (load_tensors(tmp_path / n)[0] for n in ("0of1", "0of2", "1of2"))
    assert (alone["numbers"][:2] > 0).all() and alone["numbers"][-2:].any()
    assert torch.equal(first["numbers"][:2], alone["numbers"][:2])
    for name in alone:
        assert torch.equal(first[name], second[name])  # among themselves to the last bit
        torch.testing.assert_close(first[name], alone[name], rtol=2e-3, atol=1e-4)


def test_rows_must_divide_among_the_processes() -> None:
    with pytest.raises(ConfigError, match="3 processes"):
        pretrain(fresh_model(CONFIG, 0), _stream(), SETTINGS, team=ProcessGroup(0, 3))
