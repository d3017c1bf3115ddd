"""Byte-level BPE of other programs: the same ids as theirs, and no typed text becomes a special id."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from made_tokenizers import CHATML, MARKERS, texts, trained, write

from engine.errors import CheckpointError
from engine.tokenizers.byte_level import byte_alphabet
from engine.tokenizers.load import load_tokenizer
from engine.tokenizers.tokenizer import StreamDecoder

MANY = pytest.param(10_000, marks=pytest.mark.slow)
"""Texts that are compared for each kind of tokenizer: three seconds of a processor."""


def theirs(raw: dict[str, Any], typed: bool = True) -> Any:
    """The `tokenizers` library's own reading; typed: special tokens in text are text."""
    import tokenizers

    made = tokenizers.Tokenizer.from_str(json.dumps(raw))
    made.encode_special_tokens = typed
    return made


@pytest.mark.parametrize("count", [1500, MANY])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"split": "qwen"},
        {"last": True},
        {"alphabet": False},
        {"split": "qwen", "last": True, "size": 320},
    ],
    ids=str,
)
def test_ids_are_those_of_the_other_program(
    options: dict[str, Any], count: int, tmp_path: Path
) -> None:
    raw = trained(**options)
    tokenizer, other = load_tokenizer(write(tmp_path, raw)), theirs(raw)
    for text in texts(count):
        ids = tokenizer.encode(text)
        assert ids == other.encode(text, add_special_tokens=False).ids, repr(text)
        assert not tokenizer.special_ids.intersection(ids)
        assert tokenizer.decode(ids) == other.decode(ids), repr(text)
        stream = StreamDecoder(tokenizer)
        assert "".join(map(stream.push, ids)) + stream.finish() == tokenizer.decode(ids)


def test_texts_come_back_whole(tmp_path: Path) -> None:
    tokenizer = load_tokenizer(write(tmp_path, trained()))
    for text in (*texts(300), "", "\ud800 alone"):
        whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        assert tokenizer.decode(tokenizer.encode(text)) == whole


def test_typed_markers_are_ordinary_text(tmp_path: Path) -> None:
    raw = trained()
    tokenizer = load_tokenizer(write(tmp_path, raw))
    for marker in MARKERS:
        assert len(tokenizer.encode(marker)) > 1
        assert tokenizer.decode(tokenizer.encode(f"a{marker}b")) == f"a{marker}b"
        assert theirs(raw, typed=False).encode(marker).ids == [raw["model"]["vocab"][marker]]


def test_markers_come_from_no_merge_either(tmp_path: Path) -> None:
    """A vocabulary in which merges, or whole words, lead to a marker."""
    raw = trained()
    raw["model"] |= {"ignore_merges": True, "unk_token": "<|endoftext|>"}
    vocab = raw["model"]["vocab"]
    vocab["Ġcats"] = len(vocab)
    raw["model"]["merges"].append(["Ġcat", "s"])
    raw["added_tokens"].append({**raw["added_tokens"][0], "id": vocab["Ġcats"], "content": "Ġcats"})
    tokenizer = load_tokenizer(write(tmp_path, raw))
    ids = tokenizer.encode(" cats")
    assert vocab["Ġcats"] not in ids and tokenizer.decode(ids) == " cats"


def test_bytes_that_the_vocabulary_has_not_are_left_out(tmp_path: Path) -> None:
    raw = trained(alphabet=False)
    raw["model"]["unk_token"] = "<|endoftext|>"
    tokenizer = load_tokenizer(write(tmp_path, raw))
    ids = tokenizer.encode("cat \u2603 mat")  # a snowman, in no sentence
    assert not tokenizer.special_ids.intersection(ids)
    text = tokenizer.decode_bytes(ids)
    assert text.startswith(b"cat ") and text.endswith(b" mat") and b"\xe2\x98\x83" not in text


def test_digits_stand_one_by_one(tmp_path: Path) -> None:
    tokenizer = load_tokenizer(write(tmp_path, trained()))
    assert [tokenizer.decode([i]) for i in tokenizer.encode("1984")] == list("1984")


def test_a_blank_before_a_word_is_part_of_it(tmp_path: Path) -> None:
    raw = trained()
    tokenizer = load_tokenizer(write(tmp_path, raw))
    (number,) = tokenizer.encode(" the")
    assert raw["model"]["vocab"]["Ġthe"] == number and tokenizer.decode_bytes([number]) == b" the"


