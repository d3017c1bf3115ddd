"""The practice screen: a progress bar with the time left, figures of the last step, samples with their
rewards, and a line that begins a practice with any of its options. Shows the samples of earlier runs too.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
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
from learning.journal.practices import KeptAnswers, kept_answers
from learning.protocol.events import PracticeSample
from vidya_tui.controller.context import ScreenContext
from vidya_tui.screens.textual_fixes import Steady
from vidya_tui.state import practice as practice_state
from vidya_tui.state.practice import Practising
from vidya_tui.state.practice_runs import RunsAsked, shown
from vidya_tui.state.samples import by_component, components, following
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
        Binding("escape,q,enter", "close_run", "earlier runs"),
        Binding("escape,q,enter", "leave", "close, practice goes on"),
        Binding("escape,q,enter", "dismiss", "close"),
        Binding("x", "stop", "stop after this step"),
        Binding("f", "filter", "by component"),
        Binding("r", "runs", "earlier runs"),
        Binding("b", "begin", "begin"),
    ]

    def __init__(
        self, place: ScreenContext, stop: Callable[[], None], asked: RunsAsked | None = None
    ) -> None:
        """stop: asks the teacher to end practice. asked: the earlier runs, or the one, to show first. Raises
        VidyaError if that is not in the journal, or has no such component."""
        super().__init__()
        self._place, self._stop, self._asked = place, stop, asked
        self._practice = place.controller.practice
        self._shown: Practising | None = None
        self._kept: KeptAnswers | None = None
        """The earlier run whose answers are shown; None: those of the present one."""
        self._by = ""
        """The component of the reward by which answers are shown; empty: the newest."""
        if asked is not None and asked.run is not None:
            self._kept = kept_answers(place.journal, asked.run)
            by_component(self._kept.samples, asked.words)
            self._by = asked.words
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
        if self._asked is not None and self._asked.run is None:
            self.action_runs()

    def on_resize(self) -> None:
        self._shown = None
        self.call_after_refresh(self._look)  # after the layout, when sizes are known

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        now, old, typing = self._state(), self._kept is not None, self._words.display
        able = {"leave": now.running and not old, "dismiss": not now.running and not old}
        able["stop"] = now.running and not now.stopping
        able["filter"] = bool(self._samples_of(now))
        able["begin"] = not now.running and not typing
        able["close_run"], able["runs"] = old, not old and not typing
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
            self._practice.begin(event.value)
        except VidyaError as error:
            self._refused.update(plain(f"{error.what}: {error.next_step}"))
            return
        self._see(None)
        self._type(False)

    def _back(self) -> None:
        """Closes the line that is typed in, or else the screen."""
        if self._words.display:
            self._type(False)
        else:
            self.dismiss()

    # ------------------------------------------------------------ earlier runs

    def action_runs(self) -> None:
        """Opens the list of runs; the one that is chosen there is shown here."""
        from vidya_tui.screens.practice_runs import PracticeRunsScreen

        words = self._asked.words if self._asked and self._asked.run is None else ""
        at = self._kept.run.entry.id if self._kept else None
        self._asked = None
        self.app.push_screen(PracticeRunsScreen(self._place, words, at), self._chosen)

    def action_close_run(self) -> None:
        if self._words.display:
            self._type(False)
        else:
            self.action_runs()

    def _chosen(self, run: int | None) -> None:
        trouble, kept = "", None
        try:
            kept = None if run is None else kept_answers(self._place.journal, run)
        except VidyaError as error:  # erased meanwhile, or the journal cannot be read
            trouble = f"{error.what}: {error.next_step}"
        self._see(kept)
        self._refused.update(plain(trouble))
        self._refused.display = bool(trouble)

    def _see(self, kept: KeptAnswers | None) -> None:
        """Shows the answers of an earlier run; None: of the present one."""
        self._kept, self._by, self._shown = kept, "", None
        self.query_one("#practice-scroll", VerticalScroll).scroll_home(animate=False)
        self._look()

    def _samples_of(self, now: Practising) -> Sequence[PracticeSample]:
        """The answers that are shown."""
        return now.samples if self._kept is None else self._kept.samples

    def _state(self) -> Practising:
        return self._practice.state

    # ------------------------------------------------------------ what is shown

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
        self._by = following(self._samples_of(self._state()), self._by)
        self._shown = None
        self._look()

    def _look(self) -> None:
        now = self._state()
        if now == self._shown:
            return
        was, self._shown = self._shown, now
        kept, samples = self._kept, self._samples_of(now)
        if kept is None and self._by not in components(samples):
            self._by = ""
        self._title.update(Text(plain(title(now) if kept is None else shown(kept, time.time()))))
        self._bar.show(partial(progress, now))
        self._bar.display = bool(now.task) and kept is None
        self._figures.display = kept is None
        self._figures.update(table(now))
        most = practice_state.SHOWN if kept is None else None
        if kept is None or was is None:  # those of an earlier run stay as they are
            said = practice_state.samples(samples, self.size.width - 16, self._by, most)
            self._samples.update(Text(said))
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
            "`vidya practice --list` in a terminal names the others. r shows earlier runs"
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
