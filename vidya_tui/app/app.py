"""The Textual app: themes, delivery of the teacher's events to the screens, opening of screens.

Paints the first frame, then opens the journal and starts the teacher. Its parts are passed in by the
composition root or a test. Does not import torch.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual._compositor import CompositorUpdate
from textual.app import SystemCommand
from textual.binding import Binding, BindingType
from textual.constants import TEXTUAL_ANIMATIONS
from textual.driver import Driver
from textual.filter import Monochrome, NoColor
from textual.message import Message
from textual.screen import Screen
from textual.timer import Timer

from engine.errors import VidyaError
from learning.home import Home
from vidya_tui.app import last_call
from vidya_tui.app.event_queue import Inbox
from vidya_tui.app.shutdown import LeavingApp
from vidya_tui.app.themes import DARK, LIGHT
from vidya_tui.commands.keymap import each, keymap, known
from vidya_tui.commands.parse import RunCommand, find
from vidya_tui.screens.chat.screen import ChatScreen
from vidya_tui.settings.file import Settings, SettingsError, placed
from vidya_tui.settings.themes import theme_name
from vidya_tui.terminal import first_frame
from vidya_tui.terminal.gc_pauses import Rests, by_hand, collect_again
from vidya_tui.terminal.saved_prompt import Unsent
from vidya_tui.text.sanitise import plain
from vidya_tui.widgets.prompt import DIGITS

if TYPE_CHECKING:  # not imported at run time, so that the first frame appears sooner
    from textual.command import Provider

    from learning.journal.journal import Journal
    from vidya_tui.controller.controller import Controller
    from vidya_tui.controller.models import ModelControl
    from vidya_tui.widgets.welcome_hint import Guide
    from vidya_tui.worker.fetcher import Command
    from vidya_tui.worker.switching import MakeTeacher

STYLES = Path(__file__).parents[1] / "styles"
FRAMES = 12
"""Redraws per second while events arrive."""
SIGNS = (
    events.Key,
    events.Paste,
    events.MouseDown,
    events.MouseScrollDown,
    events.MouseScrollUp,
)
"""Terminal events that show that the owner is at the keyboard."""
IDLE_FRAMES = 6
"""The redraw timer pauses after this many frames without an event."""


def _palette_commands() -> type[Provider]:
    """The palette's provider; its module is imported when the palette first opens."""
    from vidya_tui.screens.palette import Commands

    return Commands


