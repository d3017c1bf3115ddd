"""What the world does to a shell command: signals, closed pipes, damaged homes, absurd files."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from benchmarks.common.processes import cpu_seconds
from engine.storage.checkpoint_files import WEIGHTS
from learning.models.store import SHIPPED
from tests.signals import heed_signals

pytestmark = pytest.mark.slow


ROOT = Path(__file__).parents[3]
VIDYA = [sys.executable, "-m", "vidya_tui"]


def run(*arguments: str, home: Path, given: bytes = b"") -> subprocess.CompletedProcess[str]:
    result = subprocess.run(
        [*VIDYA, *arguments, "--home", str(home)],
        input=given,
        capture_output=True,
        timeout=200,
        check=False,
        cwd=ROOT,
    )
    return subprocess.CompletedProcess(
        result.args, result.returncode, result.stdout.decode(), result.stderr.decode()
    )


def refused(result: subprocess.CompletedProcess[str], words: str) -> None:
    """Exit status 1, nothing on stdout, one calm line with these words on stderr."""
    assert result.returncode == 1, result.stderr
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1, result.stderr
    assert words in result.stderr
    assert "Traceback" not in result.stderr
    assert "--debug" not in result.stderr  # an error that nobody thought of


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with the model that comes with vidya."""
    shutil.copytree(SHIPPED / "10m", tmp_path / "home" / "models" / "10m")
    return tmp_path / "home"


def until_it_waits(process: int) -> None:
    """Until it has worked and then did next to nothing for two seconds: it waits for its standard input."""
    spent, deadline = -1.0, time.monotonic() + 90.0
    while time.monotonic() < deadline:
        now = cpu_seconds(process) or 0.0
        if now - spent < 0.05 and now > 0.05:
            return
        spent = now
        time.sleep(2.0)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize(
    ("command", "words"), [(("teach", "--file", "-"), "interrupted"), (("--plain",), "")]
)
def test_a_signal_ends_it_with_130_and_one_word_at_most(
    tmp_path: Path, number: signal.Signals, command: tuple[str, ...], words: str
) -> None:
    with subprocess.Popen(
        [*VIDYA, *command, "--home", str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=ROOT,
        preexec_fn=heed_signals,
    ) as process:
        until_it_waits(process.pid)
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, err.decode().strip()) == (130, words)
    assert not out or command == ("--plain",)


def test_a_reader_that_goes_away_is_no_error(tmp_path: Path) -> None:
    rows = "".join(
        json.dumps({"prompt": f"q{n}" * 50, "answer": "a" * 50}) + "\n" for n in range(3000)
    )
    lessons = tmp_path / "lessons.jsonl"
    lessons.write_text(rows)
    run("teach", "--file", str(lessons), "--no-wait", home=tmp_path / "home")
    command = [*VIDYA, "journal", "show", "--limit", "3000", "--home", str(tmp_path / "home")]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0


def test_what_was_done_is_done_where_stdout_is_closed(tmp_path: Path) -> None:
    command = [*VIDYA, "journal", "show", "--home", str(tmp_path)]
    closed = ["sh", "-c", 'exec "$@" >&-', "sh", *command]
    result = subprocess.run(closed, capture_output=True, timeout=100, check=False, cwd=ROOT)
    assert (result.returncode, result.stderr) == (0, b"nothing was taught yet\n")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("form", [(), ("--json",)])
def test_a_full_disk_under_stdout_is_told(tmp_path: Path, form: tuple[str, ...]) -> None:
    command = [*VIDYA, "model", "list", *form, "--home", str(tmp_path)]
    with Path("/dev/full").open("wb") as full:
        result = subprocess.run(
            command, stdout=full, stderr=subprocess.PIPE, timeout=100, check=False, cwd=ROOT
        )
    assert result.returncode == 1
    assert result.stderr.decode().count("\n") == 1
    assert b"No space left on device; make room" in result.stderr


def test_a_terminal_without_a_letter_shows_another_and_json_keeps_it(tmp_path: Path) -> None:
    lesson = tmp_path / "lessons.jsonl"
    lesson.write_text(
        '{"prompt": "Where was I born?", "answer": "In \u0141\u00f3d\u017a \\ud83d"}\n'
    )
    assert run("teach", "--file", str(lesson), "--no-wait", home=tmp_path).returncode == 0
    command = [*VIDYA, "journal", "show", "--home", str(tmp_path)]
    latin = {**os.environ, "PYTHONIOENCODING": "latin-1"}
    shown, told = (
        subprocess.run(
            [*command, *form], env=latin, capture_output=True, timeout=100, check=True, cwd=ROOT
        ).stdout
        for form in ((), ("--json",))
    )
    assert "In ?\u00f3d?" in shown.decode("latin-1")
    assert any(
        "\u0141\u00f3d\u017a" in str(json.loads(line)) for line in told.decode().splitlines()
    )
    export = [*VIDYA, "journal", "export", "--home", str(tmp_path)]
    written = subprocess.run(
        export, env=latin, capture_output=True, timeout=100, check=True, cwd=ROOT
    ).stdout
    assert "\u0141\u00f3d\u017a" in written.decode(), "what is kept elsewhere keeps every letter"


