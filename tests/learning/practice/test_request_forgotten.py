"""Practice with the owner's messages goes on without those that are forgotten meanwhile."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

import pytest

import tests.sums
from engine.config import Sampling
from learning.protocol.events import Forgotten, PracticeDone, PracticeStep
from learning.protocol.records import Turn
from learning.protocol.requests import CancelPractice, Forget, Practise
from learning.rewards.owner import OwnerData, first_messages
from learning.rewards.task import Problem, Score, Split, Task, TaskOptions
from learning.rewards.tasks.taste import StartingAnswers, TasteTask
from tests.practice_room import Room

WORDS = ("sea", "moon", "sun", "rain", "wind", "snow", "fire", "salt", "bread", "stone")


class Unrated(TasteTask):
    """The messages of taste, without a reward model."""

    def __init__(self, owner: OwnerData) -> None:
        self._owner = owner

    def starting(self) -> StartingAnswers:
        return StartingAnswers(0.0, 1.0, 0, 100)


class OwnMessages:
    """The same messages as of taste, paid for answers of even length. No alarm of taste ends it."""

    name = "easy"

    def __init__(self, owner: OwnerData) -> None:
        self._journal, self._taste = owner.journal, Unrated(owner)
        self.asked: list[tuple[str, bool]] = []
        """Each message that was answered, and whether the journal had it then."""

    def describe(self) -> str:
        return "even lengths"

    def problems(self, split: Split, rng: random.Random) -> Iterator[Problem]:
        return self._taste.problems(split, rng)

    def score(self, problem: Problem, answers: Sequence[str]) -> list[Score]:
        self.asked.append((problem.prompt, problem.prompt in first_messages(self._journal)))
        pleased = [float(len(answer) % 2 == 0) for answer in answers]
        return [Score({"even": value}, value) for value in pleased]

    def close(self) -> None:
        pass


@pytest.mark.slow
def test_a_message_that_was_forgotten_is_not_practised_any_more(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[OwnMessages] = []

    def make(name: str, options: TaskOptions) -> Task:
        assert options.owner is not None
        made.append(OwnMessages(options.owner))
        return made[0]

    monkeypatch.setattr(tests.sums, "make", make)
    talks = {f"Tell of the {word}.": room.journal.new_conversation() for word in WORDS}
    for text, number in talks.items():
        room.journal.add_ask(number, (Turn("user", text),), Sampling())
    room.teacher.send(Practise("easy", seed=0, steps=10_000, warm_up=False))
    room.until(PracticeStep)
    practised = [text for text, _ in made[0].asked if Problem(text, None).split == "train"]
    secret = practised[-1]
    room.teacher.send(Forget(talks[secret], keep_weights=True))
    forgotten = room.until(Forgotten)[-1]
    assert isinstance(forgotten, Forgotten) and not forgotten.trouble
    begun = len(made[0].asked)
    for _ in range(4):
        room.until(PracticeStep)
    room.teacher.send(CancelPractice())
    done = room.until(PracticeDone)[-1]
    assert isinstance(done, PracticeDone) and done.ended == "stopped"
    later = made[0].asked[begun:]
    assert later and all(there for _, there in made[0].asked)
    assert secret not in [text for text, _ in later]
    assert secret not in str(room.journal.rows("SELECT problem FROM practice_samples"))
