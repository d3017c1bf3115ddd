"""Computes the caches that every lesson of a model needs, which takes long for a large model: own talk, the
anchor reference, the margins of the book, the outputs of the frozen blocks.

Left out: storing the caches, and when they are computed again (learning.memory.caches).
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable

from engine.errors import VidyaError
from learning.home import Home
from learning.journal.journal import Journal
from learning.lessons.learner import Learner
from learning.memory.prefix_cache import LARGE
from learning.models.store import ModelInfo


def prepare_model(home: Home, info: ModelInfo, *, say: Callable[[str], None]) -> None:
    """Prepares a model of the home that was just brought in. What cannot be prepared now, because a book has
    bad lines or the disk is full, is prepared with the first lesson; so is a model that is not large."""
    if info.parameters <= LARGE:
        return
    say(f"preparing {info.name} for lessons, a minute or two, once")
    journal = Journal(home.journal_path)
    try:
        Learner(home, info.path, journal).caches.keep_prepared()
    except VidyaError as error:
        say(f"not prepared: {error.what}; it is done with the first lesson")
    finally:
        with contextlib.suppress(VidyaError):
            journal.close()
