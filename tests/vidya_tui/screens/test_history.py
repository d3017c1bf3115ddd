"""/history: finding, reopening, renaming, copying and erasing conversations."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engine.config import Sampling
from learning.protocol.events import Forgotten
from learning.protocol.records import Turn
from learning.protocol.requests import Forget
from tests.stage import Stage, play


async def talk(stage: Stage, message: str) -> int:
    await stage.say(message)
    await stage.sees("five answers")
    await stage.press("2")
    await stage.sees("preferred 2")
    number = stage.session.conversation
    await stage.press("ctrl+n")
    assert number is not None
    return number


def write(stage: Stage, message: str) -> int:
    """A conversation of which only the message is there."""
    talk = stage.journal.new_conversation()
    stage.journal.add_ask(talk, (Turn("user", message),), Sampling())
    return talk


def test_found_text_is_shown_and_typed_letters_go_into_the_search(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        write(stage, "[red]about[/red] rivers \x1b[2J and the sea")
        write(stage, "about hills")
        await stage.say("/history")
        await stage.sees("conversations · 2")
        await stage.sees("[red]about[/red] rivers \u241b[2J")
        await stage.until(lambda: "the list" in stage.footer())
        assert "r rename" not in stage.footer()
        await stage.write("sea")
        await stage.sees("conversations · 1 · with \u201csea\u201d")
        await stage.until(lambda: "about hills" not in stage.text())
        await stage.press("ctrl+u")
        await stage.write('"( XOR *')
        await stage.sees("nothing was found")
        await stage.press("escape")
        await stage.sees("Say something")

    play(scenario, tmp_path)


def test_an_empty_history_says_so(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.press("ctrl+o")
        await stage.sees("No conversation yet")
        await stage.press("tab")
        await stage.until(lambda: "/ find" in stage.footer())
        await stage.press("d", "r", "m", "enter")
        await stage.press("escape")
        await stage.sees("Say something")

    play(scenario, tmp_path)


@pytest.mark.slow
def test_renaming_and_copies(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        first = await talk(stage, "about rivers")
        await stage.press("ctrl+o")
        await stage.sees("about rivers")
        await stage.press("tab")
        await stage.until(lambda: "r rename" in stage.footer())
        await stage.press("r")
        await stage.sees("What is it called?")
        await stage.press("ctrl+a", "ctrl+k")
        await stage.write("Water [b]")
        await stage.press("enter")
        await stage.sees("called \u201cWater [b]\u201d")
        assert [t.title for t in stage.journal.conversations()] == ["Water [b]"]
        await stage.press("m")
        await stage.sees("written to")
        folder = stage.home.path / "exports"
        assert "> about rivers" in (folder / f"conversation-{first}.md").read_text()
        await stage.press("j")
        file = folder / f"conversation-{first}.json"
        await stage.until(file.exists)
        assert json.loads(file.read_text())["turns"][1] == {
            "role": "assistant",
            "text": "two answers",
        }

    play(scenario, tmp_path)


@pytest.mark.slow
def test_erasing_asks_first_and_really_erases(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await talk(stage, "about hills")
        await stage.say("my password is swordfish")
        await stage.sees("five answers")
        await stage.press("ctrl+o")
        await stage.sees("conversations · 2")
        await stage.press("tab")
        await stage.until(lambda: "d erase" in stage.footer())
        await stage.press("d")
        await stage.sees(
            "Erase \u201cmy password is swordfish\u201d for ever, 1 message and 0 lessons?"
        )
        await stage.press("escape")
        await stage.sees("nothing was changed")
        assert stage.teacher.sent(Forget) == []
        await stage.press("d")
        await stage.sees("y yes")
        await stage.press("y")
        await stage.sees("erased: 1 message or lesson")
        await stage.sees("conversations · 1")
        assert b"swordfish" not in stage.home.journal_path.read_bytes()
        await stage.press("escape")
        await stage.until(lambda: "swordfish" not in stage.text())
        assert stage.session.turns == ()

    play(scenario, tmp_path)


def test_weights_that_cannot_go_back_are_kept_if_the_owner_says_so(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        number = write(stage, "secret")
        hear, stage.teacher.on_event = stage.teacher.on_event, None
        await stage.press("ctrl+o")
        await stage.sees("secret")
        stage.teacher._forget = lambda request: None  # type: ignore[method-assign]
        await stage.press("tab")
        await stage.until(lambda: "d erase" in stage.footer())
        await stage.press("d")
        await stage.sees("y yes")
        await stage.press("y")
        await stage.sees("erasing")
        await stage.press("enter")
        await stage.sees("it is being erased")
        stage.teacher.on_event = hear
        stage.hear(Forgotten(number, trouble="10m: no weights without lesson 2 are left"))
        await stage.sees("leave the weights?")
        await stage.press("y")
        await stage.until(lambda: stage.teacher.sent(Forget)[-1] == Forget(number, True))

    play(scenario, tmp_path)


@pytest.mark.slow
def test_ten_thousand_conversations(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        sampling = json.dumps(Sampling().to_dict())
        with stage.journal.writing() as connection:
            numbers = range(1, 10_001)
            connection.executemany(
                "INSERT INTO conversations (id, created) VALUES (?, 1.0)", [(n,) for n in numbers]
            )
            connection.executemany(
                "INSERT INTO asks (conversation, history, message, sampling, created)"
                " VALUES (?, '[]', ?, ?, 1.0)",
                [(n, f"message number {n}", sampling) for n in numbers],
            )
        await stage.press("ctrl+o")
        await stage.sees("conversations · 10,000")
        await stage.write("777 message")
        await stage.sees("message number 7779")
        await stage.sees("conversations · 11")
        assert len(stage.app.screen.rows._rows) <= 64  # type: ignore[attr-defined]

    play(scenario, tmp_path)
