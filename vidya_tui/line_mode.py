"""`vidya --plain`: the conversation line by line, for screen readers, pipes and poor terminals.

Writes whole lines of plain text and no escape sequence. The session, the commands' spelling and the
learner's words are the app's own. From a pipe each line waits until the one before it is answered
and learned, so that a script sees what a patient person would; at a terminal a line counts at once.
"""

from __future__ import annotations

import queue
import sys
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import BinaryIO, TextIO

from engine.errors import VidyaError
from learning.home import Home
from learning.journal import Journal
from learning.messages import (
    AskDone,
    CancelTraining,
    CandidateDone,
    Event,
    Failed,
    LearnerState,
    LessonDone,
    Ready,
    SetLearning,
    TeacherPort,
    Train,
    TrainDone,
    TrainProgress,
    UndoDone,
    WorkerLost,
)
from vidya_tui import progress_words
from vidya_tui.commands import COMMANDS, CommandError, Run, parse
from vidya_tui.plain import plain
from vidya_tui.preferences import how_to_learn, prepare
from vidya_tui.session import Session
from vidya_tui.settings import Settings

HERE = ("pick", "correct", "rate", "regenerate", "cancel", "train", "undo", "new", "help", "quit")
"""Commands of the app that make sense line by line."""
MakeTeacher = Callable[[Callable[[Event], None]], TeacherPort]


@dataclass(frozen=True)
class Line:
    """Something was typed; None: nothing more will be."""

    text: str | None


def run_lines(
    home: Home,
    journal: Journal,
    make_teacher: MakeTeacher,
    settings: Settings,
    *,
    seed: int | None = None,
    source: BinaryIO | None = None,
    out: TextIO | None = None,
) -> int:
    """Talks until /quit or the end of the input. Returns the exit status."""
    source, out = source or sys.stdin.buffer, out or sys.stdout
    inbox: queue.Queue[Event | Line] = queue.Queue()
    teacher = make_teacher(inbox.put)
    try:
        session = Session(journal, teacher, seed=seed, book_path=home.book_path)
        prepare(session, settings)
        asking = source.isatty()
        mode = LineMode(session, teacher, out, how=how_to_learn(settings), asking=asking)
        mode.begin()
        threading.Thread(target=_read, args=(source, inbox.put), daemon=True).start()
        return _loop(mode, inbox)
    finally:
        teacher.close()


def _read(source: BinaryIO, put: Callable[[Line], None]) -> None:
    # not input(): it would bring readline, which writes escape sequences
    for raw in source:
        put(Line(raw.decode("utf-8", "replace").rstrip("\r\n")))
    put(Line(None))


def _loop(mode: LineMode, inbox: queue.Queue[Event | Line]) -> int:
    while mode.status is None:
        try:
            item = inbox.get()
            if isinstance(item, Line):
                mode.typed(item.text)
            else:
                mode.heard(item)
        except KeyboardInterrupt:
            mode.interrupted()
    while not inbox.empty():
        if not isinstance(item := inbox.get(), Line):
            mode.heard(item)
    return mode.status


