"""How every screen looks: small and large in the dark theme, and one scene in the light one, with a
scripted teacher and a still clock. And that no line of keys is cut in the middle of a key.

After a change that is meant: `pytest tests/snapshots --snapshot-update`, and look at the difference.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from textual.pilot import Pilot

from tests.scenes import SCENES, Scene, build, still_clock
from tests.stage import seen
from vidya_tui.app.app import VidyaApp
from vidya_tui.widgets.key_line import KeyLine

LARGE = (200, 60)
SIZES = ((80, 24), LARGE)
LIGHT = "candidates"
"""The scene that is drawn in the light theme too."""
CASES = [(scene, size, "dark") for scene in SCENES for size in SIZES] + [
    (scene, (120, 40), "light") for scene in SCENES if scene.name == LIGHT
]


NAMES = [f"{scene.name}-{wide}x{high}-{theme}" for scene, (wide, high), theme in CASES]
FIRST_OF_SCREENS = {scene.screen: scene.name for scene in reversed(SCENES)}.values()
QUICK = {(name, SIZES[0]) for name in (*FIRST_OF_SCREENS, LIGHT)}
"""Each screen once, small, and the chat with its cards."""
MARKED = [
    pytest.param(
        *case, id=name, marks=[] if (case[0].name, case[1]) in QUICK else [pytest.mark.slow]
    )
    for case, name in zip(CASES, NAMES, strict=True)
]
STORED = Path(__file__).parent / "__snapshots__" / Path(__file__).stem


@pytest.fixture(autouse=True)
def same_everywhere(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in ("NO_COLOR", "COLORFGBG", "TEXTUAL_ANIMATIONS", "TEXTUAL_THEME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    with still_clock():
        yield


def keys_are_whole(app: VidyaApp) -> None:
    """The line of keys of the screen that is seen, if it has one, says only what its keys may say."""
    lines = list(app.screen.query(KeyLine))
    if not lines:
        return
    bindings = app.screen.active_bindings.values()
    may = {f"{app.get_key_display(one.binding)} {one.binding.description}" for one in bindings}
    groups: dict[object, str] = {}
    for one in bindings:
        if group := one.binding.group:
            groups[group] = groups.get(group, "") + app.get_key_display(one.binding)
    may |= {f"{keys} {group.description}" for group, keys in groups.items()}  # type: ignore[attr-defined]
    region = lines[0].region
    line = seen(app)[region.y].crop(region.x, region.right).text
    for part in line.split("\u258f"):
        words = part.split()
        if words[0].isdigit() and "pick" in words:
            words = words[words.index("pick") + 1 :]
        while words:
            whole = [n for n in range(len(words), 0, -1) if " ".join(words[:n]) in may]
            assert whole, f"cut: {' '.join(words)!r}; the line may say {sorted(may)}"
            words = words[whole[0] :]


@pytest.mark.parametrize(("scene", "size", "theme"), MARKED)
def test_it_looks_as_it_did(
    scene: Scene,
    size: tuple[int, int],
    theme: str,
    tmp_path: Path,
    snap_compare: Callable[..., bool],
) -> None:
    app, act = build(scene, tmp_path / "home", theme)

    async def act_and_look(pilot: Pilot[None]) -> None:
        await act(pilot)
        keys_are_whole(app)

    assert snap_compare(app, terminal_size=size, run_before=act_and_look)


def test_every_picture_is_of_a_scene() -> None:
    """Syrupy looks for those left over only where all tests run in one process."""
    stored = {path.name for path in STORED.iterdir()}
    assert stored == {f"test_it_looks_as_it_did[{name}].svg" for name in NAMES}
