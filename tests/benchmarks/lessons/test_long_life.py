"""benchmarks.lessons.long_life: the lessons, and a short run of the real learner with a tiny model."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmarks import BenchOptions
from benchmarks.lessons import long_life
from benchmarks.lessons.collapse_pupils import LearnerPupil
from benchmarks.lessons.long_life_lessons import MORE_PEOPLE, PEOPLE, make_lessons
from engine.errors import DataError
from engine.model import Model
from engine.storage.checkpoint import save_model
from engine.tokenizers.tokenizer import Tokenizer
from learning.home import Home
from learning.protocol.records import Lesson
from learning.text.normalise import fold
from tests.short_lessons import SHORT

FIRST = "What is Quineno afraid of?"
"""The question of the first lesson of seed 0, before there were more than 1,004."""


def test_ten_thousand_lessons_of_which_no_two_ask_the_same() -> None:
    """Each asks for another property, so that no two contradict each other."""
    lessons = make_lessons(10_000, 0)
    assert len({fold(one.prompt[-1].text) for one in lessons}) == 10_000
    assert all(one.answer.endswith(".") and len(one.prompt) == 1 for one in lessons)
    people = [*PEOPLE, *MORE_PEOPLE]
    assert len({fold(name) for name in people}) == len(people)


@pytest.mark.parametrize("count", [1004, 10_000])
def test_a_seed_changes_the_order_only(count: int) -> None:
    first, again, other = (make_lessons(count, seed) for seed in (0, 0, 1))
    assert first == again != other
    if count == 1004:
        assert {(o.prompt, o.answer) for o in first} == {(o.prompt, o.answer) for o in other}


def test_a_longer_life_begins_like_a_shorter_one() -> None:
    long = make_lessons(10_000, 3)
    assert long[:1000] == make_lessons(1000, 3)
    assert make_lessons(1004, 0)[0].prompt[-1].text == FIRST


@pytest.mark.parametrize("count", [0, 10_169])
def test_more_lessons_than_there_are(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DataError, match=r"VIDYA_LONG_LIFE_LESSONS\); choose 1 to 10,168"):
        make_lessons(count, 0)


def test_the_environment_says_how_many(monkeypatch: pytest.MonkeyPatch) -> None:
    assert long_life.make_plan(quick=False).count == 1000
    monkeypatch.setenv("VIDYA_LONG_LIFE_LESSONS", "2000")
    assert long_life.make_plan(quick=False).count == 2000
    monkeypatch.setenv("VIDYA_LONG_LIFE_LESSONS", "2.5")
    with pytest.raises(DataError, match="whole number"):
        long_life.make_plan(quick=False)


@pytest.fixture
def options(
    tmp_path: Path, tiny_model: Model, tiny_tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> BenchOptions:
    folder = Home(tmp_path / "home").models_path / "tiny"
    save_model(tiny_model, folder)
    tiny_tokenizer.save(folder)
    monkeypatch.delenv("VIDYA_CORPUS", raising=False)
    monkeypatch.setattr("learning.lessons.learner.TeachSettings", lambda: SHORT)
    return BenchOptions(tmp_path / "home", model="tiny", quick=True, out=tmp_path / "out")


@pytest.mark.slow
def test_a_short_life(options: BenchOptions, tmp_path: Path) -> None:
    result = long_life.run(options)
    rows = result["rows"]
    assert [row["lessons"] for row in rows] == [3, 6] and result["resumed"] == []
    assert all(0.0 <= row[key] <= 1.0 for row in rows for key in ("known", "early", "book"))
    assert rows[0]["home"] > 0 and rows[0]["journal"] > 4096 and rows[1]["seconds"] > 0.0
    written = json.loads((tmp_path / "out" / "long_life_tiny.json").read_text())
    assert written["rows"] == rows
    text = (tmp_path / "out" / "long_life_tiny.md").read_text()
    assert "| the first 2 |" in text and "vidya bench long_life --quick --model tiny" in text
    names = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert names == ["long_life_tiny.json", "long_life_tiny.md"], "no copy of the home is left"


@pytest.mark.slow
def test_an_interrupted_life_goes_on(
    options: BenchOptions, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    taught = list[str]()
    learn = LearnerPupil.learn

    def killed_at_the_fifth(pupil: LearnerPupil, lesson: Lesson) -> bool:
        taught.append(lesson.prompt[-1].text)
        if len(taught) == 5:
            raise KeyboardInterrupt
        return learn(pupil, lesson)

    monkeypatch.setattr(LearnerPupil, "learn", killed_at_the_fifth)
    with pytest.raises(KeyboardInterrupt):
        long_life.run(options)
    out = tmp_path / "out"
    assert [path.name for path in out.glob("*home*")] == ["long_life_tiny_home_3"]
    later = {**long_life.machine(), "load_average": 99.0}
    monkeypatch.setattr(long_life, "machine", lambda: later)
    result = long_life.run(options)
    assert result["machine"] == later, "a report tells the machine of the last run"
    questions = [lesson.prompt[-1].text for lesson in make_lessons(6, 0)]
    assert taught == [*questions[:5], *questions[3:]], (
        "what came after the last row is taught again"
    )
    assert [row["lessons"] for row in result["rows"]] == [3, 6] and result["resumed"] == [3]
    assert "resumed after lesson 3" in (out / "long_life_tiny.md").read_text()
    assert not list(out.glob("*home*"))
    assert result["rows"][1]["journal"] >= result["rows"][0]["journal"] > 4096
    assert long_life.run(options) == result and len(taught) == 8, "nothing is left to do"


@pytest.mark.slow
def test_the_life_of_another_model_is_not_overwritten(
    options: BenchOptions, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    (out / "long_life_tiny_home_3").mkdir(parents=True)
    like = {"benchmark": "long_life", "quick": True, "model": "tiny", "seed": 0, "early": 2}
    rest = {"pause": [0.5, 3], "rows": [{"lessons": 3}], "resumed": []}
    (out / "long_life_tiny.json").write_text(json.dumps({**like, **rest, "start": "another"}))
    with pytest.raises(DataError, match="of a run with other weights or another book;"):
        long_life.run(options)


ROW = dict.fromkeys((*long_life.NUMBERS, *long_life.SIZES), 1.0) | {"lessons": 3}
WHOLE = {"talk": "talk", "talk_before": 2.0, "resumed": [], "rows": [ROW, ROW | {"lessons": 6}]}


@pytest.fixture
def kept(options: BenchOptions, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The results of a finished life, which a run has nothing to add to."""
    monkeypatch.setattr(long_life, "fingerprint", lambda *_: "these weights")
    file = tmp_path / "out" / "long_life_tiny.json"
    file.parent.mkdir()
    like = {"benchmark": "long_life", "quick": True, "model": "tiny", "seed": 0, "early": 2}
    file.write_text(json.dumps({**like, **WHOLE, "start": "these weights", "pause": [0.5, 3]}))
    return file


