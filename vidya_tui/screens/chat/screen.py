"""The chat: takes what is typed and pressed, and shows what the session and the learner say.

The screen holds no truth of its own: after everything that happens it draws the session anew, and
the widgets change only what differs. Left out: what commands and events do (controller/controller.py).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingsMap
from textual.containers import Horizontal
from textual.geometry import Region
from textual.message import Message
from textual.screen import Screen
from textual.widgets import Static, TextArea

from engine.errors import VidyaError
from vidya_tui.commands.keymap import Keymap, shown
from vidya_tui.commands.parse import RunCommand, find, is_command, parse
from vidya_tui.commands.situation import Situation
from vidya_tui.controller.message import StatusMessage
from vidya_tui.screens.chat.commands import Doors
from vidya_tui.screens.chat.keys import Keyed, bindings
from vidya_tui.screens.chat.other_words import OtherWords
from vidya_tui.screens.textual_fixes import Steady
from vidya_tui.widgets.candidates import CandidatePanel, card_lines, side_by_side
from vidya_tui.widgets.completion import CompletionList
from vidya_tui.widgets.confirm_line import ConfirmLine
from vidya_tui.widgets.conversation import ConversationView
from vidya_tui.widgets.find_bar import FindBar
from vidya_tui.widgets.fly_in import Flight
from vidya_tui.widgets.key_line import KeyLine
from vidya_tui.widgets.learner_panel import LearningLine, LearningPanel
from vidya_tui.widgets.notice import Notice
from vidya_tui.widgets.prompt import Prompt

if TYPE_CHECKING:  # the first frame waits for no more than it needs
    from learning.home import Home
    from learning.protocol.events import Event
    from learning.protocol.messages import TeacherPort
    from vidya_tui.controller.controller import Controller

WELCOME = (
    "Say something. Vidya offers several answers; press the number of the one you like best, and "
    "it learns from that. Where none is right, {correct} and type what it should have said.\n\n"
    "/help lists everything else."
)
APPS = ("settings", "model", "curve")
"""Commands that open a screen which only the app can: it changes more than the talk."""
PAST = 500
"""How many messages of earlier sessions the up key brings back."""
ROOMS = ("lessons", "compare", "book", "history", "progress")
"""Commands that open a screen of their own (screens/registry.py)."""
MOVES = ("regenerate", "new", "branch")
"""Commands after which the end of the talk is looked at."""
PLACEHOLDER = "Say something, or / for commands"
AWAY_EVERY = 5.0
"""Seconds between two looks whether the owner has been away for long."""
ACTIVE_EVERY = 0.25
"""Seconds between two messages to the learner that keys are being pressed."""


class ChatScreen(Steady, Keyed, OtherWords, Doors, Screen[None]):
    """The conversation, the candidates, the prompt and the learning panel."""

    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (120, "-wide")]
    VERTICAL_BREAKPOINTS = [(0, "-low"), (30, "-tall")]

    class Wanted(Message):
        """The owner asked for a screen that is the app's to open."""

        def __init__(self, name: str) -> None:
            super().__init__()
            self.name = name

    def __init__(self, keys: Keymap) -> None:
        super().__init__()
        self.keys = keys
        self._bindings = BindingsMap(bindings(keys))
        self._desk: Controller | None = None
        self._teacher: TeacherPort | None = None
        self.home: Home | None = None
        """Set by the app before `begin`."""
        self._early: list[str] = []
        """What was entered before there was a session."""
        self.situation = Situation()
        self._last_active = 0.0
        self._empty = True

        self.line = LearningLine(id="top")
        key = shown(keys["correct"])
        welcome = WELCOME.format(correct=f"press {key.upper()}" if key else "say /correct")
        self.conversation = ConversationView(welcome, id="conversation")
        self.panel = LearningPanel(id="learning")
        self.candidates = CandidatePanel(id="candidates")
        jump = shown(keys["jump"]) or "pagedown"
        self.back = Static(f"reading back \u00b7 {jump} jumps to the end", markup=False, id="back")
        self.find_bar = FindBar(id="find-bar")
        self.notice = Notice(id="notice")
        self.question = ConfirmLine(id="question")
        self.prompt = Prompt(self, PLACEHOLDER, keys=keys, id="prompt")
        self.completions = CompletionList(id="completions")
        self.flight = Flight(id="flight")

    def compose(self) -> ComposeResult:
        yield self.line
        with Horizontal(id="middle"):
            yield self.conversation
            yield self.panel
        yield self.candidates
        yield self.back
        yield self.find_bar
        yield self.notice
        yield self.question
        yield self.prompt
        yield self.completions
        yield self.flight
        yield KeyLine(compact=True)

    def on_mount(self) -> None:
        self.set_focus(self.prompt)

    # ------------------------------------------------------------ what the app calls

    def begin(self, desk: Controller, teacher: TeacherPort) -> None:
        """There is a session: what was entered so far is said now."""
        self._desk, self._teacher = desk, teacher
        self._attempt(desk.begin)
        self.set_interval(AWAY_EVERY, desk.away)
        self.prompt.remember(lambda: desk.journal.questions(PAST))
        early, self._early = self._early, []
        for text in early:
            self._enter(text)

    def unsent(self) -> str:
        """What was entered or typed and is not in the journal."""
        return "\n".join(filter(str.strip, (*self._early, self.prompt.unsent)))

    def take_back(self, text: str) -> None:
        """Puts what was not sent the last time into the prompt, before what was typed since."""
        self.prompt.put_back(text)
        self.completions.close(self.prompt.text)

    def take(self, arrived: Sequence[Event]) -> None:
        """Events of the teacher, in order; drawn once."""
        if self._desk is not None:
            for words in self._desk.hear(arrived):
                self._tell(words)
        self.draw()

    # ------------------------------------------------------------ the prompt's questions

    def can_pick(self, number: int) -> bool:
        return self._desk is not None and number in self._desk.situation().cards

    def pick(self, number: int) -> None:
        before = self.candidates.place(number)
        self.run(RunCommand(find("pick"), number))
        if before is not None and not self.situation.waiting:
            self.call_after_refresh(self._fly, *before)

    def _fly(self, text: str, start: Region, tries: int = 5) -> None:
        """The answer glides from its card to its place, which may still be being arranged."""
        end = self.conversation.last_region()
        if self.app.animation_level == "none":
            return
        if end is not None:
            self.flight.fly(text, start, end)
        elif tries:
            self.set_timer(0.03, lambda: self._fly(text, start, tries - 1))

    def uses_escape(self) -> bool:
        """Whether escape closes something here before it means anything else."""
        chosen = self.conversation.chosen is not None
        return chosen or self.prompt.editing or self.completion_open()

    def completion_open(self) -> bool:
        self._offer()
        return self.completions.open

    def completion_move(self, step: int) -> None:
        self.completions.move(step)

    def completion_close(self) -> None:
        self.completions.close(self.prompt.text)

    def completion_take(self) -> str | None:
        return self.completions.take(self.prompt.text)

    # ------------------------------------------------------------ messages of the widgets

    @on(Prompt.Submitted)
    def _submitted(self, message: Prompt.Submitted) -> None:
        position, self._edited = self._edited, None
        self._enter(message.text, position if message.edited else None)

    @on(Prompt.EditLeft)
    def _edit_left(self) -> None:
        self._edited = None
        self._tell(StatusMessage("the message stays as it was; up brings back what you typed"))

    @on(Prompt.Active)
    def _active(self) -> None:
        self.owner_active()

    def owner_active(self) -> None:
        """The owner does something: told to the learner, a few times a second at most."""
        now = time.monotonic()
        from learning.protocol.requests import OwnerActive

        if self._desk is not None:
            self._desk.practice.key()
        if self._teacher is not None and now - self._last_active >= ACTIVE_EVERY:
            self._last_active = now
            self._teacher.send(OwnerActive())

    @on(Prompt.Read)
    def _read(self, message: Prompt.Read) -> None:
        self.conversation.page(message.pages)

    @on(TextArea.Changed, "#prompt")
    def _typed(self) -> None:
        self._offer()
        if self._empty != (not self.prompt.text):
            self._empty = not self.prompt.text
            self.refresh_bindings()

    @on(CandidatePanel.Picked)
    def _picked(self, message: CandidatePanel.Picked) -> None:
        if message.typed:
            self.set_focus(self.prompt)
            if self.prompt.may_pick(message.index):
                self.prompt.hold(message.index)
            else:
                self.prompt.type_in(message.typed)
            return
        self.pick(message.index)
        self.set_focus(self.prompt)

    @on(CandidatePanel.Typed)
    @on(ConversationView.Typed)
    @on(ConfirmLine.Typed)
    def _typed_elsewhere(
        self, message: CandidatePanel.Typed | ConversationView.Typed | ConfirmLine.Typed
    ) -> None:
        self.prompt.type_in(message.text)

    @on(ConversationView.Used)
    def _used(self, message: ConversationView.Used) -> None:
        self._take_up(message.position)

    @on(ConversationView.Turned)
    def _turned(self, message: ConversationView.Turned) -> None:
        self._attempt(lambda: self._need().turn_to(message.position, message.step))
        self.conversation.choose(message.position)

    @on(CandidatePanel.Left)
    @on(ConversationView.Left)
    def _left(self) -> None:
        self.set_focus(self.prompt)

    @on(ConversationView.FollowingChanged)
    def _following(self, message: ConversationView.FollowingChanged) -> None:
        # while a message is chosen the notice says how to go back
        self.back.display = not message.following and self.conversation.chosen is None
        self.refresh_bindings()

    def on_resize(self, _: events.Resize) -> None:
        self.call_after_refresh(self.draw)

    # ------------------------------------------------------------ carrying out

    def run(self, run: RunCommand, typed: str = "") -> None:
        """Carries out a command. `typed` goes back into the prompt where that fails."""
        name = run.command.name
        opens: dict[str, Callable[[], StatusMessage | None]] = {
            "help": self._help,
            "practice": lambda: self._practise(run),
            "quit": self._quit,
            "editor": self._write_outside,
            "find": lambda: self._find(str(run.argument or "")),
            "copy": lambda: self._copy_said(run.argument == "all"),
            "export": lambda: self._export("json" if run.argument == "json" else "md"),
        }
        opens |= {wanted: lambda: self._want(name) for wanted in APPS}
        opens |= {wanted: lambda: self._open_room(run) for wanted in ROOMS}
        if run.argument is None:
            opens |= {"undo": self._undo, "correct": self._retype, "edit": self._choose_mine}
        self._attempt(opens.get(name, lambda: self._need().carry_out(run)), typed)
        if name in MOVES or (name == "edit" and run.argument is not None):
            self._end_find()
            self.conversation.jump_to_end()

    def _want(self, name: str) -> None:
        self.post_message(self.Wanted(name))

    def _enter(self, text: str, position: int | None = None) -> None:
        """What the owner entered, a message or a command; position: in place of which message."""
        try:
            entered = parse(text)
        except VidyaError as error:
            self._refuse(error, text, position)
            return
        if isinstance(entered, RunCommand):
            self.run(entered, text)
        elif self._desk is None:
            self._early.append(text)
        else:
            desk, said = self._desk, entered.text
            if position is None:
                self._attempt(lambda: desk.say(said), text)
            else:
                self._attempt(lambda: desk.say_anew(position, said), text, position)
            self.conversation.jump_to_end()

    def _need(self) -> Controller:
        if self._desk is None:
            raise VidyaError("not ready yet", "try again in a moment")
        return self._desk

    def _attempt(
        self, work: Callable[[], StatusMessage | None], typed: str = "", position: int | None = None
    ) -> None:
        """Does something that may fail in a way the owner can act on."""
        try:
            words = work()
        except VidyaError as error:
            self._refuse(error, typed, position)
        else:
            if words is not None:
                self._tell(words)
        self.draw()

    def _refuse(self, error: VidyaError, typed: str, position: int | None = None) -> None:
        """Says why something was not done and gives back what was typed for it."""
        if position is not None:
            self._take_up(position)
            self.prompt.replace_all("")
        self._tell(StatusMessage(str(error), trouble=True))
        if typed:
            if is_command(typed):
                self.prompt.refuse(typed)
            else:
                self.prompt.put_back(typed)
            self.completions.close(self.prompt.text)  # completions would cover what was just said

    def _tell(self, words: StatusMessage) -> None:
        self.notice.say(words.text, trouble=words.trouble, stay=words.stay)

    # ------------------------------------------------------------ drawing

    def draw(self) -> None:
        """Shows everything as it is now."""
        # Events still come while the app ends and its widgets go one by one.
        if self._desk is None or not self.is_attached or not self.app.is_running:
            return
        desk, wide = self._desk, self.has_class("-wide")
        self.line.learning = self.panel.learning = desk.learning
        self.line.wide = wide
        self.conversation.show(desk.log())
        if self.conversation.finding:
            self.find_bar.show(*self.conversation.found)
        cards = desk.session.cards if desk.session.waiting else []
        prompt = max(3, self.prompt.outer_size.height)
        boxed = wide and side_by_side(self.size.width, len(cards))
        lines = card_lines(self.size.height, prompt, len(cards), boxed)
        self.candidates.show(cards, lines, boxed)
        if not cards and self.focused is self.candidates:
            self.set_focus(self.prompt)
        if self._edited is not None and self._edited >= len(desk.session.turns):
            self._edited = None  # another conversation is shown
            self.prompt.end_edit()
        situation = desk.situation()
        if situation != self.situation:
            self.situation = situation
            self.refresh_bindings()

    def _offer(self) -> None:
        self.completions.offer(self.prompt.text)
        if self.completions.open:
            room = self.prompt.outer_size.height + 1
            self.completions.styles.margin = (0, 1, room, 1)
