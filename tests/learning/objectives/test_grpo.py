"""The packed, chunked, accumulated gradient is that of the plain formula."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import pytest
import torch
from torch import Tensor

import learning.objectives.grpo
from engine import precision
from engine.model import Model
from engine.rollout import Rollout
from learning.maths.kl import k2, k3
from learning.maths.normalise import Normaliser, by_answer, by_constant
from learning.maths.policy import clipped_surrogate, sequence_ratio
from learning.objectives.grpo import (
    GrpoAnswer,
    GrpoGroup,
    GrpoSettings,
    grpo_gradients,
    log_probabilities,
)
from tests.last_block import positions_of


@pytest.fixture(autouse=True)
def exact(monkeypatch: pytest.MonkeyPatch) -> None:
    """In float32 wherever the tests run: some machines are faster, and rounder, in bfloat16."""
    monkeypatch.setattr(precision, "fast_dtype", lambda _: torch.float32)


def answer(tokens: list[int], advantage: float, active: bool = True) -> GrpoAnswer:
    """With behaviour log-probabilities that are not the model's own, so that ratios are not 1."""
    noise = torch.Generator().manual_seed(sum(tokens))
    drawn = (-5.9 + 0.3 * torch.randn(len(tokens), generator=noise)).tolist()
    return GrpoAnswer(tuple(tokens), tuple(drawn), advantage, active)


GROUPS = [
    GrpoGroup((1, 2, 3, 4), (answer([5, 6, 7], 1.0), answer([8], -0.5), answer([9, 10], -0.5))),
    GrpoGroup((11, 12), (answer([13, 14, 15, 16, 17], -1.0), answer([18, 19], 1.0))),
]


def one_by_one(model: Model, item: GrpoAnswer, prompt: tuple[int, ...]) -> Tensor:
    """Log-probabilities of an answer in a row of its own."""
    ids = torch.tensor([[*prompt, *item.tokens]])
    logits = model(ids)[0, len(prompt) - 1 : -1]
    return logits.log_softmax(-1).gather(1, torch.tensor(item.tokens)[:, None])[:, 0]


def test_what_the_world_said_is_read_and_not_learned(tiny_model: Model) -> None:
    """The same as the plain loss over the own tokens alone, with all tokens before them."""
    own = (True, True, False, False, True)
    talk = GrpoAnswer((5, 6, 7, 8, 9), (-6.0, -5.8, -6.2), 1.0, own=own)
    other = answer([13, 14], -1.0)
    report = grpo_gradients(tiny_model, [GrpoGroup((1, 2), (talk, other))], GrpoSettings())
    packed = gradients(tiny_model)
    assert report.tokens == 5
    mask = torch.tensor(own)
    loss = torch.zeros(())
    for item, mine in ((talk, mask), (other, torch.tensor((True, True)))):
        now = one_by_one(tiny_model, item, (1, 2))[mine]
        was, gain = torch.tensor(item.logprobs), torch.full_like(now, item.advantage)
        loss = loss + clipped_surrogate(now, was, gain, 0.2, 0.28).sum()
    (loss / 5).backward()  # type: ignore[no-untyped-call]
    same(packed, gradients(tiny_model))
    ((read, _),) = log_probabilities(tiny_model, [GrpoGroup((1, 2), (talk, other))], GrpoSettings())
    now = one_by_one(tiny_model, talk, (1, 2)).detach()[mask]
    torch.testing.assert_close(read, now, atol=1e-5, rtol=1e-5)


def test_the_last_block_computes_what_predicts_the_answers_alone(tiny_model: Model) -> None:
    computed = positions_of(tiny_model)
    grpo_gradients(tiny_model, GROUPS, GrpoSettings())
    assert computed == [6, 6, 7, 7], "of each prompt its last position, once for each answer"


def plain_loss(model: Model, groups: list[GrpoGroup], settings: GrpoSettings) -> Tensor:
    total = torch.zeros(())
    for group in groups:
        for item in group.answers:
            if item.active:
                now = one_by_one(model, item, group.prompt)
                total = (
                    total
                    + clipped_surrogate(
                        now,
                        torch.tensor(item.logprobs),
                        torch.full_like(now, item.advantage),
                        settings.low,
                        settings.high,
                    ).sum()
                )
    return total / sum(group.tokens for group in groups)


def gradients(model: Model) -> list[Tensor]:
    found = [p.grad.clone() for p in model.parameters() if p.grad is not None]
    model.zero_grad(set_to_none=True)
    return found


def same(first: list[Tensor], second: list[Tensor]) -> None:
    assert len(first) == len(second) > 0
    for a, b in zip(first, second, strict=True):
        torch.testing.assert_close(a, b, atol=1e-6, rtol=1e-3)


