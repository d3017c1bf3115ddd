"""Runs inside the sandbox: a watcher, and a warm Python process that forks children for each job.

    vidya --- watcher (leaves the host, ends with vidya) --- template (process 1)
                                                              |- judge      (tests)    } a world of
                                                              |- candidate  (program)  } their own
                                                              or a candidate alone, which reports its output

The template reads neither programs nor tests. Each child reads its own from a socket that no other
process holds, so a job leaves nothing in the memory of a later one.
Left out: deadlines. vidya enforces them and kills a job that does not answer in time.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import math
import os
import select
import signal
import socket
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from learning.rewards.sandbox import candidate, judge, namespaces, seccomp
from learning.rewards.sandbox import wire as wire

CONTROL_BYTES = 1 << 16
"""Longest message on the control socket."""
UNCONFINED = 99
"""Exit status of a child that could not be confined, and therefore ran nothing."""


def main() -> None:
    """Entry point. argv[1] is JSON: {"parent", "control", "shown", "path", "limits"}.

    sys.path must begin with the folder of this package. No program can see that folder.
    """
    order = json.loads(sys.argv[1])
    own = sys.path[1:]
    if sys.base_prefix not in ("/", "/usr"):  # Python's modules may load libraries from its own lib
        order["shown"].append(f"{sys.base_prefix}/lib")
    control = socket.socket(fileno=order["control"])
    try:
        watched = os.pidfd_open(order["parent"])
        if os.getppid() != order["parent"]:
            return
        with contextlib.suppress(OSError):  # if memory runs out, the kernel kills this first
            Path("/proc/self/oom_score_adj").write_text("1000")
        sys.dont_write_bytecode = True
        watcher = os.getpid()
        proc = namespaces.leave_host([*own, *order["shown"]])
        template = os.fork()
        if template == 0:
            os.close(watched)
            namespaces.die_with(watcher)
            home = namespaces.own_processes(proc)
            os.close(proc)
            sys.path[:] = [*own, *order["path"]]
            _Template(control, home, namespaces.Limits(**order["limits"])).serve()
            os._exit(0)
    except Exception as error:
        with contextlib.suppress(OSError):
            control.send(json.dumps({"error": str(error)}).encode())
        os._exit(1)
    control.close()
    _watch(watched, template)


def _watch(parent: int, template: int) -> None:
    """Waits until the parent or the template ends, then kills the template and exits."""
    poll = select.poll()
    poll.register(parent, select.POLLIN)
    poll.register(os.pidfd_open(template), select.POLLIN)
    poll.poll()
    with contextlib.suppress(ProcessLookupError):
        os.kill(template, signal.SIGKILL)
    os.waitpid(template, 0)
    os._exit(0)


class _Template:
    def __init__(self, control: socket.socket, home: int, limits: namespaces.Limits) -> None:
        self.control = control
        self.home = home
        self.limits = limits
        self.kernel = namespaces.Kernel()
        self.call_filter = seccomp.program()

    def serve(self) -> None:
        self.tell({"ready": True})
        gc.disable()
        gc.freeze()
        while True:
            message, fds, _, _ = socket.recv_fds(self.control, CONTROL_BYTES, 3)
            if not message:
                return
            order = json.loads(message)
            try:
                self.do(order, fds)
            except Exception as error:
                self.tell({"error": f"{type(error).__name__}: {error}"[:300]})

    def tell(self, message: Any) -> None:
        self.control.send(json.dumps(message).encode())

    def do(self, order: dict[str, Any], fds: list[int]) -> None:
        if order["job"] == "prepare":
            for name in order["modules"]:
                importlib.import_module(name)
            gc.freeze()
            self.tell({"ready": True})
        elif order["job"] in ("run", "call", "execute"):
            limits = replace(self.limits, seconds=math.ceil(order["seconds"]) + 1)
            children: list[int] = []
            try:
                if order["job"] == "call":
                    children.append(self.fork(_call, fds, limits))
                elif order["job"] == "execute":
                    children.append(self.fork(candidate.execute, fds, limits))
                else:
                    children.append(self.fork(judge.serve, fds[:2], limits))
                    children.append(self.fork(candidate.serve, fds[2:], limits))
            except OSError:
                _end(children)
                raise
            finally:
                for fd in fds:
                    os.close(fd)
            self.wait(children[0])
            ends, busy = _end(children)
            self.tell({"ends": ends, "busy": busy})

    def fork(self, role: Callable[..., None], keep: list[int], limits: namespaces.Limits) -> int:
        child = namespaces.fork_apart(self.kernel, self.home)
        if child == 0:
            try:
                fds = namespaces.confine(self.kernel, keep, limits, self.call_filter)
            except BaseException:
                os._exit(UNCONFINED)
            try:
                gc.enable()
                role(*(socket.socket(fileno=fd) for fd in fds))
            finally:
                os._exit(0)
        return child

    def wait(self, child: int) -> None:
        """Waits until the child ends, or vidya sends a message or is gone."""
        poll = select.poll()
        fd = os.pidfd_open(child)
        poll.register(fd, select.POLLIN)
        poll.register(self.control, select.POLLIN)
        poll.poll()
        os.close(fd)


def _end(children: list[int]) -> tuple[list[int | None], float]:
    """Kills the children that still run. Returns how each had ended before (exit status, -signal, or
    None if it still ran) and the processor time of all together in seconds."""
    how = os.WEXITED | os.WNOHANG | os.WNOWAIT
    over = [os.waitid(os.P_PID, child, how) is not None for child in children]
    ends: list[int | None] = []
    busy = 0.0
    for child in children:
        os.kill(child, signal.SIGKILL)
    for child, by_itself in zip(children, over, strict=True):
        _, status, used = os.wait4(child, 0)
        busy += used.ru_utime + used.ru_stime
        ends.append(os.waitstatus_to_exitcode(status) if by_itself else None)
    return ends, busy


def _call(sock: Any) -> None:
    """Calls a trusted function on untrusted text: {"target", "arguments"} -> {"value"}."""
    order = wire.receive(sock)
    try:
        module, _, name = order["target"].partition(":")
        function = getattr(importlib.import_module(module), name)
        reply = {"value": function(*order["arguments"])}
        json.dumps(reply, allow_nan=False)
    except MemoryError:
        reply = {"failed": "memory", "detail": ""}
    except BaseException as error:
        reply = {"failed": "error", "detail": f"{type(error).__name__}: {error}"[:300]}
    try:
        wire.send(sock, reply)
    except wire.TooMuch as error:
        wire.send(sock, {"failed": "too much output", "detail": str(error)})


if __name__ == "__main__":
    main()
