"""The prompt. Enter sends; a digit picks only where it cannot be the beginning of a message.

A digit that could pick is held for a moment: where another letter follows, it was the beginning of a
message ("2 apples"), and both are typed.

Keys are decided on here, inside the widget's own queue, and not by priority bindings: those run
before letters that were typed earlier have arrived, so that a fast "h1" would pick candidate 1.
Left out: what a message or a command does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from typing import ClassVar, Protocol

from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.timer import Timer

from vidya_tui.commands.keymap import each, keymap
from vidya_tui.text.numbers import counted
from vidya_tui.text.sanitise import plain
from vidya_tui.widgets.text_field import TextField

PICK = Binding.Group("pick", compact=True)
DIGITS = "123456789"
HOLD = 0.3
"""Seconds without another key after which a digit picks."""
LONG_LINES, LONG = 6, 600
"""Lines and characters from which the prompt shows the size of its text."""


class TextForPrompt(Message):
    """Sent by another widget that has the focus: the owner began to type, and the text belongs here."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text


class BackToPrompt(Message):
    """Sent by another widget that has the focus: the owner wants it back in the prompt."""


class PromptHost(Protocol):
    """What the prompt asks of its screen. Calls, not messages: a second digit typed right after the
    first must already find that nothing is left to pick."""

    def can_pick(self, number: int) -> bool:
        """Whether candidate `number` waits and has text."""

    def pick(self, number: int) -> None:
        """Picks it."""

    def completion_open(self) -> bool:
        """Whether a list of completions is shown."""

    def completion_move(self, step: int) -> None:
        """Highlights another completion."""

    def completion_close(self) -> None:
        """Hides the list until the line changes."""

    def completion_take(self) -> str | None:
        """The line with the highlighted completion; None where it would change nothing."""


