"""Saying an earlier message in other words: choosing it, and editing it in the prompt.

Left out: asking it again (controller/controller.py).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from vidya_tui.state.message import StatusMessage
from vidya_tui.widgets.completion import CompletionList
from vidya_tui.widgets.conversation import ConversationView
from vidya_tui.widgets.prompt import Prompt

if TYPE_CHECKING:  # the first frame waits for no more than it needs
    from vidya_tui.controller.controller import Controller


class Rewording:
    """Knows which message is being edited in the prompt."""

    def __init__(
        self,
        conversation: ConversationView,
        prompt: Prompt,
        completions: CompletionList,
        need: Callable[[], Controller],
        tell: Callable[[StatusMessage], None],
    ) -> None:
        """need: the controller; raises VidyaError while there is none."""
        self._conversation, self._prompt, self._completions = conversation, prompt, completions
        self._need, self._tell = need, tell
        self._position: int | None = None
        self._edited: tuple[int | None, str] = (None, "")
        """(conversation, text) of the message there."""

    def choose_last(self) -> None:
        """Chooses the owner's last message; edits it where one of theirs is chosen already. Raises
        VidyaError."""
        controller, chosen = self._need(), self._conversation.chosen
        last = controller.last_mine()
        if chosen is not None and chosen in controller.mine():
            self.edit(chosen)
        else:
            self.choose(last)

    def choose(self, position: int) -> None:
        """Gives the keys to the message at a position; nothing below 0."""
        if position >= 0:
            self._conversation.choose(position)
            self._tell(StatusMessage("up and down choose, enter edits yours, esc goes back"))

    def edit(self, position: int) -> None:
        """Puts the message at a position into the prompt, where it is the owner's."""
        controller = self._need()
        if position in controller.mine():
            self._position = position
            text = controller.session.turns[position].text
            self._edited = (controller.session.conversation, text)
            self._prompt.begin_edit(text, "in other words \u00b7 enter asks, esc leaves it")
            self._completions.close(self._prompt.text)

    def taken(self) -> int | None:
        """The position of the message that was edited, which is being sent; None: no message was."""
        position, self._position = self._position, None
        return position

    def left(self) -> None:
        """The owner gave it up."""
        self._position = None
        self._tell(StatusMessage("the message stays as it was; up brings back what you typed"))

    def shown(self) -> None:
        """Something else may be shown now: gives up where that is not the edited message any more."""
        at, session = self._position, self._need().session
        if at is None:
            return
        there = session.turns[at].text if at < len(session.turns) else ""
        if (session.conversation, there) != self._edited:
            self._position = None
            self._prompt.end_edit()
