"""Asks the owner to pick among answers about which their taste is unsure, one message after another.

A pick counts as one in a conversation: it is learned, and the taste is trained on it. Left out: finding the
answers (learning.practice.disputed).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Static

from engine.errors import DataError, VidyaError
from learning.protocol.events import Event, Failed, TeacherEnded
from learning.protocol.model_events import Disputed
from learning.protocol.records import DisputedAnswers
from vidya_tui.screens.textual_fixes import Steady
from vidya_tui.text.numbers import counted
from vidya_tui.text.sanitise import plain
from vidya_tui.widgets.key_line import KeyLine

COUNT = 10
"""Messages that the owner is asked about."""
MOST = 5
"""Most answers to one message."""
SEARCHING = "looking for answers about which your taste is unsure; this takes up to a minute"
OVER = (
    "escape goes back; what you picked is being learned, and your taste is trained on it in a pause"
)


class DisputedScreen(Steady, Screen[int]):
    """Opened from `/taste`. Its result is the number of picks."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "back"),
        Binding("1", "pick(1)", "pick", key_display=f"1-{MOST}"),
        *(Binding(str(n), f"pick({n})", show=False) for n in range(2, MOST + 1)),
        Binding("n,enter", "next", "next message"),
    ]

    def __init__(
        self, find: Callable[[int], None], pick: Callable[[DisputedAnswers, int], None]
    ) -> None:
        """find: asks the teacher for so many messages, which come as a Disputed. pick: takes an answer, 1 to
        n, to one of them; may raise VidyaError."""
        super().__init__()
        self._find, self._pick = find, pick
        self._found: Sequence[DisputedAnswers] | None = None
        self._at = self.picked = 0
        self.heading = Static("", markup=False, classes="heading")
        self.body = Static("", markup=False, classes="said")
        self.words = Static("", markup=False, classes="quiet")

    def compose(self) -> ComposeResult:
        yield self.heading
        with VerticalScroll(id="taste"):
            yield self.body
            yield self.words
        yield KeyLine(show_command_palette=False, compact=True)

    def on_mount(self) -> None:
        self.set_focus(self.query_one("#taste"))
        self.words.update(SEARCHING)
        self._draw()
        self._find(COUNT)

    def hear(self, events: Sequence[Event]) -> None:
        """Shows what was found."""
        for event in events:
            if isinstance(event, Disputed) and self._found is None:
                self._found = event.found
                trouble = f"{event.trouble}; {event.next_step}" if event.trouble else ""
                self.words.update(
                    plain(trouble) or ("" if event.found else "nothing is in dispute")
                )
                self._draw()
            elif isinstance(event, TeacherEnded) and self._found is None:
                self.words.update("the model's process ended; escape, and try again")
            elif isinstance(event, Failed) and event.where == "worker" and self._found is None:
                self.words.update(plain(f"{event.what}; {event.next_step}"))

    @property
    def _now(self) -> DisputedAnswers | None:
        """The message that is asked about; None before the first and after the last."""
        found = self._found or ()
        return found[self._at] if self._at < len(found) else None

    def action_pick(self, number: int) -> None:
        """Takes that answer and goes on."""
        if self._now is None or number > len(self._now.answers):
            return
        words = ""
        try:
            self._pick(self._now, number)
        except DataError as error:  # the pick is taken, only the book could not be written
            words = str(error)
        except VidyaError as error:
            self.words.update(plain(str(error)))
            return
        self.picked += 1
        self._go_on(words)

    def action_next(self) -> None:
        """Goes on without a pick."""
        if self._now is not None:
            self._go_on("")

    def action_leave(self) -> None:
        self.dismiss(self.picked)

    def _go_on(self, words: str) -> None:
        self._at += 1
        over = self._now is None
        done = f"{counted(self.picked, 'pick')}. {OVER if self.picked else 'escape goes back'}"
        self.words.update(plain(". ".join(filter(None, (words, done if over else "")))))
        self._draw()

    def _draw(self) -> None:
        now = self._now
        place = f" \u00b7 {self._at + 1} of {len(self._found or ())}" if now else ""
        title = Content.styled("Which answer do you like best?", "bold $primary")
        self.heading.update(title.append(place))
        if now is None:
            self.body.update("")
            return
        lines = [Content.styled(plain(now.message), "bold"), Content("")]
        for number, answer in enumerate(now.answers, 1):
            lines.append(Content.assemble((f"{number}  ", "$primary"), plain(answer)))
        self.body.update(Content("\n").join(lines))
        self.query_one("#taste", VerticalScroll).scroll_home(animate=False)
