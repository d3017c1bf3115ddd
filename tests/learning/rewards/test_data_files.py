"""learning.rewards.data_files: rows from local files of every format, and from the hub."""

from __future__ import annotations

import gzip
import json
import os
import sys
import types
from pathlib import Path

import pytest
import zstandard

from engine.errors import ConfigError, DataError
from learning.rewards.data_files import hub_folder, read_rows

ROWS = [{"question": "2 + 2?", "answer": "4"}, {"question": "é?", "answer": "é"}]
LINES = "\n".join(json.dumps(row) for row in ROWS)


def rows(path: Path) -> list[dict[str, object]]:
    return [dict(row) for _, row in read_rows(path)]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.jsonl", LINES.encode()),
        ("a.jsonl", b"\xef\xbb\xbf" + LINES.replace("\n", "\r\n\r\n").encode()),
        ("a.jsonl.zst", zstandard.compress(LINES.encode())),
        ("a.jsonl.gz", gzip.compress(LINES.encode(), mtime=0)),
        ("a.json", json.dumps(ROWS, indent=1).encode()),
        ("a.json", json.dumps({"Version": 1.0, "Data": ROWS}, ensure_ascii=False).encode()),
        ("a.json.zst", zstandard.compress(json.dumps(ROWS).encode())),
    ],
    ids=["lines", "lines with a mark and CRLF", "zst", "gz", "list", "document", "list zst"],
)
def test_kinds_of_files(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    assert rows(tmp_path / name) == ROWS


def test_parquet(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    nested = [{"question": "q", "answer": {"value": "v", "aliases": ["a", "b"]}}]
    parquet.write_table(arrow.Table.from_pylist(nested), tmp_path / "a.parquet")
    assert rows(tmp_path / "a.parquet") == nested
    (tmp_path / "b.parquet").write_bytes(b"PAR1 but no more")
    with pytest.raises(DataError, match="b.parquet: is no whole parquet"):
        rows(tmp_path / "b.parquet")


def test_a_folder_is_read_file_by_file_by_name(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "b.jsonl").write_text(json.dumps(ROWS[1]), "utf-8")
    (tmp_path / "a.json").write_text(json.dumps([ROWS[0]]), "utf-8")
    (tmp_path / "README.md").write_text("no data", "utf-8")
    assert rows(tmp_path) == ROWS[:1] + ROWS[1:]


def test_rows_know_where_they_are(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text("\n" + LINES, "utf-8")
    assert [where for where, _ in read_rows(file)] == [f"{file}:2", f"{file}:3"]


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.jsonl", b'{"a": 1}\n{"a": ', "a.jsonl:2: is no JSON"),
        ("a.jsonl", b"[1]", "a.jsonl:1: is no object"),
        ("a.jsonl", b'{"a": "\xff"}', "a.jsonl:1: is no UTF-8"),
        ("a.jsonl", b"[" * 100_000, "a.jsonl:1: is no JSON"),
        ("a.json", b"7", "is no list of rows"),
        ("a.json", b"[7]", "row 1: is no object"),
        ("a.jsonl.zst", b"not compressed", "cannot be decompressed"),
        ("a.jsonl.gz", b"not compressed", "cannot be decompressed"),
        ("a.csv", b"a,b", "of no known kind"),
    ],
)
def test_what_cannot_be_read_says_where(
    tmp_path: Path, name: str, content: bytes, words: str
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=words):
        rows(tmp_path / name)


def test_a_pipe_is_refused_unread(tmp_path: Path) -> None:
    for name in ("a.jsonl", "a.json", "a.parquet"):
        os.mkfifo(tmp_path / name)
        if name == "a.parquet":
            pytest.importorskip("pyarrow")
        with pytest.raises(DataError, match="it is no regular file"):
            rows(tmp_path / name)


def test_what_is_not_there(tmp_path: Path) -> None:
    for name in ("none.jsonl", "none"):
        with pytest.raises(DataError, match=f"{name}: does not exist"):
            rows(tmp_path / name)
    with pytest.raises(DataError, match="holds no data"):
        rows(tmp_path)


def test_the_hub_is_asked_for_the_files_that_are_needed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = {}

    def snapshot_download(name: str, **rest: object) -> str:
        asked.update(rest, name=name)
        return str(tmp_path)

    fake = types.SimpleNamespace(snapshot_download=snapshot_download)
    monkeypatch.setitem(sys.modules, "huggingface_hub", fake)
    assert hub_folder("owner/set", ["main/*.parquet"]) == tmp_path
    assert asked == {
        "name": "owner/set",
        "repo_type": "dataset",
        "allow_patterns": ["main/*.parquet"],
    }


def test_without_a_network_or_the_package_it_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def snapshot_download(name: str, **_: object) -> str:
        raise ConnectionError("no route\nto the host")

    fake = types.SimpleNamespace(snapshot_download=snapshot_download)
    monkeypatch.setitem(sys.modules, "huggingface_hub", fake)
    with pytest.raises(DataError, match="owner/set cannot be fetched .*no route.*--data"):
        hub_folder("owner/set", [])
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(ConfigError, match=r"pip install '.\[practice\]'"):
        hub_folder("owner/set", [])


def test_parquet_without_its_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    (tmp_path / "a.parquet").write_bytes(b"")
    with pytest.raises(ConfigError, match=r"pip install '.\[practice\]'"):
        rows(tmp_path / "a.parquet")
