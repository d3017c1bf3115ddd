"""Opens the socket, runs the server until a signal ends it, and prints messages."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import uvicorn
from uvicorn.server import HANDLED_SIGNALS

from engine.errors import ConfigError, VidyaError, reason
from vidya_tui.cli.common import print_json, say
from vidya_tui.server.application import application
from vidya_tui.server.dispatcher import Dispatcher
from vidya_tui.text.sanitise import one_line

PATIENCE = 5
"""Seconds that requests have to end after Ctrl+C."""


def bind(host: str, port: int) -> socket.socket:
    """Takes the port. port: 0 takes a free one. Raises ConfigError if that cannot be."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as error:
        number = error.errno or 0  # negative where the name cannot be looked up
        why = os.strerror(number) if number > 0 else reason(error)
        raise ConfigError(
            f"port {port} of {host} cannot be used ({why})",
            "end the program that has it, or choose another with --port",
        ) from error


def url_of(taken: socket.socket) -> str:
    """The address to type into a client, without a path."""
    host, port = taken.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def ended_by() -> str:
    """What ends the server: Ctrl+C, or a command where SIGINT is ignored, as in the background of a shell."""
    ignored = signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    return f"kill {os.getpid()}" if ignored else "Ctrl+C"


class _Printer:
    """Prints what happens: JSON on stdout, or sentences on stderr."""

    def __init__(self, *, as_json: bool, debug: bool) -> None:
        self._as_json, self._debug = as_json, debug
        self.reader_gone = False
        """Nobody reads what is printed: the pipe is closed."""

    def print(self, row: dict[str, Any], words: str) -> None:
        try:
            if self._as_json:
                print_json(row)
                sys.stdout.flush()
            else:
                self.tell(words)
        except BrokenPipeError:
            self.reader_gone = True

    def tell(self, words: str) -> None:
        """Prints a message."""
        say(one_line(words))

    def report(self, row: dict[str, Any]) -> None:
        clock, asked = time.strftime("%H:%M:%S"), f", ask {row['ask']}" if "ask" in row else ""
        end = ", the client left" if row.get("gone") else ""
        what = f"{clock} {row['method']} {row['path']} {row['status']} in {row['seconds']:.2f} s"
        self.print(row, f"{what}{asked}{end}")

    def unforeseen(self, error: BaseException) -> None:
        if self._debug:
            say("".join(traceback.format_exception(error)))
        else:
            what = one_line(f"{type(error).__name__}: {error}", 300)
            say(f"vidya serve: {what}; run again with --debug for more")


class _Server(uvicorn.Server):
    """Says when it is ready, and ends what runs as soon as it is to end."""

    def __init__(
        self, config: uvicorn.Config, dispatcher: Dispatcher, printer: _Printer, url: str
    ) -> None:
        super().__init__(config)
        self._dispatcher, self._printer, self._url = dispatcher, printer, url
        self._loop: asyncio.AbstractEventLoop | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        self._loop = asyncio.get_running_loop()
        self._loop.set_exception_handler(self._fault)
        await super().startup(sockets)
        ready = f"serving {self._dispatcher.model} on {self._url}/v1; {ended_by()} ends it"
        self._printer.print(
            {"event": "ready", "url": self._url, "model": self._dispatcher.model}, ready
        )

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """See uvicorn.Server, which would also take a signal that was ignored, as SIGINT is in what a shell
        starts in the background."""
        ignored = [n for n in HANDLED_SIGNALS if signal.getsignal(n) is signal.SIG_IGN]
        with super().capture_signals():
            for number in ignored:
                signal.signal(number, signal.SIG_IGN)
            yield

    async def on_tick(self, counter: int) -> bool:
        return await super().on_tick(counter) or self._printer.reader_gone

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        super().handle_exit(sig, frame)
        if self._loop is not None:  # not here: the signal may have come while a lock is held
            self._loop.call_soon_threadsafe(self._dispatcher.stop)

    def _fault(self, _: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        self._printer.unforeseen(error or VidyaError(str(context.get("message"))))


class Serving:
    """A server with its dispatcher still to be opened."""

    def __init__(self, *, as_json: bool, debug: bool) -> None:
        self._printer = _Printer(as_json=as_json, debug=debug)
        self.tell = self._printer.tell

    def run(self, dispatcher: Dispatcher, taken: socket.socket, key: str | None) -> None:
        """Serves on this socket until a signal ends it. Raises KeyboardInterrupt then, BrokenPipeError if
        nobody reads stdout any more."""
        printer = self._printer
        config = uvicorn.Config(
            application(dispatcher, key, printer.report, printer.unforeseen),
            http="h11",
            ws="none",
            lifespan="on",
            log_config=None,
            log_level="critical",
            access_log=False,
            proxy_headers=False,
            server_header=False,
            timeout_graceful_shutdown=PATIENCE,
        )
        _Server(config, dispatcher, printer, url_of(taken)).run(sockets=[taken])
        if printer.reader_gone:
            raise BrokenPipeError