def test_where_products_are_in_bfloat16_the_loss_is_nearly_the_same(
    tiny_model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    exact = grpo_gradients(tiny_model, GROUPS, GrpoSettings()).loss
    monkeypatch.setattr(precision, "fast_dtype", lambda _: torch.bfloat16)
    assert grpo_gradients(tiny_model, GROUPS, GrpoSettings()).loss == pytest.approx(exact, rel=0.01)


def test_packed_rows_give_the_plain_gradient(tiny_model: Model) -> None:
    settings = GrpoSettings()
    loss = plain_loss(tiny_model, GROUPS, settings)
    loss.backward()
    plain = gradients(tiny_model)
    report = grpo_gradients(tiny_model, GROUPS, settings)
    assert report.loss == pytest.approx(loss.item(), abs=1e-6)
    assert report.tokens == 13
    same(gradients(tiny_model), plain)


@pytest.mark.parametrize("micro", [1, 5])
def test_accumulation_does_not_change_the_result(
    tiny_model: Model, micro: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = grpo_gradients(tiny_model, GROUPS, GrpoSettings(), reference=None)
    expected = gradients(tiny_model)
    monkeypatch.setattr(learning.objectives.grpo, "CHUNK", 2)
    passes: list[None] = []
    settings = GrpoSettings(micro_tokens=micro)
    parts = grpo_gradients(tiny_model, GROUPS, settings, pause=lambda: passes.append(None))
    assert len(passes) > 2
    assert parts.loss == pytest.approx(whole.loss, abs=1e-6)
    assert parts.entropy == pytest.approx(whole.entropy, rel=1e-4)
    same(gradients(tiny_model), expected)


def test_what_is_inactive_gives_nothing_and_does_not_count(tiny_model: Model) -> None:
    cut = GrpoGroup((1, 2), (answer([3, 4], 1.0), answer([5, 6, 7, 8], -1.0, active=False)))
    grpo_gradients(tiny_model, [cut], GrpoSettings())
    found = gradients(tiny_model)
    alone = GrpoGroup((1, 2), (answer([3, 4], 1.0),))
    report = grpo_gradients(tiny_model, [alone], GrpoSettings())
    assert report.tokens == 2
    same(found, gradients(tiny_model))


TALK = answer(list(range(20, 39)), 0.0)


@pytest.mark.parametrize("normalise", [by_constant, by_answer])
def test_what_else_is_in_the_batch_does_not_change_a_tasks_gradient(
    tiny_model: Model, normalise: Normaliser
) -> None:
    """Only its share of the answers does: five of eight. A conversation may be 40 tokens long, an answer
    8, and the answers that are mixed in have no gradient of their own."""
    settings = GrpoSettings(normalise=normalise)
    plain = [replace(group, longest=8) for group in GROUPS]
    talk = GrpoGroup((1, 2), (TALK, TALK, TALK), longest=40)
    grpo_gradients(tiny_model, plain, settings)
    alone = [5 / 8 * part for part in gradients(tiny_model)]
    grpo_gradients(tiny_model, [*plain, talk], settings)
    same(gradients(tiny_model), alone)


def test_a_constant_normaliser_divides_by_the_tasks_own_longest(tiny_model: Model) -> None:
    """By hand: the answers of a task of 8 tokens weigh five times as much as the same ones of 40."""
    settings = GrpoSettings(normalise=by_constant)

    def loss(longest: int | None) -> float:
        groups = [replace(group, longest=longest) for group in GROUPS]
        return grpo_gradients(tiny_model, groups, settings).loss

    assert loss(8) == pytest.approx(5 * loss(40), rel=1e-5)
    assert loss(None) == pytest.approx(loss(5), rel=1e-5), "that of the longest answer"


def test_a_dead_group_costs_nothing(tiny_model: Model) -> None:
    dead = GrpoGroup((1, 2), (answer([3], 0.0), answer([4], 0.0)))
    passes: list[None] = []
    report = grpo_gradients(tiny_model, [dead], GrpoSettings(), pause=lambda: passes.append(None))
    assert passes == [] and report.loss == 0.0
    assert all(p.grad is None for p in tiny_model.parameters())


@pytest.mark.parametrize("divergence", [k2, k3])
def test_the_divergence_pulls_back_to_the_reference(
    tiny_model: Model, divergence: learning.objectives.grpo.Divergence
) -> None:
    import copy

    reference = copy.deepcopy(tiny_model).requires_grad_(False)
    with torch.no_grad():
        tiny_model.blocks[1].ffn.down.weight.mul_(1.5)
    settings = GrpoSettings(kl_weight=0.3, divergence=divergence)
    groups = [
        GrpoGroup(g.prompt, tuple(answer(list(a.tokens), 0.0) for a in g.answers)) for g in GROUPS
    ]
    total = torch.zeros(())
    for group in groups:
        for item in group.answers:
            now = one_by_one(tiny_model, item, group.prompt)
            total = total + divergence(now, one_by_one(reference, item, group.prompt)).sum()
    (0.3 * total / 13).backward()
    plain = gradients(tiny_model)
    report = grpo_gradients(tiny_model, groups, settings, reference=reference)
    assert report.kl == pytest.approx(total.item() / 13, rel=1e-3)
    same(gradients(tiny_model), plain)


def test_log_probabilities_are_those_of_generation(tiny_model: Model) -> None:
    prompts = [[1, 2, 3], [4, 5]]
    generator = torch.Generator().manual_seed(0)
    options = {
        "ends": range(376, 10_000),
        "max_tokens": 9,
        "temperature": 0.8,
        "generator": generator,
    }
    drawn = Rollout(tiny_model, prompts, 3, **options).answers()  # type: ignore[arg-type]
    groups = [
        GrpoGroup(tuple(prompt), tuple(GrpoAnswer(a.tokens, a.logprobs, 1.0) for a in answers))
        for prompt, answers in zip(prompts, drawn, strict=True)
    ]
    settings = GrpoSettings(temperature=0.8, micro_tokens=16)
    for group, values in zip(groups, log_probabilities(tiny_model, groups, settings), strict=True):
        for item, value in zip(group.answers, values, strict=True):
            torch.testing.assert_close(value, torch.tensor(item.logprobs), atol=2e-4, rtol=1e-4)
    report = grpo_gradients(tiny_model, groups, settings)
    assert report.ratio == pytest.approx(1.0, abs=1e-3)
    assert report.clipped == 0.0


def test_ids_that_are_never_drawn_are_left_out_of_the_ratio_too(tiny_model: Model) -> None:
    """Else the ratio before the first update would be below 1: the share of the ids that may be drawn."""
    prompts, never, vocabulary = [[1, 2, 3], [4, 5]], tuple(range(40, 350)), range(400)
    drawn = Rollout(
        tiny_model,
        prompts,
        8,
        ends=range(376, 10_000),
        never=never,
        max_tokens=9,
        temperature=0.8,
        generator=torch.Generator().manual_seed(0),
    ).answers()
    said = {token for answers in drawn for a in answers for token in a.tokens}
    assert said and said.isdisjoint(never) and said <= set(vocabulary)
    groups = [
        GrpoGroup(tuple(prompt), tuple(GrpoAnswer(a.tokens, a.logprobs, 1.0) for a in answers))
        for prompt, answers in zip(prompts, drawn, strict=True)
    ]
    settings = GrpoSettings(temperature=0.8)
    report = grpo_gradients(tiny_model, groups, settings, never=never)
    assert report.ratio == pytest.approx(1.0, abs=1e-3)
    assert report.clipped == 0.0
    assert 0.0 < report.entropy < math.log(tiny_model.config.vocab_size - len(never))
    assert all(
        bool(torch.isfinite(p.grad).all()) for p in tiny_model.parameters() if p.grad is not None
    )
    assert grpo_gradients(tiny_model, groups, settings).ratio < 0.5
    for group, values in zip(
        groups, log_probabilities(tiny_model, groups, settings, never=never), strict=True
    ):
        for item, value in zip(group.answers, values, strict=True):
            torch.testing.assert_close(value, torch.tensor(item.logprobs), atol=2e-4, rtol=1e-4)


def test_how_tokens_weigh_is_a_function(tiny_model: Model) -> None:
    def plain(weight: Callable[[int], float]) -> float:
        total = 0.0
        for group in GROUPS:
            for item in group.answers:
                now = one_by_one(tiny_model, item, group.prompt)
                was, advantages = torch.tensor(item.logprobs), torch.full_like(now, item.advantage)
                loss = clipped_surrogate(now, was, advantages, 0.2, 0.28)
                total += weight(len(item.tokens)) * float(loss.detach().sum())
        return total

    found = grpo_gradients(tiny_model, GROUPS, GrpoSettings(normalise=by_answer)).loss
    assert found == pytest.approx(plain(lambda size: 1 / (5 * size)), abs=1e-6)
    groups = [replace(group, longest=20) for group in GROUPS]
    found = grpo_gradients(tiny_model, groups, GrpoSettings(normalise=by_constant)).loss
    assert found == pytest.approx(plain(lambda size: 1 / (5 * 20)), abs=1e-6)


def test_the_ratio_of_an_answer_does_not_depend_on_how_rows_are_divided(
    tiny_model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = GrpoSettings(ratio=sequence_ratio, low=0.9, high=9.0, dual_clip=99.0)
    loss = torch.zeros(())
    for group in GROUPS:
        for item in group.answers:
            now = one_by_one(tiny_model, item, group.prompt)
            mean = (now - torch.tensor(item.logprobs)).mean()
            loss = loss - mean.exp() * item.advantage * len(item.tokens)
    (loss / 13).backward()
    plain = gradients(tiny_model)
    report = grpo_gradients(tiny_model, GROUPS, settings)
    assert report.loss == pytest.approx(float(loss) / 13, abs=1e-6)
    same(gradients(tiny_model), plain)
    monkeypatch.setattr(learning.objectives.grpo, "CHUNK", 2)
    grpo_gradients(tiny_model, GROUPS, settings)
    same(gradients(tiny_model), plain)
