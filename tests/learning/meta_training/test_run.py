"""learning.meta_training.run: a whole run, and what it refuses."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from engine.config import CONFIGS
from engine.errors import CheckpointError, ConfigError
from engine.model import Model
from engine.storage.checkpoint import load_model, save_model
from engine.tokenizers.load import load_tokenizer
from learning.meta_training import measure, plans
from learning.meta_training.__main__ import main
from learning.meta_training.factors import start_adapters
from learning.meta_training.kept_rows import KeptRows
from learning.meta_training.run import device_of, meta_train, read_base
from learning.meta_training.settings import MetaSettings
from learning.models.adapters import apply_adapter
from tests.made_tokenizers import trained, write

from .conftest import CPU, made_network

SMALL = MetaSettings(seconds=60.0, steps=2, workers=0, facts=1, lessons=1, small=True)


def test_a_run_ends_and_writes_an_adapter_that_loads(
    base: Path,
    tmp_path: Path,
    kept: KeptRows,
    all_kept: KeptRows,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = iter([kept, all_kept])
    monkeypatch.setattr(KeptRows, "of", lambda *_, **__: next(found))
    monkeypatch.setattr(measure, "GENERAL", 4)
    monkeypatch.setattr(measure, "GROUP", 1)
    monkeypatch.setattr(plans, "STEPS", {"few": 2, "tiny": 2})
    out, lines = tmp_path / "out", list[str]()
    meta_train(read_base(base, None), out, SMALL, CPU, lines.append)
    names = {path.name for path in out.iterdir()}
    assert names == {"adapter_config.json", "adapter_model.safetensors", "log.txt"}
    assert (out / "log.txt").read_text().splitlines() == lines
    assert sum("step " in line for line in lines) == 2
    assert any("at the start, seen kinds: taught" in line for line in lines)
    assert any("at the end, unseen kinds: taught" in line for line in lines)
    folder = shutil.copytree(base, tmp_path / "copy")
    apply_adapter(folder, out)
    merged, before = load_model(folder).state_dict(), load_model(base).state_dict()
    changed = {name for name, weight in merged.items() if not torch.equal(weight, before[name])}
    assert {name.split(".", 2)[2] for name in changed} == {
        "attention.qkv.weight",
        "attention.out.weight",
        "ffn.gate_up.weight",
        "ffn.down.weight",
    }


def test_what_is_written_merges_to_the_same_weights(base: Path, tmp_path: Path) -> None:
    network = made_network(load_model(base).requires_grad_(False), (1, 2))
    network.factors.round(torch.float16)
    network.merge()
    network.factors.save(tmp_path / "out", "owner/name")
    folder = shutil.copytree(base, tmp_path / "copy")
    apply_adapter(folder, tmp_path / "out")
    merged = load_model(folder)
    names = ("attention.qkv", "attention.out", "ffn.gate_up", "ffn.down")
    for place, name in enumerate(names):
        whole = torch.cat([network.under[place], network.upper[place]])
        for weight, block in zip(whole, merged.blocks, strict=True):
            expected = block.get_parameter(f"{name}.weight")
            torch.testing.assert_close(weight, expected, atol=1e-6, rtol=1e-5)
    again = read_base(base, tmp_path / "out")
    assert again.called == "owner/name" and again.own is None
    loaded = start_adapters(load_model(base), tmp_path / "out", 0).tensors()
    for name, tensor in network.factors.adapters.tensors().items():
        torch.testing.assert_close(loaded[name], tensor)


def test_a_folder_that_has_files_is_not_written_into(base: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(CheckpointError, match="is not empty"):
        meta_train(read_base(base, None), tmp_path, SMALL, CPU)


def test_a_base_that_cannot_be_used_is_named(base: Path, tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="is no folder") as error:
        read_base(tmp_path / "none", None)
    assert "vidya model import" in error.value.next_step
    with pytest.raises(CheckpointError, match="config.json"):
        read_base(tmp_path, None)
    shutil.copy(base / "config.json", tmp_path)
    with pytest.raises(CheckpointError):
        read_base(tmp_path, None)
    write(tmp_path, trained(markers=("<|endoftext|>",)), template=None)
    with pytest.raises(CheckpointError, match="chat"):
        read_base(tmp_path, None)
    short = tmp_path / "short"
    save_model(Model(replace(CONFIGS["tiny"], vocab_size=900)), short)
    load_tokenizer(base).save(short)
    with pytest.raises(ConfigError, match="context is 128"):
        read_base(short, None)


@pytest.mark.parametrize(
    "options",
    [
        ("--seconds", "0"),
        ("--lr", "nan"),
        ("--clip", "-1"),
        ("--steps", "-1"),
        ("--lessons-per-step", "0"),
        ("--workers", "-1"),
        ("--facts", "0"),
    ],
)
def test_numbers_out_of_range_are_refused(
    options: tuple[str, str], base: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--base", str(base), "--out", str(tmp_path / "out"), "--device", "cpu", *options]
    assert main(arguments) == 1
    said = capsys.readouterr().err
    assert "give a number" in said and said.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_the_command_line_names_what_is_wrong(
    base: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = ["--out", str(tmp_path / "out"), "--device", "cpu"]
    assert main(["--base", str(tmp_path / "none"), *out]) == 1
    assert "is no folder" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(out)
    with pytest.raises(SystemExit):
        main(["--base", str(base), *out, "--new", "--adapter", "x"])


def test_a_device_that_is_not_there_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(ConfigError, match="no GPU"):
        device_of("cuda")
    assert device_of("cpu") == CPU
