"""Self-play in two processes: each asks and answers its share, both take the same steps."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from engine.storage.checkpoint import load_tensors, save_tensors
from learning.memory.replay import Replay
from learning.objectives.processes import ProcessGroup
from learning.practice.self_play.trainer import SelfPlayTrainer
from learning.practice.settings import PracticeSettings, SelfPlaySettings, WarmUpSettings
from tests.random_model import random_model, small_tokenizer
from tests.sums import asked_sums
from tests.two_processes import in_two_processes

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


def _practise(team: ProcessGroup, out: Path) -> None:
    tokenizer = small_tokenizer()
    model = random_model(tokenizer)
    trainer = SelfPlayTrainer(
        model,
        tokenizer,
        asked_sums("asked"),
        Replay(model, [], [], []),
        SETTINGS,
        seed=3,
        team=team,
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
    save_tensors({**saved, "told": torch.tensor(told)}, out / str(team.rank))


@pytest.mark.slow
def test_two_processes_play_as_one(tmp_path: Path) -> None:
    in_two_processes(_practise, tmp_path)
    first, second = (load_tensors(tmp_path / name)[0] for name in ("0", "1"))
    assert all(torch.equal(first[name], second[name]) for name in first)
    assert first["told"][4] == 1.0, "an update was taken"
