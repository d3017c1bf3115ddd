"""Tokenizers and chat templates for other programs say there what they say here."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from made_tokenizers import CHATML, ZEPHYR, texts, trained, write

from engine.errors import CheckpointError
from engine.tokenizers.byte_level import ByteLevelTokenizer
from engine.tokenizers.chat_format import encode_prompt
from engine.tokenizers.exported import gguf_metadata, huggingface_files, tokenizer_json
from engine.tokenizers.from_gguf import tokenizer_files
from engine.tokenizers.load import load_tokenizer
from engine.tokenizers.ranks import RankTokenizer
from engine.tokenizers.tokenizer import Tokenizer

TALK = [("user", "Who are you?"), ("assistant", "I am\nVidya."), ("user", "And 12 'tis?")]
SHIPPED = Path(__file__).parents[3] / "engine" / "base" / "10m"


def served(tokenizer: Tokenizer, folder: Path) -> Any:
    """The exported tokenizer, loaded by transformers."""
    transformers = pytest.importorskip("transformers")
    folder.mkdir(exist_ok=True)
    tokenizer.save(folder)
    for name, text in huggingface_files(tokenizer).items():
        (folder / name).write_text(text, "utf-8")
    return transformers.AutoTokenizer.from_pretrained(folder)


def prompted(theirs: Any, talk: list[tuple[str, str]]) -> list[int]:
    messages = [{"role": role, "content": text} for role, text in talk]
    found = theirs.apply_chat_template(messages, add_generation_prompt=True)
    return list(found if isinstance(found, list) else found["input_ids"])


@pytest.mark.parametrize("size", ["tiny", "10m"])
def test_vidyas_own_has_the_same_ids(
    size: str, tiny_tokenizer: RankTokenizer, tmp_path: Path
) -> None:
    import tokenizers

    own = tiny_tokenizer if size == "tiny" else load_tokenizer(SHIPPED)
    other = tokenizers.Tokenizer.from_str(json.dumps(tokenizer_json(own)))
    other.encode_special_tokens = True
    plain = ["", " ", "\n\n  \n", "a" * 300, "'LL 'll don't", "x  \n y\t\t1234567", "<|user|> no"]
    for text in [*plain, *texts(1500)]:
        assert other.encode(text).ids == own.encode(text), repr(text)
    theirs = served(own, tmp_path / "out")
    assert prompted(theirs, TALK) == encode_prompt(own, TALK, 512, 64)
    assert theirs.eos_token_id == own.chat.end
    assert load_tokenizer(tmp_path / "out").fingerprint() == own.fingerprint()


def test_tags_that_were_learned_are_shown_by_others(
    tiny_tokenizer: RankTokenizer, tmp_path: Path
) -> None:
    own = tiny_tokenizer.with_tags()
    theirs = served(own, tmp_path / "out")
    ids = [*own.encode_tagged("<think>so</think><answer>no</answer>"), own.end]
    assert theirs.decode(ids, skip_special_tokens=True) == "<|think|> so<|answer|> no"
    found = load_tokenizer(tmp_path / "out")
    assert found.says_tags and found.fingerprint() == own.fingerprint()
    plain = tokenizer_json(tiny_tokenizer)["added_tokens"]
    assert all(one["special"] for one in plain), "reserved ids are never shown"


@pytest.mark.parametrize("template", [CHATML, ZEPHYR])
def test_anothers_has_the_same_prompt(template: str, tmp_path: Path) -> None:
    markers = ("<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|user|>", "<|assistant|>")
    raw = trained(markers=(*markers, "<|system|>"))
    own = load_tokenizer(write(tmp_path, raw, template))
    theirs = served(own, tmp_path / "out")
    assert own.chat.system, "the usual system prompt is part of it"
    for turns in (TALK, TALK[:1]):
        assert prompted(theirs, turns) == encode_prompt(own, turns, 4096, 64)
    other = prompted(theirs, [("system", "Be brief."), *TALK])
    assert theirs.decode(other).count("Be brief.") == 1
    assert "Vidya, a small" not in theirs.decode(other)
    again = load_tokenizer(tmp_path / "out")
    assert again.chat == own.chat and again.encode("Hi 12") == own.encode("Hi 12")


def test_gguf_there_and_back(tmp_path: Path) -> None:
    for split, name in (("smollm", "smollm"), ("qwen", "qwen2")):
        raw = trained(split=split)
        (tmp_path / split).mkdir()
        own = load_tokenizer(write(tmp_path / split, raw))
        said = gguf_metadata(own, own.vocab_size + 3)
        assert said["tokenizer.ggml.pre"] == name
        assert len(said["tokenizer.ggml.tokens"]) == own.vocab_size + 3
        files = {file: text.encode() for file, text in tokenizer_files(said).items()}
        again = ByteLevelTokenizer(files)
        assert again.chat == own.chat
        for text in texts(200):
            assert again.encode(text) == own.encode(text)


def test_vidyas_own_as_gguf(tiny_tokenizer: RankTokenizer) -> None:
    said = gguf_metadata(tiny_tokenizer, tiny_tokenizer.vocab_size)
    again = ByteLevelTokenizer({k: v.encode() for k, v in tokenizer_files(said).items()})
    assert again.chat.user_head == tiny_tokenizer.chat.user_head
    assert again.chat.end == tiny_tokenizer.chat.end and not again.chat.system
    for text in ("Hello, you 12!", "naïve café 日本語", "a\n\nb  c\n"):
        assert again.encode(text) == tiny_tokenizer.encode(text)


def test_a_split_that_llama_cpp_does_not_know(tmp_path: Path) -> None:
    raw = trained()
    raw["pre_tokenizer"] = {"type": "Whitespace"}
    own = load_tokenizer(write(tmp_path, raw))
    with pytest.raises(CheckpointError, match="no pre-tokenizer"):
        gguf_metadata(own, own.vocab_size)
