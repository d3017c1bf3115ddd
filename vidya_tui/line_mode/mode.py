"""The conversation line by line: takes typed lines and events, and prints.

Writes whole lines of plain text without escape sequences. Actions and messages are those of the app
(controller/controller.py); this module adds printing and waiting. Input from a pipe waits until the
previous line is answered, learned or practised, so that a script gets the same as a patient person; at a
terminal a line takes effect at once. Left out: where lines and events come from (line_mode/loop.py).
"""

from __future__ import annotations

import re
import time
from collections import deque
from collections.abc import Iterable
from typing import TextIO

from engine.errors import VidyaError
from learning.home import Home
from learning.protocol.compare_events import CompareBegan, CompareDone, ComparedText
from learning.protocol.events import (
    AskDone,
    CandidateDone,
    Checked,
    Event,
    Failed,
    LessonDone,
    PracticeStage,
    PracticeStep,
    Ready,
    TeacherEnded,
    TrainProgress,
    UndoDone,
    WorkerLost,
)
from learning.protocol.model_events import FetchProgress
from learning.protocol.records import Turns
from learning.protocol.requests import Learn
from vidya_tui.commands.arguments import CommandError
from vidya_tui.commands.parse import RunCommand, find, parse
from vidya_tui.commands.table import COMMANDS
from vidya_tui.controller.export import export_open
from vidya_tui.controller.models import ModelControl
from vidya_tui.line_mode import screens
from vidya_tui.line_mode.read_out import CandidateReader
from vidya_tui.state import learner as learner_state
from vidya_tui.state import practice as practice_state
from vidya_tui.state import practice_runs
from vidya_tui.state.fetching import Fetching
from vidya_tui.state.transcript import NAMES
from vidya_tui.text.numbers import counted
from vidya_tui.text.sanitise import plain


