"""`vidya train`, with a tiny model that is really trained."""

from __future__ import annotations

import json
import re

import pytest

from tests.vidya_tui.shell import Shell


@pytest.mark.slow
def test_train_reports_epochs_and_the_end(shell: Shell) -> None:
    *epochs, done = shell.rows("train", "--epochs", "2", "--batch-size", "1")
    assert [row["epoch"] for row in epochs] == [1, 2]
    assert set(epochs[0]) == {"epoch", "steps", "examples", "loss", "recall", "seconds"}
    assert epochs[0]["steps"] == 2, "two lines, one a step"
    assert done["event"] == "done" and done["epochs"] == 2 and done["entries"] == 2
    again = shell.rows("train", "--epochs", "1")
    assert again[0]["steps"] == 1, "both lines in one step"


@pytest.mark.slow
def test_train_lora_writes_an_adapter_and_export_writes_what_was_taught(shell: Shell) -> None:
    folder, out = shell.home.path / "adapter", shell.home.path / "out"
    options = ("--lora", "--rank", "4", "--blocks", "1", "--adapter", str(folder))
    *_, done = shell.rows("train", *options, "--epochs", "2")
    assert done["event"] == "done" and done["epochs"] == 2
    assert {file.name for file in folder.iterdir()} == {
        "adapter_config.json",
        "adapter_model.safetensors",
    }
    config = json.loads((folder / "adapter_config.json").read_text())
    assert config["r"] == 4 and config["layers_to_transform"] == [1]
    (made,) = shell.rows("model", "export", "tiny", str(out), "--adapter", "--rank", "4")
    assert made["rank"] == 4 and 0.0 <= made["error"] < 0.01
    assert (out / "adapter_model.safetensors").exists()
    assert "not empty" in shell.fails("train", *options)
    assert "same as" in shell.fails(
        "model", "export", "tiny", str(out / "x"), "--adapter", "--base", "tiny"
    )
    shell.run("train", "--rank", "4", status=2)


@pytest.mark.slow
def test_a_book_is_trained_beside_the_models_own_talk(shell: Shell) -> None:
    own = shell.file("own.txt", "<|user|> why is ice cold <|assistant|> It is frozen.\n")
    *_, done = shell.rows("train", "--own-talk", str(own), "--epochs", "1")
    assert done["event"] == "done" and done["epochs"] == 1
    bad = shell.file("bad.txt", "nonsense\n")
    assert f"{bad}:1:" in shell.fails("train", "--own-talk", str(bad))


@pytest.mark.slow
def test_training_a_book_says_how_much_of_it_is_known(shell: Shell) -> None:
    book = shell.file("b.txt", "<|user|> one <|assistant|> two\n<|user|> six <|assistant|> ten\n")
    result = shell.run("train", str(book), "--epochs", "2")
    said = [line for line in result.stderr.splitlines() if line.startswith("epoch")]
    assert len(said) == 2 and "asking every line first" in result.stderr
    for line in said:
        assert re.search(r"your book: [012] of 2 known, [0-9.]+% of all else, loss", line)
    assert re.match(r"[012] of 2 known, recall [0-9.]+% -> ", result.stdout)
    ours = shell.run("train", "--epochs", "1").stderr
    assert re.search(r"epoch 1: lines: [012] of 2 known, loss", ours)


@pytest.mark.slow
def test_bad_lines_of_a_book_stop_or_are_skipped(shell: Shell) -> None:
    book = shell.file("b.txt", "<|user|> one <|assistant|> two\nnonsense\n")
    assert f"{book}:2:" in shell.fails("train", str(book))
    result = shell.run("train", str(book), "--skip-bad", "--epochs", "1", "--json")
    assert '"entries": 1' in result.stdout and f"{book}:2:" in result.stderr
    assert f"add them to your book: {shell.home.book_path}" in result.stderr
    bad = shell.file("bad.txt", "nonsense\n")
    assert f"{bad}: no line of it is right" in shell.fails("train", str(bad), "--skip-bad")
    shell.home.book_path.write_text("<|user|> one <|assistant|> two\nnonsense\n")
    assert "book.txt:2:" in shell.fails("train")
    assert shell.rows("train", "--skip-bad", "--epochs", "1")[-1]["entries"] == 3
    shell.home.book_path.write_text("<|user|> one <|assistant|> two\n")
    for own in ([], [str(shell.home.book_path)]):
        assert "put them" not in shell.run("train", *own, "--epochs", "1").stderr
