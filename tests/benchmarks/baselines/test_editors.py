"""benchmarks.baselines.editors: each against a case worked out by hand, then on a tiny model."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch import Tensor

from benchmarks.baselines import mlp_memory
from benchmarks.baselines.alpha_edit import null_projection, projected_squares
from benchmarks.baselines.editors import EDITORS
from benchmarks.baselines.memit import edited_blocks, least_squares, state_at
from benchmarks.baselines.mlp_memory import (
    down,
    edited_block,
    first_wrong,
    in_pieces,
    inputs_of,
    keys_of,
    places,
    second_moments,
    wanted,
)
from benchmarks.baselines.random_step import RandomStep
from benchmarks.baselines.rome import Rome, rank_one
from engine.model import Model
from engine.tokenizers.tokenizer import Tokenizer
from learning.data.examples import Example, asked, collate, from_answer
from learning.lessons.recipe import TeachSettings
from learning.memory.tasks import LessonTask
from learning.models.trainable import upper_matrices
from learning.objectives.forward import knowledge

KEPT = (
    ("hello", "Hello, I am well."),
    ("What is your name?", "My name is Vidya."),
    ("Where do you live?", "In this terminal."),
)


@pytest.fixture
def kept(tiny_tokenizer: Tokenizer) -> list[Example]:
    return [from_answer(tiny_tokenizer, [("user", q)], a, 128) for q, a in KEPT]


@pytest.fixture
def fact(tiny_tokenizer: Tokenizer) -> Example:
    return from_answer(tiny_tokenizer, [("user", "What is my cat called?")], "Mo.", 128)


# ---------------------------------------------------------------- by hand


def test_rome_gives_the_key_its_value_and_leaves_what_lies_across() -> None:
    weight = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    key, value, direction = (torch.tensor(x) for x in ([1.0, 1.0], [5.0, 9.0], [1.0, 0.0]))
    change = rank_one(weight, key, value, direction)
    # W k = (3, 7), so 2 and 2 are lacking, and uᵀ k = 1
    assert torch.equal(change, torch.tensor([[2.0, 0.0], [2.0, 0.0]]))
    assert torch.equal((weight + change) @ key, value)
    across = torch.tensor([0.0, 1.0])
    assert torch.equal((weight + change) @ across, weight @ across)


def test_memit_halves_what_a_key_lacks_where_as_much_is_to_be_kept() -> None:
    key, lacking = torch.tensor([[1.0], [0.0]]), torch.tensor([[6.0]])
    # (C + k kᵀ)⁻¹ k = (1 / (1 + 1), 0)
    assert torch.allclose(least_squares(lacking, key, torch.eye(2)), torch.tensor([[3.0, 0.0]]))
    free = least_squares(lacking, key, 1e-6 * torch.eye(2))
    assert torch.allclose(free @ key, lacking, atol=1e-4), "nothing to keep: the whole edit"


def test_memit_reaches_two_keys_at_once() -> None:
    keys, lacking = torch.tensor([[1.0, 1.0], [0.0, 1.0]]), torch.tensor([[2.0, 5.0]])
    change = least_squares(lacking, keys, 1e-6 * torch.eye(2))
    assert torch.allclose(change, torch.tensor([[2.0, 3.0]]), atol=1e-3)


def test_alphaedit_leaves_kept_keys_exactly() -> None:
    used = torch.diag(torch.tensor([4.0, 0.0, 1.0]))  # keys lie along the first and third axis
    projection = null_projection(used, 0.0)
    assert torch.equal(projection, torch.diag(torch.tensor([0.0, 1.0, 0.0])))
    key, lacking = torch.tensor([[3.0], [2.0], [1.0]]), torch.tensor([[10.0], [20.0]])
    change = projected_squares(lacking, key, projection, torch.zeros(3, 3), 1e-4)
    for axis in (0, 2):
        assert torch.equal(change[:, axis], torch.zeros(2))
    # along the second axis only: Δ k = R (2 · 2) / (2 · 2 + α)
    assert torch.allclose(change @ key, lacking, rtol=1e-4)


def test_alphaedit_keeps_the_values_of_earlier_edits() -> None:
    everything = torch.eye(3)
    first, second = torch.tensor([[1.0], [0.0], [0.0]]), torch.tensor([[1.0], [1.0], [0.0]])
    lacking = torch.tensor([[8.0]])
    earlier = 1e4 * first @ first.T
    change = projected_squares(lacking, second, everything, earlier, 1e-3)
    assert abs(float(change @ first)) < 0.01
    assert float(change @ second) == pytest.approx(8.0, rel=0.01)


def test_unused_directions_hold_a_share_of_the_keys() -> None:
    moment = torch.diag(torch.tensor([90.0, 9.0, 1.0]))
    assert null_projection(moment, 0.005).trace() == 0.0
    assert null_projection(moment, 0.01).diagonal().tolist() == pytest.approx([0.0, 0.0, 1.0])
    assert null_projection(moment, 0.1).diagonal().tolist() == pytest.approx([0.0, 1.0, 1.0])


# ---------------------------------------------------------------- on a model


def test_the_place_of_a_fact_is_the_token_before_its_answer(
    tiny_model: Model, fact: Example
) -> None:
    (place,) = places([fact]).tolist()
    assert not fact.target[place] and fact.target[place + 1]
    block = edited_block(tiny_model)
    with inputs_of(down(tiny_model, block)) as seen, torch.no_grad():
        tiny_model.hidden_states(torch.tensor([fact.ids[: place + 1]]))
    assert torch.allclose(keys_of(tiny_model, block, [fact])[0], seen[0][0, -1], atol=1e-6)


def test_the_moment_is_that_of_all_tokens_but_the_padding(
    tiny_model: Model, kept: list[Example]
) -> None:
    block = edited_block(tiny_model)
    keys: list[Tensor] = []
    for example in kept:
        with inputs_of(down(tiny_model, block)) as seen, torch.no_grad():
            tiny_model.hidden_states(collate([example]).ids)
        keys += list(seen[0][0])
    expected = torch.stack([torch.outer(k, k) for k in keys]).mean(0)
    found = second_moments(tiny_model, [block], kept)[block]
    assert torch.allclose(found, expected, atol=0.05 * float(expected.abs().max()))


@pytest.mark.slow
def test_with_the_change_the_answer_is_likelier(
    tiny_model: Model, kept: list[Example], fact: Example
) -> None:
    block = edited_block(tiny_model)
    before = [p.clone() for p in tiny_model.parameters()]
    piece = first_wrong(tiny_model, fact)
    assert piece is not None
    (was,) = knowledge(tiny_model, [piece])
    found = wanted(tiny_model, block, piece, kept)
    assert found.loss < was.nll - 1.0, "an untrained model cannot be much surer"
    assert all(map(torch.equal, tiny_model.parameters(), before)), "no weight moves"


def test_an_answer_is_cut_where_the_model_goes_wrong(tiny_model: Model, fact: Example) -> None:
    question = asked(fact)
    with torch.no_grad():
        said = tiny_model(torch.tensor([question]))[0, -1].argmax()
    right = replace(
        fact,
        ids=(*question, int(said), *fact.answer[1:]),
        target=(False,) * len(question) + (True,) * len(fact.answer),
    )
    whole, cut = (first_wrong(tiny_model, example) for example in (fact, right))
    assert whole is not None and cut is not None
    assert whole.ids == fact.ids[: len(question) + 1] and whole.targets == 1
    assert len(cut.ids) > len(whole.ids), "what it says right is left as it is"
    known = replace(right, ids=right.ids[: len(question) + 1], target=whole.target)
    assert first_wrong(tiny_model, known) is None
    assert in_pieces(tiny_model, known, lambda _: 1.0) == 0.0, "nothing to edit"
    assert in_pieces(tiny_model, fact, lambda piece: float(len(piece.ids))) == len(whole.ids)


@pytest.mark.slow
def test_rome_puts_the_wanted_state_at_the_place(
    tiny_model: Model, kept: list[Example], fact: Example, monkeypatch: pytest.MonkeyPatch
) -> None:
    block = edited_block(tiny_model)
    piece = first_wrong(tiny_model, fact)
    assert piece is not None
    found = wanted(tiny_model, block, piece, kept)
    monkeypatch.setattr(mlp_memory, "EDITS", 1)
    Rome(tiny_model, kept).learn(LessonTask(fact))
    state = state_at(tiny_model, block, piece)
    assert torch.allclose(state, found.state + found.change, atol=1e-4)


@pytest.mark.slow
def test_each_changes_only_what_it_says(
    tiny_model: Model, kept: list[Example], fact: Example
) -> None:
    one = [f"blocks.{edited_block(tiny_model)}.ffn.down.weight"]
    several = [f"blocks.{block}.ffn.down.weight" for block in edited_blocks(tiny_model)]
    assert len(several) >= 2 and several[-1] == one[0]
    linear = [n for n, p in tiny_model.named_parameters() if p.dim() == 2 and "blocks" in n]
    may = {"ft-m": one, "rome": one, "memit": several, "alphaedit": several, "lora": linear}
    assert set(may) == set(EDITORS)
    for name, editor in EDITORS.items():
        model = Model(tiny_model.config)
        model.load_state_dict(tiny_model.state_dict())
        method = editor.make(model, kept)
        assert method.learn(LessonTask(None, (fact,))) == 0.0, "nothing to teach"
        (before,) = knowledge(model, [fact])
        method.learn(LessonTask(fact))
        pairs = zip(model.named_parameters(), tiny_model.parameters(), strict=True)
        moved = [n for (n, now), was in pairs if not torch.equal(now, was)]
        assert moved == may[name], name
        (after,) = knowledge(model, [fact])
        assert after.nll < before.nll, name
        assert len(editor.what) <= 60 and all(p.requires_grad for p in model.parameters())


def test_a_random_step_has_the_length_and_the_tensors_of_a_lesson(
    tiny_model: Model, fact: Example
) -> None:
    before = {name: p.clone() for name, p in tiny_model.named_parameters()}
    RandomStep(tiny_model, 0.5).learn(LessonTask(fact))
    moved = {n: p - before[n] for n, p in tiny_model.named_parameters() if (p != before[n]).any()}
    frozen = TeachSettings().trunk_layers(tiny_model.config)
    assert tuple(moved) == upper_matrices(tiny_model, frozen).names
    length = torch.stack([change.detach().norm() for change in moved.values()]).norm()
    assert float(length) == pytest.approx(0.5, rel=1e-4)
