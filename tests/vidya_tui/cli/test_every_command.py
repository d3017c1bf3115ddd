"""Every command of the table, typed once, with its effect; the keys that no other test presses."""

from __future__ import annotations

import contextlib
import json
import re
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from textual import events
from textual._xterm_parser import XTermParser
from textual.constants import ESCAPE_DELAY
from textual.screen import Screen

from learning.protocol.records import Again, Lesson, Pick, Rating, Turn
from learning.protocol.requests import Cancel, Generate, Train, Undo
from tests.stage import Stage, play
from vidya_tui.commands.keymap import keymap, usual, way
from vidya_tui.commands.table import COMMANDS
from vidya_tui.screens.book import BookScreen
from vidya_tui.screens.compare import BeforeAfterScreen
from vidya_tui.screens.help import HelpScreen
from vidya_tui.screens.history import HistoryScreen
from vidya_tui.screens.lessons import LessonsScreen
from vidya_tui.screens.model import ModelScreen
from vidya_tui.screens.practice import PracticeScreen
from vidya_tui.screens.progress import ProgressScreen
from vidya_tui.screens.settings import SettingsScreen
from vidya_tui.screens.taste import TasteScreen
from vidya_tui.screens.train import TrainScreen
from vidya_tui.settings.file import Settings
from vidya_tui.state.welcome import advice, seen

OPENS: dict[str, type[Screen[Any]]] = {
    **{"practice": PracticeScreen, "curve": TrainScreen, "lessons": LessonsScreen},
    **{"compare": BeforeAfterScreen, "book": BookScreen, "progress": ProgressScreen},
    **{"history": HistoryScreen, "model": ModelScreen, "settings": SettingsScreen},
    **{"help": HelpScreen, "taste": TasteScreen},
}


async def waiting(stage: Stage) -> None:
    await stage.say("hello")
    stage.teacher.finish()
    await stage.sees("5 five answers")


async def answered(stage: Stage) -> None:
    await waiting(stage)
    await stage.press("3")
    await stage.sees("preferred 3")


def judgements(stage: Stage) -> list[object]:
    ask = stage.journal.latest_ask()
    assert ask is not None
    return [judged.judgement for judged in stage.journal.judgements(ask.id) if judged.stands]


async def stands(stage: Stage, kind: type[Screen[Any]]) -> None:
    """Waits for a screen to be the one in front."""
    await stage.until(lambda: type(stage.app.screen) is kind)


async def pick(stage: Stage) -> None:
    await waiting(stage)
    await stage.say("/pick 2")
    await stage.sees("preferred 2 over 1, 3, 4, 5")
    assert judgements(stage) == [Pick(1, 2)]


async def correct(stage: Stage) -> None:
    await waiting(stage)
    await stage.say("/correct good day")
    await stage.sees("will answer \u201cgood day\u201d")
    assert stage.journal.answer(1) == "good day"


async def rate(stage: Stage) -> None:
    await answered(stage)
    await stage.say("/rate good")
    await stage.sees("rated good")
    assert judgements(stage)[-1] == Rating(1, "good")
    await stage.say("/rate off")
    await stage.sees("rating withdrawn")
    assert judgements(stage)[-1] == Rating(1, None)
    await stage.press("alt+down")
    await stage.sees("rated bad")
    assert judgements(stage)[-1] == Rating(1, "bad")
    await stage.say("/rate bad --from answers")
    await stage.sees("rated bad for \u201canswers\u201d")
    assert judgements(stage)[-1] == Rating(1, "bad", None, (6, 13))


async def again(stage: Stage) -> None:
    await answered(stage)
    stage.teacher.texts = ("ay", "bee", "see", "dee", "ee")
    await stage.say("/again shorter please")
    sent = stage.teacher.sent(Generate)[-1]
    assert sent.turns == (Turn("user", "hello"),)
    assert sent.again == Again("three answers", "shorter please")
    stage.teacher.finish()
    await stage.sees("2 bee")
    await stage.press("2")
    await stage.sees("for \u201cshorter please\u201d")
    assert judgements(stage) == [Pick(2, 2, "shorter please")]


