"""llama.cpp says what we say with a model that we exported: the first 32 tokens of greedy answers.

xllamacpp is llama.cpp in a wheel; it is in the extra `bench`.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from made_tokenizers import CHATML, ZEPHYR, trained, write

from engine.config import CONFIGS, ModelConfig, RopeScaling
from engine.model import Model
from engine.storage.checkpoint import load_model, to_huggingface
from engine.storage.gguf_model import write_gguf
from engine.tokenizers.chat_format import encode_prompt
from engine.tokenizers.exported import gguf_metadata
from engine.tokenizers.load import load_tokenizer
from engine.tokenizers.ranks import RankTokenizer
from engine.tokenizers.tokenizer import Tokenizer
from learning.home import Home
from learning.models.import_export import export_model, import_model
from learning.models.store import ModelStore

pytest.importorskip("xllamacpp")

MESSAGES = (
    "Who are you?",
    "Tell me a long story about a river.",
    "Write 3 sentences about  the moon, e.g. 1,234 km.\nThanks!",
)
ROLES = ("<|user|>", "<|assistant|>", "<|system|>")
PROGRAM = """
import json, sys, xllamacpp
settings = xllamacpp.CommonParams()
settings.model.path, settings.n_ctx, settings.n_parallel = sys.argv[1], 512, 1
settings.cache_type_k = settings.cache_type_v = xllamacpp.ggml_type.GGML_TYPE_F32
settings.warmup, settings.use_jinja, settings.cpuparams.n_threads = False, True, 1
server = xllamacpp.Server(settings)
how = {"temperature": 0, "max_tokens": 32, "cache_prompt": False}
for ids, text in json.loads(sys.argv[2]):
    plain = server.handle_completions({"prompt": ids, **how})
    talk = [{"role": "user", "content": text}]
    chat = server.handle_chat_completions({"messages": talk, **how})
    print("SAID", json.dumps([
        plain["choices"][0]["text"],
        chat["choices"][0]["message"]["content"],
        chat["usage"]["prompt_tokens"],
    ]))
"""


FAMILIES: dict[str, dict[str, Any]] = {
    "llama, untied, heads of 32": {"tied": False, "head_size": 32},
    "llama, linear rope": {"rope_scaling": RopeScaling("linear", 4.0)},
    "llama, llama3 rope": {"rope_scaling": RopeScaling("llama3", 4.0, original=24)},
    "qwen3": {"qk_norm": True, "head_size": 32},
}


def spread(config: ModelConfig) -> Model:
    """A model of random weights, so that what is said hangs on every number."""
    model = Model(config, generator=torch.Generator().manual_seed(0)).requires_grad_(False)
    for weight in model.parameters():
        weight.mul_(5.0 if weight.dim() == 2 else 1.2).copy_(weight.half())
    return model


def whole(text: str) -> str:
    """The text without half characters."""
    return text.replace("\ufffd", "")


@torch.no_grad()
def greedy(model: Model, ids: list[int], stops: Sequence[int]) -> list[int]:
    """The likeliest ids, special ones too, which llama.cpp draws and hides. `generate` never does."""
    said: list[int] = []
    while len(said) < 32 and (not said or said[-1] not in stops):
        said.append(int(model(torch.tensor([ids + said]))[0, -1].argmax()))
    return said


def asked_of_both(
    model: Model, tokenizer: Tokenizer, file: Path, messages: Sequence[str]
) -> Iterator[tuple[str, str, str, bool]]:
    """For each message: what we say; what llama.cpp says, asked by ids, and by its own chat template;
    whether its prompt has as many ids."""
    asked, ours = [], []
    for message in messages:
        ids = encode_prompt(tokenizer, [("user", message)], model.config.context, 64)
        asked.append((ids, message))
        said = greedy(model, ids, tokenizer.chat.stop_ids)
        ours.append(tokenizer.decode(id for id in said if id not in tokenizer.never_ids))
    command = [sys.executable, "-c", PROGRAM, str(file), json.dumps(asked)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=500, check=False)
    said = [json.loads(line[5:]) for line in done.stdout.splitlines() if line.startswith("SAID ")]
    assert len(said) == len(asked), done.stderr[-2000:]
    for (ids, _), mine, (plain, chat, count) in zip(asked, ours, said, strict=True):
        yield mine, plain, chat, count == len(ids)


@pytest.mark.timeout(600)
def test_llama_cpp_says_the_same(tmp_path: Path) -> None:
    store = ModelStore(Home(tmp_path / "home"))
    file = export_model(store, "10m", tmp_path / "10m.gguf")
    folder = store.info("10m").path
    model, tokenizer = load_model(folder), load_tokenizer(folder)
    for mine, plain, chat, same_length in asked_of_both(model, tokenizer, file, MESSAGES):
        assert (plain, chat, same_length) == (mine, mine, True)


@pytest.mark.timeout(600)
def test_eight_bits_say_the_same(tmp_path: Path) -> None:
    """Ours are the weights that the file has, read back; llama.cpp rounds activations to 8 bits too."""
    store = ModelStore(Home(tmp_path / "home"))
    file = export_model(store, "10m", tmp_path / "10m.gguf", "q8_0")
    half = export_model(store, "10m", tmp_path / "half.gguf", "f16")
    assert file.stat().st_size < 0.7 * half.stat().st_size
    folder = import_model(store, file, "eight").path
    model, tokenizer = load_model(folder), load_tokenizer(folder)
    for mine, plain, chat, same_length in asked_of_both(model, tokenizer, file, MESSAGES):
        assert (plain, chat, same_length) == (mine, mine, True)


@pytest.mark.timeout(600)
@pytest.mark.parametrize("template", [CHATML, ZEPHYR], ids=["chatml", "zephyr"])
def test_anothers_tokenizer_and_chat_template(template: str, tmp_path: Path) -> None:
    raw = trained(markers=("<|endoftext|>", "<|im_start|>", "<|im_end|>", *ROLES))
    tokenizer = load_tokenizer(write(tmp_path, raw, template))
    assert tokenizer.chat.system, "a system prompt stands before the message"
    config = replace(CONFIGS["tiny"], vocab_size=tokenizer.vocab_size, context=512)
    model = spread(config)
    file = tmp_path / "other.gguf"
    metadata = gguf_metadata(tokenizer, config.vocab_size)
    write_gguf(file, config, to_huggingface(model.state_dict(), config), "f32", metadata)
    for mine, plain, chat, same in asked_of_both(model, tokenizer, file, MESSAGES):
        assert whole(plain) == whole(mine) and same
        assert whole(chat).strip() == whole(mine).strip()


@pytest.mark.timeout(600)
@pytest.mark.parametrize("family", FAMILIES)
def test_every_architecture(family: str, tiny_tokenizer: RankTokenizer, tmp_path: Path) -> None:
    config = replace(CONFIGS["tiny"], vocab_size=384, **FAMILIES[family])
    model = spread(config)
    file = tmp_path / "tiny.gguf"
    metadata = gguf_metadata(tiny_tokenizer, config.vocab_size)
    write_gguf(file, config, to_huggingface(model.state_dict(), config), "f32", metadata)
    for mine, plain, _, same in asked_of_both(model, tiny_tokenizer, file, MESSAGES[:2]):
        assert whole(plain) == whole(mine) and same
