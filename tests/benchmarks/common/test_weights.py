"""The hash that tells models of the same name apart."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from benchmarks import BenchOptions
from benchmarks.common.scratch import DEFAULT_MODEL
from benchmarks.common.weights import fingerprint, fingerprint_of
from engine.errors import NotFound
from engine.model import Model
from engine.storage.checkpoint import load_tensors, load_weights, save_model, save_tensors
from engine.storage.weight_files import current_files
from learning.home import Home
from learning.journal.journal import Journal
from learning.models.store import SHIPPED
from learning.models.weights import Weights


def test_the_same_weights_are_the_same_start_however_they_were_written(
    tmp_path: Path, tiny_model: Model
) -> None:
    save_model(tiny_model, tmp_path)
    tensors, _ = load_tensors(tmp_path / "model.safetensors")
    again, other = tmp_path / "again.safetensors", tmp_path / "other.safetensors"
    save_tensors(dict(reversed(tensors.items())), again, {"b": "2", "a": "1"})
    starts = [fingerprint(path) for path in (tmp_path / "model.safetensors", again)]
    assert starts[0] == starts[1]
    name = next(iter(tensors))
    save_tensors({**tensors, name: tensors[name] + 1}, other, {})
    assert fingerprint(other) != starts[0]
    assert fingerprint(again, [other]) != starts[0]


def test_a_benchmark_begins_with_the_model_of_the_home_or_with_a_shipped_one(
    tmp_path: Path, tiny_model: Model
) -> None:
    home = tmp_path / "home"
    folder = Home(home).models_path / "tiny"
    save_model(tiny_model, folder)
    tiny = fingerprint(folder / "model.safetensors")
    assert fingerprint_of(BenchOptions(home, model="tiny")) == tiny
    assert fingerprint_of(BenchOptions(tmp_path, model=str(folder))) == tiny
    shipped = fingerprint(SHIPPED / DEFAULT_MODEL / "model.safetensors")
    assert fingerprint_of(BenchOptions(home)) == shipped != tiny
    assert fingerprint_of(BenchOptions(home), f"{DEFAULT_MODEL}-base") not in (shipped, tiny)
    with pytest.raises(NotFound, match="'none' does not exist"):
        fingerprint_of(BenchOptions(home, model="none"))
    assert sorted(path.name for path in Home(home).models_path.iterdir()) == ["tiny"], "no copies"


def test_a_lesson_that_writes_a_delta_changes_the_hash_and_a_whole_copy_does_not(
    tmp_path: Path, tiny_model: Model
) -> None:
    home = Home(tmp_path)
    folder = home.models_path / "tiny"
    save_model(tiny_model, folder)
    options = BenchOptions(tmp_path, model="tiny")
    before, journal = fingerprint_of(options), Journal(home.journal_path)
    weights = Weights(folder, journal)
    name = "blocks.0.attention.qkv.weight"
    with torch.no_grad():
        weights.model.get_parameter(name).add_(0.01)
    weights.publish([], "a lesson", moved=[name])
    journal.close()
    files = current_files(folder)
    assert files.delta is not None
    after, whole = fingerprint_of(options), tmp_path / "whole.safetensors"
    save_tensors(load_weights(files), whole, {})
    assert after == fingerprint(whole) != before
