"""A language model as a policy: prompts as ids in, replies as ids out, all of them in one batch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import torch

from engine.model import Model
from engine.rollout import ROWS, Rollout
from learning.agents.interface import Decision, DrawnTokens

Ids = tuple[int, ...]


@dataclass
class LanguagePolicy:
    """Draws replies from the plain distribution at one temperature, so that importance ratios are exact."""

    model: Model
    ends: Collection[int]
    """Ids that end a reply (Tokenizer.not_text)."""
    max_tokens: int
    """Longest reply."""
    generator: torch.Generator
    temperature: float = 1.0
    rows: int = ROWS
    pause: Callable[[], None] = lambda: None

    def act(self, observations: Sequence[Ids], *, greedy: bool = False) -> list[Decision[Ids]]:
        """One reply to each prompt. Where each prompt comes equally often, as at the beginning of groups,
        equal ones are read once. Raises DataError if a prompt leaves no room for a reply."""
        counts = Counter(observations)
        each = len(observations) // max(1, len(counts))
        if any(count != each for count in counts.values()):
            prompts, each = list(observations), 1
        else:
            prompts = list(counts)
        found = Rollout(
            self.model,
            prompts,
            each,
            ends=self.ends,
            max_tokens=self.max_tokens,
            temperature=0.0 if greedy else self.temperature,
            generator=self.generator,
            rows=self.rows,
            pause=self.pause,
        ).answers()
        if each == 1:
            drawn = [own[0] for own in found]
        else:
            left = {prompt: iter(own) for prompt, own in zip(prompts, found, strict=True)}
            drawn = [next(left[prompt]) for prompt in observations]
        return [
            Decision(
                one.tokens,
                DrawnTokens(
                    prompt, one.tokens, one.logprobs, (True,) * len(one.tokens), one.ending
                ),
            )
            for prompt, one in zip(observations, drawn, strict=True)
        ]
