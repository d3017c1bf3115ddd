"""Carries out the owner's commands and says in a few words what came of them.

Between the chat's widgets and the session: commands and events go in, words for the owner come out.
Knows no widgets. Left out: how answers, judgements and lessons work (session/session.py), corrections
in the editor (retyping.py), and what events mean (state/known.py).
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Literal

from engine.errors import VidyaError
from learning.journal.journal import Journal
from learning.protocol.events import (
    Event,
    LessonDone,
    TeacherEnded,
    Understood,
    UndoDone,
    WorkerLost,
)
from learning.protocol.messages import TeacherPort
from learning.protocol.model_events import WouldPick
from learning.protocol.requests import CancelTraining, SetLearning, Train
from learning.text.blame import Part, from_words, last_sentence, these_words
from vidya_tui.commands.arguments import Argument, rating_words
from vidya_tui.commands.keymap import Keymap, usual, way
from vidya_tui.commands.parse import RunCommand
from vidya_tui.commands.situation import Situation
from vidya_tui.controller.drafts import Drafts
from vidya_tui.controller.fetching import FetchDesk
from vidya_tui.controller.practice import PracticeController
from vidya_tui.controller.retyping import Retyping
from vidya_tui.session.session import Session
from vidya_tui.state import learner as learner_state
from vidya_tui.state import training as training_state
from vidya_tui.state import transcript, undoing
from vidya_tui.state.growth import Growing
from vidya_tui.state.known import StateStore
from vidya_tui.state.learner import Learning
from vidya_tui.state.message import StatusMessage
from vidya_tui.state.notes import Notes, note_of, recalled
from vidya_tui.state.training import TrainingLog
from vidya_tui.state.transcript import Log
from vidya_tui.worker.fetcher import Fetcher


class Controller:
    """Joins one session and one teacher. A method that raises VidyaError has changed nothing."""

    def __init__(
        self,
        journal: Journal,
        session: Session,
        teacher: TeacherPort,
        keys: Keymap | None = None,
        fetcher: Fetcher | None = None,
    ) -> None:
        """keys: those that hints mention; None: the default keys. fetcher: None: nothing can be fetched."""
        self.session = session
        self.keys = keys or usual()
        self.journal = journal
        self._teacher = teacher
        self.known = StateStore()
        """What the teacher's events have told."""
        self.practice = PracticeController(teacher, self.known)
        self.fetches = FetchDesk(self.known, fetcher, self.keys)
        self._how = SetLearning(on=True)
        self._begun = False
        self._notes = Notes(lambda at: recalled(self.journal, self.session, at))
        self.undone = 0.0
        """When the last undo ended, in seconds of time.monotonic(); 0: none has."""
        self._taught = False
        self.drafts = Drafts()
        self._retyping = Retyping(session, self.drafts)

    def begin(self) -> None:
        """Called once, at the start: resumes what was interrupted."""
        self._taught = self.journal.last_lesson() is not None
        self._begun = True
        self._take_up()

    def learn_as(self, how: SetLearning) -> None:
        """Sets how lessons are learned, by this teacher and by every later one."""
        if how != self._how:
            self._how = how
            if self._begun:
                self._teacher.send(how)

    # ------------------------------------------------------------ what is shown

    @property
    def learning(self) -> Learning:
        """What is known of the learner."""
        return self.known.now.learning

    @property
    def training(self) -> TrainingLog:
        """The book training that runs, or the last one."""
        return self.known.now.training

    @property
    def growing(self) -> Growing | None:
        """A larger model that is being made."""
        return self.known.now.growing

    def log(self) -> Log:
        """The entries of the conversation."""
        return Log(self.session, self._notes)

    def understood(self) -> str:
        """The note under the last answer: "preferred 3 over 1, 2, 4, 5"."""
        return self._notes.at(len(self.session.turns) - 1)

    def situation(self) -> Situation:
        """What decides which commands work."""
        return transcript.situation(
            self.session,
            training=self.training.running,
            taught=self._taught,
            practising=self.practice.running,
        )

    # ------------------------------------------------------------ what the owner does

    def say(self, text: str) -> StatusMessage:
        """Asks for answers to a message."""
        session = self.session
        unjudged = session.waiting and any(card.text.strip() for card in session.cards)
        session.say(text)
        if unjudged:
            self._notes.unjudged(len(session.turns) - 2)
        if self.learning.loaded:
            return StatusMessage("")
        self.known.change(model=replace(self.known.now.model, promised=True))
        return StatusMessage("the answer comes as soon as the model is awake")

    def carry_out(self, run: RunCommand) -> StatusMessage:
        """Carries out a command that needs no screen of its own. Raises VidyaError, also where its argument
        is missing."""
        if run.argument is None:
            run.command.read(run.command.name, "")
        work: dict[str, Callable[[Argument], StatusMessage]] = {
            "pick": self._pick,
            "correct": self._correct,
            "rate": self._rate,
            "again": self._regenerate,
            "regenerate": self._regenerate,
            "edit": self._edit,
            "branch": self._branch,
            "cancel": self._cancel,
            "train": self._train,
            "practice": lambda argument: self.practice.carry_out(argument),
            "get": self.fetches.carry_out,
            "undo": self._undo,
            "new": self._new,
        }
        return work[run.command.name](run.argument)

    def open(self, conversation: int) -> StatusMessage:
        """Opens an earlier conversation."""
        self.session.open(conversation)
        self._notes.clear()
        self.session.recover()  # asks again what was never answered
        return StatusMessage("")

    def turn_to(self, position: int, step: int) -> StatusMessage:
        """Shows another wording of the message at a position, with what followed it."""
        self.session.turn_to(position, step)
        self._notes.clear()
        self.session.recover()
        return StatusMessage("")

    def say_anew(self, position: int, text: str) -> StatusMessage:
        """Asks the message at a position in other words."""
        self.session.edit(position, text)
        self._notes.cut(position)
        return StatusMessage("the earlier one is kept; /branch goes back to it")

    def correctable(self, index: int | None = None) -> tuple[str, str, bool]:
        """(the owner's message, the text that the editor opens with, whether the owner typed that).
        index: the candidate to retype; None: the one left unsaved last, else the first with a text, or
        the answer."""
        return self._retyping.begin(index)

    def retyped(self, text: str, *, saved: bool, index: int | None = None) -> StatusMessage | None:
        """Takes the text from the editor. One that was not saved, or could not be, opens again next time."""
        if saved:
            return self._judged() if self._retyping.save(text, index) else None
        if self._retyping.leave(text, index):
            return StatusMessage(
                "not saved; /correct opens it again as you left it, until you quit"
            )
        return None

    def _pick(self, argument: Argument) -> StatusMessage:
        assert isinstance(argument, int)
        self.session.pick(argument)
        return self._judged()

    def _correct(self, argument: Argument) -> StatusMessage:
        self.session.correct(str(argument))
        return self._judged()

    def _rate(self, argument: Argument) -> StatusMessage:
        read = rating_words(str(argument))
        value: Literal["good", "bad"] | None = None
        if read.value in ("good", "bad"):
            value = "good" if read.value == "good" else "bad"
        elif self.session.withdraw_earlier():
            return StatusMessage("the rating is withdrawn; /branch goes back to that answer")
        part: Part | None = last_sentence if read.end else None
        if read.words:
            part = partial(from_words, words=read.words)
        self._rated(value, read.reason, part)
        again = value == "bad" and read.reason
        return self._regenerate(read.reason) if again else StatusMessage("")

    def blame(self, words: str) -> StatusMessage:
        """Rates the last answer bad for these words of it. Raises VidyaError."""
        self._rated("bad", "", partial(these_words, words=words))
        return StatusMessage("")

    def _rated(self, value: Literal["good", "bad"] | None, reason: str, part: Part | None) -> None:
        self.session.rate(value, reason, part)
        self._note()
        self._taught = self._taught or value is not None

    def _judged(self) -> StatusMessage:
        self._note()
        self._taught = True
        return StatusMessage("")

    def _note(self) -> None:
        """Writes the note under the last answer from the judgements that were not withdrawn."""
        session = self.session
        self._notes.cut(len(session.turns))
        if session.answer is not None:
            cards = session.cards
            note = note_of(session.answer, session.standing(), lambda: [c.index for c in cards])
            self._notes.judged(len(session.turns) - 1, note)

    def _regenerate(self, reason: Argument) -> StatusMessage:
        self.session.regenerate(str(reason or ""))
        self._notes.cut(len(self.session.turns))
        return StatusMessage("")

    def _edit(self, argument: Argument) -> StatusMessage:
        return self.say_anew(self.last_mine(), str(argument or ""))

    def _branch(self, argument: Argument) -> StatusMessage:
        there = [at for at in self.mine() if self.session.variants(at)[1] > 1]
        if not there:
            raise VidyaError("no message here has other variants", "/edit makes one")
        which, many = self.session.variants(there[-1])
        step = 1 if argument == "next" or (argument is None and which < many) else -1
        return self.turn_to(there[-1], step)

    def mine(self) -> list[int]:
        """Positions of the owner's messages."""
        turns = self.session.turns
        return [at for at, turn in enumerate(turns) if turn.role == "user"]

    def last_mine(self) -> int:
        """Position of the owner's last message. Raises VidyaError where there is none."""
        positions = self.mine()
        if not positions:
            raise VidyaError("nothing was said yet", "type a message, then press Enter")
        return positions[-1]

    def _cancel(self, _: Argument) -> StatusMessage:
        if self.session.streaming:
            self.session.stop()
            return StatusMessage("")
        if self.practice.running and not self.training.running:
            return self.practice.stop()
        if not self.training.running:
            raise VidyaError("nothing is running", "there is nothing to cancel")
        self.known.change(
            training=self.training.stopped(), learning=replace(self.learning, stopping=True)
        )
        self._teacher.send(CancelTraining())
        return StatusMessage("stopping the training; what was learned so far is kept")

    def _train(self, argument: Argument) -> StatusMessage:
        if self.training.running:
            raise VidyaError("the book is being learned already", "/cancel stops it")
        self.known.change(
            training=training_state.BEGUN, learning=replace(self.learning, stopping=False)
        )
        self._teacher.send(Train(epochs=argument if isinstance(argument, int) else None))
        shows, stops = way(self.keys, "curve"), way(self.keys, "cancel")
        return StatusMessage(
            f"learning the book; go on chatting; {shows} shows how it goes, {stops} stops it"
        )

    def other_undo(self) -> str:
        """A sentence about the lesson that an undo would undo, where it belongs to another conversation than
        the open one; else ""."""
        if transcript.running_card(self.session) is not None or self.session.undoing:
            return ""
        return undoing.elsewhere(self.journal, self.session.conversation)

    def _undo(self, argument: Argument) -> StatusMessage:
        """argument: "yes": also where the lesson belongs to another conversation."""
        if self.session.undoing:
            return StatusMessage(
                "the last undo is still at work; once more when it is done takes another"
            )
        if argument is None and (other := self.other_undo()):
            return StatusMessage(f"{other}; /undo yes takes it back", trouble=True, stay=True)
        early = transcript.running_card(self.session) is not None
        if not early and self.journal.last_lesson() is None:
            return StatusMessage("there is nothing to undo")
        self.session.undo()
        self._note()
        return StatusMessage("the pick was taken back" if early else "taking the last lesson back")

    def _new(self, _: Argument) -> StatusMessage:
        self.session.new()
        self._notes.clear()
        return StatusMessage("a new conversation")

    def away(self) -> None:
        """Called every few seconds: begins idle practice where the owner has been away long enough."""
        self.practice.away(busy=self.session.streaming or self.training.running)

    # ------------------------------------------------------------ what the teacher says

    def hear(self, events: Sequence[Event]) -> list[StatusMessage]:
        """Takes events in order; returns what to tell the owner about them."""
        heard: list[StatusMessage] = []
        for event in events:
            for take in (self.session.handle, self._understand, self.practice.hear):
                try:
                    words = take(event)
                except VidyaError as error:
                    words = StatusMessage(str(error), trouble=True)
                if words is not None:
                    heard.append(words)
        return heard

    def _understand(self, event: Event) -> StatusMessage | None:
        """Updates what is known and the notes under the answers."""
        words = self.known.take(event)
        match event:
            case LessonDone():
                self._annotate(event.lesson, learner_state.outcome(event))
            case Understood():
                self._annotate(event.lesson, learner_state.understanding_words(event.understanding))
            case WouldPick():
                self._expected(event)
            case UndoDone():
                if event.lesson is not None:
                    self._annotate(event.lesson, "taken back", undone=True)
                self.undone = time.monotonic()
                self._taught = self.journal.last_lesson() is not None
                said = undoing.taken_back(self.journal, event)
                return StatusMessage(said) if said else None
            case WorkerLost(restarting=False):
                pass
            case TeacherEnded():
                self._take_up()
        return words

    def _take_up(self) -> None:
        """Tells a new teacher how to learn, and asks again what the old one left unanswered."""
        self._teacher.send(self._how)
        self.session.recover()

    def _expected(self, event: WouldPick) -> None:
        """Says under a picked answer which candidate was expected to be picked."""
        session = self.session
        picked = next((card.index for card in session.cards if card.chosen), None)
        if session.ask and session.ask.id == event.ask and picked is not None:
            self._notes.would_pick(len(session.turns) - 1, picked, event.index)

    def _annotate(self, lesson_id: int, words: str, *, undone: bool = False) -> None:
        """Adds the outcome of a lesson to the note of its answer, where that is on the screen."""
        if not len(self._notes):
            return
        with contextlib.suppress(VidyaError):  # the lesson was erased meanwhile
            if self._notes.at(len(self.session.turns) - 1):
                self._note()  # /lessons may have changed the answer itself
            lesson = self.journal.lesson(lesson_id)
            if undone and lesson.judgement is not None:
                self._notes.taken_back(lesson.judgement)
            else:
                self._notes.outcome(lesson, self.session.turns, words)
