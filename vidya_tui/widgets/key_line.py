"""The line of the keys that work now, at the bottom of a screen: as many as there is room for.

A key is shown with its whole word or not at all; help and how to leave are always there.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

from textual.app import ComposeResult
from textual.binding import Binding
from textual.screen import Screen
from textual.widgets import Footer
from textual.widgets._footer import FooterKey, FooterLabel, KeyGroup

PAUSE = 0.05
"""Seconds to wait for further changes before it is drawn."""
OFTEN = 20
"""Redraws after which references to removed keys are dropped."""
KEPT = ("shown('help')", "help", "quit", "leave", "dismiss", "close_run")
"""Actions that are shown however little room there is: help, and the ways out."""
PALETTE = 4
"""Columns around the words of the palette's key."""


class Shown(NamedTuple):
    """A key in the line."""

    binding: Binding
    enabled: bool
    tooltip: str


Said = tuple[int, tuple[tuple[str, str, bool], ...]]


class KeyLine(Footer):
    """Textual's footer, made anew only when it says something else, and letting go of what it said
    before: Footer (Textual 8.2) holds on to every key that it ever showed, 0.6 MB an exchange."""

    _said: Said | None = None
    _due = False
    _made = 0

    def bindings_changed(self, screen: Screen[object]) -> None:
        if not self._bindings_ready:
            super().bindings_changed(screen)
        else:
            self._soon()

    def on_resize(self) -> None:
        if self._bindings_ready:
            self._soon()

    def _soon(self) -> None:
        if not self._due:
            self._due = True
            # by way of its own queue: a timer's task would run beside one that is still at work
            self.set_timer(PAUSE, lambda: self.call_later(self._say))

    async def _say(self) -> None:
        self._due = False
        there = self.is_attached and self.screen is self.app.screen and self.app.app_focus
        if there and self._said != self._words():
            await self.recompose()

    async def recompose(self) -> None:
        self._said = self._words() if self._bindings_ready else None
        await super().recompose()
        self._made += 1
        if self._made % OFTEN == 0:
            self.mutate_reactive(Footer.compact)  # looks through those who listen; drops the gone

    def _words(self) -> Said:
        """What the line shows: its width, and of each key its name, description and whether it works."""
        return self.size.width, tuple(
            (self._key(one.binding), one.binding.description, one.enabled) for one in self._all()
        )

    # ------------------------------------------------------------ which are shown

    def _key(self, binding: Binding) -> str:
        return self.app.get_key_display(binding)

    def _all(self) -> list[Shown]:
        """Those that work, once for each action; how to leave last, where it leaves the app."""
        found: dict[str, Shown] = {}
        for _, binding, enabled, tooltip in self.screen.active_bindings.values():
            leaves = binding.action == "quit" and self.show_command_palette
            if binding.show or leaves:
                found.setdefault(binding.action, Shown(binding, enabled, tooltip))
        return sorted(found.values(), key=lambda one: one.binding.action == "quit")

    def _width(self, one: Shown) -> int:
        """Columns, with the space behind it. Keys of a group stand side by side, its word behind."""
        key = len(self._key(one.binding))
        return key if one.binding.group else key + len(one.binding.description) + 2

    def _fitting(self, listed: Sequence[Shown]) -> list[Shown]:
        """As many as there is room for."""
        room = self.size.width or self.app.size.width
        if self.show_command_palette:
            palette = self.screen.active_bindings.get(self.app.COMMAND_PALETTE_BINDING)
            if palette is not None:
                binding = palette.binding
                room -= len(self._key(binding)) + len(binding.description) + PALETTE
        room += 1  # nothing follows the last
        room -= sum(self._width(one) for one in listed if one.binding.action in KEPT)
        groups = {one.binding.group for one in listed if one.binding.group}
        room -= sum(len(group.description) + 3 for group in groups)
        shown = []
        for one in listed:
            kept, width = one.binding.action in KEPT, self._width(one)
            if kept or width <= room:
                shown.append(one)
                room -= 0 if kept else width
        return shown

    def compose(self) -> ComposeResult:
        """As Footer does, of those that fit."""
        if not self._bindings_ready:
            return
        for group, listed in groupby(self._fitting(self._all()), lambda one: one.binding.group):
            keys = list(listed)
            if group is not None and len(keys) > 1:
                with KeyGroup(classes="-compact" if group.compact else ""):
                    for one in keys:
                        yield self._footer_key(one, "", "-grouped")
                yield FooterLabel(group.description)
            else:
                for one in keys:
                    yield self._footer_key(one, one.binding.description)
        palette = self.screen.active_bindings.get(self.app.COMMAND_PALETTE_BINDING)
        if self.show_command_palette and self.app.ENABLE_COMMAND_PALETTE and palette is not None:
            shown = Shown(palette.binding, palette.enabled, palette.tooltip)
            yield self._footer_key(shown, palette.binding.description, "-command-palette")

    def _footer_key(self, one: Shown, description: str, classes: str = "") -> FooterKey:
        binding = one.binding
        key = FooterKey(
            binding.key,
            self._key(binding),
            description,
            binding.action,
            disabled=not one.enabled,
            tooltip=one.tooltip or ("" if description else binding.description),
            classes=classes,
        )
        return key if classes == "-command-palette" else key.data_bind(compact=Footer.compact)
