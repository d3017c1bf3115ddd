"""benchmarks.baselines: each changes the weights as its description says, on a tiny model."""

from __future__ import annotations

import contextlib
import math
from dataclasses import replace

import pytest
import torch
from torch import Tensor

from benchmarks.baselines import ATTEMPTS, preference
from benchmarks.baselines.common import Anchor
from benchmarks.baselines.conversation import ConversationSteps
from benchmarks.baselines.elastic import ElasticSteps
from benchmarks.baselines.preference import (
    ContrastiveElastic,
    MovingReferenceDPO,
    against,
    own_answer,
)
from benchmarks.baselines.single_steps import SingleSteps
from benchmarks.baselines.threshold import REPEATS, ThresholdSteps
from benchmarks.baselines.warm_adam import WarmAdamSteps, adam_after_book
from engine.model import Model
from engine.tokenizers.tokenizer import Tokenizer
from learning.data.examples import Example, from_answer
from learning.memory.tasks import LessonTask
from learning.objectives.forward import knowledge
from learning.objectives.preference import log_probabilities
from learning.objectives.supervised import likelihood_gradients

PAIRS = [
    ("hello", "Hello, I am well."),
    ("What is your name?", "My name is Vidya."),
    ("Where do you live?", "In this terminal."),
    ("Why?", "Nobody knows it."),
    ("What is my cat called?", "Biscuit."),
]


@pytest.fixture
def examples(tiny_tokenizer: Tokenizer) -> list[Example]:
    return [from_answer(tiny_tokenizer, [("user", q)], a, 128) for q, a in PAIRS]


def weights(model: Model) -> list[Tensor]:
    return [p.detach().clone() for p in model.parameters()]


def moved(model: Model, before: list[Tensor]) -> Tensor:
    """All changes in one row."""
    return torch.cat(
        [(p.detach() - b).flatten() for p, b in zip(model.parameters(), before, strict=True)]
    )


def gradient(model: Model) -> Tensor:
    return torch.cat([p.grad.flatten() for p in model.parameters() if p.grad is not None])


def test_the_eight_are_all_there() -> None:
    assert {named.number for named in ATTEMPTS.values()} == set(range(1, 9))
    assert all(len(named.what) <= 60 and "\n" not in named.what for named in ATTEMPTS.values())


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.slow] if name == "combined" else [])
        for name in sorted(ATTEMPTS)
    ],
)
def test_each_moves_the_weights_and_keeps_them_finite(
    tiny_model: Model, examples: list[Example], name: str
) -> None:
    before = weights(tiny_model)
    attempt = ATTEMPTS[name].make(tiny_model, examples[:4])
    assert not moved(tiny_model, before).any(), "making it changes nothing"
    for _ in range(5):
        loss = attempt.learn(LessonTask(examples[4]))
    assert math.isfinite(loss) and loss > 0.0
    change = moved(tiny_model, before)
    assert change.any() and torch.isfinite(change).all()


@pytest.mark.parametrize("name", sorted(ATTEMPTS))
def test_what_is_only_to_be_avoided_is_passed_over(
    tiny_model: Model, examples: list[Example], name: str
) -> None:
    before = weights(tiny_model)
    attempt = ATTEMPTS[name].make(tiny_model, examples[:4])
    for _ in range(5):
        assert attempt.learn(LessonTask(None, (examples[4],))) == 0.0
    assert not moved(tiny_model, before).any()


def test_a_fresh_step_moves_every_weight_by_the_rate(
    tiny_model: Model, examples: list[Example]
) -> None:
    before = weights(tiny_model)
    likelihood_gradients(tiny_model, [examples[0]])
    slope = gradient(tiny_model)
    SingleSteps(tiny_model, 1e-4).learn(LessonTask(examples[0]))
    change, felt = moved(tiny_model, before), slope.abs() > 1e-4
    assert felt.any()
    torch.testing.assert_close(
        change[felt], -1e-4 * slope[felt].sign(), atol=2e-7, rtol=1e-3
    )  # Adam's first step: lr · sign(g), as long as |g| is far above its epsilon


