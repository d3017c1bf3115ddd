"""Runs each program of a comparison in its own process, with its own memory, environment and threads.

Requests and answers are JSON lines. A program that is not installed says so in its first answer, and its row
in the results says it too. Left out: several requests at once.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from typing import Any

from benchmarks import ROOT
from engine.errors import VidyaError


class Worker:
    """`python -m MODULE ARGUMENTS`, running until `close`."""

    def __init__(self, module: str, *arguments: str, environment: Mapping[str, str] = {}) -> None:  # noqa: B006
        """environment: variables in addition to ours. Raises VidyaError if it does not start."""
        self.name = arguments[0] if arguments else module
        self._errors = tempfile.TemporaryFile("w+")  # noqa: SIM115
        self._process = subprocess.Popen(
            [sys.executable, "-u", "-m", module, *arguments],  # its last line is its error
            cwd=ROOT,
            env={**os.environ, **environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
        )
        self.missing: str | None = self._answer().get("missing")
        """What to install if the program is missing; else None."""

    def ask(self, **request: Any) -> dict[str, Any]:
        """The answer to one request. Raises VidyaError if the process ended."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
        except OSError:
            pass  # the process has ended; reading the answer raises
        return self._answer()

    def close(self) -> None:
        """Ends the process."""
        assert self._process.stdin is not None and self._process.stdout is not None
        for end in (self._process.stdin.close, self._process.kill, self._process.wait):
            try:
                end()
            except OSError:
                continue
        self._process.stdout.close()
        self._errors.close()

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if line:
            return dict(json.loads(line))
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(10.0)  # its last messages may come after its last answer
        self._errors.seek(0)
        last = (self._errors.read().strip().splitlines() or ["without a word"])[-1]
        raise VidyaError(f"{self.name}: its process ended: {last}", "run it again; see --debug")


def serve(make: Callable[[], Callable[..., dict[str, Any]]]) -> None:
    """In the child process: answers each request with the function from `make()`.

    Output of libraries goes to stderr, because stdout carries the answers.
    """
    with os.fdopen(os.dup(1), "w") as out:
        os.dup2(2, 1)

        def say(answer: dict[str, Any]) -> None:
            out.write(json.dumps(answer) + "\n")
            out.flush()

        try:
            do = make()
        except ImportError as error:
            name = error.name or error
            say(
                {
                    "missing": f"{name} is not installed: in the folder of vidya: pip install '.[bench]'"
                }
            )
            return
        say({"ready": True})
        for line in sys.stdin:
            say(do(**json.loads(line)))
