"""Lets the app go on after SIGSTOP, which no program can handle, as it goes on after SIGTSTP.

Textual (8.2.8) takes each SIGCONT for the end of a suspension that it began itself, and starts another thread
that reads the terminal. If the first one is still there, each gets a part of the keys and of a paste. Left
out: the suspension around an external editor, which is Textual's own.
"""

from __future__ import annotations

from functools import partial

from textual.driver import Driver


def continues(driver: type[Driver]) -> type[Driver]:
    """A subclass of driver that suspends itself before it goes on, where nothing has suspended it. Changes
    only the driver of Linux and macOS; returns any other driver unchanged."""
    if not hasattr(driver, "_sigcont_application"):
        return driver

    class Continuing(driver):  # type: ignore[valid-type,misc]
        _continuing = False
        _must_signal_resume: bool
        """Textual's: whether it has suspended itself because of SIGTSTP."""

        def _sigcont_application(self, *_: object) -> None:
            if self._continuing or not self._auto_restart or self._writer_thread is None:
                return  # a second SIGCONT changes nothing
            self._continuing = True
            try:
                if not self._must_signal_resume:
                    self.suspend_application_mode()
                    self._must_signal_resume = True
                self.resume_application_mode()
                self._loop.call_soon_threadsafe(partial(self._app.refresh, layout=True))
            finally:
                self._continuing = False

    return Continuing
