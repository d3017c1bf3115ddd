"""What ends the server, as it is told."""

from __future__ import annotations

import os
import signal

from tests.signals import sigint_is
from vidya_tui.server.running import ended_by


def test_a_server_that_ignores_ctrl_c_tells_what_ends_it() -> None:
    with sigint_is(signal.SIG_IGN):
        assert ended_by() == f"kill {os.getpid()}"
    with sigint_is(signal.Handlers.SIG_DFL):
        assert ended_by() == "Ctrl+C"
