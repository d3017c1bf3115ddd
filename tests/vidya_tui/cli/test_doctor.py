"""`vidya doctor`: what it prints; the damages themselves are in tests/learning/test_checkup.py."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.vidya_tui.shell import Shell


@pytest.mark.slow
def test_doctor_names_each_broken_model_and_lists_the_others(shell: Shell) -> None:
    for name in ("broken", "cracked"):
        (shell.home.models_path / name).mkdir()
        (shell.home.models_path / name / "model.safetensors").write_bytes(b"xx")
    report = json.loads(shell.run("doctor", "--json", status=1).stdout)
    assert set(report["models"]) == {"tiny", "10m", "10m-base"}
    assert len(report["problems"]) == 2
    assert all(map(str.__contains__, report["problems"], ("broken", "cracked")))
    shell.home.settings_path.write_text('model = "broken"\n')
    report = json.loads(shell.run("doctor", "--json", status=1).stdout)
    assert len(report["problems"]) == 2, "the chosen one is told once"


@pytest.mark.slow
def test_doctor_names_what_keeps_the_book_from_being_read(shell: Shell) -> None:
    shell.home.book_path.write_text("# nothing yet\n")
    assert shell.rows("doctor")[0]["problems"] == []
    shell.home.book_path.write_text("no entry at all\n")
    report = json.loads(shell.run("doctor", "--json", status=1).stdout)
    (problem,) = report["problems"]
    assert f"{shell.home.book_path}:1:" in problem


def test_doctor(shell: Shell) -> None:
    (report,) = shell.rows("doctor")
    assert report["problems"] == [] and report["model"] == "tiny" and report["gflops"] >= 0
    assert report["sandbox"] == "works"
    shell.journal().close()
    pages = bytearray(shell.home.journal_path.read_bytes())
    for start in range(3 * 4096, len(pages), 5 * 4096):
        pages[start : start + 200] = bytes([0x55]) * 200
    shell.home.journal_path.write_bytes(pages)
    result = shell.run("doctor", "--json", status=1)
    assert any("damaged" in problem for problem in json.loads(result.stdout)["problems"])
    shell.home.journal_path.unlink()
    shell.home.settings_path.write_text('model = "gone"\n')
    assert "see above" in shell.fails("doctor")


@pytest.mark.slow
def test_doctor_in_words_has_a_line_for_each_problem(shell: Shell) -> None:
    assert shell.run("doctor").stdout.splitlines()[-1] == "problems: none"
    weights = shell.home.models_path / "tiny" / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:5000])
    shell.home.book_path.write_text("no entry at all\n")
    lines = shell.run("doctor", status=1).stdout.splitlines()
    found = [line for line in lines if line.startswith("problem: ")]
    assert len(found) == 2
    assert any(str(weights) in line for line in found)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("model = ", "not TOML"),
        ("candidates = 77\n", "candidates"),
        ("[keys]\ntrain = 3\n", "keys"),
        ("\0\0\0\0", "not TOML"),
    ],
)
def test_doctor_names_what_is_wrong_in_the_settings(shell: Shell, text: str, words: str) -> None:
    shell.home.settings_path.write_text(text)
    report = json.loads(shell.run("doctor", "--json", status=1).stdout)
    (problem,) = report["problems"]
    assert str(shell.home.settings_path) in problem and words in problem


def test_doctor_reads_a_model_that_is_used_from_elsewhere(shell: Shell, tmp_path: Path) -> None:
    folder = shutil.copytree(shell.home.models_path / "tiny", tmp_path / "elsewhere")
    (folder / "tokenizer.tiktoken").write_bytes(b"")
    report = json.loads(shell.run("doctor", "--json", "--model", str(folder), status=1).stdout)
    (problem,) = report["problems"]
    assert str(folder) in problem


def test_doctor_prints_no_control_character_of_a_file(shell: Shell) -> None:
    config = shell.home.models_path / "tiny" / "config.json"
    raw = json.loads(config.read_text())
    config.write_text(json.dumps({**raw, "head_dim": "\x1b]0;owned\x07\x9b31m"}))
    result = shell.run("doctor", status=1)
    assert "head_dim" in result.stdout
    assert not {"\x1b", "\x07", "\x9b"} & set(result.output)
