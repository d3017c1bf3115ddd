"""No screen without a scene, and no scene without its pictures."""

from __future__ import annotations

import importlib
import pkgutil
from pathlib import Path

from textual.screen import Screen

import vidya_tui.screens
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
