"""The reference of the anchor stays from lesson to lesson, and belongs to the weights below."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import Tensor

from engine.model import Model
from engine.storage.checkpoint import load_tensors, save_tensors
from learning.data.examples import Example
from learning.memory.prefix_cache import PrefixCache, UpperModel
from learning.memory.reference import (
    REFERENCE,
    capture_reference,
    frozen_reference,
    open_reference,
    weights_mark,
)
from learning.objectives.forward import target_logits
from learning.objectives.supervised import anchor_gradients

TALK = [Example((1, 5, 9, i), (False, False, True, True)) for i in range(2, 8)] + [
    Example((1, 7), (False, True))
]


@pytest.fixture
def trunk(tiny_model: Model) -> PrefixCache:
    return PrefixCache(tiny_model, 1)


def _teach(model: Model) -> None:
    """Moves what a lesson moves."""
    with torch.no_grad():
        for weight in model.blocks[-1].parameters():
            weight.add_(0.1)


def test_it_says_what_the_model_said(tiny_model: Model, trunk: PrefixCache) -> None:
    reference = capture_reference(tiny_model, trunk, TALK)
    ours, labels, _ = target_logits(reference, TALK)
    with torch.no_grad():
        theirs, same, _ = target_logits(tiny_model, TALK)
    torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=1e-5)
    assert torch.equal(labels, same)


def test_a_frozen_voice_stays_where_all_weights_move(tiny_model: Model) -> None:
    reference = frozen_reference(tiny_model)
    before, _, _ = target_logits(reference, TALK[:1])
    with torch.no_grad():
        theirs, _, _ = target_logits(tiny_model, TALK)
        for weight in tiny_model.parameters():
            weight.mul_(0.9)
    torch.testing.assert_close(before, theirs[: len(before)], atol=1e-5, rtol=1e-5)
    # the other rows are listened to only now
    torch.testing.assert_close(target_logits(reference, TALK)[0], theirs, atol=1e-5, rtol=1e-5)


def test_it_stays_through_lessons_and_restarts(
    tiny_model: Model, trunk: PrefixCache, tmp_path: Path
) -> None:
    before, _, _ = target_logits(open_reference(tiny_model, trunk, TALK, tmp_path), TALK)
    _teach(tiny_model)
    again, _, _ = target_logits(open_reference(tiny_model, trunk, TALK, tmp_path), TALK)
    torch.testing.assert_close(again, before)
    student = UpperModel(tiny_model, trunk)
    reference = open_reference(tiny_model, trunk, TALK, tmp_path)
    assert anchor_gradients(student, reference, TALK) > 1e-4, "it pulls back to where it was"


def test_it_is_taken_anew_where_the_weights_below_or_the_rows_are_others(
    tiny_model: Model, trunk: PrefixCache, tmp_path: Path
) -> None:
    open_reference(tiny_model, trunk, TALK, tmp_path)
    with torch.no_grad():
        for weight in tiny_model.parameters():
            weight.mul_(0.9)
    trunk = PrefixCache(tiny_model, 1)
    reference = open_reference(tiny_model, trunk, TALK, tmp_path)
    assert anchor_gradients(UpperModel(tiny_model, trunk), reference, TALK) < 1e-6
    fewer = open_reference(tiny_model, trunk, TALK[:2], tmp_path)
    assert len(fewer.at_targets(TALK[:2])) == sum(e.targets for e in TALK[:2])


def test_a_broken_file_costs_nothing(tiny_model: Model, trunk: PrefixCache, tmp_path: Path) -> None:
    (tmp_path / REFERENCE).write_bytes(b"half")
    reference = open_reference(tiny_model, trunk, TALK, tmp_path)
    assert anchor_gradients(UpperModel(tiny_model, trunk), reference, TALK) < 1e-6
    assert (tmp_path / REFERENCE).stat().st_size > 100


def test_of_a_large_model_it_is_kept_short_and_says_the_same(
    tiny_model: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("learning.memory.prefix_cache.LARGE", 0)
    monkeypatch.setattr("learning.memory.prefix_cache.fast_dtype", lambda _: torch.bfloat16)
    trunk = PrefixCache(tiny_model, 1)
    first = open_reference(tiny_model, trunk, TALK, tmp_path)
    kept = load_tensors(tmp_path / REFERENCE)[0]["hidden"]
    assert kept.dtype == torch.bfloat16, "in the file"
    read = open_reference(tiny_model, trunk, TALK, tmp_path)
    states = first.at_targets(TALK)
    assert states.dtype == torch.float32
    torch.testing.assert_close(read.at_targets(TALK), states, rtol=0.0, atol=0.0)
    torch.testing.assert_close(states, _of_each(tiny_model), rtol=0.02, atol=0.02)


def test_a_file_of_an_earlier_version_is_read(
    tiny_model: Model, trunk: PrefixCache, tmp_path: Path
) -> None:
    """Such files have the states of all positions, not of the targets alone."""
    expected = _of_each(tiny_model)
    mark = {"mark": weights_mark(tiny_model, trunk, TALK)}
    save_tensors({"hidden": _of_each(tiny_model, everywhere=True)}, tmp_path / REFERENCE, mark)
    _teach(tiny_model)
    reference = open_reference(tiny_model, trunk, TALK, tmp_path)
    torch.testing.assert_close(reference.at_targets(TALK), expected)


@pytest.mark.parametrize("rows", [0, 3, 100])
def test_a_file_of_another_size_is_made_anew(
    tiny_model: Model, trunk: PrefixCache, tmp_path: Path, rows: int
) -> None:
    expected, path = open_reference(tiny_model, trunk, TALK, tmp_path), tmp_path / REFERENCE
    record = load_tensors(path)[1]
    for shape in ((rows, tiny_model.config.dim), (rows,), (len(_of_each(tiny_model)), 1 + rows)):
        save_tensors({"hidden": torch.ones(shape)}, path, {"mark": record["mark"]})
        found = open_reference(tiny_model, trunk, TALK, tmp_path)
        torch.testing.assert_close(found.at_targets(TALK), expected.at_targets(TALK))


def test_other_targets_of_the_same_rows_make_it_anew(
    tiny_model: Model, trunk: PrefixCache, tmp_path: Path
) -> None:
    open_reference(tiny_model, trunk, TALK, tmp_path)
    others = [replace(e, target=(False, True, True, False)) for e in TALK[:6]] + TALK[6:]
    assert sum(e.targets for e in others) == sum(e.targets for e in TALK)
    reference = open_reference(tiny_model, trunk, others, tmp_path)
    assert anchor_gradients(UpperModel(tiny_model, trunk), reference, others) < 1e-6


@torch.no_grad()
def _of_each(model: Model, *, everywhere: bool = False) -> Tensor:
    """Final hidden states of TALK, each row passed alone, at its targets or at all positions."""
    found = []
    for example in TALK:
        states = model.hidden_states(torch.tensor([example.ids[:-1]]))[0]
        found.append(states if everywhere else states[list(example.target[1:])])
    return torch.cat(found)