class LineMode:
    """Lines and events go in, lines come out. `status` is the exit status, once it ends."""

    def __init__(
        self,
        session: Session,
        teacher: TeacherPort,
        out: TextIO,
        *,
        how: SetLearning | None = None,
        asking: bool = False,
    ) -> None:
        """how: lessons are learned. asking: a person types; each line counts at
        once, and a `> ` says that one is waited for."""
        self.status: int | None = None
        self._session, self._teacher, self._out = session, teacher, out
        self._how, self._asking = how or SetLearning(on=True), asking
        self._typed: deque[str | None] = deque()
        self._loaded = self._ending = self._training = self._stuck = False
        self._told = 0
        """Candidates of this ask that were read out."""
        self._due: set[int] = set()
        """Lessons whose outcome is still to be told."""

    def begin(self) -> None:
        """What was left undone is taken up."""
        if self._how != SetLearning(on=True):
            self._teacher.send(self._how)
        self._session.recover()
        self._say("vidya, line by line. /help lists the commands.")
        self._invite()

    # ------------------------------------------------------------ what is typed

    def typed(self, text: str | None) -> None:
        """A line; None is the end of them."""
        self._typed.append(text)
        self._go_on()

    def interrupted(self) -> None:
        """Ctrl+C: stops what is going on; where nothing is, or while leaving, ends at once."""
        if self._ending or not (self._session.streaming or self._training):
            if waiting := len(self._session.journal.waiting()):
                self._say(f"{_lessons(waiting)} in the journal; the next `vidya` learns them")
            self.status = 130
        else:
            self._cancel()

    def _go_on(self) -> None:
        """Does what was typed, as far as it can be done now."""
        while self._typed and self.status is None and not self._ending:
            if not self._asking and (self._busy() or not self._loaded):
                return
            text = self._typed.popleft()
            if text is None:
                self._leave()
            else:
                try:
                    self._do(text)
                except VidyaError as error:
                    self._say(str(error))
                if not self._ending:
                    self._invite()
        if self._ending and not self._busy() and self.status is None:
            self.status = 0

    def _do(self, text: str) -> None:
        if self._session.waiting and len(text) == 1 and text in "123456789":
            self._pick(int(text))
            return
        wish = parse(text) if text.strip() else None
        if isinstance(wish, Run):
            self._run(wish)
        elif wish:
            self._session.say(wish.text)
            self._told = 0

    def _run(self, wish: Run) -> None:
        name, argument = wish.command.name, wish.argument
        self._stuck = False
        if name not in HERE:
            raise CommandError(f"/{name} needs the screen", "start `vidya` without --plain")
        if name == "pick":
            self._pick(int(argument or 0))
        elif name == "correct":
            if argument is None:
                raise CommandError("/correct needs the text here", "type /correct RIGHT ANSWER")
            self._say(f"the answer is now: {self._session.correct(str(argument))}")
        elif name == "rate":
            value = None if argument == "off" else "good" if argument == "good" else "bad"
            self._session.rate(value)  # type: ignore[arg-type]  # mypy widens the literals
            self._say(f"rated {value}" if value else "rating withdrawn")
        elif name == "regenerate":
            self._session.regenerate()
            self._told = 0
        elif name == "cancel":
            self._cancel()
        elif name == "train":
            if self._training:
                raise CommandError("training is going on", "wait for it, or stop it with /cancel")
            self._training = True
            self._teacher.send(Train(epochs=int(argument) if argument else None))
            self._say("training")
        elif name == "undo":
            self._session.undo()
            self._say("taking back the last lesson")
        elif name == "new":
            self._session.new()
            self._say("a new conversation")
        elif name == "help":
            self._help()
        else:
            self._leave()

    def _pick(self, number: int) -> None:
        self._stuck = False
        self._say(f"picked {number}: {self._session.pick(number)}")

    def _cancel(self) -> None:
        self._session.stop()
        if self._training:
            self._teacher.send(CancelTraining())

    def _leave(self) -> None:
        """What was judged is learned first."""
        self._ending = True
        self._session.stop()
        if self._busy():
            self._say("finishing what you taught; Ctrl+C leaves the rest for the next time")

    def _help(self) -> None:
        self._say("A line is a message. While answers wait, a number picks one; a space before it")
        self._say("makes it a message. // begins a message with a slash.")
        for command in COMMANDS:
            if command.name in HERE:
                self._say(f"{command.usage}: {command.help}")

    # ------------------------------------------------------------ what the teacher says

    def heard(self, event: Event) -> None:
        """An event of the teacher."""
        try:
            self._session.handle(event)
        except VidyaError as error:
            self._say(str(error))
        match event:
            case Ready():
                if self._loaded:
                    self._session.recover()  # it was started anew
                self._loaded = True
                self._say(f"{event.model} is awake, version {event.version}")
            case CandidateDone():
                self._read_out()
            case AskDone():
                self._read_out()
                self._invite()
            case LessonDone():
                self._due.discard(event.lesson)
                self._say(f"lesson {event.lesson}: {progress_words.outcome(event)}")
            case UndoDone():
                self._due.discard(event.lesson or 0)
                self._say(event.what)
            case TrainProgress(epoch_ended=True):
                known = "" if event.recall is None else progress_words.percent(event.recall)
                recall = f", recall {known}" if known else ""
                self._say(f"epoch {event.epoch} of {event.epochs}: loss {event.loss:.3f}{recall}")
            case TrainDone():
                self._training = False
                self._say(progress_words.trained(event))
            case Failed():
                self._failed(event)
            case WorkerLost():
                self._lost(event)
            case LearnerState():
                pass
            case _:
                return
        self._go_on()

    def _read_out(self) -> None:
        """Says the candidates in the order of their numbers, each as soon as it is whole."""
        cards = self._session.cards
        while self._told < len(cards) and cards[self._told].state == "done":
            card = cards[self._told]
            self._told += 1
            if card.said and card.ending != "cancelled":
                self._say(f"{card.index}. {card.said}" if len(cards) > 1 else card.said)

    def _failed(self, event: Failed) -> None:
        self._say(f"{event.what}; {event.next_step}" if event.next_step else event.what)
        if event.where == "load":
            self.status = 1
        elif event.where == "train":
            self._training = False
        elif event.where in ("learn", "undo"):
            self._stuck = True
            self._due.clear()

    def _lost(self, event: WorkerLost) -> None:
        self._training = False
        self._due.clear()  # those that still wait are counted anew
        if event.restarting:
            self._say(f"the model's process ended ({event.reason}); starting it again")
        else:
            self._say(f"the model's process ended ({event.reason}); run `vidya doctor`")
            self.status = 1

    # ------------------------------------------------------------ state

    def _busy(self) -> bool:
        """Something is under way that a patient person would wait for."""
        if self._session.streaming or self._training:
            return True
        if self._stuck:
            return False
        if self._how.on:
            self._due |= {lesson.id for lesson in self._session.journal.waiting()}
        return self._session.undoing or bool(self._due)

    def _say(self, text: str) -> None:
        self._out.write(plain(text) + "\n")
        self._out.flush()

    def _invite(self) -> None:
        if self._asking and self.status is None:
            self._out.write("> ")
            self._out.flush()


def _lessons(count: int) -> str:
    return f"{count} lesson{'' if count == 1 else 's'} stay" + ("s" if count == 1 else "")
