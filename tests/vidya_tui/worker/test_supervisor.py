"""The worker process from outside: a small child in place of the model."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from engine.config import Sampling
from learning.home import Home
from learning.protocol.events import AskDone, Event, Failed, Ready, WorkerLost
from learning.protocol.messages import encode
from learning.protocol.records import Turn
from learning.protocol.requests import Generate, Learn, OwnerActive, Request, Shutdown, Undo
from vidya_tui.worker.environment import KEPT_SHAPES, MEMORY
from vidya_tui.worker.main import EventWriter, serve
from vidya_tui.worker.supervisor import WorkerTeacher, worker_command, worker_environment

ROOT = Path(__file__).resolve().parents[3]

CHILD = """
import os, signal, sys, time
from learning.protocol.events import *
from learning.protocol.messages import *
from learning.protocol.requests import *
def say(event):
    print(encode(event), flush=True)
mode = sys.argv[1]
if mode == "stubborn":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
if mode == "mute":
    say(Failed("load", "no model", "install one")); sys.exit(3)
if mode == "dies":
    sys.exit(7)
print("stray words on stderr", file=sys.stderr)
say(Ready(str(os.getpid()), 1, 10, os.environ.get("GLIBC_TUNABLES", "")))
if mode == "garbage":
    print("this is not JSON"); print('{"type": "Nonsense"}'); print("\\udcff" if False else "{}")
for line in sys.stdin:
    request = decode(line)
    if mode == "stubborn":
        time.sleep(600)
    if isinstance(request, Shutdown):
        open(sys.argv[2], "a").write("shutdown\\n"); sys.exit(0)
    if isinstance(request, Generate):
        say(AskDone(request.ask, float(os.getpid()), 0.0))
    if isinstance(request, Undo):
        os.kill(os.getpid(), signal.SIGKILL)
