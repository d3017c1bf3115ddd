"""The practice task `taste` of an owner who likes being asked back, for tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.model import Model
from engine.tokenizers.tokenizer import Tokenizer
from learning.journal.journal import Journal
from learning.rewards.owner import OwnerData
from learning.rewards.registry import find_task
from learning.rewards.reward_keeper import RewardKeeper
from learning.rewards.reward_report import FEWEST
from learning.rewards.task import RewardWeights, TaskOptions
from learning.rewards.tasks.taste import TasteTask
from tests.picks import fill

MADE_UP = tuple(f"What is the colour of number {number}?" for number in range(200))
RATE = 5e-3
"""At which a tiny model learns taste."""


def taste_task(
    folder: Path,
    journal: Journal,
    model: Model,
    tokenizer: Tokenizer,
    picks: int = 150,
    weights: RewardWeights = RewardWeights(),  # noqa: B008 - frozen
) -> TasteTask:
    """Adds so many picks and trains the reward model, if these are enough. folder: of the saved model.
    Raises RewardError if it may not be used."""
    fill(journal, picks)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("learning.rewards.reward_training.LEARNING_RATE", RATE)
        patch.setattr("learning.rewards.tasks.taste.ANSWERS", 16)
        if picks >= FEWEST:
            RewardKeeper(folder, lambda: (3, model), tokenizer, journal).train()
        owner = OwnerData(folder, journal, tokenizer, model, lambda: MADE_UP)
        found = find_task("taste", TaskOptions(owner=owner, weights=weights))
        assert isinstance(found, TasteTask)
        found.starting()
    return found
