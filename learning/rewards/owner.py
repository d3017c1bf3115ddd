"""What a practice task about the owner needs, as `TaskOptions.owner` passes it on. Loads no torch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from learning.journal.journal import Journal

if TYPE_CHECKING:
    from engine.model import Model
    from engine.tokenizers.tokenizer import Tokenizer


@dataclass(frozen=True)
class OwnerData:
    """One owner and the model that answers."""

    folder: Path
    """Of the model; the reward model lies in it."""
    journal: Journal
    tokenizer: Tokenizer
    policy: Model
    """The model that is going to practise, with the weights that it starts with."""
    made_up: Callable[[], Sequence[str]] = tuple
    """Questions that the model itself makes up."""
    pause: Callable[[], None] = lambda: None
    """Called before every forward pass; may raise to interrupt."""


def first_messages(journal: Journal) -> list[str]:
    """The messages with which the owner began conversations, each once, oldest first. Later ones are left
    out: practice asks without the talk before them. Raises JournalError."""
    rows = journal.rows("SELECT message FROM asks WHERE history = '[]' ORDER BY id")
    return list(dict.fromkeys(str(message).strip() for (message,) in rows if str(message).strip()))
