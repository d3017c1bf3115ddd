"""What a screen beside the chat works on: the home and the owner's desk."""

from __future__ import annotations

from dataclasses import dataclass

from learning.home import Home
from learning.journal import Journal
from learning.messages import TeacherPort
from vidya_tui.desk import Desk
from vidya_tui.revising import Revising
from vidya_tui.session import Session


@dataclass(frozen=True)
class Place:
    """Built by the chat for each screen that it opens."""

    home: Home
    desk: Desk
    teacher: TeacherPort

    @property
    def journal(self) -> Journal:
        return self.desk.journal

    @property
    def session(self) -> Session:
        return self.desk.session

    @property
    def revising(self) -> Revising:
        """Changes of lessons and of the book."""
        return Revising(self.session, self.home.book_path)
