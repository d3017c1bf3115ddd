"""Practice in two processes: each draws its share of the answers, both take the same steps."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch
import torch.distributed as dist
from torch.multiprocessing.spawn import spawn

from engine.config import CONFIGS
from engine.model import Model
from engine.storage.checkpoint import load_tensors, save_tensors
from engine.tokenizers.ranks import train_tokenizer
from learning.memory.replay import Replay
from learning.objectives.processes import ProcessGroup
from learning.practice.settings import PracticeSettings, WarmUpSettings
from learning.practice.trainer import GrpoTrainer
from tests.conftest import SENTENCES
from tests.sums import Sums

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


def _practise(rank: int, out: Path) -> None:
    dist.init_process_group("gloo", f"file://{out}/meeting", rank=rank, world_size=2)
    torch.set_num_threads(1)
    tokenizer = train_tokenizer(iter(SENTENCES * 4), 384)
    config = replace(CONFIGS["tiny"], vocab_size=tokenizer.vocab_size)
    model = Model(config, generator=torch.Generator().manual_seed(0))
    trainer = GrpoTrainer(
        model,
        tokenizer,
        Sums(3),
        Replay(model, [], [], []),
        SETTINGS,
        seed=3,
        team=ProcessGroup.current(),
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
    save_tensors({**saved, "told": torch.tensor(told)}, out / str(rank))
    (out / f"seed{rank}").write_text(str(seeds), "utf-8")
    dist.destroy_process_group()


@pytest.mark.slow
def test_two_processes_practise_as_one(tmp_path: Path) -> None:
    spawn(_practise, (tmp_path,), nprocs=2)
    first, second = (load_tensors(tmp_path / name)[0] for name in ("0", "1"))
    assert all(torch.equal(first[name], second[name]) for name in first)
    seeds = {(tmp_path / f"seed{rank}").read_text("utf-8") for rank in (0, 1)}
    assert len(seeds) == 2, "or both would draw the same answers"
