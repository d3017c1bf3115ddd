"""The model screen: lists the models, those that can be fetched, and the snapshots of the one in use;
switches, fetches, grows, rolls back."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from engine.errors import VidyaError
from engine.storage.disk import size
from learning.models.store import ModelInfo, Snapshot
from learning.protocol.events import Event, Failed, Ready, WorkerLost
from learning.protocol.model_events import Fetched, Grown
from vidya_tui.controller.models import ModelControl
from vidya_tui.screens.textual_fixes import Steady
from vidya_tui.text.sanitise import one_line, plain
from vidya_tui.widgets.key_line import KeyLine
from vidya_tui.widgets.option_list import Choices
from vidya_tui.widgets.progress_bar import bar

HELP = (
    "Enter talks to the model under the bar; this talk goes on with it. Lessons that it lacks are "
    "learned again. One that is not here yet is fetched first."
)

GROWING = (
    "You are told when it is there. Go on with anything but another model; leaving gives it up."
)
BAR = 24
"""Columns."""
TOLD = ("grow", "model", "load", "fetch", "worker")
"""Kinds of requests whose failure is told here."""
LOOK_EVERY = 0.5
"""Seconds between two updates of the time that a model has been growing."""


class ModelScreen(Steady, ModalScreen[None]):
    """Growing and rolling back need the key twice."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "close"),
        Binding("enter", "choose", "use / go back"),
        Binding("g", "grow", "grow"),
    ]

    def __init__(self, control: ModelControl) -> None:
        super().__init__()
        self._control = control
        self._asked = ""
        """The action that the same key would confirm; empty: none."""
        self._grew = False
        """A model was being made at the last look."""
        self._growing = Static("", markup=False, id="model-growing")

    def compose(self) -> ComposeResult:
        with Vertical(classes="box", id="model"):
            yield Static("Models", markup=False, classes="title")
            yield Choices(id="model-list", markup=False)
            yield self._growing
            yield Static(HELP, markup=False, id="model-help")
            yield KeyLine(show_command_palette=False, compact=True)

    def on_mount(self) -> None:
        self._list()
        self._look()
        self.set_interval(LOOK_EVERY, self._look)
        listed = self.query_one(Choices)
        self.set_focus(listed)
        self.watch(listed, "highlighted", self._moved, init=False)

    def hear(self, events: Sequence[Event]) -> None:
        """Updates the list after a model has grown or loaded; shows failures."""
        for event in events:
            if isinstance(event, Grown):
                self._list()
                self._say(f"{event.name} is there; enter on it talks to it.")
            elif isinstance(event, Fetched):
                self._list()
            elif isinstance(event, Failed) and event.where in TOLD:
                self._list()
                self._say(f"{event.what}; {event.next_step}", trouble=True)
            elif isinstance(event, Ready):
                self._list()
                self._say(f"This is {event.model}, version {event.version}.")
            elif isinstance(event, WorkerLost) and self._grew:
                self._say("The model's process ended, and the growing with it.", trouble=True)
        self._look()

    # ------------------------------------------------------------ what is shown

    def _look(self) -> None:
        """Shows which model is being grown and for how long, and how much of another one is fetched."""
        controller = self._control.controller
        growing, coming, lines = controller.growing, controller.fetches.now, list[str]()
        if growing is not None:
            lines.append(growing.words(time.monotonic(), waits=controller.training.running))
        if coming is not None:
            lines.append(f"{bar(coming.share, BAR)} {coming.words()}")
        self._grew = growing is not None
        self._growing.display = bool(lines)
        self._growing.update(Content(plain("\n".join(lines))))

    def _list(self) -> None:
        listed = self.query_one(Choices)
        at = listed.highlighted
        options: list[Option] = []
        try:
            (models, broken), shots = self._control.models(), self._control.snapshots()
        except VidyaError as error:
            self._say(str(error), trouble=True)
            return
        for info in models:
            options.append(Option(self._model(info), id=f"model {self._control.called(info)}"))
        for name in broken:
            words = f"  {one_line(name, 40):<18} cannot be read"
            options.append(Option(Content.styled(plain(words), "dim"), disabled=True))
        fetches = self._control.controller.fetches
        if missing := fetches.missing():
            title = "\nmodels that can be fetched"
            options.append(Option(Content.styled(title, "bold dim"), disabled=True))
        for known in missing:
            row = Content(f"  {known.name:<18}{known.parameters / 1e6:>6.1f}M weights  ")
            row = row.append(f"{size(known.download_bytes):>8}  ").append(
                Content.styled(known.licence.capitalize(), "dim")
            )
            options.append(Option(row, id=f"get {known.name}"))
            if lesson := fetches.lesson(known):
                options.append(Option(Content.styled(f"    {lesson}", "dim"), disabled=True))
        title = f"\nearlier weights of {one_line(self._control.model, 40)}"
        options.append(Option(Content.styled(title, "bold dim"), disabled=True))
        for shot in shots:
            options.append(Option(_snapshot(shot), id=f"snapshot {shot.version}"))
        if not shots:
            options.append(Option(Content.styled("  none yet", "dim"), disabled=True))
        listed.set_options(options)
        listed.highlighted = at if at is not None and at < len(options) else 0

    def _model(self, info: ModelInfo) -> Content:
        used = self._control.in_use(info)
        mark = Content.styled("\u25cf ", "$accent") if used else Content("  ")
        state = "comes with vidya" if info.shipped else f"version {info.version}"
        return (
            mark.append(Content.styled(f"{plain(info.name):<18}", "bold" if used else ""))
            .append(f"{info.parameters / 1e6:>6.1f}M weights  {size(info.bytes):>8}  ")
            .append(Content.styled(state, "dim"))
        )

    def _say(self, words: str, *, trouble: bool = False) -> None:
        help = self.query_one("#model-help", Static)
        help.update(Content.styled(plain(words), "$warning" if trouble else ""))

    # ------------------------------------------------------------ what is done

    @property
    def _chosen(self) -> str:
        listed = self.query_one(Choices)
        if listed.highlighted is None:
            return ""
        return listed.get_option_at_index(listed.highlighted).id or ""

    def _moved(self) -> None:
        """Withdraws the question. Called as the bar moves: OptionHighlighted comes later, and would withdraw
        what a key right behind the movement has asked."""
        if self._asked:
            self._asked = ""
            self._say(HELP)

    @on(OptionList.OptionSelected)
    def action_choose(self) -> None:
        kind, _, name = self._chosen.partition(" ")
        if kind == "snapshot" and self._twice(
            f"back {name}",
            f"Enter again goes back to version {name}. Lessons since then will need practice: "
            "/train brings them back.",
        ):
            self._change(lambda: self._control.rollback(int(name)))
        elif kind == "get":
            self._fetch(name)
        elif kind == "model":
            if name == self._control.model and self._control.awake:
                self._say("You are talking to it.")
            else:
                self._change(lambda: self._control.use(name))

    def _fetch(self, name: str) -> None:
        """Begins to fetch a model; on the one that is on its way, a second time in a row ends that."""
        fetches = self._control.controller.fetches
        coming = fetches.now
        try:
            if coming is None or coming.name != name:
                self._say(fetches.begin(name).text)
            elif self._twice(f"stop {name}", f"Enter again stops fetching {name}."):
                self._say(fetches.stop().text)
        except VidyaError as error:
            self._say(str(error), trouble=True)
        self._look()

    def action_grow(self) -> None:
        try:
            larger = self._control.larger()
        except VidyaError as error:
            self._say(str(error), trouble=True)
            return
        if growing := self._control.controller.growing:
            self._say(f"{growing.name} is being made already.")
        elif not larger:
            self._say("There is no larger size to grow to.")
        elif self._twice(
            f"grow {larger[0]}",
            f"g again makes a model of the size {larger[0]} out of {self._control.model}: it knows "
            "the same and has room for more, and answers more slowly. The small one stays.",
        ):
            if self._attempt(lambda: self._control.grow(larger[0])):
                self._say(GROWING)
            self._look()

    def _twice(self, what: str, words: str) -> bool:
        """True at the second call in a row for the same action; else shows `words`."""
        if self._asked == what:
            self._asked = ""
            return True
        self._asked = what
        self._say(words)
        return False

    def _change(self, work: Callable[[], object]) -> None:
        """Begins to change the model and closes the screen; the talk tells the rest."""
        if self._attempt(work):
            self.dismiss()

    def _attempt(self, work: Callable[[], object]) -> bool:
        """Runs `work`, or shows its VidyaError; False on an error."""
        try:
            work()
        except VidyaError as error:
            self._say(str(error), trouble=True)
            return False
        return True

    def action_leave(self) -> None:
        self.dismiss()


def _snapshot(shot: Snapshot) -> Content:
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(shot.created))
    note = one_line(shot.note, 60) or "as it came"
    return Content(f"  version {shot.version:<6} {when}  ").append(Content.styled(note, "dim"))
