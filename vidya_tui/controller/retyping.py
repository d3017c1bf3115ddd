"""Corrections typed in the editor: the text it opens with, and the text that comes back.

Left out: the editor (screens/correct.py), and what a correction teaches (session/judging.py).
"""

from __future__ import annotations

from engine.errors import VidyaError
from vidya_tui.controller.drafts import Drafts
from vidya_tui.session.session import Session
from vidya_tui.text.sanitise import plain


class Retyping:
    """Of the candidates of the last message, or of its answer.

    index, wherever it is asked for: the candidate to retype; None: what was left last, else the first
    that is shown, or the answer."""

    def __init__(self, session: Session, drafts: Drafts) -> None:
        self._session, self._drafts = session, drafts
        self._opened: tuple[int, int | None] = (0, None)
        """(ask, the candidate that stood first when the editor was opened)."""

    def begin(self, index: int | None = None) -> tuple[str, str, bool]:
        """(the owner's message, the text to begin with, whether the owner typed it). Raises VidyaError
        where nothing was said."""
        ask = self._session.ask
        if ask is None:
            raise VidyaError("nothing to correct yet", "say something first")
        index = self._left_last(ask.id, index)
        self._opened = (ask.id, self._session.first_shown)
        begun = self._session.editable(self._card(ask.id, index))
        (text,) = self._drafts.get(("ask", ask.id, index), begun)
        return ask.turns[-1].text, text, text != begun

    def leave(self, text: str, index: int | None = None) -> bool:
        """Keeps a text that was not saved, for the next time; False where there is nothing to keep."""
        ask = self._session.ask
        if ask is None:
            return False
        index = self._left_last(ask.id, index)
        begun = plain(self._session.editable(self._card(ask.id, index)))
        return self._drafts.left(("ask", ask.id, index), [text], [begun])

    def save(self, text: str, index: int | None = None) -> bool:
        """Corrects with this text; False where there is no message any more. Where it cannot be saved,
        which raises VidyaError, the text is there the next time."""
        ask = self._session.ask
        if ask is None:
            return False
        card = self._card(ask.id, self._left_last(ask.id, index))
        self.leave(text, index)
        self._session.correct(text, card)
        self._drafts.forget("ask", ask.id)
        return True

    def _card(self, ask: int, index: int | None) -> int | None:
        """The candidate that `index` meant when the editor was opened: another may stand first by now."""
        return self._opened[1] if index is None and self._opened[0] == ask else index

    def _left_last(self, ask: int, index: int | None) -> int | None:
        """That candidate, else the one whose correction was left last."""
        last = self._drafts.last("ask", ask)
        if index is not None or last is None:
            return index
        found = last[-1]
        return found if isinstance(found, int) else None
