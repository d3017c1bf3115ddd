"""The line mode by itself: lines typed at a terminal, and what the teacher says."""

from __future__ import annotations

import io
from dataclasses import dataclass, field
from pathlib import Path

from learning.home import Home
from learning.journal.journal import Journal
from learning.protocol.events import Event, Failed, MessageCut, Ready, WorkerLost
from learning.protocol.requests import Learn
from tests.fakes import ScriptedTeacher
from tests.vidya_tui.line_mode.test_loop import TEXTS, picked
from vidya_tui.controller.controller import Controller
from vidya_tui.controller.models import ModelControl
from vidya_tui.line_mode.mode import LineMode
from vidya_tui.session.session import Session
from vidya_tui.settings.file import Settings
from vidya_tui.worker.switching import SwitchingTeacher


@dataclass
class AtTerminal:
    """A line mode that a person types into, fed by hand."""

    folder: Path
    asking: bool = True
    """False: the lines come from a pipe."""
    out: io.StringIO = field(default_factory=io.StringIO)

    def __post_init__(self) -> None:
        home = Home(self.folder / "home")
        self.journal = Journal(home.journal_path)
        self.teacher = ScriptedTeacher(TEXTS, manual=True, journal=self.journal)
        session = Session(self.journal, self.teacher)
        controller = Controller(self.journal, session, self.teacher)
        switching = SwitchingTeacher(lambda on_event, model=None, /: self.teacher, self._heard)
        control = ModelControl(home, Settings(), controller, switching)
        self.mode = LineMode(home, control, self.out, asking=self.asking)
        self.teacher.on_event = self.mode.heard
        self.mode.begin()
        self.mode.heard(Ready("10m", 1, 10_200_000, "cpu"))

    def _heard(self, event: Event) -> None:
        self.mode.heard(event)


def test_at_a_terminal_a_line_counts_at_once(tmp_path: Path) -> None:
    here = AtTerminal(tmp_path)
    assert here.out.getvalue().startswith("vidya, line by line. /help lists the commands.\n> ")
    here.mode.typed("hello")
    here.teacher.pump(1)
    here.mode.typed("2")  # long before it is whole
    assert "preferred 2 over 1, 3, 4, 5: " in here.out.getvalue()
    here.teacher.finish()
    assert picked(here.journal) == [2]
    here.mode.typed(None)
    assert here.mode.status == 0


def test_ctrl_c_stops_the_answers_first_and_leaves_then(tmp_path: Path) -> None:
    here = AtTerminal(tmp_path)
    here.mode.typed("hello")
    here.teacher.pump(1)
    here.mode.interrupted()
    assert here.mode.status is None and not here.mode._session.streaming
    here.mode.interrupted()
    assert here.mode.status == 130


def test_a_model_that_cannot_be_loaded_ends_it(tmp_path: Path) -> None:
    here = AtTerminal(tmp_path)
    here.mode.heard(Failed("load", "no such model", "choose another"))
    assert here.mode.status == 1 and "no such model; choose another" in here.out.getvalue()


def test_a_message_that_the_model_cannot_read_whole_is_told(tmp_path: Path) -> None:
    here = AtTerminal(tmp_path)
    here.mode.heard(MessageCut(1, 166_742, 165_000))
    assert "of its 166,742 characters it reads 1,742" in here.out.getvalue()


def test_a_lost_worker_is_told(tmp_path: Path) -> None:
    here = AtTerminal(tmp_path)
    here.mode.typed("hello")
    here.teacher.die()
    assert "starting it again" in here.out.getvalue()
    here.mode.heard(Ready("10m", 1, 10_200_000, "cpu"))  # asks again what was never answered
    here.teacher.finish()
    assert "1. one answer" in here.out.getvalue()
    here.mode.heard(WorkerLost("killed", restarting=False))
    assert here.mode.status == 1


def test_a_lesson_that_fails_does_not_hold_up_the_end(tmp_path: Path) -> None:
    here = AtTerminal(tmp_path)
    here.teacher.journal = None  # learns nothing
    here.mode.typed("hello")
    here.teacher.finish()
    here.mode.typed("1")
    here.mode.typed(None)
    assert here.mode.status is None and "finishing what you taught" in here.out.getvalue()
    here.mode.heard(Failed("learn", "out of memory", "nothing was lost"))
    assert here.mode.status == 0


def test_a_lesson_that_failed_is_tried_again_and_never_waited_for_without_end(
    tmp_path: Path,
) -> None:
    here = AtTerminal(tmp_path)
    here.teacher.journal = None  # learns nothing
    here.mode.typed("hello")
    here.teacher.finish()
    here.mode.typed("1")
    here.mode.heard(Failed("learn", "the disk is full", "make room"))
    here.mode.typed("/lessons")  # has nothing to do with it
    here.mode.typed("/new")
    assert here.teacher.requests[-1] == Learn(), "tried again"
    here.mode.heard(Failed("learn", "the disk is full", "make room"))
    here.mode.typed("/lessons")
    here.mode.typed("/quit")
    assert here.mode.status == 0
