"""Each wall by itself: namespaces without the call filter, and what happens when vidya is killed."""

from __future__ import annotations

import os
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from benchmarks.common.processes import descendants
from learning.rewards.sandbox import seccomp
from learning.rewards.sandbox import worker as sandbox_worker
from learning.rewards.sandbox.namespaces import Limits
from learning.rewards.sandbox.pool import NoSandbox, Sandbox

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[4]
USERS = ["me", "somebody"] if os.geteuid() == 0 else ["me"]
"""As root also as an ordinary user: the way into the namespaces differs."""
ALLOW_ALL = struct.pack("HBBI", 6, 0, 0, 0x7FFF0000)

INSIDE = """
import ctypes, json, os, signal, socket, sys, time
sys.path.insert(0, {root!r})
from learning.rewards.sandbox import namespaces as walls
import getpass, resource, encodings.idna
if {user!r} == "somebody":
    os.setgroups([]); os.setresgid(1234, 1234, 1234); os.setresuid(1234, 1234, 1234)
    ctypes.CDLL(None).prctl(4, 1, 0, 0, 0)
kernel = walls.Kernel()
proc = walls.leave_host(["/usr/lib"])
report = os.dup(1)
template = os.fork()
if template == 0:
    home = walls.own_processes(proc)
    os.close(proc)
    child = walls.fork_apart(kernel, home)
    if child == 0:
        (report,) = walls.confine(kernel, [report], walls.Limits(), {allow!r})
"""


def inside(body: str, user: str, allow: bytes = ALLOW_ALL) -> str:
    """Runs the body in namespaces with a call filter that allows everything; returns what it printed."""
    code = INSIDE.format(root=str(ROOT), user=user, allow=allow)
    code += "        try:\n"
    code += "".join(f"            {line}\n" for line in body.strip().splitlines())
    code += "        except OSError as error: said = f'{type(error).__name__} {error.errno}'\n"
    code += "        os.write(report, str(said).encode())\n        os._exit(0)\n"
    code += "    os.waitpid(child, 0)\n    os._exit(0)\nos.waitpid(template, 0)\n"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stderr == ""
    return done.stdout


@pytest.mark.parametrize("user", USERS)
def test_the_root_shows_nothing_of_the_host(user: str) -> None:
    said = inside("said = sorted(os.listdir('/'))", user)
    assert set(eval(said)) <= {"dev", "etc", "lib", "lib64", "proc", "room", "tmp", "usr"}
    assert inside("said = os.listdir('/proc') + os.listdir('/room')", user) == "[]"
    assert inside("said = os.listdir('/etc')", user) == "['ld.so.cache']"


@pytest.mark.parametrize("user", USERS)
@pytest.mark.parametrize("place", ["/x", "/tmp/x", "/usr/lib/x", "/dev/x", "/etc/x"])
def test_nothing_can_be_written_but_the_own_room(place: str, user: str) -> None:
    assert inside(f"said = open({place!r}, 'w')", user) == "OSError 30"
    assert inside("said = open('/room/x', 'w').write('hello')", user) == "5"