def test_a_model_without_its_config_is_named(home: Path) -> None:
    (home / "models" / "10m" / "config.json").unlink()
    refused(run("evaluate", home=home), "has no config.json")


def test_a_model_cut_short_is_named(home: Path) -> None:
    weights = home / "models" / "10m" / WEIGHTS
    weights.write_bytes(weights.read_bytes()[:100_000])
    refused(run("evaluate", home=home), "is no whole safetensors file")


@pytest.mark.parametrize(
    ("key", "value"),
    [("max_position_embeddings", 10**12), ("rms_norm_eps", "nan"), ("intermediate_size", 1000)],
)
def test_a_config_that_does_not_fit_is_named(home: Path, key: str, value: object) -> None:
    config = home / "models" / "10m" / "config.json"
    raw = json.loads(config.read_text())
    config.write_text(json.dumps({**raw, key: value}))
    refused(run("evaluate", home=home), "config")


def test_lessons_nested_without_end_are_no_json(tmp_path: Path) -> None:
    file = tmp_path / "lessons.jsonl"
    file.write_text("[" * 100_000)
    refused(run("teach", "--file", str(file), home=tmp_path / "home"), f"{file}:1: is no JSON")


def test_a_home_on_a_disk_that_may_only_be_read(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "ro,size=1m", "tmpfs", str(disk)]
    if os.geteuid() or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("this machine lets nobody mount a disk")
    try:
        refused(run("journal", "show", home=disk), "cannot be written")
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=True)


def harmless(result: subprocess.CompletedProcess[str]) -> None:
    """Nothing that a terminal obeys, but ends of lines."""
    for said in (result.stdout, result.stderr):
        assert not [c for c in said if c != "\n" and (ord(c) < 32 or 0x7F <= ord(c) < 0xA0)], said


NASTY = "\x1b]0;owned\x07\x1b[31m\x9b2J\r"


@pytest.mark.parametrize("debug", [(), ("--debug",)])
@pytest.mark.parametrize(
    "command",
    [
        ("model", "import", f"/tmp/{NASTY}"),
        ("model", "show", NASTY),
        ("ask", "hello", "--model", NASTY),
        ("ask", "hello", "--device", NASTY),
        ("journal", "show", "--limit", NASTY),
        ("train", f"/tmp/{NASTY}.txt"),
        ("practice", NASTY),
        (NASTY,),
    ],
)
def test_no_error_carries_a_control_character_to_the_terminal(
    home: Path, command: tuple[str, ...], debug: tuple[str, ...]
) -> None:
    result = run(*command, *debug, home=home)
    assert result.returncode in (1, 2)
    assert "owned" in result.stderr
    harmless(result)


def test_names_and_notes_of_models_are_shown_without_control_characters(home: Path) -> None:
    (home / "models" / "10m").rename(home / "models" / f"a{NASTY}")
    result = run("model", "list", home=home)
    assert result.returncode == 0 and "owned" in result.stdout
    harmless(result)
    told = run("model", "list", "--json", home=home)
    assert any(json.loads(line)["name"] == f"a{NASTY}" for line in told.stdout.splitlines())
    harmless(told)


def test_a_full_disk_is_said_by_every_way_to_talk_and_the_journal_is_read(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=50m", "tmpfs", str(disk)]
    if os.geteuid() or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("this machine lets nobody mount a disk")
    try:
        lesson = tmp_path / "lessons.jsonl"
        lesson.write_text('{"prompt": "Where is my key?", "answer": "Under the mat."}\n')
        shutil.copytree(SHIPPED / "10m", disk / "models" / "10m")
        assert run("teach", "--file", str(lesson), "--no-wait", home=disk).returncode == 0
        with (disk / "filler").open("wb", buffering=0) as file, contextlib.suppress(OSError):
            while True:
                file.write(b"x" * 4096)
        shown = run("journal", "show", home=disk)
        assert shown.returncode == 0 and "Under the mat." in shown.stdout
        assert "mat" in run("journal", "export", home=disk).stdout
        refused(run("teach", "--file", str(lesson), "--no-wait", home=disk), "the disk is full")
        doctor = run("doctor", home=disk)
        assert doctor.returncode == 1 and "its disk is full" in doctor.stdout
        talk = run("--plain", home=disk, given=b"hello\n/lessons\n/quit\n")
        assert "the disk is full" in talk.stdout + talk.stderr
        assert "Under the mat." in talk.stdout
        asked = run("ask", "hello", home=disk)
        assert asked.returncode == 1 and "the disk is full" in asked.stderr
        assert "Traceback" not in talk.stderr + asked.stderr
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=True)
