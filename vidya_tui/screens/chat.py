"""The chat: takes what is typed and pressed, and shows what the session and the learner say.

The screen holds no truth of its own: after everything that happens it draws the session anew, and
the widgets change only what differs. Left out: what commands and events do (desk.py).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, ClassVar, Literal

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.message import Message
from textual.screen import Screen
from textual.widgets import Footer, Static, TextArea

from engine.errors import VidyaError
from vidya_tui import commands, picture
from vidya_tui.commands import Run, Situation
from vidya_tui.screens.steady import Steady
from vidya_tui.widgets.candidates import CandidatePanel
from vidya_tui.widgets.completion import CompletionList
from vidya_tui.widgets.conversation import ConversationView
from vidya_tui.widgets.learning import LearningLine, LearningPanel
from vidya_tui.widgets.notice import Notice
from vidya_tui.widgets.prompt import Prompt
from vidya_tui.words import Words

if TYPE_CHECKING:  # the first frame waits for no more than it needs
    from learning.messages import Event, TeacherPort
    from vidya_tui.desk import Desk
    from vidya_tui.screens.correct import Retyped

WELCOME = (
    "Say something. Vidya answers five times; press the number of the answer you like best, and "
    "it learns from that. Where none is right, press F2 and type what it should have said.\n\n"
    "/help lists everything else."
)
APPS = ("settings", "model", "curve")
"""Commands that open a screen which only the app can: it changes more than the talk."""
PLACEHOLDER = "Say something, or / for commands"
AWAY_EVERY = 5.0
"""Seconds between two looks whether the owner has been away for long."""
ACTIVE_EVERY = 0.25
"""Seconds between two messages to the learner that keys are being pressed."""


def _bindings() -> list[BindingType]:
    """The commands' keys, twice: shown in the footer where useful, and working where possible."""
    made: list[BindingType] = [
        Binding("ctrl+g", "rate('good')", "good", id="good"),
        Binding("ctrl+f", "rate('bad')", "bad", id="bad"),
        Binding("ctrl+end", "jump", "to the end", id="jump"),
    ]
    for command in commands.COMMANDS:
        if command.keys and command.name != "quit":
            name = command.name
            made.append(Binding(command.keys, f"shown('{name}')", command.label, id=name))
            made.append(Binding(command.keys, f"command('{name}')", command.label, show=False))
    return made


