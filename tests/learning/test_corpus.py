"""learning.corpus: files of every kind, errors with a line, rows without padding or loss."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import pytest
import torch

from engine.errors import DataError
from engine.tokenizer import Tokenizer
from learning.corpus import Document, TokenStream, read_documents

T = Tokenizer({bytes([b]): b for b in range(256)})  # one id per byte
CHAT = {
    "source": "small",
    "turns": [{"role": "user", "text": "hi"}, {"role": "assistant", "text": "hé"}],
}


def _documents(count: int, source: str = "a") -> list[Document]:
    return [Document(source, text=f"{source}{i}") for i in range(count)]


def _seen(stream: TokenStream, documents: int) -> list[str]:
    """The texts of the first documents of the stream, in order."""
    ids = itertools.chain.from_iterable(row for row, _ in stream.rows(1))
    texts: list[str] = []
    while len(texts) < documents:
        assert next(ids) == T.end
        texts.append(T.decode(itertools.takewhile(lambda i: i != T.end, ids)))
    return texts


@pytest.mark.parametrize("name", ["talk.jsonl", "talk.jsonl.zst"])
def test_json_lines(tmp_path: Path, name: str) -> None:
    data = "\n".join([json.dumps(CHAT), "", json.dumps({"text": "plain"})]).encode()
    if name.endswith(".zst"):
        zstandard = pytest.importorskip("zstandard")
        data = zstandard.compress(data)
    (tmp_path / name).write_bytes(data)
    first, second = read_documents(tmp_path / name)
    assert first == Document("small", (("user", "hi"), ("assistant", "hé")))
    assert first.bytes == 5
    assert second == Document("talk", text="plain")


def test_blank_lines_separate_plain_text(tmp_path: Path) -> None:
    (tmp_path / "book.txt").write_text("one\ntwo\n\n \n\nthree", "utf-8")
    texts = [d.text for d in read_documents(tmp_path / "book.txt")]
    assert texts == ["one\ntwo", "three"]


@pytest.mark.parametrize(
    "row",
    [
        "{",
        "7",
        "{}",
        '{"text": 3}',
        '{"turns": []}',
        '{"turns": [{"role": "system", "text": "x"}]}',
        '{"turns": [{"role": "user"}]}',
        '{"turns": 5}',
    ],
)
def test_bad_row_is_named_by_line(tmp_path: Path, row: str) -> None:
    file = tmp_path / "talk.jsonl"
    file.write_text(json.dumps(CHAT) + "\n" + row + "\n")
    with pytest.raises(DataError, match=r"talk\.jsonl:2"):
        list(read_documents(file))


@pytest.mark.parametrize("name", ["latin.txt", "missing.txt", "broken.jsonl.zst"])
def test_unreadable_file_is_named(tmp_path: Path, name: str) -> None:
    if name.startswith("latin"):
        (tmp_path / name).write_bytes("Köln".encode("latin-1"))
    elif name.startswith("broken"):
        pytest.importorskip("zstandard")
        (tmp_path / name).write_bytes(b"this is not zstandard")
    with pytest.raises(DataError, match=name):
        list(read_documents(tmp_path / name))


def test_held_out_share_is_stable() -> None:
    documents = [Document("a", text=f"text {i}") for i in range(20_000)]
    held = sum(d.held_out for d in documents)
    assert 60 <= held <= 140  # one in 200
    assert [d.held_out for d in documents[:500]] == [
        Document("elsewhere", text=d.text).held_out for d in documents[:500]
    ]


def test_a_pass_holds_every_document_once() -> None:
    stream = TokenStream(_documents(30), T, seed=1)
    first, second = (lambda seen: (seen[:30], seen[30:]))(_seen(stream, 60))
    assert sorted(first) == sorted(second) == sorted(d.text for d in _documents(30))
    assert first != second
    assert stream.tokens == sum(len(d.text) + 2 for d in _documents(30))


def test_weights_repeat_and_thin() -> None:
    documents = _documents(10, "a") + _documents(400, "b") + _documents(5, "c")
    order = TokenStream(documents, T, weights={"a": 3.0, "b": 0.5, "c": 0.0}).order(0)
    assert all(order.count(i) == 3 for i in range(10))
    assert 150 < sum(10 <= i < 410 for i in order) < 250
    assert not any(i >= 410 for i in order)


def test_rare_documents_come_sooner_or_later() -> None:
    stream = TokenStream(_documents(1), T, weights={"a": 0.2})
    assert _seen(stream, 2) == ["a0", "a0"]


@pytest.mark.parametrize("weights", [None, {"a": 0.0}])
def test_nothing_to_train_on_is_an_error(weights: dict[str, float] | None) -> None:
    stream = TokenStream(_documents(3) if weights else [], T, weights=weights)
    with pytest.raises(DataError, match="no documents"):
        next(stream.rows(8))


def test_owner_numbers_follow_the_documents() -> None:
    stream = TokenStream(_documents(9), T)
    for ids, owners in itertools.islice(stream.rows(16), 6):
        assert len(ids) == len(owners) == 16
        for (a, b), (x, y) in zip(itertools.pairwise(ids), itertools.pairwise(owners), strict=True):
            assert (a == b == T.end) == (x != y)


def test_skipping_equals_consuming() -> None:
    stream = TokenStream(_documents(9), T, seed=4)
    consumed = list(itertools.islice(stream.batches(2, 16), 6))[4:]
    skipped = list(itertools.islice(stream.batches(2, 16, skip=4), 2))
    for (ids, owners), (other_ids, other_owners) in zip(consumed, skipped, strict=True):
        assert torch.equal(ids, other_ids)
        assert torch.equal(owners, other_owners)
