"""The Textual shell: themes, the bridge from the teacher's events to the screen, what opens when.

Built by the composition root, or by a test, from parts it is given. The teacher is made after the
first frame is painted. Nothing in this process imports torch.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, ClassVar

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
from vidya_tui.commands.keymap import each, keymap, known, shown
from vidya_tui.commands.parse import RunCommand, find
from vidya_tui.screens.chat.screen import ChatScreen
from vidya_tui.settings.file import Settings, SettingsError, placed
from vidya_tui.settings.themes import theme_name
from vidya_tui.terminal import first_frame
from vidya_tui.terminal.gc_pauses import Rests, by_hand, collect_again
from vidya_tui.terminal.saved_prompt import Unsent
from vidya_tui.text.sanitise import plain
from vidya_tui.widgets.prompt import DIGITS

if TYPE_CHECKING:  # the first frame waits for no more than it needs
    from textual.command import Provider

    from learning.journal.journal import Journal
    from vidya_tui.controller.controller import Controller
    from vidya_tui.controller.models import ModelControl
    from vidya_tui.widgets.welcome_hint import Guide
    from vidya_tui.worker.switching import MakeTeacher

STYLES = Path(__file__).parents[1] / "styles"
FRAMES = 12
"""How often a second the screen is drawn while events come."""
SIGNS = (
    events.Key,
    events.Paste,
    events.MouseDown,
    events.MouseScrollDown,
    events.MouseScrollUp,
)
"""What says that the owner is there."""
IDLE_FRAMES = 6
"""Frames without an event after which the drawing rests."""


def _palette_commands() -> type[Provider]:
    """Loaded with the palette."""
    from vidya_tui.screens.palette import Commands

    return Commands


class VidyaApp(LeavingApp):
    """The app. `run_app` runs it; tests use `run_test` with a scripted teacher."""

    TITLE = "vidya"
    # Here and not on the screens: Textual does not load what its default screen names. Whole
    # paths: a subclass may stand in another folder.
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
        """Events wait in the inbox."""

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
    ) -> None:
        """Raises SettingsError where the keys of the settings cannot be.

        open_journal: called after the first frame; `run_app` closes the journal. seed: of the first
        candidates; None draws them anew each time."""
        super().__init__()
        # Textual's own for NO_COLOR leaves greys of its theme: no colour is the terminal's own two
        self._filters = [NoColor() if isinstance(one, Monochrome) else one for one in self._filters]
        self._seed = seed
        self._home = home
        self._open_journal = open_journal
        self.journal: Journal | None = None
        self.failure: VidyaError | None = None
        """Why the app could not begin."""
        self._make_teacher = make_teacher
        self._settings = settings
        self._inbox = Inbox(lambda: self.post_message(self.Arrived()))
        self._frames: Timer | None = None
        self._quiet_frames = 0
        self._early: list[events.Event] | None = []
        """What was typed before there was a prompt."""
        self._unsent = Unsent(home)
        self._rests: Rests | None = None
        self.control: ModelControl | None = None
        self._guide: Guide | None = None
        self.register_theme(DARK)
        self.register_theme(LIGHT)
        self._look(settings)  # before the styles are read, which would be read again
        keys, unknown = known(settings.keys)
        self.keys = keymap(keys)
        self._strange = [*strange, *(placed(home.settings_path, error) for error in unknown)]
        self._bindings.key_to_bindings.pop("ctrl+q", None)
        for key in each(self.keys["quit"]):
            self._bindings.bind(key, "quit", "quit", show=False, priority=True)
        for key in each(self.keys["help"]):
            self._bindings.bind(key, "help", "help")  # beside the chat, which has its own
        self.chat = ChatScreen(self.keys)

    def get_default_screen(self) -> Screen[object]:
        return self.chat  # type: ignore[return-value]

    def get_driver_class(self) -> type[Driver]:
        from vidya_tui.terminal.paste_parser import whole_pastes

        return last_call.outlives_its_terminal(whole_pastes(super().get_driver_class()))

    def on_mount(self) -> None:
        first_frame.taken_over()
        self._frames = self.set_interval(1 / FRAMES, self._frame, pause=True)
        self._leave_in_order_on_signals()
        self.chat.call_after_refresh(self._start)

    def _painted(self) -> str:
        """The whole screen as the terminal is told to paint it."""
        update = self.chat._compositor.render_update(full=True)
        assert isinstance(update, CompositorUpdate)
        return update.render_segments(self.console)

    def _look(self, settings: Settings) -> None:
        """What settings say of the screen."""
        name = theme_name(settings.theme, frozenset(self.available_themes), os.environ)
        if name != self.theme:
            self.theme = name
        self.animation_level = TEXTUAL_ANIMATIONS if settings.motion else "none"
        self._settings = settings

    # ------------------------------------------------------------ the teacher's events

    def _start(self) -> None:
        """After the first frame: journal and teacher, and the session with them."""
        from vidya_tui.controller.controller import Controller
        from vidya_tui.controller.models import ModelControl
        from vidya_tui.session.session import Session
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
        desk = Controller(journal, session, teacher, self.keys)
        self.control = ModelControl(self._home, self._settings, desk, teacher, self._look)
        self.chat.home = self._home
        self.chat.begin(desk, teacher)
        if not self._early:  # else it waits: what is typed now must not end up behind it
            self._unsent.put_back(self.chat.take_back)
        self._welcome(journal, desk)
        if unfinished := self.control.unfinished():
            where = f" in epoch {unfinished.epoch + 1}" if unfinished.step else ""
            key = shown(self.keys["train"]) or "/train"
            self.chat.notice.say(
                f"a book training was broken off{where}; {key} goes on with it", stay=True
            )
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
        """Takes what has come and draws it once; rests when nothing comes any more."""
        if events := self._inbox.drain():
            self._quiet_frames = 0
            if self._rests:
                self._rests.happened()
            self.chat.take(events)
            for screen in self.screen_stack:
                if hear := getattr(screen, "hear", None):  # a screen beside the chat
                    hear(events)
            return
        self._quiet_frames += 1
        if self._quiet_frames >= IDLE_FRAMES and self._inbox.rest() and self._frames is not None:
            self._frames.pause()

    async def on_event(self, event: events.Event) -> None:
        """Whatever the owner does, on whichever screen, is told: the learner makes way. Nothing
        that is pasted, into whatever field, holds anything that a terminal obeys."""
        if self._early is not None and isinstance(event, events.Key | events.Paste):
            self._early.append(event)
            return
        if isinstance(event, SIGNS):
            self.chat.owner_active()
            if self._rests:
                self._rests.happened()
        if isinstance(event, events.Key):
            if event.is_printable and not event.is_forwarded and self._bound(event.key):
                event = events.Key(event.key, None)  # alt+x carries a letter, but means something
        elif isinstance(event, events.Paste):
            event = events.Paste(plain(event.text))
        await super().on_event(event)

    async def on_vidya_app_begun(self) -> None:
        """What was typed before comes now, in its order."""
        early, self._early = self._early, None
        for event in early or ():
            await self.on_event(event)

    def simulate_key(self, key: str) -> None:
        """A click on the line of keys. On a digit it is a click on that candidate, and no key that
        picks."""
        if key in DIGITS and self.screen is self.chat:
            self.chat.prompt.action_pick(int(key))
        else:
            super().simulate_key(key)

    def _bound(self, key: str) -> bool:
        """Whether a key that is held with another does something here."""
        chain = self.screen._modal_binding_chain if "+" in key else ()
        return any(key in bindings.key_to_bindings for _, bindings in chain)

    # ------------------------------------------------------------ the first time

    def _welcome(self, journal: Journal, desk: Controller) -> None:
        """Shows who is new here how it goes."""
        if self._home.welcomed_path.exists() or journal.latest_ask() is not None:
            return
        from vidya_tui.state import welcome
        from vidya_tui.widgets.welcome_hint import Guide

        def look() -> welcome.Advice:
            chosen = desk.session.answer is not None
            seen = welcome.seen(journal.lessons(), journal.questions(), chosen=chosen)
            return welcome.advice(seen, self.keys)

        self._guide = Guide(look, self._welcomed)
        self.chat.mount(self._guide, before=self.chat.prompt)

    def _welcomed(self) -> None:
        """It is not shown again."""
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

    # ------------------------------------------------------------ screens beside the chat

    def on_chat_screen_wanted(self, message: ChatScreen.Wanted) -> None:
        self._open(message.name)

    def _open(self, name: str | None) -> None:
        """A screen that changes more than the talk; loaded when it is first asked for."""
        control = self.control
        if control is None or name is None:
            return
        screen: Screen[Any]
        if name == "settings":
            from vidya_tui.screens.settings import SettingsScreen

            screen = SettingsScreen(control, sorted(self.available_themes))
        elif name == "model":
            from vidya_tui.screens.model import ModelScreen

            screen = ModelScreen(control)
        else:
            from vidya_tui.screens.train import TrainScreen

            screen = TrainScreen(
                lambda: control.desk.training, self._command("train"), self._command("cancel")
            )
        self.push_screen(screen, self._open)

    def action_help(self) -> None:
        self._command("help")()

    def _command(self, name: str) -> Callable[[], None]:
        """A command of the chat, without anything after it."""
        return lambda: self.chat.run(RunCommand(find(name)))

    # ------------------------------------------------------------ the palette

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """The slash commands that work now, once for each argument, and what only the palette has."""
        from vidya_tui.screens.palette import offered

        for title, run in offered(self.chat.situation, self.screen_stack):
            yield SystemCommand(title, run.command.help, lambda run=run: self._chosen(run))
        yield SystemCommand("theme", "another look, until you quit", self.action_change_theme)
        yield SystemCommand("keys", "the keys that work now", self.action_show_help_panel)

    def _chosen(self, run: RunCommand) -> None:
        """Carries out a command of the palette, back in the chat."""
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
    """Runs the app until the owner leaves. Returns the exit status. Raises VidyaError where the
    journal cannot be opened, or the settings' keys cannot be. strange: what in the settings counts for
    nothing."""
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
