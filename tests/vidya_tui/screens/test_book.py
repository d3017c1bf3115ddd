"""/book: browsing, searching and changing the owner's book; every change is a lesson."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual import events
from textual.widgets import Input

from learning.book.check import read_books
from learning.protocol.requests import Learn
from tests.stage import Stage, play
from vidya_tui.controller.edits import Edits
from vidya_tui.screens.book import BookScreen
from vidya_tui.screens.book_entry import EntryScreen

OWN = """# My own book.

<|user|> My dog? <|assistant|> Rufus.
broken line
<|user|> my dog <|assistant|> Rex.
"""


@pytest.fixture(autouse=True)
def shipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A short book in place of the shipped one."""
    book = tmp_path / "shipped.txt"
    book.write_text(
        "# Vidya's\n<|user|> Who are you? <|assistant|> I am Vidya.\n"
        "<|user|> hello <|assistant|> Hello! \n"
    )
    for module in (
        "personality.book",
        "vidya_tui.screens.book",
        "vidya_tui.line_mode.screens",
    ):
        monkeypatch.setattr(f"{module}.shipped_book_path", lambda: book)


def write(stage: Stage, text: str = OWN) -> None:
    stage.home.book_path.write_text(text)


def text(stage: Stage) -> str:
    return stage.home.book_path.read_text()


async def opened(stage: Stage) -> None:
    """The books of `write`, on their screen."""
    write(stage)
    await stage.say("/book")
    await stage.sees("5 entries")


