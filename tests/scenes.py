"""Every screen of the app in a typical moment, with a scripted teacher and a clock that stands still.

`tests/snapshots` compares them with how they looked; `python -m tests.scenes docs/screens` draws them
for the documentation.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from unittest.mock import patch

from textual.pilot import Pilot

from engine.errors import DataError, NotFound
from engine.storage.disk import unwritable
from learning.command_line import described_parser, run_and_tell
from learning.home import Home
from learning.journal.journal import Journal
from learning.protocol.events import (
    Event,
    LearnerState,
    Ready,
)
from tests.downloads import download
from tests.fakes import ScriptedTeacher
from tests.late import late_events
from tests.moments import (
    ANSWERS,
    CLOCK,
    LOOKS,
    NOON,
    answered,
    asking,
    book,
    branched,
    choosing_a_command,
    compared,
    completing,
    correcting,
    entering,
    fetching,
    first,
    helping,
    history,
    in_dispute,
    kept_answers,
    lessons,
    liked,
    models,
    next_step,
    nothing_said,
    over_time,
    practice_runs,
    practising,
    settings,
    streaming,
    taught,
    titling,
    trained,
    training,
    troubled,
)
from tests.stage import Stage
from vidya_tui.app.app import VidyaApp
from vidya_tui.settings.file import Settings

SIZES = ((80, 24), (160, 48))
"""Of the pictures in the documentation."""


@dataclass(frozen=True)
class Scene:
    """A moment to look at."""

    name: str
    run: Callable[[Stage], Awaitable[None]]
    """From the start of the app to the moment."""
    screen: str = "ChatScreen"
    """Class of the screen that is seen then."""
    settings: Settings = field(default_factory=Settings)
    answers: tuple[str, ...] = ANSWERS
    manual: bool = False
    """Nothing streams until the scene pumps."""
    first: bool = False
    """The very first start."""


def waiting(home: Home, name: str) -> Sequence[str]:
    return download("waits", home, name)


def build(
    scene: Scene, folder: Path, theme: str
) -> tuple[VidyaApp, Callable[..., Awaitable[None]]]:
    """The app, and what brings it to the moment: `await act(pilot)`."""
    home = Home(folder)
    if not scene.first:
        home.welcomed_path.touch()
    journal = Journal(home.journal_path)
    teacher = ScriptedTeacher(scene.answers, manual=scene.manual, journal=journal)

    def make(on_event: Callable[[Event], None], model: str | None = None, /) -> ScriptedTeacher:
        teacher.on_event = on_event = late_events(on_event)
        on_event(Ready(model or "10m", 41, 10_200_000, "cpu"))
        on_event(LearnerState("idle", book_recall=0.985))
        return teacher

    app = VidyaApp(home, lambda: journal, make, replace(scene.settings, theme=theme), fetch=waiting)

    async def act(pilot: Pilot[None]) -> None:
        stage = Stage(app, pilot, teacher, journal, home)
        await stage.until(lambda: app.teacher is not None)
        stage.hurry()
        await scene.run(stage)
        assert type(app.screen).__name__ == scene.screen
        await stage.still(LOOKS)

    return app, act


@contextmanager
def still_clock() -> Iterator[None]:
    """`time.time` is that of `CLOCK`, from noon on; in UTC."""
    CLOCK.now = NOON
    zone = os.environ.get("TZ")
    os.environ["TZ"] = "UTC"
    time.tzset()
    try:
        with patch("time.time", lambda: CLOCK.now):
            yield
    finally:
        if zone is None:
            del os.environ["TZ"]
        else:
            os.environ["TZ"] = zone
        time.tzset()


SCENES = (
    Scene("welcome", first, first=True),
    Scene("welcome-pick", next_step, first=True),
    Scene("fetching", fetching, first=True),
    Scene("chat", nothing_said),
    Scene("streaming", streaming, manual=True),
    Scene("candidates", answered),
    Scene("taught", taught),
    Scene("correct", correcting, "CorrectScreen"),
    Scene("help", helping, "HelpScreen"),
    Scene("settings", settings, "SettingsScreen"),
    Scene("model", models, "ModelScreen"),
    Scene("training", training, "TrainScreen"),
    Scene("trained", trained, "TrainScreen"),
    Scene("practice", practising, "PracticeScreen"),
    Scene("practice-runs", practice_runs, "PracticeRunsScreen"),
    Scene("practice-run", kept_answers, "PracticeScreen"),
    Scene("lessons", lessons, "LessonsScreen"),
    Scene("book", book, "BookScreen"),
    Scene("history", history, "HistoryScreen"),
    Scene("progress", over_time, "ProgressScreen"),
    Scene("taste", liked, "TasteScreen"),
    Scene("in-dispute", in_dispute, "DisputedScreen"),
    Scene("before-after", compared, "BeforeAfterScreen"),
    Scene("entry", entering, "EntryScreen"),
    Scene("title", titling, "TitleScreen"),
    Scene("palette", choosing_a_command, "Palette"),
    Scene("completion", completing),
    Scene("branches", branched),
    Scene("question", asking, "HistoryScreen"),
    Scene("trouble", troubled),
)


def draw(scene: Scene, size: tuple[int, int], theme: str) -> str:
    """The moment as SVG."""

    async def run(folder: Path) -> str:
        app, act = build(scene, folder, theme)
        async with app.run_test(size=size) as pilot:
            await act(pilot)
            return app.export_screenshot(title="vidya")

    with tempfile.TemporaryDirectory() as folder, still_clock():
        return asyncio.run(run(Path(folder) / "home"))


def draw_all(folder: Path, names: Sequence[str], say: Callable[[str], None]) -> None:
    """Draws the named scenes, or all if none is named, into a folder, and says each file. Raises NotFound for
    a name, DataError if the folder cannot be written."""
    known = [scene.name for scene in SCENES]
    if unknown := [name for name in names if name not in known]:
        raise NotFound(f"scene {unknown[0]!r} does not exist", f"choose from: {', '.join(known)}")
    with _writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    for scene in SCENES:
        for size in SIZES if not names or scene.name in names else ():
            picture = draw(scene, size, "light" if scene.name in LIGHT else "dark")
            path = folder / f"{scene.name}-{size[0]}x{size[1]}.svg"
            with _writing(path):
                path.write_text(picture, "utf-8")
            say(str(path))


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    """Raises DataError in place of OSError."""
    try:
        yield
    except OSError as error:
        raise DataError(*unwritable(path, error, "name another folder")) from error


LIGHT = ("help", "correct")
"""Scenes whose picture is of the light theme."""


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line. Returns the exit status."""
    parser = described_parser("tests.scenes", __doc__)
    parser.add_argument("folder", type=Path, help="where the pictures are written, as SVG")
    parser.add_argument(
        "scenes",
        nargs="*",
        default=[],
        metavar="scene",
        help="the scenes to draw, such as chat; all by default",
    )
    given = parser.parse_args(arguments)
    return run_and_tell(partial(draw_all, given.folder, given.scenes))


if __name__ == "__main__":
    sys.exit(main())
