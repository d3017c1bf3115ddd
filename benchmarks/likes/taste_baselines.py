"""Baselines of `vidya bench taste`: a bag of words of the answer, and its length alone.

Both are conditional logits on the same picks as the reward model. Left out: the message.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import torch

from benchmarks.likes.taste_data import words_of
from learning.maths.preference import luce_loss
from learning.rewards.reward_data import Choice

STEPS, RATE, DECAY = 150, 0.05, 1e-3
LEAST = 2
"""Answers that a word must be in."""


def bag_of_words(train: Sequence[Choice], test: Sequence[Choice]) -> list[list[float]]:
    """Scores of each test choice's options by the words in them, question mark included."""
    counts = Counter(word for choice in train for text in choice.options for word in _words(text))
    known = {word: n for n, word in enumerate(w for w, c in counts.items() if c >= LEAST)}

    def features(text: str) -> list[float]:
        row = [0.0] * len(known)
        for word in _words(text):
            if word in known:
                row[known[word]] = 1.0
        return row

    return _fitted(train, test, features)


def length_alone(train: Sequence[Choice], test: Sequence[Choice]) -> list[list[float]]:
    """Scores by the number of words."""
    return _fitted(train, test, lambda text: [len(text.split()) / 10.0])


def _words(text: str) -> set[str]:
    return {*words_of(text), *(mark for mark in "?!" if mark in text)}


def _fitted(train: Sequence[Choice], test: Sequence[Choice], features) -> list[list[float]]:  # type: ignore[no-untyped-def]
    width = max(len(choice.options) for choice in train)
    rows = torch.zeros(len(train), width, len(features("")))
    offered = torch.zeros(len(train), width, dtype=torch.bool)
    for n, choice in enumerate(train):
        offered[n, : len(choice.options)] = True
        for place, text in enumerate(choice.options):
            rows[n, place] = torch.tensor(features(text))
    chosen = torch.tensor([choice.chosen for choice in train])
    weight = torch.zeros(rows.shape[-1], requires_grad=True)
    optimizer = torch.optim.Adam([weight], lr=RATE)
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = luce_loss(rows @ weight, chosen, offered).mean() + DECAY * weight.square().sum()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    with torch.no_grad():
        return [
            (torch.tensor([features(text) for text in choice.options]) @ weight).tolist()
            for choice in test
        ]
