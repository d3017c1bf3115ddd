"""Keys that the owner changes: valid ones work, and invalid ones are reported."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from string import ascii_lowercase, digits

import pytest
from textual import events
from textual.widgets import TextArea

from engine.errors import VidyaError
from learning.protocol.requests import Train
from tests.stage import Stage, play
from vidya_tui.commands.keymap import TYPING, keymap, usual
from vidya_tui.commands.table import COMMANDS
from vidya_tui.screens.correct import CorrectScreen
from vidya_tui.settings.file import Settings


def test_without_changes_the_table_holds() -> None:
    assert keymap({}) == usual()
    assert usual()["train"] == "f5" and usual()["newline"].startswith("ctrl+j,")


def test_what_the_text_field_needs_is_known() -> None:
    needed = {key for b in TextArea.BINDINGS for key in b.key.split(",")}  # type: ignore[union-attr]
    assert needed - {"pageup", "pagedown"} <= TYPING  # these two read back


@pytest.mark.parametrize(
    ("changes", "name", "keys"),
    [
        ({"train": "f5"}, "train", "f5"),
        ({"undo": " F14 , ctrl + underscore"}, "undo", "f14,ctrl+underscore"),
        ({"editor": ""}, "editor", ""),
        ({"train": "ctrl+n", "new": "alt+comma"}, "train", "ctrl+n"),
        ({"back": "ctrl+up", "quit": "f10"}, "back", "ctrl+up"),
        ({"pick": "alt+p"}, "pick", "alt+p"),
    ],
)
def test_changes(changes: dict[str, str], name: str, keys: str) -> None:
    assert keymap(changes)[name] == keys


def test_what_is_no_command_is_passed_over_and_told(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.sees("keys: trian: there is nothing of that name; did you mean train?")
        assert stage.app.keys["quit"] == "f10"

    keys = {"trian": "f5", "quit": "f10", "copy": ""}
    play(scenario, tmp_path, size=(160, 48), settings=Settings(keys=keys))


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"trian": "f5"}, "keys: trian: there is nothing of that name; did you mean train?"),
        ({"x\x1b": "f5"}, "there is nothing of that name; choose of again, back, bad,"),
        ({"train": "x"}, "keys: train: x alone is always typed"),
        ({"train": "shift+7"}, "shift+7 alone is always typed"),
        ({"train": "comma"}, "comma alone is always typed"),
        ({"train": "space"}, "space is needed to write"),
        ({"train": "home"}, "home is needed to write"),
        ({"train": "ctrl+z"}, "ctrl+z is needed to write"),
        ({"train": "ctrl+i"}, "terminals send ctrl+i for tab"),
        ({"train": "f25"}, "'f25' is no key"),
        ({"train": "ctrl+foo"}, "'ctrl+foo' is no key"),
        ({"train": "hyper+t"}, "'hyper+t' is no key"),
        ({"train": "ctrl+"}, "'ctrl+' is no key"),
        ({"train": "f2"}, "keys: train: f2 is the key of correct as well; choose another"),
        ({"train": "f5", "new": "f5"}, "f5 is the key of train as well"),
        ({"train": "f5,f5"}, "f5 is the key of train as well"),
        ({"train": "ctrl+p"}, "ctrl+p is the key of the palette as well; choose another key"),
        ({"newline": "ctrl+r"}, "ctrl+r is the key of regenerate as well"),
    ],
)
def test_what_could_not_work_is_told(changes: dict[str, str], what: str) -> None:
    with pytest.raises(VidyaError, match=".*") as caught:
        keymap(changes)
    assert what in str(caught.value)
    assert str(caught.value).isprintable()


@pytest.mark.slow
def test_changed_keys_work_and_are_shown_everywhere(tmp_path: Path) -> None:
    changes = {
        **{"train": "f15", "correct": "f14", "help": "alt+h", "newline": "ctrl+b"},
        **{"back": "ctrl+up", "quit": "f10", "jump": "ctrl+down"},
    }

    async def scenario(stage: Stage) -> None:
        await stage.sees("press F14 and type")
        await stage.until(lambda: "f15 train" in stage.footer())
        await stage.press("f5")
        assert stage.teacher.sent(Train) == []
        await stage.press("f15")
        assert stage.teacher.sent(Train) == [Train(epochs=None)]
        stage.app.post_message(events.Key("alt+h", "h"))
        await stage.sees("f14")
        await stage.still()
        assert "alt+h" in stage.text() and "f2 " not in stage.text()
        assert stage.prompt == ""
        await stage.press("escape")
        await stage.press("a", "ctrl+b", "b")
        assert stage.prompt == "a\nb"
        await stage.press("ctrl+c")
        await stage.sees("f10 leaves")
        await stage.press("ctrl+q")
        await stage.pilot.pause(0.1)
        assert not stage.teacher.closed
        await stage.press("f10")
        await stage.until(lambda: stage.teacher.closed)

    play(scenario, tmp_path, size=(100, 50), settings=Settings(theme="dark", keys=changes))


# ---------------------------------------------------------------- a key for every command


def alt(letter: str) -> events.Key:
    """As a terminal sends it."""
    return events.Key(f"alt+{letter}", letter)


async def nothing_said(stage: Stage) -> None:
    await stage.sees("Say something, or / for commands")


async def streaming(stage: Stage) -> None:
    stage.app.chat._enter("hello")
    stage.teacher.pump(1)
    await stage.until(lambda: stage.app.chat.situation.streaming)


async def waiting(stage: Stage) -> None:
    stage.app.chat._enter("hello")
    stage.teacher.finish()
    await stage.until(lambda: len(stage.app.chat.situation.cards) == 5)


async def answered(stage: Stage) -> None:
    await waiting(stage)
    stage.app.chat.pick(1)
    await stage.until(lambda: stage.app.chat.situation.answered)


async def correcting(stage: Stage) -> None:
    await waiting(stage)
    stage.app.chat._enter("/correct")
    await stage.until(lambda: isinstance(stage.app.screen, CorrectScreen))


@pytest.mark.parametrize(
    "situation",
    [
        correcting,
        *(
            pytest.param(one, marks=pytest.mark.slow)
            for one in (nothing_said, streaming, waiting, answered)
        ),
    ],
)
def test_every_command_may_have_a_key_in_every_situation(
    tmp_path: Path, situation: Callable[[Stage], Awaitable[None]]
) -> None:
    names = [command.name for command in COMMANDS if command.name != "quit"]
    letters = dict(zip(names, ascii_lowercase + digits, strict=False))
    assert len(letters) == len(names)

    async def scenario(stage: Stage) -> None:
        app, chat = stage.app, stage.app.chat

        def state() -> tuple[object, ...]:
            return chat.situation, app.screen, chat.prompt.text, len(stage.session.turns)

        await situation(stage)
        before = state()
        for name, letter in letters.items():
            app.post_message(alt(letter))
            await stage.pilot.pause()
            assert app.is_running and app._exception is None, name
            if state() == before:
                continue
            while app.screen is not chat:
                app.screen.dismiss()
                await stage.pilot.pause()
            chat.prompt.end_edit()
            chat.prompt.clear()
            stage.teacher.finish()
            stage.session.new()
            chat.draw()
            await situation(stage)
            before = state()
        await stage.press("ctrl+q")
        await stage.until(lambda: stage.teacher.closed)

    keys = {name: f"alt+{letter}" for name, letter in letters.items()}
    settings = Settings(theme="dark", motion=False, keys=keys)
    play(scenario, tmp_path, manual=True, settings=settings)


def test_a_key_of_a_command_that_needs_more_begins_it_in_the_prompt(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await waiting(stage)
        await stage.press("f5")
        assert stage.prompt == "/pick "
        await stage.press("2", "enter")
        await stage.sees("preferred 2 over 1, 3, 4, 5")
        await stage.press("f13")
        assert stage.prompt == "/rate "
        await stage.sees("\u25b8 good")
        await stage.press("enter", "enter")
        await stage.sees("rated good")
        await stage.write("words")
        await stage.press("f13")
        await stage.sees("type /rate good|bad|off")
        assert stage.prompt == "words" and stage.app.chat.situation.rating == "good"

    settings = Settings(theme="dark", keys={"pick": "f5", "rate": "f13"})
    play(scenario, tmp_path, manual=True, settings=settings)


def test_alt_and_a_letter_is_typed_where_it_means_nothing(tmp_path: Path) -> None:
    """Terminals send escape and a letter, typed quickly one after the other, as alt and the letter."""

    async def scenario(stage: Stage) -> None:
        await stage.say("hello")
        await stage.sees("5 five answers")
        for key in ("alt+h", "alt+3"):
            stage.app.post_message(events.Key(key, key[-1]))
        await stage.until(lambda: stage.prompt == "h3")

    play(scenario, tmp_path)


def test_a_key_for_nothing_is_refused_before_the_screen_opens(tmp_path: Path) -> None:
    with pytest.raises(VidyaError, match="f2 is the key of correct as well"):
        play(_nothing, tmp_path, settings=Settings(keys={"train": "f2"}))


async def _nothing(stage: Stage) -> None:
    raise AssertionError("the screen opened")
