"""What a publication writes: the tensors that moved, against a whole file, and now and then a whole one."""

from __future__ import annotations

import gc
import os
import shutil
import weakref
from pathlib import Path

import pytest
import torch
from torch import Tensor

import learning.models.snapshots
import learning.models.weights
from engine.errors import CheckpointError, JournalError
from engine.products import shortened
from engine.storage.checkpoint import (
    huggingface_names,
    load_model,
    load_tensors,
    load_weights,
    save_tensors,
)
from engine.storage.checkpoint_files import WEIGHTS
from engine.storage.weight_files import INDEX, current_files, files_at, part_path, parts_of
from learning.checkup import check_model
from learning.lessons.learner import Learner
from learning.models.home_files import home_files, problems
from learning.models.import_export import export_model, import_model
from learning.models.store import ModelStore
from learning.models.trainable import all_weights
from learning.models.weights import DELTAS, Weights
from tests.learning.conftest import Place
from tests.learning.lessons.test_learner import lesson, open_learner, place  # noqa: F401
from tests.learning.lessons.test_undo import MOVES, versions

OTHER = "blocks.0.attention.qkv.weight"


def publish(weights: Weights, *names: str, note: str = "a lesson") -> dict[str, Tensor]:
    """Moves these and publishes them; the masters as they are then."""
    with torch.no_grad():
        for name in names:
            weights.model.get_parameter(name).add_(0.01)
    weights.publish([], note, moved=names)
    return weights.state()


def same(folder: Path, state: dict[str, Tensor], path: Path | None = None) -> bool:
    now = load_model(folder, weights=path).state_dict()
    return now.keys() == state.keys() and all(torch.equal(now[k], state[k]) for k in state)


def names_in(path: Path) -> set[str]:
    return set(load_tensors(path)[0])


def test_a_lesson_writes_and_casts_only_what_it_moves(place: Place) -> None:  # noqa: F811
    home, folder, journal = place
    weights = Weights(folder, journal)
    answers, whole = weights.published.model, (folder / WEIGHTS).stat()
    state = publish(weights, MOVES)
    files = current_files(folder)
    assert (files.version, files.whole, files.delta) == (
        1,
        part_path(folder, 0),
        part_path(folder, 1),
    )
    assert names_in(files.newest) == set(huggingface_names(MOVES))
    assert files.whole.stat().st_ino == whole.st_ino, "the base was not written again"
    assert not (folder / WEIGHTS).exists() and (folder / INDEX).exists()
    assert same(folder, state) and versions(folder) == [0]
    now = dict(weights.published.model.named_parameters())
    for name, before in answers.named_parameters():
        assert (now[name] is before) == (name != MOVES)
    cast = now[MOVES]
    assert torch.equal(cast, state[MOVES].to(cast.dtype)) and not cast.requires_grad
    assert cast.data_ptr() != weights.model.get_parameter(MOVES).data_ptr()
    assert problems(home) == [] and list(check_model(folder)) == []
    assert {file.role for file in home_files(home) if file.folder} >= {"weights", "snapshot"}
    assert ModelStore(home).info("tiny").bytes == files.bytes


@pytest.mark.slow
def test_what_the_learner_teaches_moves_the_matrices_of_the_upper_blocks(
    place: Place,  # noqa: F811
) -> None:
    _, folder, journal = place
    learner = open_learner(place)
    (taught,) = journal.add_lessons([lesson("hello", "Hi.")])
    assert learner.learn(taught).steps
    moved = set(learner.transaction.trainable.names)
    assert moved and all(name.startswith("blocks.1.") and "norm" not in name for name in moved)
    expected = {theirs for name in moved for theirs in huggingface_names(name)}
    assert names_in(current_files(folder).newest) == expected
    assert same(folder, learner.weights.state())


def test_a_delta_has_all_that_moved_since_its_base_whoever_wrote_it(
    place: Place,  # noqa: F811
) -> None:
    _, folder, journal = place
    publish(Weights(folder, journal), MOVES)
    weights = Weights(folder, journal)  # the program starts again
    state = publish(weights, OTHER)
    files = current_files(folder)
    assert files.whole == part_path(folder, 0) and same(folder, state)
    assert names_in(files.newest) == {*huggingface_names(MOVES), *huggingface_names(OTHER)}


def test_what_was_known_already_moves_nothing(place: Place) -> None:  # noqa: F811
    _, folder, journal = place
    weights = Weights(folder, journal)
    answers = weights.published.model
    state = publish(weights)
    assert weights.published.model is answers and weights.published.version == 1
    assert names_in(current_files(folder).newest) == set() and same(folder, state)


