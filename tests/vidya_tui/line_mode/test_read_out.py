"""The candidates that `vidya --plain` reads out are those that a number picks."""

from __future__ import annotations

from pathlib import Path

from learning.journal.journal import Journal
from learning.journal.lesson_list import keep_understanding
from learning.protocol.events import Ready
from learning.protocol.records import Lesson, Turn, Understanding
from tests.vidya_tui.line_mode.test_mode import AtTerminal
from vidya_tui.line_mode import screens

FRESH = ("A", "B", "C", "D", "E")
FIVE = ["1. A", "2. B", "3. C", "4. D", "5. E", "surest: 1"]


def printed_since(here: AtTerminal, length: int) -> list[str]:
    """The lines printed since then, without the prompt."""
    lines = here.out.getvalue()[length:].replace("> ", "").splitlines()
    return [line for line in lines if line]


def test_answers_that_are_drawn_again_after_a_crash_are_read_out_from_the_first(
    tmp_path: Path,
) -> None:
    here = AtTerminal(tmp_path)
    here.mode.typed("hello")
    for number in (1, 2):
        here.teacher.pump(9, only=number)
    assert "1. one answer" in here.out.getvalue()
    before = len(here.out.getvalue())
    here.teacher.texts = FRESH
    here.teacher.die()
    here.mode.heard(Ready("10m", 1, 10_200_000, "cpu"))
    here.teacher.finish()
    assert [line for line in printed_since(here, before) if line in FIVE] == FIVE


def test_a_conversation_that_waits_for_a_pick_is_reopened_with_its_answers(tmp_path: Path) -> None:
    here = AtTerminal(tmp_path)
    here.teacher.texts = FRESH
    for message in ("hello", "/new", "other"):
        here.mode.typed(message)
        here.teacher.finish()
    before = len(here.out.getvalue())
    here.mode.typed("/history #1")
    assert printed_since(here, before) == ["You: hello", *FIVE]


def test_a_message_that_was_never_answered_is_answered_when_it_is_reopened(tmp_path: Path) -> None:
    here = AtTerminal(tmp_path)
    here.teacher.texts = FRESH
    here.mode.typed("hello")
    here.teacher._streams.clear()  # nothing comes
    here.mode.typed("/new")
    here.mode.typed("other")
    here.teacher.finish()
    before = len(here.out.getvalue())
    here.mode.typed("/history #1")
    here.teacher.finish()
    assert printed_since(here, before) == ["You: hello", *FIVE]


def test_a_wording_that_has_its_answer_is_read_back_without_the_others(tmp_path: Path) -> None:
    here = AtTerminal(tmp_path)
    for line in ("hello", "3", "/edit goodbye", "1"):
        here.mode.typed(line)
        here.teacher.finish()
    before = len(here.out.getvalue())
    here.mode.typed("/branch")
    assert printed_since(here, before) == ["You: hello", "Vidya: three"]


def test_an_undo_in_a_reopened_conversation_reads_out_what_can_be_picked_then(
    tmp_path: Path,
) -> None:
    here = AtTerminal(tmp_path)
    here.teacher.texts = FRESH
    for line in ("hello", "3", "/new", "/history #1"):
        here.mode.typed(line)
        here.teacher.finish()
    before = len(here.out.getvalue())
    here.mode.typed("/undo")
    printed = printed_since(here, before)
    assert [line for line in printed if line in FIVE] == FIVE
    here.mode.typed("/undo")
    here.mode.typed("1")
    assert "preferred 1" in here.out.getvalue()
    assert here.out.getvalue()[before:].count("2. B") == 1, "they are read out once"


def test_how_well_a_lesson_was_understood_is_read_out(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.sqlite3")
    journal.add_lessons([Lesson("example", (Turn("user", "a?"),), "b")])
    journal.set_lesson_state(1, "learned")
    (line,) = list(screens.lessons(journal, ""))[:1]
    assert line.endswith("learned: a? \u2192 b")
    keep_understanding(journal, 1, Understanding(4, 5, 1, 3))
    (line,) = list(screens.lessons(journal, ""))[:1]
    journal.close()
    said = "(known in 4 of 5 ways, given to 1 of 3 other questions (today "
    assert f"learned: a? \u2192 b {said}" in line
