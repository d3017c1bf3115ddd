"""The chat: takes keys and text, and shows the session and the learner.

The screen has no state of its own that matters: after each change it draws the session again, and the
widgets change only what differs. It holds one object for each thing that several widgets do
together: commands, copying, searching, rewording. Left out: what events and commands mean
(controller/controller.py).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal

from textual import events, on
from textual.actions import SkipAction
from textual.app import ComposeResult
from textual.binding import BindingsMap
from textual.containers import Horizontal
from textual.message import Message
from textual.screen import Screen
from textual.widgets import Static, TextArea

from engine.errors import VidyaError
from vidya_tui.commands.keymap import Keymap, shown
from vidya_tui.commands.parse import RunCommand, find
from vidya_tui.commands.situation import Situation
from vidya_tui.screens.chat.commands import ChatCommands
from vidya_tui.screens.chat.copying import Copied, Copying
from vidya_tui.screens.chat.entering import Entering
from vidya_tui.screens.chat.keys import bindings, works
from vidya_tui.screens.chat.rewording import Rewording
from vidya_tui.screens.chat.search import ConversationSearch
from vidya_tui.screens.textual_fixes import Steady
from vidya_tui.state.message import StatusMessage
from vidya_tui.widgets.candidates import CandidatePanel, card_lines, side_by_side
from vidya_tui.widgets.completion import CompletionList
from vidya_tui.widgets.confirm_line import ConfirmLine
from vidya_tui.widgets.conversation import ConversationView
from vidya_tui.widgets.find_bar import FindBar
from vidya_tui.widgets.fly_in import Flight
from vidya_tui.widgets.key_line import KeyLine
from vidya_tui.widgets.learner_panel import LearningLine, LearningPanel
from vidya_tui.widgets.notice import Notice
from vidya_tui.widgets.prompt import BackToPrompt, Prompt, TextForPrompt

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
PAST = 500
"""How many messages of earlier sessions the up key brings back."""
PLACEHOLDER = "Say something, or / for commands"
AWAY_EVERY = 5.0
"""Seconds between two checks whether the owner is away."""
ACTIVE_EVERY = 0.25
"""Least seconds between two OwnerActive requests."""


class ChatScreen(Steady, Screen[None]):
    """The conversation, the candidates, the prompt and the learning panel."""

    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (120, "-wide")]
    VERTICAL_BREAKPOINTS = [(0, "-lowest"), (17, "-low"), (22, "-fair"), (30, "-tall")]

    class Wanted(Message):
        """The owner asked for a screen that the app opens."""

        def __init__(self, name: str) -> None:
            super().__init__()
            self.name = name

    def __init__(self, keys: Keymap) -> None:
        super().__init__()
        self.keys = keys
        self._bindings = BindingsMap(bindings(keys))
        self._controller: Controller | None = None
        self.teacher: TeacherPort | None = None
        """None until `begin`."""
        self.home: Home | None = None
        """Set by the app before `begin`."""
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
        self.question = ConfirmLine(beside_prompt=True, id="question")
        self.prompt = Prompt(self, PLACEHOLDER, keys=keys, id="prompt")
        self.completions = CompletionList(id="completions")
        self.flight = Flight(id="flight")

        self.copying = Copying(self.conversation, self.candidates, self.notice, self.tell)
        self.search = ConversationSearch(self.conversation, self.find_bar, self.prompt)
        self.rewording = Rewording(
            self.conversation, self.prompt, self.completions, self.need, self.tell
        )
        self.commands = ChatCommands(self)
        self.entering = Entering(self)

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

    def begin(self, controller: Controller, teacher: TeacherPort) -> None:
        """Starts with a session, and sends it what was entered before."""
        self._controller, self.teacher = controller, teacher
        self.attempt(controller.begin)
        self.set_interval(AWAY_EVERY, controller.away)
        self.prompt.remember(lambda: controller.journal.questions(PAST))
        early, self.entering.early = self.entering.early, []
        for text in early:
            self._enter(text)

    def unsent(self) -> str:
        """Everything that was entered or typed and is not in the journal."""
        return "\n".join(filter(str.strip, (*self.entering.early, self.prompt.unsent)))

    def take_back(self, text: str) -> None:
        """Puts the unsent text of the last run into the prompt, before what was typed since."""
        self.prompt.put_back(text)
        self.completions.close(self.prompt.text)

    def take(self, arrived: Sequence[Event]) -> None:
        """Takes events of the teacher, in order, and draws once."""
        if self._controller is not None:
            for words in self._controller.hear(arrived):
                self.tell(words)
        self.draw()

    # ------------------------------------------------------------ the prompt's questions

    def can_pick(self, number: int) -> bool:
        return self._controller is not None and number in self._controller.situation().cards

    def pick(self, number: int) -> None:
        before = self.candidates.place(number)
        self.run(RunCommand(find("pick"), number))
        if before is not None and not self.situation.waiting:
            text, start = before
            self.call_after_refresh(self.flight.send, text, start, self.conversation.last_region)

    def uses_escape(self) -> bool:
        """Whether escape closes something on this screen first."""
        open_here = self.conversation.chosen is not None or self.find_bar.display
        return open_here or self.prompt.editing or self.completion_open()

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
        position = self.rewording.taken()
        self._enter(message.text, position if message.edited else None)

    @on(Prompt.EditLeft)
    def _edit_left(self) -> None:
        self.rewording.left()

    @on(Prompt.Clicked)
    def _digit_clicked(self, message: Prompt.Clicked) -> None:
        self.candidates.click(message.number)

    @on(Prompt.Held)
    def _digit_held(self, message: Prompt.Held) -> None:
        self.candidates.hold(message.number)

    @on(Prompt.Active)
    def _active(self) -> None:
        self.owner_active()

    def owner_active(self) -> None:
        """The owner did something: tells the learner, at most four times a second."""
        now = time.monotonic()
        from learning.protocol.requests import OwnerActive

        if self._controller is not None:
            self._controller.practice.key()
        if self.teacher is not None and now - self._last_active >= ACTIVE_EVERY:
            self._last_active = now
            self.teacher.send(OwnerActive())

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

    @on(CandidatePanel.Chosen)
    def _chosen(self, message: CandidatePanel.Chosen) -> None:
        n = message.index
        self.prompt.announce(f"enter, or a second click, picks {n}" if n else "")

    @on(TextForPrompt)
    def _typed_elsewhere(self, message: TextForPrompt) -> None:
        self.prompt.type_in(message.text)

    @on(ConversationView.Used)
    def _used(self, message: ConversationView.Used) -> None:
        self.rewording.edit(message.position)

    @on(ConversationView.Turned)
    def _turned(self, message: ConversationView.Turned) -> None:
        self.attempt(lambda: self.need().turn_to(message.position, message.step))
        self.conversation.choose(message.position)

    @on(BackToPrompt)
    def _left(self) -> None:
        self.set_focus(self.prompt)

    @on(ConversationView.FollowingChanged)
    def _following(self, message: ConversationView.FollowingChanged) -> None:
        # while a message is chosen, the notice says how to leave it
        self.back.display = not message.following and self.conversation.chosen is None
        self.refresh_bindings()

    @on(FindBar.Wanted)
    def _looked_for(self, message: FindBar.Wanted) -> None:
        self.search.look_for(message.words)

    @on(FindBar.Stepped)
    def _stepped(self, message: FindBar.Stepped) -> None:
        self.search.step(message.step)

    @on(FindBar.Closed)
    def _search_closed(self) -> None:
        self.search.end()

    @on(Copied)
    def _copied(self, message: Copied) -> None:
        self.copying.copied(message)

    def on_resize(self, _: events.Resize) -> None:
        self.call_after_refresh(self.draw)

    # ------------------------------------------------------------ keys

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return works(action, parameters, self.situation, following=self.conversation.following)

    def action_shown(self, name: str) -> None:
        self.action_command(name)

    def action_command(self, name: str) -> None:
        self.commands.by_key(name)

    def action_none_of_these(self) -> None:
        self.action_command("correct")

    def action_shown_rate(self, value: Literal["good", "bad"]) -> None:
        self.action_rate(value)

    def action_rate(self, value: Literal["good", "bad"]) -> None:
        self.commands.rate_by_key(value)

    def action_jump(self) -> None:
        self.conversation.jump_to_end()

    def action_copy_text(self) -> None:
        """Copies what was marked with the mouse (ctrl+c)."""
        if (text := self.get_selected_text()) is None:
            raise SkipAction
        self.copying.copy(text)

    def action_choose_last(self) -> None:
        self.rewording.choose(self.conversation.count - 1)

    # ------------------------------------------------------------ carrying out

    def run(self, run: RunCommand, typed: str = "") -> None:
        """Carries out a command. typed: goes back into the prompt where that fails."""
        self.attempt(lambda: self.commands.carry_out(run), typed)
        if self.commands.moved(run):
            self.search.end()
            self.conversation.jump_to_end()

    def want(self, name: str) -> None:
        """Asks the app for a screen of its own."""
        self.post_message(self.Wanted(name))

    def _enter(self, text: str, position: int | None = None) -> None:
        self.entering.enter(text, position)

    def attempt(self, work: Callable[[], StatusMessage | None], typed: str = "") -> None:
        """Does something that may fail in a way the owner can act on (Entering.attempt)."""
        self.entering.attempt(work, typed)

    @property
    def begun(self) -> bool:
        """Whether there is a session."""
        return self._controller is not None

    def need(self) -> Controller:
        """The controller. Raises VidyaError while there is none."""
        if self._controller is None:
            raise VidyaError("not ready yet", "try again in a moment")
        return self._controller

    def tell(self, words: StatusMessage) -> None:
        """Shows a message on the line above the prompt."""
        self.notice.say(words.text, trouble=words.trouble, stay=words.stay)

    # ------------------------------------------------------------ drawing

    def draw(self) -> None:
        """Shows the current state of everything."""
        # Events still arrive while the app ends and removes its widgets.
        if self._controller is None or not self.is_attached or not self.app.is_running:
            return
        controller, wide = self._controller, self.has_class("-wide")
        self.line.learning = self.panel.learning = controller.learning
        self.line.wide = wide
        self.conversation.show(controller.log())
        self.search.redraw()
        cards = controller.session.cards if controller.session.waiting else []
        prompt = max(3, self.prompt.outer_size.height)
        boxed = wide and side_by_side(self.size.width, len(cards))
        lines = card_lines(self.size.height, prompt, len(cards), boxed)
        self.candidates.show(cards, lines, boxed)
        if not cards and self.focused is self.candidates:
            self.set_focus(self.prompt)
        self.rewording.shown()
        situation = controller.situation()
        if situation != self.situation:
            self.situation = situation
            self.refresh_bindings()

    def _offer(self) -> None:
        self.completions.offer(self.prompt.text)
        if self.completions.open:
            room = self.prompt.outer_size.height + 1
            self.completions.styles.margin = (0, 1, room, 1)