@pytest.mark.parametrize("why", ["too many deltas", "most of it moved"])
def test_a_whole_file_is_written_where_deltas_would_cost_more(
    place: Place,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
    why: str,
) -> None:
    home, folder, journal = place
    weights = Weights(folder, journal)
    every = [name for name, _ in weights.model.named_parameters()]
    if why == "too many deltas":
        assert DELTAS >= 16
        monkeypatch.setattr(learning.models.weights, "DELTAS", 2)
    states = [weights.state(), publish(weights, MOVES), publish(weights, OTHER)]
    states.append(publish(weights, *([MOVES] if why == "too many deltas" else every)))
    assert current_files(folder).delta is None and not (folder / INDEX).exists()
    assert parts_of(folder) == [part_path(folder, 0)], "of the snapshots 1 and 2"
    states.append(publish(weights, MOVES))
    assert current_files(folder).whole == part_path(folder, 3)
    assert parts_of(folder) == [part_path(folder, version) for version in (0, 3, 4)]
    assert same(folder, states[4])
    for version in range(4):
        path = folder / "snapshots" / f"{version:08d}.safetensors"
        assert same(folder, states[version], path), version
    store = ModelStore(home)
    for version in (1, 3, 2, 0, 2, 4, 1):
        store.rollback("tiny", version, journal)
        assert current_files(folder).version == version and same(folder, states[version])
        assert (folder / WEIGHTS).exists() != (folder / INDEX).exists()
        assert problems(home) == []
    assert publish(Weights(folder, journal), OTHER) and same(
        folder, Weights(folder, journal).state()
    )


