"""What stood in the prompt when the app was left stands there at the next start."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.storage.files import write_atomically
from learning.home import Home
from tests.stage import Stage, play
from tests.vidya_tui.shell import Shell
from vidya_tui.terminal import saved_prompt
from vidya_tui.terminal.saved_prompt import Unsent


async def left(stage: Stage) -> None:
    await stage.until(lambda: stage.teacher.closed and not stage.app.is_running)


def start(folder: Path) -> str:
    """The prompt after a start."""
    found = []

    async def look(stage: Stage) -> None:
        await stage.pilot.pause(0.1)
        found.append(stage.prompt)
        assert not stage.home.unsent_path.exists()
        assert "/train [EPOCHS]" not in stage.text()  # nothing covers it

    play(look, folder)
    return found[0]


@pytest.mark.parametrize(
    "text",
    [
        "two\nlines, 3 digits",
        *(pytest.param(text, marks=pytest.mark.slow) for text in ("half a thought", "/tr")),
    ],
)
def test_the_prompt_is_kept_and_comes_back_once(tmp_path: Path, text: str) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.say("said already")
        await stage.sees("5 five answers")
        await stage.write(text)
        await stage.press("ctrl+q")
        await left(stage)
        assert stage.home.unsent_path.stat().st_mode & 0o077 == 0, "for its owner only"

    assert play(scenario, tmp_path).return_code == 0
    assert start(tmp_path) == text
    assert start(tmp_path) == ""


def test_a_digit_that_picks_is_not_kept_as_text_too(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.say("hello")
        await stage.sees("5 five answers")
        await stage.press("2")
        stage.app._save()  # the timer, at a bad moment
        assert stage.app.chat.prompt.holds_digit
        assert not stage.home.unsent_path.exists()
        await stage.until(lambda: not stage.session.waiting)

    play(scenario, tmp_path)
    assert start(tmp_path) == ""


def test_a_digit_that_became_text_is_saved_after_all(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.say("hello")
        await stage.sees("5 five answers")
        await stage.press("2")
        stage.app._save()
        assert stage.app.chat.prompt.holds_digit
        stage.app.chat.prompt.as_text()  # as where the focus goes elsewhere
        await stage.until(lambda: Unsent(stage.home).read() == "2")

    play(scenario, tmp_path)


@pytest.mark.slow
def test_nothing_is_kept_where_all_was_sent(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.say("hello")
        await stage.sees("5 five answers")
        await stage.say("/quit")
        await left(stage)

    play(scenario, tmp_path)
    assert not Home(tmp_path / "home").unsent_path.exists()


@pytest.mark.slow
def test_what_was_put_aside_is_kept_too(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.say("hello")
        await stage.sees("5 five answers")
        await stage.write("a draft")
        await stage.press("f3")
        await stage.until(lambda: stage.app.chat.conversation.chosen == 0)
        await stage.press("f3")
        await stage.until(lambda: stage.prompt == "hello")
        assert stage.app.chat.unsent() == "a draft"
        await stage.write(" you")
        assert stage.app.chat.unsent() == "a draft\nhello you"
        await stage.press("escape")
        await stage.until(lambda: stage.prompt == "a draft")
        await stage.press("up", "up")
        assert stage.prompt == "hello" and stage.app.chat.unsent() == "a draft"
        await stage.write("!")
        await stage.press("ctrl+q")
        await left(stage)

    play(scenario, tmp_path)
    assert start(tmp_path) == "a draft\nhello!"


def test_what_was_typed_meanwhile_comes_after_it(tmp_path: Path) -> None:
    unsent = Unsent(Home(tmp_path / "home"))
    unsent.keep("first")
    unsent.keep("not twice")
    again = Unsent(Home(tmp_path / "home"))
    again.keep("second")
    assert again.read() == "first\nsecond" and again.holds("FIRST second")
    assert start(tmp_path) == "first\nsecond"
    again.remove()


def test_what_is_typed_is_on_disk_before_the_app_closes(tmp_path: Path) -> None:
    """A `kill -9` lets nobody save anything."""

    async def scenario(stage: Stage) -> None:
        kept = Unsent(stage.home)
        await stage.write("half a thought")
        await stage.until(lambda: kept.read() == "half a thought")
        await stage.press("ctrl+u")
        await stage.until(lambda: not stage.home.unsent_path.exists())
        await stage.say("hello")
        await stage.sees("5 five answers")
        await stage.write("another")
        await stage.until(lambda: kept.read() == "another")

    play(scenario, tmp_path)
    assert start(tmp_path) == "another"


def test_what_was_sent_is_not_kept(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.write("hello")
        await stage.until(stage.home.unsent_path.exists)
        await stage.press("enter")
        await stage.sees("5 five answers")
        await stage.until(lambda: not stage.home.unsent_path.exists())

    play(scenario, tmp_path)


def test_a_draft_takes_the_place_of_the_one_before_and_stands_after_an_earlier_text(
    tmp_path: Path,
) -> None:
    Unsent(Home(tmp_path / "home")).keep("first")
    unsent = Unsent(Home(tmp_path / "home"))
    for text in ("s", "second", "second"):
        unsent.save(text)
    assert unsent.read() == "first\nsecond"
    unsent.save("")
    assert unsent.read() == "first"
    unsent.put_back(lambda text: None)
    unsent.save("third")
    assert unsent.read() == "third"
    unsent.keep("third and last")
    unsent.save("")
    assert unsent.read() == "third and last", "the prompt is closed"
    unsent = Unsent(Home(tmp_path / "home"))
    unsent.put_back(lambda text: None)
    unsent.save("a word")
    unsent.keep("")
    assert not (tmp_path / "home" / "unsent.txt").exists()


def test_a_home_that_cannot_be_written_does_not_keep_the_owner_from_leaving(
    tmp_path: Path,
) -> None:
    async def scenario(stage: Stage) -> None:
        stage.home.unsent_path.mkdir()
        await stage.write("half")
        await stage.press("ctrl+q")
        await left(stage)

    assert play(scenario, tmp_path).return_code == 0


@pytest.mark.slow
def test_forgetting_removes_it(shell: Shell) -> None:
    def keep(text: str) -> None:
        Unsent(shell.home).keep(text)

    keep("my password is Swordfish")
    shell.rows("ask", "hello", "-n", "1")
    shell.run("journal", "forget", "--ask", "1", "--yes")
    assert shell.home.unsent_path.exists()
    assert "nowhere" in shell.fails("journal", "forget", "--text", "broccoli", "--yes")
    shell.run("journal", "forget", "--text", "swordfish", "--yes")
    assert not shell.home.unsent_path.exists()
    keep("anything")
    shell.run("journal", "forget", "--all", "--yes", "--keep-weights")
    assert not shell.home.unsent_path.exists()


@pytest.mark.parametrize("early", [True, False], ids=["before", "after"])
def test_a_signal_while_the_text_is_written_does_not_write_it_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, early: bool
) -> None:
    unsent, write = Unsent(Home(tmp_path)), write_atomically
    unsent.save("a draf")

    def interrupted(path: Path, text: str) -> None:
        monkeypatch.setattr(saved_prompt, "write_atomically", write)
        if not early:
            write(path, text)
        unsent.keep("a draft")  # as the handler of the signal does
        if early:
            write(path, text)

    monkeypatch.setattr(saved_prompt, "write_atomically", interrupted)
    unsent.save("a draft")
    assert unsent.read() == "a draft"
