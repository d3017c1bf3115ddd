"""Practice in several turns: conversations are sampled, paid by turn, and learned from."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
import torch

from engine.model import Model
from engine.tokenizers.tokenizer import Tokenizer
from learning.agents.credit import turn_gae
from learning.memory.replay import Replay
from learning.objectives.settings import RetentionSettings
from learning.practice.critic import ReplyCritic
from learning.practice.sampling.buffer import scored_group
from learning.practice.sampling.dialogues import DialogueSampler
from learning.practice.sampling.mixed import sampler
from learning.practice.sampling.rollouts import RolloutSampler
from learning.practice.settings import CriticSettings, PracticeSettings, WarmUpSettings
from learning.practice.trainer import GrpoTrainer
from learning.practice.warm_up import WarmUpReport
from learning.protocol.events import PracticeSample, PracticeStep
from learning.rewards.dialogue import DialogueTask
from learning.rewards.registry import find_task
from learning.rewards.task import TaskOptions
from tests.practice_room import Room
from tests.random_model import roomy
from tests.sums import Sums
from tests.talks import value_of

SHORT = TaskOptions(difficulty={"small_talk": 1, "partner": "quiet"})
NOTHING = RetentionSettings(lines=0, talk=0)
TINY = PracticeSettings(
    groups=4,
    group_size=4,
    updates=1,
    max_tokens=8,
    held_out=8,
    lr=2e-3,
    keep=NOTHING,
    warm_up=WarmUpSettings(
        lr=1e-2, enough=1.0, steps=12, ramp=1, measure_every=6, measured=8, keep=NOTHING
    ),
)


@pytest.fixture
def talk() -> DialogueTask:
    found = find_task("umbrella_talk", SHORT)
    assert isinstance(found, DialogueTask)
    return found


def trainer(
    model: Model, tokenizer: Tokenizer, talk: DialogueTask, **changes: object
) -> GrpoTrainer:
    settings = replace(TINY, **changes)  # type: ignore[arg-type]
    return GrpoTrainer(model, tokenizer, talk, Replay(model, [], [], []), settings, seed=3)


def test_a_task_gets_the_sampler_that_fits(tiny_tokenizer: Tokenizer, talk: DialogueTask) -> None:
    assert isinstance(sampler(tiny_tokenizer, talk, max_tokens=8), DialogueSampler)
    assert type(sampler(tiny_tokenizer, Sums(), max_tokens=8)) is RolloutSampler


@torch.no_grad()
def test_conversations_are_sampled_and_paid_by_turn(
    tiny_model: Model, tiny_tokenizer: Tokenizer, talk: DialogueTask
) -> None:
    model = roomy(tiny_model)
    roller = sampler(tiny_tokenizer, talk, max_tokens=8, rows=5)
    supply = talk.problems("train", random.Random(0))
    problems = [next(supply) for _ in range(3)]
    drawn = roller.draw(model, problems, 4, torch.Generator().manual_seed(0))
    assert [len(group) for group in drawn.groups] == [4, 4, 4]
    assert len({sample.rewards[0] for sample in drawn.samples}) == 2, "a coin for each"
    for prompt, problem, group in zip(drawn.prompts, problems, drawn.groups, strict=True):
        for sample in group:
            assert sample.problem is problem and len(sample.paid) == 2
            assert sample.reward == sum(sample.rewards) and sample.rewards[1] == -1.0
            assert not sample.truncated and not sample.score.correct
            first, news, last = sample.text.split("\n")
            assert news.startswith("> ")
            own = sample.answer.own
            assert own is not None
            ids = torch.tensor([[*prompt, *sample.answer.tokens]])
            logits = model(ids)[0, len(prompt) - 1 : -1]
            logits[:, list(roller.never(model))] = float("-inf")
            logprobs = logits.log_softmax(-1)
            now = logprobs.gather(1, torch.tensor(sample.answer.tokens)[:, None])[:, 0]
            found = now[torch.tensor(own)]
            torch.testing.assert_close(
                found, torch.tensor(sample.answer.logprobs), atol=2e-4, rtol=1e-4
            )
    again = roller.draw(model, problems, 4, torch.Generator().manual_seed(0))
    assert [s.rewards for s in again.samples] == [s.rewards for s in drawn.samples]


def test_a_conversation_that_fills_the_context_is_cut(
    tiny_model: Model, tiny_tokenizer: Tokenizer
) -> None:
    talk = find_task("umbrella_talk", TaskOptions(difficulty={"small_talk": 20}))
    roller = sampler(tiny_tokenizer, talk, max_tokens=8)
    problem = next(talk.problems("train", random.Random(0)))
    assert not roller.fits(tiny_model, problem)
    drawn = roller.draw(roomy(tiny_model), [problem], 2, torch.Generator().manual_seed(0))
    assert all(sample.truncated and len(sample.rewards) < 21 for sample in drawn.samples)


@pytest.mark.parametrize("critic", [False, True])
def test_practice_takes_steps(
    tiny_model: Model, tiny_tokenizer: Tokenizer, talk: DialogueTask, critic: bool
) -> None:
    model = roomy(tiny_model)
    by_reply = CriticSettings(step=ReplyCritic, answers=8, explained=0.0)
    session = trainer(model, tiny_tokenizer, talk, critic=by_reply if critic else CriticSettings())
    before = {name: value.clone() for name, value in model.state_dict().items()}
    reports = [session.step() for _ in range(3)]
    assert sum(report.updates for report in reports) >= 1
    assert all(abs(report.mismatch) < 0.02 for report in reports)
    assert any(not torch.equal(before[name], now) for name, now in model.state_dict().items())
    assert isinstance(session.critic, ReplyCritic) == critic
    assert session.roller.longest(session.problems_held_out[0]) == 16
    if session.critic:
        assert session.critic.explained != 0.0


@pytest.mark.slow
def test_warm_up_teaches_whole_conversations(
    tiny_model: Model, tiny_tokenizer: Tokenizer, talk: DialogueTask
) -> None:
    model = roomy(tiny_model)
    session = trainer(model, tiny_tokenizer, talk)
    assert session.has_worked
    problem = next(talk.problems("train", random.Random(0)))
    worked = session.roller.worked(model, problem, tiny_tokenizer.encode)
    assert worked is not None
    learned = [i for i, wanted in zip(worked.ids, worked.target, strict=True) if wanted]
    assert learned.count(tiny_tokenizer.chat.end) == 2, "both replies"
    told: list[WarmUpReport] = []
    session.warm_up(told.append, lambda: False)
    assert told[-1].loss < 0.7 * told[1].loss


def test_rewards_by_turn_reach_the_advantages(
    tiny_model: Model,
    tiny_tokenizer: Tokenizer,
    talk: DialogueTask,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model = roomy(tiny_model)
    session = trainer(model, tiny_tokenizer, talk)
    monkeypatch.setattr(
        session, "settings", replace(TINY, credit=lambda _: turn_gae(value_of([0, 0, 0]), 0.5))
    )
    problem = next(talk.problems("train", random.Random(0)))
    drawn = session.roller.draw(model, [problem], 2, torch.Generator().manual_seed(0))
    (group,) = session._with_advantages([scored_group(drawn.prompts[0], drawn.groups[0])])
    for answer, sample in zip(group.answers, drawn.groups[0], strict=True):
        coin, end = sample.rewards
        assert set(answer.advantages) == {coin + 0.5 * end, end}


@pytest.mark.parametrize("idle", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_a_request_practises_conversations(room: Room, idle: bool) -> None:
    """Also in idle hours, where tasks that run programs are scored in the background."""
    done, events = room.practise(
        task="umbrella_talk",
        steps=1,
        warm_up=False,
        idle=idle,
        settings=("small_talk=1", "partner=quiet"),
        options=("critic.step=reply", "critic.answers=4", "critic.explained=0", "max_tokens=4"),
    )
    (step,) = [event for event in events if isinstance(event, PracticeStep)]
    assert done.steps == 1 and step.success == 0.0
    assert step.reward_mean < 0.0, "the end is paid -1, the coin 0 in the mean"
    samples = [event for event in events if isinstance(event, PracticeSample)]
    assert samples and all("> " in sample.text for sample in samples)
    assert {sample.reward for sample in samples} <= {-2.0, 0.0}