@pytest.mark.parametrize("user", USERS)
def test_there_is_no_network(user: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        body = f"socket.create_connection(('127.0.0.1', {port}), 2)\nsaid = 'connected'"
        assert inside(body, user).startswith("OSError 101")
    with socket.socket(socket.AF_UNIX) as abstract:
        name = f"\0vidya-{os.getpid()}"
        abstract.bind(name)
        abstract.listen()
        assert "ConnectionRefused" in inside(f"said = socket.socket(1).connect({name!r})", user)


@pytest.mark.parametrize("user", USERS)
def test_there_are_no_other_processes_and_no_rights(user: str) -> None:
    assert inside("said = os.getpid(), os.getppid(), os.getuid()", user) == "(1, 0, 65534)"
    assert inside(f"said = os.kill({os.getpid()}, 0)", user) == "ProcessLookupError 3"
    assert inside("said = os.chroot('/room')", user) == "PermissionError 1"
    assert inside("said = os.setuid(0)", user) == "OSError 22"
    mount = "said = kernel.mount('tmpfs', '/room', 'tmpfs', 0)"
    assert inside(mount, user) == "PermissionError 1"
    assert inside("said = kernel('unshare', 0x40000000)", user) == "PermissionError 1"


@pytest.mark.parametrize("user", USERS)
def test_what_a_program_started_dies_with_it(user: str, tmp_path: Path) -> None:
    """Even where forking is allowed: the first process of a namespace takes all with it."""
    body = """
for _ in range(5):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0: time.sleep(1000)
        os._exit(0)
said = 'left'
"""
    before = processes("sandbox_walls as walls")
    assert inside(body, user) == "left"
    assert processes("sandbox_walls as walls") <= before


def test_the_filter_alone_holds_too() -> None:
    refused = seccomp.program()
    assert inside("said = os.fork()", "me", refused) == "PermissionError 1"
    assert inside("said = socket.socket()", "me", refused) == "PermissionError 1"
    assert inside("said = len(socket.socketpair())", "me", refused) == "2"


def test_filters_are_known_for_both_machines() -> None:
    for machine in ("x86_64", "aarch64"):
        lines = seccomp.program(machine)
        assert len(lines) % 8 == 0 and len(lines) // 8 < 4096
    with pytest.raises(OSError, match="no system call filter"):
        seccomp.program("pdp11")


def processes(word: str) -> set[int]:
    """Those whose command line has the word."""
    found = set()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                if word in (entry / "cmdline").read_text(errors="replace"):
                    found.add(int(entry.name))
            except OSError:
                continue
    return found


KILLED = """
import sys, threading
sys.path.insert(0, {root!r})
from benchmarks.common.processes import descendants
from learning.rewards.sandbox.pool import Sandbox
with Sandbox(workers=2) as sandbox:
    loop = lambda: sandbox.run("while True: pass", "", 1000)
    threading.Thread(target=loop, daemon=True).start()
    threading.Thread(target=loop, daemon=True).start()
    threading.Event().wait(1.0)
    print("running", flush=True)
    loop()
"""


def test_a_killed_vidya_leaves_no_process() -> None:
    code = KILLED.format(root=str(ROOT))
    vidya = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert vidya.stdout is not None
    assert vidya.stdout.readline() == "running\n"
    started = descendants(vidya.pid)
    assert len(started) == 8  # two of: watcher, template, judge, candidate
    vidya.send_signal(signal.SIGKILL)
    vidya.wait()
    vidya.stdout.close()
    wait_for_the_end(started)


def wait_for_the_end(pids: set[int]) -> None:
    until = time.monotonic() + 20
    while any(Path(f"/proc/{pid}").exists() for pid in pids):
        assert time.monotonic() < until, "a process was left behind"
        time.sleep(0.02)


def test_a_lost_worker_is_replaced() -> None:
    with Sandbox(workers=1) as pool:
        for _ in range(2):
            worker = pool._programs.free.get()
            assert worker is not None
            os.killpg(worker.process.pid, signal.SIGKILL)
            worker.process.wait()
            pool._programs.free.put(worker)
            assert pool.run("def f(): return 1", "assert f() == 1", 20).passed


def test_a_worker_lost_with_its_job_is_replaced() -> None:
    with Sandbox(workers=1) as pool:
        worker = pool._programs.free.get()
        pool._programs.free.put(worker)
        assert worker is not None
        watcher = worker.process.pid

        def kill_when_busy() -> None:
            while len(descendants(watcher)) < 3:
                time.sleep(0.01)
            os.killpg(watcher, signal.SIGKILL)

        threading.Thread(target=kill_when_busy).start()
        assert pool.run("while True: pass", "", 20).failure == "killed"
        assert pool.run("def f(): return 1", "assert f() == 1", 20).passed


def test_a_sandbox_that_stops_answering_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    with Sandbox(workers=1) as pool:
        worker = pool._programs.free.get()
        pool._programs.free.put(worker)
        assert worker is not None
        (template,) = descendants(worker.process.pid)
        os.kill(template, signal.SIGSTOP)
        with monkeypatch.context() as patch:
            patch.setattr(sandbox_worker, "STOP_SECONDS", 1.0)
            outcome = pool.run("def f(): return 1", "assert f() == 1", 0.3)
        assert not outcome.passed and outcome.failure
        wait_for_the_end({template})
        assert pool.run("def f(): return 1", "assert f() == 1", 20).passed


def test_without_walls_nothing_runs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    broken = sandbox_worker.START.replace(
        "import main", "import main, namespaces\nnamespaces._NEWNS = 1 << 62"
    )
    monkeypatch.setattr(sandbox_worker, "START", broken)
    with pytest.raises(NoSandbox, match="unshare"), Sandbox(workers=1):
        pass
    outcome = Sandbox(workers=1).run("x = 1", "", 20)
    assert (outcome.value, outcome.failure) == (None, "no sandbox")


def test_a_wall_that_gives_way_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = sandbox_worker.START.replace(
        "import main",
        f"import main, seccomp\nseccomp.program = lambda: {ALLOW_ALL!r}",
    )
    monkeypatch.setattr(sandbox_worker, "START", broken)
    before = descendants(os.getpid())
    with pytest.raises(NoSandbox, match="does not hold"), Sandbox(workers=1):
        pass
    assert descendants(os.getpid()) == before


def test_other_systems_are_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox_worker.sys, "platform", "darwin")
    with pytest.raises(NoSandbox, match="no sandbox for darwin"), Sandbox():
        pass


def test_limits_are_those_asked_for() -> None:
    with Sandbox(workers=1, limits=Limits(memory=128 << 20, disk=1 << 20)) as small:
        program = "import resource as r\ndef limit(): return r.getrlimit(r.RLIMIT_AS)[0]"
        assert small.run(program, f"assert limit() == {128 << 20}", 20).passed
        full = "def f():\n    with open('x', 'wb') as f:\n        return f.write(bytes(1 << 21))"
        assert not small.run(full, "assert f()", 20).passed
