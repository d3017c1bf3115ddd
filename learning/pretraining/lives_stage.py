"""Lessons about invented lives as a part of pre-training, so that the model learns to be taught.

    stage = LivesStage.of(model, tokenizer, folder)
    pretrain(model, stream, settings, also=stage.gradients)

The gradients of the corpus are added to those of four kinds of rows:

- **lessons**: facts of a life are taught in one wording each by a few steps on the blocks that real lessons
  move; the loss of the taught weights on other wordings, yes and no, what follows from the facts, and what
  nobody told is the gradient for all weights, which are the untaught ones again (first-order
  meta-learning, FOMAML, arXiv 1703.03400);
- **conversations**: facts of a life are told and then asked for;
- **the book**, in its own words and carelessly typed;
- **the model's own talk** from before the stage.

The last two keep what the model knew. benchmarks/results/lives.md has the measurements. Left out: the
lives (learning.text.lives), and how real lessons take their steps (learning.lessons.recipe).
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.model import Model
from engine.tokenizers.tokenizer import Tokenizer
from learning.data.examples import Example, after, as_turns, from_answer, from_turns
from learning.memory.book_rows import book_rows, careless_examples, latest_answers
from learning.memory.own_talk import own_talk
from learning.models.trainable import Trainable, upper_matrices
from learning.objectives.stepper import Stepper
from learning.objectives.supervised import row_gradients
from learning.text.lives import NOT_KNOWN, InventedLife, LifeFact, lives
from learning.text.lives_talk import told_and_asked
from learning.text.variations import variations
from personality.book import shipped_book_path


@dataclass(frozen=True)
class LivesSettings:
    """How much of each kind a step takes, and how its lessons are taught."""

    facts: int = 8
    """Most facts of a life that are taught together; >= 1."""
    steps: int = 5
    """Steps that teach them; >= 1."""
    lr: float = 6e-4
    """Learning rate of these steps at the start, that of real lessons; it falls linearly to a tenth."""
    fall: int = 20
    """Steps over which it would fall, those of a real lesson."""
    trunk: float = 0.6
    """Share of the blocks, from below, that these steps do not train; as in real lessons."""
    wordings: int = 2
    """Other wordings of each question, made by rules, that a teaching step takes along."""
    beside: int = 8
    """Lines of the book that a teaching step takes along."""
    conversations: int = 3
    """Lives of which a conversation is read."""
    book: int = 12
    """Lines of the book; a third as many carelessly typed, a sixth as many after another line."""
    talk: int = 4
    """Rows of the model's own talk."""
    talk_weight: float = 0.5
    """Weight of own talk; every other kind has 1."""
    conversation_tokens: int = 320
    """Most tokens of a conversation."""


