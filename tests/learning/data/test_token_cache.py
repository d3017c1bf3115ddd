"""learning.data.token_cache: the same tokens the second time, and never those of a damaged file."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from engine.tokenizers.ranks import RankTokenizer
from learning.data import token_cache
from learning.data.corpus import read_documents
from learning.data.token_cache import cached_tokens
from learning.data.tokens import Tokens, tokenise

T = RankTokenizer({bytes([b]): b for b in range(256)})
MERGED = RankTokenizer({**{bytes([b]): b for b in range(256)}, b"th": 256})


@pytest.fixture
def data(tmp_path: Path) -> Path:
    file = tmp_path / "talk.jsonl"
    rows: list[dict[str, object]] = [
        {"source": f"s{i % 3}", "text": f"this is row {i} é"} for i in range(50)
    ]
    rows.append({"turns": [{"role": "user", "text": "hi"}, {"role": "assistant", "text": "ho"}]})
    file.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    return file


def _same(one: Tokens, two: Tokens) -> bool:
    return one.names == two.names and all(
        np.array_equal(getattr(one, name), getattr(two, name))
        for name in ("ids", "bounds", "lots", "sources")
    )


def _kept(folder: Path) -> list[Path]:
    return sorted(folder.iterdir()) if folder.exists() else []


def test_the_second_time_nothing_is_tokenised(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = tokenise(read_documents(data), T)
    first = cached_tokens(data, T, tmp_path / "c")
    monkeypatch.setattr(token_cache, "tokenise", None)
    second = cached_tokens(data, T, tmp_path / "c")
    assert _same(first, expected) and _same(second, expected)
    assert first.digest == second.digest and isinstance(second.ids, np.memmap)
    assert T.decode(second.document(1).tolist()) == "this is row 1 é"


def test_other_contents_tokenizers_and_formats_have_caches_of_their_own(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "c"
    digests = {cached_tokens(data, T, folder).digest, cached_tokens(data, MERGED, folder).digest}
    with data.open("a") as file:
        file.write('\n{"text": "more"}')
    assert len(cached_tokens(data, T, folder).lots) == 52
    monkeypatch.setattr(token_cache, "FORMAT", token_cache.FORMAT + 1)
    digests.add(cached_tokens(data, T, folder).digest)
    assert len(digests) == 3 and len(_kept(folder)) == 4
    assert T.fingerprint() != MERGED.fingerprint()


@pytest.mark.parametrize("where", [0, 40, 0.5, -1])
def test_a_changed_byte_is_never_trusted(data: Path, tmp_path: Path, where: float) -> None:
    expected = tokenise(read_documents(data), T)
    cached_tokens(data, T, tmp_path / "c")
    (kept,) = _kept(tmp_path / "c")
    raw = bytearray(kept.read_bytes())
    raw[int(where * len(raw)) if where == 0.5 else int(where)] ^= 1
    kept.write_bytes(raw)
    assert _same(cached_tokens(data, T, tmp_path / "c"), expected)
    assert kept.read_bytes() != bytes(raw)  # and it was built anew


@pytest.mark.parametrize("keep", [0, 5, 30, 0.3, 0.9])
def test_a_file_cut_short_is_never_trusted(data: Path, tmp_path: Path, keep: float) -> None:
    expected = tokenise(read_documents(data), T)
    cached_tokens(data, T, tmp_path / "c")
    (kept,) = _kept(tmp_path / "c")
    raw = kept.read_bytes()
    kept.write_bytes(raw[: int(keep * len(raw)) if keep < 1 else int(keep)])
    assert _same(cached_tokens(data, T, tmp_path / "c"), expected)
    assert kept.read_bytes() == raw


def test_a_folder_that_cannot_be_written_costs_only_the_cache(data: Path, tmp_path: Path) -> None:
    (tmp_path / "c").write_text("a file")
    expected = tokenise(read_documents(data), T)
    assert _same(cached_tokens(data, T, tmp_path / "c"), expected)


def test_an_empty_file_has_no_tokens(tmp_path: Path) -> None:
    (tmp_path / "empty.txt").write_text("")
    for _ in range(2):
        assert len(cached_tokens(tmp_path / "empty.txt", T, tmp_path / "c").lots) == 0
