"""Widgets that are no longer shown are freed, so an app that is open for days does not grow."""

from __future__ import annotations

import gc
from collections import Counter
from pathlib import Path

import pytest
from textual.dom import DOMNode

from tests.stage import Stage, play
from vidya_tui.widgets.key_line import KeyLine


def gone() -> Counter[str]:
    """The widgets that are on no screen and still in memory, by kind."""
    gc.collect()
    return Counter(
        type(node).__qualname__
        for node in gc.get_objects()
        if isinstance(node, DOMNode) and node.parent is None and not node.is_attached
    )


@pytest.mark.slow
def test_widgets_of_earlier_exchanges_are_let_go_of(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.say("hello")
        await stage.until(lambda: "five answers" in stage.text())
        before = gone()
        for number in range(15):
            await stage.say(f"exchange {number}")
            await stage.until(lambda number=number: f"You    exchange {number}" in stage.text())  # type: ignore[misc]
            # before there are answers the next one would replace it
            await stage.until(lambda: "12345 pick" in stage.footer())
        # some of the last keys, not all there ever were; what is removed goes when the app has time
        await stage.until(lambda: sum((gone() - before).values()) < 300)

    play(scenario, tmp_path)


def test_the_line_of_keys_is_made_anew_only_when_it_says_something_else(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        line = stage.app.chat.query_one(KeyLine)
        await stage.say("hello")
        await stage.until(lambda: "12345 pick" in stage.footer())
        await stage.still()  # the line is made anew once more where the last answer ends
        children = list(line.children)
        stage.app.chat.refresh_bindings()
        await stage.pilot.pause(0.1)
        assert list(line.children) == children, "the same keys are the same widgets"
        await stage.press("2")
        await stage.until(lambda: "12345 pick" not in stage.footer())
        await stage.until(lambda: list(line.children) != children)

    play(scenario, tmp_path)
