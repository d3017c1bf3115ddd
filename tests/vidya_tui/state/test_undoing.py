"""Which undone lessons are told."""

from __future__ import annotations

from pathlib import Path

from engine.config import Sampling
from learning.journal.journal import Journal
from learning.protocol.events import UndoDone
from learning.protocol.records import Lesson, Pick, Turn
from vidya_tui.state.undoing import taken_back


def test_what_leaves_with_its_judgement_is_not_told_each(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.sqlite3")
    prompt = (Turn("user", "hello"),)
    ask = journal.add_ask(journal.new_conversation(), prompt, Sampling())
    judgement = journal.judge(
        Pick(ask.id, 1, "shorter"), "Hi.", [Lesson("pick", prompt, "Hi.", ("Good day.",))]
    )
    carried = Lesson("reason", (Turn("user", "bye"),), "Bye.", ("Good bye.",))
    journal.add_lessons([carried], judgement)
    event = UndoDone(2, "took back lesson 2", 1)
    assert taken_back(journal, event).startswith("took back lesson 2")  # alone, from /lessons
    journal.set_lesson_state(1, "undone")
    assert taken_back(journal, event) == ""
    journal.close()


def test_a_practice_is_named_once(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.sqlite3")
    journal.add_lessons([Lesson("practice", (Turn("user", "chain_sum"),), "")])
    assert taken_back(journal, UndoDone(1, "took back practice of chain_sum", 1)) == (
        "took back practice of chain_sum"
    )
    journal.close()