class ChatScreen(Steady, Screen[None]):
    """The conversation, the candidates, the prompt and the learning panel."""

    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (120, "-wide")]
    VERTICAL_BREAKPOINTS = [(0, "-low"), (30, "-tall")]
    BINDINGS: ClassVar[list[BindingType]] = _bindings()

    class Wanted(Message):
        """The owner asked for a screen that is the app's to open."""

        def __init__(self, name: str) -> None:
            super().__init__()
            self.name = name

    def __init__(self) -> None:
        super().__init__()
        self._desk: Desk | None = None
        self._teacher: TeacherPort | None = None
        self._early: list[str] = []
        """What was entered before there was a session."""
        self.situation = Situation()
        self._closed_for = ""
        """The line for which the completions were closed."""
        self._last_active = 0.0
        self._empty = True

        self.line = LearningLine(id="top")
        self.conversation = ConversationView(WELCOME, id="conversation")
        self.panel = LearningPanel(id="learning")
        self.candidates = CandidatePanel(id="candidates")
        self.back = Static("reading back \u00b7 ctrl+end jumps to the end", markup=False, id="back")
        self.notice = Notice(id="notice")
        self.prompt = Prompt(self, PLACEHOLDER, id="prompt")
        self.completions = CompletionList(id="completions")

    def compose(self) -> ComposeResult:
        yield self.line
        with Horizontal(id="middle"):
            yield self.conversation
            yield self.panel
        yield self.candidates
        yield self.back
        yield self.notice
        yield self.prompt
        yield self.completions
        yield Footer(compact=True)

    def on_mount(self) -> None:
        self.prompt.focus()

    # ------------------------------------------------------------ what the app calls

    def begin(self, desk: Desk, teacher: TeacherPort) -> None:
        """There is a session: what was entered so far is said now."""
        self._desk, self._teacher = desk, teacher
        self._attempt(desk.begin)
        self.set_interval(AWAY_EVERY, desk.away)
        early, self._early = self._early, []
        for text in early:
            self._enter(text)

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
        self.run(Run(commands.find("pick"), number))

    def completion_open(self) -> bool:
        self._offer()
        return self.completions.open

    def completion_move(self, step: int) -> None:
        self.completions.move(step)

    def completion_close(self) -> None:
        self._closed_for = self.prompt.text
        self._offer()

    def completion_take(self) -> str | None:
        item = self.completions.take()
        text = self.prompt.text
        if item is None or (not self.completions.moved and self._complete_already(text)):
            return None
        return item.text

    @staticmethod
    def _complete_already(text: str) -> bool:
        return any(item.text.strip() == text.strip() for item in commands.complete(text))

    # ------------------------------------------------------------ messages of the widgets

    @on(Prompt.Submitted)
    def _submitted(self, message: Prompt.Submitted) -> None:
        self._enter(message.text)

    @on(Prompt.Active)
    def _active(self) -> None:
        self.owner_active()

    def owner_active(self) -> None:
        """The owner does something: told to the learner, a few times a second at most."""
        now = time.monotonic()
        from learning.messages import OwnerActive

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
        self.pick(message.index)
        self.prompt.focus()

    @on(CandidatePanel.Typed)
    def _typed_elsewhere(self, message: CandidatePanel.Typed) -> None:
        self.prompt.type_in(message.text)

    @on(CandidatePanel.Left)
    def _left(self) -> None:
        self.prompt.focus()

    @on(ConversationView.FollowingChanged)
    def _following(self, message: ConversationView.FollowingChanged) -> None:
        self.back.display = not message.following
        self.refresh_bindings()

    def on_resize(self, _: events.Resize) -> None:
        self.call_after_refresh(self.draw)

    # ------------------------------------------------------------ keys

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action in ("shown", "command"):
            command = commands.find(str(parameters[0]))
            works = command.when(self.situation)
            if action == "shown" and command.footer is not None:
                return works and command.footer(self.situation)
            return works
        if action == "rate":
            return self.situation.ratable
        if action == "jump":
            return not self.conversation.following
        return True

    def action_shown(self, name: str) -> None:
        self.action_command(name)

    def action_command(self, name: str) -> None:
        self.run(Run(commands.find(name)))

    def action_rate(self, value: Literal["good", "bad"]) -> None:
        current = self.situation.rating
        self.run(Run(commands.find("rate"), "off" if current == value else value))

    def action_jump(self) -> None:
        self.conversation.jump_to_end()

    # ------------------------------------------------------------ carrying out

    def run(self, run: Run, typed: str = "") -> None:
        """Carries out a command. `typed` goes back into the prompt where that fails."""
        name = run.command.name
        if name == "history":
            self._attempt(self._look_back, typed)
        elif name == "help":
            from vidya_tui.screens.help import HelpScreen

            self.app.push_screen(HelpScreen())
        elif name == "practice":
            self._attempt(lambda: self._practise(run), typed)
        elif name in APPS:
            self.post_message(self.Wanted(name))
        elif name == "quit":
            self.app.call_later(self.app.action_quit)
        elif name == "correct" and run.argument is None:
            self._attempt(self._retype, typed)
        else:
            self._attempt(lambda: self._need().carry_out(run), typed)
            if name in ("regenerate", "new"):
                self.conversation.jump_to_end()

    def _practise(self, run: Run) -> Words | None:
        """Begins practice where a task is named, and shows how it goes."""
        from vidya_tui.screens.practice import PracticeScreen

        desk = self._need()
        words = desk.carry_out(run) if run.argument is not None else None

        def stop() -> None:
            self._tell(desk.practice.stop())

        self.app.push_screen(PracticeScreen(lambda: desk.practice.state, stop))
        return words

    def _enter(self, text: str) -> None:
        """What the owner entered, a message or a command."""
        try:
            entered = commands.parse(text)
        except VidyaError as error:
            self._refuse(error, text)
            return
        if isinstance(entered, Run):
            self.run(entered, text)
        elif self._desk is None:
            self._early.append(text)
        else:
            desk = self._desk
            self._attempt(lambda: desk.say(entered.text), text)
            self.conversation.jump_to_end()

    def _look_back(self) -> None:
        from vidya_tui.screens.history import HistoryScreen

        self.app.push_screen(HistoryScreen(self._need().journal), self._chosen)

    def _retype(self) -> None:
        from vidya_tui.screens.correct import CorrectScreen

        desk = self._need()

        def closed(result: Retyped | None) -> None:
            if result is not None:
                self._attempt(lambda: desk.retyped(result.text, saved=result.saved))

        self.app.push_screen(CorrectScreen(*desk.correctable()), closed)

    def _chosen(self, conversation: int | None) -> None:
        if conversation is not None:
            desk = self._need()
            self._attempt(lambda: desk.open(conversation))
            turns = desk.session.turns
            self.prompt.remember([turn.text for turn in turns if turn.role == "user"])
            self.conversation.jump_to_end()

    def _need(self) -> Desk:
        if self._desk is None:
            raise VidyaError("not ready yet", "try again in a moment")
        return self._desk

    def _attempt(self, work: Callable[[], Words | None], typed: str = "") -> None:
        """Does something that may fail in a way the owner can act on."""
        try:
            words = work()
        except VidyaError as error:
            self._refuse(error, typed)
        else:
            if words is not None:
                self._tell(words)
        self.draw()

    def _refuse(self, error: VidyaError, typed: str) -> None:
        """Says why something was not done and gives back what was typed for it."""
        self._tell(Words(str(error), trouble=True))
        if typed:
            self.prompt.put_back(typed)
            self._closed_for = self.prompt.text  # completions would cover what was just said

    def _tell(self, words: Words) -> None:
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
        self.conversation.show(desk.entries())
        cards = desk.session.cards if desk.session.waiting else []
        prompt = max(3, self.prompt.outer_size.height)
        lines = picture.card_lines(self.size.height, prompt, len(cards), wide)
        self.candidates.show(cards, lines, wide)
        if not cards and self.candidates.has_focus:
            self.prompt.focus()
        situation = desk.situation()
        if situation != self.situation:
            self.situation = situation
            self.refresh_bindings()

    def _offer(self) -> None:
        text = self.prompt.text
        if text != self._closed_for:
            self._closed_for = ""
        self.completions.offer([] if self._closed_for else commands.complete(text))
        if self.completions.open:
            room = self.prompt.outer_size.height + 1
            self.completions.styles.margin = (0, 1, room, 1)