def test_ids_may_stand_in_any_order_and_leave_holes(tmp_path: Path) -> None:
    raw = trained()
    size = len(raw["model"]["vocab"])
    moved = {token: 3 * size - 2 * i for token, i in raw["model"]["vocab"].items()}
    raw["model"]["vocab"] = moved
    raw["added_tokens"] = [{**one, "id": moved[one["content"]]} for one in raw["added_tokens"]]
    tokenizer = load_tokenizer(write(tmp_path, raw))
    assert tokenizer.vocab_size == 3 * size + 1
    ids = tokenizer.encode("The cat sat.")
    assert tokenizer.decode(ids) == "The cat sat."
    assert len(tokenizer.special_ids) == 3 * size + 1 - (size - len(MARKERS))
    drawn = set(range(tokenizer.vocab_size)).difference(tokenizer.never_ids)
    assert drawn == {*ids, *drawn} and tokenizer.chat.end == moved["<|im_end|>"]
    assert tokenizer.answer_width == max(drawn) + 1


def test_added_white_space_stays_text_and_other_added_tokens_do_not(tmp_path: Path) -> None:
    raw = trained(last=True)
    size = len(raw["model"]["vocab"]) + len(MARKERS)
    plain = {**raw["added_tokens"][0], "special": False}
    raw["added_tokens"] += [
        {**plain, "id": size, "content": "     "},
        {**plain, "id": size + 1, "content": "<think>"},
    ]
    tokenizer = load_tokenizer(write(tmp_path, raw))
    ids = tokenizer.encode("a     b<think>")
    assert size in ids and size + 1 not in ids
    assert tokenizer.decode(ids) == "a     b<think>" and size + 1 in tokenizer.never_ids


def test_what_is_saved_is_read_again_without_the_template(tmp_path: Path) -> None:
    tokenizer = load_tokenizer(write(tmp_path, trained()))
    copy = tmp_path / "copy"
    copy.mkdir()
    tokenizer.save(copy)
    assert sorted(path.name for path in copy.iterdir()) == sorted(tokenizer.files())
    (copy / "tokenizer_config.json").write_text('{"chat_template": "{{ broken"}')
    again = load_tokenizer(copy)
    assert again.chat == tokenizer.chat and again.encode("The cat") == tokenizer.encode("The cat")


def test_the_fingerprint_follows_the_system_prompt(tmp_path: Path) -> None:
    first = load_tokenizer(write(tmp_path, trained()))
    first.save(tmp_path)
    assert load_tokenizer(tmp_path).fingerprint() == first.fingerprint()
    chat = tmp_path / "chat.json"
    chat.write_text(json.dumps({**json.loads(chat.read_text()), "system_prompt": "Be brief."}))
    other = load_tokenizer(tmp_path)
    assert other.fingerprint() != first.fingerprint()
    assert tuple(other.encode("Be brief.")) == other.chat.system


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"model": {"type": "Unigram", "vocab": [["a", 0.0]]}}, "no byte-level BPE"),
        ({"decoder": {"type": "WordPiece"}}, "no byte-level BPE"),
        ({"model": {"type": "BPE", "vocab": {"日": 7}, "merges": []}}, "tokenizer.json"),
        ({"model": {"type": "BPE", "vocab": {"a": 5_000_000}, "merges": []}}, "tokenizer.json"),
        ({"model": None}, "tokenizer.json"),
        ({"added_tokens": [{"id": "x"}]}, "tokenizer.json"),
    ],
)
def test_other_tokenizers_are_refused(change: dict[str, Any], why: str, tmp_path: Path) -> None:
    write(tmp_path, {**trained(), **change}, CHATML)
    with pytest.raises(CheckpointError, match=why):
        load_tokenizer(tmp_path)


def test_a_split_that_does_harm_is_refused(tmp_path: Path) -> None:
    raw = trained(split="qwen")
    raw["pre_tokenizer"]["pretokenizers"][0]["pattern"] = {"Regex": r"(?:a+a+)+[bc]"}
    write(tmp_path, raw)
    with pytest.raises(CheckpointError, match="its tokenizer (takes|fails)"):
        load_tokenizer(tmp_path)


def test_a_panic_at_a_later_text_is_an_error_like_any_other(tmp_path: Path) -> None:
    raw = trained(split="qwen")
    raw["pre_tokenizer"]["pretokenizers"][0]["pattern"] = {"Regex": r"(?:z+z+)+[yx]"}
    tokenizer = load_tokenizer(write(tmp_path, raw))
    assert tokenizer.decode(tokenizer.encode("hello")) == "hello"
    with pytest.raises(CheckpointError, match="pattern fails on this text"):
        tokenizer.encode("z" * 200)


def test_the_alphabet_is_that_of_the_library() -> None:
    from tokenizers import pre_tokenizers

    alphabet = byte_alphabet()
    assert set(alphabet) == set(pre_tokenizers.ByteLevel.alphabet())
    assert sorted(alphabet.values()) == list(range(256))
    assert alphabet["Ġ"] == 0x20 and alphabet["Ċ"] == 0x0A and alphabet["a"] == 0x61
