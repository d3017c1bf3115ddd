"""How the app ends: the teacher saves, what was typed is kept, whatever it is that ends it."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import threading
import traceback
from typing import TYPE_CHECKING

from rich.console import RenderableType
from rich.text import Text
from textual.app import App
from textual.message import Message

from learning.home import Home
from vidya_tui.app import last_call
from vidya_tui.commands.keymap import Keymap, shown
from vidya_tui.screens.chat.screen import ChatScreen
from vidya_tui.terminal.saved_prompt import Unsent
from vidya_tui.worker.log import write_log

if TYPE_CHECKING:  # the first frame waits for no more than it needs
    from learning.protocol.messages import TeacherPort


class LeavingApp(App[None]):
    """What `VidyaApp` does in the end."""

    class TeacherClosed(Message):
        """The teacher has saved and stopped."""

    chat: ChatScreen
    keys: Keymap
    teacher: TeacherPort | None = None
    _home: Home
    _unsent: Unsent
    _leaving = False

    def action_help_quit(self) -> None:
        """ctrl+c with nothing selected: many press it to leave."""
        self.chat.notice.say(f"{self._leave_key} leaves; everything said is kept")

    @property
    def _leave_key(self) -> str:
        return shown(self.keys["quit"]) or "/quit"

    async def action_quit(self) -> None:
        """Saves and leaves; asked a second time, leaves at once (the worker saves by itself)."""
        if self._leaving or self.teacher is None:
            self.exit()
            return
        self._leaving = True
        self.chat.notice.say(f"saving \u2026 {self._leave_key} again leaves at once", stay=True)
        # A thread of its own: the event loop waits for its executor's threads when it ends.
        threading.Thread(target=self._close_and_tell, name="closing", daemon=True).start()

    def exit(
        self, result: None = None, return_code: int = 0, message: RenderableType | None = None
    ) -> None:
        """Whichever way it ends, what was typed and not sent is kept for the next start."""
        if self.chat.is_mounted:
            self.chat.prompt.settle()  # a digit that was about to pick
        self._unsent.keep(self._typed())
        super().exit(result, return_code, message)

    def _typed(self) -> str:
        """What was typed and not sent, in the prompt and in an editor that is open above it."""
        texts = [self.chat.unsent()]
        for screen in self.screen_stack:
            if unsaved := getattr(screen, "unsaved", None):
                texts.append(unsaved())
        return "\n".join(filter(str.strip, texts))

    def on_leaving_app_teacher_closed(self) -> None:
        self.exit()

    def _close_and_tell(self) -> None:
        self.close_teacher()
        self.post_message(self.TeacherClosed())

    def close_teacher(self) -> None:
        """Stops the teacher where there is one. Idempotent."""
        if self.teacher is not None:
            self.teacher.close()

    @property
    def leaving(self) -> bool:
        """The owner asked to leave, so that the teacher is closed or being closed."""
        return self._leaving

    def _leave_in_order_on_signals(self) -> None:
        if self.is_headless:
            return
        loop = asyncio.get_running_loop()
        with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):
            loop.add_signal_handler(signal.SIGINT, self._interrupt)

        def leave() -> None:
            self._unsent.keep(self._typed())  # at once: the loop may be stuck
            with contextlib.suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(self.exit)

        last_call.on_signals(leave, self._end_teacher)

    def _end_teacher(self) -> None:
        """Ends a teacher that is a process, now; what it has not saved is in the journal."""
        if end := getattr(self.teacher, "end", None):
            end()

    def _interrupt(self) -> None:
        """No key: the app gets those itself."""
        from vidya_tui.terminal.editor import just_left

        if not just_left():
            self.exit()

    def _handle_exception(self, error: Exception) -> None:
        """A bug: the details go to the log, a calm line to the terminal. Textual's own way prints
        local variables, and those are the owner's words."""
        first = self._exception is None
        self._return_code = 1
        if first:
            self._exception = error  # run_test raises it again
            self._exception_event.set()
        write_log(self._home.log_path, "".join(traceback.format_exception(error)))
        self._unsent.keep(self._typed())
        if first:
            self._exit_renderables.append(
                Text(
                    "vidya stopped because of a mistake in the program. "
                    "What you said and taught is in the journal.\n"
                    f"Details: {self._home.log_path}\nStart vidya again to go on."
                )
            )
        self._close_messages_no_wait()
