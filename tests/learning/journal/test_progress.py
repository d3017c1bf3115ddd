"""Measures are put together by minute, hour or day, and told in words, as CSV and as a picture."""

from __future__ import annotations

import csv
import time
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from engine.config import Sampling
from learning.channels import learn_from_rating
from learning.journal.journal import Journal
from learning.journal.progress import (
    DAY,
    HOUR,
    MEASURES,
    as_csv,
    as_svg,
    read_progress,
    series,
    summary,
)
from learning.protocol.records import Rating, Turn

RECALL = MEASURES[0]
LOSS = next(measure for measure in MEASURES if measure.name == "loss")
NOON = time.mktime((2026, 3, 2, 12, 0, 0, 0, 0, -1))


def test_points_of_several_days_are_put_together_by_the_owners_day() -> None:
    one = series(RECALL, [(NOON, 0.5), (NOON + HOUR, 0.7), (NOON + 4 * DAY, 0.9)])
    assert one.step == DAY
    first, last = one.points
    assert time.localtime(first.start)[:6] == (2026, 3, 2, 0, 0, 0)
    assert (first.count, first.least, first.most, first.last) == (2, 0.5, 0.7, 0.7)
    assert abs(first.mean - 0.6) < 1e-12
    assert (last.mean, one.newest) == (0.9, 0.9)


def test_a_first_afternoon_is_shown_by_the_hour_and_the_minute() -> None:
    assert series(RECALL, [(NOON, 0.5), (NOON + 5 * HOUR, 0.6)]).step == HOUR
    short = series(RECALL, [(NOON + 61, 0.5), (NOON, 0.4), (NOON + 2, 0.6)])
    assert short.step == 60.0
    assert [point.count for point in short.points] == [2, 1]
    assert series(RECALL, []).points == ()


def test_the_summary_says_it_in_a_sentence() -> None:
    assert summary(series(RECALL, [])) == "book recall: nothing measured yet"
    assert summary(series(RECALL, [(NOON, 0.984)])) == "book recall: 98.4 %, on 03-02 12:00"
    falling = series(LOSS, [(NOON, 2.0), (NOON + 4 * DAY, 0.5)])
    assert summary(falling) == ("loss: 0.5; 2 on 2026-03-02, better since; lowest 0.5, highest 2")
    rising = series(LOSS, [(NOON, 0.5), (NOON + 4 * DAY, 2.0)])
    assert "worse since" in summary(rising)
    assert "about the same" in summary(series(LOSS, [(NOON, 1.0), (NOON + 4 * DAY, 1.001)]))


def test_no_figure_contradicts_another() -> None:
    # two afternoons; the mean of the second is above its last step
    losses = [(NOON, 0.9), (NOON + 4 * DAY, 0.358), (NOON + 4 * DAY + 60, 0.298)]
    one = series(LOSS, losses)
    assert one.newest == pytest.approx(0.328)
    assert summary(one).startswith("loss: 0.328; 0.9 on 2026-03-02, better since; lowest 0.328")
    # what is known now is what was seen last
    known = series(RECALL, [(NOON, 0.2), (NOON + 4 * DAY, 0.4), (NOON + 4 * DAY + 60, 1.0)])
    assert known.newest == 1.0
    assert summary(known).endswith("lowest 20.0 %, highest 100.0 %")
    for found in (one, known):
        shown = [point.shown for point in found.points]
        assert found.newest is not None and min(shown) <= found.newest <= max(shown)


def test_what_was_measured_of_another_model_is_left_out(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.sqlite3")
    for model, value in ((None, 0.25), ("10m", 0.5), ("large", 0.75)):
        for name in ("book_recall", "lessons_known", "owner_nll", "practice/sums/reward"):
            journal.add_measure(name, value, model)
        journal.add_step([], value, 32, 0.1, "example", model)
    measured = ("book_recall", "lessons_known", "loss", "reward", "owner_nll")
    for model, values in (
        ("10m", [0.25, 0.5]),
        ("large", [0.25, 0.75]),
        ("other", [0.25]),
        (None, [0.25, 0.5, 0.75]),
    ):
        for one in MEASURES:
            found = [value for _, value in one.read(journal, model)]
            assert found == (values if one.name in measured else []), (one.name, model)
    journal.close()


def test_the_journal_is_read_and_comes_out_as_csv_and_svg(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.sqlite3")
    journal.add_measure("book_recall", 0.5)
    journal.add_measure("owner_nll", 3.25)
    journal.add_measure("practice/sums/reward", 0.25)
    journal.add_step([], 9.0, 32, 0.1, "practice")
    journal.add_step([], 0.7, 32, 0.1, "example")
    ask = journal.add_ask(journal.new_conversation(), (Turn("user", "hi"),), Sampling())
    lesson = learn_from_rating(ask, "yes", "good")
    assert lesson
    journal.judge(Rating(ask.id, "good"), "yes", (lesson,))
    found = read_progress(journal, None)
    newest = {one.measure.name: one.newest for one in found}
    assert newest == {
        **{"book_recall": 0.5, "lessons_known": None, "loss": 0.7, "reward": 0.25},
        **{"rated_good": 1.0, "first_picked": None, "owner_nll": 3.25},
    }
    rows = list(csv.DictReader(as_csv(found).splitlines()))
    assert [(row["measure"], row["mean"], row["count"]) for row in rows] == [
        ("book_recall", "0.5", "1"),
        ("loss", "0.7", "1"),
        ("reward", "0.25", "1"),
        ("rated_good", "1", "1"),
        ("owner_nll", "3.25", "1"),
    ]
    picture = ET.fromstring(as_svg(found))
    texts = ["".join(text.itertext()) for text in picture.iter() if text.tag.endswith("text")]
    assert "your words" in texts
    assert texts.count("nothing measured yet") == 2
    ET.fromstring(as_svg([series(LOSS, [(NOON, 1.0), (NOON + 9 * DAY, 1.0)])]))
    journal.close()
