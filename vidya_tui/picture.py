"""What the chat shows of a session: the entries of the log, the notes under them, what works now.

Pure functions and one small collection; no widgets. Left out: drawing (screens/chat.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, overload

from vidya_tui.commands import Situation
from vidya_tui.plain import one_line
from vidya_tui.widgets.entry import Entry

if TYPE_CHECKING:  # the first frame waits for no more than it needs
    from learning.journal_judgements import Judged
    from learning.records import Lesson, Turns
    from vidya_tui.card import Card
    from vidya_tui.session import Session

BOX = 22
"""Columns of a card in a box, at least; four of them are its border."""


@dataclass
class Note:
    """What is shown under an answer."""

    judgement: str = ""
    rating: str = ""
    outcome: str = ""
    made: int = 0
    """Number of the judgement that made the answer; 0: none."""
    rated: int = 0
    """Number of the rating; 0: none."""

    def words(self) -> str:
        return " \u00b7 ".join(part for part in (self.judgement, self.rating, self.outcome) if part)


def note_of(answer: str, standing: Sequence[Judged], numbers: Callable[[], list[int]]) -> Note:
    """What was understood of the judgements of an answer that stand.

    numbers: of all candidates that the answer was among.
    """
    from learning.records import Correction, Pick

    note = Note()
    for judged in standing:
        judgement = judged.judgement
        if isinstance(judgement, Pick):
            others = [str(number) for number in sorted(numbers()) if number != judgement.index]
            over = f" over {', '.join(others)}" if others else ""
            note.judgement, note.made = f"preferred {judgement.index}{over}", judged.id
        elif isinstance(judgement, Correction):
            said = one_line(judgement.text, 60)
            note.judgement, note.made = f"will answer \u201c{said}\u201d", judged.id
        elif judged.answer == answer:  # a rating is of the text it was given to
            value = judgement.value
            note.rating = f"rated {value}" if value else "rating withdrawn"
            note.rated = judged.id
    return note


class Notes:
    """What was understood of the owner's judgements, by the answer's position among the turns."""

    def __init__(self, recall: Callable[[int], Note]) -> None:
        """recall: the note of an answer of which nothing was heard since the conversation is shown."""
        self._recall = recall
        self._notes: dict[int, Note] = {}
        self._outcomes: dict[int, str] = {}
        """What became of judgements, by their number: one that comes back has it still."""

    def __len__(self) -> int:
        return len(self._notes)

    def clear(self) -> None:
        """Forgets all: another conversation is shown."""
        self._notes.clear()

    def cut(self, length: int) -> None:
        """Forgets those of answers that are no longer among the first `length` turns."""
        self._notes = {at: note for at, note in self._notes.items() if at < length}

    def at(self, position: int) -> str:
        if position not in self._notes:
            note = self._recall(position)
            note.outcome = self._outcomes.get(note.rated or note.made, note.outcome)
            self._notes[position] = note
        return self._notes[position].words()

    def judged(self, position: int, note: Note) -> None:
        """Tells of the judgements of an answer that stand now, and of no other."""
        note.outcome = self._outcomes.get(note.rated or note.made, "")
        self._notes[position] = note

    def taken_back(self, judgement: int) -> None:
        """The same for an answer that the talk went on from: it is what was said, whatever became of
        the judgement."""
        for note in self._notes.values():
            if judgement == note.made:
                note.judgement, note.made = "taken back", 0
            elif judgement == note.rated:
                note.rating, note.rated = "", 0
            else:
                continue
            note.outcome = self._outcomes.get(note.rated or note.made, "")

    def unjudged(self, position: int) -> None:
        self._notes[position] = Note(judgement="went on with this one, unjudged")

    def outcome(self, lesson: Lesson, turns: Turns, words: str) -> None:
        """Puts what became of a lesson under the answer that it is about."""
        if lesson.judgement is not None:
            self._outcomes[lesson.judgement] = words
            for note in self._notes.values():
                if lesson.judgement == (note.rated or note.made):
                    note.outcome = words
            return
        for position in sorted(self._notes, reverse=True):
            texts = (lesson.answer, *lesson.rejected)
            if position < len(turns) and turns[position].text in texts:
                self._notes[position].outcome = words
                return


def running_card(session: Session) -> Card | None:
    """The chosen candidate while it is still being written."""
    if session.waiting:
        return None
    return next((card for card in session.cards if card.chosen and card.state != "done"), None)


class Log(Sequence[Entry]):
    """What the conversation shows; each entry is made when it is looked at, for few are seen."""

    def __init__(self, session: Session, notes: Notes) -> None:
        self._session, self._notes = session, notes
        self._turns = session.turns
        self._running = running_card(session)

    def __len__(self) -> int:
        return len(self._turns)

    @overload
    def __getitem__(self, at: int) -> Entry: ...
    @overload
    def __getitem__(self, at: slice) -> list[Entry]: ...
    def __getitem__(self, at: int | slice) -> Entry | list[Entry]:
        if isinstance(at, slice):
            return [self._entry(one) for one in range(*at.indices(len(self)))]
        return self._entry(range(len(self))[at])

    def _entry(self, at: int) -> Entry:
        turn = self._turns[at]
        if turn.role == "user":
            which, many = self._session.variants(at)
            return Entry("user", turn.text, f"\u2039 {which} of {many} \u203a" if many > 1 else "")
        if self._running is not None and at == len(self) - 1:
            return Entry("assistant", self._running.text, self._notes.at(at), streaming=True)
        return Entry("assistant", turn.text, self._notes.at(at))


def situation(
    session: Session, *, training: bool, taught: bool, practising: bool = False
) -> Situation:
    """What decides which commands work now."""
    waiting, asked = session.waiting, session.ask is not None
    answered = session.answer is not None and running_card(session) is None
    # in plain chat (one candidate) nothing needs to be picked before it is rated
    single = waiting and len(session.cards) == 1 and not session.streaming
    return Situation(
        cards=tuple(c.index for c in session.cards if c.text.strip()) if waiting else (),
        waiting=waiting,
        streaming=session.streaming,
        asked=asked,
        answered=answered,
        ratable=answered or (single and bool(session.cards[0].text.strip())),
        training=training,
        practising=practising,
        rating=session.rating,
        taught=taught,
        branched=session.branched,
    )


def side_by_side(width: int, count: int) -> bool:
    """Whether each of so many cards has room for some words in a box of its own."""
    return width // max(1, count) >= BOX


def card_lines(height: int, prompt: int, count: int, boxed: bool) -> int:
    """Lines for each candidate's text, so that all of them are seen at once, with the prompt.

    height: of the screen; prompt: of the prompt; boxed: side by side, else stacked.
    """
    if boxed:
        return max(2, min(height - prompt - 9, max(8, height // 2 - 4)))
    # a line of state, the keys, a rule, and three lines of the conversation
    return max(1, (height - prompt - 6) // max(1, count))
