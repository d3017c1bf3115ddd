"""The signs of a taste that is exploited, measured on a tiny model; practice of it by the teacher."""

from __future__ import annotations

import copy
from dataclasses import replace

import pytest
import torch

from engine.model import Model
from engine.tokenizers.tokenizer import Tokenizer
from learning.journal.practices import practice_entry, practice_samples
from learning.maths.alarm import Signs, alarms
from learning.memory.replay import Replay
from learning.objectives.grpo import GrpoGroup
from learning.objectives.settings import GrpoSettings
from learning.practice.checks.signs import TasteSigns, agreement, group_of
from learning.practice.sampling.rollouts import HeldOut
from learning.practice.settings import PracticeSettings
from learning.practice.trainer import GrpoTrainer
from learning.protocol.events import Failed, PracticeStage
from learning.protocol.records import Turn
from learning.protocol.requests import Practise
from learning.rewards.reward_data import Choice, preferences, split
from learning.rewards.reward_keeper import RewardKeeper
from tests.learning.conftest import Place
from tests.picks import fill
from tests.practice_room import Room
from tests.tastes import RATE, taste_task

PLAIN = GrpoSettings()
LOOK = HeldOut((True, False), {"taste": 0.5})


@pytest.fixture
def trainer(tiny_place: Place, tiny_model: Model, tiny_tokenizer: Tokenizer) -> GrpoTrainer:
    _, folder, journal = tiny_place
    task = taste_task(folder, journal, tiny_model, tiny_tokenizer)
    settings = PracticeSettings(groups=4, max_tokens=8, held_out=40)
    return GrpoTrainer(tiny_model, tiny_tokenizer, task, Replay(tiny_model, [], [], []), settings)


def signs_of(trainer: GrpoTrainer, place: Place) -> TasteSigns:
    choices = split(preferences(place[2])).held_out.choices
    return TasteSigns(trainer, trainer.task, choices)  # type: ignore[arg-type]


def test_at_the_start_nothing_is_far_and_all_is_measured(
    trainer: GrpoTrainer, tiny_place: Place
) -> None:
    measure = signs_of(trainer, tiny_place)
    start = measure(LOOK)
    assert start == measure(LOOK), "the same dice each time"
    assert start.kl == pytest.approx(0.0, abs=1e-5)
    assert start.length > 0 and 0.0 < start.distinct <= 1.0 and start.disagreement > 0.0
    assert start.choices > 20 and 0.0 < start.agreement < 1.0
    assert start.chosen_short > 1
    assert (start.right, start.components) == (LOOK.right, LOOK.components)
    assert alarms(start, start) == []


@pytest.mark.slow
def test_a_policy_that_says_one_thing_is_told(trainer: GrpoTrainer, tiny_place: Place) -> None:
    measure = signs_of(trainer, tiny_place)
    start = measure(LOOK)
    with torch.no_grad():  # nearly always the same id
        trainer.model.norm.weight.mul_(60.0)
    now = measure(LOOK)
    assert now.same > 0.9 and now.kl > 1.0 > start.same
    assert "same answer" in {one.name for one in alarms(start, now) if one.hard}


def test_agreement_counts_pairs_by_the_odds_of_whole_answers(
    tiny_model: Model, tiny_tokenizer: Tokenizer
) -> None:
    prompt = (Turn("user", "Tell me of the sea."),)
    choice = Choice(prompt, ("Yes.", "Yes. Yes. Yes. Yes. Yes.", "Yes. Yes."), 0, True, 1, 1)
    group = group_of(tiny_tokenizer, choice, tiny_model.config.context)
    assert isinstance(group, GrpoGroup)
    assert [a.tokens[-1] for a in group.answers] == [tiny_tokenizer.chat.end] * 3
    # a random model finds shorter answers likelier: each token costs about log 384 nats
    assert agreement([group], [0], tiny_model, PLAIN) == 1.0
    assert agreement([group], [1], tiny_model, PLAIN) == 0.0
    assert agreement([group], [2], tiny_model, PLAIN) == 0.5
    assert agreement([], [], tiny_model, PLAIN) == 0.0


def tasted(room: Room, model: Model, tokenizer: Tokenizer) -> None:
    """Gives the owner of the room a taste."""
    fill(room.journal, 150)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("learning.rewards.reward_training.LEARNING_RATE", RATE)
        RewardKeeper(
            room.folder, lambda: (0, copy.deepcopy(model)), tokenizer, room.journal
        ).train()


def test_the_teacher_refuses_to_practise_without_a_taste(room: Room) -> None:
    room.teacher.send(Practise("taste", seed=0))
    [*_, failed] = room.until(Failed)
    assert isinstance(failed, Failed) and "0 of the 30 picks" in failed.what


@pytest.mark.slow
def test_the_teacher_practises_taste_with_the_divergence_in_the_reward(
    room: Room,
    tiny_model: Model,
    tiny_tokenizer: Tokenizer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("learning.rewards.tasks.taste.ANSWERS", 16)
    tasted(room, tiny_model, tiny_tokenizer)
    done, got = room.practise(task="taste", steps=2)
    assert done.steps == 2 and done.ended in ("steps", "alarm")
    assert done.accuracy_before is not None and done.run is not None
    options = practice_entry(room.journal, done.run).record["options"]
    assert (options["advantages"], options["kl_reward"]) == ("batch", "0.05")
    kept = practice_samples(room.journal, done.run)
    assert kept and all(set(one.components) == {"taste", "length"} for one in kept)
    assert [e.stage for e in got if isinstance(e, PracticeStage)][0] == "before"
    plain, _ = room.practise(task="taste", steps=0, options=("kl_reward=0",))
    assert plain.run is not None
    assert practice_entry(room.journal, plain.run).record["options"]["kl_reward"] == "0.0"


@pytest.mark.slow
def test_an_alarm_keeps_the_weights_from_before(
    room: Room,
    tiny_model: Model,
    tiny_tokenizer: Tokenizer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("learning.rewards.tasks.taste.ANSWERS", 16)
    monkeypatch.setattr("learning.maths.alarm.MOST_KL", -100.0)
    tasted(room, tiny_model, tiny_tokenizer)
    before = room.weights
    done, got = room.practise(task="taste", steps=4)
    assert (done.ended, done.saves) == ("alarm", 0)
    assert done.alarm.startswith("kl: ") and "vidya reward ask" in done.why
    after = room.weights
    assert all(torch.equal(before[name], after[name]) for name in before)
    assert any(isinstance(e, PracticeStage) and e.alarm for e in got)


def test_signs_have_the_bounds_of_the_specification() -> None:
    start = Signs(length=10.0, distinct=0.8, disagreement=0.2)
    assert alarms(start, replace(start, kl=9.9)) == []
    assert [one.hard for one in alarms(start, replace(start, kl=10.1))] == [True]
