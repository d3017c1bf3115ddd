"""What the parts of the chat use of its screen."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from vidya_tui.commands.keymap import Keymap
from vidya_tui.commands.parse import RunCommand
from vidya_tui.commands.situation import Situation
from vidya_tui.screens.chat.copying import Copying
from vidya_tui.screens.chat.rewording import Rewording
from vidya_tui.screens.chat.search import ConversationSearch
from vidya_tui.state.message import StatusMessage
from vidya_tui.widgets.candidates import CandidatePanel
from vidya_tui.widgets.completion import CompletionList
from vidya_tui.widgets.confirm_line import ConfirmLine
from vidya_tui.widgets.conversation import ConversationView
from vidya_tui.widgets.prompt import Prompt

if TYPE_CHECKING:  # the first frame waits for no more than it needs
    from textual.app import App

    from learning.home import Home
    from learning.protocol.messages import TeacherPort
    from vidya_tui.controller.controller import Controller


class Chat(Protocol):
    """The chat screen (screen.py), whose methods say what each does."""

    keys: Keymap
    situation: Situation
    home: Home | None
    teacher: TeacherPort | None
    conversation: ConversationView
    candidates: CandidatePanel
    question: ConfirmLine
    prompt: Prompt
    completions: CompletionList
    copying: Copying
    search: ConversationSearch
    rewording: Rewording

    @property
    def app(self) -> App[Any]: ...

    @property
    def is_active(self) -> bool: ...

    @property
    def begun(self) -> bool: ...

    def need(self) -> Controller: ...

    def run(self, run: RunCommand, typed: str = "") -> None: ...

    def attempt(self, work: Callable[[], StatusMessage | None], typed: str = "") -> None: ...

    def tell(self, words: StatusMessage) -> None: ...

    def want(self, name: str) -> None: ...

    def draw(self) -> None: ...

    def get_selected_text(self) -> str | None: ...

    def clear_selection(self) -> None: ...
