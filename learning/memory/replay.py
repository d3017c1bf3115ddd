"""What must not be forgotten: the book, the lessons so far, and talk as the model talked before.

A batch never holds a lesson alone; the rest of it is drawn from here. Questions close to the new
one come first, since they are what a lesson overwrites (closeness: cosine of idf-weighted mean
embeddings of the prompts).
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

import torch
from torch import Tensor

from engine.model import Model
from learning.data.examples import Example, gives
from learning.memory.unknown import Unknown
from learning.text.frames import NO_QUESTIONS, Questions
from learning.text.paraphrases import Frames


@dataclass
class Replay:
    """The memory that batches are filled from. `book` and `taught` must not answer the same question."""

    model: Model
    """Its embeddings measure how close two prompts are."""
    book: list[Example]
    taught: list[Example]
    talk: list[Example]
    """The model's own talk, see learning.memory.own_talk."""
    riders: list[tuple[Example, float]] = field(default_factory=list)
    """Auxiliary lessons with their weights; they join a lesson's batches and need not be known."""
    avoided: list[Example] = field(default_factory=list)
    """Answers to avoid, to questions that have no taught answer; oldest first."""
    turns: Questions = NO_QUESTIONS
    """What the owner says in the model's own talk."""
    wordings: dict[tuple[int, ...], tuple[Example, ...]] = field(default_factory=dict)
    """Ids of a taught example -> the same answer to other wordings of its question."""

    unknown: Unknown | None = None
    """Draws questions that have no answer; None: none are rehearsed."""

    def __post_init__(self) -> None:
        """Computes word weights (idf) from the memory as it is now; they do not change later."""
        memory = self.memory
        seen = torch.zeros(self.model.config.vocab_size)
        for example in memory:
            seen[list(set(_prompt_ids(example)))] += 1
        self._idf = torch.log((1 + len(memory)) / (1 + seen))
        self._features: dict[tuple[int, ...], Tensor] = {}
        self._frames = Frames(NO_QUESTIONS, self.turns)

    @property
    def memory(self) -> list[Example]:
        """Book, then taught lessons."""
        return self.book + self.taught

    @property
    def frames(self) -> Frames:
        """Question templates from the current memory."""
        prompts = tuple(e.prompt for e in self.memory)
        if prompts != self._frames.memory.texts:
            self._frames = Frames(Questions(prompts), self.turns)
        return self._frames

    def remember(self, example: Example, wordings: Sequence[Example] = ()) -> None:
        """Adds a learned lesson and drops what it contradicts."""
        self.forget_prompt(example.prompt)
        self.taught.append(example)
        self.avoided = [e for e in self.avoided if e.prompt != example.prompt]
        self.wordings[example.ids] = tuple(wordings)

    def remember_all(self, examples: Iterable[tuple[Example, Sequence[Example]]]) -> None:
        """`remember` for many, in order, each with its other wordings."""
        pairs = list(examples)
        self.wordings |= {example.ids: tuple(wordings) for example, wordings in pairs}
        latest = {e.prompt: e for e in [*self.taught, *(example for example, _ in pairs)]}
        self.book = [e for e in self.book if e.prompt not in latest]
        self.taught = list(latest.values())
        self.avoided = [e for e in self.avoided if e.prompt not in latest]
        self._drop_wordings()

    def forget_prompt(self, prompt: str) -> None:
        """Drops everything that answers the same question."""
        self.book = [e for e in self.book if e.prompt != prompt]
        self.taught = [e for e in self.taught if e.prompt != prompt]
        self._drop_wordings()

    def avoid(self, examples: Iterable[Example]) -> None:
        """Marks answers as not to be said: they are no longer replayed."""
        examples = list(examples)
        self.avoided = list({e.ids: e for e in [*self.avoided, *examples]}.values())
        asked = {example.prompt for example in examples}

        def kept(example: Example) -> bool:
            return example.prompt not in asked or not any(gives(example, bad) for bad in examples)

        self.book = [e for e in self.book if kept(e)]
        self.taught = [e for e in self.taught if kept(e)]
        self._drop_wordings()

    def nearest(self, example: Example, count: int, without: AbstractSet[str]) -> list[Example]:
        """The `count` remembered examples with the closest prompts, except those in `without`."""
        memory = [e for e in self.memory if e.prompt not in without]
        if not memory or count < 1:
            return []
        features = torch.stack([self._feature(e) for e in memory])
        closest = (features @ self._feature(example)).topk(min(count, len(memory))).indices
        return [memory[i] for i in closest.tolist()]

    def draw(
        self, rng: random.Random, pool: Sequence[Example], count: int, without: AbstractSet[str]
    ) -> list[Example]:
        """`count` random examples of the pool whose prompts are not in `without`."""
        allowed = [e for e in pool if e.prompt not in without]
        return rng.sample(allowed, min(count, len(allowed)))

    def otherwise(self, example: Example, rng: random.Random, without: AbstractSet[str]) -> Example:
        """A taught example, half of the time in other words; never in words that are another example's
        prompt or in `without`."""
        wordings = self.wordings.get(example.ids, ())
        if not wordings or rng.random() < 0.5:
            return example
        other = rng.choice(wordings)
        claimed = other.prompt in without or any(e.prompt == other.prompt for e in self.memory)
        return example if claimed else other

    def unanswered(
        self, rng: random.Random, lesson: Sequence[Example], count: int
    ) -> list[Example]:
        """Up to `count` questions that neither the lesson nor the memory answers, with NOT_KNOWN."""
        return self.unknown.draw(rng, lesson, self.memory, count) if self.unknown else []

    def _drop_wordings(self) -> None:
        """Drops wordings of examples that are no longer remembered."""
        self.wordings = {e.ids: self.wordings[e.ids] for e in self.taught if e.ids in self.wordings}

    def _feature(self, example: Example) -> Tensor:
        """Feature vector of the prompt, [D], unit length."""
        if example.ids not in self._features:
            ids = _prompt_ids(example)
            rows = self.model.embedding.weight.detach()[ids].float().cpu()
            mean = (rows * self._idf[ids, None]).mean(0)
            self._features[example.ids] = mean / mean.norm().clamp_min(1e-6)
        return self._features[example.ids]


def _prompt_ids(example: Example) -> list[int]:
    """Ids before the answer; the whole row where there is no prompt."""
    first = example.target.index(True) if True in example.target else len(example.ids)
    return list(example.ids[: max(1, first)])
