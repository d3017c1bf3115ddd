"""Rates answers with a reward model, and draws answers to rate.

Left out: which reward model, and whether it may be used (reward_keeper).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch

from engine.config import Sampling
from engine.generate import Finished, generate
from engine.storage.checkpoint import load_config, load_model
from engine.tokenizers.chat_format import encode_prompt
from engine.tokenizers.tokenizer import Tokenizer
from learning.rewards.reward_model import RewardModel, read
from learning.rewards.reward_report import TasteReport

PIECE = 256
"""Answers that are rated together, so that results come soon."""


@dataclass(frozen=True)
class AnswerRating:
    """How an answer would please."""

    prompt: str
    answer: str
    score: float
    """Standard deviations above the mean of answers that were shown."""
    reward: float
    """In the reward model's own units."""
    disagreement: float
    """Standard deviation of the heads, in the unit of `score`."""


def rated(
    model: RewardModel,
    report: TasteReport,
    tokenizer: Tokenizer,
    folder: Path,
    rows: Sequence[tuple[str, Sequence[str]]],
) -> Iterator[AnswerRating]:
    """A rating of each answer, in order. rows: (message, answers). folder: of the policy."""
    context = load_config(folder).context
    flat = [(prompt, answer) for prompt, answers in rows for answer in answers]
    for first in range(0, len(flat), PIECE):
        piece = flat[first : first + PIECE]
        asked = (([("user", p)], answer) for p, answer in piece)
        rewards = model.rewards(read(tokenizer, asked, context))
        for (prompt, answer), heads in zip(piece, rewards, strict=True):
            reward = float(heads.mean())
            apart = float(heads.std()) / report.deviation
            yield AnswerRating(prompt, answer, report.score(reward), reward, apart)


def draw(
    folder: Path,
    tokenizer: Tokenizer,
    prompts: Sequence[str],
    count: int,
    *,
    seed: int = 0,
    sampling: Sampling = Sampling(),  # noqa: B008 - frozen
) -> Iterator[list[str]]:
    """`count` different answers to each message, by the model of a folder. Raises CheckpointError."""
    model, generator = load_model(folder), torch.Generator().manual_seed(seed)
    model.requires_grad_(False)
    for prompt in prompts:
        ids = encode_prompt(
            tokenizer, [("user", prompt)], model.config.context, sampling.max_tokens
        )
        events = generate(model, tokenizer, ids, count, sampling, generator=generator)
        yield [event.text for event in events if isinstance(event, Finished)]
