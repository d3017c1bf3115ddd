"""Every command of the table, typed once, with its effect; the keys that no other test presses."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest

from learning.protocol.records import Again, Pick, Rating, Turn
from learning.protocol.requests import Cancel, Generate, Train, Undo
from tests.stage import Stage, play
from tests.typed import OPENS, answered, edited, judgements, stands, waiting
from vidya_tui.commands.table import COMMANDS


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


async def branch(stage: Stage) -> None:
    await edited(stage)
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


async def every_screen(stage: Stage) -> None:
    await answered(stage)
    for name, screen in OPENS.items():
        await stage.say(f"/{name}")
        await stands(stage, screen)
        await stage.press("escape")
        await stage.until(lambda: stage.app.screen is stage.app.chat)


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
        "edit": edited,
    },
    **{"branch": branch, "copy": copy, "export": export, "editor": editor, "cancel": cancel},
    **{"train": train, "undo": undo, "new": new, "quit": leave, "find": finds},
    "get": fetch,
}
"""Of what is typed where answers stand or may stand."""


def test_every_command_is_here() -> None:
    assert {*EFFECTS, *OPENS} == {command.name for command in COMMANDS}


@pytest.mark.parametrize("name", EFFECTS)
def test_what_is_typed_is_done(tmp_path: Path, name: str) -> None:
    play(EFFECTS[name], tmp_path, manual=True)


def test_every_screen_is_opened_and_left(tmp_path: Path) -> None:
    play(every_screen, tmp_path, manual=True)
