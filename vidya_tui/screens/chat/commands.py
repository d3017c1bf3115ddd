"""What a command of the chat opens: other screens, the owner's editor, the clipboard.

Mixed into the chat, whose widgets it uses. Left out: commands that need nothing but the desk.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from textual.app import App, SuspendNotSupported
from textual.message import Message

from engine.errors import VidyaError
from vidya_tui.commands.parse import RunCommand, find
from vidya_tui.controller.message import StatusMessage
from vidya_tui.terminal.tty import as_it_was
from vidya_tui.text.numbers import counted
from vidya_tui.text.sanitise import one_line, plain
from vidya_tui.widgets.candidates import CandidatePanel
from vidya_tui.widgets.confirm_line import ConfirmLine
from vidya_tui.widgets.conversation import ConversationView
from vidya_tui.widgets.find_bar import FindBar
from vidya_tui.widgets.message import NAMES
from vidya_tui.widgets.notice import Notice
from vidya_tui.widgets.prompt import Prompt

if TYPE_CHECKING:  # the first frame waits for no more than it needs
    from learning.home import Home
    from learning.protocol.messages import TeacherPort
    from vidya_tui.controller.controller import Controller
    from vidya_tui.screens.correct import Retyped
    from vidya_tui.terminal.clipboard import Clipboard

UNDO_AGAIN = 1.0
"""Seconds after an undo in which its key does nothing."""


class Doors:
    """Each method is one command; it returns what to tell, or raises VidyaError."""

    class Copied(Message):
        """A text is in the clipboard of this computer."""

        def __init__(self, before: StatusMessage, now: StatusMessage) -> None:
            """before: what was told meanwhile; now: in its place."""
            super().__init__()
            self.before, self.now = before, now

    app: App[object]
    keys: Mapping[str, str]
    conversation: ConversationView
    candidates: CandidatePanel
    find_bar: FindBar
    question: ConfirmLine
    notice: Notice
    prompt: Prompt
    _clipboard: Clipboard | None = None
    home: Home | None
    _teacher: TeacherPort | None

    if TYPE_CHECKING:

        def post_message(self, message: Message) -> bool: ...

    def draw(self) -> None:
        raise NotImplementedError

    def _need(self) -> Controller:
        raise NotImplementedError

    def _attempt(self, work: Callable[[], StatusMessage | None], typed: str = "") -> None:
        raise NotImplementedError

    def _tell(self, words: StatusMessage) -> None:
        raise NotImplementedError

    def _help(self) -> None:
        from vidya_tui.screens.help import HelpScreen, room_rows

        screen = self.app.screen
        here = [] if isinstance(screen, Doors) else room_rows(screen)
        self.app.push_screen(HelpScreen(self.keys, here))

    def _quit(self) -> None:
        self.app.call_later(self.app.action_quit)

    def _open_room(self, run: RunCommand) -> None:
        from vidya_tui.controller.context import ScreenContext
        from vidya_tui.screens.registry import open_screen

        desk, home, teacher = self._need(), self.home, self._teacher
        assert home is not None and teacher is not None
        room = open_screen(ScreenContext(home, desk, teacher), run.command.name, run.argument)
        self.app.push_screen(room, self._left_room)

    def _left_room(self, conversation: int | None) -> None:
        self._chosen(conversation)
        self.draw()  # what was taught may have changed

    def _write_outside(self) -> StatusMessage:
        """The message in the owner's editor, in place of the app."""
        from vidya_tui.terminal import editor

        command, text, trouble = editor.editor(os.environ), self.prompt.text, None
        try:
            with self.app.suspend(), as_it_was():
                try:
                    text = editor.edit(text, command)
                except VidyaError as error:  # whatever is raised here, Textual does not come back
                    trouble = error
        except SuspendNotSupported as error:
            raise VidyaError("this terminal cannot be lent to an editor", "type here") from error
        if trouble is not None:
            raise trouble
        self.prompt.replace_all(text)
        return StatusMessage("enter sends it")

    def _copy_said(self, everything: bool) -> StatusMessage:
        turns = self._need().session.turns
        if everything:
            return self._copy("\n\n".join(f"{NAMES[t.role]}: {t.text}" for t in turns))
        if self.conversation.chosen is not None:
            return self._copy(turns[self.conversation.chosen].text)
        if (card := self.candidates.highlighted_text()) is not None:
            return self._copy(card)
        answers = [turn.text for turn in turns if turn.role == "assistant"]
        if not answers:
            raise VidyaError("there is no answer to copy yet", "pick one, or mark a text")
        return self._copy(answers[-1])

    def _export(self, form: str) -> StatusMessage:
        """The conversation that is open, into a file."""
        from vidya_tui.controller.export import export_open

        desk, home = self._need(), self.home
        assert home is not None
        return StatusMessage(f"written to {export_open(home, desk.session, form)}", stay=True)

    def _copy(self, text: str) -> StatusMessage:
        """To the terminal (OSC 52), which does not say what became of it; where the owner sits at this
        computer, into its clipboard too. Harmless wherever it is pasted."""
        from vidya_tui.terminal import clipboard

        text = plain(text)
        self.app.copy_to_clipboard(text)
        what = f"\u201c{one_line(text, 40)}\u201d, {counted(len(text), 'character')}"
        words = StatusMessage(f"sent to the terminal's clipboard: {what}")
        if clipboard.is_here(os.environ):
            self._clipboard = self._clipboard or clipboard.Clipboard()
            copied = self.Copied(words, StatusMessage(f"copied {what}"))
            self._clipboard.copy(text, lambda: self._post(copied))
        self._tell(words)
        return words

    def _post(self, message: Message) -> None:
        """From any thread; nobody needs it any more where the app has ended meanwhile."""
        with contextlib.suppress(RuntimeError):
            self.post_message(message)

    def on_doors_copied(self, message: Copied) -> None:
        if self.notice.words == one_line(message.before.text):
            self._tell(message.now)

    def _practise(self, run: RunCommand) -> StatusMessage | None:
        """Begins practice where a task is named, and shows how it goes."""
        from vidya_tui.screens.practice import PracticeScreen

        desk = self._need()
        words = desk.carry_out(run) if run.argument is not None else None

        def stop() -> None:
            self._tell(desk.practice.stop())

        self.app.push_screen(PracticeScreen(lambda: desk.practice.state, stop))
        return words

    def _just_undone(self) -> bool:
        """Whether what was taken back has only just been told."""
        return self._need().undone > time.monotonic() - UNDO_AGAIN

    def _undo(self) -> StatusMessage | None:
        """Takes the last lesson back; asks where that is of another conversation."""
        desk, undo = self._need(), find("undo")
        if other := desk.other_undo():
            self.question.ask(
                f"{other[0].upper()}{other[1:]}. Take it back?",
                lambda: self._attempt(lambda: desk.carry_out(RunCommand(undo, "yes"))),
            )
            return None
        return desk.carry_out(RunCommand(undo))

    def _find(self, words: str) -> None:
        """Opens the line to look for words in."""
        if not self._need().session.turns:
            raise VidyaError("nothing was said yet", "type a message, then press Enter")
        self.find_bar.open(words)

    def on_find_bar_wanted(self, message: FindBar.Wanted) -> None:
        self.conversation.find(message.words)
        self.find_bar.show(*self.conversation.found)

    def on_find_bar_stepped(self, message: FindBar.Stepped) -> None:
        self.conversation.find_next(message.step)
        self.find_bar.show(*self.conversation.found)

    def on_find_bar_closed(self) -> None:
        self._end_find()

    def _end_find(self) -> None:
        """Stays where it is: what was found is read now."""
        if self.find_bar.display:
            self.find_bar.display = False
            self.conversation.find_no_more()
            if self.find_bar.field.has_focus or self.app.focused is None:
                self.app.screen.set_focus(self.prompt)

    def _retype(self) -> None:
        from vidya_tui.screens.correct import CorrectScreen

        desk, index = self._need(), self.candidates.highlight

        def closed(result: Retyped | None) -> None:
            if result is not None:
                text, saved = result.text, result.saved
                self._attempt(lambda: desk.retyped(text, saved=saved, index=index))

        message, text, own = desk.correctable(index)
        self.app.push_screen(CorrectScreen(message, text, replace=not own), closed)

    def _chosen(self, conversation: int | None) -> None:
        if conversation is not None:
            self._end_find()
            self._attempt(lambda: self._need().open(conversation))
            self.conversation.jump_to_end()
