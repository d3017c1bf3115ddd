"""The arms of bench people: Vidya's learner, controls, published editors, and facts in the prompt."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.baselines.bag_of_words import WordIndex
from benchmarks.baselines.editors import EDITORS
from benchmarks.baselines.random_step import RandomStep
from benchmarks.facts.people_answers import Asking, Turns, alone
from benchmarks.facts.people_data import PersonFact
from benchmarks.lessons.collapse_pupils import (
    RECIPE,
    WITHOUT_PAUSES,
    AttemptPupil,
    Pupil,
    Timer,
    open_learner,
)
from engine.errors import NotFound
from engine.model import Model
from engine.storage.checkpoint import load_model
from engine.tokenizers.load import load_tokenizer
from learning.data.examples import Example
from learning.memory.own_talk import own_talk
from learning.protocol.records import Lesson

SHUFFLED, RANDOM, RETRIEVED, ALL_TOLD = "shuffled", "random-step", "retrieval", "all-in-prompt"
NEAREST = 3
"""Facts that stand before the question in `retrieval`."""
HEARD = "I will remember that."
"""What Vidya says to each: the form in which its base learned to look back (learning.text.synthetic)."""

ARMS: dict[str, str] = {
    RECIPE: "Vidya's learner, with pauses; weights alone",
    WITHOUT_PAUSES: "the same, never given a pause",
    SHUFFLED: "the same with pauses, taught another fact's answer: a control of the scoring",
    RANDOM: "a random step as long as the recipe's, in the same tensors: a control of the damage",
    **{name: editor.what for name, editor in EDITORS.items()},
    RETRIEVED: f"no lesson: the {NEAREST} facts with the rarest shared words stand before the question",
    ALL_TOLD: "no lesson: all facts told so far stand before it, as many as the context holds",
}
"""Name -> what it is, in the order of the tables."""


@dataclass(frozen=True)
class Arm:
    """A pupil and how it is asked."""

    pupil: Pupil
    asking: Asking = alone


@contextmanager
def open_arm(
    name: str, folder: Path, facts: Sequence[PersonFact], seed: int, step: float | None
) -> Iterator[Arm]:
    """An arm with a copy of the folder's model.

    step: length of the recipe's step per lesson; only the random step needs it. Raises NotFound without."""
    if name in EDITORS:
        make = EDITORS[name].make
        yield Arm(AttemptPupil(folder, lambda model, book: make(model, _kept(model, folder, book))))
    elif name == RANDOM:
        if step is None:
            raise NotFound(
                f"the length of the recipe's step, which {RANDOM} needs, is not measured",
                f"measure {RECIPE} first, with the same --out",
            )
        yield Arm(AttemptPupil(folder, lambda model, _: RandomStep(model, step)))
    elif name in (RETRIEVED, ALL_TOLD):
        said = [one for fact in facts for one in (fact, fact.later) if one is not None]
        told = {(one.prompt, one.answer): one.said for one in said}
        pupil = Reader(folder, told, NEAREST if name == RETRIEVED else None)
        yield Arm(pupil, pupil.asked)
    else:
        with open_learner(folder, seed, pauses=name != WITHOUT_PAUSES) as learner:
            yield Arm(Confused(learner, facts) if name == SHUFFLED else learner)


def _kept(model: Model, folder: Path, book: Sequence[Example]) -> list[Example]:
    """Own talk, then the book."""
    return [*own_talk(model, load_tokenizer(folder), folder), *book]


class Confused:
    """A learner to whom each question is taught with the answer to another one."""

    def __init__(self, pupil: Pupil, facts: Sequence[PersonFact]) -> None:
        self._pupil = pupil
        lessons = [[f, f.later] if f.later else [f] for f in facts]
        self._wrong: dict[tuple[str, str], str] = {}
        for place, own in enumerate(lessons):
            other = facts[(place + len(facts) // 2) % len(facts)]
            self._wrong |= {(one.prompt, one.answer): other.answer for one in own}

    @property
    def model(self) -> Model:
        return self._pupil.model

    def learn(self, lesson: Lesson) -> bool:
        wrong = self._wrong[lesson.prompt[-1].text, lesson.answer]
        return self._pupil.learn(replace(lesson, answer=wrong))

    def rest(self, seconds: float, timer: Timer = time.perf_counter) -> float:
        return self._pupil.rest(seconds, timer)


class Reader:
    """A model that never changes; it is told facts anew before each question."""

    def __init__(self, folder: Path, told: Mapping[tuple[str, str], str], most: int | None) -> None:
        """told: (question, answer) of a lesson -> the owner's statement of it. most: facts before a question;
        None for all."""
        self._model, self._told, self._most = load_model(folder), told, most
        self._model.requires_grad_(False)
        self._said: list[str] = []
        self._index: WordIndex | None = None

    @property
    def model(self) -> Model:
        return self._model

    def learn(self, lesson: Lesson) -> bool:
        self._said.append(self._told[lesson.prompt[-1].text, lesson.answer])
        self._index = None
        return True

    def rest(self, seconds: float, timer: Timer = time.perf_counter) -> float:
        return 0.0

    def asked(self, question: str) -> Turns:
        """The question after the facts: the nearest, in the order in which they were told, or all."""
        if self._index is None:
            self._index = WordIndex(self._said)
        places = sorted(self._index.nearest(question, self._most or len(self._said)))
        before = [(("user", self._said[i]), ("assistant", HEARD)) for i in places]
        return [turn for pair in before for turn in pair] + [("user", question)]
