"""`vidya --plain`, with a scripted teacher: lines in, plain lines out."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from learning.home import Home
from learning.journal.journal import Journal
from learning.protocol.events import Event, Ready, TrainDone, TrainProgress
from learning.protocol.requests import Practise, Request, Train
from tests.downloads import no_download
from tests.fakes import ScriptedTeacher
from tests.practice_events import DONE as PRACTISED
from vidya_tui.line_mode.loop import run_lines
from vidya_tui.settings.file import Settings
from vidya_tui.worker.fetcher import Command

TEXTS = ("one answer", "\x1b[31mtwo\x1b[0m", "three", "four", "five")
DONE = TrainDone(2, 4, 0.1, 0.5, 1.0, 3.0, False, False, 2, 10)


@dataclass
class Trainer(ScriptedTeacher):
    """Trains too, in two epochs, and practises."""

    def send(self, request: Request) -> None:
        super().send(request)
        if isinstance(request, Train) and self.on_event:
            for epoch in (1, 2):
                self.on_event(
                    TrainProgress(epoch, 25, epoch, 50, 0.5, 0.5 * epoch, 1.0, 9.0, 2, True)
                )
            self.on_event(DONE)
        if isinstance(request, Practise) and self.on_event:
            self.on_event(PRACTISED)


def talk(
    folder: Path, *lines: str, settings: Settings | None = None, fetch: Command = no_download
) -> tuple[list[str], Journal]:
    """Runs the line mode on piped lines; returns its output and the journal."""
    home = Home(folder / "home")
    journal = Journal(home.journal_path)
    teacher = Trainer(TEXTS, journal=journal)

    def make(on_event: Callable[[Event], None], model: str | None = None, /) -> ScriptedTeacher:
        teacher.on_event = on_event
        on_event(Ready(model or "10m", 1, 10_200_000, "cpu"))
        return teacher

    out = io.StringIO()
    source = io.BytesIO("".join(f"{line}\n" for line in lines).encode())
    status = run_lines(
        home, journal, make, settings or Settings(), source=source, out=out, fetch=fetch
    )
    assert status == 0 and teacher.closed
    assert "\x1b" not in out.getvalue() and "\r" not in out.getvalue()
    return out.getvalue().splitlines(), journal


def picked(journal: Journal) -> list[int]:
    """The numbers of all cards that were picked."""
    rows = [row for row in journal.export_rows() if row["table"] == "judgements"]
    return [row["number"] for row in rows if row["kind"] == "pick"]


def test_five_answers_a_pick_and_the_end(tmp_path: Path) -> None:
    lines, journal = talk(tmp_path, "hello", "3")
    assert lines == [
        "vidya, line by line. /help lists the commands.",
        "10m is awake, version 1",
        "1. one answer",
        "2. \u241b[31mtwo\u241b[0m",
        "3. three",
        "4. four",
        "5. five",
        "surest: 1",
        "preferred 3 over 1, 2, 4, 5: three",
        "lesson 1: learned in 0.1 s",
    ]
    assert picked(journal) == [3] and journal.waiting() == []
    book = (tmp_path / "home" / "book.txt").read_text()
    assert "<|user|> hello <|assistant|> three" in book


def test_without_a_lesson_there_is_nothing_to_undo(tmp_path: Path) -> None:
    lines, _ = talk(tmp_path, "hello", "/undo")
    assert "there is nothing to undo" in lines and "taking the last lesson back" not in lines


def test_correct_rate_undo_new(tmp_path: Path) -> None:
    lines, journal = talk(
        tmp_path, "hello", "/correct Hello!", "/rate good", "/rate off", "/undo", "/new", "again"
    )
    assert "will answer \u201cHello!\u201d" in lines
    assert lines.count("lesson 1: learned in 0.1 s") == 1
    assert any(line.endswith("rated good") for line in lines)
    assert any(line.endswith("rating withdrawn") for line in lines)
    assert "taking the last lesson back" in lines
    assert "lesson 1 taken back \u00b7 \u201chello\u201d \u2192 \u201cHello!\u201d" in lines
    assert "a new conversation" in lines
    assert [talk.title for talk in journal.conversations()] == ["again", "hello"]
    assert journal.lesson(2).state == "undone"


def test_train_has_a_line_for_each_epoch(tmp_path: Path) -> None:
    lines, _ = talk(tmp_path, "/train 2")
    assert lines[2:] == [
        "learning the book; go on chatting, /cancel stops it",
        "epoch 1 of 25: loss 0.500, recall 50 %",
        "epoch 2 of 25: loss 0.500, recall 100 %",
        "trained after 2 epochs in 3.0 s: book recall 50 % \u2192 100 %",
    ]


def test_digits_are_messages_unless_candidates_wait(tmp_path: Path) -> None:
    _, journal = talk(tmp_path, "7", " 2", "12 monkeys", "//slash")
    rows = [row for row in journal.export_rows() if row["table"] == "asks"]
    assert [row["message"] for row in rows] == ["7", "2", "12 monkeys", "/slash"]
    assert picked(journal) == []


def test_a_byte_order_mark_is_no_part_of_the_first_line(tmp_path: Path) -> None:
    lines, journal = talk(tmp_path, "\ufeff/new", "hello")
    assert "a new conversation" in lines and journal.questions() == ["hello"]


def test_what_cannot_be_done_is_a_line(tmp_path: Path) -> None:
    lines, _ = talk(tmp_path, "", "/nope", "/copy", "/correct", "/pick 1", "hello", "9", "/undo")
    said = "\n".join(lines)
    assert "there is no command /nope" in said
    assert "/copy needs the screen" in said
    assert "/correct needs the text here" in said
    assert "no candidates wait" in said and "there is no candidate 9" in said


def test_help_lists_what_works_here(tmp_path: Path) -> None:
    lines, _ = talk(tmp_path, "/help", "/quit", "never said")
    said = "\n".join(lines)
    for usage in (
        "/correct TEXT:",
        "/edit TEXT: say your last message",
        "/history [WORDS|#N]:",
        "/help: this list",
        "/rate good|bad|off [end|--from WORDS] [REASON]:",
        "/train [EPOCHS]:",
        "/undo:",
        "/new:",
    ):
        assert usage in said
    for only_on_the_screen in ("teach again", "change what", "rename", "a larger model", "keys"):
        assert only_on_the_screen not in said
    assert "/copy" not in said and "1. one answer" not in said


def test_plain_chat_has_no_numbers(tmp_path: Path) -> None:
    lines, journal = talk(tmp_path, "hello", "/rate bad", settings=Settings(candidates=1))
    assert "one answer" in lines and "rated bad" in lines[-2]
    assert journal.lessons(kinds=("rating",))[0].state == "learned"


def test_with_learning_off_the_end_does_not_wait(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    journal = Journal(home.journal_path)
    teacher = ScriptedTeacher(TEXTS)  # it never learns

    def make(on_event: Callable[[Event], None], model: str | None = None, /) -> ScriptedTeacher:
        teacher.on_event = on_event
        on_event(Ready("10m", 1, 10_200_000, "cpu"))
        return teacher

    source, off = io.BytesIO(b"hello\n1\n"), Settings(learning=False)
    assert run_lines(home, journal, make, off, source=source, out=io.StringIO()) == 0
    assert len(journal.waiting()) == 1


def test_an_earlier_message_in_other_words_and_back(tmp_path: Path) -> None:
    lines, journal = talk(
        tmp_path, "hello", "2", "/edit goodbye", "/edit", "/branch", "/branch", "/branch next"
    )
    assert "/edit needs the text here; type /edit WORDS" in lines
    at = lines.index("the earlier one is kept; /branch goes back to it")
    assert "1. one answer" in lines[at : at + 3]  # other candidates, read out
    back = lines.index("You: hello")
    assert lines[back + 1] == "Vidya: \u241b[31mtwo\u241b[0m"
    assert "You: goodbye" in lines[back:] and lines[-1].startswith("this message has 2 variants")
    rows = [row for row in journal.export_rows() if row["table"] == "asks"]
    assert [(row["message"], row["parent"]) for row in rows] == [
        *(("hello", None), ("goodbye", None))
    ]


def test_what_the_screens_show_is_read_out(tmp_path: Path) -> None:
    lines, journal = talk(
        tmp_path,
        *("hello", "3", "/lessons", "/compare", "/book three", "/progress", "/history hel"),
        *("/history #1", "/lessons nothing like it", "/history zzz"),
    )
    assert any(
        line.startswith("lesson 1, today") and line.endswith("picked, learned: hello \u2192 three")
        for line in lines
    )
    assert "of these 1 of 1 are known now" in lines
    assert "asking lesson 1's message again, before and now" in lines
    assert "before (version 1), likeliest: an old answer" in lines
    assert "now (version 2), drawn: old one" in lines
    assert "yours, line 2: hello \u2192 three" in lines
    assert "book recall: nothing measured yet" in lines
    assert any(line.startswith("first picked: 0.0 %") for line in lines)
    assert any(line.startswith("#1, today") and "2 turns, hello" in line for line in lines)
    assert lines[-4:] == ["You: hello", "Vidya: three", "nothing was found", "nothing was found"]
    journal.close()
