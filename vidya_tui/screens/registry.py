"""Creates the screens beside the chat; imports each on first use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vidya_tui.controller.context import ScreenContext
from vidya_tui.controller.edits import lesson_to_compare

if TYPE_CHECKING:
    from vidya_tui.screens.base import SubScreen


def open_screen(place: ScreenContext, name: str, argument: int | str | None) -> SubScreen[Any]:
    """The screen for a command. argument: search words, or the number of a lesson. Raises VidyaError."""
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
