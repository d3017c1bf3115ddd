"""learning.journal.standing: every query that asks what stands gets the same answer."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.config import Sampling
from learning.book.lines import taught as stands_in_book
from learning.journal.export import export_trl
from learning.journal.journal import Journal
from learning.journal.lesson_list import taught, taught_ids
from learning.protocol.records import Correction, Lesson, Turn


@pytest.mark.parametrize("way", ["stands", "withdrawn", "retracted", "undone"])
def test_all_agree_whether_a_lesson_stands(tmp_path: Path, way: str) -> None:
    journal, asked = Journal(tmp_path / "journal.sqlite3"), (Turn("user", "Who?"),)
    lesson = Lesson("correction", asked, "Ada.", ("Bob.",))
    if way == "retracted":
        journal.add_lessons([lesson])
        journal.retract(1)
    else:
        ask = journal.add_ask(journal.new_conversation(), asked, Sampling()).id
        judgement = journal.judge(Correction(ask, "Ada."), "Ada.", [lesson])
        if way == "withdrawn":
            journal.withdraw(judgement)
        if way == "undone":
            journal.set_lesson_state(1, "undone")
        assert journal.judgements(ask)[0].stands is (way == "stands")
        assert journal.answer(ask) == ("Ada." if way == "stands" else None)
    standing = way == "stands"
    assert [x.id for x in journal.standing()] == [1] * standing
    assert [x.id for x in journal.taken_back()] == [1] * (not standing)
    assert [x.id for x in journal.to_undo()] == [1] * (way in ("withdrawn", "retracted"))
    assert len(list(export_trl(journal))) == standing
    assert taught_ids(journal, show="taken_back") == [1] * (not standing)
    assert (taught(journal, [1])[0].state != "taken_back") is standing
    assert stands_in_book(journal, "Who?", "Ada.") == [standing]
    journal.close()
