"""Practice in two processes: each draws its share of the answers, both take the same steps."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from engine.storage.checkpoint import load_tensors, save_tensors
from learning.memory.replay import Replay
from learning.objectives.processes import ProcessGroup
from learning.practice.settings import PracticeSettings, WarmUpSettings
from learning.practice.trainer import GrpoTrainer
from tests.random_model import random_model, small_tokenizer
from tests.sums import Sums
from tests.two_processes import in_two_processes

SETTINGS = PracticeSettings(
    lr=1e-3,
    groups=5,
    group_size=2,
    max_tokens=6,
    updates=2,
    redraws=20,
    held_out=3,
    warm_up=WarmUpSettings(lr=5e-3, measure_every=5, measured=33, enough=0.2, steps=60),
)


def _practise(team: ProcessGroup, out: Path) -> None:
    tokenizer = small_tokenizer()
    model = random_model(tokenizer)
    trainer = GrpoTrainer(
        model,
        tokenizer,
        Sums(3),
        Replay(model, [], [], []),
        SETTINGS,
        seed=3,
        team=team,
    )
    warmed = trainer.warm_up(lambda _: None, lambda: False)
    seeds = trainer.generator.initial_seed()
    drawn = trainer.roller.draw(model, trainer.problems_held_out, 2, trainer.generator)
    assert [sample.problem for sample in drawn.samples[::2]] == trainer.problems_held_out
    assert drawn.tokens == sum(sample.answer.drawn for sample in drawn.samples)
    report = trainer.step()
    look = trainer.look()
    assert report.updates == 2, "groups that differ were found"
    told = [warmed.loss, warmed.success or 0.0, report.loss, report.success, look.accuracy]
    told += [float(report.tokens), report.kl, report.entropy, float(sum(map(bool, look.right)))]
    saved = {name: value.clone() for name, value in model.state_dict().items()}
    save_tensors({**saved, "told": torch.tensor(told)}, out / str(team.rank))
    (out / f"seed{team.rank}").write_text(str(seeds), "utf-8")


@pytest.mark.slow
def test_two_processes_practise_as_one(tmp_path: Path) -> None:
    in_two_processes(_practise, tmp_path)
    first, second = (load_tensors(tmp_path / name)[0] for name in ("0", "1"))
    assert all(torch.equal(first[name], second[name]) for name in first)
    seeds = {(tmp_path / f"seed{rank}").read_text("utf-8") for rank in (0, 1)}
    assert len(seeds) == 2, "or both would draw the same answers"