@pytest.mark.slow
def test_both_books_are_shown_with_what_is_wrong_and_what_is_known(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        write(stage)
        stage.teacher.unknown = {"Rex."}
        await stage.say("/book")
        await stage.sees("book · 5 entries · 3 yours · 2 contradict · 1 cannot be read")
        await stage.sees("\u2717 yours contradicts my dog \u2192 Rex.")
        await stage.sees("\u00b7 yours contradicts replaced My dog? \u2192 Rufus.")
        await stage.sees("yours cannot be read broken line")
        await stage.sees("\u2713 Vidya Who are you? \u2192 I am Vidya.")
        await stage.press("f", "f")
        await stage.sees("only Vidya's")
        await stage.until(lambda: "d remove" not in stage.footer())
        await stage.press("f", "f")
        await stage.sees("2 entries")
        await stage.press("f", "f", "slash")
        await stage.write("VIDYA am")
        await stage.until(lambda: "Rufus" not in stage.text())
        await stage.sees("I am Vidya.")

    play(scenario, tmp_path)


def test_an_entry_is_added_and_learned(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await opened(stage)
        await stage.press("a")
        await stage.sees("A new entry of your book")
        await stage.press("ctrl+s")
        await stage.sees("needs a question and an answer")
        await stage.write("Where do I live?")
        await stage.press("tab")
        await stage.write("In Köln, 7")
        await stage.press("ctrl+s")
        await stage.sees("will answer \u201cIn Köln, 7\u201d; in your book")
        await stage.sees("6 entries")
        assert text(stage) == OWN + "<|user|> Where do I live? <|assistant|> In Köln, 7\n"
        lesson = stage.journal.lesson(1)
        assert (lesson.kind, lesson.answer, lesson.state) == ("example", "In Köln, 7", "learned")
        assert stage.teacher.sent(Learn)
        await stage.press("a", "escape")
        await stage.sees("6 entries")

    play(scenario, tmp_path)


def test_keys_that_come_in_one_burst_go_into_the_field_that_tab_chose(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.say("/book")
        await stage.sees("entries")
        await stage.press("a")
        await stage.sees("A new entry")
        await stage.press(*"abc", "tab", *"def", "shift+tab", *"g", "tab", *"h")
        screen = stage.app.screen
        assert isinstance(screen, EntryScreen)
        assert (screen.question_field.text, screen.answer_field.text) == ("abcg", "defh")

    play(scenario, tmp_path)


@pytest.mark.parametrize("height", [8, 10, 16, 17])
def test_both_fields_of_an_entry_are_seen_in_a_low_terminal(height: int, tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.say("/book")
        await stage.until(lambda: isinstance(stage.app.screen, BookScreen))
        await stage.press("a")
        await stage.until(lambda: isinstance(stage.app.screen, EntryScreen))
        await stage.press(*"abc", "tab", *"def")
        for words in ("A new entry", "abc", "def", "^s save"):
            await stage.sees(words)
        await stage.press("tab", *["backspace"] * 3, "ctrl+s")
        await stage.sees("an entry needs a")

    play(scenario, tmp_path, size=(30, height))


@pytest.mark.slow
def test_enter_in_the_search_line_goes_to_what_was_found(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await opened(stage)
        await stage.press("slash")
        await stage.until(lambda: isinstance(stage.app.focused, Input))
        await stage.write("vidya")
        await stage.press("enter")
        await stage.until(lambda: stage.app.focused is stage.app.screen.query_one("#rows"))
        await stage.press("enter")
        await stage.sees("Your own answer instead of Vidya's")

    play(scenario, tmp_path)


@pytest.mark.slow
def test_what_comes_in_one_burst_with_the_key_of_the_search_is_searched(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await opened(stage)
        await stage.press("slash", *"vida", "backspace", *"ya", "enter", "down")
        await stage.until(lambda: stage.app.focused is stage.app.screen.query_one("#rows"))
        assert stage.app.screen.query_one("#find", Input).value == "vidya"

    play(scenario, tmp_path)


def test_a_paste_into_the_search_line_is_harmless_and_on_one_line(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await opened(stage)
        await stage.press("slash")
        await stage.until(lambda: isinstance(stage.app.focused, Input))
        stage.app.post_message(events.Paste("\x1b[31mwho\nare"))
        find = stage.app.screen.query_one("#find", Input)
        await stage.until(lambda: find.value == "\u241b[31mwho are")
        stage.app.copy_to_clipboard("you\x07")
        await stage.press("home", "ctrl+v")
        await stage.until(lambda: find.value == "you\u2407\u241b[31mwho are")

    play(scenario, tmp_path)


def test_what_comes_in_one_burst_with_a_key_that_opens_a_screen_is_no_key_of_the_list(
    tmp_path: Path,
) -> None:
    async def scenario(stage: Stage) -> None:
        await opened(stage)
        room = stage.app.screen
        await stage.press("a", "d")
        await stage.until(lambda: isinstance(stage.app.screen, EntryScreen))
        await stage.still()
        assert stage.app.screen_stack[-2] is room
        await stage.press("escape")
        await stage.sees("5 entries")
        assert "out of your book" not in stage.text()

    play(scenario, tmp_path)


@pytest.mark.slow
def test_where_there_are_none_of_a_kind_it_says_so(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        write(stage, "<|user|> hello <|assistant|> Hello!\n")  # picked of Vidya's own
        await stage.say("/book")
        await stage.sees("book \u00b7 3 entries \u00b7 1 yours")
        await stage.press("f", "f", "f")
        await stage.sees("book \u00b7 only said twice \u00b7 0 entries")
        await stage.sees("Nothing is said twice.")
        await stage.press("f")
        await stage.sees("Nothing contradicts.")
        await stage.press("f")
        await stage.sees("All lines can be read.")

    play(scenario, tmp_path)


def test_a_new_entry_for_a_question_that_is_there_says_what_it_replaces(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await opened(stage)
        await stage.press("a")
        await stage.sees("A new entry")
        await stage.press(*"my dog?", "tab", *"Bello.")
        await stage.press("ctrl+s")
        await stage.sees("will answer \u201cBello.\u201d, no longer \u201cRex.\u201d; in your book")

    play(scenario, tmp_path)


@pytest.mark.slow
def test_what_no_book_can_hold_is_refused_and_nothing_is_journaled(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.say("/book")
        await stage.sees("entries")
        await stage.press("a")
        await stage.sees("A new entry")
        await stage.write("what is <|user|>")
        await stage.press("tab")
        await stage.write("a marker")
        await stage.press("ctrl+s")
        await stage.sees("! the text contains the marker <|user|>")
        assert stage.journal.lessons() == []

    play(scenario, tmp_path)


@pytest.mark.slow
def test_a_line_is_edited_in_its_place(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        write(stage)
        await stage.say("/book")
        await stage.sees("my dog \u2192 Rex.")
        await stage.press("e")
        await stage.sees("Line 5 of your book")
        await stage.press("ctrl+a", "ctrl+k")
        await stage.write("Bella.")
        await stage.press("ctrl+s")
        await stage.sees("will answer \u201cBella.\u201d")
        assert text(stage) == OWN.replace("Rex.", "Bella.")
        lesson = stage.journal.lesson(1)
        assert (lesson.answer, lesson.rejected, lesson.replaces) == ("Bella.", ("Rex.",), "Rex.")
        # undone, the old line stands again
        await stage.press("escape")
        await stage.say("/undo")
        await stage.until(lambda: "Rex." in text(stage) and "Bella." not in text(stage))

    play(scenario, tmp_path)


def test_another_spelling_of_the_question_is_one_lesson_and_one_undo(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        write(stage)
        lines = read_books(Path("/nowhere"), stage.home.book_path)
        Edits(stage.session, stage.home.book_path).add_entry("MY DOG!", "Bella.", lines)
        assert "<|user|> MY DOG! <|assistant|> Bella." in text(stage)
        (lesson,) = stage.journal.standing()
        assert (lesson.answer, lesson.replaces) == ("Bella.", "Rex.")
        await stage.say("/undo")
        await stage.until(lambda: "Rex." in text(stage) and "Bella." not in text(stage))

    play(scenario, tmp_path)


@pytest.mark.slow
def test_an_edit_of_the_shipped_book_is_an_entry_of_the_owners(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.say("/book vidya")
        await stage.sees("Who are you?")
        await stage.press("enter")
        await stage.sees("Your own answer instead of Vidya's")
        await stage.press("ctrl+a", "ctrl+k")
        await stage.write("I am yours.")
        await stage.press("ctrl+s")
        await stage.sees("will answer \u201cI am yours.\u201d")
        assert "<|user|> Who are you? <|assistant|> I am yours.\n" in text(stage)
        await stage.sees("Vidya replaced Who are you? \u2192 I am Vidya.")
        lesson = stage.journal.lesson(1)
        assert (lesson.answer, lesson.rejected) == ("I am yours.", ("I am Vidya.",))
        # taking it out again brings Vidya's answer back
        await stage.press("slash")
        await stage.until(lambda: "the list" in stage.footer())
        await stage.press("ctrl+u")
        await stage.sees("3 entries")
        await stage.press("tab")
        await stage.until(lambda: "f filter" in stage.footer())
        await stage.press("home")
        await stage.until(lambda: "d remove" in stage.footer())
        await stage.press("d")
        await stage.sees("Take \u201cWho are you? \u2192 I am yours.\u201d out of your book?")
        await stage.press("y")
        await stage.sees("will no longer answer \u201cI am yours.\u201d")
        assert "I am yours." not in text(stage)
        again = stage.journal.lesson(2)
        assert (again.answer, again.rejected) == ("I am Vidya.", ("I am yours.",))

    play(scenario, tmp_path)


def test_a_line_is_taken_out_and_one_that_cannot_be_read_too(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        write(stage, OWN.replace("<|user|> my dog <|assistant|> Rex.\n", ""))
        await stage.say("/book")
        await stage.sees("cannot be read broken line")
        await stage.press("d")
        await stage.sees("y yes")
        await stage.press("y")
        await stage.sees("the line is gone from your book")
        assert text(stage) == "# My own book.\n\n<|user|> My dog? <|assistant|> Rufus.\n"
        await stage.sees("My dog? \u2192 Rufus.")
        await stage.press("d")
        await stage.sees("Take \u201cMy dog?")
        await stage.press("y")
        await stage.sees("gone from your book")
        assert text(stage) == "# My own book.\n\n"
        (lesson,) = stage.journal.lessons()
        assert (lesson.answer, lesson.rejected) == ("", ("Rufus.",))

    play(scenario, tmp_path)


@pytest.mark.slow
def test_a_book_that_another_program_changed_is_not_overwritten(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        write(stage)
        await stage.say("/book")
        await stage.sees("my dog \u2192 Rex.")
        write(stage, "# shorter\n<|user|> other <|assistant|> line\n")
        await stage.press("d")
        await stage.sees("y yes")
        await stage.press("y")
        await stage.sees("changed by another program")
        assert text(stage) == "# shorter\n<|user|> other <|assistant|> line\n"
        await stage.sees("other \u2192 line")

    play(scenario, tmp_path)


def test_a_line_that_cannot_be_read_is_completed(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        write(stage, "<|user|> My dog?\n")
        await stage.say("/book")
        await stage.sees("cannot be read <|user|> My dog?")
        await stage.press("e")
        await stage.sees("Line 1 of your book")
        await stage.write("Rufus.")
        await stage.press("ctrl+s")
        await stage.sees("My dog? \u2192 Rufus.")
        assert text(stage) == "<|user|> My dog? <|assistant|> Rufus.\n"

    play(scenario, tmp_path)
