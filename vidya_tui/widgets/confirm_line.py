"""The line at the foot of a screen: a question answered by one key, or a message."""

from __future__ import annotations

from collections.abc import Callable

from textual import events
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Static

from vidya_tui.text.sanitise import one_line

YES, NO = ("y", "Y"), ("n", "N")


class ConfirmLine(Static, can_focus=True):
    """`ask` takes the keys until it is answered: y is yes, any other key is no."""

    class Typed(Message):
        """The key pressed was text, which means no; a screen with a prompt puts it there."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__("", markup=False, id=id)
        self._then: Callable[[], None] | None = None
        self._back: Widget | None = None
        self.words = ""
        self.display = False

    @property
    def open(self) -> bool:
        """Whether a question waits for its answer."""
        return self._then is not None

    def ask(self, words: str, then: Callable[[], None]) -> None:
        """Asks; `then` is called for a yes."""
        self._back = self.screen.focused
        self._then = then
        self._show(f"{words}  y yes \u00b7 any other key no", "-asks")
        self.screen.set_focus(self)

    def say(self, words: str, *, trouble: bool = False) -> None:
        """Says something; empty words clear the line."""
        self._show(("! " if trouble else "") + words, "-trouble" if trouble else "")

    def on_key(self, event: events.Key) -> None:
        if self._then is not None:
            event.stop()
            event.prevent_default()
            yes = event.key in YES
            self._answer(yes)
            if event.is_printable and event.character and not yes and event.key not in NO:
                self.post_message(self.Typed(event.character))

    def on_blur(self) -> None:
        if self._then is not None and not self.has_focus:  # a click elsewhere is no yes
            self._answer(False, back=False)

    def _answer(self, yes: bool, *, back: bool = True) -> None:
        then, self._then = self._then, None
        self.say("" if yes else "nothing was changed")
        if back and self._back is not None:
            self.screen.set_focus(self._back)
        if yes and then is not None:
            then()

    def _show(self, words: str, kind: str) -> None:
        self.words = one_line(words)
        for name in ("-asks", "-trouble"):
            self.set_class(name == kind, name)
        self.update(Content(self.words))
        self.display = bool(self.words)
