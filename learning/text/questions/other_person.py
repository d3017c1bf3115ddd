"""A question with first and second person swapped. English. Imports no torch."""

from __future__ import annotations

from learning.text.normalise import fold

_OTHERS = {
    **{"i": "you", "me": "you", "my": "your", "mine": "yours", "am": "are", "im": "youre"},
    **{
        "you": "i",
        "your": "my",
        "yours": "mine",
        "youre": "im",
        "myself": "yourself",
        "yourself": "myself",
    },
}


def other_person(question: str) -> str:
    """The question, folded, with first and second person swapped: "where do i live" for "Where do you
    live?"."""
    words = [_OTHERS.get(word, word) for word in fold(question).split()]
    text = f" {' '.join(words)} "  # next, make the verb agree with its subject
    return text.replace(" are i ", " am i ").replace(" i are ", " i am ").strip()
