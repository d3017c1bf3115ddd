"""engine.tokenizers.ranks: nothing is lost, typed specials stay text, streams hold whole characters."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import CheckpointError, ConfigError
from engine.tokenizers.load import load_tokenizer
from engine.tokenizers.ranks import RESERVED, SPECIALS, RankTokenizer, train_tokenizer
from engine.tokenizers.tokenizer import StreamDecoder, Tokenizer

BYTES_ONLY = RankTokenizer({bytes([b]): b for b in range(256)})


@given(st.text())
def test_any_text_round_trips_through_bytes(text: str) -> None:
    assert BYTES_ONLY.decode(BYTES_ONLY.encode(text)) == text


@pytest.mark.parametrize(
    "text",
    [
        "The cat sat.",
        "  two  spaces\n\n\ttab ",
        "\ufeffbom",
        "नमस्ते 日本語 🙂👩‍👩‍👧",
        "a\x00b",
        "1234",
        "",
    ],
)
def test_trained_tokenizer_round_trips(tiny_tokenizer: Tokenizer, text: str) -> None:
    assert tiny_tokenizer.decode(tiny_tokenizer.encode(text)) == text


def test_training_merges_and_counts(tiny_tokenizer: Tokenizer) -> None:
    assert tiny_tokenizer.vocab_size == 384
    assert tiny_tokenizer.end == 384 - RESERVED - 1
    assert len(tiny_tokenizer.encode(" the river")) < len(" the river") / 2


@given(st.text(st.sampled_from("<|user>asitnd e")), st.sampled_from(SPECIALS))
def test_typed_specials_stay_text(around: str, special: str) -> None:
    ids = BYTES_ONLY.encode(around + special + around)
    assert max(ids) < BYTES_ONLY.user
    assert BYTES_ONLY.decode(ids) == around + special + around


def test_lone_surrogate_becomes_replacement(tiny_tokenizer: Tokenizer) -> None:
    assert tiny_tokenizer.decode(tiny_tokenizer.encode("a\ud800b")) == "a\ufffdb"


@pytest.mark.parametrize("blank", [" ", "\t", "\n", " \n", "\n ", "\r\n", "\u3000", "\x1c "])
@pytest.mark.parametrize("around", [("a", "b"), ("a.", "1"), ("", "."), ("a", "")])
def test_long_white_space_gives_the_same_ids_in_parts(
    tiny_tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch, blank: str, around: tuple[str, str]
) -> None:
    texts = [around[0] + blank * 9 + end + around[1] for end in ("", " ", "\n", "\n  ")]
    whole = [tiny_tokenizer.encode(text) for text in texts]
    monkeypatch.setattr("engine.tokenizers.ranks.LONGEST_BLANK", 4)
    assert [tiny_tokenizer.encode(text) for text in texts] == whole


def test_a_million_spaces_do_no_harm(tiny_tokenizer: Tokenizer) -> None:
    for text in ("a" + " " * 1_100_000 + "b", "a" + " " * 300_000):
        assert tiny_tokenizer.decode(tiny_tokenizer.encode(text)) == text


def test_special_ids_have_no_text(tiny_tokenizer: Tokenizer) -> None:
    t = tiny_tokenizer
    assert t.decode([t.user, *t.encode("hi"), t.end, t.vocab_size - 1]) == "hi"


@given(st.text())
def test_stream_gives_each_character_when_it_is_whole(text: str) -> None:
    decoder, seen = StreamDecoder(BYTES_ONLY), ""
    for place, token in enumerate(data := list(text.encode()), 1):
        seen += decoder.push(token)
        assert seen == bytes(data[:place]).decode("utf-8", "ignore")
    assert seen == text
    assert decoder.finish() == ""


@given(st.binary())
def test_stream_of_any_bytes_ends_as_decode_would(data: bytes) -> None:
    decoder = StreamDecoder(BYTES_ONLY)
    seen = "".join(decoder.push(b) for b in data) + decoder.finish()
    assert seen == BYTES_ONLY.decode(data)


def test_saved_tokenizer_is_the_same(tiny_tokenizer: Tokenizer, tmp_path: Path) -> None:
    tiny_tokenizer.save(tmp_path)
    loaded = load_tokenizer(tmp_path)
    assert loaded.ranks == tiny_tokenizer.ranks
    assert loaded.specials == tiny_tokenizer.specials


@pytest.mark.parametrize("damage", ["missing", "cut", "garbage"])
def test_damaged_file_is_refused(tiny_tokenizer: Tokenizer, tmp_path: Path, damage: str) -> None:
    tiny_tokenizer.save(tmp_path)
    file = tmp_path / "tokenizer.tiktoken"
    if damage == "missing":
        file.unlink()
    elif damage == "cut":
        file.write_bytes(file.read_bytes()[:300])
    else:
        file.write_bytes(b"\xff\xfe no ranks here\n")
    with pytest.raises(CheckpointError):
        load_tokenizer(tmp_path)


def test_training_without_rustbpe_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rustbpe", None)
    with pytest.raises(ConfigError, match="pip install rustbpe"):
        train_tokenizer(iter(["some text"]), 300)


def test_its_files_say_whether_the_model_has_learned_the_tags(tmp_path: Path) -> None:
    for tokenizer in (BYTES_ONLY, BYTES_ONLY.with_tags()):
        tokenizer.save(tmp_path)
        found = RankTokenizer.read(tmp_path)
        assert found.says_tags == tokenizer.says_tags and found.specials == tokenizer.specials
        assert found.fingerprint() == tokenizer.fingerprint()
    assert BYTES_ONLY.fingerprint() != BYTES_ONLY.with_tags().fingerprint()
    assert found.specials["<|think|>"] == BYTES_ONLY.specials["<|reserved_0|>"]