def test_four_repeats_go_further_than_one(tiny_model: Model, examples: list[Example]) -> None:
    before = weights(tiny_model)
    SingleSteps(tiny_model, 1e-5, 4).learn(LessonTask(examples[0]))
    assert 1e-5 < float(moved(tiny_model, before).abs().max()) <= 4.5e-5


def test_the_book_fills_adams_state_and_moves_nothing(
    tiny_model: Model, examples: list[Example]
) -> None:
    before = weights(tiny_model)
    optimizer = adam_after_book(tiny_model, examples, 1e-4)
    assert not moved(tiny_model, before).any()
    likelihood_gradients(tiny_model, examples)
    for weight in tiny_model.parameters():
        assert weight.grad is not None
        # one batch: the moments are (1 - β) times the gradient and its square
        state = optimizer.state[weight]
        torch.testing.assert_close(state["exp_avg"], 0.1 * weight.grad)
        torch.testing.assert_close(state["exp_avg_sq"], 0.02 * weight.grad**2)
    assert optimizer.param_groups[0]["lr"] == 1e-4


def test_a_warm_step_is_the_formula_with_the_books_moments(
    tiny_model: Model, examples: list[Example]
) -> None:
    likelihood_gradients(tiny_model, examples[:4])
    book = gradient(tiny_model)
    tiny_model.zero_grad()
    likelihood_gradients(tiny_model, [examples[4]])
    slope = gradient(tiny_model)
    before = weights(tiny_model)
    WarmAdamSteps(tiny_model, examples[:4], 1e-4).learn(LessonTask(examples[4]))
    first = (0.9 * 0.1 * book + 0.1 * slope) / (1 - 0.9**2)
    second = (0.98 * 0.02 * book**2 + 0.02 * slope**2) / (1 - 0.98**2)
    expected = -1e-4 * first / (second.sqrt() + 1e-8)
    torch.testing.assert_close(moved(tiny_model, before), expected, atol=2e-7, rtol=1e-2)


def test_the_threshold_skips_what_is_nearly_known(
    tiny_model: Model, examples: list[Example]
) -> None:
    before = weights(tiny_model)
    assert ThresholdSteps(tiny_model, threshold=100.0).learn(LessonTask(examples[0])) == 0.0
    assert not moved(tiny_model, before).any()
    stepped = ThresholdSteps(tiny_model, threshold=0.0).learn(LessonTask(examples[0]))
    assert stepped > 0.0
    assert 1e-4 < float(moved(tiny_model, before).abs().max()) <= 1.1e-4 * REPEATS


def test_the_pull_goes_the_stated_share_of_the_way(tiny_model: Model) -> None:
    anchor, before = Anchor(tiny_model), weights(tiny_model)
    with torch.no_grad():
        for weight in tiny_model.parameters():
            weight.add_(1.0)
    anchor.pull(tiny_model, 0.02)
    torch.testing.assert_close(
        moved(tiny_model, before), torch.full_like(moved(tiny_model, before), 0.98)
    )


def test_a_full_pull_leaves_nothing_of_the_lesson(
    tiny_model: Model, examples: list[Example]
) -> None:
    before = weights(tiny_model)
    ElasticSteps(tiny_model, 1.0).learn(LessonTask(examples[0]))
    assert float(moved(tiny_model, before).abs().max()) < 1e-7
    ElasticSteps(tiny_model, 0.02).learn(LessonTask(examples[0]))
    # steps of at most about 1e-4 each: ((1·.98 + 1)·.98 + 1)·.98 + 1)·.98 = 3.81
    assert 1e-4 < float(moved(tiny_model, before).abs().max()) < 4.2e-4


