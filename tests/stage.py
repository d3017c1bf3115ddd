"""Runs the app without a terminal, with a scripted teacher, for tests that press keys and look."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import RenderableType
from textual import events
from textual._context import visible_screen_stack
from textual.app import App
from textual.pilot import Pilot
from textual.screen import Screen
from textual.strip import Strip
from textual.widgets import Input, TextArea

from learning.home import Home
from learning.journal.journal import Journal
from learning.protocol.events import Event, LearnerState, Ready
from tests.downloads import no_download
from tests.fakes import ScriptedTeacher
from tests.kept_styles import keep_styles
from tests.late import LateEvents, late_events, late_keys, stalls
from tests.quiet import wait_by_the_loop, wait_until_quiet
from vidya_tui.app.app import VidyaApp
from vidya_tui.session.session import Session
from vidya_tui.settings.file import Settings
from vidya_tui.worker.fetcher import Command

keep_styles()
wait_by_the_loop()


def seen(app: App[None]) -> list[Strip]:
    """The lines of the screen with their colours, as the app draws them: beneath a box stands the screen that
    it covers. Without naming that screen Textual would draw nothing there, and keep what it drew."""
    visible_screen_stack.set(app._background_screens)
    return app.screen._compositor.render_strips()


TEXTS = ("one answer", "two answers", "three answers", "four answers", "five answers")


@dataclass
class Stage:
    """What a scenario has at hand."""

    app: VidyaApp
    pilot: Pilot[None]
    teacher: ScriptedTeacher
    journal: Journal
    home: Home
    _chance: random.Random = field(default_factory=lambda: random.Random(0))
    _paints: int = 0
    """How often the app has drawn something."""
    _drawn: tuple[object, list[Strip]] = (None, [])
    """What was drawn when, and the lines of the screen then."""
    _waits: int = 0

    def __post_init__(self) -> None:
        display = self.app._display

        def counted(screen: Screen[object], renderable: RenderableType | None) -> None:
            self._paints += 1
            display(screen, renderable)

        self.app._display = counted  # type: ignore[method-assign]

    async def until(self, true: Callable[[], bool], seconds: float = 20.0) -> None:
        """Waits for something to become true; fails where it does not."""
        loop = asyncio.get_running_loop()
        end = loop.time() + seconds
        with self._waiting():
            while not true():
                assert loop.time() < end, f"never came true; the screen is\n{self.text()}"
                await asyncio.sleep(0.005)
                await wait_until_quiet(max_sleep=0.1)

    async def sees(self, words: str) -> None:
        """Waits for words to stand on the screen, and for the frame that was due then."""
        await self.until(lambda: words in self.text())
        await asyncio.sleep(0.02)
        await wait_until_quiet(max_sleep=0.1)

    async def still(self, looks: int = 5) -> None:
        """Waits until nothing moves: the screen, its colours and the log's place are the same in some
        looks, a moment apart, with the app idle in between; fails where it never rests."""

        def look() -> tuple[object, ...]:
            view = self.app.chat.conversation
            busy = (
                view._window.moving,
                view._waiting,
                self.app.animator.is_being_animated(view, "scroll_y"),
            )
            return self.strips(), view.scroll_y, view.max_scroll_y, view.region, busy

        for screen in self.app.screen_stack:
            for text in screen.query(TextArea):
                text.cursor_blink = False
                text.notify_style_update()  # else a line drawn while the cursor was hidden is kept
            for line in screen.query(Input):
                line.cursor_blink = False
        with self._waiting():
            seen, same = look(), 0
            for _ in range(200):
                await asyncio.sleep(0.05)
                await wait_until_quiet()
                now = look()
                seen, same = now, same + 1 if now == seen else 0
                if same >= looks:
                    return
        raise AssertionError(f"it never rests; the screen is\n{self.text()}")

    async def press(self, *keys: str) -> None:
        """Presses keys in one burst, as a fast typist or a paste without brackets does."""
        characters = {"space": " ", "slash": "/", "enter": "\r", "tab": "\t"}
        await late_keys(self._chance)
        for key in keys:
            character = characters.get(key, key if len(key) == 1 else None)
            self.app.post_message(events.Key(key, character))
        await asyncio.sleep(0.01)  # what a key makes ready by way of another thread is ready then
        await wait_until_quiet()

    async def turn(self, key: str, pages: int) -> None:
        """Presses a key of pages so many times, each after the page before it was laid out: while the log's
        window moves, a key at its edge does nothing."""
        for _ in range(pages):
            await self.press(key)
            await asyncio.sleep(0.03)
            await self.until(lambda: not self.app.chat.conversation._window.moving)

    async def write(self, text: str) -> None:
        """Types text, key by key."""
        names = {" ": "space", "/": "slash", "\n": "ctrl+j"}
        await self.press(*(names.get(letter, letter) for letter in text))

    async def say(self, text: str) -> None:
        """Types text and sends it."""
        await self.write(text)
        await self.press("enter")

    def exchange(self, text: str, number: int = 1) -> None:
        """One message and its answer of that number, at once and without keys."""
        self.session.say(text)
        self.teacher.finish()
        self.hurry()
        self.app._frame()
        self.session.pick(number)

    def hurry(self) -> None:
        """What the teacher has said already is heard now, not late."""
        if isinstance(self.teacher.on_event, LateEvents):
            self.teacher.on_event.hurry()

    def hear(self, event: Event) -> None:
        """An event of the teacher."""
        assert self.teacher.on_event is not None
        self.teacher.on_event(event)

    def text(self) -> str:
        """What stands on the screen, line by line."""
        return "\n".join(strip.text.rstrip() for strip in self.strips())

    def strips(self) -> list[Strip]:
        """The lines of the screen with their colours."""
        if self._waits:
            moment = (self.app.screen, self._paints)
            if self._drawn[0] != moment:
                self._drawn = moment, seen(self.app)
            return self._drawn[1]
        return seen(self.app)

    @contextmanager
    def _waiting(self) -> Iterator[None]:
        """Meanwhile `strips` renders the screen anew only after the app has drawn something."""
        self._waits += 1
        self._drawn = (None, [])
        try:
            yield
        finally:
            self._waits -= 1

    def footer(self) -> str:
        return self.text().split("\n")[-1]

    @property
    def session(self) -> Session:
        controller = self.app.chat._controller
        assert controller is not None
        return controller.session

    @property
    def prompt(self) -> str:
        return self.app.chat.prompt.text


Scenario = Callable[[Stage], Awaitable[None]]


def play(
    scenario: Scenario,
    folder: Path,
    *,
    size: tuple[int, int] = (80, 24),
    texts: tuple[str, ...] = TEXTS,
    manual: bool = False,
    ready: bool = True,
    settings: Settings | None = None,
    first: bool = False,
    fetch: Command = no_download,
) -> VidyaApp:
    """Runs a scenario on a new app in `folder`. manual: nothing streams until the scenario pumps.
    ready: the model is loaded at once. first: nobody was here before. fetch: in place
    of the process that fetches models."""
    home = Home(folder / "home")
    if not first:
        home.welcomed_path.touch()
    journal = Journal(home.journal_path)
    teacher = ScriptedTeacher(texts, manual=manual, journal=journal)

    def make(on_event: Callable[[Event], None], model: str | None = None, /) -> ScriptedTeacher:
        teacher.on_event = on_event = late_events(on_event)
        if ready:
            on_event(Ready(model or "10m", 1, 10_200_000, "cpu"))
            on_event(LearnerState("idle", book_recall=0.98))
        return teacher

    app = VidyaApp(home, lambda: journal, make, settings or Settings(theme="dark"), fetch=fetch)

    async def run() -> None:
        async with stalls(), app.run_test(size=size) as pilot:
            stage = Stage(app, pilot, teacher, journal, home)
            await stage.until(lambda: app.teacher is not None)
            stage.hurry()
            await pilot.pause()
            await scenario(stage)

    try:
        asyncio.run(run())
    finally:
        if app.fetcher is not None:
            app.fetcher.close()
        journal.close()
    return app
