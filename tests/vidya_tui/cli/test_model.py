"""`vidya model`."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.errors import VidyaError
from engine.storage.checkpoint import load_tensors, save_tensors
from learning.evaluate import BookSample
from learning.models.get import GotModel
from learning.models.store import ModelInfo, ModelStore
from learning.models.transfer import Progress
from learning.pretraining.checkpoint import run_folder
from tests.vidya_tui.shell import Shell
from vidya_tui.worker.fetch import TOLD_EVERY


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


@pytest.mark.slow
def test_transformers_loads_what_is_exported_and_says_the_same(
    shell: Shell, tmp_path: Path
) -> None:
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    from engine.storage.checkpoint import load_model

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


def test_a_gguf_file_goes_out_and_in(shell: Shell, tmp_path: Path) -> None:
    out = tmp_path / "tiny-again.gguf"
    assert shell.rows("model", "export", "tiny", str(out), "--kind", "f32")[0]["folder"] == str(out)
    assert "there already" in shell.fails("model", "export", "tiny", str(out))
    assert shell.rows("model", "import", str(out))[0]["name"] == "tiny-again"
    before = shell.rows("ask", "hello", "-n", "1", "--temperature", "0")
    after = shell.rows("ask", "hello", "-n", "1", "--temperature", "0", "--model", "tiny-again")
    assert before[-2]["text"] == after[-2]["text"]
    out.write_bytes(out.read_bytes()[:-99])
    assert "no whole GGUF file" in shell.fails("model", "import", str(out), "--name", "third")


@pytest.mark.slow
def test_what_the_network_does_not_bring(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    from learning.models import hub

    monkeypatch.setattr(hub, "ENDPOINT", "http://127.0.0.1:9")
    assert "cannot be reached" in shell.fails("model", "get", "qwen3-0.6b")
    assert "cannot be reached" in shell.fails("model", "import", "owner/model")
    assert "choose one of: smollm2-135m" in shell.fails("model", "get", "gpt-5")
    assert sorted(p.name for p in shell.home.models_path.iterdir()) == ["tiny"]


def prepared(*_: object, progress: Callable[[float], None], **__: object) -> None:
    time.sleep(TOLD_EVERY)
    progress(0.5)


def test_a_model_that_cannot_be_asked_is_there_all_the_same(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    got = GotModel(ModelStore(shell.home).info("tiny"), "package", "")
    monkeypatch.setattr("learning.models.get.get_model", lambda *_, **__: got)

    def unreadable(_: object) -> BookSample:
        raise VidyaError("book.txt: cannot be read", "mend it")

    monkeypatch.setattr("learning.evaluate.ask_book", unreadable)
    monkeypatch.setattr("learning.lessons.prepare.prepare_model", lambda *_, **__: None)
    done = shell.run("model", "get", "smollm2-135m")
    assert done.exit_code == 0 and "is in the home" in done.stdout
    assert "could not be asked its book: book.txt: cannot be read" in done.stderr


def test_get_prints_progress_and_then_the_model(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    info = ModelStore(shell.home).info("tiny")
    asked = list[object]()

    def got(*_: object, progress: Progress, source: object, **__: object) -> GotModel:
        asked.append(source)
        for done in range(0, 100_001, 10):  # ten thousand reports in less than a second
            progress(done, 100_000)
        return GotModel(info, "hub", "")

    monkeypatch.setattr("learning.models.get.get_model", got)
    monkeypatch.setattr("learning.evaluate.ask_book", lambda _: BookSample(3, 20))
    monkeypatch.setattr("learning.lessons.prepare.prepare_model", prepared)
    *progress, model = shell.rows("model", "get", "smollm2-135m", "--from", "hub")
    assert asked == ["hub"]
    assert all(row["event"] == "progress" and row["total"] == 100_000 for row in progress)
    assert progress[0]["bytes"] == 0 and progress[-2]["bytes"] == progress[-1]["bytes"] == 100_000
    assert [row["prepared"] for row in progress[-2:]] == [0.0, 0.5]
    assert 3 <= len(progress) < 20, "a few a second"
    assert model["name"] == "tiny" and model["source"] == "hub"
    assert model["book"] == {"known": 3, "asked": 20}
    in_words = shell.run("model", "get", "smollm2-135m")
    assert asked[1] is None and "is in the home" in in_words.stdout
    assert "that tiny knows" not in in_words.stdout
    assert (
        "lines of Vidya's book that smollm2-135m knows: 3 of 20, which is too few"
        in in_words.stderr
    )


def test_import_from_the_hub_prints_progress(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    def got(*_: object, progress: Progress, **__: object) -> ModelInfo:
        progress(5, 10)
        return ModelStore(shell.home).info("tiny")

    monkeypatch.setattr("learning.models.get.import_from_hub", got)
    monkeypatch.setattr("learning.lessons.prepare.prepare_model", prepared)
    progress, later, model = shell.rows("model", "import", "owner/model")
    assert progress == {"event": "progress", "bytes": 5, "total": 10, "prepared": 0.0}
    assert later["prepared"] == 0.5
    assert model["name"] == "tiny"


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
    assert "tokenizer.json: cannot be read" in shell.fails("model", "import", str(foreign))
    (foreign / "tokenizer.json").rename(foreign / "tokenizer.model")
    assert "tokenizer.model, of another kind" in shell.fails("model", "import", str(foreign))
    assert sorted(p.name for p in shell.home.models_path.iterdir()) == ["tiny"], "no half model"


@pytest.mark.slow
def test_snapshots_and_rollback(shell: Shell) -> None:
    assert shell.rows("model", "snapshots") == []
    shell.rows("train", "--epochs", "1")
    (shot,) = shell.rows("model", "snapshots", "tiny")
    assert shot["version"] == 0 and set(shot) == {"version", "created", "note", "bytes"}
    assert shell.rows("model", "rollback", "0") == [{"version": 0}]
    assert "there are" in shell.fails("model", "rollback", "9")
    assert "back at version 0" in shell.run("model", "rollback", "0").stdout


def weights_of(folder: Path) -> bytes:
    return (folder / "model.safetensors").read_bytes()


@pytest.mark.slow
def test_stray_and_half_snapshots_stop_nobody(shell: Shell) -> None:
    folder = shell.home.models_path / "tiny"
    shell.rows("train", "--epochs", "1")
    shots = folder / "snapshots"
    shutil.copy(shots / "00000000.safetensors", shots / "mine.safetensors")
    (shots / "00000007.safetensors").touch()
    (shots / "00000008.safetensors").write_bytes(weights_of(folder)[:-1000])
    shutil.copy(shots / "00000000.safetensors", shots / "00000009.safetensors")
    assert [row["version"] for row in shell.rows("model", "snapshots")] == [0]
    said = shell.run("model", "snapshots").stderr
    for name, why in {
        "mine.safetensors": "by its name",
        "00000007.safetensors": "no whole safetensors file",
        "00000008.safetensors": "not as long as its header says",
        "00000009.safetensors": "its name says version 9, the file says 0",
    }.items():
        (line,) = (line for line in said.splitlines() if name in line)
        assert why in line
    file = shell.file("lessons.jsonl", '{"prompt": "a", "answer": "b"}')
    shell.rows("teach", "--file", str(file))
    file.unlink()
    assert shell.rows("model", "rollback", "0") == [{"version": 0}]


@pytest.mark.slow
@pytest.mark.parametrize("bad", ["half", "empty", "other shape", "not finite"])
def test_going_back_to_what_cannot_answer_is_refused_and_what_stands_is_kept(
    shell: Shell, bad: str
) -> None:
    folder = shell.home.models_path / "tiny"
    shell.rows("train", "--epochs", "1")
    before, snapshot = weights_of(folder), folder / "snapshots" / "00000000.safetensors"
    tensors, record = load_tensors(snapshot)
    if bad == "half":
        snapshot.write_bytes(before[: len(before) // 2])
    elif bad == "empty":
        snapshot.write_bytes(b"")
    elif bad == "other shape":
        save_tensors({k: v[:-1] for k, v in tensors.items()}, snapshot, record)
    else:
        tensors["model.norm.weight"][3] = float("nan")
        save_tensors(tensors, snapshot, record)
    message = shell.fails("model", "rollback", "0")
    assert str(snapshot) in message
    assert weights_of(folder) == before and shell.rows("ask", "hello", "-n", "1")


@pytest.mark.slow
def test_a_model_is_removed_with_its_snapshots(shell: Shell) -> None:
    shell.rows("train", "--epochs", "1")
    shutil.copytree(shell.home.models_path / "tiny", shell.home.models_path / "mine")
    assert "nothing was removed" in shell.fails("model", "remove", "mine", stdin="n\n")
    assert "mine is removed" in shell.run("model", "remove", "mine", "--yes").stdout
    assert [path.name for path in shell.home.models_path.iterdir()] == ["tiny"]
    assert "in use" in shell.fails("model", "remove", "tiny", "--yes")
    for name in ("mine", "../models/tiny", "..", "", "10m"):
        assert "the home has no model" in shell.fails("model", "remove", name, "--yes")
    (shell.home.models_path / "broken").mkdir()
    assert shell.rows("model", "remove", "broken", "--yes")[0]["removed"] == "broken"
    elsewhere = shell.home.path / "elsewhere"
    shutil.copytree(shell.home.models_path / "tiny", elsewhere)
    (shell.home.models_path / "linked").symlink_to(elsewhere)
    shell.rows("model", "remove", "linked", "--yes")
    assert (elsewhere / "config.json").exists(), "only the link goes"


def test_a_model_that_came_with_vidya_is_then_as_it_came(shell: Shell) -> None:
    shell.home.settings_path.write_text('model = "10m-base"\n')
    folder = shell.home.models_path / "10m-base"
    folder.mkdir()
    (folder / "model.safetensors").write_bytes(b"taught")
    row = shell.rows("model", "remove", "10m-base", "--yes")
    assert row == [{"removed": "10m-base", "comes_with_vidya": True}]
    assert not folder.exists() and shell.rows("model", "show")[0]["version"] == 0


def test_a_model_that_is_being_trained_is_not_removed(shell: Shell) -> None:
    folder = shell.home.models_path / "run"
    with run_folder(folder):
        assert "a training is writing there" in shell.fails("model", "remove", "run", "--yes")
    shell.rows("model", "remove", "run", "--yes")
    assert not folder.exists()