def test_bases_go_with_the_snapshots_that_needed_them(
    place: Place,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _, folder, journal = place
    monkeypatch.setattr(learning.models.weights, "DELTAS", 2)
    weights = Weights(folder, journal)
    for _ in range(12):
        publish(weights, MOVES)
    bases = {path for path in parts_of(folder) if files_at(folder, path).delta is None}
    shots = [files_at(folder, path) for path in (folder / "snapshots").iterdir()]
    needed = {files.whole for files in shots if files.delta}
    assert bases == needed | {path for path in current_files(folder).paths if path in bases}
    assert len(shots) == 5 and len(parts_of(folder)) <= 4


@pytest.mark.parametrize("whole", [True, False])
def test_after_a_publication_that_failed_a_whole_file_is_written(
    place: Place,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
    whole: bool,
) -> None:
    """The file may be there and the masters without it: they are no delta of anything."""

    def full(_: int) -> None:
        raise JournalError("the disk is full", "free some space")

    _, folder, journal = place
    weights = Weights(folder, journal)
    before = publish(weights, OTHER)
    with monkeypatch.context() as patch:
        patch.setattr(journal, "mark_saved", full)
        with pytest.raises(JournalError):
            if whole:
                with torch.no_grad():
                    weights.model.norm.weight.mul_(2.0)
                weights.publish([], "a training")
            else:
                publish(weights, MOVES)
    all_weights(weights.model).restore(before)
    state = publish(weights, OTHER)
    assert current_files(folder).delta is None and same(folder, state)


def test_a_file_that_took_the_bases_place_by_hand_stays(place: Place) -> None:  # noqa: F811
    _, folder, journal = place
    publish(Weights(folder, journal), MOVES)
    shot = folder / "snapshots" / "00000001.safetensors"
    publish(Weights(folder, journal), MOVES)
    state = load_model(folder, weights=shot).state_dict()
    tensors, _ = load_tensors(part_path(folder, 0))
    tensors["model.norm.weight"] = tensors["model.norm.weight"] * 2
    save_tensors(tensors, folder / WEIGHTS)  # version 0 too, with other numbers
    weights = Weights(folder, journal)
    assert weights.version == 0
    new = publish(weights, MOVES)
    assert current_files(folder).delta is None, "the base of that name belongs to others"
    assert same(folder, new) and same(folder, state, shot)


@pytest.mark.parametrize("gone", [True, False])
def test_a_base_that_was_replaced_meanwhile_is_none(place: Place, gone: bool) -> None:  # noqa: F811
    _, folder, journal = place
    weights = Weights(folder, journal)
    publish(weights, MOVES)
    base = part_path(folder, 0)
    tensors, record = load_tensors(base)
    base.unlink()
    if not gone:
        save_tensors({k: v * 2 for k, v in tensors.items()}, base, record)
    state = publish(weights, MOVES)
    assert current_files(folder).delta is None and same(folder, state)


def test_undo_down_to_what_came_with_the_program(
    place: Place,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    _, folder, journal = place
    shipped = shutil.copytree(folder, tmp_path / "shipped" / "tiny")
    monkeypatch.setattr(learning.models.snapshots, "SHIPPED", shipped.parent)
    weights = Weights(folder, journal)
    before = weights.state()
    publish(weights, MOVES)
    for snapshot in (folder / "snapshots").iterdir():
        snapshot.unlink()
    weights.go_back(0, shipped / WEIGHTS, "without lesson 1")
    assert same(folder, before) and weights.version == 2
    assert names_in(current_files(folder).newest) == set(), "its base is the same file"
    assert (shipped / WEIGHTS).stat().st_nlink == 1, "what came with the program is never linked"
    answers = weights.published.model.get_parameter(MOVES)
    assert torch.equal(answers, before[MOVES].to(answers.dtype))


def test_a_taught_model_is_exported_and_imported_whole(place: Place, tmp_path: Path) -> None:  # noqa: F811
    home, folder, journal = place
    base = load_tensors(folder / WEIGHTS)[0]
    save_tensors(
        {k: v.bfloat16() for k, v in base.items()}, folder / WEIGHTS
    )  # as shipped ones are
    state = publish(Weights(folder, journal), MOVES)
    out = export_model(ModelStore(home), "tiny", tmp_path / "out")
    assert sorted(path.suffix for path in out.glob("*safetensors*")) == [".safetensors"]
    assert {t.dtype for t in load_tensors(out / WEIGHTS)[0].values()} == {torch.float32}
    assert same(out, state)
    for source, name in ((out, "one"), (folder, "two")):
        info = import_model(ModelStore(home), source, name)
        assert same(info.path, state) and info.version == 0


def test_a_damaged_base_is_named_with_what_to_do(place: Place) -> None:  # noqa: F811
    home, folder, journal = place
    publish(Weights(folder, journal), MOVES)
    publish(Weights(folder, journal), MOVES)
    base = part_path(folder, 0)
    data = bytearray(base.read_bytes())
    data[-5] ^= 1
    os.unlink(base)
    base.write_bytes(data)
    found = [str(fault) for fault in check_model(folder)]
    assert any(
        "00000002.safetensors: was made from a model-00000000.safetensors with other" in f
        for f in found
    )
    assert any("vidya model rollback 0" in fault for fault in found), "that snapshot is whole"
    store = ModelStore(home)
    with pytest.raises(
        CheckpointError, match="was made from a model-00000000.safetensors with other contents"
    ):
        store.rollback("tiny", 1, journal)
    store.rollback("tiny", 0, journal)
    assert load_weights(current_files(folder))


def test_the_learner_starts_from_a_delta(place: Place) -> None:  # noqa: F811
    home, folder, journal = place
    state = publish(Weights(folder, journal), MOVES)
    learner = Learner(home, folder, journal, seed=0)
    assert learner.version == 1
    now = learner.weights.state()
    assert all(torch.equal(now[name], state[name]) for name in state)


def test_weights_that_rest_are_read_again_to_the_bit(place: Place) -> None:  # noqa: F811
    _, folder, journal = place
    weights = Weights(folder, journal)
    state, model, answers = publish(weights, MOVES), weights.model, weights.published.model
    weights.rest()
    weights.rest()
    assert sum(p.nbytes for p in model.parameters()) == 0
    assert all(p.numel() for p in answers.parameters()), "answers need no masters"
    assert weights.model is model, "what holds the model need not be told"
    assert all(torch.equal(state[k], v) for k, v in weights.state().items())
    weights.rest()
    state = publish(weights, MOVES)
    assert same(folder, state)


def test_of_weights_that_rest_no_cast_is_kept(place: Place) -> None:  # noqa: F811
    _, folder, journal = place
    weights = Weights(folder, journal)
    weights.model.requires_grad_(False)
    with torch.autocast("cpu", torch.bfloat16):
        cast = weakref.ref(shortened(weights.model.vocabulary))
    gc.collect()
    assert cast() is not None
    weights.rest()
    gc.collect()
    assert cast() is None


def test_weights_that_the_file_lacks_do_not_rest(
    place: Place,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _, folder, journal = place
    weights = Weights(folder, journal)
    publish(weights, MOVES)
    with monkeypatch.context() as broken, pytest.raises(CheckpointError):
        broken.setattr("learning.models.weights.save_tensors", _disk_is_full)
        publish(weights, MOVES)
    weights.rest()
    assert all(p.numel() for p in weights.model.parameters())


def _disk_is_full(*_: object) -> None:
    raise CheckpointError("no space left", "make room")


def test_weights_that_another_program_replaced_while_they_rested_are_told(
    place: Place,  # noqa: F811
) -> None:
    _, folder, journal = place
    weights = Weights(folder, journal)
    publish(weights, MOVES)
    weights.rest()
    publish(Weights(folder, journal), MOVES)
    with pytest.raises(CheckpointError, match="replaced"):
        _ = weights.model
    shutil.rmtree(folder)
    with pytest.raises(CheckpointError):
        _ = weights.model
    assert all(p.numel() for p in weights.published.model.parameters())


@pytest.mark.parametrize("trouble", ["none", "damaged", "journal"])
def test_weights_that_rest_go_back(
    place: Place,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
    trouble: str,
) -> None:
    _, folder, journal = place
    weights = Weights(folder, journal)
    before = publish(weights, MOVES)
    after = publish(weights, MOVES, OTHER)
    (old,) = (one for one in learning.models.snapshots.snapshots_of(folder) if one.version == 1)
    weights.rest()
    if trouble == "damaged":
        current_files(folder).newest.write_bytes(b"")
    if trouble == "journal":
        with monkeypatch.context() as broken, pytest.raises(JournalError):
            broken.setattr(type(journal), "mark_saved", _journal_is_full)
            weights.go_back(1, old.path, "without lesson 2")
        assert all(torch.equal(after[k], v) for k, v in weights.state().items())
        return
    weights.go_back(1, old.path, "without lesson 2")
    assert weights.version == 3 and same(folder, before)


def _journal_is_full(*_: object) -> None:
    raise JournalError("the journal is full", "make room")
