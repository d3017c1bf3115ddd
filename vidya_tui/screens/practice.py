"""The practice screen: a progress bar with the time left, figures of the last step, samples with their
rewards, and a line that begins a practice with any of its options.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import ClassVar

from rich.table import Table
from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.suggester import Suggester
from textual.widgets import Static

from engine.errors import VidyaError
from vidya_tui.screens.textual_fixes import Steady
from vidya_tui.state import practice as practice_state
from vidya_tui.state.practice import Practising
from vidya_tui.state.samples import components, following
from vidya_tui.text.numbers import percent
from vidya_tui.text.sanitise import plain
from vidya_tui.widgets.key_line import KeyLine
from vidya_tui.widgets.line_field import LineField
from vidya_tui.widgets.progress_bar import Bar, bar

WIDE = 40
"""Width, in columns, from which the bar is followed by the time left."""
HOW_TO_TYPE = "enter begins, \u2192 takes what is suggested, esc closes the line"
LOOK_EVERY = 0.25
"""Seconds between two updates."""


class PracticeScreen(Steady, ModalScreen[None]):
    """Closing the screen does not stop practice."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,enter", "leave", "close, practice goes on"),
        Binding("escape,q,enter", "dismiss", "close"),
        Binding("x", "stop", "stop after this step"),
        Binding("f", "filter", "by component"),
        Binding("b", "begin", "begin"),
    ]

    def __init__(
        self,
        state: Callable[[], Practising],
        stop: Callable[[], None],
        begin: Callable[[str], object],
    ) -> None:
        """state: returns the current state; stop: asks the teacher to end practice; begin: begins one with
        these words, as after `/practice`, or raises VidyaError."""
        super().__init__()
        self._state, self._stop, self._begin = state, stop, begin
        self._shown: Practising | None = None
        self._by = ""
        """The component of the reward by which answers are shown; empty: the newest."""
        self._title = Static("", markup=False, classes="title")
        self._bar = Bar(id="practice-bar")
        self._figures = Static("", markup=False, id="practice-figures")
        self._samples = Static("", markup=False, id="practice-samples")
        self._words = LineField(
            placeholder="TASK NAME=VALUE",
            suggester=PracticeWords(),
            select_on_focus=False,
            compact=True,
            id="practice-words",
        )
        self._refused = Static("", markup=False, id="practice-refused")

    def compose(self) -> ComposeResult:
        with Vertical(classes="box", id="practice"):
            yield self._title
            yield self._bar
            yield self._figures
            with VerticalScroll(id="practice-scroll"):
                yield self._samples
            yield self._words
            yield self._refused
            yield KeyLine(show_command_palette=False, compact=True)

    def on_mount(self) -> None:
        self._type(False)
        self._look()
        self.set_interval(LOOK_EVERY, self._look)

    def on_resize(self) -> None:
        self._shown = None
        self.call_after_refresh(self._look)  # after the layout, when sizes are known

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        running = self._state().running
        stoppable = running and not self._state().stopping
        able = {"stop": stoppable, "leave": running, "dismiss": not running}
        able["filter"] = bool(self._state().samples)
        able["begin"] = not running and not self._words.display
        return able.get(action, True)

    def action_leave(self) -> None:
        self._back()

    async def action_dismiss(self, result: None = None) -> None:
        self._back()

    def action_begin(self) -> None:
        self._words.value = self._state().typed or "chain_sum"
        self._words.action_end()
        self._type(True)
        self._refused.update(HOW_TO_TYPE)

    @on(LineField.Submitted, "#practice-words")
    def _submitted(self, event: LineField.Submitted) -> None:
        try:
            self._begin(event.value)
        except VidyaError as error:
            self._refused.update(plain(f"{error.what}: {error.next_step}"))
            return
        self._by = ""
        self._type(False)
        self._look()

    def _back(self) -> None:
        """Closes the line that is typed in, or else the screen."""
        if self._words.display:
            self._type(False)
        else:
            self.dismiss()

    def _type(self, typing: bool) -> None:
        self._words.display = self._refused.display = typing
        self._refused.update("")
        self.set_focus(self._words if typing else self.query_one("#practice-scroll"))
        self.refresh_bindings()

    def action_stop(self) -> None:
        self._stop()
        self._look()
        self.refresh_bindings()

    def action_filter(self) -> None:
        self._by = following(self._state().samples, self._by)
        self._shown = None
        self._look()

    def _look(self) -> None:
        now = self._state()
        if now == self._shown:
            return
        was, self._shown = self._shown, now
        if self._by not in components(now.samples):
            self._by = ""
        self._title.update(Text(plain(title(now))))
        self._bar.show(partial(progress, now))
        self._bar.display = bool(now.task)
        self._figures.update(table(now))
        self._samples.update(Text(practice_state.samples(now, self.size.width - 16, self._by)))
        if was is None or (was.running, not was.samples) != (now.running, not now.samples):
            self.refresh_bindings()


class PracticeWords(Suggester):
    """Ends the last word: tasks, and options with their usual values."""

    async def get_suggestion(self, value: str) -> str | None:
        from learning.practice.options import practice_options
        from learning.rewards.registry import tasks

        before, space, last = value.rpartition(" ")
        words = [f"{option.name}={option.usual}" for option in practice_options()]
        known = [*tasks(), *words] if space else tasks()
        found = next((word for word in known if last and word.startswith(last)), None)
        return found and f"{before}{space}{found}"


def title(now: Practising) -> str:
    """The first lines: task and stage, alarm, result."""
    if not now.task:
        return (
            "Nothing is practised. b begins, and so does /practice chain_sum, for one; "
            "`vidya practice --list` in a terminal names the others"
        )
    ending = " \u00b7 ending after this step" if now.stopping else ""
    lines = [f"{'While you are away: ' if now.idle else ''}{now.task} \u00b7 {now.stage}{ending}"]
    if now.alarm:
        lines.append(f"alarm: {now.alarm}")
    if now.failed:
        lines.append(now.failed)
    if now.done is not None:
        lines.append(practice_state.done(now.done))
    return "\n".join(lines)


def progress(now: Practising, width: int) -> Content:
    """The bar, the share done, and the time left if there is room."""
    share, left = practice_state.share(now), practice_state.left(now)
    tail = f" {percent(share):>6}"
    if left and width >= WIDE:
        tail += f"  about {left}"
    return Content.styled(bar(share, max(1, width - len(tail))), "$accent").append(
        Content.styled(tail, "bold")
    )


def table(now: Practising) -> Table:
    """Names and values in two columns."""
    made = Table.grid(padding=(0, 2, 0, 1))
    made.add_column(no_wrap=True)
    made.add_column(ratio=1)
    for name, value in practice_state.figures(now):
        made.add_row(Text(name), Text(value))
    return made
