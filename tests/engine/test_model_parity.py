"""Another implementation as the oracle: Hugging Face's LlamaForCausalLM reads and writes the same."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from engine.config import GREEDY
from engine.generate import generate
from engine.model import Model
from engine.storage.checkpoint import load_model, save_model
from engine.tokenizers.tokenizer import Tokenizer

transformers = pytest.importorskip("transformers")

IDS = torch.randint(0, 384, (3, 40), generator=torch.Generator().manual_seed(3))


@pytest.fixture
def wide_model(tiny_model: Model) -> Model:
    """Weights large enough that a wrong rotation or scale shows, norms that are not 1."""
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for weight in tiny_model.parameters():
            if weight.dim() == 2:
                weight.mul_(5.0)
            else:
                weight.normal_(1.0, 0.2, generator=generator)
    return tiny_model


@torch.no_grad()
def test_transformers_reads_what_we_write(wide_model: Model, tmp_path: Path) -> None:
    save_model(wide_model, tmp_path, dtype=torch.float32)
    theirs = transformers.LlamaForCausalLM.from_pretrained(tmp_path, dtype=torch.float32)
    torch.testing.assert_close(wide_model(IDS), theirs(IDS).logits, atol=1e-4, rtol=1e-4)


@torch.no_grad()
def test_we_read_what_transformers_writes(tmp_path: Path) -> None:
    torch.manual_seed(0)
    config = transformers.LlamaConfig(
        vocab_size=384,
        hidden_size=48,
        num_hidden_layers=3,
        num_attention_heads=6,
        num_key_value_heads=3,
        intermediate_size=80,
        max_position_embeddings=64,
        rope_theta=5000.0,
        rms_norm_eps=1e-6,
        tie_word_embeddings=True,
        initializer_range=0.2,
    )
    theirs = transformers.LlamaForCausalLM(config).eval()
    theirs.save_pretrained(tmp_path)
    ours = load_model(tmp_path)
    assert (ours.config.rope_theta, ours.config.norm_eps) == (5000.0, 1e-6)
    torch.testing.assert_close(ours(IDS), theirs(IDS).logits, atol=1e-4, rtol=1e-4)


def test_greedy_answers_agree(wide_model: Model, tiny_tokenizer: Tokenizer, tmp_path: Path) -> None:
    t = tiny_tokenizer
    save_model(wide_model, tmp_path, dtype=torch.float32)
    theirs = transformers.LlamaForCausalLM.from_pretrained(tmp_path, dtype=torch.float32)
    prompt = [t.user, *t.encode("Hello!"), t.assistant]
    banned = [i for i in range(t.user, t.vocab_size) if i != t.end]
    expected = theirs.generate(
        torch.tensor([prompt]),
        attention_mask=torch.ones(1, len(prompt), dtype=torch.long),
        do_sample=False,
        max_new_tokens=16,
        suppress_tokens=banned,
        begin_suppress_tokens=[t.end],
        eos_token_id=t.end,
        pad_token_id=t.end,
    )[0, len(prompt) :].tolist()
    stream = generate(
        wide_model, t, prompt, 1, GREEDY.with_(max_tokens=16), generator=torch.Generator()
    )
    last = list(stream)[-1]
    assert list(getattr(last, "tokens", ())) == expected
