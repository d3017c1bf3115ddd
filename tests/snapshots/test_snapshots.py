"""How every screen looks: small and large in the dark theme, and one scene in the light one, with a
scripted teacher and a still clock.

After a change that is meant: `pytest tests/snapshots --snapshot-update`, and look at the difference.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.scenes import SCENES, Scene, build, still_clock

SIZES = ((80, 24), (200, 60))
LIGHT = "candidates"
"""The scene that is drawn in the light theme too."""
CASES = [(scene, size, "dark") for scene in SCENES for size in SIZES] + [
    (scene, (120, 40), "light") for scene in SCENES if scene.name == LIGHT
]


NAMES = [f"{scene.name}-{wide}x{high}-{theme}" for scene, (wide, high), theme in CASES]
STORED = Path(__file__).parent / "__snapshots__" / Path(__file__).stem


@pytest.fixture(autouse=True)
def same_everywhere(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in ("NO_COLOR", "COLORFGBG", "TEXTUAL_ANIMATIONS", "TEXTUAL_THEME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    with still_clock():
        yield


@pytest.mark.parametrize(("scene", "size", "theme"), CASES, ids=NAMES)
def test_it_looks_as_it_did(
    scene: Scene,
    size: tuple[int, int],
    theme: str,
    tmp_path: Path,
    snap_compare: Callable[..., bool],
) -> None:
    app, act = build(scene, tmp_path / "home", theme)
    assert snap_compare(app, terminal_size=size, run_before=act)


def test_every_picture_is_of_a_scene() -> None:
    """Syrupy looks for those left over only where all tests run in one process."""
    stored = {path.name for path in STORED.iterdir()}
    assert stored == {f"test_it_looks_as_it_did[{name}].svg" for name in NAMES}
