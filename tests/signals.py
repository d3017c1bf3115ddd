"""Signals of the programs that tests start."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager


def heed_signals() -> None:
    """For `preexec_fn`. A shell has what it starts in the background ignore SIGINT, and nohup SIGHUP. Tests
    that run there ignore them, and so would the programs they start."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def ignore_sigint() -> None:
    """For `preexec_fn`. As a shell starts what it puts in the background."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@contextmanager
def sigint_is(handler: signal.Handlers) -> Iterator[None]:
    """This process has this handler of SIGINT in the block."""
    before = signal.signal(signal.SIGINT, handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
