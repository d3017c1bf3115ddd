"""A server in this process, on a home in a folder of its own, with a teacher that says given texts."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Callable, Iterator, MutableMapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from engine.config import Sampling
from learning.home import Home
from learning.journal.journal import Journal
from learning.protocol.events import Ready
from tests.fakes import ScriptedTeacher
from vidya_tui.cli.common import LocalTeacher
from vidya_tui.server.application import application
from vidya_tui.server.dispatcher import Dispatcher
from vidya_tui.settings.file import Settings

URL = "http://127.0.0.1:8765"


@dataclass
class Served:
    """A dispatcher, its application and what they reported."""

    place: LocalTeacher
    settings: Settings = field(default_factory=Settings)
    takes_system: bool = False
    key: str | None = None
    seed: int | None = None
    rows: list[dict[str, Any]] = field(default_factory=list)
    told: list[str] = field(default_factory=list)
    faults: list[Exception] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.place.events.put(Ready("tiny", 1, 1, "cpu", takes_system=self.takes_system))
        self.dispatcher = Dispatcher(
            self.place, self.settings, Sampling(), seed=self.seed, tell=self.told.append
        )
        self.app = application(self.dispatcher, self.key, self.rows.append, self.faults.append)
        self.client = TestClient(self.app, base_url=URL, raise_server_exceptions=False)

    @property
    def teacher(self) -> ScriptedTeacher:
        assert isinstance(self.place.teacher, ScriptedTeacher)
        return self.place.teacher

    @property
    def journal(self) -> Journal:
        return self.place.journal

    def ask(self, text: str = "hello", **body: Any) -> dict[str, Any]:
        """The reply to one message."""
        return self.talk({"role": "user", "content": text}, **body)

    def talk(self, *messages: dict[str, Any], **body: Any) -> dict[str, Any]:
        reply = self.client.post("/v1/chat/completions", json={"messages": messages, **body})
        assert reply.status_code == 200, reply.text
        return dict(reply.json())

    def judge(self, ask: int, status: int = 200, **body: Any) -> dict[str, Any]:
        reply = self.client.post("/v1/feedback", json={"id": f"chatcmpl-{ask}", **body})
        assert reply.status_code == status, reply.text
        return dict(reply.json())

    def behind(self, text: str, **body: Any) -> Behind:
        """Asks in another thread."""
        return Behind(lambda: self.ask(text, **body))

    def until(self, true: Callable[[], bool]) -> None:
        """Waits until this is true."""
        deadline = time.monotonic() + 10
        while not true():
            assert time.monotonic() < deadline
            time.sleep(0.01)


class Behind(threading.Thread):
    """A request in another thread; `result` waits for it."""

    def __init__(self, work: Callable[[], dict[str, Any]]) -> None:
        super().__init__(daemon=True)
        self._work, self._found = work, list[dict[str, Any]]()
        self.start()

    def run(self) -> None:
        self._found.append(self._work())

    def result(self) -> dict[str, Any]:
        self.join(timeout=10)
        (found,) = self._found
        return found


Serve = Callable[..., Served]


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    """Starts a server; `texts` and `manual` are of its teacher."""
    home, open_ = Home(tmp_path / "home"), list[Served]()

    def begin(
        *texts: str, manual: bool = False, settings: Settings | None = None, **more: Any
    ) -> Served:
        journal = Journal(home.journal_path)
        place = LocalTeacher(home, journal)
        place.teacher = ScriptedTeacher(
            texts or ("one answer", "two answers", "three answers"),
            on_event=place.events.put,
            manual=manual,
            journal=journal,
        )
        served = Served(place, settings or Settings(), **more)
        served.client.__enter__()
        open_.append(served)
        return served

    yield begin
    for served in open_:
        served.client.__exit__(None, None, None)
        served.journal.close()


class Caller:
    """A client that speaks ASGI, and can go away in the middle of a reply."""

    def __init__(self, path: str, body: dict[str, Any]) -> None:
        self.scope: dict[str, Any] = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": "1.1",
            "method": "POST",
            "path": path,
            "raw_path": path.encode(),
            "query_string": b"",
            "headers": [(b"host", b"127.0.0.1")],
        }
        self._body = json.dumps(body).encode()
        self._given = False
        self.gone = asyncio.Event()
        self.sent: list[MutableMapping[str, Any]] = []

    async def receive(self) -> MutableMapping[str, Any]:
        if not self._given:
            self._given = True
            return {"type": "http.request", "body": self._body, "more_body": False}
        await self.gone.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: MutableMapping[str, Any]) -> None:
        self.sent.append(message)
