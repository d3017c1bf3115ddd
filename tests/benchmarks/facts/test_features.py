"""benchmarks.facts.features: models that were measured before stay in the report."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks import BenchOptions
from benchmarks.facts import features
from engine.encoder import shipped_encoder
from engine.errors import DataError
from engine.model import Model
from engine.storage.checkpoint import save_model
from engine.tokenizers.tokenizer import Tokenizer


def test_a_damaged_file_is_named_before_anything_is_measured_and_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(features, "layer_features", None)
    file = tmp_path / "features.json"
    full = {"benchmark": "features", "quick": False}
    for content in ('{"models": ', *(json.dumps(full | {"models": one}) for one in ([], {"x": 1}))):
        file.write_text(content)
        with pytest.raises(DataError, match=r"features.json: not the results of a benchmark"):
            features.run(BenchOptions(tmp_path, out=tmp_path))
        assert file.read_text() == content
    file.write_text(content := json.dumps(full | {"models": {}}))
    with pytest.raises(DataError, match=r"features.json: the results of a run without --quick;"):
        features.run(BenchOptions(tmp_path, out=tmp_path, quick=True))
    assert file.read_text() == content


def test_models_measured_earlier_stay_and_those_of_a_quick_run_do_not(
    tmp_path: Path, tiny_model: Model, tiny_tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    title, asked = next(iter(features.data_sets(quick=True).items()))
    placed = features.by_encoder(shipped_encoder(), asked)
    monkeypatch.setattr(features, "data_sets", lambda quick: {title: asked})
    monkeypatch.setattr(
        features, "by_encoder", lambda *_: placed
    )  # the slowest part, each time the same
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
