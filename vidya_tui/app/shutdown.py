"""How the app ends. The unsent text is saved about a second after it is typed, and once more on every way
out. On quit the teacher saves its lessons first.
"""

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

if TYPE_CHECKING:  # not imported at run time, so that the first frame appears sooner
    from learning.protocol.messages import TeacherPort
    from vidya_tui.worker.fetcher import Fetcher


SAVE_AFTER = 1.0
"""Seconds after a key until the unsent text is on disk."""


class LeavingApp(App[None]):
    """The base of `VidyaApp` with everything that concerns leaving."""

    class TeacherClosed(Message):
        """The teacher has saved and stopped."""

    chat: ChatScreen
    keys: Keymap
    teacher: TeacherPort | None = None
    fetcher: Fetcher | None = None
    _home: Home
    _unsent: Unsent
    _leaving = False
    _saves = False  # a timer will save the unsent text

    def action_help_quit(self) -> None:
        """ctrl+c with nothing selected. Many press it to leave, so this names the key that does."""
        self.chat.notice.say(f"{self._leave_key} leaves; everything said is kept")

    @property
    def _leave_key(self) -> str:
        return shown(self.keys["quit"]) or "/quit"

    async def action_quit(self) -> None:
        """Saves and leaves. A second call leaves at once (the worker process still saves)."""
        if self._leaving or self.teacher is None:
            self.exit()
            return
        self._leaving = True
        self.chat.notice.say(f"saving \u2026 {self._leave_key} again leaves at once", stay=True)
        # Not in the loop's executor: the event loop waits for the executor's threads when it ends.
        threading.Thread(target=self._close_and_tell, name="closing", daemon=True).start()

    def exit(
        self, result: None = None, return_code: int = 0, message: RenderableType | None = None
    ) -> None:
        """Ends the app, after saving the unsent text for the next start."""
        if self.chat.is_mounted:
            self.chat.prompt.settle()  # a digit that still waits: picks, or becomes text
        self._unsent.keep(self._typed())
        super().exit(result, return_code, message)

    def save_soon(self) -> None:
        """Saves the unsent text within SAVE_AFTER seconds, so that a crash does not lose it."""
        if not self._saves and not self._leaving:
            self._saves = True
            self.set_timer(SAVE_AFTER, self._save)

    def _save(self) -> None:
        self._saves = False
        if not self.is_running or self._leaving:
            return
        if self.chat.prompt.holds_digit:  # it may pick, and must not come back as text after that
            self.save_soon()
        else:
            self._unsent.save(self._typed())

    def _typed(self) -> str:
        """The unsent text: that of the prompt, then that of any editor open above it."""
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
        """Ends a download, then stops the teacher, as far as they were started. Idempotent. Waits until
        the teacher has saved."""
        if self.fetcher is not None:
            self.fetcher.close()
        if self.teacher is not None:
            self.teacher.close()

    @property
    def leaving(self) -> bool:
        """True once the owner asked to leave: the teacher is closed or closing."""
        return self._leaving

    def _leave_in_order_on_signals(self) -> None:
        if self.is_headless:
            return
        loop = asyncio.get_running_loop()
        with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):
            loop.add_signal_handler(signal.SIGINT, self._interrupt)

        last_call.on_signals(lambda: self.leave_by_signal(loop), self._end_teacher)

    def leave_by_signal(self, loop: asyncio.AbstractEventLoop) -> None:
        """Saves the unsent text here, because the loop may be stuck, and asks the loop to end the app. A held
        digit is saved as text, so it does not pick any more."""
        self._unsent.keep(self._typed())
        self.chat.prompt.forget_digit()  # here too: the loop may find that its time is up
        with contextlib.suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(lambda: self.exit(return_code=last_call.INTERRUPTED))

    def _end_teacher(self) -> None:
        """Kills the teacher's process at once, if it has one. The journal holds what it has not
        saved."""
        if end := getattr(self.teacher, "end", None):
            end()

    def _interrupt(self) -> None:
        """SIGINT from outside. ctrl+c as a key does not come here: the terminal is in raw mode."""
        from vidya_tui.terminal.editor import just_left

        if not just_left():
            self.exit(return_code=last_call.INTERRUPTED)

    def _handle_exception(self, error: Exception) -> None:
        """An exception nobody caught, that is a bug: writes the traceback to the log and one line
        to the terminal. Textual's own handler would print local variables, which hold the owner's
        words."""
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
