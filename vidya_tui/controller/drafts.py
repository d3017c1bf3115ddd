"""Texts that were typed in an editor and not saved: the editor opens with them the next time.

Until the app is left. Left out: what is typed in the prompt (terminal/saved_prompt.py).
"""

from __future__ import annotations

from collections.abc import Sequence

About = tuple[object, ...]
"""What a text is about: ("ask", 7, 2), ("lesson", 3), ("entry", ...)."""


class Drafts:
    """Keeps one text or several for each thing."""

    def __init__(self) -> None:
        self._kept: dict[About, tuple[str, ...]] = {}

    def get(self, about: About, *texts: str) -> tuple[str, ...]:
        """The kept texts, else `texts`."""
        return self._kept.get(about, texts)

    def left(self, about: About, typed: Sequence[str], texts: Sequence[str]) -> bool:
        """Keeps what was typed, unless it is empty or the same as `texts`; returns whether it did."""
        self._kept.pop(about, None)
        if not any(text.strip() for text in typed) or tuple(typed) == tuple(texts):
            return False
        self._kept[about] = tuple(typed)
        return True

    def last(self, *beginning: object) -> About | None:
        """The key kept last of those that begin with `beginning`; None: there is none."""
        for about in reversed(self._kept):
            if about[: len(beginning)] == beginning:
                return about
        return None

    def done(self, about: About) -> None:
        """Drops a draft that was saved."""
        self._kept.pop(about, None)

    def forget(self, *beginning: object) -> None:
        """Drops all drafts whose keys begin with `beginning`."""
        for about in [a for a in self._kept if a[: len(beginning)] == beginning]:
            del self._kept[about]
