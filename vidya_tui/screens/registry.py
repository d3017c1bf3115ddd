"""Creates the screen that belongs to a command; imports each on first use.

Whether the chat or the app opens it stands in the table of commands (commands/table.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from textual.screen import Screen

from vidya_tui.controller.context import ScreenContext
from vidya_tui.controller.edits import lesson_to_compare

if TYPE_CHECKING:
    from vidya_tui.controller.models import ModelControl
    from vidya_tui.screens.base import SubScreen


def open_app_screen(
    control: ModelControl,
    name: str,
    themes: Sequence[str],
    command: Callable[[str], Callable[[], None]],
) -> Screen[Any]:
    """A screen that the app opens. themes: to choose from; command: makes a function that runs a command
    of the chat."""
    if name == "settings":
        from vidya_tui.screens.settings import SettingsScreen

        return SettingsScreen(control, themes)
    if name == "model":
        from vidya_tui.screens.model import ModelScreen

        return ModelScreen(control)
    if name == "taste":
        from vidya_tui.screens.disputed import DisputedScreen
        from vidya_tui.screens.taste import TasteScreen

        return TasteScreen(
            control.taste, lambda: DisputedScreen(control.find_disputed, control.pick_disputed)
        )
    from vidya_tui.screens.train import TrainScreen

    return TrainScreen(lambda: control.controller.training, command("train"), command("cancel"))


def open_screen(place: ScreenContext, name: str, argument: int | str | None) -> SubScreen[Any]:
    """A screen that the chat opens. argument: search words, or the number of a lesson. Raises VidyaError."""
    search = "" if argument is None else str(argument)
    if name == "lessons":
        from vidya_tui.screens.lessons import LessonsScreen

        return LessonsScreen(place, search)
    if name == "compare":
        return _compare(place, argument if isinstance(argument, int) else None)
    if name == "book":
        from vidya_tui.screens.book import BookScreen

        return BookScreen(place, search)
    if name == "history":
        from vidya_tui.screens.history import HistoryScreen

        return HistoryScreen(place, search)
    from vidya_tui.screens.progress import ProgressScreen

    return ProgressScreen(place)


def _compare(place: ScreenContext, number: int | None) -> SubScreen[Any]:
    from vidya_tui.screens.compare import BeforeAfterScreen

    return BeforeAfterScreen(place, lesson_to_compare(place.journal, number))
