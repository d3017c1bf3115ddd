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


def test_a_practice_is_told_by_what_was_practised(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.sqlite3")
    names = ("chain_sum", "distillation from smollm2-135m")
    journal.add_lessons([Lesson("practice", (Turn("user", name),), "") for name in names])
    told = [taken_back(journal, UndoDone(n, f"took back lesson {n}", 1)) for n in (1, 2)]
    assert told[0] == "took back lesson 1 \u00b7 practice of chain_sum"
    assert told[1] == "took back lesson 2 \u00b7 distillation from smollm2-135m"
    journal.close()
