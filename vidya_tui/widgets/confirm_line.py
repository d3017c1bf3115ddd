"""The line at the foot of a screen: a question answered by one key, or a message."""

from __future__ import annotations

from collections.abc import Callable

from textual import events
from textual.content import Content
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Static

from vidya_tui.text.sanitise import one_line
from vidya_tui.widgets.prompt import HOLD, TextForPrompt

YES, NO = ("y", "Y"), ("n", "N")


class ConfirmLine(Static, can_focus=True):
    """`ask` takes the keys until it is answered: y is yes, any other key is no; where that is
    text, it is sent as TextForPrompt. Beside a prompt a y is yes only if no other key follows
    within HOLD seconds; else it begins a text."""

    def __init__(self, *, beside_prompt: bool = False, id: str | None = None) -> None:
        super().__init__("", markup=False, id=id)
        self._beside_prompt = beside_prompt
        self._held = ""
        """A y that is yes soon, unless more is typed."""
        self._hold: Timer | None = None
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
        self._let_go()
        self._back = self.screen.focused
        self._then = then
        self._show(f"{words}  y yes \u00b7 any other key no", "-asks")
        self.screen.set_focus(self)

    def say(self, words: str, *, trouble: bool = False) -> None:
        """Says something; empty words clear the line."""
        self._show(("! " if trouble else "") + words, "-trouble" if trouble else "")

    def on_key(self, event: events.Key) -> None:
        text = event.character if event.is_printable and event.character else ""
        if self._then is None and not text:
            return
        event.stop()
        event.prevent_default()
        if self._then is None:  # typed before the focus was elsewhere again
            self._type(text)
        elif event.key in YES and self._beside_prompt and not self._held:
            self._held = text
            self._hold = self.set_timer(HOLD, self._settle)
        elif self._held and event.key == "enter":
            self._settle()
        else:
            held = self._let_go()
            yes = event.key in YES and not self._beside_prompt
            self._answer(yes)
            if text and not yes and (held or event.key not in NO):
                self._type(held + text)

    def _settle(self) -> None:
        """The held y is yes."""
        if self._let_go():
            self._answer(True)

    def _let_go(self) -> str:
        """Forgets the held y and returns it."""
        if self._hold is not None:
            self._hold.stop()
        held, self._held, self._hold = self._held, "", None
        return held

    def _type(self, text: str) -> None:
        if text:
            self.post_message(TextForPrompt(text))

    def on_blur(self) -> None:
        if (
            self._then is not None and self.screen.focused is not self
        ):  # a click elsewhere is no yes
            self._let_go()
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
