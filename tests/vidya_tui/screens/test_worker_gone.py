"""Screens that ask the model do not wait for an answer when its process is gone for good."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from learning.channels import learn_from_book
from learning.protocol.events import Failed
from learning.protocol.records import Turn
from learning.protocol.requests import Check, Compare, FindDisputed, Request
from tests.stage import Stage, play

GONE = Failed("worker", "the model's process is gone", "quit and start vidya again")


def gone(stage: Stage, *kinds: type[Request]) -> Callable[[], int]:
    """From now on these requests fail as the supervisor lets them fail; returns their number so far."""
    send = stage.teacher.send

    def refuse(request: Request) -> None:
        if isinstance(request, kinds):
            stage.teacher.requests.append(request)
            stage.hear(GONE)
        else:
            send(request)

    stage.teacher.send = refuse  # type: ignore[method-assign]
    return lambda: sum(isinstance(request, kinds) for request in stage.teacher.requests)


def teach(stage: Stage) -> None:
    stage.journal.add_lessons([learn_from_book((Turn("user", "Who am I?"),), "You are Max.")])


def test_the_comparison_says_it(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        teach(stage)
        gone(stage, Compare)
        await stage.say("/compare 1")
        await stage.sees("! the model's process is gone; quit and start vidya again")

    play(scenario, tmp_path)


def test_the_search_for_disputed_answers_says_it(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        gone(stage, FindDisputed)
        await stage.say("/taste")
        await stage.sees("What you like")
        await stage.press("a")
        await stage.sees("the model's process is gone; quit and start vidya again")

    play(scenario, tmp_path)


def test_the_list_of_lessons_says_it_and_asks_no_more(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        teach(stage)
        asked = gone(stage, Check)
        await stage.say("/lessons")
        await stage.sees("the model's process is gone")
        assert asked() == 1
        await stage.press("down", "up", "down")
        await stage.pilot.pause(0.3)
        assert asked() == 1

    play(scenario, tmp_path)
