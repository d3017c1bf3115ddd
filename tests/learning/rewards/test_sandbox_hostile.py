"""Programs that cheat or do harm: none may pass, and the host is afterwards as it was before."""

from __future__ import annotations

import contextlib
import os
import re
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.checking.sandbox_cheats import SNOOPING
from benchmarks.checking.sandbox_harm import BREAKING, ENDLESS, GREED, SLOW
from benchmarks.checking.sandbox_hostile import PROGRAMS, TESTS, Targets, filled
from benchmarks.common.processes import descendants
from learning.rewards.sandbox.pool import FAILURES, Sandbox

pytestmark = pytest.mark.slow

OWNERS = "VIDYA_OWNERS_SECRET"
"""An environment variable."""
SECONDS = 0.6
"""For programs that would take for ever."""
FINDS_ITSELF = ("tests in the frames",)
"""Where there are no tests it finds its own text."""
REAL = [
    "sys.exit(0) while loading",
    "os._exit(0) when called",
    "equal to everything",
    "an int equal to everything",
    "a list equal to everything",
    "a class equal to everything",
    "unittest.mock.ANY",
    "tests in the frames",
    "tests among all objects",
    "standard input",
    "environment",
    "environment in /proc",
    "memory in /proc",
    "the owner's journal",
    "a symlink to the journal",
    "passwords",
    "the owner's name",
    "/proc",
    "/sys",
    "other devices",
    "TCP",
    "UDP",
    "names of hosts",
    "another program",
    "files in memory",
    "crash reports for the host",
]
"""Some of the attacks, which can be let loose without harm."""


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(OWNERS, "hello")
        with Sandbox(workers=1) as one:
            yield one


@pytest.fixture(scope="module")
def targets() -> Iterator[Targets]:
    """Things of the owner's; afterwards all of them are untouched."""
    with things(stay_untouched=True) as some:
        yield some


@pytest.fixture(scope="module")
def prey() -> Iterator[Targets]:
    """Others, for attacks that are let loose."""
    with things(stay_untouched=False) as some:
        yield some


@contextlib.contextmanager
def things(stay_untouched: bool) -> Iterator[Targets]:
    with tempfile.TemporaryDirectory() as room:
        folder, secret = Path(room, "folder"), Path(room, "journal.sqlite3")
        folder.mkdir(mode=0o777)
        folder.chmod(0o777)
        secret.write_text("journal")
        secret.chmod(0o666)
        os.chmod(room, 0o777)
        sleeper = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1000)"])
        with (
            socket.create_server(("127.0.0.1", 0)) as tcp,
            socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp,
            socket.socket(socket.AF_UNIX) as unix,
            socket.socket(socket.AF_UNIX) as abstract,
        ):
            port = tcp.getsockname()[1]
            udp.bind(("127.0.0.1", port))
            name = str(Path(room, "socket"))
            unix.bind(name)
            abstract.bind("\0" + name)
            listening = [tcp, unix, abstract]
            for one in [*listening, udp]:
                one.setblocking(False)
                if one is not udp:
                    one.listen()
            yield Targets(str(folder), str(secret), sleeper.pid, port, name, OWNERS)
            alive = sleeper.poll() is None
            sleeper.kill()
            sleeper.wait()
            if not stay_untouched:
                return
            assert alive
            assert list(folder.iterdir()) == []
            assert secret.read_text() == "journal"
            for one in listening:
                with pytest.raises(BlockingIOError):
                    one.accept()
            with pytest.raises(BlockingIOError):
                udp.recv(64)


@pytest.mark.parametrize("name", PROGRAMS)
def test_no_hostile_program_passes(name: str, sandbox: Sandbox, targets: Targets) -> None:
    before = descendants(os.getpid())
    seconds = SECONDS if name in ENDLESS or name in SLOW else 20.0
    started = time.monotonic()
    outcome = sandbox.run(filled(PROGRAMS[name], targets), TESTS, seconds)
    took = time.monotonic() - started
    assert not outcome.passed, outcome
    assert outcome.failure in ("", *FAILURES) and outcome.failure != "no sandbox", outcome
    assert len(outcome.detail) <= 300
    assert took < seconds + 60  # the machine may be stopped meanwhile; by itself it is 0.1 s
    if name in ENDLESS:
        assert outcome.failure == "timeout"
    assert descendants(os.getpid()) == before, "a process was left behind, or the worker was lost"


@pytest.mark.parametrize("name", PROGRAMS)
def test_no_hostile_program_does_harm_as_a_tool(
    name: str, sandbox: Sandbox, targets: Targets
) -> None:
    """A program may print anything, but it must not find the answer by reaching what is closed to it."""
    before = descendants(os.getpid())
    seconds = SECONDS if name in ENDLESS or name in SLOW else 20.0
    program = f"{filled(PROGRAMS[name], targets)}\nprint(solve(21))"
    outcome = sandbox.execute(program, seconds)
    assert outcome.failure in ("", *FAILURES) and outcome.failure != "no sandbox", outcome
    assert outcome.failure or all(len(text) <= 300 for text in outcome.value.values())
    said = "" if outcome.failure else outcome.value["out"]
    said = re.sub(r"\bat 0x[0-9a-f]+", "", said)  # an address may have a 42 by chance
    if name in {**SNOOPING, **BREAKING, **GREED} and name not in FINDS_ITSELF:
        assert "42" not in said, outcome
    if name in ENDLESS:
        assert outcome.failure == "timeout"
    assert descendants(os.getpid()) == before, "a process was left behind, or the worker was lost"


@pytest.mark.parametrize("name", REAL)
def test_the_attack_is_real(
    name: str, prey: Targets, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of these passes where program and tests share a process that need only exit with 0."""
    monkeypatch.setenv(OWNERS, "hello")
    monkeypatch.chdir(tmp_path)
    source = filled(PROGRAMS[name], prey)
    naive = "space = {}\nexec(PROGRAM, space)\nexec(TESTS, space)"
    code = f"PROGRAM = {source!r}\nTESTS = {TESTS!r}\n{naive}"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60, input=TESTS, text=True)


def test_an_honest_program_still_passes(sandbox: Sandbox) -> None:
    started = time.monotonic()
    for _ in range(20):
        assert sandbox.run("def solve(n): return 2 * n", TESTS, 20).passed
    assert time.monotonic() - started < 20
