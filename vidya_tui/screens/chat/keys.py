"""The chat's keys: which there are, which work now, and what each does.

Mixed into the chat, whose widgets it uses. Left out: what a command does (the chat itself and
controller/controller.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

from textual.actions import SkipAction
from textual.binding import Binding

from vidya_tui.commands.keymap import Keymap, shown, way
from vidya_tui.commands.parse import RunCommand, find
from vidya_tui.commands.situation import Situation
from vidya_tui.commands.table import COMMANDS, Command
from vidya_tui.controller.message import StatusMessage
from vidya_tui.widgets.candidates import CandidatePanel
from vidya_tui.widgets.conversation import ConversationView
from vidya_tui.widgets.prompt import Prompt

FIRST = ("correct", "undo", "new")
"""Commands whose keys come first in the footer."""


def bindings(keys: Keymap) -> Iterator[Binding]:
    """The commands' keys, twice: shown in the footer where useful, and working where possible."""
    yield Binding("tab", "app.focus_next", show=False)
    yield Binding("shift+tab", "choose_last", show=False)
    yield Binding("ctrl+c,super+c", "screen.copy_text", show=False)
    for name in ("good", "bad"):
        if keys[name]:
            # "alt+up good" and then "down bad", where the second is held with the same key
            held, _, last = shown(keys["bad"]).rpartition("+")
            short = name == "bad" and held and shown(keys["good"]).rpartition("+")[0] == held
            display = {"up": "\u2191", "down": "\u2193"}.get(last, last) if short else None
            yield Binding(keys[name], f"shown_rate('{name}')", name, key_display=display)
            yield Binding(keys[name], f"rate('{name}')", show=False)
    if keys["jump"]:
        yield Binding(keys["jump"], "jump", "to the end")
    # those with alt last: where the footer has no room for all, they are left out
    for command in sorted(COMMANDS, key=_late):
        name = command.name
        if keys[name] and name != "quit":
            if name == "correct":  # the same key, called by what it means while candidates wait
                yield Binding(keys[name], "none_of_these", "none of these")
            yield Binding(keys[name], f"shown('{name}')", command.label or name)
            yield Binding(keys[name], f"command('{name}')", command.label, show=False)


def _late(command: Command) -> tuple[bool, bool]:
    """How late in the footer a command comes."""
    return command.keys.startswith("alt+"), command.name not in FIRST


class Keyed:
    """An action for each key, and whether it can be taken."""

    keys: Keymap
    situation: Situation
    conversation: ConversationView
    candidates: CandidatePanel
    prompt: Prompt

    if TYPE_CHECKING:

        def get_selected_text(self) -> str | None: ...
        def _copy(self, text: str) -> StatusMessage: ...
        def _just_undone(self) -> bool: ...
        def _choose(self, position: int) -> None: ...

    def run(self, run: RunCommand, typed: str = "") -> None:
        raise NotImplementedError

    def _tell(self, words: StatusMessage) -> None:
        raise NotImplementedError

    # ------------------------------------------------------------ before something is picked

    def on_candidate_panel_chosen(self, message: CandidatePanel.Chosen) -> None:
        n = message.index
        self.prompt.announce(f"enter, or a second click, picks {n}" if n else "")

    def on_prompt_clicked(self, message: Prompt.Clicked) -> None:
        self.candidates.click(message.number)

    def on_prompt_held(self, message: Prompt.Held) -> None:
        self.candidates.hold(message.number)

    # ------------------------------------------------------------ keys

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action in ("shown", "command"):
            command = find(str(parameters[0]))
            works = command.when(self.situation)
            if action == "shown" and command.footer is not None:
                return works and command.footer(self.situation)
            return works
        if action == "none_of_these":
            return self.situation.waiting
        if action == "shown_rate":
            return self.situation.ratable
        if action == "jump":
            return not self.conversation.following
        return True

    def action_shown(self, name: str) -> None:
        self.action_command(name)

    def action_command(self, name: str) -> None:
        command = find(name)
        if name == "undo" and self._just_undone():
            return  # the key was struck twice: one lesson was meant, and what it was is being read
        if command.bare:
            self.run(RunCommand(command))
        elif self.prompt.text:
            self._tell(StatusMessage(f"a key cannot say what should follow; type {command.usage}"))
        else:
            self.prompt.replace_all(f"/{name} ")

    def action_none_of_these(self) -> None:
        self.action_command("correct")

    def action_shown_rate(self, value: Literal["good", "bad"]) -> None:
        self.action_rate(value)

    def action_rate(self, value: Literal["good", "bad"]) -> None:
        if not self.situation.ratable:
            cards = self.situation.cards
            first = f"press {cards[0]} to {cards[-1]} to pick one" if cards else "say something"
            key = way(self.keys, value) if self.keys[value] else f"/rate {value}"
            self._tell(
                StatusMessage(f"no answer to rate yet: {first}, then {key} rates it", trouble=True)
            )
            return
        current = self.situation.rating
        self.run(RunCommand(find("rate"), "off" if current == value else value))

    def action_jump(self) -> None:
        self.conversation.jump_to_end()

    def action_copy_text(self) -> None:
        """ctrl+c, of what was marked with the mouse."""
        if (text := self.get_selected_text()) is None:
            raise SkipAction
        self._copy(text)

    def action_choose_last(self) -> None:
        self._choose(self.conversation.count - 1)
