"""The program that `crash.py` kills: a worker with the real model and a session, as in the app.

Talks, judges and trains without end. Prints JSON lines with its phase and the judgements that the screen
would have confirmed. With `--finish` it only catches up and exits.
"""

from __future__ import annotations

import argparse
import json
import os
import queue
import random
import sys
import time
from pathlib import Path

from engine.config import Sampling
from engine.errors import VidyaError
from learning.home import Home
from learning.journal.journal import Journal
from learning.protocol.events import (
    AskDone,
    CandidateTexts,
    Event,
    Failed,
    LearnerState,
    LessonDone,
    Ready,
    TrainDone,
    TrainProgress,
    WorkerLost,
)
from learning.protocol.requests import Train
from vidya_tui.session.session import Session
from vidya_tui.worker.supervisor import WorkerTeacher

THINGS = ("stone", "river", "lamp", "bread", "window", "garden", "bell", "ladder", "basket")
PATIENCE = 240.0
"""Seconds without an event after which the program counts as hanging."""


def tell(**what: object) -> None:
    """Prints one line, unbuffered, so that a kill right after it loses nothing."""
    os.write(1, (json.dumps(what) + "\n").encode("utf-8"))


class Player:
    """A simulated owner with a session."""

    def __init__(self, options: argparse.Namespace, home: Home, journal: Journal) -> None:
        self.chance = random.Random(options.seed)
        self.round = options.round
        self.journal = journal
        self.events: queue.Queue[Event] = queue.Queue()
        self.teacher = WorkerTeacher(home, on_event=self.events.put, model=options.model)
        self.session = Session(
            journal, self.teacher, sampling=Sampling(max_tokens=24), book_path=home.book_path
        )
        self.asked = 0

    def until(self, *kinds: type[Event]) -> Event:
        """Handles events as the app does until one of these types; returns it."""
        while True:
            event = self.events.get(timeout=PATIENCE)
            self.session.handle(event)
            self.report(event)
            if isinstance(event, kinds):
                return event

    def report(self, event: Event) -> None:
        """Prints the phase that an event belongs to."""
        if isinstance(event, Failed):
            tell(failed=f"{event.where}: {event.what}")
        elif isinstance(event, WorkerLost):
            tell(failed=f"worker lost: {event.reason}")
        elif isinstance(event, Ready):
            tell(phase="ready", version=event.version, worker=self.teacher.pid)
        elif isinstance(event, CandidateTexts):
            tell(phase="streaming")
        elif isinstance(event, LearnerState):
            tell(phase=event.phase)
        elif isinstance(event, LessonDone):
            tell(phase="idle", lesson=event.lesson, seconds=event.seconds)
        elif isinstance(event, TrainProgress):
            tell(phase="training")

    # ------------------------------------------------------------ what the owner does

    def begin(self) -> None:
        """Starts like the app: resumes unfinished work."""
        while self.teacher.pid is None:
            time.sleep(0.005)
        tell(phase="starting", worker=self.teacher.pid)
        self.session.recover()
        if not isinstance(self.until(Ready, Failed), Ready):
            sys.exit(1)

    def talk(self) -> None:
        """One question, one judgement or two, and a lesson."""
        self.asked += 1
        self.session.new()
        thing = self.chance.choice(THINGS)
        tell(phase="asking")
        self.session.say(f"what is the {thing} of day {self.round} number {self.asked} for")
        early = self.chance.random() < 0.3
        self.until(AskDone, Failed) if not early else self.some_text()
        self.judge()
        if early:
            self.until(AskDone, Failed)
        if self.chance.random() < 0.3 and not self.session.streaming:
            self.judge_once(self.again)
        self.until(LessonDone, Failed)

    def some_text(self) -> None:
        while not any(card.said for card in self.session.cards):
            self.until(CandidateTexts, AskDone, Failed)

    def judge(self) -> None:
        """A pick, or a correction."""
        said = [card.index for card in self.session.cards if card.said]
        if said and self.chance.random() < 0.5:
            index = self.chance.choice(said)
            self.judge_once(lambda: self.session.pick(index))
        else:
            text = f"The answer of day {self.round} number {self.asked} is {self.word()}."
            self.judge_once(lambda: self.session.correct(text))

    def again(self) -> None:
        """Judges the same answer a second time."""
        if self.chance.random() < 0.5:
            self.session.rate(self.chance.choice(("good", "bad")))
        else:
            self.session.correct(f"No, on day {self.round} it is {self.word()}.")

    def word(self) -> str:
        return f"{self.chance.choice(THINGS)} and {self.chance.choice(THINGS)}"

    def judge_once(self, judge: object) -> None:
        """Judges and prints the judgement, which stands for its confirmation on the screen."""
        assert callable(judge)
        ask = self.session.ask
        assert ask is not None
        tell(phase="judging")
        try:
            judge()
        except VidyaError as error:
            tell(refused=str(error))
            return
        newest = self.journal.judgements(ask.id)[-1]
        tell(phase="judged", confirmed=[newest.id, ask.id, newest.answer])

    def train(self) -> None:
        """Trains one epoch on the book."""
        tell(phase="training")
        self.teacher.send(Train(epochs=1))
        self.until(TrainDone, Failed)

    def finish(self) -> None:
        """Waits until all waiting lessons are learned or undone."""
        while self.journal.waiting_count() or self.journal.to_undo():
            self.until(LessonDone, LearnerState, Failed)
        self.teacher.close()
        tell(phase="finished")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--round", type=int, default=0)
    parser.add_argument("--finish", action="store_true")
    parser.add_argument("--train", action="store_true")
    options = parser.parse_args()
    home = Home(options.home)
    with home.lock():
        player = Player(options, home, Journal(home.journal_path))
        player.begin()
        if options.finish:
            player.finish()
            return
        if options.train:
            player.train()
        while True:
            player.talk()


if __name__ == "__main__":
    main()
