"""How well lessons were understood: kept, listed, copied, erased."""

from __future__ import annotations

import time
from pathlib import Path

from learning.journal.journal import Journal
from learning.journal.lesson_list import keep_understanding, taught, understandings
from learning.protocol.records import Lesson, Turn, Understanding


def example(question: str, answer: str) -> Lesson:
    return Lesson("example", (Turn("user", question),), answer)


WELL = Understanding(4, 5, 1, 3)


def test_how_well_a_lesson_was_understood_is_kept_and_replaced(journal: Journal) -> None:
    journal.add_lessons([example("What?", "This."), example("Who?", "She.")])
    journal.set_lesson_state(1, "learned")
    before = time.time()
    keep_understanding(journal, 1, Understanding(1, 5))
    keep_understanding(journal, 1, WELL)
    again = Journal(journal.path)  # another start of the program
    (first, second) = taught(again, [1, 2])
    again.close()
    assert first.understanding == WELL and before <= (first.measured or 0) <= time.time()
    assert (second.understanding, second.measured) == (Understanding(), None)
    keep_understanding(journal, 1, Understanding())
    assert understandings(journal, [1, 2]) == {}, "taught again, and not measured"
    keep_understanding(journal, 7, WELL)  # erased meanwhile
    assert understandings(journal, [7]) == {}


def test_of_a_lesson_that_the_weights_lack_nothing_is_said(journal: Journal) -> None:
    journal.add_lessons([example("What?", "This.")])
    for state in ("learned", "waiting", "needs_practice", "undone", "learned"):
        journal.set_lesson_state(1, state)
        keep_understanding(journal, 1, WELL)
        (one,) = taught(journal, [1])
        assert (
            (one.measured is not None) == (state == "learned") == bool(understandings(journal, [1]))
        )
    journal.retract(1)
    assert taught(journal, [1])[0].understanding == Understanding()


MEASURES = ("ways_known", "ways_asked", "neighbours_leaked", "neighbours_asked", "measured")


def measures(journal: Journal) -> list[tuple[object, ...]]:
    """Of each exported lesson."""
    rows = (row for row in journal.export_rows() if row["table"] == "lessons")
    return [tuple(row[name] for name in MEASURES) for row in rows]


def test_it_goes_out_and_is_not_brought_in(journal: Journal, tmp_path: Path) -> None:
    journal.add_lessons([example("What?", "This."), example("Who?", "She.")])
    journal.set_lesson_state(1, "learned")
    keep_understanding(journal, 1, WELL)
    first, second = measures(journal)
    assert (first[:4], second) == ((4, 5, 1, 3), (None,) * 5)
    other = Journal(tmp_path / "other.sqlite3")
    assert other.import_rows(list(journal.export_rows())) == 2
    assert set(measures(other)) == {(None,) * 5}, "these weights have not learned it"
    other.close()


def test_it_goes_when_the_state_changes(journal: Journal) -> None:
    journal.add_lessons([example("What?", "This.")])
    for state in ("learned", "needs_practice", "learned"):
        journal.set_lesson_state(1, state)  # type: ignore[arg-type]
        assert understandings(journal, [1]) == {}, "these weights were not asked"
        keep_understanding(journal, 1, WELL)


def test_it_is_erased_with_its_lesson(journal: Journal) -> None:
    journal.add_lessons([example("What?", "This."), example("Who?", "She.")])
    for number in (1, 2):
        journal.set_lesson_state(number, "learned")
        keep_understanding(journal, number, WELL)
    journal.forget(lesson=1)
    assert list(understandings(journal, [1, 2])) == [2]
    assert len(measures(journal)) == 1
