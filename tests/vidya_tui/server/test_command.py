"""`vidya serve` as it is started: a real process with a tiny model, and real clients."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest
from click.testing import CliRunner
from starlette.testclient import TestClient

from engine.config import Sampling
from learning.protocol.records import Understanding
from tests.signals import heed_signals, ignore_sigint
from tests.vidya_tui.shell import Shell
from vidya_tui.cli.common import local_teacher
from vidya_tui.cli.main import cli
from vidya_tui.options import Options
from vidya_tui.server.application import application
from vidya_tui.server.dispatcher import Dispatcher

ROOT = Path(__file__).parents[3]


@dataclass
class Process:
    process: subprocess.Popen[str]
    url: str

    def end(self, number: int = signal.SIGINT) -> tuple[int, list[dict[str, Any]], str]:
        """Sends a signal, by default that of Ctrl+C. Returns the exit status, the rows of standard output,
        the text of standard error."""
        self.process.send_signal(number)
        out, said = self.process.communicate(timeout=60)
        assert "Traceback" not in said
        return self.process.returncode, [json.loads(line) for line in out.splitlines()], said


def command(shell: Shell, *more: str) -> list[str]:
    where = ["--home", str(shell.home.path)]
    return [sys.executable, "-m", "vidya_tui", "serve", "--port", "0", "--json", *where, *more]


def environment(**more: str) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT), **more}


@pytest.fixture
def served(shell: Shell) -> Iterator[Process]:
    with started(shell, heed_signals) as process:
        yield process


@contextmanager
def started(shell: Shell, before: Callable[[], None]) -> Iterator[Process]:
    """A server with the key "secret", killed at the end. before: what the new process does first."""
    process = subprocess.Popen(
        command(shell),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(VIDYA_SERVE_KEY="secret"),
        preexec_fn=before,
    )
    try:
        assert process.stdout is not None
        ready = json.loads(process.stdout.readline())
        assert (ready["event"], ready["model"]) == ("ready", "tiny")
        yield Process(process, ready["url"])
    finally:
        process.kill()
        process.communicate()


@pytest.mark.slow
def test_a_client_talks_to_the_process(shell: Shell, served: Process) -> None:
    key = {"authorization": "Bearer secret"}
    body = {"messages": [{"role": "user", "content": "hello"}], "n": 2, "seed": 3}
    with httpx2.Client(base_url=served.url, headers=key, timeout=60) as client:
        assert client.get("/health", headers={"authorization": ""}).status_code == 200
        assert client.get("/v1/models", headers={"authorization": ""}).status_code == 401
        reply = client.post("/v1/chat/completions", json=body).json()
        texts = [choice["message"]["content"] for choice in reply["choices"]]
        assert len(set(texts)) == 2 and reply["usage"]["prompt_tokens"] > 0
        again = client.post("/v1/chat/completions", json=body).json()
        assert [choice["message"]["content"] for choice in again["choices"]] == texts

        with client.stream("POST", "/v1/chat/completions", json={**body, "stream": True}) as stream:
            lines = [line for line in stream.iter_lines() if line]
        assert lines[-1] == "data: [DONE]"
        found = [json.loads(line.removeprefix("data: ")) for line in lines[:-1]]
        said = dict[int, str]()
        for chunk in found:
            (choice,) = chunk["choices"]
            text = choice["delta"].get("content", "")
            said[choice["index"]] = said.get(choice["index"], "") + text
        assert [said[0], said[1]] == texts

        judged = client.post("/v1/feedback", json={"id": "chatcmpl-1", "pick": 1, "wait": False})
        assert judged.json() == {"event": "journaled", "waiting": 1}
        large = client.post("/v1/chat/completions", content=b"x" * (2 << 20))
        assert large.status_code == 413
        assert client.post("/v1/chat/completions", content=b"{").status_code == 400
        wrong = client.get("/v1/models", headers={"host": "evil.example"})
        assert wrong.status_code == 403

        long = {**body, "n": 9, "max_tokens": 4096, "temperature": 10, "stream": True}
        with client.stream("POST", "/v1/chat/completions", json=long) as stream:
            next(stream.iter_lines())  # and then it goes away
        assert client.post("/v1/chat/completions", json=body).status_code == 200

    status, rows, said_too = served.end()
    assert status == 130 and "interrupted" in said_too
    assert [row["status"] for row in rows if row["path"] == "/v1/chat/completions"] == [
        *[200] * 3,
        413,
        400,
        *[200] * 2,
    ]
    assert {row["event"] for row in rows} == {"request"}
    shown = shell.rows("journal", "show", "--asks")
    assert [row["message"] for row in shown] == ["hello"] * 5
    assert shown[0]["answer"] == shown[0]["candidates"][1] == texts[1]
    assert shell.rows("journal", "show")[0]["kind"] == "pick"
    assert len(shell.rows("journal", "search", "hello")) >= 5


@pytest.mark.slow
def test_ctrl_c_ends_what_streams_and_frees_the_home(shell: Shell, served: Process) -> None:
    body = {"messages": [{"role": "user", "content": "hello"}], "n": 9, "stream": True}
    body |= {"max_tokens": 4096, "temperature": 10}
    key = {"authorization": "Bearer secret"}
    began = time.monotonic()
    with httpx2.stream(
        "POST", f"{served.url}/v1/chat/completions", json=body, headers=key, timeout=60
    ) as stream:
        lines = stream.iter_lines()
        next(lines)
        status, _, _ = served.end()
        list(lines)
    assert status == 130 and time.monotonic() - began < 30
    with shell.home.lock():
        pass


@pytest.mark.slow
def test_a_server_in_the_background_of_a_shell_goes_on_ignoring_ctrl_c(shell: Shell) -> None:
    with started(shell, ignore_sigint) as served:
        served.process.send_signal(signal.SIGINT)
        for _ in range(3):  # uvicorn looks ten times a second whether it is to end
            time.sleep(0.2)
            assert httpx2.get(f"{served.url}/health").status_code == 200
        assert served.end(signal.SIGTERM)[0] == 130


@pytest.mark.slow
def test_the_openai_package_can_use_it(served: Process) -> None:
    openai = pytest.importorskip("openai")
    client = openai.OpenAI(base_url=f"{served.url}/v1", api_key="secret", max_retries=0)
    assert [model.id for model in client.models.list()] == ["tiny"]
    messages = [{"role": "user", "content": "hello"}]
    whole = client.chat.completions.create(model="tiny", messages=messages, n=2, seed=1)
    assert [choice.index for choice in whole.choices] == [0, 1]
    stream = client.chat.completions.create(model="tiny", messages=messages, seed=1, stream=True)
    assert "".join(chunk.choices[0].delta.content or "" for chunk in stream)
    body = {"id": whole.id, "rating": "good", "index": 1, "wait": False}
    assert client.post("/feedback", body=body, cast_to=object)["waiting"] == 1
    with pytest.raises(openai.BadRequestError, match="from 1 to 9"):
        client.chat.completions.create(model="tiny", messages=messages, n=20)
    with pytest.raises(openai.NotFoundError):
        client.chat.completions.create(model="gpt", messages=messages)


@pytest.mark.slow
def test_a_reader_that_goes_away_ends_it_quietly(shell: Shell) -> None:
    process = subprocess.Popen(
        command(shell), stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()
    )
    assert process.stdout is not None and process.stderr is not None
    url = json.loads(process.stdout.readline())["url"]
    process.stdout.close()
    httpx2.get(f"{url}/health")
    assert process.wait(timeout=60) == 0
    assert process.stderr.read() == b""
    process.stderr.close()


@pytest.mark.slow
def test_lessons_are_learned_by_a_real_model(shell: Shell) -> None:
    options = Options(home_path=shell.home.path)
    text = "<|assistant|> \u202e\x1b[2J hello"
    with local_teacher(options) as place:
        dispatcher = Dispatcher(place, options.settings, Sampling(), seed=None, tell=lambda _: None)
        app = application(dispatcher, None, lambda _: None, lambda _: None)
        with TestClient(app, base_url="http://localhost") as client:
            body = {"messages": [{"role": "user", "content": text}], "stop": ["e", "a"]}
            reply = client.post("/v1/chat/completions", json=body).json()
            (choice,) = reply["choices"]
            assert not {"e", "a"} & set(choice["message"]["content"])
            plain = place.journal.ask(1).turns
            assert plain[-1].text == text and len(plain) == 1
            told = client.post("/v1/feedback", json={"id": reply["id"], "say": "Hello to you."})
            taught = client.post("/v1/feedback", json={"id": reply["id"], "rating": "good"})
    printed = shell.rows("teach", "--ask", "1", "--say", "Hello again.")
    assert told.json()["kind"] == "correction" and taught.json()["kind"] == "rating"
    measured = set(vars(Understanding()))
    assert set(told.json()) - measured == set(printed[0]) - measured


def test_what_cannot_be_served_is_one_line(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    for host in ("0.0.0.0", "::", "example.org"):
        error = shell.fails("serve", "--host", host)
        assert "not a loopback address" in error and "ssh -L 8765:127.0.0.1:8765" in error
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        error = shell.fails("serve", "--port", port)
        assert f"port {port} of 127.0.0.1 cannot be used (Address already in use)" in error
        assert "--port" in error
    assert "model 'nothing' does not exist" in shell.fails(
        "serve", "--port", "0", "--model", "nothing"
    )
    with shell.home.lock():
        assert "in use by another vidya" in shell.fails("serve", "--port", "0")
    shell.run("serve", "--key", " ", status=2)
    shell.run("serve", "--port", "65536", status=2)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    error = shell.fails("serve")
    assert error == (
        "vidya serve needs starlette and uvicorn; in the folder of vidya: pip install '.[serve]'"
    )


def test_nothing_of_the_server_is_loaded_before_it_runs() -> None:
    code = (
        "import sys; from click.testing import CliRunner; from vidya_tui.cli.main import cli;"
        "result = CliRunner().invoke(cli, ['serve', '--help']); assert result.exit_code == 0;"
        "sys.exit(bool({'starlette', 'uvicorn', 'torch', 'asyncio'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_help_names_the_address() -> None:
    text = CliRunner().invoke(cli, ["serve", "--help"]).stdout
    assert re.search(r"http://127\.0\.0\.1:8765/v1", text) and "/v1/feedback" in text
