"""learning.data.corpus: files of every kind, errors with a line."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path

import pytest

from engine.errors import DataError
from engine.tokenizers.tokenizer import Tokenizer
from learning.data.corpus import Document, data_files, read_documents
from learning.data.token_cache import data_digest

CHAT = {
    "source": "small",
    "turns": [{"role": "user", "text": "hi"}, {"role": "assistant", "text": "hé"}],
}


@pytest.mark.parametrize("name", ["talk.jsonl", "talk.jsonl.zst", "TALK.JSONL.ZST", "a.jsonl.gz"])
def test_json_lines(tmp_path: Path, name: str) -> None:
    data = "\n".join([json.dumps(CHAT), "", json.dumps({"text": "plain"})]).encode()
    if name.lower().endswith(".zst"):
        zstandard = pytest.importorskip("zstandard")
        data = zstandard.compress(data)
    if name.endswith(".gz"):
        data = gzip.compress(data)
    (tmp_path / name).write_bytes(data)
    first, second = read_documents(tmp_path / name)
    assert first == Document("small", (("user", "hi"), ("assistant", "hé")))
    assert first.bytes == 5
    assert second == Document(name.split(".")[0], text="plain")


def test_frames_follow_each_other_and_a_short_one_is_named(tmp_path: Path) -> None:
    zstandard = pytest.importorskip("zstandard")
    texts = ["\n\n\n".join(f"{name}{i}" for i in range(20_000)) for name in "ab"]
    data = b"".join(zstandard.compress(f"{text}\n\n\n".encode()) for text in texts)
    (tmp_path / "two.txt.zst").write_bytes(data)
    found = [d.text for d in read_documents(tmp_path / "two.txt.zst")]
    assert found == "\n\n\n".join(texts).split("\n\n\n")
    for place in (10, len(data) // 4, len(data) - 1):
        (tmp_path / "cut.txt.zst").write_bytes(data[:place])
        with pytest.raises(DataError, match=r"cut\.txt\.zst.*short"):
            list(read_documents(tmp_path / "cut.txt.zst"))


@pytest.mark.parametrize("place", [5, 100, -1])
def test_a_gzip_file_that_is_cut_short_is_named(tmp_path: Path, place: int) -> None:
    packed = gzip.compress(b"\n\n\n".join(b"text %d" % i for i in range(5_000)))
    (tmp_path / "cut.txt.gz").write_bytes(packed[:place])
    with pytest.raises(DataError, match=r"cut\.txt\.gz: cannot be decompressed"):
        list(read_documents(tmp_path / "cut.txt.gz"))


def test_what_may_never_end_is_refused_unread(tmp_path: Path, tiny_tokenizer: Tokenizer) -> None:
    os.mkfifo(tmp_path / "pipe.txt")
    (tmp_path / "zero.txt").symlink_to("/dev/zero")
    for name in ("pipe.txt", "zero.txt"):
        with pytest.raises(DataError, match=f"{name}: cannot be read .it is no regular file"):
            list(read_documents(tmp_path / name))
        with pytest.raises(DataError, match=f"{name}: cannot be read .it is no regular file"):
            data_digest(tmp_path / name, tiny_tokenizer, skips=False)


def test_the_name_of_a_source_can_be_written_down(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"text": "x", "source": "b\\ud800"}')
    file = tmp_path / "caf\udce9.txt"  # a name that is no UTF-8
    file.write_text("text")
    found = [*read_documents(tmp_path / "a.jsonl"), *read_documents(file)]
    assert [d.source for d in found] == ["b?", "caf?"]


def test_a_turn_of_weight_0_is_read_and_not_learned(tmp_path: Path) -> None:
    turns = [{"role": r, "text": r, "weight": w} for r, w in (("user", 0), ("assistant", 1))]
    turns += [{"role": "user", "text": "b"}, {"role": "assistant", "text": "c", "weight": 0}]
    (tmp_path / "talk.jsonl").write_text(json.dumps({"turns": turns}))
    (document,) = read_documents(tmp_path / "talk.jsonl")
    assert document.unlearned == {0, 3}
    assert document.turns[3] == ("assistant", "c")


@pytest.mark.parametrize(
    ("text", "documents"),
    [
        ("one\ntwo\n\nthree", ["one\ntwo\n\nthree"]),
        ("one\n\n \n\ntwo\n\n\n\n\nthree\n\n", ["one", "two", "three"]),
        ("one\n<|endoftext|>\ntwo\n\ftwo and a half\n", ["one", "two", "two and a half"]),
        ("\ufeff\n\none\r\ntwo\r\n", ["one\ntwo"]),
        ("\n \n", []),
    ],
)
def test_plain_text_is_cut_where_documents_end(
    tmp_path: Path, text: str, documents: list[str]
) -> None:
    (tmp_path / "book.txt").write_bytes(text.encode())
    assert [d.text for d in read_documents(tmp_path / "book.txt")] == documents


def test_a_long_text_is_cut_at_a_paragraph_and_loses_nothing(tmp_path: Path) -> None:
    paragraphs = [f"{i} " + "x" * 900 for i in range(10)]
    (tmp_path / "novel.txt").write_text("\n\n".join(paragraphs), "utf-8")
    texts = [d.text for d in read_documents(tmp_path / "novel.txt")]
    assert texts == ["\n\n".join(paragraphs[i : i + 3]) for i in (0, 3, 6, 9)]


def test_lines_without_any_blank_one_are_cut_too(tmp_path: Path) -> None:
    lines = [f"{i} " + "x" * 900 for i in range(10)]
    (tmp_path / "lines.txt").write_text("\n".join(lines), "utf-8")
    texts = [d.text for d in read_documents(tmp_path / "lines.txt")]
    assert "\n".join(texts).split("\n") == lines
    assert max(map(len, texts)) < 6_000 and len(texts) > 1


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
        '{"turns": [{"role": "user", "text": 3}]}',
        '{"turns": [{"role": "user", "text": "x", "weight": 0.5}]}',
        "[" * 100_000,
    ],
)
def test_bad_row_is_named_by_line(tmp_path: Path, row: str) -> None:
    file = tmp_path / "talk.jsonl"
    file.write_text(json.dumps(CHAT) + "\n" + row + "\n")
    with pytest.raises(DataError, match=r"talk\.jsonl:2"):
        list(read_documents(file))


@pytest.mark.parametrize("turns", ["hello", 5, None, {"role": "user"}, ["hello"], [None]])
def test_turns_of_the_wrong_kind_are_told_in_words(tmp_path: Path, turns: object) -> None:
    (tmp_path / "talk.jsonl").write_text(json.dumps({"turns": turns}))
    with pytest.raises(DataError, match="turns must be a list of objects"):
        list(read_documents(tmp_path / "talk.jsonl"))


@pytest.mark.parametrize("name", ["latin.txt", "missing.txt", "broken.jsonl.zst", "broken.txt.gz"])
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


def test_bad_rows_can_be_passed_over(tmp_path: Path) -> None:
    file = tmp_path / "talk.jsonl"
    rows = [json.dumps(CHAT).encode(), b"{", b'{"text": "k\xf6ln"}', b'{"text": "last"}']
    file.write_bytes(b"\n".join(rows))
    wrong: list[DataError] = []
    documents = list(read_documents(file, wrong.append))
    assert [d.text for d in documents] == ["", "last"]
    assert [str(e).split(": ")[0] for e in wrong] == [f"{file}:2", f"{file}:3"]


def test_a_line_that_is_no_utf8_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"good\nb\xe4d\n")
    with pytest.raises(DataError, match=r"a\.txt:2"):
        list(read_documents(tmp_path / "a.txt"))


def test_a_folder_stands_for_its_data_files(tmp_path: Path) -> None:
    for name in ("b.txt", "a.jsonl.zst", "c.png", "d.jsonl", "stats.json", "README.md"):
        (tmp_path / name).write_text("")
    names = [p.name for p in data_files([tmp_path])]
    assert names == ["a.jsonl.zst", "b.txt", "d.jsonl"]
    (tmp_path / "empty").mkdir()
    for missing in ("empty", "nowhere.txt"):
        with pytest.raises(DataError, match=missing):
            data_files([tmp_path / missing])


def test_lone_surrogates_do_no_harm() -> None:
    document = Document("a", text="\ud800")
    assert document.bytes == 1 and isinstance(document.held_out, bool)
