"""Slips of the finger: a digit, a click or a key that was meant for something else trains nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual import events

from learning.protocol.records import Pick
from learning.protocol.requests import Train
from tests.stage import Stage, play
from vidya_tui.commands.keymap import keymap
from vidya_tui.screens.settings import SettingsScreen
from vidya_tui.settings.file import Settings
from vidya_tui.terminal.paste_parser import PasteParser
from vidya_tui.widgets import prompt


async def waiting(stage: Stage) -> None:
    await stage.say("hello")
    await stage.sees("five answers")


def judged(stage: Stage) -> list[object]:
    ask = stage.journal.latest_ask()
    assert ask is not None
    return [judged.judgement for judged in stage.journal.judgements(ask.id) if judged.stands]


def test_a_message_that_begins_with_a_digit_is_typed(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await waiting(stage)
        await stage.write("2 apples and 3 pears")
        assert stage.prompt == "2 apples and 3 pears"
        await stage.pilot.pause(2 * prompt.HOLD)
        assert judged(stage) == [] and stage.session.waiting
        await stage.press("enter")
        await stage.sees("You    2 apples and 3 pears")

    play(scenario, tmp_path)


def test_a_digit_is_shown_while_it_waits_and_picks_then(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prompt, "HOLD", 1.0)

    async def scenario(stage: Stage) -> None:
        await waiting(stage)
        await stage.press("2")
        await stage.sees("2 is picked \u00b7 type on to make it text")
        await stage.sees("\u25b82 two answers")
        assert judged(stage) == []
        await stage.sees("preferred 2 over 1, 3, 4, 5")
        assert "type on" not in stage.text() and stage.prompt == ""

    play(scenario, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("key", ["escape", "backspace"])
def test_a_digit_can_be_taken_back_while_it_waits(tmp_path: Path, key: str) -> None:
    async def scenario(stage: Stage) -> None:
        await waiting(stage)
        await stage.press("2", key)
        await stage.pilot.pause(2 * prompt.HOLD)
        assert judged(stage) == [] and stage.prompt == ""
        await stage.press("3", "enter")
        await stage.until(lambda: judged(stage) == [Pick(1, 3)])

    play(scenario, tmp_path)


@pytest.mark.slow
def test_a_paste_right_behind_a_digit_makes_it_text(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await waiting(stage)
        await stage.press("2")
        stage.app.post_message(events.Paste(" pears"))
        await stage.until(lambda: stage.prompt == "2 pears")
        await stage.pilot.pause(2 * prompt.HOLD)
        assert judged(stage) == []

    play(scenario, tmp_path)


def test_a_digit_and_a_letter_among_the_cards_are_text_too(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await waiting(stage)
        await stage.press("tab")
        await stage.until(lambda: stage.app.focused is stage.app.chat.candidates)
        await stage.press("2", "x")  # one burst: after HOLD the digit alone would have picked
        await stage.until(lambda: stage.prompt == "2x")
        await stage.pilot.pause(2 * prompt.HOLD)
        assert judged(stage) == []

    play(scenario, tmp_path)


def test_who_leaves_right_behind_a_digit_has_picked(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await waiting(stage)
        await stage.press("2", "ctrl+q")
        await stage.until(lambda: stage.teacher.closed)
        assert judged(stage) == [Pick(1, 2)]

    play(scenario, tmp_path)


# ---------------------------------------------------------------- the mouse


@pytest.mark.parametrize("size", [(80, 24), pytest.param((160, 48), marks=pytest.mark.slow)])
def test_a_click_chooses_and_a_second_one_picks(tmp_path: Path, size: tuple[int, int]) -> None:
    async def scenario(stage: Stage) -> None:
        await waiting(stage)
        views = stage.app.chat.candidates._views
        await stage.still()
        for number in (1, 3):
            await stage.pilot.click(views[number - 1], offset=(4, 0))
            await stage.sees(f"enter, or a second click, picks {number}")
            assert judged(stage) == []
            assert stage.app.chat.candidates.highlight == number
        await stage.pilot.pause(0.6)
        await stage.pilot.click(views[2], offset=(4, 0))
        await stage.sees("preferred 3 over 1, 2, 4, 5")

    play(scenario, tmp_path, size=size)


@pytest.mark.slow
def test_enter_picks_what_a_click_chose_and_letters_go_to_the_prompt(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await waiting(stage)
        view = stage.app.chat.candidates._views[1]
        await stage.pilot.click(view, offset=(4, 0))
        await stage.press("h")
        await stage.until(lambda: stage.prompt == "h")
        await stage.press("backspace")
        await stage.pilot.click(view, offset=(4, 0))
        assert judged(stage) == []
        await stage.press("enter")
        await stage.sees("preferred 2")

    play(scenario, tmp_path)


@pytest.mark.slow
def test_a_click_on_a_digit_in_the_line_of_keys_chooses(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await waiting(stage)
        await stage.until(lambda: "12345 pick" in stage.footer())
        at = stage.footer().index("2345")
        await stage.pilot.click(offset=(at, 23))
        await stage.sees("enter, or a second click, picks 2")
        await stage.pilot.pause(2 * prompt.HOLD)
        assert judged(stage) == []
        await stage.press("enter")
        await stage.sees("preferred 2")

    play(scenario, tmp_path)


# ---------------------------------------------------------------- keys that hands know


@pytest.mark.slow
@pytest.mark.parametrize("cards", [True, False])
def test_keys_that_hands_know_train_nothing(tmp_path: Path, cards: bool) -> None:
    async def scenario(stage: Stage) -> None:
        await waiting(stage)
        if not cards:
            await stage.press("3")
            await stage.sees("preferred 3")
        before = judged(stage)
        for key in ("ctrl+g", "ctrl+t", "ctrl+l", "ctrl+f", "escape"):
            await stage.press(key)
            await stage.pilot.pause(0.05)
            assert not isinstance(stage.app.screen, SettingsScreen), key
        assert judged(stage) == before and stage.teacher.sent(Train) == []

    play(scenario, tmp_path)


@pytest.mark.slow
def test_a_rating_key_says_what_to_do_while_cards_wait(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.press("alt+up")
        await stage.sees("no answer to rate yet: say something, then alt+up rates it")
        await waiting(stage)
        await stage.press("alt+down")
        await stage.sees("no answer to rate yet: press 1 to 5 to pick one, then alt+down rates it")
        assert judged(stage) == []

    play(scenario, tmp_path)


@pytest.mark.slow
def test_keys_of_an_owner_that_a_new_key_would_take_stay(tmp_path: Path) -> None:
    """Settings from before the keys moved."""
    made = keymap({"new": "f5", "jump": "ctrl+f", "editor": "alt+up,f4", "model": "alt+s"})
    assert made["train"] == made["find"] == made["good"] == made["settings"] == ""
    assert made["new"] == "f5" and made["bad"] == "alt+down"
    old = {"good": "ctrl+g", "bad": "ctrl+f", "train": "ctrl+t", "settings": "ctrl+l"}
    assert {name: keymap(old)[name] for name in old} == old and keymap(old)["find"] == ""

    async def scenario(stage: Stage) -> None:
        await waiting(stage)
        await stage.press("3")
        await stage.sees("preferred 3")
        await stage.press("ctrl+f")
        await stage.sees("rated bad")

    play(scenario, tmp_path, settings=Settings(theme="dark", keys=old))


def keys_of(data: str, *more: str) -> list[str]:
    parser = PasteParser()
    found = [token for part in (data, *more) for token in parser.feed(part)]
    return [token.key for token in found if isinstance(token, events.Key)]


@pytest.mark.parametrize("parts", [("a\x1b\rb",), ("a\x1b", "\rb"), ("a\x1b[13;3ub",)])
def test_alt_enter_is_a_key_of_its_own(parts: tuple[str, ...]) -> None:
    assert keys_of(*parts) == ["a", "alt+enter", "b"]


def test_alt_enter_makes_a_line(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.press("a", "alt+enter", "b")
        assert stage.prompt == "a\nb" and stage.journal.latest_ask() is None

    play(scenario, tmp_path)


# ---------------------------------------------------------------- commands that were refused


def test_what_is_typed_replaces_a_refused_command(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.say("/leave now")
        await stage.sees("there is no command /leave")
        assert stage.prompt == "/leave now"
        await stage.write("/quit")
        assert stage.prompt == "/quit"
        await stage.press("enter")
        await stage.until(lambda: stage.teacher.closed)

    play(scenario, tmp_path)


def test_a_command_refused_behind_fast_fingers_is_not_glued_on(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.press("slash", "z", "z", "enter", "h", "i")
        await stage.sees("there is no command /zz")
        assert stage.prompt == "hi"
        await stage.press("up")
        assert stage.prompt == "/zz"

    play(scenario, tmp_path)


@pytest.mark.parametrize(
    "name",
    ["/EXIT", *(pytest.param(one, marks=pytest.mark.slow) for one in ("/exit", "/q", "/bye"))],
)
def test_other_names_of_leaving(tmp_path: Path, name: str) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.say(name)
        await stage.until(lambda: stage.teacher.closed)

    play(scenario, tmp_path)


def test_an_edited_message_rewords_none_of_another_conversation(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        for text in ("one", "two"):
            stage.exchange(text)
        first = stage.session.conversation
        await stage.press("ctrl+n")
        for text in ("other one", "other two"):
            stage.exchange(text)
        await stage.write("typed before")
        await stage.press("f3")
        await stage.press("f3")
        await stage.until(lambda: stage.prompt == "other two")
        await stage.write(", but longer")
        stage.app.chat.commands.open_conversation(first)
        assert stage.prompt == "typed before"
        await stage.press("up")
        assert stage.prompt == "other two, but longer", "up brings it back"
        await stage.press("enter")
        await stage.until(lambda: len(stage.session.turns) == 5)
        assert [turn.text for turn in stage.session.turns if turn.role == "user"] == [
            *("one", "two", "other two, but longer")
        ]

    play(scenario, tmp_path)
