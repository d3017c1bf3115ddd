"""The reference of the anchor stays from lesson to lesson, and belongs to the weights below."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import Tensor

from engine.errors import CheckpointError
from engine.model import Model
from engine.storage.checkpoint import load_tensors, save_tensors
from learning.data.examples import Example
from learning.memory.prefix_cache import PrefixCache, UpperModel
from learning.memory.reference import (
    capture_reference,
    frozen_reference,
    open_reference,
    weights_mark,
)
from learning.models.files import REFERENCE
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
            if weight.dim() == 2:
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


def _write_earlier(model: Model, trunk: PrefixCache, folder: Path) -> None:
    """Writes a file as earlier versions did: without the names of rows, and without matrices."""
    targets = hashlib.blake2b(repr([e.target for e in TALK]).encode(), digest_size=16).hexdigest()
    mark = {"mark": f"{weights_mark(model, trunk, TALK)} {targets}"}
    save_tensors({"hidden": _of_each(model)}, folder / REFERENCE, mark)


def test_a_file_of_an_earlier_version_is_read(
    tiny_model: Model, trunk: PrefixCache, tmp_path: Path
) -> None:
    expected = _of_each(tiny_model)
    _write_earlier(tiny_model, trunk, tmp_path)
    _teach(tiny_model)
    reference = open_reference(tiny_model, trunk, TALK, tmp_path)
    torch.testing.assert_close(reference.at_targets(TALK), expected)
    assert reference.weights() is None, "there are none to draw new talk with"


def test_a_file_of_an_earlier_version_is_completed_where_nothing_was_taught_yet(
    tiny_model: Model, trunk: PrefixCache, tmp_path: Path
) -> None:
    _write_earlier(tiny_model, trunk, tmp_path)
    open_reference(tiny_model, trunk, TALK, tmp_path, 0)
    _teach(tiny_model)
    kept = open_reference(tiny_model, trunk, TALK, tmp_path, 5).weights()
    assert kept and kept.version == 0


def test_a_file_of_an_earlier_version_with_other_rows_is_made_anew(
    tiny_model: Model, trunk: PrefixCache, tmp_path: Path
) -> None:
    _write_earlier(tiny_model, trunk, tmp_path)
    _teach(tiny_model)
    reference = open_reference(tiny_model, trunk, TALK[:3], tmp_path)
    assert anchor_gradients(UpperModel(tiny_model, trunk), reference, TALK[:3]) < 1e-6
    assert reference.weights()


def test_new_rows_are_captured_from_the_model_as_it_was(
    tiny_model: Model, trunk: PrefixCache, tmp_path: Path
) -> None:
    """After lessons and a restart too; rows that are dropped are gone."""
    expected = capture_reference(tiny_model, trunk, TALK).at_targets(TALK)
    open_reference(tiny_model, trunk, TALK[:4], tmp_path)
    _teach(tiny_model)
    reference = open_reference(tiny_model, trunk, TALK[:4], tmp_path)
    reference.follow(TALK[2:], reference.weights())
    dropped = sum(e.targets for e in TALK[:2])
    close = {"atol": 1e-5, "rtol": 1e-5}
    torch.testing.assert_close(reference.at_targets(TALK[2:]), expected[dropped:], **close)
    with pytest.raises(KeyError):
        reference.at_targets(TALK[:1])
    restarted = open_reference(tiny_model, trunk, TALK[1:], tmp_path)
    rest = expected[TALK[0].targets :]
    torch.testing.assert_close(restarted.at_targets(TALK[1:]), rest, **close)


def test_the_file_is_written_again_when_it_lacks_more_than_half_of_the_rows(
    tiny_model: Model, trunk: PrefixCache, tmp_path: Path
) -> None:
    reference = open_reference(tiny_model, trunk, TALK[:4], tmp_path)
    first = load_tensors(tmp_path / REFERENCE)[1]
    reference.follow(TALK[2:6], reference.weights())
    assert load_tensors(tmp_path / REFERENCE)[1] == first
    reference.follow(TALK[3:], reference.weights())
    tensors, record = load_tensors(tmp_path / REFERENCE)
    assert record != first and len(tensors["hidden"]) == sum(e.targets for e in TALK[3:])
    kept = reference.weights()
    assert kept and tensors.keys() > kept.matrices.keys(), "the matrices stay"


def _without_one(matrices: dict[str, Tensor]) -> None:
    matrices.popitem()


def _under_another_name(matrices: dict[str, Tensor]) -> None:
    matrices["blocks.9.ffn.up.weight"] = matrices.popitem()[1]


def _of_another_shape(matrices: dict[str, Tensor]) -> None:
    name, matrix = matrices.popitem()
    matrices[name] = matrix[:3]


def _with_nan(matrices: dict[str, Tensor]) -> None:
    next(iter(matrices.values()))[0, 0] = float("nan")


def _whole_numbers(matrices: dict[str, Tensor]) -> None:
    name, matrix = matrices.popitem()
    matrices[name] = matrix.int()


@pytest.mark.parametrize(
    "damage", [_without_one, _under_another_name, _of_another_shape, _with_nan, _whole_numbers]
)
def test_damaged_matrices_count_as_none(
    tiny_model: Model,
    trunk: PrefixCache,
    tmp_path: Path,
    damage: Callable[[dict[str, Tensor]], None],
) -> None:
    first = open_reference(tiny_model, trunk, TALK, tmp_path)
    tensors, record = load_tensors(tmp_path / REFERENCE)
    hidden = tensors.pop("hidden")
    damage(tensors)
    save_tensors(tensors | {"hidden": hidden}, tmp_path / REFERENCE, record)
    _teach(tiny_model)
    reference = open_reference(tiny_model, trunk, TALK, tmp_path)
    assert reference.weights() is None
    torch.testing.assert_close(reference.at_targets(TALK), first.at_targets(TALK))
    more = Example((1, 5, 9, 9), (False, False, True, True))
    lacking = open_reference(tiny_model, trunk, [*TALK, more], tmp_path)
    assert lacking.has(TALK[0]) and not lacking.has(more), "it is not captured from other weights"
    torch.testing.assert_close(lacking.at_targets(TALK), first.at_targets(TALK))


def test_a_row_whose_states_are_not_finite_is_captured_again(
    tiny_model: Model, trunk: PrefixCache, tmp_path: Path
) -> None:
    first = open_reference(tiny_model, trunk, TALK, tmp_path)
    tensors, record = load_tensors(tmp_path / REFERENCE)
    tensors["hidden"][0, 0] = float("nan")
    save_tensors(tensors, tmp_path / REFERENCE, record)
    _teach(tiny_model)
    again = open_reference(tiny_model, trunk, TALK, tmp_path)
    close = {"atol": 1e-5, "rtol": 1e-5}
    torch.testing.assert_close(again.at_targets(TALK), first.at_targets(TALK), **close)


def test_with_a_full_disk_the_reference_is_still_followed(
    tiny_model: Model, trunk: PrefixCache, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise CheckpointError("no room", "make room")

    with monkeypatch.context() as patch:
        patch.setattr("learning.memory.reference_file.save_tensors", full)
        reference = open_reference(tiny_model, trunk, TALK[:2], tmp_path)
        before = reference.weights()
        reference.follow(TALK[:3], before)
    assert not (tmp_path / REFERENCE).exists()
    _teach(tiny_model)
    assert before and reference.weights() is before
    assert reference.follow(TALK, before), "there is room again"
    kept = reference.weights()
    assert kept is not before and kept
    assert all(torch.equal(x, before.matrices[name]) for name, x in kept.matrices.items())


@pytest.mark.parametrize(
    "rows", ["", "{}", "[[1, 2]]", '[["a", -1]]', '[["a", "b"]]', "[1]", '[["a", 1]]']
)
def test_a_file_with_damaged_names_of_rows_is_made_anew(
    tiny_model: Model, trunk: PrefixCache, tmp_path: Path, rows: str
) -> None:
    open_reference(tiny_model, trunk, TALK, tmp_path)
    tensors, record = load_tensors(tmp_path / REFERENCE)
    _teach(tiny_model)
    save_tensors(tensors, tmp_path / REFERENCE, {**record, "rows": rows})
    reference = open_reference(tiny_model, trunk, TALK, tmp_path)
    assert anchor_gradients(UpperModel(tiny_model, trunk), reference, TALK) > 1e-4, (
        "the matrices are whole, so it is captured from the model as it was"
    )


@pytest.mark.parametrize("rows", [0, 3, 100])
def test_a_file_of_another_size_is_made_anew(
    tiny_model: Model, trunk: PrefixCache, tmp_path: Path, rows: int
) -> None:
    expected, path = open_reference(tiny_model, trunk, TALK, tmp_path), tmp_path / REFERENCE
    record = load_tensors(path)[1]
    for shape in ((rows, tiny_model.config.dim), (rows,), (len(_of_each(tiny_model)), 1 + rows)):
        save_tensors({"hidden": torch.ones(shape)}, path, record)
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
