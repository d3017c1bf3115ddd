"""The chat's commands: each opens a screen, the owner's editor or the clipboard, or changes the talk.

Left out: commands that need no screen (controller/controller.py), and what a screen shows.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

from textual.app import SuspendNotSupported

from engine.errors import VidyaError
from vidya_tui.commands.parse import RunCommand, find
from vidya_tui.screens.chat.interface import Chat
from vidya_tui.screens.chat.keys import nothing_to_rate
from vidya_tui.state.message import StatusMessage
from vidya_tui.terminal.tty import as_it_was

if TYPE_CHECKING:  # the first frame waits for no more than it needs
    from vidya_tui.controller.context import ScreenContext
    from vidya_tui.screens.correct import Retyped

UNDO_AGAIN = 1.0
"""Seconds after an undo in which its key does nothing."""
JUMP_TO_END = ("again", "regenerate", "new", "branch")
"""Commands after which the end of the conversation is shown."""


class ChatCommands:
    """Carries out commands for one chat screen."""

    def __init__(self, chat: Chat) -> None:
        self._chat = chat
        self._here: dict[str, Callable[[RunCommand], StatusMessage | None]] = {
            "help": self._help,
            "practice": self._practise,
            "quit": self._quit,
            "editor": self._write_outside,
            "find": self._find,
            "copy": self._copy,
            "export": self._export,
        }
        """What the chat does itself, whatever follows the command's name."""
        self._bare: dict[str, Callable[[], StatusMessage | None]] = {
            "undo": self._undo,
            "correct": self._retype,
            "edit": chat.rewording.choose_last,
        }
        """What it does where nothing follows the name."""

    def carry_out(self, run: RunCommand) -> StatusMessage | None:
        """Does what the command says. Returns what to tell the owner. Raises VidyaError."""
        name = run.command.name
        if run.command.screen == "app":
            self._chat.want(name)
            return None
        if run.command.screen == "chat":
            self._open_screen(run)
            return None
        if name in self._here:
            return self._here[name](run)
        if run.argument is None and name in self._bare:
            return self._bare[name]()
        return self._chat.need().carry_out(run)

    def moved(self, run: RunCommand) -> bool:
        """Whether the command may have changed what the conversation shows, so that its end is wanted."""
        return run.command.name in JUMP_TO_END or (
            run.command.name == "edit" and run.argument is not None
        )

    def by_key(self, name: str) -> None:
        """Runs a command whose key was pressed; where it needs more than its name, begins to type it."""
        chat, command = self._chat, find(name)
        if name == "undo" and chat.begun and self._just_undone():
            return  # the key was pressed twice, and one lesson was meant
        if command.bare:
            chat.run(RunCommand(command))
        elif chat.prompt.text:
            chat.tell(StatusMessage(f"a key cannot say what should follow; type {command.usage}"))
        else:
            chat.prompt.replace_all(f"/{name} ")

    def _just_undone(self) -> bool:
        return self._chat.need().undone > time.monotonic() - UNDO_AGAIN

    def rate_by_key(self, value: Literal["good", "bad"]) -> None:
        """Rates the last answer; the same rating again withdraws it. Where words are marked with the mouse,
        a bad one is about them alone."""
        chat, now = self._chat, self._chat.situation
        marked = chat.get_selected_text() if value == "bad" else None
        if not now.ratable:
            chat.tell(StatusMessage(nothing_to_rate(value, now, chat.keys), trouble=True))
        elif marked and marked.strip():
            chat.clear_selection()
            chat.attempt(lambda: chat.need().blame(marked))
        else:
            chat.run(RunCommand(find("rate"), "off" if now.rating == value else value))

    def open_conversation(self, conversation: int | None) -> None:
        """Shows another conversation; nothing for None."""
        chat = self._chat
        if conversation is not None:
            chat.search.end()
            chat.attempt(lambda: chat.need().open(conversation))
            chat.conversation.jump_to_end()

    # ------------------------------------------------------------ screens

    def _help(self, _: RunCommand) -> None:
        from vidya_tui.screens.help import HelpScreen, room_rows

        chat = self._chat
        here = [] if chat.is_active else room_rows(chat.app.screen)
        chat.app.push_screen(HelpScreen(chat.keys, here))

    def _open_screen(self, run: RunCommand) -> None:
        from vidya_tui.screens.registry import open_screen

        screen = open_screen(self._place(), run.command.name, run.argument)
        self._chat.app.push_screen(screen, self._screen_left)

    def _place(self) -> ScreenContext:
        """What the screens beside the chat work on."""
        from vidya_tui.controller.context import ScreenContext

        chat = self._chat
        controller, home, teacher = chat.need(), chat.home, chat.teacher
        assert home is not None and teacher is not None
        return ScreenContext(home, controller, teacher)

    def _screen_left(self, conversation: int | None) -> None:
        self.open_conversation(conversation)
        self._chat.draw()  # what was taught may have changed

    def _practise(self, run: RunCommand) -> StatusMessage | None:
        """Begins practice where a task is named, and shows how it goes, or how earlier runs went."""
        from vidya_tui.screens.practice import PracticeScreen
        from vidya_tui.state.practice_runs import asked

        chat, controller = self._chat, self._chat.need()
        earlier = asked(str(run.argument or ""))
        begins = run.argument is not None and earlier is None
        words = controller.carry_out(run) if begins else None

        def stop() -> None:
            chat.tell(controller.practice.stop())

        chat.app.push_screen(PracticeScreen(self._place(), stop, earlier))
        return words

    def _retype(self) -> None:
        from vidya_tui.screens.correct import CorrectScreen

        chat, controller = self._chat, self._chat.need()
        index = chat.candidates.highlight

        def closed(result: Retyped | None) -> None:
            if result is not None:
                text, saved = result.text, result.saved
                chat.attempt(lambda: controller.retyped(text, saved=saved, index=index))

        message, text, own = controller.correctable(index)
        chat.app.push_screen(CorrectScreen(message, text, replace=not own), closed)

    def _quit(self, _: RunCommand) -> None:
        self._chat.app.call_later(self._chat.app.action_quit)

    # ------------------------------------------------------------ the conversation

    def _find(self, run: RunCommand) -> None:
        """Opens the line to look for words in."""
        self._chat.need().last_mine()  # raises where there is nothing to search
        self._chat.search.open(str(run.argument or ""))

    def _copy(self, run: RunCommand) -> StatusMessage:
        return self._chat.copying.copy_said(
            self._chat.need().session.turns, everything=run.argument == "all"
        )

    def _export(self, run: RunCommand) -> StatusMessage:
        """Writes the open conversation into a file."""
        from vidya_tui.controller.export import export_open

        controller, home = self._chat.need(), self._chat.home
        assert home is not None
        form = "json" if run.argument == "json" else "md"
        return StatusMessage(f"written to {export_open(home, controller.session, form)}", stay=True)

    def _undo(self) -> StatusMessage | None:
        """Undoes the last lesson; asks first where it belongs to another conversation."""
        chat, controller, undo = self._chat, self._chat.need(), find("undo")
        if other := controller.other_undo():
            chat.question.ask(
                f"{other[0].upper()}{other[1:]}. Take it back?",
                lambda: chat.attempt(lambda: controller.carry_out(RunCommand(undo, "yes"))),
            )
            return None
        return controller.carry_out(RunCommand(undo))

    def _write_outside(self, _: RunCommand) -> StatusMessage:
        """Opens the message in the owner's editor, in place of the app."""
        from vidya_tui.terminal import editor

        prompt, app = self._chat.prompt, self._chat.app
        command, text, trouble = editor.editor(os.environ), prompt.text, None
        try:
            with app.suspend(), as_it_was():
                try:
                    text = editor.edit(text, command)
                except VidyaError as error:  # whatever is raised here, Textual does not come back
                    trouble = error
        except SuspendNotSupported as error:
            raise VidyaError("this terminal cannot be lent to an editor", "type here") from error
        if trouble is not None:
            raise trouble
        prompt.replace_all(text)
        return StatusMessage("enter sends it")
