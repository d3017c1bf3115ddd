"""learning.pretraining.lives_stage: gradients through lessons about invented lives."""

from __future__ import annotations

import copy
from pathlib import Path

import pytest
import torch

from engine.model import Model
from engine.tokenizers.tokenizer import Tokenizer
from learning.data.corpus import Document
from learning.data.examples import Example, from_answer
from learning.data.token_stream import TokenStream
from learning.lessons.recipe import TeachSettings
from learning.objectives.forward import knowledge, mean_loss
from learning.pretraining.checkpoint import TRAINING
from learning.pretraining.lives_stage import LivesSettings, LivesStage
from learning.pretraining.loop import PretrainSettings, adamw, pretrain

SMALL = LivesSettings(facts=2, steps=2, conversations=1, book=6, talk=2, beside=2)


def rows(tokenizer: Tokenizer, context: int, *pairs: tuple[str, str]) -> list[Example]:
    return [from_answer(tokenizer, [("user", q)], a, context) for q, a in pairs]


def stage_of(model: Model, tokenizer: Tokenizer, seed: int = 0) -> LivesStage:
    context = model.config.context
    book = rows(tokenizer, context, *((f"What is {n}?", f"It is {n} too.") for n in "abcdefgh"))
    talk = rows(tokenizer, context, ("hello", "Hello!"), ("bye", "Good night."))
    return LivesStage(model, tokenizer, book, book[:4], talk, settings=SMALL, seed=seed)


def gradients(stage: LivesStage, model: Model, step: int) -> torch.Tensor:
    model.zero_grad(set_to_none=True)
    stage.gradients(step)
    return torch.cat([p.grad.flatten() for p in model.parameters() if p.grad is not None])


def test_it_teaches_as_a_real_lesson_does() -> None:
    recipe, here = TeachSettings(), LivesSettings()
    assert (here.lr, here.fall, here.trunk) == (recipe.lr, recipe.steps, recipe.trunk)


def test_the_weights_stay_and_every_parameter_gets_a_gradient(
    tiny_model: Model, tiny_tokenizer: Tokenizer
) -> None:
    model = copy.deepcopy(tiny_model)
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    loss = stage_of(model, tiny_tokenizer).gradients(0)
    assert 0.0 < loss < 20.0
    assert all(torch.equal(before[name], now) for name, now in model.state_dict().items())
    for name, parameter in model.named_parameters():
        assert parameter.requires_grad, name
        assert parameter.grad is not None and parameter.grad.abs().sum() > 0, name


def test_the_same_step_has_the_same_gradients(tiny_model: Model, tiny_tokenizer: Tokenizer) -> None:
    model = copy.deepcopy(tiny_model)
    first = gradients(stage_of(model, tiny_tokenizer), model, 3)
    assert torch.equal(first, gradients(stage_of(model, tiny_tokenizer), model, 3))
    assert not torch.equal(first, gradients(stage_of(model, tiny_tokenizer), model, 4))
    assert not torch.equal(first, gradients(stage_of(model, tiny_tokenizer, seed=1), model, 3))


def test_the_loss_is_that_of_the_taught_weights(
    tiny_model: Model, tiny_tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is asked after the lessons is measured, and differentiated, where the lessons led."""
    model, taught = copy.deepcopy(tiny_model), dict[str, torch.Tensor]()
    stage = stage_of(model, tiny_tokenizer)
    asked = list[Example]()
    original = LivesStage._asked

    def look(self: LivesStage, *what: object) -> list[Example]:
        taught.update({name: t.clone() for name, t in model.state_dict().items()})
        asked.extend(original(self, *what))  # type: ignore[arg-type]
        return list(asked)

    monkeypatch.setattr(LivesStage, "_asked", look)
    loss = stage.gradients(0)
    there = copy.deepcopy(tiny_model)
    there.load_state_dict(taught)
    assert loss == pytest.approx(mean_loss(knowledge(there, asked)), rel=0.02)
    moved = [n for n, t in taught.items() if not torch.equal(t, model.state_dict()[n])]
    assert moved and all(name.startswith("blocks.") for name in moved)


def stream(tokenizer: Tokenizer) -> TokenStream:
    talk = [
        Document("talk", (("user", f"What is {a}?"), ("assistant", f"It is {a}{a}.")))
        for a in "abcdefgh"
    ]
    return TokenStream.of(talk, tokenizer, seed=3)


@pytest.mark.slow
def test_a_run_that_is_interrupted_ends_as_if_it_had_not_been(
    tiny_model: Model, tiny_tokenizer: Tokenizer, tmp_path: Path
) -> None:
    settings = PretrainSettings(
        tokens=6 * 128, row=64, rows=2, micro_rows=2, adam_lr=1e-3, lives=True
    )

    def run(folder: Path, most: int) -> Model:
        model, calls = copy.deepcopy(tiny_model), iter(range(100))
        stage = stage_of(model, tiny_tokenizer)
        pretrain(
            model,
            stream(tiny_tokenizer),
            settings,
            folder=folder,
            optimizer_of=adamw,
            also=stage.gradients,
            stop=lambda: next(calls) >= most,
        )
        return model

    whole = run(tmp_path / "whole", 100)
    run(tmp_path / "parts", 2)
    assert (tmp_path / "parts" / TRAINING).exists()
    parts = run(tmp_path / "parts", 100)
    for (name, one), other in zip(whole.named_parameters(), parts.parameters(), strict=True):
        assert torch.equal(one, other), name


@pytest.mark.slow
def test_questions_in_other_words_become_likelier_after_lessons(
    tiny_model: Model, tiny_tokenizer: Tokenizer
) -> None:
    model = copy.deepcopy(tiny_model)
    stage = stage_of(model, tiny_tokenizer)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    losses = []
    for step in range(40):
        losses.append(stage.gradients(step))
        optimizer.step()
    assert sum(losses[-8:]) < 0.8 * sum(losses[:8])
