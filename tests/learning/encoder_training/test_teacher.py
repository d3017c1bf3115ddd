"""The teacher of the sentence encoder, on a tiny model of transformers."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import torch

from engine.errors import CheckpointError, ConfigError
from learning.encoder_training.teacher import SentenceTeacher, kept_vectors

MARKS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
WORDS = [*MARKS, "who", "is", "my", "sister", "the", "dog", "a", "house", "red"]
TEXTS = ["who is my sister", "the red house", "a dog"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from transformers import BertConfig, BertModel, BertTokenizerFast

    made = tmp_path_factory.mktemp("teacher")
    (made / "vocab.txt").write_text("\n".join(WORDS), "utf-8")
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(WORDS),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=32,
    )
    BertModel(config).save_pretrained(made)
    BertTokenizerFast(str(made / "vocab.txt")).save_pretrained(made)
    return made


def test_a_text_has_the_same_vector_in_every_batch(folder: Path) -> None:
    teacher = SentenceTeacher.read(folder)
    found = teacher.encode(TEXTS)
    assert found.shape == (3, 16)
    assert torch.allclose(found.norm(dim=-1), torch.ones(3), atol=1e-5)
    for at, text in enumerate(TEXTS):
        assert torch.allclose(teacher.encode([text])[0], found[at], atol=1e-2), "padding counts"


def test_vectors_are_computed_once_for_the_same_texts(folder: Path, tmp_path: Path) -> None:
    read = list[int]()

    def teacher() -> SentenceTeacher:
        read.append(1)
        return SentenceTeacher.read(folder)

    path, said = tmp_path / "v.safetensors", list[str]()
    first = kept_vectors(teacher, TEXTS, path, said.append)
    assert first.dtype == torch.float16 and said == ["the teacher has placed 3 of 3 sentences"]
    assert torch.equal(kept_vectors(teacher, TEXTS, path, said.append), first)
    assert len(read) == 1
    assert kept_vectors(teacher, TEXTS[:2], path, said.append).shape == (2, 16)
    assert len(read) == 2, "other texts"
    kept_vectors(teacher, TEXTS[:2], path, said.append, "another teacher")
    assert len(read) == 3


def test_what_is_no_teacher_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(CheckpointError, match="is no model of transformers"):
        SentenceTeacher.read(tmp_path)
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(ConfigError, match="transformers"):
        SentenceTeacher.read(tmp_path)
