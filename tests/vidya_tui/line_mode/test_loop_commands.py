"""Every command of `vidya --plain`."""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import fields
from pathlib import Path

import pytest

from learning.protocol.events import ModelChanging, Ready
from learning.protocol.requests import CancelPractice
from tests.downloads import download
from tests.practice_events import DONE as PRACTISED
from tests.vidya_tui.line_mode.test_loop import talk
from tests.vidya_tui.line_mode.test_mode import AtTerminal
from vidya_tui.commands.table import COMMANDS
from vidya_tui.settings.file import Settings, load

FOLLOWS = {
    **{
        "pick": "2",
        "correct": "Hello!",
        "rate": "good",
        "again": "shorter",
        "edit": "in other words",
    },
    **{"lessons": "hello", "book": "name", "history": "hello", "compare": "2", "train": "2"},
    **{"branch": "previous", "practice": "chain_sum", "export": "json"},
}
"""What may follow a command."""


@pytest.mark.slow
@pytest.mark.parametrize("more", [False, True])
@pytest.mark.parametrize("first", [(), ("hello", "3")], ids=["at the start", "in a talk"])
def test_it_goes_on_after_every_command(tmp_path: Path, first: tuple[str, ...], more: bool) -> None:
    for command in COMMANDS:
        if command.plain and command.name != "quit":
            follows = FOLLOWS.get(command.name, "") if more else ""
            folder = tmp_path / command.name
            folder.mkdir()
            line = f"/{command.name} {follows}".strip()
            lines, journal = talk(folder, *first, line, "still there")
            assert "5. five" in lines[-8:], line
            assert journal.questions()[-1].endswith("still there"), line
            journal.close()


def test_settings_are_read_out(tmp_path: Path) -> None:
    lines, _ = talk(tmp_path, "/settings", settings=Settings(candidates=3, theme="nord"))
    assert "answers to choose among: 3. candidates = 3" in lines
    assert 'theme: nord. theme = "nord"' in lines
    assert "learning: on. learning = true" in lines
    assert "temperature: the model's own. temperature, not set" in lines
    named = {re.split(" = |, not", line.partition(". ")[2])[0] for line in lines}
    assert named >= {part.name for part in fields(Settings)} - {"keys"}
    assert f"into {tmp_path / 'home' / 'settings.toml'};" in lines[-1]
    toml = [line.partition(". ")[2] for line in lines if ". " in line and " = " in line]
    assert Settings(**tomllib.loads("\n".join(toml))) == Settings(candidates=3, theme="nord")


def test_a_model_is_fetched_and_the_talk_goes_on_with_it(tmp_path: Path) -> None:
    lines, journal = talk(tmp_path, "hello", "/get", "again", fetch=lambda *a: download("good", *a))
    at = lines.index("preparing smollm2-135m")
    assert "fetching smollm2-135m: 45 % of 100 MB" in lines[:at]
    assert "this is smollm2-135m, version 1" in lines[at:]
    assert journal.questions() == ["hello", "again"]
    assert load(tmp_path / "home" / "settings.toml").model == "smollm2-135m"


def test_without_a_network_the_line_mode_goes_on(tmp_path: Path) -> None:
    lines, _ = talk(tmp_path, "/get smollm2-360m", "hello")
    assert any("smollm2-360m was not fetched: the network cannot be reached" in x for x in lines)
    assert "5. five" in lines[-2:][0] or any(x.startswith("5. ") for x in lines)


def test_models_are_read_out(tmp_path: Path) -> None:
    lines, _ = talk(tmp_path, "/model")
    assert any(line.startswith("10m, in use: 10.") and "weights" in line for line in lines)
    assert "vidya model use NAME" in lines[-1]
    assert not (tmp_path / "home" / "models" / "10m").exists(), "looking brings nothing in"


def test_a_model_that_cannot_be_read_does_not_hide_the_others(tmp_path: Path) -> None:
    broken = tmp_path / "home" / "models" / "broken"
    broken.mkdir(parents=True)
    (broken / "model.safetensors").write_bytes(b"xx")
    lines, _ = talk(tmp_path, "/model")
    assert any(line.startswith("10m, in use: 10.") for line in lines)
    assert any(f"{broken}: cannot be read" in line for line in lines)


def test_a_training_is_read_out(tmp_path: Path) -> None:
    lines, _ = talk(tmp_path, "/curve", "/train 2", "/curve")
    assert lines[2] == "nothing was trained since the start; /train trains the whole book"
    assert lines[-2] == "trained after 2 epochs in 3.0 s: book recall 50 % \u2192 100 %"
    assert lines[-1].startswith("epoch 2 of 25, step 2 of 50, loss 0.500, took ")
    assert lines[-1].endswith("book recall 50 % \u2192 100 %")


def test_the_conversation_is_written_into_a_file(tmp_path: Path) -> None:
    lines, journal = talk(
        tmp_path,
        "/export",
        *("hello", "3", "/export", "/edit goodbye", "2", "/branch"),
        *("/export json", "/export pdf"),
    )
    folder = tmp_path / "home" / "exports"
    assert "nothing was said yet; type a message, then press Enter" in lines
    assert f"written to {folder / 'conversation-1.md'}" in lines
    assert "> hello" in (folder / "conversation-1.md").read_text()
    said = json.loads((folder / "conversation-1.json").read_text())["turns"]
    assert said == [{"role": "user", "text": "hello"}, {"role": "assistant", "text": "three"}]
    assert any(line.startswith("/export pdf: not one of its words") for line in lines)
    journal.close()


def test_what_another_model_leaves_unanswered_does_not_hold_up_the_end(tmp_path: Path) -> None:
    here = AtTerminal(tmp_path)
    here.mode.typed("hello")
    here.teacher.finish()
    here.mode.typed("1")
    here.teacher.before, here.teacher.on_event = (), None  # the comparison is never answered
    here.mode.typed("/compare")
    here.mode.heard(ModelChanging("smollm2-135m"))
    here.mode.heard(Ready("smollm2-135m", 1, 135_000_000, "cpu"))
    here.mode.typed("/quit")
    assert here.mode.status == 0


def test_a_pipe_waits_for_a_practice(tmp_path: Path) -> None:
    here = AtTerminal(tmp_path, asking=False)
    for line in ("/practice chain_sum steps=2", "hello", None):
        here.mode.typed(line)
    assert here.mode.status is None and not here.journal.questions()
    here.mode.heard(PRACTISED)
    here.teacher.finish()
    assert here.mode.status == 0 and here.journal.questions() == ["hello"]
    assert "held-out accuracy 30 % \u2192 62 %" in here.out.getvalue()


def test_ctrl_c_ends_a_practice_first_and_the_program_then(tmp_path: Path) -> None:
    here = AtTerminal(tmp_path)
    here.mode.typed("/practice chain_sum")
    here.mode.interrupted()
    assert here.teacher.requests[-1] == CancelPractice() and here.mode.status is None
    here.mode.interrupted()  # while the last step goes on
    assert here.mode.status == 130


def test_who_leaves_during_a_practice_does_not_wait_for_its_end(tmp_path: Path) -> None:
    here = AtTerminal(tmp_path)
    here.mode.typed("/practice chain_sum")
    here.mode.typed("/quit")
    assert here.mode.status == 0
