"""Saying an earlier message in other words: choosing it, and taking it into the prompt.

Mixed into the chat, whose widgets it uses. Left out: what asking it anew does (controller/controller.py).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.errors import VidyaError
from vidya_tui.controller.message import StatusMessage
from vidya_tui.widgets.completion import CompletionList
from vidya_tui.widgets.conversation import ConversationView
from vidya_tui.widgets.prompt import Prompt

if TYPE_CHECKING:  # the first frame waits for no more than it needs
    from vidya_tui.controller.controller import Controller


class OtherWords:
    """The chat's part for that."""

    conversation: ConversationView
    completions: CompletionList
    prompt: Prompt
    _edited: int | None = None
    """Position of the message that is being said in other words."""

    if TYPE_CHECKING:

        def _need(self) -> Controller: ...
        def _tell(self, words: StatusMessage) -> None: ...

    def _choose_mine(self) -> None:
        """Chooses the owner's last message; where one is chosen already, takes it up."""
        mine = self._need().mine()
        if not mine:
            raise VidyaError("nothing was said yet", "type a message, then press Enter")
        if self.conversation.chosen in mine:
            self._take_up(self.conversation.chosen)
        else:
            self._choose(mine[-1])

    def _choose(self, position: int) -> None:
        if position >= 0:
            self.conversation.choose(position)
            self._tell(StatusMessage("up and down choose, enter edits yours, esc goes back"))

    def _take_up(self, position: int) -> None:
        """Puts a message of the owner into the prompt, to be said in other words."""
        desk = self._need()
        if position in desk.mine():
            self._edited = position
            text = desk.session.turns[position].text
            self.prompt.begin_edit(text, "in other words \u00b7 enter asks, esc leaves it")
            self.completions.close(self.prompt.text)
