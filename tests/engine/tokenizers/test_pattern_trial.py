"""Patterns of tokenizers from elsewhere: those in use pass, those that harm do not get far."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from engine.errors import CheckpointError
from engine.tokenizers import pattern_trial
from engine.tokenizers.load import load_tokenizer
from engine.tokenizers.pattern_trial import try_pattern
from engine.tokenizers.ranks import PATTERN, RankTokenizer
from engine.tokenizers.tokenizer import Tokenizer

GPT_2 = r"""'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"""
GPT_4 = (
    r"""'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"""
    r"""|\s++$|\s*[\r\n]|\s+(?!\S)|\s"""
)
HARMFUL = {
    "no pattern": "(",
    "panics": r"(?:a|a)*(?!a)b|\s",
    "looks back": r"(\w*)*\1b|x",
    "too large": r"(?:(?:(?:a{1000}){1000}){1000})",
    "leaves words out": r"\s+",
    "too long": "x" * 5_000,
    "nothing": "",
}


@pytest.mark.parametrize("pattern", [PATTERN, GPT_2, GPT_4])
def test_patterns_in_use_pass(pattern: str) -> None:
    try_pattern(pattern)


@pytest.mark.parametrize("name", HARMFUL)
def test_a_harmful_pattern_is_refused_when_the_tokenizer_is_loaded(
    name: str, tiny_tokenizer: Tokenizer, tmp_path: Path
) -> None:
    tiny_tokenizer.save(tmp_path)
    config = tmp_path / "tokenizer_config.json"
    config.write_text(json.dumps({**json.loads(config.read_text()), "pattern": HARMFUL[name]}))
    with pytest.raises(CheckpointError, match="its pattern"):
        load_tokenizer(tmp_path)


def test_a_pattern_that_does_not_end_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pattern_trial, "DEADLINE", 1.0)
    monkeypatch.setattr(pattern_trial, "main", None)
    sleep = "import time; time.sleep(60) #"
    monkeypatch.setattr(pattern_trial, "_COMMAND", [*pattern_trial._COMMAND, sleep])
    started = time.monotonic()
    with pytest.raises(CheckpointError, match="takes more than 1 seconds"):
        try_pattern("x")
    assert time.monotonic() - started < 10.0


def test_a_panic_at_a_later_text_is_an_error_like_any_other(tiny_tokenizer: Tokenizer) -> None:
    sly = RankTokenizer(tiny_tokenizer.ranks, r"(?:z|z)*(?!z)y|.|\n")
    assert sly.decode(sly.encode("hello")) == "hello"
    with pytest.raises(CheckpointError, match="pattern fails on this text"):
        sly.encode("z" * 200)


def test_a_rank_file_that_lost_lines_is_refused(tiny_tokenizer: Tokenizer, tmp_path: Path) -> None:
    tiny_tokenizer.save(tmp_path)
    ranks = tmp_path / "tokenizer.tiktoken"
    ranks.write_bytes(b"".join(ranks.read_bytes().splitlines(keepends=True)[:-3]))
    with pytest.raises(CheckpointError, match="counts others"):
        load_tokenizer(tmp_path)
