"""Practice in two processes: each draws its share of the answers, both take the same steps."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
import torch

from engine.storage.checkpoint import load_tensors, save_tensors
from learning.curriculum.methods import ArmChoice
from learning.curriculum.settings import CurriculumSettings
from learning.memory.replay import Replay
from learning.objectives.processes import ALONE, ProcessGroup
from learning.objectives.settings import RetentionSettings
from learning.practice.critic import ReplyCritic
from learning.practice.sampling.dialogues import DialogueSampler
from learning.practice.sampling.tools import ToolSampler
from learning.practice.settings import (
    CriticSettings,
    FewSettings,
    PracticeSettings,
    WarmUpSettings,
)
from learning.practice.supply.few import FewSource
from learning.practice.supply.mixture import CurriculumSource, TaskMixture
from learning.practice.supply.source import Fits, ProblemSource
from learning.practice.trainer import GrpoTrainer
from learning.rewards.registry import find_task
from learning.rewards.task import Task, TaskOptions
from learning.rewards.tools import ToolCall, ToolTask
from tests.random_model import random_model, roomy, small_tokenizer
from tests.sums import EasySums, Sums
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


# ---------------------------------------------------------------- other kinds of practice

NOTHING = RetentionSettings(lines=0, talk=0)
TAUGHT = WarmUpSettings(
    lr=1e-2, enough=0.9, steps=60, ramp=1, measure_every=15, measured=8, keep=NOTHING
)
ARMS = CurriculumSettings()


def _printed(programs: Sequence[str]) -> list[ToolCall]:
    """Stands for the sandbox: every program prints 7."""
    return [ToolCall(one, "7", done=True) for one in programs]


def _of_kind(kind: str, team: ProcessGroup) -> tuple[GrpoTrainer, ArmChoice]:
    """A trainer, and the choice among arms, which is used by two arms alone."""
    tokenizer = small_tokenizer()
    model, choice = random_model(tokenizer), ArmChoice(2, ARMS)
    settings, task = replace(SETTINGS, updates=1), Sums(3)
    made: dict[str, Callable[[], tuple[Task, PracticeSettings]]] = {
        "conversation": _conversation,
        "tool": _tool,
        "two arms": lambda: (TaskMixture({"easy": EasySums(3), "sums": Sums(9)}), settings),
        "few": lambda: (task, replace(settings, few=FewSettings(examples=3))),
    }
    practised, settings = made[kind]()
    if kind in ("conversation", "tool"):
        model = roomy(model)

    def source(task: Task, rng: random.Random, fits: Fits) -> ProblemSource:
        if isinstance(task, TaskMixture):
            return CurriculumSource(task, choice, rng, fits)
        return FewSource(task, rng, fits, settings.few)

    more = {"source": source} if kind in ("two arms", "few") else {}
    trainer = GrpoTrainer(
        model,
        tokenizer,
        practised,
        Replay(model, [], [], []),
        settings,
        seed=3,
        team=team,
        **more,  # type: ignore[arg-type]
    )
    return trainer, choice


def _conversation() -> tuple[Task, PracticeSettings]:
    """Small talk, credited by a value of states that is used from its first rollout on."""
    task = find_task("umbrella_talk", TaskOptions(difficulty={"small_talk": 1}))
    critic = CriticSettings(step=ReplyCritic, answers=1, explained=0.0, gamma=0.9)
    return task, replace(SETTINGS, updates=1, max_tokens=8, critic=critic, warm_up=TAUGHT)


def _tool() -> tuple[Task, PracticeSettings]:
    task = find_task("tool_sums", TaskOptions(difficulty={"digits": 1, "calls": 1}))
    assert isinstance(task, ToolTask)
    task.open = lambda: None  # type: ignore[method-assign]
    task.execute = _printed  # type: ignore[method-assign]
    return task, replace(SETTINGS, updates=1, max_tokens=24, lr=2e-3, warm_up=TAUGHT)


def _practise_kind(kind: str, team: ProcessGroup, out: Path) -> None:
    trainer, choice = _of_kind(kind, team)
    if kind != "conversation":  # there a coin pays, so that answers differ in reward
        trainer.warm_up(lambda _: None, lambda: False)
    samplers = {"conversation": DialogueSampler, "tool": ToolSampler}
    assert isinstance(trainer.roller, samplers.get(kind, object))
    reports = [trainer.step() for _ in range(2)]
    look = trainer.look()
    told = {
        "figures": [[r.loss, r.success, r.reward_mean, r.tokens, r.kl] for r in reports],
        "samples": [[sample.text for sample in report.samples] for report in reports],
        "updates": sum(report.updates for report in reports),
        "components": reports[-1].components,
        "arms": [arm.groups for report in reports for arm in report.arms],
        "curriculum": choice.state() if kind == "two arms" else {},
        "explained": trainer.critic.explained if trainer.critic else 0.0,
        "right": [bool(one) for one in look.right],
        "tags": trainer.taught_tags,
    }
    (out / f"told{team.rank}.json").write_text(json.dumps(told), "utf-8")
    saved = {name: value.clone() for name, value in trainer.model.state_dict().items()}
    save_tensors(saved, out / str(team.rank))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["conversation", "tool", "two arms", "few"])
def test_every_kind_of_practice_is_the_same_in_both_processes(kind: str, tmp_path: Path) -> None:
    in_two_processes(partial(_practise_kind, kind), tmp_path)
    first, second = (load_tensors(tmp_path / name)[0] for name in ("0", "1"))
    assert first.keys() == second.keys()
    assert all(torch.equal(first[name], second[name]) for name in first)
    one, two = (json.loads((tmp_path / f"told{rank}.json").read_text("utf-8")) for rank in (0, 1))
    assert one == two and one["updates"]
    assert (kind in ("two arms", "few")) == bool(one["arms"]), "examples are told one by one too"
    assert (kind == "two arms") == bool(one["curriculum"])
    assert kind != "tool" or one["components"]["python_count"] > 0, "some answers call"
    alone, _ = _of_kind(kind, ALONE)
    alone.roller.says_tags = one["tags"]
    alone.model.load_state_dict(first)
    assert [bool(right) for right in alone.look().right] == one["right"], "greedy: as with one"