def test_dpo_with_the_current_model_as_reference_never_sees_a_margin(
    tiny_model: Model, examples: list[Example]
) -> None:
    pair = [examples[0], replace(examples[1], prompt=examples[0].prompt)]
    attempt = MovingReferenceDPO(tiny_model)
    with torch.no_grad():
        start = log_probabilities(tiny_model, pair)
    for _ in range(3):
        assert attempt.learn(LessonTask(pair[0], (pair[1],))) == pytest.approx(
            math.log(2), abs=1e-6
        )
    with torch.no_grad():
        now = log_probabilities(tiny_model, pair)
    # it would see this with a frozen reference, and the loss would be below ln 2
    assert float((now - start)[0] - (now - start)[1]) > 0.1


def test_its_push_is_as_strong_at_any_margin(tiny_model: Model, examples: list[Example]) -> None:
    # d/dθ of -log σ(β(m - sg(m))) is -β/2 · dm/dθ: the margin m itself is not in it
    pair = [examples[0], examples[1]]
    with pytest.MonkeyPatch.context() as patch:
        # where a CPU has bfloat16, its rounding is larger than what is compared
        patch.setattr("learning.objectives.forward.autocast", lambda _: contextlib.nullcontext())
        tiny_model.requires_grad_(True)
        policy = log_probabilities(tiny_model, pair)
        (policy[0] - policy[1]).backward()
        slope = gradient(tiny_model)
        before = weights(tiny_model)
        patch.setattr(preference, "REPEATS", 1)
        patch.setattr(preference, "fresh_adam", lambda m, lr: _cleared_sgd(m))
        MovingReferenceDPO(tiny_model).learn(LessonTask(pair[0], (pair[1],)))
    torch.testing.assert_close(moved(tiny_model, before), 0.05 * slope, atol=1e-6, rtol=1e-3)


def _cleared_sgd(model: Model) -> torch.optim.Optimizer:
    model.zero_grad(set_to_none=True)
    return torch.optim.SGD(model.parameters(), lr=1.0)


def test_contrast_widens_the_lead_of_the_wanted_answer(
    tiny_model: Model, examples: list[Example]
) -> None:
    pair = [examples[0], replace(examples[1], prompt=examples[0].prompt)]
    attempt = ContrastiveElastic(tiny_model)
    first = attempt.learn(LessonTask(pair[0], (pair[1],)))
    assert attempt.learn(LessonTask(pair[0], (pair[1],))) < first


def test_without_rejected_answers_the_models_own_is_one(
    tiny_model: Model, examples: list[Example]
) -> None:
    own = own_answer(tiny_model, examples[0])
    first = examples[0].target.index(True)
    assert own.ids[:first] == examples[0].ids[:first]
    (known,) = knowledge(tiny_model, [own])
    assert known.known, "it is what greedy decoding says"
    assert against(tiny_model, LessonTask(examples[0])) == [examples[0], own]
    assert against(tiny_model, LessonTask(examples[0], (examples[0],))) == [], "nothing to prefer"


def test_a_conversation_is_learned_at_its_fifth_turn(
    tiny_model: Model, examples: list[Example]
) -> None:
    before = weights(tiny_model)
    attempt = ConversationSteps(tiny_model)
    for example in examples[:4]:
        assert attempt.learn(LessonTask(example)) == 0.0
    assert not moved(tiny_model, before).any()
    losses = [item.nll / item.tokens for item in knowledge(tiny_model, examples)]
    assert attempt.learn(LessonTask(examples[4])) == pytest.approx(sum(losses) / 5, rel=1e-4)
    assert 0.0 < float(moved(tiny_model, before).abs().max()) <= 1.1e-4


@pytest.mark.slow
def test_all_of_it_waits_for_five_and_stays_within_four_steps(
    tiny_model: Model, examples: list[Example]
) -> None:
    before = weights(tiny_model)
    attempt = ATTEMPTS["combined"].make(tiny_model, examples)
    for example in examples[:4]:
        assert attempt.learn(LessonTask(example)) == 0.0
    assert not moved(tiny_model, before).any()
    assert attempt.learn(LessonTask(examples[4])) > 0.0
    assert float(moved(tiny_model, before).abs().max()) < 1e-2