class LivesStage:
    """The gradients of a step; the same for the same seed and step."""

    def __init__(
        self,
        model: Model,
        tokenizer: Tokenizer,
        book: Sequence[Example],
        careless: Sequence[Example],
        talk: Sequence[Example],
        *,
        settings: LivesSettings | None = None,
        seed: int = 0,
    ) -> None:
        """book, careless, talk: rows to keep, none of them empty."""
        self._model, self._tokenizer = model, tokenizer
        self._book, self._careless, self._talk = book, careless, talk
        self.settings, self._seed = settings or LivesSettings(), seed
        self._context = model.config.context
        layers = model.config.layers
        frozen = min(layers - 1, round(self.settings.trunk * layers))
        self._moving: Trainable = upper_matrices(model, frozen)

    @classmethod
    def of(cls, model: Model, tokenizer: Tokenizer, folder: Path, seed: int = 0) -> LivesStage:
        """With the shipped book, and the model's own talk as it is kept in, or now sampled into, `folder`."""
        context = model.config.context
        rows = book_rows(tokenizer, [shipped_book_path()], context)
        careless = careless_examples(tokenizer, rows, context)
        talk = own_talk(model, tokenizer, folder)
        return cls(model, tokenizer, latest_answers(rows), careless, talk, seed=seed)

    def gradients(self, step: int, rank: int = 0) -> float:
        """Sets the gradients of step number `step` of process `rank`; those from before are lost. The weights
        stay as they are. Returns the loss of what is asked after the lessons, in nats per target token."""
        rng = random.Random(f"{self._seed} {step} {rank}")
        pick, chosen = rng.sample, self.settings
        first, *others = lives(1 + chosen.conversations, rng)
        loss = self._lessons(first, rng)
        self._add([self._conversation(life, rng) for life in others])
        careless = pick(self._careless, min(chosen.book // 3, len(self._careless)))
        lines = pick(self._book, min(chosen.book, len(self._book)))
        pairs = [pick(self._book, 2) for _ in range(chosen.book // 6)]
        self._add([*lines, *careless, *(after(a, b, self._context) for a, b in pairs)])
        self._add(pick(self._talk, min(chosen.talk, len(self._talk))), chosen.talk_weight)
        return loss

    def _lessons(self, life: InventedLife, rng: random.Random) -> float:
        """The gradients at the taught weights, for all parameters."""
        facts = rng.sample(life.facts, min(self.settings.facts, len(life.facts)))
        state = self._moving.state()
        self._teach([self._row(f.question, f.answer) for f in facts], rng)
        for parameter in self._model.parameters():
            parameter.requires_grad_(True)
        loss = self._add(self._asked(facts, life, rng))
        found = {name: p.grad for name, p in self._model.named_parameters()}
        self._moving.restore(state)  # drops the gradients too
        for name, parameter in self._model.named_parameters():
            parameter.grad = found[name]
        return loss

    def _teach(self, lessons: Sequence[Example], rng: random.Random) -> None:
        chosen = self.settings
        stepper = Stepper(self._moving.start(), chosen.lr, momentum=0.0, what="lessons of lives")
        for step in range(chosen.steps):
            worded = [
                self._row(text, lesson.said)
                for lesson in lessons
                for text in variations(lesson.question, chosen.wordings, rng)
            ]
            keep = rng.sample(self._book, min(chosen.beside, len(self._book)))
            parts = [(lessons, 1.0), (worded, 0.5), (keep, 1.0)]
            rows = [row for part, _ in parts for row in part]
            weights = [weight for part, each in parts for weight in _shares(part, each)]
            loss = row_gradients(self._model, rows, weights)
            stepper.step(loss, max(0.1, 1.0 - 0.9 * step / chosen.fall))

    def _asked(
        self, facts: Sequence[LifeFact], life: InventedLife, rng: random.Random
    ) -> list[Example]:
        """What is asked after the lessons, none of it in the taught words."""
        rows = []
        for fact in facts:
            other = rng.sample(fact.paraphrases, min(3, len(fact.paraphrases)))
            other += rng.sample(fact.rewordings, min(2, len(fact.rewordings)))
            rows += [self._row(text, fact.answer) for text in other]
            asked = rng.choice(rng.choice((fact.right, fact.wrong)))
            rows.append(self._row(asked.question, asked.answer))
            if fact.follows:
                asked = rng.choice(fact.follows)
                rows.append(self._row(asked.question, asked.answer))
            if fact.neighbours:
                rows.append(self._row(rng.choice(fact.neighbours), NOT_KNOWN))
        untold = rng.sample(life.unknown, min(2, len(life.unknown)))
        return rows + [self._row(text, NOT_KNOWN) for text in untold]

    def _conversation(self, life: InventedLife, rng: random.Random) -> Example:
        turns = told_and_asked(life, rng)
        longest = min(self._context, self.settings.conversation_tokens)
        return from_turns(self._tokenizer, as_turns(turns), longest)

    def _row(self, question: str, answer: str) -> Example:
        return from_answer(self._tokenizer, [("user", question)], answer, self._context)

    def _add(self, rows: Sequence[Example], weight: float = 1.0) -> float:
        """Adds the gradient of weight times the mean loss per target token; returns that, in nats."""
        return row_gradients(self._model, rows, _shares(rows, weight))


def _shares(rows: Sequence[Example], weight: float) -> list[float]:
    """One factor per row, so that the sum of losses is weight times the mean loss per target token."""
    targets = sum(example.targets for example in rows)
    return [weight / max(1, targets)] * len(rows)
