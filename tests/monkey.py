"""A monkey at the keyboard and the mouse: random keys, words, pastes, commands, clicks and sizes, and
nothing typed may be lost.

    python -m tests.monkey --steps 10000 --seed 1

plays long by hand; tests/vidya_tui/test_monkey.py plays a little in the suite. The same seed presses
the same keys.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
import unicodedata
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from textual import events
from textual.widgets import Input, TextArea

from learning.protocol.events import LearnerState
from tests.stage import Stage, play
from vidya_tui.commands.keymap import usual
from vidya_tui.commands.parse import Say, parse
from vidya_tui.commands.table import COMMANDS
from vidya_tui.screens.chat.screen import ChatScreen
from vidya_tui.session.session import tidy

KEYS = (
    *"123456789abc/ ",
    *("enter", "enter", "enter", "tab", "shift+tab", "escape", "escape", "up", "down", "left"),
    *("right", "backspace", "delete", "home", "end", "ctrl+u", "ctrl+w", "ctrl+k", "ctrl+z"),
    *("ctrl+y", "ctrl+c", "ctrl+x", "ctrl+v", "ctrl+s", "shift+left", "shift+up", "f6", "f7"),
    *("alt+x", "alt+3", "ctrl+left", "ctrl+right", "ctrl+p"),
)
BOUND = tuple(
    key
    for name, keys in usual().items()
    for key in keys.split(",")
    if key and name not in ("quit", "editor")
)
"""Every key of the table, but for those that end or lend the terminal."""
COMMAND_LINES = tuple(f"/{command.name}" for command in COMMANDS)
PASTES = (
    *COMMAND_LINES,
    *(f"/{c.name} {value}" for c in COMMANDS for value in c.values),
    *("/pick 2", "/correct no, this", "/edit in other words", "/undo", "/new", "//not a command"),
    *(
        "two\nlines",
        "\x1b[31mred\x1b]0;title\x07",
        "\u202e[b]x[/b]",
        "\x9b2J",
        "e\u0301\u0928\u092e",
    ),
    *("\u4f60\u597d\uff0c\u4e16\u754c", "\U0001f469\u200d\U0001f33e\U0001f1e9\U0001f1ea"),
    *("\u0645\u0631\u062d\u0628\u0627", "x" * 5000, "line\n" * 300, "\ud800 half", ""),
)
SIZES = ((80, 24), (130, 34), (200, 60), (40, 12), (12, 4), (1, 1))
NAMES = {" ": "space", "/": "slash"}
WHEEL = (events.MouseScrollUp, events.MouseScrollDown)


@dataclass
class Monkey:
    """Presses, and looks whether all is still there."""

    stage: Stage
    dice: random.Random
    did: Counter[str] = field(default_factory=Counter)
    words: int = 0

    def watch(self) -> None:
        """From now on every message that is entered must be in the journal or be put back."""
        chat = self.stage.app.chat
        enter = chat._enter

        def entered(text: str, position: int | None = None) -> None:
            enter(text, position)
            try:
                wish = parse(text)
            except Exception:
                assert text in chat.prompt.text, f"a wrong command was lost: {text!r}"
                return
            if isinstance(wish, Say):
                said = tidy(wish.text)
                kept = any(said in message for message in self.stage.journal.questions(3))
                assert not said or kept or text in chat.prompt.text, f"lost: {text!r}"
                self.did["messages"] += 1
            else:
                self.did["commands"] += 1

        chat._enter = entered  # type: ignore[method-assign]

    async def step(self) -> None:
        roll = self.dice.random()
        if roll < 0.06:
            await self.paste()
        elif roll < 0.075:
            await self.stage.pilot.resize_terminal(*self.dice.choice(SIZES))
            self.did["sizes"] += 1
        elif roll < 0.27:
            self.stage.teacher.pump(self.dice.randint(1, 4))
        elif roll < 0.275:
            self.stage.teacher.die()
        elif roll < 0.285:
            self.stage.hear(LearnerState("learning", 2, 0.5, 0.9))
        elif roll < 0.33:
            await self.command()
        elif roll < 0.39:
            await self.mouse()
        elif roll < 0.5:
            await self.word()
        else:
            keys = BOUND if self.dice.random() < 0.3 else KEYS
            burst = self.dice.choices(keys, k=self.dice.randint(1, 3))
            await self.stage.press(*(NAMES.get(key, key) for key in burst))
            self.did["keys"] += len(burst)

    async def command(self) -> None:
        """Out of whatever is open, and into what a command opens."""
        for _ in range(3):
            await self.stage.press("escape")
        await self.stage.pilot.pause()
        app, line = self.stage.app, self.dice.choice(COMMAND_LINES)
        if app.screen is not app.chat or app.chat.prompt.editing:
            return
        draft = app.chat.prompt.text
        app.chat.prompt.replace_all(line)
        for _ in range(2):  # the first may complete it
            if app.screen is app.chat and app.chat.prompt.text.startswith(line):
                await self.stage.press("enter")
                await self.stage.pilot.pause()
        self.did[line] += 1
        self.did[type(app.screen).__name__] += 1
        if draft:
            app.chat.prompt.replace_all(draft)

    async def mouse(self) -> None:
        """A click, a double click or the wheel, anywhere."""
        app, pilot = self.stage.app, self.stage.pilot
        at = (self.dice.randrange(app.size.width), self.dice.randrange(app.size.height))
        await pilot.pause()
        if not app.screen.size.region.contains(*at):
            return
        if self.dice.random() < 0.3:
            await pilot._post_mouse_events([self.dice.choice(WHEEL)], offset=at)
            self.did["wheels"] += 1
        else:
            await pilot.click(offset=at, times=self.dice.choice((1, 1, 1, 2)))
            self.did["clicks"] += 1

    async def paste(self) -> None:
        self.stage.app.post_message(events.Paste(self.dice.choice(PASTES)))
        await self.stage.pilot.pause()
        self.did["pastes"] += 1

    async def word(self) -> None:
        """A word that was never typed before: it must stand where it was typed."""
        self.words += 1
        word = "q" + "".join(chr(ord("a") + int(digit)) for digit in str(self.words)) + "z"
        app = self.stage.app
        await self.stage.pilot.pause()  # what was pressed before has arrived
        screen, focused = app.screen, app.focused
        await self.stage.press(*word)
        await self.stage.pilot.pause()
        self.did["words"] += 1
        if app.screen is not screen:
            return
        if isinstance(focused, Input):  # the search in the chat among them
            there = focused.value
        elif isinstance(screen, ChatScreen):
            there = app.chat.prompt.text
        elif isinstance(focused, TextArea):
            there = focused.text
        else:
            return
        assert word in there, (
            f"{word} was typed and is not in {there[-200:]!r}\n{self.stage.text()}"
        )

    def look(self) -> None:
        """The app runs, and nothing on its screen is anything that a terminal obeys."""
        app = self.stage.app
        assert app.is_running and app._exception is None
        shown = self.stage.text().replace("\n", "")
        bad = {c for c in shown if unicodedata.category(c) in ("Cc", "Cs") or c in "\u202e\u2066"}
        assert not bad, f"{bad} on {app.screen}:\n{ascii(self.stage.text())}"


def monkey(folder: Path, seed: int, steps: int) -> Counter[str]:
    """Runs the monkey and returns its actions. Raises AssertionError, or the app's exception."""
    did: Counter[str] = Counter()

    async def scenario(stage: Stage) -> None:
        one = Monkey(stage, random.Random(seed), did)
        await lived(stage)
        one.watch()
        stay(stage, did)
        for number in range(steps):
            await one.step()
            if number % 10 == 0:
                one.look()
        for _ in range(4):
            await stage.press("escape")
            await stage.pilot.pause(0.05)
        await stage.pilot.resize_terminal(80, 24)
        await stage.pilot.pause(0.3)
        one.look()
        assert stage.journal.integrity() == "ok"

    play(scenario, folder, manual=True)
    return did


async def lived(stage: Stage) -> None:
    """A journal and a book with something in them."""
    for number in range(6):
        stage.session.say(f"message {number}")
        stage.teacher.finish()
        stage.app._frame()
        if number % 3 == 2:
            stage.session.correct(f"a better answer {number}", 2)
        elif number % 3 == 1:
            stage.session.pick(number % 5 + 1)
            stage.session.rate("good" if number % 2 else "bad")
        if number == 3:
            stage.session.new()
    stage.journal.add_measure("book_recall", 0.9)
    stage.app.chat.draw()
    await stage.pilot.pause()


def stay(stage: Stage, did: Counter[str]) -> None:
    """Nothing that is pressed ends the app; that it was asked to is counted."""

    async def quit() -> None:
        did["quits"] += 1

    stage.app.action_quit = quit  # type: ignore[method-assign]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    began, spent = time.perf_counter(), time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        did = monkey(Path(folder), options.seed, options.steps)
    took = f"{time.perf_counter() - began:.0f} s, {time.process_time() - spent:.0f} s of processor"
    print(
        f"seed {options.seed}, {options.steps} steps: no crash, nothing lost; {dict(did)}; {took}"
    )


if __name__ == "__main__":
    main()
