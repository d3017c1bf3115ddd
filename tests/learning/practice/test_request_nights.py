"""The app's plans for idle hours are accepted, whatever the settings offer, and climb."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import pytest

from engine.errors import ConfigError
from learning.journal.journal import Journal
from learning.journal.practices import (
    add_practice_step,
    begin_practice,
    joined_rungs,
    practice_entry,
)
from learning.lessons.learner import Learner
from learning.practice.idle import Idle
from learning.practice.request import PracticeJob
from learning.practice.requested import practice_settings
from learning.practice.self_play.trainer import SelfPlayTrainer
from learning.practice.settings import PracticeSettings
from learning.practice.supply.arms import parse_others
from learning.practice.supply.ladder import rungs_of
from learning.practice.supply.typed import split_typed
from learning.protocol.events import PracticeDone
from learning.protocol.requests import Practise
from learning.rewards.asked import AskedTask
from learning.rewards.ladders import LADDERS
from learning.rewards.registry import SELF_PLAY, TASTE, find_task, tasks
from learning.rewards.reward_keeper import RewardError
from tests.learning.conftest import Place
from tests.practice_room import QUICK, Room
from vidya_tui.settings.file import Settings

OTHERS = parse_others(split_typed(Settings().practice_others))
RUNG = "easy most=3"
THOROUGH = replace(QUICK, steps=1, warm_up=replace(QUICK.warm_up, enough=0.95))


@pytest.fixture
def learner(tiny_place: Place) -> Iterator[Learner]:
    yield Learner(*tiny_place)


@pytest.mark.parametrize("options", [(), ("self_play.questions=16",), ("few.examples=1",)])
def test_every_task_that_settings_offer_can_be_practised_at_night(
    learner: Learner, tiny_place: Place, options: tuple[str, ...]
) -> None:
    _, _, journal = tiny_place
    for task in tasks():
        idle = Idle(1, task, 0.0, options=options, others=OTHERS)
        for plan in (idle.plan(), replace(idle, own_over=True).plan()):
            accepted = pytest.raises(RewardError) if plan.task == TASTE else nullcontext()
            with accepted:  # of taste there are no picks yet, and the night is the others'
                job = opened(learner, journal, plan)
            if plan.task == TASTE:
                continue
            asks = job._trainer is SelfPlayTrainer
            assert not asks or isinstance(job._task, AskedTask), f"{task}: who reads the questions?"
            job.close()
        named = (idle.plan().arms or (task,))[0]
        assert named == task, "the owner's own comes first"


def test_the_tasks_with_self_play_are_those_whose_questions_a_program_reads() -> None:
    own = [name for name in tasks() if not name.startswith("gym/") and name != TASTE]
    assert [name for name in own if isinstance(find_task(name), AskedTask)] == list(SELF_PLAY)


def test_taste_is_refused_among_others() -> None:
    with pytest.raises(ConfigError, match="taste cannot be practised in turns"):
        parse_others(["taste"])
    with pytest.raises(ConfigError, match="taste cannot be practised in turns"):
        parse_others(["chain_sum", "taste"])


def test_estimates_of_the_arms_that_stay_stay_when_a_rung_joins(
    learner: Learner, tiny_place: Place
) -> None:
    _, _, journal = tiny_place
    rung = rungs_of("chain_sum")[1]

    def practised(method: str, model: str = "tiny", **estimates: float) -> int:
        run = begin_practice(journal, "x", record(estimates, method, model))
        figures = {"curriculum": {"estimates": list(estimates.values())}}
        add_practice_step(journal, run, 1, figures, [])
        return run

    def known(*arms: str) -> list[float]:
        job = opened(learner, journal, Practise("x", arms=arms))
        assert job._choice is not None
        found = job._resume(job._choice)
        job.close()
        assert found == ({} if not found else job._choice.state()), "what the record says"
        return job._choice.values()

    practised("sec", chain_sum=0.25, syllogism=0.5, detective=0.125)
    practised("sec", gsm8k=0.75, syllogism=1.0)
    practised("exp3", chain_sum=1.0, syllogism=1.0, detective=1.0)
    practised("sec", "49m", chain_sum=1.0, syllogism=1.0, detective=1.0)
    begin_practice(journal, "x", record(["chain_sum"]))
    assert known("chain_sum", rung, "syllogism", "detective") == [0.25, 0.0, 0.5, 0.125]
    assert known("detective", "chain_sum") == [0.125, 0.25], "whatever the order"
    assert known("tool_sums", "umbrella_talk") == [0.0, 0.0]


def test_what_a_run_has_learned_stays_when_its_record_is_erased(
    learner: Learner, tiny_place: Place
) -> None:
    _, _, journal = tiny_place
    arms = ("chain_sum", "syllogism")
    older = begin_practice(journal, "x", record(arms))
    add_practice_step(journal, older, 1, {"curriculum": {"estimates": [0.25, 0.5]}}, [])
    job = opened(learner, journal, Practise("x", arms=arms))
    assert job._choice is not None
    job._begin(None)
    assert job._choice.values() == [0.25, 0.5]
    job._choice.load({"estimates": [0.75, 0.125]})  # as it learns
    erased = job._telling.run
    with journal.writing() as connection:
        connection.execute("DELETE FROM practices WHERE id = ?", (erased,))
    job._begin(None)
    assert job._choice.values() == [0.75, 0.125]
    assert job._telling.run is not None
    kept = practice_entry(journal, job._telling.run).record["curriculum"]
    assert kept == {"estimates": [0.75, 0.125]}
    job.close()


def record(arms: Iterable[str], method: str = "sec", model: str = "tiny") -> dict[str, Any]:
    """What the journal has of a run, as far as a curriculum reads it."""
    return {"arms": list(arms), "options": {"curriculum.method": method}, "model": model}


def opened(learner: Learner, journal: Journal, plan: Practise) -> PracticeJob:
    given = learner.transaction, learner.tokenizer, journal, plan
    return PracticeJob(*given, pause=lambda: None, emit=lambda _: None)


# ---------------------------------------------------------------- climbing


def climbing(room: Room, *arms: str, **more: object) -> PracticeDone:
    done, _ = room.practise(task="easy", arms=arms, climbs=True, **more)
    return done


def test_a_solved_rung_brings_the_next_which_stays_after_a_restart(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(LADDERS, "easy", ((), ("most=3",), ("most=5",)))
    monkeypatch.setattr("learning.practice.request.PracticeSettings", lambda: THOROUGH)
    first = climbing(room, "easy", warm_up=True)  # any number is right, which warm-up teaches
    assert first.arms_after.keys() == {"easy"}
    assert first.joined == (RUNG,)
    again = Journal(room.journal.path)
    assert joined_rungs(again, "tiny") == (RUNG,) == joined_rungs(again, "")
    assert joined_rungs(again, "49m") == (), "each model climbs by itself"
    again.close()
    second = climbing(room, "easy", "hard", warm_up=False, steps=1)
    assert second.arms_after.keys() == {"easy", RUNG, "hard"} and second.task == "easy × 2, hard"
    record = practice_entry(room.journal, second.run or 0).record
    assert record["own_arms"] == 2 and record["climbs"], "for a repetition"
    typed = climbing(room, "easy most=7", "hard", warm_up=False, steps=1)
    assert typed.arms_after.keys() == {"easy most=7", "hard"} and typed.joined == ()


def test_without_a_ladder_nothing_joins(room: Room) -> None:
    assert climbing(room, "easy", warm_up=True, steps=2).joined == ()
    settings = practice_settings(PracticeSettings(), Idle(1, "chain_sum", 0.0).plan())
    assert settings.curriculum.first == 0.0, "one task has all"
