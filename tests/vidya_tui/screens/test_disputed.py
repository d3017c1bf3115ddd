"""The screen that asks where the owner's taste is unsure."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.errors import JournalError
from learning.protocol.events import WorkerLost
from learning.protocol.model_events import Disputed
from learning.protocol.records import DisputedAnswers, Pick
from learning.protocol.requests import FindDisputed, Learn
from tests.stage import Stage, play
from vidya_tui.screens.disputed import COUNT, DisputedScreen


def disputed(message: str, *answers: str) -> DisputedAnswers:
    ids = tuple((5 + n, 9) for n, _ in enumerate(answers))
    return DisputedAnswers(message, answers, 0.5, ids, ((-1.0, -0.5),) * len(answers), 0)


TWO = (
    disputed("what shall we eat", "Soup.", "Bread [bold]and[/] cheese."),
    disputed("where shall we go", "To the sea.", "Nowhere.", "Home."),
)


async def asked(stage: Stage) -> None:
    """`/taste`, then the screen that asks, which waits for the teacher."""
    await stage.say("/taste")
    await stage.sees("What you like")
    await stage.press("a")
    await stage.sees("looking for answers")
    assert stage.teacher.requests[-1] == FindDisputed(COUNT)


def test_a_pick_is_journaled_like_one_in_a_conversation_and_learned(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await asked(stage)
        stage.hear(Disputed(TWO))
        await stage.sees("Bread [bold]and[/] cheese.")
        assert "1 of 2" in stage.text() and "what shall we eat" in stage.text()
        before = stage.journal.latest_ask()
        await stage.press("4")
        assert "1 of 2" in stage.text(), "there is no answer 4"
        await stage.press("2")
        await stage.sees("where shall we go")
        ask = stage.journal.latest_ask()
        assert ask is not None and ask != before and ask.turns[-1].text == "what shall we eat"
        (judged,) = stage.journal.judgements(ask.id)
        assert judged.judgement == Pick(ask.id, 2) and judged.answer == TWO[0].answers[1]
        assert [c.text for c in stage.journal.candidates(ask.id)] == list(TWO[0].answers)
        assert Learn() in stage.teacher.requests
        await stage.press("n")
        await stage.sees("1 pick.")
        assert stage.journal.latest_ask() == ask, "what was passed over is not in the journal"
        await stage.press("1", "escape")
        await stage.sees("What you like")

    play(scenario, tmp_path)


def test_a_pick_that_could_not_be_taken_is_not_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise JournalError("the disk is full", "make room")

    async def scenario(stage: Stage) -> None:
        await asked(stage)
        stage.hear(Disputed(TWO))
        await stage.sees("1 of 2")
        with monkeypatch.context() as broken:
            broken.setattr(stage.journal, "judge", full)
            await stage.press("1")
            await stage.sees("the disk is full; make room")
        assert "1 of 2" in stage.text()
        await stage.press("1", "n")
        await stage.sees("1 pick.")

    play(scenario, tmp_path)


def test_why_nothing_is_asked_is_told(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await asked(stage)
        stage.hear(Disputed((), "it has no taste yet", "pick more answers"))
        await stage.sees("it has no taste yet; pick more answers")
        await stage.press("1", "n", "escape", "a")
        await stage.sees("looking for answers")
        stage.hear(WorkerLost("gone", restarting=True))
        await stage.sees("process ended; escape, and try again")
        stage.hear(Disputed(()))
        await stage.sees("nothing is in dispute")
        assert isinstance(stage.app.screen, DisputedScreen)

    play(scenario, tmp_path)