class LineMode:
    """Takes lines and events, prints lines. `status` is the exit status once it has ended, else None."""

    def __init__(
        self, home: Home, control: ModelControl, out: TextIO, *, asking: bool = False
    ) -> None:
        """asking: a person types, so each line takes effect at once, after a prompt `> `."""
        self.status: int | None = None
        self._home, self._control, self._out = home, control, out
        self._controller, self._session = control.controller, control.controller.session
        self._learns, self._asking = control.settings.learning, asking
        self._fetched = 0
        """Tenths of the model on its way that were told."""
        self._typed: deque[str | None] = deque()
        self._ending = self._stuck = False
        self._reader = CandidateReader(self._session)
        self._due: set[int] = set()
        """Lessons whose outcome was not printed yet."""
        self._checking = 0
        """Key of the Check whose result was not printed yet; 0: none."""
        self._comparison: screens.Comparison | None = None

    def begin(self) -> None:
        """Resumes unfinished work and greets the owner."""
        try:
            self._controller.begin()
        except VidyaError as error:
            self._say(str(error))
        self._say("vidya, line by line. /help lists the commands.")
        self._invite()

    # ------------------------------------------------------------ what is typed

    def typed(self, text: str | None) -> None:
        """Takes a typed line; None: end of input."""
        self._typed.append(text)
        self._go_on()

    def interrupted(self) -> None:
        """Ctrl+C: stops the answer, training or practice; ends the program if there is none, or while it
        stops or leaves."""
        training, practice = self._controller.training, self._controller.practice.state
        stoppable = (
            self._session.streaming
            or (training.running and not training.stopping)
            or (practice.running and not practice.stopping)
        )
        if self._ending or not stoppable:
            if waiting := self._session.journal.waiting_count():
                self._say(f"{_lessons(waiting)} in the journal; the next `vidya` learns them")
            self.status = 130
        else:
            self._do("/cancel")

    def _go_on(self) -> None:
        """Runs the typed lines as far as possible now."""
        while self._typed and self.status is None and not self._ending:
            if not self._asking and (self._busy() or not self._controller.learning.loaded):
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
            self._run(RunCommand(find("pick"), int(text)))
            return
        wish = parse(text) if text.strip() else None
        if isinstance(wish, RunCommand):
            self._run(wish)
        elif wish:
            self._say(self._controller.say(wish.text).text)

    def _run(self, wish: RunCommand) -> None:
        name = wish.command.name
        if not wish.command.plain:
            raise CommandError(f"/{name} needs the screen", "start `vidya` without --plain")
        if name in ("correct", "edit") and wish.argument is None:
            raise CommandError(f"/{name} needs the text here", f"type /{name} WORDS")
        if wish.command.screen or name == "export":
            self._read_room(name, wish.argument)
        elif name == "practice" and (runs := practice_runs.asked(str(wish.argument or ""))):
            self._say_all(screens.practice(self._session.journal, runs))
        elif name == "help":
            self._help()
        elif name == "quit":
            self._leave()
        else:
            words = self._controller.carry_out(wish)
            if self._stuck:  # try again; a second failure is printed, and not waited for
                self._stuck = False
                self._session.teacher.send(Learn())
            self._say(self._done(name) or words.text)
            if name == "branch":
                self._read_back(self._session.turns[-2:])
            else:
                self._say_all(self._reader.lines())

    def _done(self, name: str) -> str:
        """The message for what the app would show on the screen; empty if there is nothing."""
        answer = self._session.answer or ""
        if name == "pick":
            return f"{self._controller.understood()}: {answer}"
        if name == "train":
            return "learning the book; go on chatting, /cancel stops it"
        return self._controller.understood() if name in ("correct", "rate") else ""

    def _read_room(self, name: str, argument: int | str | None) -> None:
        """Prints what the command's screen shows."""
        journal, words = self._session.journal, "" if argument is None else str(argument)
        if name == "compare":
            tokens = self._session.sampling.max_tokens
            number = argument if isinstance(argument, int) else None
            self._comparison = screens.Comparison(journal, number, tokens)
            self._controller.session.teacher.send(self._comparison.request)
        elif name == "history" and re.fullmatch(r"#[0-9]{1,18}", words):
            self._controller.open(int(words[1:]))
            self._read_back(self._session.turns)
        elif name == "history":
            self._say_all(screens.history(journal, words))
        elif name == "book":
            self._say_all(screens.book(self._session.book_path, words))
        elif name == "progress":
            self._say_all(screens.progress(journal, self._controller.known.now.learning.model))
        elif name == "taste":
            self._say_all(screens.taste(self._control.taste()))
        elif name == "settings":
            self._say_all(screens.settings(self._control.settings, self._home.settings_path))
        elif name == "model":
            self._say_all(screens.models(self._home, self._control.model, self._controller.fetches))
        elif name == "curve":
            self._say_all(screens.curve(self._controller.training))
        elif name == "export":
            self._say(f"written to {export_open(self._home, self._session, words or 'md')}")
        else:
            self._say_all(screens.lessons(journal, words))
            key = time.monotonic_ns()
            if check := screens.check_of(journal, words, key):
                self._checking = key
                self._controller.session.teacher.send(check)

    def _say_all(self, lines: Iterable[str]) -> None:
        for line in lines:
            self._say(line)

    def _read_back(self, turns: Turns) -> None:
        """Prints turns of what was opened, and the candidates if none is chosen."""
        for turn in turns:
            self._say(f"{NAMES[turn.role]}: {turn.text}")
        if not self._session.waiting:
            self._reader.skip()
        self._say_all(self._reader.lines())

    def _leave(self) -> None:
        """Ends the program once what was judged is learned."""
        self._ending = True
        self._session.stop()
        if self._busy():
            self._say("finishing what you taught; Ctrl+C leaves the rest for the next time")

    def _help(self) -> None:
        self._say("A line is a message. While answers wait, a number picks one; a space before it")
        self._say("makes it a message. // begins a message with a slash.")
        for command in COMMANDS:
            if command.plain:
                self._say(command.plain_usage)

    # ------------------------------------------------------------ what the teacher says

    def heard(self, event: Event) -> None:
        """Handles an event of the teacher."""
        self._say_all(self._shown(event))
        self._settle(event)
        for words in self._controller.hear([event]):
            self._say(words.text)
        coming = self._controller.fetches.now
        if isinstance(event, FetchProgress) and coming:
            self._say_progress(coming)
        if ahead := self._control.go_on():
            self._say(ahead.text)
        if isinstance(event, CandidateDone | AskDone):
            self._say_all(self._reader.lines())
        if isinstance(event, AskDone):
            self._invite()
        self._give_up(event)
        self._go_on()

    def _shown(self, event: Event) -> Iterable[str]:
        """Lines for what the app shows on the screen."""
        match event:
            case Ready():
                return [f"{event.model} is awake, version {event.version}"]
            case LessonDone():
                return [f"lesson {event.lesson}: {learner_state.outcome(event)}"]
            case TrainProgress(epoch_ended=True):
                return [learner_state.epoch_ended(event)]
            case Checked() if event.key == self._checking:
                return [screens.known(event)]
            case CompareBegan() | ComparedText() | CompareDone() if self._comparison:
                return self._comparison.heard(event)
            case PracticeStage():
                return [practice_state.staged(event)]
            case PracticeStep():
                return [practice_state.stepped(event)]
        return []

    def _settle(self, event: Event) -> None:
        """Notes what need not be waited for any more."""
        match event:
            case LessonDone() | UndoDone():
                self._due.discard(event.lesson or 0)
            case Checked() if event.key == self._checking:
                self._checking = 0
            case CompareDone():
                self._comparison = None
            case TeacherEnded():  # it will not answer these any more
                self._checking, self._comparison = 0, None
                self._due.clear()  # `_busy` counts those that still wait again

    def _give_up(self, event: Event) -> None:
        """Ends the program without a model, and waits for no lesson after a failure of learning."""
        match event:
            case Failed(where="load") | WorkerLost(restarting=False):
                self.status = 1
            case Failed(where="learn" | "undo"):
                self._stuck = True
                self._due.clear()

    def _say_progress(self, coming: Fetching) -> None:
        """Prints how much of a model is fetched, at every tenth."""
        if (tenths := int(coming.share * 10)) != self._fetched:
            self._fetched = tenths
            self._say(coming.words())

    # ------------------------------------------------------------ state

    def _busy(self) -> bool:
        """True while there is work for which a patient person would wait."""
        if self._session.streaming or self._controller.training.running:
            return True
        if self._checking or self._comparison:
            return True
        aside = self._controller.fetches.now is not None or self._controller.practice.running
        if aside and not self._ending:
            return True
        if self._stuck:
            return False
        if self._learns:
            self._due |= {lesson.id for lesson in self._session.journal.waiting()}
        return self._session.undoing or bool(self._due)

    def _say(self, text: str) -> None:
        if not text:
            return
        self._out.write(plain(text) + "\n")
        self._out.flush()

    def _invite(self) -> None:
        if self._asking and self.status is None:
            self._out.write("> ")
            self._out.flush()


def _lessons(count: int) -> str:
    return counted(count, "lesson stays", "lessons stay")
