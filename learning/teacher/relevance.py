"""How likely it is that a question asks for a taught lesson, from what the model says of both.

Left out: which lessons are looked at, and what is done with the likeliest (learning.teacher.recall).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch

from engine.generate import prefill
from engine.model import Model
from engine.packed import packed
from engine.shared_prompt import continued
from engine.tokenizers.chat_format import encode_prompt
from engine.tokenizers.tokenizer import Tokenizer


@dataclass(frozen=True)
class Evidence:
    """What speaks for a lesson: the features that Weighing has coefficients for, in the same order."""

    near: float
    ahead: float
    answer: float
    token: float


@dataclass(frozen=True)
class Weighing:
    """Logistic regression: how likely a lesson is what a question asks for."""

    bias: float
    near: float
    """Per cosine of the question and the lesson (learning.memory.lesson_vectors)."""
    ahead: float
    """Per cosine by which the lesson is nearer than the nearest other one."""
    answer: float
    """Per nat of the answer's log-probability after the question, without the lesson in the prompt."""
    token: float
    """Per nat of the mean log-probability of the answer's tokens."""
    least: float = 0.7
    """A lesson is recalled if it is at least this likely that the question asks for it."""

    def likely(self, evidence: Evidence) -> float:
        """0 to 1."""
        z = self.bias + self.near * evidence.near + self.ahead * evidence.ahead
        z += self.answer * evidence.answer + self.token * evidence.token
        return 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, z))))


def reads_contexts(tokenizer: Tokenizer) -> bool:
    """Whether the model can answer from a text in its prompt. Assumed of models that were trained to follow
    instructions; their chat templates have a system turn, those of vidya's own bases have none."""
    return bool(tokenizer.chat.system_head)


@torch.inference_mode()
def answer_logprobs(
    model: Model, tokenizer: Tokenizer, message: str, answers: Sequence[str]
) -> list[list[float]]:
    """Log-probability, in nats, of each token of each answer, its end included, after the message alone."""
    bodies = [[*tokenizer.encode(text), tokenizer.chat.end] for text in answers]
    context = model.config.context
    bodies = [body[: context // 2] for body in bodies]
    width = max(map(len, bodies))
    fast = packed(model)
    ids = encode_prompt(tokenizer, [("user", message)], context, width)
    cache, first = prefill(fast, ids, width)
    start = first.log_softmax(-1)
    rows = torch.full((len(bodies), width - 1), tokenizer.chat.end, device=model.device)
    for row, body in zip(rows, bodies, strict=True):
        row[: len(body) - 1] = torch.tensor(body[:-1])
    found = [[float(start[0, body[0]])] for body in bodies]
    if width > 1:
        hidden = fast.hidden_states(rows, cache=continued(cache, len(bodies), cache.size))
        logits = fast.logits(hidden).float().log_softmax(-1)
        for place, body in enumerate(bodies):
            found[place] += [float(logits[place, at, token]) for at, token in enumerate(body[1:])]
    return found
