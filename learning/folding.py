"""When two texts count as the same: questions and answers with what does not matter folded away.

Imports no torch: the interface compares the same way as the learner does.
"""

from __future__ import annotations

from collections.abc import Sequence


def fold(text: str) -> str:
    """Case, white space and punctuation folded: two questions with the same fold are the same."""
    kept = "".join(
        c if c.isalnum() or c.isspace() else " " for c in text.casefold() if c not in "'\u2019"
    )
    return " ".join(kept.split())


def fold_prompt(turns: Sequence[tuple[str, str]]) -> str:
    """The fold of a whole prompt, turn by turn."""
    return " / ".join(fold(text) for _, text in turns)


def fold_answer(text: str) -> str:
    """Case and white space folded, no space before punctuation."""
    words = " ".join(text.casefold().split())
    for mark in ".,;:!?":
        words = words.replace(f" {mark}", mark)
    return words
