"""`vidya model get` and the import of hub ids: the hub is a small server here, and pip is a script."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from engine.errors import CheckpointError, NotFound, VidyaError
from learning.models import hub
from learning.models.get import import_from_hub
from learning.models.home_files import problems
from learning.models.known import KNOWN, known_model
from learning.models.transfer import HubUnreachable
from tests.fetched import Fetched

COMMIT = "0123456789abcdef0123456789abcdef01234567"
BIG = "model.safetensors"


@dataclass
class FakeHub:
    """The files of the fake server, and the faults it simulates."""

    url: str
    files: dict[str, bytes] = field(default_factory=dict)
    asked: list[tuple[str, str | None]] = field(default_factory=list)
    """Files that were asked for, with the range."""
    stop_after: int | None = None
    """Place in the weights at which the line breaks."""
    spoilt: bool = False
    """Whether other bytes come than the checksum says."""
    licence: str = "apache-2.0"


def told(name: str, data: bytes) -> dict[str, Any]:
    blob = hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()
    entry: dict[str, Any] = {"rfilename": name, "size": len(data), "blobId": blob}
    if name.endswith(".safetensors"):
        sha256 = hashlib.sha256(data).hexdigest()
        entry["lfs"] = {"sha256": sha256, "size": len(data), "pointerSize": 130}
    return entry


def handler(fake: FakeHub) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *arguments: Any) -> None:
            pass

        def do_HEAD(self) -> None:
            self.do_GET()

        def do_GET(self) -> None:
            path = self.path.split("?")[0]
            if path.startswith("/api/models/owner/little"):
                self.answer(json.dumps(self.info()).encode(), {})
            elif path.startswith("/owner/little/resolve/"):
                self.file(path.rsplit("/", 1)[1])
            else:
                headers = {"X-Error-Code": "RepoNotFound", "X-Error-Message": "Repo\nnot found"}
                self.answer(b"{}", headers, 404)

        def info(self) -> dict[str, Any]:
            siblings = [told(name, data) for name, data in fake.files.items()]
            card = {"license": fake.licence}
            return {"id": "owner/little", "sha": COMMIT, "siblings": siblings, "cardData": card}

        def file(self, name: str) -> None:
            data = fake.files[name]
            known = told(name, data)
            etag = known.get("lfs", {}).get("sha256") or known["blobId"]
            headers = {"ETag": f'"{etag}"', "X-Repo-Commit": COMMIT, "Accept-Ranges": "bytes"}
            wanted = self.headers.get("Range")
            if self.command == "GET":
                fake.asked.append((name, wanted))
            if name == BIG and fake.spoilt:
                data = data[:-1] + bytes([data[-1] ^ 1])
            start, status = 0, 200
            if wanted:
                start = int(wanted.removeprefix("bytes=").split("-")[0])
                headers["Content-Range"] = f"bytes {start}-{len(data) - 1}/{len(data)}"
                data, status = data[start:], 206
            stops = name == BIG and fake.stop_after is not None
            most = max(0, fake.stop_after - start) if stops and fake.stop_after else None
            self.answer(data, headers, status, most)

        def answer(
            self, data: bytes, headers: dict[str, str], status: int = 200, most: int | None = None
        ) -> None:
            self.send_response(status)
            for key, value in headers.items():
                self.send_header(key, value.replace("\n", " "))
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(data[:most])
            if most is not None and self.command == "GET" and most < len(data):
                self.close_connection = True

    return Handler


@pytest.fixture
def fake(whole: dict[str, bytes], monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeHub]:
    found = FakeHub("", {**whole, "pytorch_model.bin": b"x" * 99, "onnx/a.onnx": b"y" * 99})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler(found))
    found.url = f"http://127.0.0.1:{server.server_port}"
    monkeypatch.setattr(hub, "ENDPOINT", found.url)
    monkeypatch.setenv("HF_HUB_DISABLE_XET", "1")
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield found
    server.shutdown()
    server.server_close()


def test_a_model_of_the_hub(fake: FakeHub, place: Fetched) -> None:
    place.get()
    folder = place.home.models_path / "little"
    assert (folder / BIG).stat().st_size > 0
    card = (folder / "CARD.md").read_text()
    assert COMMIT in card and "by nobody" in card
    assert hashlib.sha256(fake.files[BIG]).hexdigest() in card
    assert "apache-2.0" in (folder / "LICENSE").read_text()
    assert any("licence apache-2.0" in line for line in place.said)
    assert place.shown[-1][0] == place.shown[-1][1] > 0
    assert [done for done, _ in place.shown] == sorted(done for done, _ in place.shown)
    assert {name for name, _ in fake.asked} <= {*fake.files} - {"pytorch_model.bin", "onnx/a.onnx"}
    assert not place.home.downloads_path.exists()
    assert problems(place.home) == []
    assert "already" in str(pytest.raises(CheckpointError, place.get).value)


def test_a_licence_of_its_own_is_kept(fake: FakeHub, place: Fetched) -> None:
    fake.files["LICENSE"] = b"Do what you like.\n"
    place.get()
    licence = place.home.models_path / "little" / "LICENSE"
    assert licence.read_text() == "Do what you like.\n"


def test_shards(fake: FakeHub, place: Fetched) -> None:
    data = fake.files.pop(BIG)
    name = "model-00001-of-00001.safetensors"
    fake.files[name] = data
    fake.files["model.safetensors.index.json"] = json.dumps({"weight_map": {"x": name}}).encode()
    place.get()
    assert (place.home.models_path / "little" / BIG).exists()


def test_a_download_that_breaks_off_is_gone_on_with(
    fake: FakeHub, place: Fetched, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.DOWNLOAD_CHUNK_SIZE", 256)  # else 10 million
    # the hub's client tries five times, a second apart
    monkeypatch.setattr("huggingface_hub.file_download.time.sleep", lambda _: None)
    fake.stop_after = 1000
    said = place.fails()
    assert "cannot be reached" in said and "gone on with" in said
    assert problems(place.home) == [], "what waits is known"
    fake.stop_after = None
    fake.asked.clear()
    place.get()
    assert {name for name, _ in fake.asked} == {BIG}, "the small files are there"
    assert any(wanted and wanted != "bytes=0-" for _, wanted in fake.asked), (
        "and a part of the large"
    )
    assert not place.home.downloads_path.exists()


def test_who_stops_it_loses_nothing(fake: FakeHub, place: Fetched) -> None:
    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        import_from_hub(place.home, place.store, "owner/little", progress=stop, say=print)
    assert not place.home.models_path.exists()
    fake.asked.clear()
    place.get()
    assert {name for name, _ in fake.asked} <= {BIG}
    assert not place.home.downloads_path.exists()


def test_a_wrong_checksum(fake: FakeHub, place: Fetched) -> None:
    fake.spoilt = True
    assert "another checksum than the hub says, so it was thrown away" in place.fails()
    fake.spoilt = False
    place.get()


def test_a_spoilt_file_that_lies_there_is_fetched_again(fake: FakeHub, place: Fetched) -> None:
    folder = place.home.downloads_path / f"owner--little-{COMMIT[:12]}"
    folder.mkdir(parents=True)
    size = len(fake.files[BIG])
    (folder / BIG).write_bytes(b"z" * size)
    (folder / "config.json").symlink_to("/etc/passwd")
    place.get()


def test_no_network(place: Fetched, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub, "ENDPOINT", "http://127.0.0.1:9")
    assert "cannot be reached" in place.fails()
    assert "cannot be reached" in place.fails("qwen3-0.6b")
    assert isinstance(pytest.raises(VidyaError, place.get).value, HubUnreachable)


def test_no_space(fake: FakeHub, place: Fetched, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.storage.disk.free_bytes", lambda path: 1000)
    assert "the disk is full" in place.fails()
    assert not fake.asked, "nothing is fetched for nothing"


def test_what_the_hub_has_not(fake: FakeHub, place: Fetched) -> None:
    assert "no such model" in place.fails("owner/other")
    fake.files.pop(BIG)
    assert "safetensors" in place.fails()
    fake.files["a.gguf"] = b"GGUF"
    assert ".gguf" in place.fails()


def test_what_cannot_be_run_is_not_fetched(fake: FakeHub, place: Fetched) -> None:
    raw = json.loads(fake.files["config.json"])
    fake.files["config.json"] = json.dumps({**raw, "model_type": "gpt2"}).encode()
    assert "gpt2" in place.fails()
    assert BIG not in {name for name, _ in fake.asked}
    assert not place.home.downloads_path.exists()


def test_names() -> None:
    assert {"smollm2-135m", "smollm2-360m", "smollm-135m", "smollm-360m", "qwen3-0.6b"} == {*KNOWN}
    assert all(hub.HUB_NAME.fullmatch(model.hub) for model in KNOWN.values())
    with pytest.raises(NotFound, match="gpt-5"):
        known_model("gpt-5")
    for bad in ("a/b/c", "../x", "a/../b", "/etc/passwd", "owner/", "a b/c"):
        assert not hub.HUB_NAME.fullmatch(bad)
