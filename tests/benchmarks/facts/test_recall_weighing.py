"""The fit of what `recall` believes, on made evidence."""

from __future__ import annotations

import random
from contextlib import closing
from pathlib import Path

import pytest

from benchmarks import DATA, BenchOptions
from benchmarks.common.scratch import scratch_home
from benchmarks.facts.people_data import read_people
from benchmarks.facts.recall_weighing import (
    FOLDS,
    LESSONS,
    OPENINGS,
    UNWANTED,
    Row,
    asked,
    fitted,
    gather,
    judged,
    main,
    recalled,
)
from benchmarks.lessons.collapse_data import read_lessons
from learning.home import Home
from learning.journal.journal import Journal
from learning.protocol.records import Lesson, Turn
from learning.teacher.relevance import Evidence


def made(count: int) -> list[Row]:
    """A lesson that is wanted is some 2 ahead, others are not; nothing else tells."""
    source = random.Random(0)
    rows = []
    for place in range(count):
        wanted = place % 2 == 0
        ahead = [source.gauss(2.0 if wanted and at == 0 else 0.0, 0.4) for at in range(3)]
        found = tuple(Evidence(0.5, one, source.gauss(-9, 1), source.gauss(-2, 1)) for one in ahead)
        kind = "rewording" if wanted else "unknown"
        rows.append(Row(kind, place % FOLDS, found, (wanted, False, False)))
    return rows


def test_what_tells_gets_the_weight() -> None:
    weighing = fitted(made(200))
    assert weighing.ahead > 1.0
    assert weighing.likely(Evidence(0.5, 2.0, -9.0, -2.0)) > 0.9
    assert weighing.likely(Evidence(0.5, 0.0, -9.0, -2.0)) < 0.1


def test_right_and_wrong_ones_are_counted_by_folds() -> None:
    found = recalled(judged(made(200)), 0.5)
    assert found["rewording"][0] > 0.9 and found["rewording"][1] < 0.1
    assert found["unknown"][0] == 0.0 and found["unknown"][1] < 0.1
    none = Row("unknown", 0, (), ())
    assert recalled(judged([*made(20), none]), 1.1)["rewording"] == (0.0, 0.0)


def test_all_kinds_are_asked() -> None:
    fact, lesson = read_people("tune")[0], read_lessons(DATA / LESSONS[0])[0]
    questions = asked({fact.prompt, lesson.prompt})
    kinds = {"rewording", "paraphrase", "hop", *UNWANTED}
    assert {q.kind for q in questions if q.about == fact.prompt} == kinds - {OPENINGS}
    own = [q for q in questions if q.about == lesson.prompt]
    assert {q.kind for q in own} == {"lesson's rewording", "lesson's paraphrase"}
    assert all((q.wanted is None) == (q.kind in UNWANTED) for q in questions)


def refused(words: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    with pytest.raises(SystemExit) as caught:
        main(words)
    assert caught.value.code == 2
    return capsys.readouterr().err.splitlines()[-1]


def test_what_it_cannot_measure_is_told_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home = str(tmp_path / "home")
    assert "required: home, model" in refused([], capsys)
    assert f"{home}: has no journal; teach first: `vidya teach" in refused([home, "10m"], capsys)
    assert not (tmp_path / "home").exists()
    with closing(Journal(Home(tmp_path).journal_path)):
        assert "model 'x' does not exist" in refused([str(tmp_path), "x"], capsys)


def test_a_home_that_was_taught_something_else_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [Row(OPENINGS, 0, (), ())]
    monkeypatch.setattr("benchmarks.facts.recall_weighing.gather", lambda *_: rows)
    with closing(Journal(Home(tmp_path).journal_path)):
        said = refused([str(tmp_path), "10m"], capsys)
    assert f"{tmp_path}: 10m was taught none of the lessons; teach first" in said


@pytest.mark.slow
def test_evidence_of_what_a_home_was_taught() -> None:
    fact = read_people("tune")[0]
    with scratch_home(BenchOptions(home=Path("/nonexistent"), quick=True)) as (home, model):
        with closing(Journal(home.journal_path)) as journal:
            journal.add_lessons([Lesson("example", (Turn("user", fact.prompt),), fact.answer)])
        rows = gather(home, model)
    assert {row.kind for row in rows} == {"rewording", "paraphrase", "hop", *UNWANTED}
    assert any(any(row.right) for row in rows if row.kind == "rewording")
    assert not any(any(row.right) for row in rows if row.kind in UNWANTED)
    assert len([row for row in rows if row.kind == OPENINGS]) > 50