open(sys.argv[2], "a").write("stdin closed\\n")
"""


class Watched:
    """A WorkerTeacher with the events it gave."""

    def __init__(self, folder: Path, mode: str = "good", patience: float = 10.0) -> None:
        self.home = Home(folder / "home")
        self.events: list[Event] = []
        self.diary = folder / "diary"
        script = folder / "child.py"
        script.write_text(CHILD)
        self.teacher = WorkerTeacher(
            self.home,
            on_event=self.events.append,
            command=[sys.executable, str(script), mode, str(self.diary)],
            patience=patience,
        )

    def until(self, true: Callable[[], bool], seconds: float = 10.0) -> None:
        end = time.monotonic() + seconds
        while not true():
            assert time.monotonic() < end, self.events
            time.sleep(0.005)

    def got(self, kind: type) -> list[Event]:
        return [event for event in self.events if isinstance(event, kind)]

    def log(self) -> str:
        return self.home.log_path.read_text()


@pytest.fixture
def watch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Watched]]:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    made: list[Watched] = []

    def start(mode: str = "good", patience: float = 10.0) -> Watched:
        made.append(Watched(tmp_path, mode, patience))
        return made[-1]

    yield start
    for watched in made:
        watched.teacher.close()


def ask(number: int) -> Generate:
    return Generate(number, (Turn("user", "hi"),), 5, Sampling())


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_requests_go_out_and_events_come_back(watch: Callable[..., Watched]) -> None:
    watched = watch()
    watched.teacher.send(ask(1))
    watched.until(lambda: bool(watched.got(AskDone)))
    assert [type(event) for event in watched.events] == [Ready, AskDone]
    assert "stray words on stderr" in watched.log()


def test_the_child_gets_huge_pages_and_this_code(watch: Callable[..., Watched]) -> None:
    watched = watch()
    watched.until(lambda: bool(watched.got(Ready)))
    ready = watched.events[0]
    assert isinstance(ready, Ready) and ready.device == MEMORY[1]
    assert worker_environment({"GLIBC_TUNABLES": "mine"})["GLIBC_TUNABLES"] == "mine"
    assert worker_environment({})["OMP_WAIT_POLICY"] == "passive"
    assert int(worker_environment({})["GOMP_SPINCOUNT"]) <= 1000
    for name, _ in KEPT_SHAPES:
        assert (
            int(worker_environment({})[name]) <= 256
        )  # as many as a lesson has shapes, and few more
        assert worker_environment({name: "500"})[name] == "500"
    own = worker_environment({"OMP_WAIT_POLICY": "active"})
    assert own["OMP_WAIT_POLICY"] == "active" and "GOMP_SPINCOUNT" not in own
    assert worker_environment({"PYTHONPATH": "/a"})["PYTHONPATH"] == f"{ROOT}{os.pathsep}/a"


def test_close_asks_it_to_save(watch: Callable[..., Watched]) -> None:
    watched = watch()
    watched.until(lambda: bool(watched.got(Ready)))
    pid = watched.teacher.pid
    assert pid is not None
    watched.teacher.close()
    watched.teacher.close()
    assert watched.diary.read_text() == "shutdown\n"
    assert not alive(pid)
    assert watched.got(WorkerLost) == []


def test_close_right_after_the_start(watch: Callable[..., Watched]) -> None:
    watched = watch()
    watched.teacher.close()
    assert watched.teacher.pid is None
    assert watched.got(WorkerLost) == []


def test_a_killed_worker_is_restarted(watch: Callable[..., Watched]) -> None:
    watched = watch()
    watched.until(lambda: bool(watched.got(Ready)))
    pid = watched.teacher.pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    watched.until(lambda: len(watched.got(Ready)) == 2)
    lost = watched.events[1]
    assert isinstance(lost, WorkerLost) and lost.restarting and "SIGKILL" in lost.reason
    watched.teacher.send(ask(1))
    watched.until(lambda: bool(watched.got(AskDone)))


def test_requests_wait_while_it_is_down(
    watch: Callable[..., Watched], monkeypatch: pytest.MonkeyPatch
) -> None:
    watched = watch()
    watched.until(lambda: bool(watched.got(Ready)))
    hold, start = threading.Event(), watched.teacher._start

    def slowly() -> object:
        hold.wait(10)
        return start()

    monkeypatch.setattr(watched.teacher, "_start", slowly)
    watched.teacher.send(Undo(1))  # kills the child
    watched.until(lambda: watched.teacher.pid is None)
    for request in (ask(1), Learn(), OwnerActive(), ask(2), ask(1), Learn()):
        watched.teacher.send(request)
    assert list(watched.teacher._queue) == [ask(1), Learn(), ask(2)]  # each once
    hold.set()
    watched.until(lambda: len(watched.got(AskDone)) == 2)
    assert [event.ask for event in watched.got(AskDone)] == [1, 2]  # type: ignore[union-attr]


def test_it_gives_up_after_three_restarts(watch: Callable[..., Watched]) -> None:
    watched = watch("dies")
    watched.until(lambda: len(watched.got(WorkerLost)) == 4)
    states = [event.restarting for event in watched.got(WorkerLost)]  # type: ignore[union-attr]
    assert states == [True, True, True, False]
    watched.teacher.send(OwnerActive())
    watched.teacher.send(ask(9))
    failed = watched.events[-1]
    assert isinstance(failed, Failed) and failed.ask == 9 and failed.where == "worker"
    assert len(watched.got(Failed)) == 1


def test_a_worker_that_said_why_is_not_restarted(watch: Callable[..., Watched]) -> None:
    watched = watch("mute")
    watched.until(lambda: bool(watched.got(WorkerLost)))
    assert isinstance(watched.events[0], Failed)
    lost = watched.events[1]
    assert isinstance(lost, WorkerLost) and not lost.restarting


def test_garbage_is_passed_over_and_logged(watch: Callable[..., Watched]) -> None:
    watched = watch("garbage")
    watched.teacher.send(ask(1))
    watched.until(lambda: bool(watched.got(AskDone)))
    assert [type(event) for event in watched.events] == [Ready, AskDone]
    assert "not an event, ignored: this is not JSON" in watched.log()


@pytest.mark.slow
def test_a_worker_that_does_not_end_is_ended(watch: Callable[..., Watched]) -> None:
    watched = watch("stubborn", 0.2)
    watched.until(lambda: bool(watched.got(Ready)))
    pid = watched.teacher.pid
    assert pid is not None
    watched.teacher.send(Learn())
    watched.teacher.close()  # terminate is ignored, kill is not
    assert not alive(pid)


def test_a_listener_that_fails_does_not_end_the_reading(watch: Callable[..., Watched]) -> None:
    watched = watch()
    watched.until(lambda: bool(watched.got(Ready)))
    events = watched.events

    def once(event: Event) -> None:
        watched.teacher._on_event = events.append
        raise RuntimeError("listener")

    watched.teacher._on_event = once
    watched.teacher.send(ask(1))
    watched.teacher.send(ask(2))
    watched.until(lambda: bool(watched.got(AskDone)))
    assert "the listener failed" in watched.log()


PARENT = """
import os, sys, time
from pathlib import Path
from learning.home import Home
from vidya_tui.worker.supervisor import WorkerTeacher
folder = Path(sys.argv[1])
def hear(event):
    print(teacher.pid, os.getsid(teacher.pid) != os.getsid(0), flush=True)
