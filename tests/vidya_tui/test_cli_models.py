"""`vidya model`."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.vidya_tui.shell import Shell


def test_use_is_remembered_by_every_command(shell: Shell) -> None:
    used = {row["name"]: row["used"] for row in shell.rows("model", "list")}
    assert used["tiny"] and not used["10m"]
    assert shell.rows("model", "use", "10m") == [{"model": "10m"}]
    assert 'model = "10m"' in shell.home.settings_path.read_text()
    assert "max_tokens = 8" in shell.home.settings_path.read_text(), "other settings stay"
    assert shell.rows("model", "show")[0]["name"] == "10m"
    assert "tiny is used from now on" in shell.run("model", "use", "tiny").stdout
    assert shell.rows("model", "show")[0]["name"] == "tiny"
    assert shell.rows("model", "show", "--model", "10m")[0]["name"] == "10m"
    assert "choose one of" in shell.fails("model", "use", "99m")


def test_a_folder_can_be_used(shell: Shell, tmp_path: Path) -> None:
    folder = shutil.copytree(shell.home.models_path / "tiny", tmp_path / "elsewhere")
    assert shell.rows("model", "use", str(folder)) == [{"model": str(folder)}]
    assert shell.rows("ask", "hello", "-n", "1")[-1]["event"] == "done"


def test_list_and_show_in_words(shell: Shell) -> None:
    lines = shell.run("model", "list").stdout.splitlines()
    assert any(line.startswith("* tiny") for line in lines)
    assert shell.run("model", "show", "tiny").stdout.startswith("tiny: ")


def test_a_model_that_cannot_be_read_is_in_nobodys_way(shell: Shell, tmp_path: Path) -> None:
    broken = shell.home.models_path / "broken"
    broken.mkdir()
    (broken / "model.safetensors").write_bytes(b"xx")
    result = shell.run("model", "list", status=1)
    assert "* tiny" in result.stdout and "10m" in result.stdout
    assert f"{broken}: cannot be read" in str(result.exception)
    assert shell.rows("model", "use", "10m") == [{"model": "10m"}]
    out = str(tmp_path / "out")
    shell.run("model", "export", "tiny", out)
    assert "already" in shell.fails("model", "import", out, "--name", "broken")
    assert shell.rows("model", "import", out, "--name", "third")[0]["name"] == "third"
    assert "cannot be read" in shell.fails("model", "show", "broken")


def test_import_and_export(shell: Shell, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert shell.rows("model", "export", "tiny", str(out))[0]["folder"] == str(out)
    assert json.loads((out / "config.json").read_text())["model_type"] == "llama"
    assert "is not empty" in shell.fails("model", "export", "tiny", str(out))
    assert shell.rows("model", "import", str(out))[0]["name"] == "out"
    assert "already" in shell.fails("model", "import", str(out))
    assert "already" in shell.fails("model", "import", str(out), "--name", "10m")
    assert "no name for a model" in shell.fails("model", "import", str(out), "--name", "../x")
    shell.run("model", "import", str(out), "--name", "second")
    assert shell.rows("ask", "hello", "-n", "1", "--model", "second")[-1]["event"] == "done"


def test_transformers_loads_what_is_exported_and_says_the_same(
    shell: Shell, tmp_path: Path
) -> None:
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    from engine.checkpoint import load_model

    shell.run("model", "export", "tiny", str(tmp_path / "out"))
    theirs = transformers.LlamaForCausalLM.from_pretrained(tmp_path / "out", dtype=torch.float32)
    ids = torch.randint(0, 384, (2, 30), generator=torch.Generator().manual_seed(3))
    with torch.no_grad():
        ours = load_model(shell.home.models_path / "tiny")(ids)
        torch.testing.assert_close(ours, theirs(ids).logits, atol=1e-4, rtol=1e-4)
    theirs.save_pretrained(tmp_path / "theirs", max_shard_size="100KB")
    assert len(list((tmp_path / "theirs").glob("*.safetensors"))) > 1
    assert "tokenizers can be used" in shell.fails("model", "import", str(tmp_path / "theirs"))
    for file in ("tokenizer.tiktoken", "tokenizer_config.json"):
        shutil.copy(tmp_path / "out" / file, tmp_path / "theirs" / file)
    shell.run("model", "import", str(tmp_path / "theirs"))
    with torch.no_grad():
        again = load_model(shell.home.models_path / "theirs")(ids)
    torch.testing.assert_close(ours, again)


def test_what_cannot_be_imported(shell: Shell, tmp_path: Path) -> None:
    assert "is no folder" in shell.fails("model", "import", str(tmp_path / "nothing"))
    tiny = shell.home.models_path / "tiny"
    pickled = shutil.copytree(tiny, tmp_path / "pickled")
    (pickled / "model.safetensors").rename(pickled / "pytorch_model.bin")
    assert "pickled" in shell.fails("model", "import", str(pickled))
    short = shutil.copytree(tiny, tmp_path / "short")
    (short / "model.safetensors").write_bytes((tiny / "model.safetensors").read_bytes()[:5000])
    assert "no whole safetensors file" in shell.fails("model", "import", str(short))
    foreign = shutil.copytree(tiny, tmp_path / "foreign")
    (foreign / "tokenizer.tiktoken").rename(foreign / "tokenizer.json")
    assert "tokenizer.json, another program's" in shell.fails("model", "import", str(foreign))
    assert sorted(p.name for p in shell.home.models_path.iterdir()) == ["tiny"], "no half model"


def test_snapshots_and_rollback(shell: Shell) -> None:
    assert shell.rows("model", "snapshots") == []
    shell.rows("train", "--epochs", "1")
    (shot,) = shell.rows("model", "snapshots", "tiny")
    assert shot["version"] == 0 and set(shot) == {"version", "created", "note", "bytes"}
    assert shell.rows("model", "rollback", "0") == [{"version": 0}]
    assert "there are" in shell.fails("model", "rollback", "9")
    assert "back at version 0" in shell.run("model", "rollback", "0").stdout
