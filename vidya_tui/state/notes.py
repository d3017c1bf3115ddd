"""The note under an answer: how it was judged, and what became of the lesson."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from vidya_tui.state.learner import understanding_words
from vidya_tui.text.sanitise import one_line

if TYPE_CHECKING:  # the first frame waits for no more than it needs
    from learning.journal.journal import Journal
    from learning.journal.judgements import Judged
    from learning.protocol.records import Lesson, Turns
    from vidya_tui.session.session import Session


@dataclass
class Note:
    """The parts of a note."""

    judgement: str = ""
    expected: str = ""
    """What the owner's taste, as it is learned, would have picked."""
    rating: str = ""
    outcome: str = ""
    made: int = 0
    """Number of the judgement that made the answer; 0: none."""
    rated: int = 0
    """Number of the rating; 0: none."""

    def words(self) -> str:
        parts = (self.judgement, self.expected, self.rating, self.outcome)
        return " \u00b7 ".join(part for part in parts if part)


def note_of(answer: str, standing: Sequence[Judged], numbers: Callable[[], list[int]]) -> Note:
    """The note for the judgements of an answer that were not withdrawn.

    numbers: of all candidates that the answer was among.
    """
    from learning.protocol.records import Correction, Pick

    note = Note()
    for judged in standing:
        judgement = judged.judgement
        if isinstance(judgement, Pick):
            others = [str(number) for number in sorted(numbers()) if number != judgement.index]
            over = f" over {', '.join(others)}" if others else ""
            why = f", for \u201c{one_line(judgement.reason, 40)}\u201d" if judgement.reason else ""
            note.judgement, note.made = f"preferred {judgement.index}{over}{why}", judged.id
        elif isinstance(judgement, Correction):
            said = one_line(judgement.text, 60)
            note.judgement, note.made = f"will answer \u201c{said}\u201d", judged.id
        elif judged.answer == answer:  # a rating counts only for the text that was rated
            value = judgement.value
            why = f": {one_line(judgement.reason, 40)}" if judgement.reason else ""
            part = ""
            if judgement.blame:
                start, end = judgement.blame
                part = f" for \u201c{one_line(answer[start:end], 60)}\u201d"
            note.rating = f"rated {value}{part}{why}" if value else "rating withdrawn"
            note.rated = judged.id
    return note


class Notes:
    """The notes of the open conversation, by the answer's index among the turns."""

    def __init__(self, recall: Callable[[int], Note]) -> None:
        """recall: reads the note of an answer from the journal; called for answers without one here."""
        self._recall = recall
        self._notes: dict[int, Note] = {}
        self._outcomes: dict[int, str] = {}
        """Outcomes by the number of the judgement, kept for notes that are made again."""
        self._expected: dict[int, str] = {}
        """What was expected, by the number of the judgement; the journal does not keep this."""

    def __len__(self) -> int:
        return len(self._notes)

    def clear(self) -> None:
        """Drops all notes: another conversation is shown."""
        self._notes.clear()

    def cut(self, length: int) -> None:
        """Drops the notes of answers from turn `length` on."""
        self._notes = {at: note for at, note in self._notes.items() if at < length}

    def at(self, position: int) -> str:
        if position not in self._notes:
            note = self._recall(position)
            note.outcome = self._outcomes.get(note.rated or note.made, note.outcome)
            note.expected = self._expected.get(note.made, "")
            self._notes[position] = note
        return self._notes[position].words()

    def judged(self, position: int, note: Note) -> None:
        """Replaces the note of an answer."""
        note.outcome = self._outcomes.get(note.rated or note.made, "")
        note.expected = self._expected.get(note.made, "")
        self._notes[position] = note

    def would_pick(self, position: int, picked: int, index: int) -> None:
        """Adds which candidate was expected to be picked to the note of a pick."""
        note = self._notes.get(position)
        if note is not None and note.made:
            words = "as it had expected" if index == picked else f"it had expected {index}"
            note.expected = self._expected[note.made] = words

    def taken_back(self, judgement: int) -> None:
        """Marks a judgement as taken back. The answer itself stays where the conversation went on from it."""
        for note in self._notes.values():
            if judgement == note.made:
                note.judgement, note.expected, note.made = "taken back", "", 0
            elif judgement == note.rated:
                note.rating, note.rated = "", 0
            else:
                continue
            note.outcome = self._outcomes.get(note.rated or note.made, "")

    def unjudged(self, position: int) -> None:
        self._notes[position] = Note(judgement="went on with this one, unjudged")

    def outcome(self, lesson: Lesson, turns: Turns, words: str) -> None:
        """Adds the outcome of a lesson to the note of the answer that it is about."""
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


BECAME = {"learned": "learned", "needs_practice": "needs practice"}
"""States of a lesson that a note mentions."""


def recalled(journal: Journal, session: Session, position: int) -> Note:
    """The note of the answer at a position, from the journal."""
    ask = session.asked(position)
    if ask is None:
        return Note()
    given = journal.judgements(ask)
    standing = [judged for judged in given if judged.stands]
    text = session.turns[position].text
    note = note_of(text, standing, lambda: [c.index for c in journal.candidates(ask)])
    if not note.words():
        if any(_made(judged, text) for judged in given):
            note.judgement = "taken back"
        elif journal.candidates(ask):  # an imported answer had no candidates
            note.judgement = "went on with this one, unjudged"
    lessons = journal.lessons_of(note.rated or note.made) if note.rated or note.made else []
    note.outcome = next((_became(journal, one) for one in lessons if one.state in BECAME), "")
    return note


def _became(journal: Journal, lesson: Lesson) -> str:
    """What became of a lesson, with how well it was understood."""
    from learning.journal.lesson_list import understandings

    measured = understandings(journal, [lesson.id]).values()
    return ", ".join(
        filter(None, (BECAME[lesson.state], *(understanding_words(x) for x, _ in measured)))
    )


def _made(judged: Judged, text: str) -> bool:
    """Whether this judgement, withdrawn or not, made the text the answer."""
    from learning.protocol.records import Rating

    return not isinstance(judged.judgement, Rating) and judged.answer == text