async def regenerate(stage: Stage) -> None:
    await waiting(stage)
    stage.teacher.texts = ("ay", "bee", "see", "dee", "ee")
    await stage.say("/regenerate")
    stage.teacher.finish()
    await stage.sees("2 bee")
    assert "two answers" not in stage.text() and len(stage.teacher.sent(Generate)) == 2


async def edit(stage: Stage) -> None:
    await answered(stage)
    await stage.say("/edit good evening")
    await stage.sees("You    good evening")
    assert stage.journal.questions() == ["hello", "good evening"]


async def branch(stage: Stage) -> None:
    await edit(stage)
    await stage.say("/branch")
    await stage.sees("You    hello")
    await stage.say("/branch next")
    await stage.sees("You    good evening")


async def copy(stage: Stage) -> None:
    await answered(stage)
    await stage.say("/copy")
    await stage.until(lambda: stage.app.clipboard == "three answers")
    await stage.say("/copy all")
    await stage.until(lambda: stage.app.clipboard == "You: hello\n\nVidya: three answers")


async def export(stage: Stage) -> None:
    await answered(stage)
    folder = stage.home.path / "exports"
    await stage.say("/export")
    await stage.sees("written to")
    text = (folder / "conversation-1.md").read_text()
    assert "**You**\n\n> hello\n\n**Vidya**\n\n> three answers\n" in text
    await stage.say("/export json")
    await stage.until((folder / "conversation-1.json").exists)
    written = json.loads((folder / "conversation-1.json").read_text())
    assert written["title"] == "hello"
    assert [turn["text"] for turn in written["turns"]] == ["hello", "three answers"]


async def editor(stage: Stage) -> None:
    @contextlib.contextmanager
    def suspend() -> Iterator[None]:
        yield

    with pytest.MonkeyPatch.context() as patch:
        script = stage.home.path / "editor.sh"
        script.write_text('#!/bin/sh\nprintf "from outside" > "$1"\n')
        script.chmod(0o700)
        patch.setenv("VISUAL", str(script))
        patch.setattr(stage.app, "suspend", suspend)
        await stage.say("/editor")
        await stage.until(lambda: stage.prompt == "from outside")


async def cancel(stage: Stage) -> None:
    await stage.say("hello")
    stage.teacher.pump(1)
    await stage.sees("2 two")
    await stage.say("/cancel")
    await stage.until(lambda: stage.teacher.sent(Cancel) == [Cancel(1)])
    await stage.until(lambda: not stage.session.streaming)


async def train(stage: Stage) -> None:
    await stage.say("/train 3")
    await stage.until(lambda: stage.teacher.sent(Train) == [Train(epochs=3)])
    await stage.sees("F12 shows how it goes, esc stops it")


async def undo(stage: Stage) -> None:
    await answered(stage)
    await stage.say("/undo")
    await stage.sees("4 four answers")
    assert judgements(stage) == [] and len(stage.teacher.sent(Undo)) == 1


async def new(stage: Stage) -> None:
    await answered(stage)
    await stage.say("/new")
    await stage.until(lambda: "hello" not in stage.text())
    assert stage.session.conversation is None


async def leave(stage: Stage) -> None:
    await stage.say("/quit")
    await stage.until(lambda: stage.teacher.closed)


def opens(name: str) -> Callable[[Stage], Awaitable[None]]:
    async def scenario(stage: Stage) -> None:
        if name == "compare":
            await answered(stage)
        await stage.say(f"/{name}")
        await stands(stage, OPENS[name])
        await stage.press("escape")
        await stage.until(lambda: stage.app.screen is stage.app.chat)

    return scenario


