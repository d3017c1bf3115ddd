"""What scenarios type first, what then stands in the journal, and which screen a command opens."""

from __future__ import annotations

from typing import Any

from textual.screen import Screen

from tests.stage import Stage
from vidya_tui.screens.book import BookScreen
from vidya_tui.screens.compare import BeforeAfterScreen
from vidya_tui.screens.help import HelpScreen
from vidya_tui.screens.history import HistoryScreen
from vidya_tui.screens.lessons import LessonsScreen
from vidya_tui.screens.model import ModelScreen
from vidya_tui.screens.practice import PracticeScreen
from vidya_tui.screens.progress import ProgressScreen
from vidya_tui.screens.settings import SettingsScreen
from vidya_tui.screens.taste import TasteScreen
from vidya_tui.screens.train import TrainScreen

OPENS: dict[str, type[Screen[Any]]] = {
    **{"practice": PracticeScreen, "curve": TrainScreen, "lessons": LessonsScreen},
    **{"compare": BeforeAfterScreen, "book": BookScreen, "progress": ProgressScreen},
    **{"history": HistoryScreen, "model": ModelScreen, "settings": SettingsScreen},
    **{"help": HelpScreen, "taste": TasteScreen},
}


async def waiting(stage: Stage) -> None:
    await stage.say("hello")
    stage.teacher.finish()
    await stage.sees("5 five answers")


async def answered(stage: Stage) -> None:
    await waiting(stage)
    await stage.press("3")
    await stage.sees("preferred 3")


def judgements(stage: Stage) -> list[object]:
    ask = stage.journal.latest_ask()
    assert ask is not None
    return [judged.judgement for judged in stage.journal.judgements(ask.id) if judged.stands]


async def stands(stage: Stage, kind: type[Screen[Any]]) -> None:
    """Waits for a screen to be the one in front."""
    await stage.until(lambda: type(stage.app.screen) is kind)


async def edited(stage: Stage) -> None:
    await answered(stage)
    await stage.say("/edit good evening")
    await stage.sees("You    good evening")
    assert stage.journal.questions() == ["hello", "good evening"]