class VidyaApp(LeavingApp):
    """The app. `run_app` runs it; tests use `run_test` with a scripted teacher."""

    TITLE = "vidya"
    # Here and not on the screens: Textual does not load the CSS_PATH of its default screen.
    # Absolute paths, because a subclass may be defined in another folder.
    CSS_PATH: ClassVar[list[str | PurePath]] = [
        STYLES / "app.tcss",
        STYLES / "chat.tcss",
        STYLES / "modal.tcss",
        STYLES / "control.tcss",
    ]
    ENABLE_COMMAND_PALETTE = True
    COMMANDS: ClassVar[set[type[Provider] | Callable[[], type[Provider]]]] = {_palette_commands}
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "skip_welcome", "skip", show=False, priority=True),
    ]

    class Arrived(Message):
        """The inbox holds events."""

    class Begun(Message):
        """The first frame is painted and the prompt takes keys."""

    def __init__(
        self,
        home: Home,
        open_journal: Callable[[], Journal],
        make_teacher: MakeTeacher,
        settings: Settings,
        *,
        seed: int | None = None,
        strange: Sequence[SettingsError] = (),
        fetch: Command | None = None,
    ) -> None:
        """Raises SettingsError if the settings assign keys that cannot be used.

        open_journal: called after the first frame; `run_app` closes the journal. seed: for sampling
        the first candidates; None gives different candidates each time. strange: errors in the
        settings file that were ignored; the app shows them. fetch: replaces the process that fetches
        models in tests."""
        super().__init__()
        # with NO_COLOR, Textual's Monochrome filter still uses greys; NoColor uses no colours at all
        self._filters = [NoColor() if isinstance(one, Monochrome) else one for one in self._filters]
        self._seed = seed
        self._home = home
        self._open_journal = open_journal
        self.journal: Journal | None = None
        self.failure: VidyaError | None = None
        """The error that kept the app from starting."""
        self._make_teacher, self._fetch = make_teacher, fetch
        self._settings = settings
        self._inbox = Inbox(lambda: self.post_message(self.Arrived()))
        self._frames: Timer | None = None
        self._quiet_frames = 0
        self._early: list[events.Event] | None = []
        """Keys and pastes that arrived before the prompt existed; None once they were replayed."""
        self._unsent = Unsent(home)
        self._rests: Rests | None = None
        self.control: ModelControl | None = None
        self._guide: Guide | None = None
        self.register_theme(DARK)
        self.register_theme(LIGHT)
        self._look(settings)  # before the styles load: a later theme change would load them again
        keys, unknown = known(settings.keys)
        self.keys = keymap(keys)
        self._strange = [*strange, *(placed(home.settings_path, error) for error in unknown)]
        self._bindings.key_to_bindings.pop("ctrl+q", None)
        for key in each(self.keys["quit"]):
            self._bindings.bind(key, "quit", "quit", show=False, priority=True)
        for key in each(self.keys["help"]):
            self._bindings.bind(key, "help", "help")  # for other screens; the chat binds its own
        self.chat = ChatScreen(self.keys)

    def get_default_screen(self) -> Screen[object]:
        return self.chat  # type: ignore[return-value]

    def get_driver_class(self) -> type[Driver]:
        from vidya_tui.terminal.continuing import continues
        from vidya_tui.terminal.paste_parser import whole_pastes

        driver = whole_pastes(super().get_driver_class())
        return continues(last_call.outlives_its_terminal(driver))

    def on_mount(self) -> None:
        first_frame.taken_over()
        self._frames = self.set_interval(1 / FRAMES, self._frame, pause=True)
        self._leave_in_order_on_signals()
        self.chat.call_after_refresh(self._start)

    def _painted(self) -> str:
        """The whole screen as the escape sequences that paint it."""
        update = self.chat._compositor.render_update(full=True)
        assert isinstance(update, CompositorUpdate)
        return update.render_segments(self.console)

    def _look(self, settings: Settings) -> None:
        """Applies the settings that concern appearance: theme and motion."""
        name = theme_name(settings.theme, frozenset(self.available_themes), os.environ)
        if name != self.theme:
            self.theme = name
        self.animation_level = TEXTUAL_ANIMATIONS if settings.motion else "none"
        self._settings = settings

    # ------------------------------------------------------------ the teacher's events

    def _start(self) -> None:
        """Runs after the first frame: opens the journal, starts the teacher and the session."""
        from vidya_tui.controller.controller import Controller
        from vidya_tui.controller.models import ModelControl
        from vidya_tui.session.session import Session
        from vidya_tui.worker.fetcher import Fetcher, fetch_command
        from vidya_tui.worker.switching import SwitchingTeacher

        collect_again()
        if not self.is_headless:
            self._rests = Rests(self.set_timer)
            first_frame.keep(self._home, self._painted())
        self.post_message(self.Begun())
        try:
            journal = self.journal = self._open_journal()
        except VidyaError as error:
            self.failure = error
            self.exit(return_code=1)
            return
        try:
            teacher = SwitchingTeacher(self._make_teacher, self._inbox.put)
        except VidyaError as error:
            self.chat.notice.say(str(error), trouble=True, stay=True)
            return
        self.teacher = teacher
        session = Session(journal, teacher, seed=self._seed, book_path=self._home.book_path)
        self.fetcher = Fetcher(self._home, self._inbox.put, self._fetch or fetch_command)
        controller = Controller(journal, session, teacher, self.keys, self.fetcher)
        self.control = ModelControl(self._home, self._settings, controller, teacher, self._look)
        self.chat.home = self._home
        self.chat.begin(controller, teacher)
        if not self._early:  # otherwise the restored text would land in front of what is typed now
            self._unsent.put_back(self.chat.take_back)
        self._welcome(journal, controller)
        if unfinished := self.control.unfinished():
            self.chat.tell(unfinished)
        if self._strange:
            folder = f"{self._home.path}/"
            told = "; ".join(str(error).replace(folder, "") for error in self._strange)
            self.chat.notice.say(told, trouble=True, stay=True)

    def on_vidya_app_arrived(self) -> None:
        if self._frames is not None:
            self._quiet_frames = 0
            self._frame()
            self._frames.resume()

    def _frame(self) -> None:
        """Passes the waiting events to the screens, which redraw once. Pauses the timer when no
        event has arrived for IDLE_FRAMES frames."""
        if events := self._inbox.drain():
            self._quiet_frames = 0
            if self._rests:
                self._rests.happened()
            self.chat.take(events)
            if self.control is not None and (words := self.control.go_on()):
                self.chat.tell(words)
            for screen in self.screen_stack:
                if hear := getattr(screen, "hear", None):  # a screen other than the chat
                    hear(events)
            return
        self._quiet_frames += 1
        if self._quiet_frames >= IDLE_FRAMES and self._inbox.rest() and self._frames is not None:
            self._frames.pause()

    async def on_event(self, event: events.Event) -> None:
        """Reports every input of the owner, on any screen, so that background training pauses.
        Removes control characters from every paste, whichever field receives it."""
        if self._early is not None and isinstance(event, events.Key | events.Paste):
            self._early.append(event)
            return
        if isinstance(event, SIGNS):
            self.chat.owner_active()
            self.save_soon()
            if self._rests:
                self._rests.happened()
        if isinstance(event, events.Key):
            if event.is_printable and not event.is_forwarded and self._bound(event.key):
                event = events.Key(
                    event.key, None
                )  # alt+x carries the letter x: drop it, use the binding
        elif isinstance(event, events.Paste):
            event = events.Paste(plain(event.text))
        await super().on_event(event)

    async def on_vidya_app_begun(self) -> None:
        """Replays, in order, what was typed before the prompt existed."""
        early, self._early = self._early, None
        for event in early or ():
            await self.on_event(event)

    def simulate_key(self, key: str) -> None:
        """A click in the footer. A digit picks that candidate at once, without a typed digit's delay."""
        if key in DIGITS and self.screen is self.chat:
            self.chat.prompt.action_pick(int(key))
        else:
            super().simulate_key(key)

    def _bound(self, key: str) -> bool:
        """True if a combination such as alt+x is bound on the current screen."""
        chain = self.screen._modal_binding_chain if "+" in key else ()
        return any(key in bindings.key_to_bindings for _, bindings in chain)

    # ------------------------------------------------------------ the first time

    def _welcome(self, journal: Journal, controller: Controller) -> None:
        """Shows the guide on the first start: no earlier welcome, and no question asked yet."""
        if self._home.welcomed_path.exists() or journal.latest_ask() is not None:
            return
        from vidya_tui.state import welcome
        from vidya_tui.widgets.welcome_hint import Guide

        def look() -> welcome.Advice:
            chosen = controller.session.answer is not None
            seen = welcome.seen(journal.lessons(), journal.questions(), chosen=chosen)
            return welcome.advice(seen, self.keys)

        self._guide = Guide(look, self._welcomed, controller.fetches.offer)
        self.chat.mount(self._guide, before=self.chat.prompt)

    def _welcomed(self) -> None:
        """Records that the guide was shown, so that it does not appear again."""
        with contextlib.suppress(OSError):
            self._home.welcomed_path.touch(mode=0o600)

    def action_skip_welcome(self) -> None:
        if self._guide is not None:
            self._guide.remove()
            self._guide = None
        self._welcomed()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "skip_welcome":
            guide = self._guide
            there = guide is not None and guide.is_attached
            return there and self.screen is self.chat and not self.chat.uses_escape()
        return super().check_action(action, parameters)

    # ------------------------------------------------------------ screens other than the chat

    def on_chat_screen_wanted(self, message: ChatScreen.Wanted) -> None:
        self._open(message.name)

    def _open(self, name: str | None) -> None:
        """Opens a screen that changes more than the conversation."""
        control = self.control
        if control is None or name is None:
            return
        from vidya_tui.screens.registry import open_app_screen

        screen = open_app_screen(control, name, sorted(self.available_themes), self._command)
        self.push_screen(screen, self._open)

    def action_help(self) -> None:
        self._command("help")()

    def _command(self, name: str) -> Callable[[], None]:
        """A function that runs a chat command without arguments."""
        return lambda: self.chat.run(RunCommand(find(name)))

    # ------------------------------------------------------------ the palette

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """The slash commands that work now, one entry per argument, and the palette's own entries."""
        from vidya_tui.screens.palette import offered

        for title, run in offered(self.chat.situation, self.screen_stack):
            yield SystemCommand(title, run.command.help, lambda run=run: self._chosen(run))
        yield SystemCommand("theme", "another look, until you quit", self.action_change_theme)
        yield SystemCommand("keys", "the keys that work now", self.action_show_help_panel)

    def _chosen(self, run: RunCommand) -> None:
        """Runs a command picked in the palette. Closes the screens above the chat first, unless the
        command works on every screen."""
        from vidya_tui.screens.palette import ANYWHERE

        while self.screen is not self.chat and run.command.name not in ANYWHERE:
            self.screen.dismiss()
        self.chat.run(run)

    def action_command_palette(self) -> None:
        from vidya_tui.screens.palette import Palette

        if not any(isinstance(screen, Palette) for screen in self.screen_stack):
            self.push_screen(Palette(id="--command-palette"))


def run_app(
    home: Home,
    open_journal: Callable[[], Journal],
    make_teacher: MakeTeacher,
    settings: Settings,
    *,
    seed: int | None = None,
    strange: Sequence[SettingsError] = (),
) -> int:
    """Runs the app until the owner leaves. Returns the exit status. Raises VidyaError if the journal
    cannot be opened, and SettingsError (a VidyaError) if the settings assign keys that cannot be
    used. strange: errors in the settings file that were ignored; the app shows them."""
    try:
        app = VidyaApp(home, open_journal, make_teacher, settings, seed=seed, strange=strange)
    except SettingsError as error:
        raise placed(home.settings_path, error) from None
    try:
        with by_hand():
            app.run()
    finally:
        if not app.leaving:
            app.close_teacher()
        if app.journal is not None:
            app.journal.close()
    if app.failure is not None:
        raise app.failure
    return app.return_code or 0
