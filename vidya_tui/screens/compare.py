"""Shows the answers of earlier and present weights to the same message side by side.

Each side gives its likeliest answer and some sampled with the same seed. The teacher loads the earlier
weights for this and drops them afterwards; leaving the screen stops it.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Sequence
from typing import ClassVar, Literal

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.widgets import Static

from learning.protocol.compare_events import CompareBegan, CompareDone, ComparedText
from learning.protocol.events import Event, Failed, TeacherEnded
from learning.protocol.records import Lesson, Turn, Turns
from learning.protocol.requests import Compare, StopComparing
from vidya_tui.controller.context import ScreenContext
from vidya_tui.screens.base import SubScreen
from vidya_tui.state.lessons import quote, understood
from vidya_tui.text.numbers import counted
from vidya_tui.text.sanitise import plain
from vidya_tui.widgets.line_field import LineField

DRAWN = 3
"""Sampled answers per side, besides the likeliest."""
Side = Literal["before", "after"]


class Column(VerticalScroll, can_focus=True):
    """The answers of one side."""

    def __init__(self, side: Side) -> None:
        super().__init__(id=side)
        self.name_line = Static("", markup=False, classes="column-name")
        self.texts = ["" for _ in range(1 + DRAWN)]
        self.answers = [Static("", markup=False, classes="answer") for _ in self.texts]
        self.done = False

    def compose(self) -> ComposeResult:
        yield self.name_line
        yield from self.answers

    def clear(self, name: str) -> None:
        """Removes all answers and sets the title."""
        self.done = False
        self.texts = ["" for _ in self.texts]
        self.title(name)
        self.draw_answers()

    def title(self, name: str) -> None:
        self.name_line.update(Content.styled(name, "bold $primary"))

    def draw_answers(self) -> None:
        """Redraws the answers so far."""
        for place, (text, widget) in enumerate(zip(self.texts, self.answers, strict=True)):
            label = "likeliest" if place == 0 else f"drawn {place}"
            said = plain(text).strip() or ("(said nothing)" if self.done else "\u2026")
            widget.update(Content.assemble((f"{label}\n", "$foreground 60%"), said))


class BeforeAfterScreen(SubScreen[None]):
    """`/compare`; also opened from `/lessons`."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("r", "again", "other dice"),
        Binding("left_square_bracket", "older(1)", "older weights", key_display="["),
        Binding("right_square_bracket", "older(-1)", "newer weights", key_display="]"),
        Binding("slash", "ask", "ask something else"),
    ]

    def __init__(self, place: ScreenContext, lesson: Lesson | None, turns: Turns = ()) -> None:
        """lesson: use weights from before this lesson; None: from before the last change. turns: the
        prompt; by default the lesson's."""
        super().__init__(place)
        self.lesson = lesson
        self._turns = turns or (lesson.prompt if lesson else ())
        self._version: int | None = None
        self._seed = secrets.randbits(31)
        self._key = 0
        self._began: CompareBegan | None = None
        self._running = False
        self.columns: dict[Side, Column] = {"before": Column("before"), "after": Column("after")}
        self.outcome = Static("", markup=False, id="outcome")
        self.ask = LineField(placeholder="ask both something else", compact=True, id="ask-both")

    def body(self) -> ComposeResult:
        yield Static(markup=False, id="asked")
        with Horizontal(id="columns"):
            yield from self.columns.values()
        yield self.outcome
        yield self.ask

    def on_mount(self) -> None:
        self.set_focus(self.columns["after"])
        self._start()

    def on_unmount(self) -> None:
        self._stop()

    # ------------------------------------------------------------ asking

    def _start(self) -> None:
        """Requests the answers of both sides."""
        self._stop()
        about = f"lesson {self.lesson.id}: {understood(self.lesson)}" if self.lesson else ""
        self.head("before and after", about)
        said = self._turns[-1].text if self._turns else ""
        self.query_one("#asked", Static).update(Content(f"You said {quote(said, 200)}"))
        self.columns["before"].clear("before")
        self.columns["after"].clear("now")
        self._began = None
        if not self._turns:
            self._say("nothing to ask yet: type something below")
            self.set_focus(self.ask)
            return
        self._running, self._key = True, time.monotonic_ns()
        self._say("loading the earlier weights \u2026")
        lesson = self.lesson.id if self.lesson else None
        self.place.teacher.send(
            Compare(
                self._key,
                self._turns,
                1 + DRAWN,
                lesson,
                self._version,
                self.place.session.sampling.max_tokens,
                self._seed,
            )
        )
        self.refresh_bindings()

    def _stop(self) -> None:
        if self._running:
            self._running = False
            self.place.teacher.send(StopComparing(self._key))

    def hear(self, events: Sequence[Event]) -> None:
        fresh: set[Side] = set()
        for event in events:
            if self._running and isinstance(event, TeacherEnded):
                self._running = False
                self._say("the model's process ended; r asks once more", trouble=True)
            elif self._running and isinstance(event, Failed) and event.where == "worker":
                self._running = False
                self._say(f"{event.what}; {event.next_step}", trouble=True)
            elif isinstance(event, CompareBegan) and event.key == self._key:
                self._loaded(event)
            elif isinstance(event, ComparedText) and event.key == self._key:
                column = self.columns[event.side]
                for delta in event.deltas:
                    if delta.index <= len(column.texts):
                        column.texts[delta.index - 1] += delta.text
                fresh.add(event.side)
                if event.side == "after":
                    self.columns["before"].done = True
                    fresh.add("before")
            elif isinstance(event, CompareDone) and event.key == self._key and self._running:
                self._running = False
                self._finished(event)
                fresh = {"before", "after"} if not event.trouble else set()
        for side in fresh:
            self.columns[side].draw_answers()

    def _loaded(self, event: CompareBegan) -> None:
        self._began, self._version = event, event.before
        self.columns["before"].title(f"before: {_version(event.before)}")
        self.columns["after"].title(f"now: {_version(event.after)}")
        count = event.lessons
        self._say(f"{counted(count, 'lesson')} between them; they answer \u2026")
        self.refresh_bindings()

    def _finished(self, event: CompareDone) -> None:
        if event.trouble:
            step = f"; {event.next_step}" if event.next_step else ""
            self._say(event.trouble + step, trouble=True)
            for column in self.columns.values():
                column.texts = ["" for _ in column.texts]
                for widget in column.answers:
                    widget.update(Content(""))
            return
        before, after = (self.columns[side] for side in ("before", "after"))
        before.done = after.done = True
        pairs = list(zip(before.texts, after.texts, strict=True))
        changed = sum(old.split() != new.split() for old, new in pairs[1:])
        first = "the same" if pairs[0][0].split() == pairs[0][1].split() else "another"
        drawn = f"{changed} of {DRAWN} drawn changed"
        count = self._began.lessons if self._began else 0
        between = f"{counted(count, 'lesson')} between them"
        self._say(f"the likeliest answer is {first}; {drawn}; {between}")

    def _say(self, words: str, *, trouble: bool = False) -> None:
        self.outcome.set_class(trouble, "-trouble")
        self.outcome.update(Content(("! " if trouble else "") + plain(words)))

    # ------------------------------------------------------------ keys

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "older":
            return self._neighbour(int(str(parameters[0]))) is not None
        return True

    def action_again(self) -> None:
        self._seed = secrets.randbits(31)
        self._start()

    def action_older(self, step: int) -> None:
        version = self._neighbour(step)
        if version is not None:
            self._version = version
            self._start()

    def action_ask(self) -> None:
        self.set_focus(self.ask)

    def action_leave(self) -> None:
        if self.focused is self.ask and self._turns:
            self.set_focus(self.columns["after"])
        else:
            self.dismiss()

    @on(LineField.Submitted, "#ask-both")
    def _asked(self, event: LineField.Submitted) -> None:
        if text := event.value.strip():
            self._turns = (Turn("user", text),)
            self.ask.clear()
            self.set_focus(self.columns["after"])
            self._start()

    def _neighbour(self, step: int) -> int | None:
        """Version of the next older (1) or newer (-1) kept weights; None if there are none."""
        if self._began is None or self._began.before not in self._began.kept:
            return None
        place = self._began.kept.index(self._began.before) + step
        return self._began.kept[place] if 0 <= place < len(self._began.kept) else None


def _version(version: int) -> str:
    return f"version {version}" if version else "as the model came"
