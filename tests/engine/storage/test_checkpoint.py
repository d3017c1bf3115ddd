"""engine.storage.checkpoint: saved models load unchanged; damaged or foreign files are refused."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from engine.config import CONFIGS
from engine.errors import CheckpointError, ConfigError
from engine.model import Model
from engine.storage.checkpoint import (
    from_huggingface,
    load_config,
    load_model,
    load_tensors,
    save_config,
    save_model,
    save_tensors,
    to_huggingface,
)
from engine.storage.checkpoint_files import WEIGHTS, read_metadata

IDS = torch.tensor([[1, 2, 3, 4, 5]])


def test_float32_round_trip_is_exact(tiny_model: Model, tmp_path: Path) -> None:
    save_model(tiny_model, tmp_path, dtype=torch.float32, metadata={"step": "7"})
    loaded = load_model(tmp_path)
    assert loaded.config == tiny_model.config
    assert torch.equal(loaded(IDS), tiny_model(IDS))
    assert all(p.requires_grad for p in loaded.parameters())
    assert read_metadata(tmp_path / WEIGHTS)["step"] == "7"


def test_bfloat16_is_the_default_and_stable(tiny_model: Model, tmp_path: Path) -> None:
    save_model(tiny_model, tmp_path / "a")
    once = load_model(tmp_path / "a")
    save_model(once, tmp_path / "b")
    assert load_tensors(tmp_path / "a" / WEIGHTS)[0]["model.norm.weight"].dtype == torch.bfloat16
    assert torch.equal(once(IDS), load_model(tmp_path / "b")(IDS))


def test_names_are_a_bijection(tiny_model: Model) -> None:
    state = tiny_model.state_dict()
    back = from_huggingface(to_huggingface(state, tiny_model.config), tiny_model.config)
    assert back.keys() == state.keys()
    assert all(torch.equal(back[k], state[k]) for k in state)


def test_snapshot_of_the_same_shape(tiny_model: Model, tmp_path: Path) -> None:
    save_model(tiny_model, tmp_path)
    state = {k: torch.zeros_like(v) for k, v in tiny_model.state_dict().items()}
    save_tensors(to_huggingface(state, tiny_model.config), tmp_path / "old.safetensors")
    loaded = load_model(tmp_path, weights=tmp_path / "old.safetensors")
    assert not loaded.embedding.weight.any()


@pytest.mark.parametrize("size", [0, 4, 100, 5000, -1])
def test_truncated_file_is_refused(tiny_model: Model, tmp_path: Path, size: int) -> None:
    save_model(tiny_model, tmp_path)
    file = tmp_path / WEIGHTS
    file.write_bytes(file.read_bytes()[:size])
    with pytest.raises(CheckpointError, match="no whole safetensors"):
        load_model(tmp_path)


@pytest.mark.parametrize("name", ["pytorch_model.bin", WEIGHTS])
def test_pickle_is_refused_and_not_run(tiny_model: Model, tmp_path: Path, name: str) -> None:
    trace = tmp_path / "was_run"

    class Evil:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return Path.touch, (trace,)  # type: ignore[return-value]

    save_config(tiny_model.config, tmp_path)
    (tmp_path / name).write_bytes(pickle.dumps(Evil()))
    with pytest.raises(CheckpointError):
        load_model(tmp_path)
    assert not trace.exists()


@pytest.mark.parametrize("other", [CONFIGS["tiny"], CONFIGS["10m"]])
def test_config_that_does_not_fit_is_refused(
    tiny_model: Model, tmp_path: Path, other: object
) -> None:
    save_model(tiny_model, tmp_path)
    assert other != tiny_model.config
    save_config(other, tmp_path)  # type: ignore[arg-type]
    with pytest.raises(CheckpointError, match="does not fit"):
        load_model(tmp_path)


def test_missing_tensor_is_named(tiny_model: Model, tmp_path: Path) -> None:
    save_model(tiny_model, tmp_path)
    tensors, _ = load_tensors(tmp_path / WEIGHTS)
    del tensors["model.norm.weight"]
    save_file(tensors, tmp_path / WEIGHTS)
    with pytest.raises(CheckpointError, match=r"model\.norm\.weight"):
        load_model(tmp_path)


def test_untied_output_layer_is_refused(tiny_model: Model, tmp_path: Path) -> None:
    save_model(tiny_model, tmp_path)
    tensors, _ = load_tensors(tmp_path / WEIGHTS)
    embedding = tensors["model.embed_tokens.weight"]
    save_file(tensors | {"lm_head.weight": embedding.clone()}, tmp_path / WEIGHTS)
    load_model(tmp_path)  # a copy of the embedding is as good as none
    save_file(tensors | {"lm_head.weight": embedding + 1}, tmp_path / WEIGHTS)
    with pytest.raises(CheckpointError, match="output layer of its own"):
        load_model(tmp_path)


def test_not_finite_is_refused(tiny_model: Model, tmp_path: Path) -> None:
    with torch.no_grad():
        tiny_model.norm.weight[3] = torch.nan
    save_model(tiny_model, tmp_path)
    with pytest.raises(CheckpointError, match="not finite"):
        load_model(tmp_path)


def test_failed_write_leaves_the_old_file(
    tiny_model: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_model(tiny_model, tmp_path)
    before = (tmp_path / WEIGHTS).read_bytes()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(CheckpointError, match="the disk is full"):
        save_tensors({"x": torch.ones(3)}, tmp_path / WEIGHTS)
    assert (tmp_path / WEIGHTS).read_bytes() == before
    assert sorted(p.name for p in tmp_path.iterdir()) == ["config.json", WEIGHTS]


@pytest.mark.parametrize("text", ["", "[]", "{", '"llama"', "\x00"])
def test_broken_config_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "config.json").write_text(text)
    with pytest.raises((CheckpointError, ConfigError)):
        load_config(tmp_path)


def test_empty_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=r"config\.json"):
        load_model(tmp_path)


@pytest.mark.slow
def test_loading_does_not_bring_torchs_compiler(tmp_path: Path, tiny_model: Model) -> None:
    save_model(tiny_model, tmp_path)
    code = (
        "import sys, pathlib; from engine.storage.checkpoint import load_model; "
        f"load_model(pathlib.Path({str(tmp_path)!r})); print('torch._dynamo' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.stdout.strip() == "False", done.stderr
