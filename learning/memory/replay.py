"""The replay memory: the book, the lessons so far, and the model's self-generated talk.

A lesson is never trained alone; the rest of its batch is drawn from here. Examples whose prompts are closest
to the lesson's come first, because a lesson overwrites those first. Closeness is the cosine of the prompts'
idf-weighted mean embeddings.
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
from learning.text.frames import NO_QUESTIONS, Questions
from learning.text.paraphrases import Frames


@dataclass
class Replay:
    """The examples from which batches are filled. No prompt may occur in both `book` and `taught`."""

    model: Model
    """Supplies the embeddings that measure how close two prompts are."""
    book: list[Example]
    taught: list[Example]
    talk: list[Example]
    """Conversations that the model generated itself (learning.memory.own_talk)."""
    riders: list[tuple[Example, float]] = field(default_factory=list)
    """Auxiliary lessons with their weights (above 0). They are added to a lesson's batches, and the lesson
    does not wait until they are known."""
    avoided: list[Example] = field(default_factory=list)
    """Rejected answers to questions without a taught answer, oldest first."""
    turns: Questions = NO_QUESTIONS
    """The owner's turns in `talk`."""
    wordings: dict[tuple[int, ...], tuple[Example, ...]] = field(default_factory=dict)
    """Maps the ids of a taught example to the same answer after other wordings of its question."""

    def __post_init__(self) -> None:
        """Computes the idf weights of all token ids from the present memory; later changes do not update
        them."""
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
        """Frames from the current memory's prompts and from `turns`; rebuilt when the prompts change."""
        prompts = tuple(e.prompt for e in self.memory)
        if prompts != self._frames.memory.texts:
            self._frames = Frames(Questions(prompts), self.turns)
        return self._frames

    def remember(self, example: Example, wordings: Sequence[Example] = ()) -> None:
        """Adds a learned lesson and drops other examples and rejected answers with its prompt. wordings: its
        answer after other wordings of the question."""
        self.forget_prompt(example.prompt)
        self.taught.append(example)
        self.avoided = [e for e in self.avoided if e.prompt != example.prompt]
        self.wordings[example.ids] = tuple(wordings)

    def remember_all(self, examples: Iterable[tuple[Example, Sequence[Example]]]) -> None:
        """Like `remember` for each pair in order, but in time linear in their number."""
        pairs = list(examples)
        self.wordings |= {example.ids: tuple(wordings) for example, wordings in pairs}
        latest = {e.prompt: e for e in [*self.taught, *(example for example, _ in pairs)]}
        self.book = [e for e in self.book if e.prompt not in latest]
        self.taught = list(latest.values())
        self.avoided = [e for e in self.avoided if e.prompt not in latest]
        self._drop_wordings()

    def forget_prompt(self, prompt: str) -> None:
        """Drops all examples with this folded prompt."""
        self.book = [e for e in self.book if e.prompt != prompt]
        self.taught = [e for e in self.taught if e.prompt != prompt]
        self._drop_wordings()

    def avoid(self, examples: Iterable[Example]) -> None:
        """Adds rejected answers, and stops replaying examples with the same prompt and answer."""
        examples = list(examples)
        self.avoided = list({e.ids: e for e in [*self.avoided, *examples]}.values())
        asked = {example.prompt for example in examples}

        def kept(example: Example) -> bool:
            return example.prompt not in asked or not any(gives(example, bad) for bad in examples)

        self.book = [e for e in self.book if kept(e)]
        self.taught = [e for e in self.taught if kept(e)]
        self._drop_wordings()

    def nearest(self, example: Example, count: int, without: AbstractSet[str]) -> list[Example]:
        """Up to `count` remembered examples, those with the closest prompts first. without: folded prompts to
        leave out."""
        memory = [e for e in self.memory if e.prompt not in without]
        if not memory or count < 1:
            return []
        features = torch.stack([self._feature(e) for e in memory])
        closest = (features @ self._feature(example)).topk(min(count, len(memory))).indices
        return [memory[i] for i in closest.tolist()]

    def draw(
        self, rng: random.Random, pool: Sequence[Example], count: int, without: AbstractSet[str]
    ) -> list[Example]:
        """Up to `count` different random examples of the pool. without: folded prompts to leave out."""
        allowed = [e for e in pool if e.prompt not in without]
        return rng.sample(allowed, min(count, len(allowed)))

    def otherwise(self, example: Example, rng: random.Random, without: AbstractSet[str]) -> Example:
        """The example or, with probability one half, its answer after another wording. Never a wording that
        is in `without` (folded prompts) or is a remembered example's prompt."""
        wordings = self.wordings.get(example.ids, ())
        if not wordings or rng.random() < 0.5:
            return example
        other = rng.choice(wordings)
        claimed = other.prompt in without or any(e.prompt == other.prompt for e in self.memory)
        return example if claimed else other

    def _drop_wordings(self) -> None:
        """Drops wordings of examples that are no longer remembered."""
        self.wordings = {e.ids: self.wordings[e.ids] for e in self.taught if e.ids in self.wordings}

    def _feature(self, example: Example) -> Tensor:
        """Feature vector of the prompt, [D] (float32, CPU), of length 1."""
        if example.ids not in self._features:
            ids = _prompt_ids(example)
            rows = self.model.embedding.weight.detach()[ids].float().cpu()
            mean = (rows * self._idf[ids, None]).mean(0)
            self._features[example.ids] = mean / mean.norm().clamp_min(1e-6)
        return self._features[example.ids]


def _prompt_ids(example: Example) -> list[int]:
    """The ids before the answer, at least one; the whole row if nothing in it is predicted."""
    first = example.target.index(True) if True in example.target else len(example.ids)
    return list(example.ids[: max(1, first)])