class Prompt(TextField):
    """A growing text field with a history."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *(Binding(d, f"pick({d})", "pick", group=PICK) for d in DIGITS),
    ]
    ACTIONS: ClassVar[dict[str, str]] = {"newline": "newline", "back": "read(-1)", "on": "read(1)"}
    """Keys that the owner may change: name -> action."""

    class Submitted(Message):
        """The owner pressed Enter. The prompt is already empty."""

        def __init__(self, text: str, edited: bool = False) -> None:
            super().__init__()
            self.text = text
            self.edited = edited
            """It rewords an earlier message."""

    class EditLeft(Message):
        """The owner gave up rewording an earlier message."""

    class Active(Message):
        """A key was pressed."""

    class Held(Message):
        """A digit was pressed and will pick this candidate; None: it will not any more."""

        def __init__(self, number: int | None) -> None:
            super().__init__()
            self.number = number

    class Clicked(Message):
        """The digit of this candidate was clicked in the line of keys."""

        def __init__(self, number: int) -> None:
            super().__init__()
            self.number = number

    class Read(Message):
        """The owner reads back (-1) or on (1)."""

        def __init__(self, pages: int) -> None:
            super().__init__()
            self.pages = pages

    def __init__(
        self,
        host: PromptHost,
        placeholder: str,
        *,
        keys: Mapping[str, str] | None = None,
        id: str | None = None,
    ) -> None:
        """keys: those of ACTIONS; None: the usual ones."""
        super().__init__(
            id=id,
            placeholder=placeholder,
            highlight_cursor_line=False,
            show_line_numbers=False,
        )
        self._host = host
        self._invitation = placeholder
        self._held = 0
        """The pressed digit that will pick; 0: none."""
        self._hold: Timer | None = None
        keys = keys or keymap({})
        for name, action in self.ACTIONS.items():
            for key in each(keys[name]):
                self._bindings.key_to_bindings[key] = [Binding(key, action, show=False)]
        self._load: Callable[[], Sequence[str]] | None = None
        self._aside: str | None = None
        """What was typed before an earlier message was opened for rewording; None: none is open."""
        self._taken_up = ""
        """That message."""
        self._past: list[str] = []
        self._at = 0
        """Place in the history; len(past) is the draft."""
        self._draft = ""

    # ------------------------------------------------------------ what the screen may do

    def remember(self, load: Callable[[], Sequence[str]]) -> None:
        """load: reads the messages of earlier sessions, oldest first; called when they are first needed."""
        self._load = load

    @property
    def editing(self) -> bool:
        """Whether an earlier message is being reworded."""
        return self._aside is not None

    @property
    def holds_digit(self) -> bool:
        """Whether a digit was pressed that may still pick."""
        return self._held != 0

    @property
    def unsent(self) -> str:
        """All that was typed and not sent; text that was put aside comes first."""
        recalled = self._at < len(self._past)
        held = str(self._held or "")
        aside = (self._aside or "", self._draft if recalled else "", held)
        parts = [text for text in aside if text.strip()]
        known = self._taken_up if self.editing else self._past[self._at] if recalled else ""
        if self.text != known or not (parts or self.editing):
            parts.append(self.text)
        return "\n".join(parts)

    def begin_edit(self, text: str, title: str) -> None:
        """Opens an earlier message for rewording; what was typed so far comes back afterwards."""
        if self._aside is None:
            self._aside = self.text
        self.border_title = Content(title)
        self._taken_up = plain(text)
        self._fill(text)
        self.screen.set_focus(self)

    def end_edit(self) -> None:
        """Back to what was typed before. An edit that was not sent is in the history."""
        if self._aside is None:
            return
        aside, self._aside = self._aside, None
        self.border_title = None
        if self.text.strip():
            self._keep(self.text)
        self._fill(aside)

    def refuse(self, text: str) -> None:
        """Returns a command that was refused, marked: whatever is typed replaces it. Where something
        was typed since, up brings it back."""
        if not self.text:
            self.put_back(text)
            self.select_all()

    def put_back(self, text: str) -> None:
        """Puts back a text that could not be sent, before what was typed since."""
        if self._past and self._past[-1] == text:
            self._past.pop()
            self._at = len(self._past)
        self._fill(f"{text}\n{self.text}" if self.text else text)

    def replace_all(self, text: str) -> None:
        """Replaces the text; ctrl+z brings the old one back."""
        self._fill(text)
        self.screen.set_focus(self)

    def type_in(self, text: str) -> None:
        """Inserts text at the cursor, or in place of what is marked, as if typed here."""
        self.as_text()
        self.screen.set_focus(self)
        self._take(text)

    def announce(self, words: str) -> None:
        """Says in the frame what happens next, where nothing is being edited; "" no longer."""
        if not self.editing:
            self.border_title = Content(words) if words else None

    # ------------------------------------------------------------ a digit that may pick

    def hold(self, number: int) -> None:
        """Picks a candidate after HOLD seconds, unless something is typed; shows that meanwhile."""
        self._held = number
        self._hold = self.set_timer(HOLD, self.settle)
        self.placeholder = str(number)
        self.announce(f"{number} is picked \u00b7 type on to make it text")
        self.post_message(self.Held(number))

    def settle(self) -> None:
        """The held digit picks now; where that cannot be picked any more, it is typed."""
        if number := self._held:
            if not self._host.can_pick(number):
                self.as_text()
                return
            self._let_go()
            self._host.pick(number)

    def as_text(self) -> None:
        """Types the held digit: it was the beginning of a message."""
        if number := self._held:
            self._let_go()
            self.insert(str(number))

    def forget_digit(self) -> None:
        """The held digit neither picks nor is typed. Draws nothing, so that a signal handler may call it."""
        self._held = 0

    def _let_go(self) -> None:
        """Forgets the held digit."""
        if self._hold is not None:
            self._hold.stop()
        self._held, self._hold = 0, None
        self.placeholder = self._invitation
        self.announce("")
        self.post_message(self.Held(None))

    def _after_held(self, event: events.Key) -> bool:
        """Decides about the held digit when a key is pressed; returns whether the key is used up."""
        if event.is_printable:
            self.as_text()
            return False
        if event.key in ("escape", "backspace", "delete", "ctrl+c"):
            self._let_go()
            return event.key != "ctrl+c"
        self.settle()
        return event.key == "enter"

    def on_blur(self) -> None:
        self.as_text()

    # ------------------------------------------------------------ keys

    async def _on_key(self, event: events.Key) -> None:
        self.post_message(self.Active())
        if self._held and self._after_held(event):
            pass
        elif event.key == "enter":
            self._enter()
        elif event.key == "tab" and self._host.completion_open():
            self._complete()
        elif event.key == "escape" and self._host.completion_open():
            self._host.completion_close()
        elif event.key == "escape" and self.editing:
            self.end_edit()
            self.post_message(self.EditLeft())
        elif event.key in DIGITS and self.may_pick(int(event.key)):
            self.hold(int(event.key))
        else:
            return  # TextField's own handler is next
        event.stop()
        event.prevent_default()

    def action_pick(self, number: int) -> None:
        """For the mouse on the line of keys; digits on the keyboard are seen by `_on_key` first."""
        if self._host.can_pick(number):
            self.post_message(self.Clicked(number))

    def may_pick(self, number: int) -> bool:
        """Whether that digit can pick now."""
        free = not (self.text or self.editing or self._held)
        return free and self._host.can_pick(number)

    def action_read(self, pages: int) -> None:
        self.post_message(self.Read(pages))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "pick" and isinstance(parameters[0], int):
            return self.may_pick(parameters[0])
        return True

    def action_cursor_up(self, select: bool = False) -> None:
        if self._host.completion_open() and not select:
            self._host.completion_move(-1)
        elif not select and self.navigator.is_first_wrapped_line(self.cursor_location):
            self._recall(-1)
        else:
            super().action_cursor_up(select)

    def action_cursor_down(self, select: bool = False) -> None:
        if self._host.completion_open() and not select:
            self._host.completion_move(1)
        elif not select and self.navigator.is_last_wrapped_line(self.cursor_location):
            self._recall(1)
        else:
            super().action_cursor_down(select)

    def on_text_area_changed(self) -> None:
        """Shows the size of a text that is longer than what is in view."""
        text = self.text
        lines = text.count("\n") + 1
        long = lines > LONG_LINES or len(text) > LONG
        self.border_subtitle = (
            f"{counted(lines, 'line')}, {counted(len(text), 'character')}" if long else None
        )

    def _take(self, text: str) -> None:
        self.as_text()  # a paste right behind a digit
        super()._take(text)

    # ------------------------------------------------------------ parts

    def _enter(self) -> None:
        if self._host.completion_open() and self._complete():
            return
        text = self.text
        if not text.strip():
            return
        self._keep(text)
        self._draft = ""
        self.clear()
        self.post_message(self.Submitted(text, edited=self.editing))
        self.end_edit()

    def _keep(self, text: str) -> None:
        """Appends a text to the history."""
        if not self._past or self._past[-1] != text:
            self._past.append(text)
        self._at = len(self._past)

    def _complete(self) -> bool:
        """Takes the highlighted completion. False where the line is complete already."""
        line = self._host.completion_take()
        if line is None:
            return False
        self._fill(line)
        return True

    def _recall(self, step: int) -> None:
        if self._load is not None and step < 0:
            here = set(self._past)
            older = [text for text, _ in groupby(self._load()) if text not in here]
            self._load = None
            self._past[:0] = older
            self._at += len(older)
        at = self._at + step
        if not 0 <= at <= len(self._past):
            return
        if self._at == len(self._past):
            self._draft = self.text
        elif self.text != self._past[self._at]:
            # An edited line of the history is a draft too, and must not be lost.
            self._past[self._at] = self.text
        self._at = at
        self._fill(self._draft if at == len(self._past) else self._past[at])

    def _fill(self, text: str) -> None:
        # Through the undo of the field, so that ctrl+z brings back what stood here.
        self.replace(plain(text), self.document.start, self.document.end)
        self.move_cursor(self.document.end)
