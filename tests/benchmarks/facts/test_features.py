"""benchmarks.facts.features: models that were measured before stay in the report."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks import BenchOptions
from benchmarks.facts import features
from engine.errors import DataError
from engine.model import Model
from engine.storage.checkpoint import save_model
from engine.tokenizers.tokenizer import Tokenizer


def test_a_damaged_file_is_named_before_anything_is_measured_and_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(features, "layer_features", None)
    file = tmp_path / "features.json"
    file.write_text('{"models": ')
    with pytest.raises(DataError, match="features.json: not the results of a benchmark"):
        features.run(BenchOptions(tmp_path, out=tmp_path))
    file.write_text(json.dumps({"benchmark": "features", "quick": False, "models": {}}))
    with pytest.raises(DataError, match="features.json: the results of a run without --quick;"):
        features.run(BenchOptions(tmp_path, out=tmp_path, quick=True))


def test_models_measured_earlier_stay_and_those_of_a_quick_run_do_not(
    tmp_path: Path, tiny_model: Model, tiny_tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    sets = features.data_sets(quick=True)
    monkeypatch.setattr(features, "data_sets", lambda quick: sets)
    for name in ("one", "two"):
        save_model(tiny_model, tmp_path / name)
        tiny_tokenizer.save(tmp_path / name)
    quick = BenchOptions(tmp_path, model=str(tmp_path / "two"), quick=True, out=tmp_path / "out")
    features.run(quick)
    full = replace(quick, model=str(tmp_path / "one"), quick=False)
    assert list(features.run(full)["models"]) == ["one"]
    models = features.run(replace(full, model=quick.model))["models"]
    assert list(models) == ["one", "two"]
    written = json.loads((tmp_path / "out" / "features.json").read_text("utf-8"))
    assert written["models"] == models
