"""The settings screen. Each change is validated, takes effect at once and is saved in settings.toml."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from engine.errors import VidyaError
from vidya_tui.controller.models import ModelControl
from vidya_tui.screens.textual_fixes import Steady
from vidya_tui.settings.file import Settings
from vidya_tui.settings.rows import SettingRow, Value, groups
from vidya_tui.text.sanitise import plain
from vidya_tui.widgets.key_line import KeyLine
from vidya_tui.widgets.line_field import LineField
from vidya_tui.widgets.option_list import Choices

MOVE = Binding.Group("change", compact=True)
LABEL = 26
"""Width of a row's label, in columns."""


class SettingsScreen(Steady, ModalScreen[Literal["model"] | None]):
    """Returns "model" if the owner wants to open the list of models."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "close"),
        Binding("left", "move(-1)", "less", group=MOVE),
        Binding("right", "move(1)", "more", group=MOVE),
        Binding("enter", "edit", "edit"),
        Binding("space", "round", "next", show=False),
        Binding("d", "default", "default"),
    ]

    def __init__(self, control: ModelControl, themes: Sequence[str]) -> None:
        super().__init__()
        self._control = control
        self._groups = groups(themes)
        self._rows = {row.key: row for group in self._groups for row in group.rows}
        self._editing: SettingRow | None = None

    def compose(self) -> ComposeResult:
        with Vertical(classes="box", id="settings"):
            yield Static("Settings", markup=False, classes="title")
            yield Choices(id="settings-list", markup=False)
            yield Static("", markup=False, id="settings-help")
            yield LineField(id="settings-input")
            yield KeyLine(show_command_palette=False, compact=True)

    def on_mount(self) -> None:
        self.query_one(LineField).display = False
        self._list()
        listed = self.query_one(Choices)
        listed.highlighted = listed.get_option_index("candidates")
        self.set_focus(listed)

    # ------------------------------------------------------------ what is shown

    def _list(self) -> None:
        listed = self.query_one(Choices)
        at = listed.highlighted
        options: list[Option] = []
        for number, group in enumerate(self._groups):
            title = Content.styled(group.title, "bold dim")
            options.append(Option(Content("\n").append(title) if number else title, disabled=True))
            options += [Option(self._line(row), id=row.key) for row in group.rows]
        listed.set_options(options)
        listed.highlighted = at

    def _line(self, row: SettingRow) -> Content:
        settings = self._control.settings
        changed = getattr(settings, row.key) != getattr(Settings(), row.key)
        mark = Content.styled("\u25cf ", "$accent") if changed else Content("  ")
        words = plain(row.shown(settings))
        return mark.append(f"{row.label:<{LABEL}}").append(
            Content.styled(words, "bold" if changed else "")
        )

    def _explain(self, trouble: str = "") -> None:
        row = self._row
        help = self.query_one("#settings-help", Static)
        if row is None:
            return
        lines = Content(row.help)
        settings = self._control.settings
        changed = getattr(settings, row.key) != getattr(Settings(), row.key)
        if trouble:
            lines = Content.styled(f"! {plain(trouble)}", "$warning")
        elif changed and row.warning:
            lines = lines.append("\n").append(Content.styled(row.warning, "$warning"))
        elif changed and row.key != "model":
            lines = lines.append("\n").append(
                Content.styled(f"The default is {row.shown(Settings())}.", "dim")
            )
        help.update(lines)

    @property
    def _row(self) -> SettingRow | None:
        listed = self.query_one(Choices)
        if listed.highlighted is None:
            return None
        return self._rows.get(listed.get_option_at_index(listed.highlighted).id or "")

    @on(OptionList.OptionHighlighted)
    def _moved(self) -> None:
        self._explain()
        self.refresh_bindings()

    # ------------------------------------------------------------ changing

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if not self.is_mounted or self._editing is not None:
            return action in ("leave", "edit")
        row = self._row
        if action == "move":
            return row is not None and bool(row.choices or row.step)
        if action == "default":
            return row is not None and row.key != "model"
        return True

    def action_move(self, direction: int) -> None:
        if (row := self._row) is not None:
            value = row.next(self._control.settings, direction)
            if value is not None:
                self._set(row, value)

    def action_round(self) -> None:
        if (row := self._row) is not None:
            value = row.next(self._control.settings, 1, round_trip=True)
            if value is not None:
                self._set(row, value)

    def action_default(self) -> None:
        if (row := self._row) is not None:
            self._set(row, getattr(Settings(), row.key))

    @on(OptionList.OptionSelected)
    def action_edit(self) -> None:
        row = self._row
        if row is None or self._editing is not None:
            return
        if row.key == "model":
            self.dismiss("model")
        elif row.choices:
            self.action_round()
        else:
            self._editing = row
            field = self.query_one(LineField)
            field.value = row.typed(self._control.settings)
            field.border_title = row.label
            field.display = True
            self.set_focus(field)
            self.refresh_bindings()

    @on(LineField.Submitted)
    def _typed(self, event: LineField.Submitted) -> None:
        row = self._editing
        if row is None:
            return
        try:
            value = row.read(event.value, self._control.settings)
        except VidyaError as error:
            self._explain(_without_file(str(error)))
            return
        self._close_field()
        self._set(row, value)

    def action_leave(self) -> None:
        if self._editing is not None:
            self._close_field()
            self._explain()
        else:
            self.dismiss(None)

    def _close_field(self) -> None:
        self._editing = None
        self.query_one(LineField).display = False
        self.set_focus(self.query_one(Choices))
        self.refresh_bindings()

    def _set(self, row: SettingRow, value: Value | None) -> None:
        try:
            self._control.set(row.key, value)
        except VidyaError as error:
            self._explain(str(error))
            return
        listed = self.query_one(Choices)
        listed.replace_option_prompt(row.key, self._line(row))
        self._explain()
        self.refresh_bindings()


def _without_file(words: str) -> str:
    """The message without the file name, for a value that is not in the file."""
    return words.removeprefix("settings.toml: ")
