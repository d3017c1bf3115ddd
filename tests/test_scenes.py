"""No screen without a scene, and no scene without its pictures."""

from __future__ import annotations

import importlib
import pkgutil
from pathlib import Path

import pytest
from textual.screen import Screen

import vidya_tui.screens
from tests import scenes
from tests.scenes import SCENES, SIZES
from tests.snapshots.test_snapshots import CASES

ROOT = Path(__file__).parents[1]


def screens() -> set[type[Screen[object]]]:
    """Every screen that is defined under vidya_tui/screens and is no base of another one there."""
    package = vidya_tui.screens
    prefix = f"{package.__name__}."
    names = [found.name for found in pkgutil.walk_packages(package.__path__, prefix)]
    found = {
        thing
        for name in names
        for thing in vars(importlib.import_module(name)).values()
        if isinstance(thing, type) and issubclass(thing, Screen) and thing.__module__ in names
    }
    return {one for one in found if not any(one in other.__mro__[1:] for other in found)}


def test_every_screen_occurs_in_a_scene() -> None:
    assert {screen.__name__ for screen in screens()} == {scene.screen for scene in SCENES}


def test_the_scenes_have_names_of_their_own() -> None:
    assert len({scene.name for scene in SCENES}) == len(SCENES)


def test_the_documentation_has_exactly_the_pictures_of_the_scenes() -> None:
    wanted = {f"{scene.name}-{w}x{h}.svg" for scene in SCENES for w, h in SIZES}
    assert {path.name for path in (ROOT / "docs" / "screens").iterdir()} == wanted


def test_there_are_exactly_the_snapshots_of_the_scenes() -> None:
    folder = ROOT / "tests" / "snapshots" / "__snapshots__" / "test_snapshots"
    wanted = {
        f"test_it_looks_as_it_did[{scene.name}-{w}x{h}-{theme}].svg"
        for scene, (w, h), theme in CASES
    }
    assert {path.name for path in folder.iterdir()} == wanted


def test_the_command_line_draws_the_named_scenes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(scenes, "draw", lambda scene, size, theme: f"{scene.name} {theme}")
    folder = tmp_path / "new"
    assert scenes.main([str(folder), "help", "chat"]) == 0
    wanted = [f"{name}-{w}x{h}.svg" for name in ("chat", "help") for w, h in SIZES]
    assert capsys.readouterr().out.splitlines() == [str(folder / name) for name in wanted]
    assert sorted(path.name for path in folder.iterdir()) == sorted(wanted)
    assert (folder / wanted[-1]).read_text("utf-8") == "help light"
    assert scenes.main([str(folder)]) == 0
    assert len(list(folder.iterdir())) == len(SCENES) * len(SIZES)


def test_the_command_line_explains_itself(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        scenes.main(["--help"])
    said = capsys.readouterr().out
    assert left.value.code == 0 and "usage: python -m tests.scenes" in said
    assert "folder" in said and "scene" in said
    with pytest.raises(SystemExit):
        scenes.main([])
    assert "are required: folder\n" in capsys.readouterr().err


def test_what_cannot_be_drawn_is_told_in_a_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "file"
    file.write_text("")
    for arguments, told in (
        (
            [str(tmp_path / "new"), "chat", "caht"],
            "scene 'caht' does not exist; choose from: welcome,",
        ),
        ([str(file)], f"{file}: cannot be written (File exists); name another folder"),
    ):
        assert scenes.main(arguments) == 1
        said = capsys.readouterr()
        assert said.out == "" and said.err.startswith(told) and said.err.count("\n") == 1
    assert not (tmp_path / "new").exists()
