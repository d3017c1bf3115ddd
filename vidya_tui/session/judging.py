"""Judging the last exchange: picks, corrections, ratings, and undoing them.

Each judgement is written to the journal first; then the answer on the screen changes, then the owner's book,
and last the teacher is told. Left out: the conversation (session.py).
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from engine.errors import VidyaError
from learning.book import lines
from learning.book.owner_book import OwnerBook
from learning.channels import (
    learn_from_continuation,
    learn_from_correction,
    learn_from_rating,
    learn_from_selection,
)
from learning.journal.journal import Journal
from learning.journal.judgements import Judged
from learning.journal.weak import weak_lessons
from learning.protocol.messages import TeacherPort
from learning.protocol.records import (
    Again,
    Ask,
    Correction,
    Lesson,
    Pick,
    Rating,
    Turn,
    Turns,
)
from learning.protocol.requests import Cancel, Foretell, Keep, Learn, Undo
from learning.text.blame import Part
from learning.text.normalise import writable
from vidya_tui.session.candidate import Card
from vidya_tui.session.exchange import EarlyPick, Exchange


class Judging:
    """The open exchange of a conversation, its answer, and the judgements of it.

    A method that raises VidyaError about what was asked of it, or JournalError, has changed
    nothing. DataError is about the book: the judgement itself is taken then.
    """

    def __init__(self, journal: Journal, teacher: TeacherPort, book_path: Path | None) -> None:
        self.journal = journal
        self.teacher = teacher
        self.answer: str | None = None
        """The answer to the last ask; while an early pick still streams, its text so far."""
        self.rating: Literal["good", "bad"] | None = None
        """The owner's rating of that answer."""
        self._now: Exchange | None = None
        self._said: Turns = ()  # up to and with the owner's last message
        self._early: dict[int, Exchange] = {}  # by ask: picked while it still streams
        self._undoing: set[int] = set()  # lessons whose Undo was sent and not answered
        self.left_standing = False
        """Whether an answer that the owner left unjudged and went on from is learned, with low weight."""
        self.mark_taste = False
        """Whether to ask, after a pick, which candidate the owner's taste would have picked."""
        self._book = OwnerBook(book_path) if book_path else None
        self._in_book: str | None = None  # the answer that the book gives now

    @property
    def book_path(self) -> Path | None:
        """The owner's book; None where none is kept."""
        return self._book.path if self._book else None

    @property
    def ask(self) -> Ask | None:
        """The last ask of the open conversation."""
        return self._now.ask if self._now else None

    @property
    def cards(self) -> list[Card]:
        """The candidates of the last ask. They stay until the next one, so that another can be picked."""
        return self._now.cards if self._now else []

    @property
    def turns(self) -> Turns:
        """All messages and answers; the last is the owner's message while no answer is chosen."""
        return self._said if self.answer is None else (*self._said, Turn("assistant", self.answer))

    @property
    def waiting(self) -> bool:
        """Candidates are shown and none is chosen yet."""
        return bool(self.cards) and self.answer is None

    @property
    def streaming(self) -> bool:
        """Some candidate of the last ask is not complete."""
        return self._now is not None and self._now.streaming

    def stop(self) -> None:
        """Stops the streams; the text so far stays and can be picked."""
        if self._now is not None and self._now.streaming:
            self.teacher.send(Cancel(self._now.ask.id))

    @property
    def undoing(self) -> bool:
        """The teacher has not yet answered an Undo."""
        return bool(self._undoing)

    # ------------------------------------------------------------ judging

    def pick(self, index: int) -> str:
        """Makes a candidate the answer and returns its text so far.

        While it still streams, the lesson waits for the whole text. A later pick replaces this one.
        """
        now = self._now
        if now is None or not now.cards:
            raise VidyaError("no candidates wait", "type a message, then press Enter")
        card = now.card(index)
        if card is None:
            raise VidyaError(f"there is no candidate {index}", f"pick 1 to {len(now.cards)}")
        text = card.said
        if not text:
            raise VidyaError(f"candidate {index} is still empty", "wait for it, or pick another")
        standing = self.standing()
        texts = [judged for judged in standing if not isinstance(judged.judgement, Rating)]
        pick = Pick(now.ask.id, index, now.ask.again.reason if now.ask.again else None)
        if texts and texts[-1].judgement == pick:
            return self.answer or text
        running = card.state != "done"
        lessons = (
            () if running else (learn_from_selection(now.ask, pick, now.as_seen(index, text)),)
        )
        judgement = self.journal.judge(pick, text, lessons, [judged.id for judged in standing])
        now.early = EarlyPick(pick, judgement, text) if running else None
        self._early.pop(now.ask.id, None)
        if running:
            self._early[now.ask.id] = now
        self._reload()
        self._send_judged(bool(lessons), Keep(now.ask.id, index))
        if self.mark_taste and not running:
            self.teacher.send(Foretell(now.ask.id))
        return text

    def correct(self, text: str, index: int | None = None) -> str:
        """Makes the typed text the answer, in place of the candidates or of the last answer.

        index: the candidate that was retyped; None: the first with a text."""
        text = tidy(text)
        if not text:
            raise VidyaError("the correction is empty", "type what the answer should have been")
        now = self._now
        if now is None:
            raise VidyaError("nothing to correct yet", "type a message, then press Enter")
        if text == self.answer and not now.early and (self.rating or self._taken()):
            return text  # judged so already
        if self.answer is None:
            card, shown = self._retyped(now, index), now.as_seen()
            half = card is not None and card.ending in (None, "cancelled")
        else:
            card, shown = next((card for card in now.cards if card.chosen), None), []
            half = card is not None and card.state != "done"
        old = card.said if card else self.answer
        if old and half and text.startswith(old):
            old = None  # a right beginning is no wrong answer
        correction = Correction(now.ask.id, text, card.index if card else None)
        lesson = learn_from_correction(now.ask, text, old, shown)
        withdrawn = [now.early.judgement] if now.early else []
        self.journal.judge(correction, text, (lesson,), withdrawn)
        self._early.pop(now.ask.id, None)
        now.early = None
        self._reload()
        self._send_judged(True, Cancel(now.ask.id))
        return text

    @property
    def first_shown(self) -> int | None:
        """Number of the first candidate with a text while none is chosen; else None."""
        card = self._now.first_shown() if self._now and self.answer is None else None
        return card.index if card else None

    def editable(self, index: int | None = None) -> str:
        """The text that `correct(..., index)` would replace; the editor opens with it."""
        if self.answer is not None or self._now is None:
            return self.answer or ""
        card = self._retyped(self._now, index)
        return card.said if card else ""

    @staticmethod
    def _retyped(now: Exchange, index: int | None) -> Card | None:
        """The candidate that a correction replaces: number `index`, or the first with a text; None where it
        is empty."""
        card = now.first_shown() if index is None else now.card(index)
        return card if card and card.said else None

    def rate(
        self,
        value: Literal["good", "bad"] | None,
        reason: str = "",
        part: Part | None = None,
        index: int | None = None,
    ) -> None:
        """Rates the last answer; None withdraws the rating. In plain chat (one candidate) rating
        it also makes it the answer. reason: why, in the owner's words. part: finds what of a bad answer is
        to blame; None: all of it. index: rates this candidate; it becomes the answer if none is chosen."""
        answer = self.answer
        if index is not None:
            card = self._now.card(index) if self._now else None
            answer = card.said or None if card and card.state == "done" else None
        elif answer is None and len(self.cards) == 1 and not self.streaming:
            answer = self.cards[0].said or None
        if self._now is None or answer is None:
            raise VidyaError("no answer to rate yet", "pick an answer first")
        if self._now.early:
            raise VidyaError("the answer is still being written", "rate it when it is whole")
        why = " ".join(tidy(reason).split()) or None
        blame = part(answer) if part and value == "bad" else None
        if blame and blame[1] - blame[0] >= len(answer.strip()):
            blame = None
        earlier, rated = [], Rating(self._now.ask.id, None)
        for judged in self.standing():
            if isinstance(judged.judgement, Rating) and judged.answer == answer:
                earlier.append(judged.id)
                rated = judged.judgement
        if value == rated.value and why is None and blame == rated.blame:
            return
        lesson = learn_from_rating(self._now.ask, answer, value, blame)
        lessons = (lesson,) if lesson else ()
        rating = Rating(self._now.ask.id, value, why, blame)
        self.journal.judge(rating, answer, lessons, earlier)
        self._reload()
        self._send_judged(bool(lessons))

    def withdraw_earlier(self) -> bool:
        """Withdraws the bad rating for whose reason the message was answered again, while none of the new
        answers is chosen. Returns whether there was one."""
        now = self._now
        rated = self.journal.rated_before(now.ask) if now and self.answer is None else None
        if now is None or rated is None:
            return False
        number = rated.judgement.ask
        self.journal.judge(Rating(number, None), rated.answer, (), [rated.id])
        judged = [one.judgement for one in self.journal.judgements(number) if one.stands]
        taken = any(not isinstance(judgement, Rating) for judgement in judged)
        answer, mine = self.journal.answer(number), lines.of_exchange(self.journal, now.ask)
        try:
            if self._book and taken and answer == rated.answer:
                lines.write(self._book, self.journal, self._said[-1].text, None, answer, mine)
                self._in_book = answer
        finally:
            self._send_undos()
        return True

    def against(self, reason: str) -> Again:
        """The answer, or the surest candidate while none is chosen, with what the owner has against it."""
        if self._now is not None and self._now.early:
            raise VidyaError("the answer is still being written", "ask again when it is whole")
        card = self._now.surest() if self._now else None
        old, reason = self.answer or (card.said if card else ""), " ".join(tidy(reason).split())
        if not old or not reason:
            what = "no answer yet" if not old else "no reason"
            raise VidyaError(f"there is {what}", "say how an answer on the screen should be")
        return Again(old, reason)

    def undo(self) -> None:
        """Undoes the last lesson: in the journal and the book now, and the teacher undoes it in the weights.
        A pick that still streams is withdrawn before it becomes a lesson."""
        if self._now is not None and self._now.early:
            self._take_early_back(self._now)
            self.stop()
            self._reload()
            return
        lesson = self.journal.last_lesson(skip=self._undoing)
        if lesson is None:
            self.teacher.send(Undo(None))
        else:
            self.take_back(lesson)

    def take_back(self, lesson: Lesson) -> None:
        """Undoes any lesson of the journal; with a judgement's, all that its reason was carried over to."""
        if lesson.judgement is not None and lesson.kind != "reason":
            self.journal.withdraw(lesson.judgement)
        else:
            self.journal.retract(lesson.id)
        try:
            self._taken_back(lesson)
        finally:
            self._send_undos()

    def _take_early_back(self, exchange: Exchange) -> None:
        if exchange.early:
            self.journal.withdraw(exchange.early.judgement)
            self._early.pop(exchange.ask.id, None)
            exchange.early = None

    def _continuation(self, ask: Ask, card: Card) -> tuple[Lesson, ...]:
        """The lessons of going on from an unjudged answer: none unless the owner switched that on, none for
        a text that was cut short or that the program offered, and none that contradicts a judgement or was
        undone."""
        whole = card.state == "done" and card.ending != "cancelled"
        if not self.left_standing or not whole or card.offered:
            return ()
        lesson = learn_from_continuation(ask, card.said)
        return (lesson,) if weak_lessons([lesson], self.journal) else ()

    def _send_judged(self, learn: bool, ending: Keep | Cancel | None = None) -> None:
        """Brings the book up to date and tells the teacher what a judgement changed."""
        try:
            self._follow_book()
        finally:  # where the book cannot be written, the lesson is learned all the same
            if ending and self.streaming:
                self.teacher.send(ending)
            self._send_undos()
            if learn:
                self.teacher.send(Learn())

    # ------------------------------------------------------------ journal, book and teacher

    def _complete(self, ask: Ask, judgement: int, text: str, lesson: Lesson | None) -> None:
        """Adds the whole text and its lesson to a judgement made while the text still streamed."""
        self.journal.complete(judgement, text, (lesson,) if lesson else ())
        if self._now is not None and self._now.ask.id == ask.id:
            self._reload()
            self._follow_book()
        elif self._book and lesson and lesson.kind in ("pick", "correction"):
            question = ask.turns[-1].text
            mine = lines.of_exchange(self.journal, ask)
            lines.write(self._book, self.journal, question, None, text, mine)

    def standing(self) -> list[Judged]:
        """The judgements of this ask that were not withdrawn, oldest first."""
        if self._now is None:
            return []
        return [judged for judged in self.journal.judgements(self._now.ask.id) if judged.stands]

    def _reload(self) -> None:
        """Reads answer, rating and chosen card from the journal."""
        if self._now is None:
            return
        self.answer = self.journal.answer(self._now.ask.id)
        self.rating, chosen = None, None
        for judged in self.standing():
            if isinstance(judged.judgement, Pick):
                chosen = judged.judgement.index
            elif isinstance(judged.judgement, Correction):
                chosen = None
            elif judged.answer == self.answer:  # a rating is of the text it was given to
                self.rating = judged.judgement.value
        for card in self._now.cards:
            card.chosen = card.index == chosen

    def _for_book(self) -> str | None:
        """The answer that the book should give: picked or typed, complete, and not rated bad; else None."""
        if self._now is None or self._now.early or self.rating == "bad":
            return None
        return self.answer if self._taken() else None

    def _taken(self) -> bool:
        """Whether the answer was picked or typed, and not only left standing or rated."""
        return any(not isinstance(judged.judgement, Rating) for judged in self.standing())

    def _follow_book(self) -> None:
        """Writes the answer of this exchange to the owner's book, or takes it out."""
        wanted = self._for_book()
        if self._book and self._said and self._now:
            question, mine = (
                self._said[-1].text,
                lines.of_exchange(self.journal, self._now.ask),
            )
            lines.write(self._book, self.journal, question, self._in_book, wanted, mine)
        self._in_book = wanted

    def _taken_back(self, lesson: Lesson) -> None:
        """Updates answer, rating and book after a lesson was undone."""
        here = self.journal.judgements(self._now.ask.id) if self._now else []
        if lesson.judgement in {judged.id for judged in here}:
            self._reload()
            self._follow_book()
        elif self._book and lesson.prompt and lesson.kind in lines.WRITTEN:
            lines.take_out(self._book, self.journal, lesson)

    def _send_undos(self) -> None:
        """Sends one Undo for each lesson that was withdrawn and is still in the weights."""
        for lesson in self.journal.to_undo():
            if lesson.id not in self._undoing:
                self._undoing.add(lesson.id)
                self.teacher.send(Undo(lesson.id))


def tidy(text: str) -> str:
    """A typed text as the journal keeps it: without white space around it, and writable as UTF-8."""
    return writable(text).strip()
