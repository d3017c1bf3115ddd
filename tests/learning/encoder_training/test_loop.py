"""The steps that train the sentence encoder."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
import torch.nn.functional as F

from engine.encoder import SentenceEncoder
from engine.errors import CheckpointError, ConfigError
from engine.model import Model
from engine.tokenizers.tokenizer import Tokenizer
from learning.encoder_training.loop import EncoderLoop, EncoderReport
from learning.encoder_training.owners import OwnerFact
from learning.encoder_training.settings import EncoderSettings

TEXTS = [f"{who} {what}" for who in ("the cat", "my dog", "you") for what in ("sat", "ate", "ran")]
SETTINGS = EncoderSettings(
    steps=120, sentences=4, lives=0, warm_up=3, save_every=40, muon_lr=0.01, adam_lr=0.01
)


@pytest.fixture
def encoder(tiny_model: Model, tiny_tokenizer: Tokenizer) -> SentenceEncoder:
    head = torch.randn(6, tiny_model.config.dim, generator=torch.Generator().manual_seed(0))
    return SentenceEncoder(tiny_model, tiny_tokenizer, head, torch.zeros(tiny_model.config.dim))


@pytest.fixture
def vectors() -> torch.Tensor:
    found = torch.randn(len(TEXTS), 6, generator=torch.Generator().manual_seed(1))
    return F.normalize(found, dim=-1).half()


def test_vectors_become_the_teachers(encoder: SentenceEncoder, vectors: torch.Tensor) -> None:
    loop, saved, cosines = EncoderLoop(encoder, TEXTS, vectors, SETTINGS), [], []
    loop.run(lambda one: cosines.append(one.cosine), lambda: saved.append(loop.steps))
    assert saved == [40, 80, 120]
    assert cosines[0] < 0.6
    assert (encoder.encode(TEXTS) * vectors.float()).sum(-1).mean() > 0.9


def test_every_sentence_comes_about_as_often(
    encoder: SentenceEncoder, vectors: torch.Tensor
) -> None:
    loop = EncoderLoop(encoder, TEXTS, vectors, SETTINGS)
    drawn = [at for step in range(90) for at in loop._sentences(step)]
    counts = [drawn.count(at) for at in range(len(TEXTS))]
    assert sum(counts) == 360 and min(counts) > 20, "a step takes four of the nine"
    assert all(len(set(loop._sentences(step))) == 4 for step in range(20))


def test_lives_are_learned_too(encoder: SentenceEncoder, vectors: torch.Tensor) -> None:
    settings = EncoderSettings(steps=12, sentences=4, lives=1, warm_up=1, seed=3)
    losses = list[float]()
    loop = EncoderLoop(encoder, TEXTS, vectors, settings)
    loop.run(lambda one: losses.append(one.contrast), lambda: None)
    assert all(loss > 0.0 for loss in losses)
    assert sum(losses[-4:]) < sum(losses[:4])


def test_an_interrupted_run_goes_on_as_if_it_had_not_been(
    tiny_model: Model, tiny_tokenizer: Tokenizer, vectors: torch.Tensor, tmp_path: Path
) -> None:
    head = torch.randn(6, tiny_model.config.dim, generator=torch.Generator().manual_seed(0))
    start = {name: value.clone() for name, value in tiny_model.state_dict().items()}

    def begun() -> EncoderLoop:
        tiny_model.load_state_dict(start)
        encoder = SentenceEncoder(
            tiny_model, tiny_tokenizer, head.clone(), torch.zeros(head.shape[1])
        )
        return EncoderLoop(encoder, TEXTS, vectors, EncoderSettings(4, sentences=4, lives=1))

    whole = begun()
    for _ in range(4):
        whole.step()
    wanted = {name: value.clone() for name, value in whole.encoder.state_dict().items()}
    half = begun()
    assert not half.resume(tmp_path)
    half.step()
    half.step()
    half.save(tmp_path)
    other = begun()
    assert other.resume(tmp_path) and other.steps == 2
    other.run(lambda _: None, lambda: None)
    for name, value in other.encoder.state_dict().items():
        assert torch.allclose(value, wanted[name], atol=1e-6), name


def test_another_run_is_not_gone_on_with(
    encoder: SentenceEncoder, vectors: torch.Tensor, tmp_path: Path
) -> None:
    EncoderLoop(encoder, TEXTS, vectors, SETTINGS).save(tmp_path)
    other = EncoderLoop(encoder, TEXTS[:5], vectors[:5], SETTINGS)
    with pytest.raises(CheckpointError, match="other settings or sentences"):
        other.resume(tmp_path)
    with pytest.raises(CheckpointError, match="other settings or sentences"):
        EncoderLoop(encoder, TEXTS, vectors, SETTINGS, "another base").resume(tmp_path)


def test_settings_are_checked_and_rates_rise_and_fall() -> None:
    with pytest.raises(ConfigError, match="steps is 0"):
        EncoderSettings(steps=0)
    settings = EncoderSettings(steps=100, warm_up=10)
    rates = [settings.rate(step) for step in range(100)]
    assert rates[0] == pytest.approx(0.1) and max(rates) == rates[9] and rates[-1] == 0.02


def test_what_owners_told_is_learned_too(encoder: SentenceEncoder, vectors: torch.Tensor) -> None:
    asked = [f"{way} thing" for way in ("where", "what", "which", "whose", "how")]
    owner = [
        OwnerFact(1, "tune", f"{text} here", (*asked[:4], f"{text} now"), ("why", "when"), "who")
        for text in TEXTS[:4]
    ]
    settings = EncoderSettings(steps=12, sentences=4, lives=0, warm_up=1, owners=1, seed=3)
    reports = list[EncoderReport]()
    loop = EncoderLoop(encoder, TEXTS, vectors, settings, owners=[owner])
    loop.run(reports.append, lambda: None)
    assert all(one.told > 0.0 and one.contrast == 0.0 for one in reports)
    losses = [one.told for one in reports]
    assert sum(losses[-4:]) < sum(losses[:4])
