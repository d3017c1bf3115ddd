"""Self-play in two processes: each asks and answers its share, both take the same steps."""

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
from learning.practice.self_play.trainer import SelfPlayTrainer
from learning.practice.settings import PracticeSettings, SelfPlaySettings, WarmUpSettings
from tests.conftest import SENTENCES
from tests.sums import asked_sums

SETTINGS = PracticeSettings(
    lr=1e-3,
    groups=2,
    group_size=2,
    buffer_size=2,
    max_tokens=12,
    updates=1,
    held_out=3,
    warm_up=WarmUpSettings(lr=5e-3, measure_every=5, measured=32, enough=0.3, steps=100),
    self_play=SelfPlaySettings(questions=8, answers=3),
)


def _practise(rank: int, out: Path) -> None:
    dist.init_process_group("gloo", f"file://{out}/meeting", rank=rank, world_size=2)
    torch.set_num_threads(1)
    tokenizer = train_tokenizer(iter(SENTENCES * 4), 384)
    config = replace(CONFIGS["tiny"], vocab_size=tokenizer.vocab_size)
    model = Model(config, generator=torch.Generator().manual_seed(0))
    trainer = SelfPlayTrainer(
        model,
        tokenizer,
        asked_sums("asked"),
        Replay(model, [], [], []),
        SETTINGS,
        seed=3,
        team=ProcessGroup.current(),
    )
    trainer.warm_up(lambda _: None, lambda: False)
    one = trainer.roller.draw(model, trainer.problems_held_out[:1], 2, trainer.generator)
    assert len(one.groups) == 1, "a question between two processes"
    report = trainer.step()
    asking = report.asking
    assert asking is not None and asking.asked == 16 and asking.valid
    told = [report.success, report.loss, asking.reward_mean, float(asking.distinct)]
    told += [float(report.updates), float(asking.tokens)]
    saved = {name: value.clone() for name, value in model.state_dict().items()}
    save_tensors({**saved, "told": torch.tensor(told)}, out / str(rank))
    dist.destroy_process_group()


@pytest.mark.slow
def test_two_processes_play_as_one(tmp_path: Path) -> None:
    spawn(_practise, (tmp_path,), nprocs=2)
    first, second = (load_tensors(tmp_path / name)[0] for name in ("0", "1"))
    assert all(torch.equal(first[name], second[name]) for name in first)
    assert first["told"][4] == 1.0, "an update was taken"
