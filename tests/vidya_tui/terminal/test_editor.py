"""The owner's own editor, as a script that changes the file."""

from __future__ import annotations

import contextlib
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.errors import VidyaError
from tests.stage import Stage, play
from vidya_tui.terminal.editor import edit, editor


def script(folder: Path, body: str) -> str:
    path = folder / "an editor.sh"
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return f"'{path}'"


def test_which_editor(tmp_path: Path) -> None:
    name = script(tmp_path, "true")
    path = str(tmp_path / "an editor.sh")
    assert editor({"VISUAL": f"{name} -w", "EDITOR": "nothing"}) == [path, "-w"]
    assert editor({"VISUAL": " ", "EDITOR": name}) == [path]
    for env, what in (
        ({"EDITOR": "no-such-editor -n"}, "which is not installed"),
        ({"EDITOR": "'unbalanced"}, "No closing quotation"),
        ({"PATH": str(tmp_path)}, "there is no editor"),
    ):
        with pytest.raises(VidyaError, match=what):
            editor(env)


def test_what_is_written_comes_back_and_nothing_is_left(tmp_path: Path) -> None:
    log = tmp_path / "log"
    name = script(tmp_path, f'stat -c %a "$1" > {log}; echo "$1" >> {log}; echo more >> "$1"')
    assert edit("Größe\nzwei", editor({"EDITOR": name})) == "Größe\nzweimore"
    mode, file = log.read_text().split()
    assert mode == "600" and not Path(file).exists()


def test_an_editor_that_fails_changes_nothing(tmp_path: Path) -> None:
    with pytest.raises(VidyaError, match="status 3; your message is as it was"):
        edit("text", editor({"EDITOR": script(tmp_path, "exit 3")}))


def test_in_the_app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    body = 'printf "%s, longer\\n\\033[31mred" "$(cat "$1")" > "$1.new"; mv "$1.new" "$1"'
    monkeypatch.setenv("VISUAL", script(tmp_path, body))

    async def scenario(stage: Stage) -> None:
        await stage.write("short")
        await stage.press("f4")
        await stage.sees("this terminal cannot be lent to an editor")
        assert stage.prompt == "short"
        lent: list[str] = []

        @contextlib.contextmanager
        def suspend() -> Iterator[None]:
            lent.append(stage.prompt)
            yield

        monkeypatch.setattr(stage.app, "suspend", suspend)
        await stage.press("f4")
        await stage.until(lambda: stage.prompt == "short, longer\n\u241b[31mred")
        assert lent == ["short"]
        await stage.press("ctrl+z")
        assert stage.prompt == "short"

    play(scenario, tmp_path)
