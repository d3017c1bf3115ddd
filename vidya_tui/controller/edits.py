"""Changes earlier lessons and the book: the journal first, then the book, then the teacher.

Every change is a lesson, or takes one back. Methods return what to tell the owner. One that raises
VidyaError has changed nothing, but for DataError: the journal has it then, only the book could not
be written. No widgets.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from engine.errors import DataError, NotFound, VidyaError
from learning.book.check import BookLine, standing
from learning.book.owner_book import OwnerBook
from learning.channels import learn_again, learn_from_book, learn_from_removal
from learning.journal.journal import Journal
from learning.journal.lesson_list import Taught
from learning.protocol.records import Lesson, Turns, as_turns
from learning.protocol.requests import Learn
from learning.text.normalise import fold_prompt
from personality.book import LineError, format_line
from vidya_tui.session.judging import tidy
from vidya_tui.session.session import Session
from vidya_tui.state.lessons import quote


class Edits:
    """Uses the open session for a change of what that shows."""

    def __init__(self, session: Session, book_path: Path) -> None:
        self._session, self._book_path = session, book_path
        self._book = OwnerBook(book_path)

    # ------------------------------------------------------------ lessons

    def teach_again(self, taught: Taught) -> str:
        """Has the lesson learned once more. One that was undone, replaced or never judged becomes a new
        lesson."""
        journal, lesson = self._session.journal, taught.lesson
        if lesson.kind == "owner_words":
            raise VidyaError("these are your own words", "nothing is to be answered there")
        if taught.state == "waiting" and not taught.unjudged:
            raise VidyaError(f"lesson {lesson.id} waits to be learned already", "give it a moment")
        if taught.state == "taken_back" or taught.replaced_by or taught.unjudged:
            later = journal.lesson(taught.replaced_by) if taught.replaced_by else None
            # one that was replaced in other words has its own line of the book
            old = later.answer if later and later.prompt == lesson.prompt else None
            (fresh,) = journal.add_lessons([learn_again(lesson, old)], ask=taught.ask)
            words = f"lesson {lesson.id} is taught again, as lesson {fresh.id}"
            try:
                question = lesson.prompt[-1].text if lesson.prompt else ""
                there = self._book.answer_to(question, without=old) == lesson.answer
                if lesson.answer and question and not there:
                    self._book.replace(question, old or None, lesson.answer)
            finally:
                self._learn()
            return words
        journal.set_lesson_state(lesson.id, "waiting")
        self._learn()
        return f"lesson {lesson.id} is taught again"

    def edit(self, taught: Taught, text: str) -> str:
        """Corrects the lesson: another answer to the same message."""
        text, lesson = tidy(text), taught.lesson
        if lesson.kind == "owner_words":
            raise VidyaError("these are your own words", "w takes the lesson back")
        if not text:
            raise VidyaError(
                "the answer is empty", "type what it should say, or withdraw the lesson"
            )
        if text == lesson.answer and taught.state != "taken_back" and not taught.replaced_by:
            raise VidyaError("that is what the lesson says already", "type another answer")
        if taught.ask is not None and self._answers(taught.ask, lesson):
            self._correct_at(taught.ask, text)
        else:
            self._correct_loose(taught, text)
        return f"will answer {quote(text)}"

    def withdraw(self, taught: Taught) -> str:
        """Undoes the lesson: in the journal now, and in the weights when the teacher gets to it."""
        if taught.state == "taken_back":
            raise VidyaError(f"lesson {taught.lesson.id} was taken back already", "choose another")
        self._session.take_back(taught.lesson)
        if taught.ask is not None:
            self._show_again(self._session.journal.ask(taught.ask).conversation)
        return f"lesson {taught.lesson.id} is taken back"

    def _answers(self, number: int, lesson: Lesson) -> bool:
        """Whether the lesson's message is that of the ask. What a reason was carried over to has another one,
        and so has what was taught in its place."""
        said = self._session.journal.ask(number).turns[-1].text
        return bool(lesson.prompt) and lesson.prompt[-1].text == said

    def _correct_at(self, number: int, text: str) -> None:
        ask = self._session.journal.ask(number)
        if self._session.ask is not None and self._session.ask.id == number:
            self._session.correct(text)
            return
        other = Session(self._session.journal, self._session.teacher, book_path=self._book_path)
        other.reopen(ask)
        try:
            other.correct(text)
        finally:
            self._show_again(ask.conversation)

    def _correct_loose(self, taught: Taught, text: str) -> None:
        lesson = taught.lesson
        old = lesson.answer or next(iter(lesson.rejected), None)
        changed = learn_from_book(lesson.prompt, text, old)
        self._session.journal.add_lessons([changed], ask=taught.ask)
        try:
            if lesson.prompt:
                self._book.replace(lesson.prompt[-1].text, lesson.answer or None, text)
        finally:
            self._learn()

    def _show_again(self, conversation: int) -> None:
        """Reads again what the open conversation shows, which has changed; it stays in the same branch."""
        session = self._session
        if session.conversation == conversation and session.ask and not session.streaming:
            session.open(conversation, session.ask.id)

    # ------------------------------------------------------------ the book

    def add_entry(self, question: str, answer: str, lines: Sequence[BookLine] = ()) -> str:
        """Adds an entry to the owner's book; it replaces one with the same question."""
        turns = self._turns((), question, answer)
        if (there := standing(lines, turns[:-1])) is not None:
            if there.own:
                return self.edit_entry(there, question, answer)
            return self._write(None, turns, there.answer, None)
        return self._write(None, turns, None, None)

    def edit_entry(self, line: BookLine, question: str, answer: str) -> str:
        """Changes the question or the answer of an entry. For one of the shipped book, the owner's book gets
        an entry that replaces it."""
        turns = self._turns(line.turns[:-2], question, answer)
        if turns == line.turns:
            raise VidyaError("nothing was changed in it", "type another question or answer")
        same = bool(line.turns) and fold_prompt(turns[:-1]) == fold_prompt(line.turns[:-1])
        old = line.answer if same else None
        removed = line if line.own and line.turns and not same else None
        return self._write(line if line.own else None, turns, old, removed)

    def remove_entry(self, line: BookLine, lines: Sequence[BookLine] = ()) -> str:
        """Removes an entry of the owner's book. The model is trained not to give that answer any more; where
        the shipped book or another line answers the question, it is trained to give that answer."""
        if not line.own:
            raise VidyaError(
                "this entry comes with the program and stays in its book",
                "edit it: your answer then counts instead",
            )
        journal = self._session.journal
        rest = [other for other in lines if other is not line and other != line]
        if line.turns and not line.replaced:
            prompt, there = _prompt(line.turns), standing(rest, line.turns[:-1])
            if there is None:
                journal.add_lessons([learn_from_removal(prompt, line.answer)])
            elif there.answer != line.answer:
                journal.add_lessons([learn_from_book(prompt, there.answer, line.answer)])
        try:
            self._book.rewrite(line.line, line.text, None)
        finally:
            self._learn()
        if not line.turns:
            return "the line is gone from your book"
        return f"will no longer answer {quote(line.answer)}; gone from your book"

    def _write(
        self,
        place: BookLine | None,
        turns: tuple[tuple[str, str], ...],
        old: str | None,
        removed: BookLine | None,
    ) -> str:
        """place: the line to rewrite; None appends one. old: the answer that is no longer right. removed: the
        entry whose question was changed."""
        lessons = [learn_from_book(_prompt(turns), turns[-1][1], old)]
        if removed is not None and not removed.replaced:
            lessons.insert(0, learn_from_removal(_prompt(removed.turns), removed.answer))
        self._session.journal.add_lessons(lessons)
        try:
            if place is None:
                self._book.append(turns)
            else:
                self._book.rewrite(place.line, place.text, format_line(turns))
        finally:
            self._learn()
        before, now = removed.answer if removed else old, turns[-1][1]
        gone = f", no longer {quote(before)}" if before is not None and before != now else ""
        return f"will answer {quote(now)}{gone}; in your book"

    @staticmethod
    def _turns(
        before: tuple[tuple[str, str], ...], question: str, answer: str
    ) -> tuple[tuple[str, str], ...]:
        """Checks that a book can hold the entry. Raises DataError."""
        turns = (
            *before,
            ("user", " ".join(question.split())),
            ("assistant", " ".join(answer.split())),
        )
        try:
            format_line(turns)
        except LineError as error:
            raise DataError(error.what, error.next_step) from error
        return turns

    def _learn(self) -> None:
        self._session.teacher.send(Learn())


def lesson_to_compare(journal: Journal, number: int | None) -> Lesson:
    """The lesson of that number, else the newest one in the weights. Raises VidyaError."""
    if number:
        try:
            return journal.lesson(number)
        except NotFound as error:
            raise NotFound(error.what, "/lessons shows what there is") from None
    known = [lesson for lesson in journal.standing() if lesson.state == "learned"]
    known = known or [lesson for lesson in journal.standing() if lesson.state == "needs_practice"]
    if not known:
        raise VidyaError("nothing was learned yet", "pick an answer or correct one, then compare")
    return known[-1]


def _prompt(turns: Sequence[tuple[str, str]]) -> Turns:
    return as_turns(turns[:-1])
