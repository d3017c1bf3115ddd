"""Computes the caches that every lesson of a model needs, which takes long for a large model: own talk, the
anchor reference, the margins of the book, the outputs of the frozen blocks.

Nothing is taught, and the journal stays with the weights that it follows, so another program may be learning
meanwhile. Left out: storing the caches, and when they are computed again (learning.memory.caches).
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable

import torch

from engine.errors import VidyaError
from engine.precision import fast_dtype
from engine.tokenizers.load import load_tokenizer
from learning.home import Home
from learning.journal.journal import Journal
from learning.lessons.recipe import TeachSettings
from learning.memory.caches import LearnerCaches
from learning.memory.prefix_cache import LARGE
from learning.models.store import ModelInfo
from learning.models.weights import Weights

TALK_SHARE = 0.4
"""Of the time, about: the drawing of own talk. What follows is the pass through the lower blocks."""


def prepare_model(
    home: Home,
    info: ModelInfo,
    *,
    say: Callable[[str], None],
    progress: Callable[[float], None] = lambda _: None,
) -> None:
    """Prepares a model of the home that was just brought in. What cannot be prepared now, because a book has
    bad lines or the disk is full, is prepared with the first lesson; so is a model that is not large.
    progress: called with the share that is done, 0 to 1."""
    if info.parameters <= LARGE:
        return
    quick = fast_dtype("cpu") == torch.bfloat16
    takes = "a minute or two" if quick else "some five minutes"  # measured with two cores
    say(f"preparing {info.name} for lessons, {takes}, once")
    journal = Journal(home.journal_path)
    try:
        weights, tokenizer = Weights(info.path, journal), load_tokenizer(info.path)
        frozen = TeachSettings().trunk_layers(weights.model.config)
        caches = LearnerCaches(home, weights, tokenizer, journal, frozen, lambda: None)
        progress(0.0)
        drawn = caches.replay  # with its own talk
        progress(TALK_SHARE)
        rows = sum(len(e.ids) for e in [*drawn.memory, *drawn.talk])
        passed = 0

        def through(tokens: int) -> None:
            nonlocal passed
            passed += tokens
            progress(min(1.0, TALK_SHARE + (1.0 - TALK_SHARE) * passed / max(1, rows)))

        caches.keep_prepared(through)
    except VidyaError as error:
        say(f"not prepared: {error.what}; it is done with the first lesson")
    finally:
        with contextlib.suppress(VidyaError):
            journal.close()
