"""What was typed in an editor and left: it stands there again when the same thing is opened again.

Until the app is left. Left out: what is typed in the prompt (terminal/saved_prompt.py).
"""

from __future__ import annotations

from collections.abc import Sequence

About = tuple[object, ...]
"""What a text is about: ("ask", 7, 2), ("lesson", 3), ("entry", ...)."""


class Drafts:
    """One text or several for each thing."""

    def __init__(self) -> None:
        self._kept: dict[About, tuple[str, ...]] = {}

    def get(self, about: About, *texts: str) -> tuple[str, ...]:
        """As it was left, else the texts that it begins with."""
        return self._kept.get(about, texts)

    def left(self, about: About, typed: Sequence[str], texts: Sequence[str]) -> bool:
        """Keeps what was typed in place of the texts, unless it is empty or the same; whether it did."""
        self._kept.pop(about, None)
        if not any(text.strip() for text in typed) or tuple(typed) == tuple(texts):
            return False
        self._kept[about] = tuple(typed)
        return True

    def last(self, *beginning: object) -> About | None:
        """Of those that begin so, what was left last."""
        for about in reversed(self._kept):
            if about[: len(beginning)] == beginning:
                return about
        return None

    def done(self, about: About) -> None:
        """It was saved."""
        self._kept.pop(about, None)

    def forget(self, *beginning: object) -> None:
        """Lets go of all that begin so."""
        for about in [a for a in self._kept if a[: len(beginning)] == beginning]:
            del self._kept[about]
