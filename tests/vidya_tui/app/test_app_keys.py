"""Keys that no other test presses, hints that name them, and the footer."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest
from textual import events
from textual._xterm_parser import XTermParser
from textual.constants import ESCAPE_DELAY

from learning.protocol.records import Lesson, Turn
from tests.stage import Stage, play
from tests.typed import OPENS, answered, judgements, stands, waiting
from vidya_tui.commands.keymap import keymap, usual, way
from vidya_tui.screens.help import HelpScreen
from vidya_tui.settings.file import Settings
from vidya_tui.state.welcome import advice, seen


@pytest.mark.slow
def test_f8_takes_the_last_lesson_back(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await answered(stage)
        await stage.press("f8")
        await stage.sees("4 four answers")
        assert judgements(stage) == []

    play(scenario, tmp_path, manual=True)


@pytest.mark.slow
@pytest.mark.parametrize("place", ["prompt", "candidates", "conversation"])
def test_alt_and_a_letter_work_wherever_the_focus_is(tmp_path: Path, place: str) -> None:
    async def scenario(stage: Stage) -> None:
        await waiting(stage)
        if place == "candidates":
            await stage.press("tab")
            await stage.sees("\u25b81 one answer")
        elif place == "conversation":
            await stage.press("shift+tab")
            await stage.until(lambda: stage.app.focused is not stage.app.chat.prompt)
        for name, letter in (("lessons", "l"), ("book", "o"), ("progress", "g")):
            stage.app.post_message(alt(letter))
            await stands(stage, OPENS[name])
            await stage.press("escape")
            await stage.until(lambda: stage.app.screen is stage.app.chat)
        stage.app.post_message(alt("w"))
        await stage.until((stage.home.path / "exports" / "conversation-1.md").exists)
        assert stage.prompt == ""

    play(scenario, tmp_path, manual=True)


def alt(letter: str) -> events.Key:
    """As a terminal sends it."""
    return events.Key(f"alt+{letter}", letter)


@pytest.mark.parametrize("key", ["alt+n", "ctrl+b"])
def test_a_new_line_may_have_any_key(tmp_path: Path, key: str) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.press("a")
        stage.app.post_message(events.Key(key, "n" if key == "alt+n" else "\x02"))
        await stage.press("b")
        await stage.until(lambda: stage.prompt == "a\nb")

    play(scenario, tmp_path, settings=Settings(theme="dark", keys={"newline": key}))


def test_the_usual_keys_are_allowed_and_arrive_as_they_are_called() -> None:
    changes = {name: keys for name, keys in usual().items() if name != "cancel"}
    assert keymap(changes) == usual()
    for key in ",".join(usual().values()).split(","):
        if len(key) == len("alt+x") and key.startswith("alt+"):
            parser = XTermParser()
            assert list(parser.feed(f"\x1b{key[-1]}")) == []
            time.sleep(ESCAPE_DELAY)
            (sent,) = parser.tick()
            assert isinstance(sent, events.Key) and (sent.key, sent.character) == (key, key[-1])


@pytest.mark.slow
@pytest.mark.parametrize("key", ["f1", "alt+h"])
def test_the_help_opens_in_every_room(tmp_path: Path, key: str) -> None:
    async def scenario(stage: Stage) -> None:
        for name in ("lessons", "book", "history", "progress", "compare", "curve"):
            if name == "compare":
                await answered(stage)
            await stage.say(f"/{name}")
            await stands(stage, OPENS[name])
            await stage.until(lambda: f"{key} help" in stage.footer())
            for screen in (HelpScreen, OPENS[name]):  # and what opened it closes it
                stage.app.post_message(events.Key(key, "h" if key == "alt+h" else None))
                await stands(stage, screen)
                if screen is HelpScreen:
                    await stage.sees("keys of this screen")
                    assert re.search("esc  +back", stage.text()), name
            await stage.press("escape")
            await stands(stage, type(stage.app.chat))

    settings = Settings(theme="dark", keys={"help": key})
    play(scenario, tmp_path, size=(100, 30), manual=True, settings=settings)


@pytest.mark.slow
def test_hints_name_the_keys_that_are(tmp_path: Path) -> None:
    changes = {"curve": "f5", "cancel": "", "correct": "alt+v", "help": "f13"}

    async def scenario(stage: Stage) -> None:
        await stage.say("hello")
        stage.teacher.finish()
        await stage.sees("next 2/4")
        await stage.sees("five answers")
        await stage.press("3")
        await stage.sees("Now teach it something: alt+v, type")
        await stage.say("/train")
        await stage.sees("F5 shows how it goes, /cancel stops it")
        await stage.say("/correct good day")
        await stage.sees("Learned. Ask")
        await stage.say("hello")
        await stage.sees("F13 shows all the rest")

    settings = Settings(theme="dark", keys=changes)
    play(scenario, tmp_path, manual=True, settings=settings, first=True)


def test_a_hint_for_what_has_no_key_names_the_command() -> None:
    keys = keymap({"correct": "", "help": "ctrl+b"})
    lesson = Lesson("pick", (Turn("user", "who"),), "a")
    assert "something: /correct, type" in advice(seen([lesson], ["who"]), keys).words
    assert way(keys, "help") == "ctrl+b" and way(usual(), "cancel") == "esc"


def test_the_footer_keeps_what_matters_most(tmp_path: Path) -> None:
    async def shows(stage: Stage, *keys: str) -> None:
        await stage.until(lambda: all(key in stage.footer() for key in (*keys, "^p palette")))

    async def scenario(stage: Stage) -> None:
        await shows(stage, "f5 train", "^o history", "f1 help", "^q quit")
        await waiting(stage)
        await shows(stage, "12345 pick", "f2 none of these", "^r others", "f1 help")
        await stage.press("3")
        await shows(stage, "alt+↑ good ↓ bad", "f2 correct", "f8 undo", "^n new")

    play(scenario, tmp_path, manual=True)