def test_a_finished_life_is_not_lived_again(options: BenchOptions, kept: Path) -> None:
    assert long_life.run(options)["rows"] == WHOLE["rows"]


@pytest.mark.parametrize(
    "change",
    [
        *({"rows": wrong} for wrong in (None, {}, [], "rows", [[3]], [ROW, 6], [{"lessons": 6}])),
        *({"rows": [ROW, ROW | {"lessons": number}]} for number in (None, "6", 6.0, 0, -3)),
        *({"rows": [ROW | {key: "one"}, ROW]} for key in ("right_after", "cpu", "memory")),
        {"rows": [{key: value for key, value in ROW.items() if key != "home"}]},
        *({"talk_before": wrong} for wrong in (None, "2", 0.0)),
        *({"resumed": None}, {"talk": None}),
    ],
)
def test_results_that_are_damaged_are_named_and_stay(
    options: BenchOptions, kept: Path, change: dict[str, Any]
) -> None:
    whole = json.loads(kept.read_text())
    kept.write_text(json.dumps({k: v for k, v in (whole | change).items() if v is not None}))
    before = kept.read_bytes()
    with pytest.raises(
        DataError, match=r"long_life_tiny.json: not the results of a bench.*the file aw"
    ):
        long_life.run(options)
    assert kept.read_bytes() == before


def test_the_results_of_another_model_are_told(options: BenchOptions, kept: Path) -> None:
    kept.write_text(json.dumps(json.loads(kept.read_text()) | {"model": "10m"}))
    with pytest.raises(DataError, match="the results of a run with another --model;"):
        long_life.run(options)


def test_a_copy_whose_row_was_not_written_is_made_anew(tmp_path: Path) -> None:
    class Saved:
        def save(self, folder: Path) -> None:
            folder.mkdir()
            (folder / "new").touch()

    left = tmp_path / "long_life_tiny_home_3"
    left.mkdir()
    (left / "old").touch()
    plan = replace(long_life.make_plan(quick=True), count=6)
    result = {"rows": [{"lessons": 3}]}
    with pytest.raises(KeyError):  # the report of so little; the home is copied before
        long_life._keep(BenchOptions(tmp_path, model="tiny", out=tmp_path), plan, Saved(), result)  # type: ignore[arg-type]
    assert [path.name for path in left.iterdir()] == ["new"]


def test_a_life_goes_on_only_from_the_home_of_its_last_row(tmp_path: Path) -> None:
    options = BenchOptions(tmp_path, model="tiny", out=tmp_path)
    nowhere = replace(options, out=None)
    (tmp_path / "long_life_tiny_home_3").mkdir()
    three, six = ({"rows": [{"lessons": number}]} for number in (3, 6))
    assert long_life._saved(options, three) == tmp_path / "long_life_tiny_home_3"
    assert long_life._saved(options, six) is None, "a finished run leaves no home"
    assert long_life._saved(options, {}) is long_life._saved(nowhere, three) is None
