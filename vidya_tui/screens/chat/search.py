"""Finding words in the open conversation: joins the line they are typed in to the log that shows them."""

from __future__ import annotations

from vidya_tui.widgets.conversation import ConversationView
from vidya_tui.widgets.find_bar import FindBar
from vidya_tui.widgets.prompt import Prompt


class ConversationSearch:
    """From `open` to `end`."""

    def __init__(self, conversation: ConversationView, bar: FindBar, prompt: Prompt) -> None:
        self._found, self._bar, self._prompt = conversation.found, bar, prompt

    def open(self, words: str) -> None:
        """Opens the line. words: what to look for; "": what was looked for last."""
        self._bar.open(words)

    def look_for(self, words: str) -> None:
        """Finds other words."""
        self._found.find(words)
        self.show()

    def step(self, step: int) -> None:
        """Goes to a later (1) or an earlier (-1) place."""
        self._found.step(step)
        self.show()

    def show(self) -> None:
        """Shows how many places there are; nothing where none are looked for."""
        self._bar.show(*self._found.count)

    def redraw(self) -> None:
        """The conversation changed."""
        if self._found.active:
            self.show()

    def end(self) -> None:
        """Closes the line. The conversation stays where it is: what was found is read now."""
        bar = self._bar
        if bar.display:
            bar.display = False
            self._found.end()
            if bar.field.has_focus or bar.app.focused is None:
                bar.app.screen.set_focus(self._prompt)