async def finds(stage: Stage) -> None:
    await answered(stage)
    await stage.say("/find hello")
    await stage.sees("1 of 1")
    await stage.press("escape")
    await stage.until(lambda: stage.app.focused is stage.app.chat.prompt)


async def fetch(stage: Stage) -> None:
    await stage.say("/get")
    await stage.sees("smollm2-135m")
    await stage.until(lambda: stage.prompt == "")


EFFECTS: dict[str, Callable[[Stage], Awaitable[None]]] = {
    **{
        "pick": pick,
        "correct": correct,
        "rate": rate,
        "again": again,
        "regenerate": regenerate,
        "edit": edit,
    },
    **{"branch": branch, "copy": copy, "export": export, "editor": editor, "cancel": cancel},
    **{"train": train, "undo": undo, "new": new, "quit": leave, "find": finds},
    "get": fetch,
    **{name: opens(name) for name in OPENS},
}


def test_every_command_is_here() -> None:
    assert set(EFFECTS) == {command.name for command in COMMANDS}


@pytest.mark.parametrize("name", [command.name for command in COMMANDS])
def test_what_is_typed_is_done(tmp_path: Path, name: str) -> None:
    play(EFFECTS[name], tmp_path, manual=True)


# ---------------------------------------------------------------- keys


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


# ---------------------------------------------------------------- beside the chat


def titles(stage: Stage) -> set[str]:
    return {command.title for command in stage.app.get_system_commands(stage.app.screen)}


@pytest.mark.slow
def test_the_palette_beside_the_chat_goes_back_to_it(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await answered(stage)
        for name in ("lessons", "history", "curve", "settings"):
            await stage.say(f"/{name}")
            await stands(stage, OPENS[name])
            assert {"/new", "/copy", "/copy all", "/practice", "/export", "keys"} <= titles(stage)
            await stage.press("ctrl+p")
            await stage.pilot.pause(0.1)
            await stage.write("/book")
            await stage.sees("/book")
            await stage.pilot.pause(0.3)
            await stage.press("enter")
            await stands(stage, BookScreen)
            assert len(stage.app.screen_stack) == 2, name
            await stage.press("escape")
            await stage.sees("preferred 3")

    play(scenario, tmp_path, manual=True)


@pytest.mark.slow
def test_the_palette_closes_nothing_that_is_being_typed(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await answered(stage)
        await stage.say("/correct")
        await stage.sees("What should the answer have been?")
        await stage.press("end")
        await stage.write(" indeed")
        assert titles(stage) == {"/help", "/quit", "theme", "keys"}
        await stage.press("ctrl+p")
        await stage.pilot.pause(0.1)
        await stage.write("help")
        await stage.sees("/help")
        await stage.pilot.pause(0.3)
        await stage.press("enter")
        await stands(stage, HelpScreen)
        assert titles(stage) == {"/help", "/quit", "theme", "keys"}
        await stage.press("escape")
        await stage.sees("three answers indeed")
        await stage.press("ctrl+s")
        await stage.sees("will answer \u201cthree answers indeed\u201d")

    play(scenario, tmp_path, manual=True)


def test_the_palette_has_every_command_that_needs_nothing_more(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await edit(stage)
        now = stage.app.chat.situation
        bare = {f"/{command.name}" for command in COMMANDS if command.bare and command.when(now)}
        assert bare <= titles(stage) and {"/copy", "/practice", "/branch"} <= bare
        assert "/rate" not in titles(stage) and "/pick" not in titles(stage)

    play(scenario, tmp_path, manual=True)


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


# ---------------------------------------------------------------- hints and the footer


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


@pytest.mark.slow
def test_nothing_of_the_keys_beneath_stands_behind_the_palettes(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.say("hello")
        await stage.sees("five answers")
        await stage.press("1")
        for _ in range(12):
            await stage.until(lambda: stage.footer().endswith("palette"))
            await stage.pilot.resize_terminal(stage.app.size.width + 1, 24)
            await stage.still(2)

    play(scenario, tmp_path)


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
