"""Lets the app go on after SIGSTOP, which no program can handle, as it goes on after SIGTSTP.

Textual (8.2.8) takes each SIGCONT for the end of a suspension that it began itself, and starts another thread
that reads the terminal. If the first one is still there, each gets a part of the keys and of a paste. And it
raises an error at a SIGCONT that comes once its event loop has ended. Left out: the suspension around an
external editor, which is Textual's own.
"""

from __future__ import annotations

import os
import signal
from functools import partial

from textual.driver import Driver


def continues(driver: type[Driver]) -> type[Driver]:
    """A subclass of driver. After a SIGCONT it first suspends itself, if neither SIGTSTP nor Textual did, and
    then resumes. Only the driver of Linux and macOS needs that; any other is returned unchanged."""
    if not hasattr(driver, "_sigcont_application"):
        return driver

    class Continuing(driver):  # type: ignore[valid-type,misc]
        _continuing = False
        _must_signal_resume: bool
        """Textual's: whether it has suspended itself because of SIGTSTP."""

        def _sigtstp_application(self, *_: object) -> None:
            if self._loop.is_running():
                super()._sigtstp_application()
            else:  # the app has left the screen
                os.kill(os.getpid(), signal.SIGSTOP)

        def _sigcont_application(self, *_: object) -> None:
            if self._continuing or not self._auto_restart or not self._loop.is_running():
                return  # a second SIGCONT changes nothing
            self._continuing = True
            if self._must_signal_resume:
                self._go_on()
            else:  # the signal may have come while a lock was held that the suspension needs
                self._loop.call_soon_threadsafe(self._go_on)

        def _go_on(self) -> None:
            try:
                if not self._must_signal_resume:
                    if self._key_thread is None or not self._key_thread.is_alive():
                        return  # the app has not begun, or is about to leave the screen
                    self.suspend_application_mode()
                    self._must_signal_resume = True
                self.resume_application_mode()
                self._loop.call_soon_threadsafe(partial(self._app.refresh, layout=True))
            finally:
                self._continuing = False

    return Continuing
