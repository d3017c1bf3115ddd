"""The prompt alone, with a host that the test steers."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from textual import events
from textual.app import App, ComposeResult
from textual.pilot import Pilot

from vidya_tui.widgets.prompt import Prompt


class Host(App[None]):
    """An app with nothing but a prompt."""

    def __init__(self) -> None:
        super().__init__()
        self.cards: set[int] = set()
        self.picked: list[int] = []
        self.sent: list[str] = []
        self.offered: list[str] = []
        self.prompt = Prompt(self, "say")

    def compose(self) -> ComposeResult:
        yield self.prompt

    def can_pick(self, number: int) -> bool:
        return number in self.cards

    def pick(self, number: int) -> None:
        self.cards.clear()
        self.picked.append(number)

    def completion_open(self) -> bool:
        return bool(self.offered) and self.prompt.text.startswith("/")

    def completion_move(self, step: int) -> None:
        self.offered = self.offered[step:] + self.offered[:step]

    def completion_close(self) -> None:
        self.offered = []

    def completion_take(self) -> str | None:
        return None if self.offered[0] == self.prompt.text else self.offered[0]

    def on_prompt_submitted(self, message: Prompt.Submitted) -> None:
        self.sent.append(message.text)


def play(scenario: Callable[[Host, Pilot[None]], Awaitable[None]]) -> None:
    async def run() -> None:
        app = Host()
        async with app.run_test(size=(60, 12)) as pilot:
            app.prompt.focus()
            await pilot.pause()
            await scenario(app, pilot)

    asyncio.run(run())


async def type_in(app: Host, pilot: Pilot[None], *keys: str) -> None:
    characters = {"enter": "\r", "space": " ", "slash": "/"}
    for key in keys:
        character = characters.get(key, key if len(key) == 1 else None)
        app.post_message(events.Key(key, character))
    await pilot.pause()


def test_enter_sends_and_ctrl_j_makes_a_line() -> None:
    async def scenario(app: Host, pilot: Pilot[None]) -> None:
        await type_in(app, pilot, "a", "ctrl+j", "b", "shift+enter", "c", "enter")
        assert app.sent == ["a\nb\nc"] and app.prompt.text == ""

    play(scenario)


def test_an_empty_line_is_not_sent() -> None:
    async def scenario(app: Host, pilot: Pilot[None]) -> None:
        await type_in(app, pilot, "enter", "space", "enter")
        assert app.sent == [] and app.prompt.text == " "

    play(scenario)


def test_what_is_typed_behind_enter_begins_the_next_message() -> None:
    async def scenario(app: Host, pilot: Pilot[None]) -> None:
        await type_in(app, pilot, "a", "enter", "b")
        assert app.sent == ["a"] and app.prompt.text == "b"

    play(scenario)


def test_digits_pick_only_what_can_be_picked() -> None:
    async def scenario(app: Host, pilot: Pilot[None]) -> None:
        app.cards = {1, 2}
        await type_in(app, pilot, "3")
        assert app.prompt.text == "3" and app.picked == []
        await type_in(app, pilot, "backspace", "2", "1")
        assert app.picked == [] and app.prompt.text == "21"
        await type_in(app, pilot, "ctrl+u", "2", "backspace", "1", "enter", "2")
        assert app.picked == [1] and app.prompt.text == "2"

    play(scenario)


def test_a_space_lets_a_message_begin_with_a_digit() -> None:
    async def scenario(app: Host, pilot: Pilot[None]) -> None:
        app.cards = {1, 2}
        await type_in(app, pilot, "space", "2", "enter")
        assert app.picked == [] and app.sent == [" 2"]

    play(scenario)


def test_history_and_the_draft() -> None:
    async def scenario(app: Host, pilot: Pilot[None]) -> None:
        await type_in(app, pilot, "a", "enter", "b", "enter", "d", "up")
        assert app.prompt.text == "b"
        await type_in(app, pilot, "up", "up")
        assert app.prompt.text == "a"
        await type_in(app, pilot, "x", "down", "down")
        assert app.prompt.text == "d"  # the draft is back
        await type_in(app, pilot, "down")
        assert app.prompt.text == "d"
        await type_in(app, pilot, "up", "up")
        assert app.prompt.text == "ax"  # and so is the line that was edited

    play(scenario)


def test_arrows_move_in_a_text_of_many_lines() -> None:
    async def scenario(app: Host, pilot: Pilot[None]) -> None:
        await type_in(app, pilot, "z", "enter", "a", "ctrl+j", "b", "up", "x")
        assert app.prompt.text == "ax\nb"
        await type_in(app, pilot, "up")
        assert app.prompt.text == "z"
        await type_in(app, pilot, "down")
        assert app.prompt.text == "ax\nb"

    play(scenario)


def test_a_text_is_put_back_before_what_was_typed_since() -> None:
    async def scenario(app: Host, pilot: Pilot[None]) -> None:
        await type_in(app, pilot, "a", "enter", "b")
        app.prompt.put_back("a")
        assert app.prompt.text == "a\nb"
        await type_in(app, pilot, "ctrl+z")
        assert app.prompt.text == "b"

    play(scenario)


def test_pastes_lose_nothing_but_their_power() -> None:
    async def scenario(app: Host, pilot: Pilot[None]) -> None:
        app.cards = {1}
        app.post_message(events.Paste("1\x1b[31m\r\n2"))
        await pilot.pause()
        assert app.prompt.text == "1\u241b[31m\n2" and app.picked == []
        app.copy_to_clipboard("\x07")
        await type_in(app, pilot, "ctrl+v")
        assert app.prompt.text == "1\u241b[31m\n2\u2407"

    play(scenario)


def test_a_large_paste() -> None:
    async def scenario(app: Host, pilot: Pilot[None]) -> None:
        app.post_message(events.Paste("word " * 20_000))
        await pilot.pause()
        await type_in(app, pilot, "enter")
        assert app.sent == ["word " * 20_000]

    play(scenario)


def test_completions() -> None:
    async def scenario(app: Host, pilot: Pilot[None]) -> None:
        app.offered = ["/new", "/next"]
        await type_in(app, pilot, "slash", "n", "down", "tab")
        assert app.prompt.text == "/next"
        await type_in(app, pilot, "enter")
        assert app.sent == ["/next"]
        await type_in(app, pilot, "slash", "up", "enter")
        assert app.prompt.text == "/new" and app.sent == ["/next"]
        await type_in(app, pilot, "ctrl+u", "slash", "escape", "enter")
        assert app.sent == ["/next", "/"]

    play(scenario)
