"""A session on a real journal with a scripted teacher, for tests of messages and judgements."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from fakes import ScriptedTeacher

from learning.journal.journal import Journal
from learning.protocol.records import Lesson, Turn, Turns
from personality.book import read_book
from vidya_tui.session.session import Session

TEXTS = ["Hello there.", "Good day.", "Hi!", "Hm?", "Hello you."]


def said(*texts: str) -> Turns:
    return tuple(Turn("assistant" if i % 2 else "user", text) for i, text in enumerate(texts))


class Talk:
    """A session on a real journal with a scripted teacher, and ways to look at it."""

    def __init__(self, folder: Path, *, manual: bool = False, **options: object) -> None:
        self.book_path = folder / "book.txt"
        self.journal = Journal(folder / "journal.sqlite3")
        self.teacher = ScriptedTeacher(TEXTS, journal=self.journal, manual=manual)
        self.session = Session(
            self.journal,
            self.teacher,
            book_path=self.book_path,
            **options,  # type: ignore[arg-type]
        )
        self.teacher.on_event = self.session.handle

    @property
    def book(self) -> list[tuple[str, str]]:
        if not self.book_path.exists() or "<|user|>" not in self.book_path.read_text("utf-8"):
            return []
        return [(entry.question, entry.answer) for entry in read_book(self.book_path)]

    @property
    def lessons(self) -> list[tuple[str, str, str]]:
        """(kind, answer, state) of what the owner taught."""
        return [
            (lesson.kind, lesson.answer, lesson.state)
            for lesson in self.journal.lessons(kinds=("pick", "correction", "rating", "example"))
        ]

    @property
    def chosen(self) -> list[int]:
        return [card.index for card in self.session.cards if card.chosen]

    def last_lesson(self) -> Lesson:
        lesson = self.journal.last_lesson()
        assert lesson is not None
        return lesson


Start = Callable[..., Talk]
"""Starts the program on the same home, again and again."""