teacher = WorkerTeacher(Home(folder / "home"), on_event=lambda e: hear(e),
    command=[sys.executable, str(folder / "child.py"), "good", str(folder / "diary")])
time.sleep(60)
"""


def test_the_child_ends_when_the_interface_is_killed(tmp_path: Path) -> None:
    (tmp_path / "child.py").write_text(CHILD)
    (tmp_path / "parent.py").write_text(PARENT)
    parent = subprocess.Popen(
        [sys.executable, str(tmp_path / "parent.py"), str(tmp_path)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert parent.stdout is not None
    pid, apart = parent.stdout.readline().split()
    assert apart == "True"  # ctrl+c in the terminal does not reach it
    parent.kill()
    parent.wait()
    end = time.monotonic() + 10
    while alive(int(pid)) and time.monotonic() < end:
        time.sleep(0.01)
    assert not alive(int(pid))
    assert (tmp_path / "diary").read_text() == "stdin closed\n"


def test_the_command_line() -> None:
    command = worker_command(Path("/h"), "49m", None, 7)
    assert command[0] == sys.executable
    assert command[-6:] == ["--home", "/h", "--model", "49m", "--seed", "7"]


class Recorder:
    """A TeacherPort that fails on Undo."""

    def __init__(self) -> None:
        self.requests: list[Request] = []

    def send(self, request: Request) -> None:
        if isinstance(request, Undo):
            raise RuntimeError("bug")
        self.requests.append(request)

    def close(self) -> None:
        pass


def test_the_loop_of_the_worker(capsys: pytest.CaptureFixture[str]) -> None:
    out = io.StringIO()
    teacher = Recorder()
    lines = [encode(ask(1)), "", "rubbish", encode(Undo(1)), encode(Learn()), encode(Shutdown())]
    serve([*lines, encode(ask(2))], teacher, EventWriter(out))
    assert teacher.requests == [ask(1), Learn()]
    first, second = out.getvalue().splitlines()
    assert "not a message" in first and '"where": "worker"' in first
    assert "could not take a request (RuntimeError)" in second
    assert "RuntimeError: bug" in capsys.readouterr().err  # the log


MAIN = """
import os, sys, types
from engine.errors import VidyaError
from learning.protocol.events import *
from learning.protocol.messages import *
from learning.protocol.requests import *
class Teacher:
    def __init__(self, on_event):
        print("a stray print"); os.write(1, b"a stray write\\n")
        on_event(Ready("m", 1, 2, "cpu"))
    def send(self, request): pass
    def close(self): print("closing")
module = types.ModuleType("learning.teacher.teacher")
def open_teacher(home, *, model, device, seed, on_event):
    if model == "none":
        raise VidyaError("no model here", "import one")
    if model == "broken":
        raise ValueError("bad weights")
    return Teacher(on_event)
module.open_teacher = open_teacher
sys.modules["learning.teacher.teacher"] = module
from vidya_tui.worker.main import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.parametrize(
    ("model", "status", "out"),
    [
        ("good", 0, [Ready("m", 1, 2, "cpu")]),
        ("none", 3, [Failed("load", "no model here", "import one")]),
        ("broken", 3, None),
    ],
)
def test_the_worker_keeps_its_stdout_clean(
    tmp_path: Path, model: str, status: int, out: list[Event] | None
) -> None:
    script = tmp_path / "main.py"
    script.write_text(MAIN)
    done = subprocess.run(
        [sys.executable, str(script), "--home", str(tmp_path / "home"), "--model", model],
        input="",
        capture_output=True,
        text=True,
        timeout=30,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == status, done.stderr
    if out is not None:
        assert done.stdout.splitlines() == [encode(event) for event in out]
    else:
        assert "the model cannot be loaded (ValueError: bad weights)" in done.stdout
        assert len(done.stdout.splitlines()) == 1
    if status == 0:
        assert all(words in done.stderr for words in ("a stray print", "a stray write", "closing"))
