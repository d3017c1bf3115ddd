"""What the owner enters: a message or a command is carried out, and given back where that fails."""

from __future__ import annotations

from collections.abc import Callable

from engine.errors import VidyaError
from vidya_tui.commands.parse import RunCommand, is_command, parse
from vidya_tui.screens.chat.interface import Chat
from vidya_tui.state.message import StatusMessage


class Entering:
    """Takes what is entered in one chat screen."""

    def __init__(self, chat: Chat) -> None:
        self._chat = chat
        self.early: list[str] = []
        """Messages that were entered before there was a session."""

    def enter(self, text: str, position: int | None = None) -> None:
        """Says a message, or carries out a command. position: of the message that it replaces."""
        chat = self._chat
        try:
            entered = parse(text)
        except VidyaError as error:
            self._refuse(error, text, position)
            return
        if isinstance(entered, RunCommand):
            chat.run(entered, text)
        elif not chat.begun:
            self.early.append(text)
        else:
            controller, said = chat.need(), entered.text
            if position is None:
                self.attempt(lambda: controller.say(said), text)
            else:
                self.attempt(lambda: controller.say_anew(position, said), text, position)
            chat.conversation.jump_to_end()

    def attempt(
        self, work: Callable[[], StatusMessage | None], typed: str = "", position: int | None = None
    ) -> None:
        """Does something that may fail in a way the owner can act on, tells what came of it, and draws.
        typed: what goes back into the prompt where it fails; position: of the message that it was to
        replace."""
        try:
            words = work()
        except VidyaError as error:
            self._refuse(error, typed, position)
        else:
            if words is not None:
                self._chat.tell(words)
        self._chat.draw()

    def _refuse(self, error: VidyaError, typed: str, position: int | None = None) -> None:
        """Says why something was not done and gives back what was typed for it."""
        chat = self._chat
        if position is not None:
            chat.rewording.edit(position)
            chat.prompt.replace_all("")
        chat.tell(StatusMessage(str(error), trouble=True))
        if typed:
            if is_command(typed):
                chat.prompt.refuse(typed)
            else:
                chat.prompt.put_back(typed)
            chat.completions.close(chat.prompt.text)  # they would cover what was just said
