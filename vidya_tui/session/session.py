"""One conversation: its messages, its candidates, and their judgement.

Everything on the screen is in the journal. Imports neither Textual nor torch; all calls, `handle` too, come
from one thread. Left out: how anything looks, and how lessons are learned.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from engine.config import Sampling
from engine.errors import NotFound, VidyaError
from learning.book.repair import mend_book
from learning.channels import (
    learn_from_human,
    learn_from_judgement,
    learn_from_selection,
)
from learning.journal.journal import Journal
from learning.journal.tree import ConversationTree, TreeNode
from learning.protocol.events import (
    AskDone,
    CandidateDone,
    CandidateReset,
    CandidateTexts,
    Event,
    Failed,
    TeacherEnded,
    UndoDone,
)
from learning.protocol.messages import TeacherPort
from learning.protocol.records import Again, Ask, Lesson, Turn, Turns
from learning.protocol.requests import Cancel, Generate, Learn
from vidya_tui.session.candidate import Card
from vidya_tui.session.exchange import EarlyPick, Exchange
from vidya_tui.session.judging import Judging, tidy
from vidya_tui.text.numbers import counted

__all__ = ["Card", "Session"]


class Session(Judging):
    """What the owner can do in a conversation; the base class judges its last exchange."""

    def __init__(
        self,
        journal: Journal,
        teacher: TeacherPort,
        *,
        sampling: Sampling | None = None,
        candidates: int = 5,
        seed: int | None = None,
        book_path: Path | None = None,
    ) -> None:
        """seed: of the first ask; each later one takes the next number. None: never the same."""
        super().__init__(journal, teacher, book_path)
        self.sampling = sampling or Sampling()
        self.candidates = candidates
        self.seed = seed
        self.owner_words = False
        """Whether the owner's own messages are learned too, with low weight."""
        self.keep_unchosen = True
        """Whether the journal keeps the candidates that were not chosen."""
        self.recall = self.offers = False
        """The settings of these names (vidya_tui.settings.file): whether the text of a lesson may help to
        answer, and whether its answer may be offered."""
        self.conversation: int | None = None
        self._asked = 0
        self._broken = False  # the teacher was lost while this ask streamed
        self._branches = ConversationTree()
        self._branched = False
        self._path: dict[int, TreeNode] = {}  # by the message's position among the turns

    # ------------------------------------------------------------ talking

    def say(self, text: str) -> Ask:
        """Asks for candidates to a message. The message is in the journal when this returns.

        Where candidates still wait, the surest becomes the answer, unjudged. Where there is none,
        the earlier message and this one are joined into one.
        """
        text = tidy(text)
        if not text:
            raise VidyaError("nothing was typed", "type a message, then press Enter")
        self._go_on()
        turns, before = self.turns, self.ask
        parent = before.id if before else None
        if turns and turns[-1].role == "user":
            turns, text = turns[:-1], f"{turns[-1].text}\n{text}"
            parent = before.parent if before else None
        turns = (*turns, Turn("user", text))
        ask = self._add_ask(turns, parent, self._words(turns))
        self._in_book = None
        self._generate(ask)
        return ask

    def regenerate(self, reason: str = "") -> Ask:
        """Asks the last message again, for other candidates. reason: how the answer should be; the model
        sees it and the answer."""
        if self._now is None:
            raise VidyaError("nothing was asked yet", "type a message, then press Enter")
        again = self.against(reason) if reason else self._now.ask.again
        ask = self._add_ask(self._said, self._now.ask.parent, again=again)
        others = again is None and bool(self._now.cards)
        if self._now.early:  # asked again while the pick still streamed
            self._take_early_back(self._now)
        self.stop()
        self._generate(ask, others=others)
        return ask

    def edit(self, position: int, text: str) -> Ask:
        """Asks an earlier message in other words. position: its index among the turns.

        The earlier wording, and all that followed it, stays as another branch.
        """
        text = tidy(text)
        if not text:
            raise VidyaError("nothing was typed", "type the message as it should have been")
        turns = (*self.turns[:position], Turn("user", text))
        ask = self._add_ask(turns, self._node(position).parent, self._words(turns))
        if self._now is not None and not self._now.early:
            self.stop()
        self._in_book = None
        self._generate(ask)
        return ask

    def variants(self, position: int) -> tuple[int, int]:
        """(number of the wording that is shown, how many there are) of the message at a position."""
        node = self._path.get(position)
        beside = self._branches.beside(node.ask) if node else []
        return (beside.index(node.ask) + 1, len(beside)) if node else (1, 1)

    def asked(self, position: int) -> int | None:
        """The ask that the answer at a position belongs to."""
        node = self._path.get(position - 1)
        return node.ask if node else None

    @property
    def branched(self) -> bool:
        """Some message on the screen has more than one wording."""
        return self._branched

    def turn_to(self, position: int, step: int) -> None:
        """Shows the wording `step` places on (or back) of a message, with its newest continuation."""
        node = self._node(position)
        beside = self._branches.beside(node.ask)
        at = beside.index(node.ask) + step
        if not 0 <= at < len(beside) or self.conversation is None:
            many = counted(len(beside), "variant") if len(beside) > 1 else "only one variant"
            raise VidyaError(f"this message has {many}", "/edit makes another")
        self.open(self.conversation, self._branches.end(beside[at]))

    def _node(self, position: int) -> TreeNode:
        """The ask of the message at a position. Raises VidyaError where there is none."""
        if position not in self._path:
            raise VidyaError("there is no message of yours there", "choose one of yours")
        return self._path[position]

    def new(self) -> None:
        """Begins another conversation; the journal has it from its first message on."""
        self._leave()
        self.conversation = None

    def open(self, conversation: int, at: int | None = None) -> None:
        """Opens an earlier conversation. at: the ask to show; None: the newest. Answers to it that are
        streaming go on.

        Where its last message has no candidates, `recover` or `regenerate` asks for them.
        Raises NotFound.
        """
        branches = self.journal.branches(conversation)
        at = at or branches.newest()
        if self._now and self._now.streaming and self._now.ask.id == at:
            return
        turns = self.journal.turns(conversation, at, branches)
        ask = self.journal.ask(at) if at else None
        answer = self.journal.answer(at) if at else None
        candidates = self.journal.candidates(at) if at else []
        self._leave()
        self.conversation = conversation
        if ask is None:
            return
        self._look_around(ask, branches)
        self._now = self._early.get(ask.id) or Exchange(ask)
        if self._now.early is None:
            self._now.show(candidates)
        self._said = turns if answer is None else turns[:-1]
        self._reload()
        self._in_book = self._for_book()
        self._broken = not self.cards

    def reopen(self, ask: Ask) -> None:
        """Opens the conversation at one ask with its candidates, so that the owner can judge it. Later turns
        are not shown."""
        self._leave()
        self.conversation = ask.conversation
        self._look_around(ask)
        self._now, self._said = Exchange(ask), ask.turns
        candidates = self.journal.candidates(ask.id)
        self._now.show(candidates)
        self._reload()
        self._in_book = self._for_book()

    def take_surest(self) -> str | None:
        """Makes the surest candidate the answer, unjudged, unless one is chosen; returns the answer."""
        card = self._now.surest() if self._now and self.answer is None else None
        if self._now and card:
            self.journal.set_answer(self._now.ask.id, card.said)
            self._reload()
        return self.answer

    def _add_ask(
        self,
        turns: Turns,
        parent: int | None,
        lessons: Sequence[Lesson] = (),
        again: Again | None = None,
    ) -> Ask:
        conversation = self.conversation
        if conversation is None:
            conversation = self.journal.new_conversation()
        seed = None if self.seed is None else self.seed + self._asked
        ask = self.journal.add_ask(conversation, turns, self.sampling, seed, lessons, parent, again)
        self.conversation = conversation
        self._asked += 1
        self._look_around(ask)
        if not self.keep_unchosen:
            self.journal.drop_unchosen(ask.id)
        return ask

    def _words(self, turns: Turns) -> tuple[Lesson, ...]:
        """What the owner's own message teaches."""
        return (learn_from_human(turns),) if self.owner_words else ()

    def _look_around(self, ask: Ask, branches: ConversationTree | None = None) -> None:
        """Reads the branches of the conversation and the path to an ask."""
        self._branches = branches or self.journal.branches(ask.conversation)
        self._path = {node.turns - 1: node for node in self._branches.path(ask.id)}
        beside = self._branches.beside
        self._branched = any(len(beside(node.ask)) > 1 for node in self._path.values())

    def _generate(self, ask: Ask, *, others: bool = False) -> None:
        self._now, self._said = Exchange(ask), ask.turns
        self.answer = self.rating = None
        self._deal(self._now, self.candidates, others=others)

    def _deal(self, exchange: Exchange, count: int, *, others: bool = False) -> None:
        self._broken = False
        exchange.deal(count)
        self.teacher.send(self._request(exchange.ask, count, others))

    def _request(self, ask: Ask, count: int, others: bool) -> Generate:
        """The request for this many candidates."""
        drawn = (ask.id, ask.turns, count, ask.sampling, ask.seed)
        made = Generate(*drawn, recall=self.recall, offers=self.offers, others=others)
        return replace(made, again=ask.again)

    def _go_on(self) -> None:
        """Makes the surest candidate the answer: the owner went on without judging."""
        if self._now is None or not self.waiting:
            return
        card = self._now.surest()
        if card is not None:
            lessons = self._continuation(self._now.ask, card)
            self.journal.set_answer(self._now.ask.id, card.said, lessons)
            self.answer, card.chosen = card.said, True
        self.stop()

    def _leave(self) -> None:
        if self._now is not None and not self._now.early:
            self.stop()
        self._now, self._said = None, ()
        self._path, self._branched = {}, False
        if not self.keep_unchosen:
            self.journal.drop_unchosen()
        self.answer = self.rating = self._in_book = None
        self._broken = False

    # ------------------------------------------------------------ what the teacher says

    def handle(self, event: Event) -> None:
        """Takes every event of the teacher, in order, and ignores those about other things.

        Raises JournalError or DataError where what came cannot be written: a candidate is then
        shown but not journaled, and `recover` makes up for a lesson that was not.
        """
        match event:
            case CandidateTexts():
                self._more(event)
            case CandidateReset():
                self._again(event)
            case CandidateDone():
                self._done(event)
            case AskDone():
                self._ended(event.ask)
            case Failed(ask=int() as ask):
                self._ended(ask)
                if self._now and self._now.ask.id == ask and not self._now.surest():
                    self._now.cards = []  # no text came
            case TeacherEnded():
                self._broken = self._broken or (self.waiting and self.streaming)
                for ask in {*self._early, *([self._now.ask.id] if self._now else [])}:
                    self._ended(ask)
            case UndoDone(lesson=int() as lesson):
                self._undone(lesson)
            case _:
                pass

    def _exchange(self, ask: int) -> Exchange | None:
        """The open exchange, or an earlier one whose pick still streams; None: neither."""
        return self._now if self._now and self._now.ask.id == ask else self._early.get(ask)

    def _more(self, event: CandidateTexts) -> None:
        if exchange := self._exchange(event.ask):
            for delta in event.deltas:
                exchange.add(delta.index, delta.text)
            card = exchange.card(exchange.early.pick.index) if exchange.early else None
            if exchange is self._now and card:
                self.answer = card.said

    def _again(self, event: CandidateReset) -> None:
        exchange = self._exchange(event.ask)
        if exchange and exchange.early and exchange.early.pick.index == event.index:
            # picked just before the reset arrived: the owner meant the text that was shown
            self._settle(exchange, exchange.early, exchange.early.seen)
            self.teacher.send(Cancel(event.ask))
        elif exchange:
            exchange.draw_anew(event.index)

    def _done(self, event: CandidateDone) -> None:
        candidate = event.candidate
        exchange = self._exchange(candidate.ask)
        if exchange:
            exchange.finish(event)
        with contextlib.suppress(NotFound):  # its ask may have been erased meanwhile
            self.journal.add_candidates([candidate])
        if exchange and exchange.early and exchange.early.pick.index == candidate.index:
            whole, seen = candidate.text.strip(), exchange.early.seen
            self._settle(exchange, exchange.early, whole if whole.startswith(seen) else seen)

    def _ended(self, ask: int) -> None:
        """Ends the streams of an ask."""
        if exchange := self._exchange(ask):
            exchange.stop()
            if early := exchange.early:
                card = exchange.card(early.pick.index)
                self._settle(exchange, early, card.said if card and card.said else early.seen)

    def _settle(self, exchange: Exchange, early: EarlyPick, text: str) -> None:
        """The text of an early pick is complete: journals its lesson and has it learned."""
        ask = exchange.ask
        lesson = learn_from_selection(ask, early.pick, exchange.as_seen(early.pick.index, text))
        self._early.pop(ask.id, None)
        exchange.settle(text)
        try:
            with contextlib.suppress(NotFound):  # as above
                self._complete(ask, early.judgement, text, lesson)
        finally:
            self.teacher.send(Learn())

    def _undone(self, number: int) -> None:
        """The teacher undid a lesson in the weights."""
        if number in self._undoing:
            self._undoing.discard(number)
        else:
            with contextlib.suppress(NotFound):
                self._taken_back(self.journal.lesson(number))

    # ------------------------------------------------------------ after a crash

    def recover(self) -> None:
        """After a start, or after the teacher was restarted: finishes what was interrupted.

        Judgements get the lessons they lack, lessons taken back leave the weights, streams that
        broke off begin again if nothing was picked, the teacher hears of lessons that wait, and
        the book gets what it lacks. Raises DataError, all else done, where it cannot be written.
        """
        alive = {exchange.early.judgement for exchange in self._early.values() if exchange.early}
        for judged in self.journal.judgements_without_lessons():
            if judged.id not in alive:
                ask = self.journal.ask(judged.judgement.ask)
                lesson = learn_from_judgement(
                    ask, judged.judgement, judged.answer, self.journal.candidates(ask.id)
                )
                text = lesson.answer if lesson and lesson.kind == "pick" else judged.answer
                self._complete(ask, judged.id, text, lesson)
        self._undoing.clear()
        self._send_undos()
        if self._now is not None and self._broken and self.answer is None:
            self._deal(self._now, len(self._now.cards) or self.candidates)
        if self.journal.waiting_count():
            self.teacher.send(Learn())
        if self._book:
            mend_book(self._book, self.journal)
            self._in_book = self._for_book()
