"""What a screen beside the chat works on."""

from __future__ import annotations

from dataclasses import dataclass

from learning.home import Home
from learning.journal.journal import Journal
from learning.protocol.messages import TeacherPort
from vidya_tui.controller.controller import Controller
from vidya_tui.controller.edits import Edits
from vidya_tui.session.session import Session


@dataclass(frozen=True)
class ScreenContext:
    """Built by the chat for each screen that it opens."""

    home: Home
    controller: Controller
    teacher: TeacherPort

    @property
    def journal(self) -> Journal:
        return self.controller.journal

    @property
    def session(self) -> Session:
        return self.controller.session

    @property
    def revising(self) -> Edits:
        """Changes of lessons and of the book."""
        return Edits(self.session, self.home.book_path)
