"""A model's weights in one file, or in a base and a delta."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from torch import Tensor

import engine.storage.checkpoint
from engine.errors import CheckpointError
from engine.model import Model
from engine.storage.checkpoint import (
    huggingface_names,
    load_model,
    load_tensors,
    load_weights,
    save_model,
    save_tensors,
    to_huggingface,
)
from engine.storage.checkpoint_check import check_model
from engine.storage.checkpoint_files import WEIGHTS
from engine.storage.weight_files import (
    BASE,
    CHECKSUM,
    INDEX,
    WeightFiles,
    check_base,
    checksum,
    current_files,
    current_version,
    files_at,
    has_weights,
    part_path,
    parts_of,
    remove_unneeded,
    use_delta,
)

MOVED = ("blocks.1.attention.qkv.weight", "blocks.1.ffn.gate_up.weight")


def write_delta(folder: Path, model: Model, base: int, version: int, names=MOVED) -> WeightFiles:  # type: ignore[no-untyped-def]
    whole, path = part_path(folder, base), part_path(folder, version)
    tensors = to_huggingface({n: model.get_parameter(n).detach() for n in names}, model.config)
    record = {"version": str(version), BASE: str(base), CHECKSUM: checksum(whole)}
    save_tensors(tensors, path, record)
    return WeightFiles(version, whole, path)


@pytest.fixture
def folder(tiny_model: Model, tmp_path: Path) -> Path:
    """Version 7, of which version 3 is the base; `tiny_model` has its weights."""
    save_model(tiny_model, tmp_path, metadata={"version": "3"})
    (tmp_path / WEIGHTS).rename(part_path(tmp_path, 3))
    with torch.no_grad():
        for parameter in tiny_model.parameters():
            parameter.copy_(parameter.bfloat16())  # as the base has them
        for name in MOVED:
            tiny_model.get_parameter(name).mul_(1.5)
    use_delta(tmp_path, write_delta(tmp_path, tiny_model, 3, 7))
    return tmp_path


def same(model: Model, state: dict[str, Tensor]) -> bool:
    return all(torch.equal(state[name], tensor) for name, tensor in model.state_dict().items())


def test_a_delta_takes_the_place_of_what_moved_bit_for_bit(folder: Path, tiny_model: Model) -> None:
    files = current_files(folder)
    assert (files.version, current_version(folder), has_weights(folder)) == (7, 7, True)
    assert files == WeightFiles(7, part_path(folder, 3), part_path(folder, 7))
    assert files.bytes == sum(path.stat().st_size for path in parts_of(folder))
    assert load_tensors(files.newest)[0].keys() == {
        name for one in MOVED for name in huggingface_names(one)
    }
    assert same(tiny_model, load_model(folder).state_dict())
    assert same(tiny_model, load_model(folder, weights=files.newest).state_dict())
    check_model(folder, files.newest)


def test_transformers_loads_the_folder_and_gives_the_same_logits(
    folder: Path, tiny_model: Model
) -> None:
    transformers = pytest.importorskip("transformers")
    theirs = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    ids = torch.arange(12)[None] + 5
    with torch.no_grad():
        assert torch.allclose(theirs(ids).logits, tiny_model(ids), atol=1e-5)


def test_a_whole_file_beside_the_index_counts(folder: Path, tiny_model: Model) -> None:
    """As after a crash between writing it and removing the index; transformers reads it too."""
    save_model(tiny_model, folder, metadata={"version": "9"})
    assert current_files(folder) == WeightFiles(9, folder / WEIGHTS)
    remove_unneeded(folder, [])
    assert sorted(path.name for path in folder.iterdir()) == ["config.json", WEIGHTS]


def test_a_base_stays_as_long_as_a_snapshot_needs_it(folder: Path, tiny_model: Model) -> None:
    shot = folder / "00000007.safetensors"
    part_path(folder, 7).rename(shot)
    use_delta(folder, write_delta(folder, tiny_model, 3, 8))
    write_delta(folder, tiny_model, 3, 9)  # by a program that was killed before the index
    remove_unneeded(folder, [shot])
    assert parts_of(folder) == [part_path(folder, 3), part_path(folder, 8)]
    save_model(tiny_model, folder, metadata={"version": "10"})
    remove_unneeded(folder, [shot])
    assert parts_of(folder) == [part_path(folder, 3)] and not (folder / INDEX).exists()
    assert files_at(folder, shot) == WeightFiles(7, part_path(folder, 3), shot)
    remove_unneeded(folder, [])
    assert parts_of(folder) == []


def test_nothing_is_removed_where_it_cannot_be_told_what_is_needed(folder: Path) -> None:
    (folder / INDEX).write_text("{")
    remove_unneeded(folder, [])
    assert len(parts_of(folder)) == 2


def test_another_base_of_the_same_shape_is_refused(folder: Path, tiny_model: Model) -> None:
    base = part_path(folder, 3)
    tensors, record = load_tensors(base)
    tensors["model.norm.weight"][0] += 1
    save_tensors(tensors, base, record)
    for read in (load_model, lambda folder: check_model(folder, part_path(folder, 7))):
        with pytest.raises(
            CheckpointError,
            match="00000007.safetensors: was made from a model-00000003.safetensors with other contents",
        ):
            read(folder)


def drop_base(folder: Path) -> None:
    part_path(folder, 3).unlink()


def drop_delta(folder: Path) -> None:
    part_path(folder, 7).unlink()


def cut_base(folder: Path) -> None:
    path = part_path(folder, 3)
    path.write_bytes(path.read_bytes()[:-1])


def index_of(text: str):  # type: ignore[no-untyped-def]
    def write(folder: Path) -> None:
        (folder / INDEX).write_text(text)

    return write


FOREIGN = json.dumps({"metadata": {"version": "7"}, "weight_map": {"a": "../secret.safetensors"}})


@pytest.mark.parametrize(
    ("damage", "what"),
    [
        (drop_base, "cannot be read"),
        (cut_base, "cannot be read"),
        (drop_delta, "no whole safetensors"),
        (index_of("{}"), "does not say which file"),
        (index_of('{"metadata": {}, "weight_map": {"x": "a.safetensors"}}'), "does not say which"),
        (index_of('{"metadata": {"version": "4"}, "weight_map": {}}'), "no whole safetensors"),
        (index_of(FOREIGN), "names other files"),
    ],
)
def test_what_is_not_whole_is_refused(folder: Path, damage, what: str) -> None:  # type: ignore[no-untyped-def]
    damage(folder)
    for read in (current_files, load_model):
        with pytest.raises(CheckpointError, match=what):
            read(folder)


def test_a_delta_that_does_not_fit_is_refused(folder: Path, tiny_model: Model) -> None:
    files = current_files(folder)
    tensors, record = load_tensors(files.newest)
    name = huggingface_names(MOVED[0])[0]
    save_tensors({**tensors, name: tensors[name][:-1]}, files.newest, record)
    with pytest.raises(CheckpointError, match="does not fit its config.json"):
        load_model(folder)
    with pytest.raises(CheckpointError, match="has the shape"):
        check_model(folder, files.newest)


def test_a_delta_without_tensors_is_its_base(folder: Path, tiny_model: Model) -> None:
    use_delta(folder, write_delta(folder, tiny_model, 3, 8, names=()))
    assert current_version(folder) == 8
    whole = load_tensors(part_path(folder, 3))[0]
    now = load_weights(current_files(folder))
    assert now.keys() == whole.keys() and all(torch.equal(now[k], whole[k]) for k in whole)


def test_what_another_program_writes_just_now_stays(folder: Path, tiny_model: Model) -> None:
    write_delta(folder, tiny_model, 3, 8)
    remove_unneeded(folder, [], untouched=60.0)
    assert part_path(folder, 8).exists()
    save_model(tiny_model, folder, metadata={"version": "9"})
    remove_unneeded(folder, [], untouched=60.0)
    assert (folder / INDEX).exists(), "it may be about to remove the whole file"


def test_a_publication_while_a_model_is_read_is_read_instead(
    folder: Path, tiny_model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    def publish(files: WeightFiles) -> None:
        monkeypatch.undo()
        use_delta(folder, write_delta(folder, tiny_model, 3, 8))
        remove_unneeded(folder, [])
        check_base(files)

    monkeypatch.setattr(engine.storage.checkpoint, "check_base", publish)
    assert same(tiny_model, load_model(folder).state_dict()) and current_version(folder) == 8
