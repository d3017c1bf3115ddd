"""Data-parallel processes: how work is divided, and that their summed gradients are those of one process."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from engine import precision
from engine.config import CONFIGS
from engine.model import Model
from engine.storage.checkpoint import load_tensors, save_tensors
from learning.data.examples import Example
from learning.objectives.grpo import GrpoAnswer, GrpoGroup, grpo_gradients
from learning.objectives.processes import ALONE, ProcessGroup, team_of_environment
from learning.objectives.settings import GrpoSettings
from learning.objectives.stepper import Stepper
from learning.objectives.supervised import anchor_gradients, likelihood_gradients
from tests.two_processes import in_two_processes

CONFIG = replace(CONFIGS["tiny"], vocab_size=384)
ROWS = [Example(tuple(range(n, n + 9)), (False,) * 5 + (True,) * 4, prompt="") for n in range(5)]
GROUPS = [
    GrpoGroup(
        (1, 2, 3, n),
        (GrpoAnswer((5, 6, 7 + n), (-6.0,) * 3, 1.0), GrpoAnswer((8, n), (-5.9,) * 2, -1.0)),
    )
    for n in range(3)
]


def model(seed: int) -> Model:
    return Model(CONFIG, generator=torch.Generator().manual_seed(seed))


def test_items_are_divided_in_turns() -> None:
    shares = [ProcessGroup(rank, 3).share(range(7)) for rank in range(3)]
    assert shares == [[0, 3, 6], [1, 4], [2, 5]]
    assert ALONE.share("ab") == ALONE.gather("ab") == ["a", "b"]
    assert ALONE.total(1.5, 2.0) == ALONE.agree(1.5, 2.0) == [1.5, 2.0]
    assert ProcessGroup.current() == ALONE


def test_without_torchrun_there_is_a_team_of_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WORLD_SIZE", raising=False)
    with team_of_environment("cpu") as (team, device):
        assert (team, device) == (ALONE, "cpu")
        assert team.leads and team.agree(2.5, 1.0) == [2.5, 1.0]


def _measure(team: ProcessGroup, out: Path) -> None:
    """Saves the summed gradients of all objectives, weights after a step, and what the processes tell."""
    trained, reference = model(0), model(1)
    with (
        pytest.MonkeyPatch.context() as patch
    ):  # some machines are faster, and rounder, in bfloat16
        patch.setattr(precision, "fast_dtype", lambda _: torch.float32)
        report = grpo_gradients(trained, GROUPS, GrpoSettings(), team=team)
        likelihood_gradients(trained, ROWS, weight=0.5, team=team)
        anchor_gradients(trained, reference, ROWS, weight=0.5, team=team)
    tensors = list(trained.parameters())
    (told,) = team.sum_gradients(tensors, 1.0)
    saved = {f"gradient/{n}": p.grad.clone() for n, p in enumerate(tensors) if p.grad is not None}
    for tensor in tensors:  # the step sums once more
        assert tensor.grad is not None
        tensor.grad /= team.size
    Stepper(tensors, 1e-3, team=team).step()
    saved |= {f"weight/{n}": p.detach() for n, p in enumerate(tensors)}
    saved["report"] = torch.tensor([report.loss, report.entropy, report.ratio])
    texts = team.gather([f"{team.rank}:{n}" for n in range(2 - team.rank)])
    assert texts == (["0:0", "1:0", "0:1"] if team.size == 2 else ["0:0", "0:1"])
    assert team.total(float(team.rank)) == [float(team.size - 1)]
    assert team.agree(float(team.rank)) == [0.0] and told == team.size
    save_tensors(saved, out / f"{team.rank}of{team.size}")


@pytest.mark.slow
def test_two_processes_have_the_gradient_of_one(tmp_path: Path) -> None:
    _measure(ALONE, tmp_path)
    in_two_processes(_measure, tmp_path)
    alone, first, second = (load_tensors(tmp_path / n)[0] for n in ("0of1", "0of2", "1of2"))
    for name in alone:
        assert torch.equal(first[name], second[name])  # among themselves to the last bit
        torch.testing.assert_close(first[name], alone[name], rtol=1e-3, atol=2e-6)
