"""The sentence encoder: texts as vectors."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from engine.encoder import (
    ENCODER,
    MOST_TOKENS,
    SentenceEncoder,
    load_encoder,
    save_encoder,
    shipped_encoder,
)
from engine.errors import CheckpointError
from engine.model import Model
from engine.storage.checkpoint import load_tensors, save_tensors
from engine.tokenizers.tokenizer import Tokenizer

TEXTS = ["Hello", "What is my sister called?", "Why does nobody ever know it before the end?"]


@pytest.fixture
def encoder(tiny_model: Model, tiny_tokenizer: Tokenizer) -> SentenceEncoder:
    generator, dim = torch.Generator().manual_seed(0), tiny_model.config.dim
    head = torch.randn(12, dim, generator=generator)
    query = torch.randn(dim, generator=generator)
    return SentenceEncoder(tiny_model, tiny_tokenizer, head, query).requires_grad_(False)


def test_vectors_have_length_one_and_do_not_depend_on_their_batch(encoder: SentenceEncoder) -> None:
    found = encoder.encode(TEXTS)
    assert found.shape == (3, 12) and encoder.size == 12
    assert torch.allclose(found.norm(dim=-1), torch.ones(3), atol=1e-5)
    for at, text in enumerate(TEXTS):
        assert torch.allclose(encoder.encode([text])[0], found[at], atol=2e-2)
    assert torch.allclose(encoder.encode(TEXTS[::-1]), found.flip(0), atol=2e-2)
    assert encoder.encode([]).shape == (0, 12)


def test_every_token_sees_the_whole_text(encoder: SentenceEncoder) -> None:
    """Under a causal mask the mean's first part would not change with the last token."""
    first, second = ([5, 6, 7, last] for last in (8, 9))
    seen = list[torch.Tensor]()
    hook = encoder.model.norm.register_forward_hook(lambda _, __, out: seen.append(out.float()))
    try:
        encoder([first])
        encoder([second])
    finally:
        hook.remove()
    assert not torch.allclose(seen[0][0, 0], seen[1][0, 0], atol=1e-4)


def test_of_a_long_text_the_end_counts_and_an_empty_one_has_a_vector_too(
    encoder: SentenceEncoder,
) -> None:
    long = "why " * 500 + TEXTS[1]
    assert len(encoder.ids(long)) == MOST_TOKENS
    assert encoder.ids(long)[-4:] == encoder.ids(TEXTS[1])[-4:]
    assert encoder.encode(["", long]).isfinite().all()


def test_what_was_saved_gives_the_same_vectors(encoder: SentenceEncoder, tmp_path: Path) -> None:
    save_encoder(encoder, tmp_path)
    found = load_encoder(tmp_path)
    assert (found.encode(TEXTS) * encoder.encode(TEXTS)).sum(-1).min() > 0.995, "int8 rounds"
    assert not any(parameter.requires_grad for parameter in found.parameters())


def test_it_can_be_read_while_an_answer_is_made(encoder: SentenceEncoder, tmp_path: Path) -> None:
    save_encoder(encoder, tmp_path / "encoder")
    with torch.inference_mode():
        read = load_encoder(tmp_path / "encoder")
    before, rows = load_encoder(tmp_path / "encoder"), [read.ids(text) for text in TEXTS]
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
        assert torch.equal(read(rows), before(rows))


def test_a_damaged_encoder_says_so(encoder: SentenceEncoder, tmp_path: Path) -> None:
    save_encoder(encoder, tmp_path)
    tensors, _ = load_tensors(tmp_path / ENCODER)
    del tensors["head"], tensors["head.scale"]
    save_tensors(tensors, tmp_path / ENCODER)
    with pytest.raises(CheckpointError, match="does not fit"):
        load_encoder(tmp_path)
    tensors["head"], tensors["head.scale"] = torch.ones(4, 3).to(torch.int8), torch.ones(4, 1)
    save_tensors(tensors, tmp_path / ENCODER)
    with pytest.raises(CheckpointError, match=r"head has shape \(4, 3\)"):
        load_encoder(tmp_path)
    config = (tmp_path / "config.json").read_text("utf-8")
    (tmp_path / "config.json").write_text(config.replace("llama", "other"), "utf-8")
    with pytest.raises(CheckpointError, match="config.json"):
        load_encoder(tmp_path)
    (tmp_path / "config.json").write_text(config, "utf-8")
    (tmp_path / ENCODER).write_bytes(b"cut")
    with pytest.raises(CheckpointError, match="no whole safetensors file"):
        load_encoder(tmp_path)


def test_the_shipped_one_places_the_same_question_near_in_any_words() -> None:
    encoder = shipped_encoder()
    assert encoder is shipped_encoder(), "it is read once"
    asked, same, other = encoder.encode(
        ["What is my job?", "How do I earn my money?", "What is my dog called?"]
    )
    assert asked @ same > asked @ other + 0.2, "though no word is shared"
