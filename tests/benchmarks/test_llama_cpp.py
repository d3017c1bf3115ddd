"""llama.cpp says what we say with a model that we exported: the first 32 tokens of greedy answers.

xllamacpp is llama.cpp in a wheel; it is in the extra `bench`.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from engine.config import GREEDY
from engine.generate import generate
from engine.storage.checkpoint import load_model
from engine.tokenizers.chat_format import encode_prompt
from engine.tokenizers.tokenizer import Tokenizer
from learning.home import Home
from learning.models.import_export import export_model
from learning.models.store import ModelStore

pytest.importorskip("xllamacpp")

MESSAGES = (
    "Who are you?",
    "Tell me a long story about a river.",
    "Write 3 sentences about  the moon, e.g. 1,234 km.\nThanks!",
)
PROGRAM = """
import json, sys, xllamacpp
settings = xllamacpp.CommonParams()
settings.model.path, settings.n_ctx, settings.n_parallel = sys.argv[1], 512, 1
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


@pytest.mark.timeout(600)
def test_llama_cpp_says_the_same(tmp_path: Path) -> None:
    """By ids, and by its own reading of the tokenizer and the chat template."""
    store = ModelStore(Home(tmp_path / "home"))
    file = export_model(store, "10m", tmp_path / "10m.gguf")
    folder = store.info("10m").path
    model, tokenizer = load_model(folder), Tokenizer.load(folder)
    asked, ours = [], []
    for message in MESSAGES:
        ids = encode_prompt(tokenizer, [("user", message)], 512, 64)
        asked.append((ids, message))
        sampling = GREEDY.with_(max_tokens=32)
        stream = generate(model, tokenizer, ids, 1, sampling, generator=torch.Generator())
        tokens = getattr(list(stream)[-1], "tokens", ())
        ours.append(tokenizer.decode(tokens))
    command = [sys.executable, "-c", PROGRAM, str(file), json.dumps(asked)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=500, check=False)
    said = [json.loads(line[5:]) for line in done.stdout.splitlines() if line.startswith("SAID ")]
    assert len(said) == len(MESSAGES), done.stderr[-2000:]
    for (ids, _), mine, (plain, chat, count) in zip(asked, ours, said, strict=True):
        assert (plain, chat, count) == (mine, mine, len(ids))
