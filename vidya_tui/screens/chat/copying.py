"""Copies texts of the chat to the clipboard of the terminal, and of this computer.

Left out: how this computer's clipboard is written (terminal/clipboard.py).
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from textual.message import Message

from engine.errors import VidyaError
from vidya_tui.state.message import StatusMessage
from vidya_tui.state.transcript import NAMES
from vidya_tui.text.numbers import counted
from vidya_tui.text.sanitise import one_line, plain
from vidya_tui.widgets.candidates import CandidatePanel
from vidya_tui.widgets.conversation import ConversationView
from vidya_tui.widgets.notice import Notice

if TYPE_CHECKING:  # the first frame waits for no more than it needs
    from textual.app import App

    from learning.protocol.records import Turns
    from vidya_tui.terminal.clipboard import Clipboard


class Copied(Message):
    """A text is in the clipboard of this computer."""

    def __init__(self, before: StatusMessage, now: StatusMessage) -> None:
        """before: what was told meanwhile; now: what to tell in its place."""
        super().__init__()
        self.before, self.now = before, now


class Copying:
    """Decides what to copy, copies it, and says so."""

    def __init__(
        self,
        conversation: ConversationView,
        candidates: CandidatePanel,
        notice: Notice,
        tell: Callable[[StatusMessage], None],
    ) -> None:
        self._conversation, self._candidates = conversation, candidates
        self._notice, self._tell = notice, tell
        self._clipboard: Clipboard | None = None

    def copy_said(self, turns: Turns, *, everything: bool) -> StatusMessage:
        """Copies the whole talk, or else the chosen message, the highlighted candidate or the last
        answer. Raises VidyaError where there is none of these."""
        if everything and not turns:
            raise VidyaError("nothing was said yet", "type a message, then press Enter")
        if everything:
            return self.copy("\n\n".join(f"{NAMES[t.role]}: {t.text}" for t in turns))
        if self._conversation.chosen is not None:
            return self.copy(turns[self._conversation.chosen].text)
        if (card := self._candidates.highlighted_text()) is not None:
            return self.copy(card)
        answers = [turn.text for turn in turns if turn.role == "assistant"]
        if not answers:
            raise VidyaError("there is no answer to copy yet", "pick one, or mark a text")
        return self.copy(answers[-1])

    def copy(self, text: str) -> StatusMessage:
        """Copies to the terminal (OSC 52), which does not answer whether it did; where the owner sits
        at this computer, to its clipboard too. Control characters are taken out of the text first."""
        from vidya_tui.terminal import clipboard

        text, app = plain(text), self._app
        app.copy_to_clipboard(text)
        what = f"\u201c{one_line(text, 40)}\u201d, {counted(len(text), 'character')}"
        words = StatusMessage(f"sent to the terminal's clipboard: {what}")
        if clipboard.is_here(os.environ):
            self._clipboard = self._clipboard or clipboard.Clipboard()
            copied = Copied(words, StatusMessage(f"copied {what}"))
            self._clipboard.copy(text, lambda: self._post(copied))
        self._tell(words)
        return words

    def copied(self, message: Copied) -> None:
        """Says that it worked, unless something else was said since."""
        if self._notice.words == one_line(message.before.text):
            self._tell(message.now)

    @property
    def _app(self) -> App[object]:
        return self._notice.app

    def _post(self, message: Message) -> None:
        """From any thread. The app may have ended meanwhile; then nobody needs the message."""
        with contextlib.suppress(RuntimeError):
            self._notice.post_message(message)
