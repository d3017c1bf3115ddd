"""Signals of the programs that tests start."""

from __future__ import annotations

import signal


def heed_signals() -> None:
    """For `preexec_fn`. A shell has what it starts in the background ignore SIGINT, and nohup SIGHUP. Tests
    that run there ignore them, and so would the programs they start."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
