"""The benchmark of distillation."""

from __future__ import annotations

import random

import pytest

from benchmarks.models.distillation import ARMS, PRACTISED, from_corpus, parts
from engine.errors import DataError
from learning.data.corpus import Document
from learning.distillation.answers import TeacherAnswer

KEPT = [TeacherAnswer("Why?", "It is so because it is so.", "", 1.0, 9)] * 3


def _talk(number: int) -> Document:
    turns = (("user", f"Question {number}?"), ("assistant", f"This is answer number {number}."))
    return Document("made", turns)


def test_the_corpus_gives_as_many_words_as_the_teacher() -> None:
    documents = [_talk(i) for i in range(40) if not _talk(i).held_out]
    found = from_corpus([Document("text", (), "no talk"), *documents], KEPT, random.Random(0))
    words = sum(len(row.answer.split()) for row in found)
    assert 21 <= words <= 26 and len({row.opening for row in found}) == len(found)
    assert found != from_corpus(documents, KEPT, random.Random(1))
    with pytest.raises(DataError, match="too few conversations"):
        from_corpus(documents[:2], KEPT, random.Random(0))


def test_the_table_has_a_line_for_each_arm() -> None:
    measured = {"nll": 2.0, "book": 1.0, "fits": 0.5, "facts": 0.25, "repetition": 0.0, "ends": 1.0}
    rows = [{"arm": arm, "seed": seed, **measured, "words": 9.0} for arm in ARMS for seed in (0, 1)]
    result = {"teacher": "big", "model": "10m", "openings": 9, "kept": 8, "teacher_tokens": 99}
    text = "\n".join(parts({**result, "rows": rows[:-2]}))
    assert text.startswith("Criterion") and "student: 10m" in text and "Seeds: 2" in text
    *there, last = ARMS.values()
    for words in there:
        assert f"| {words} | 2.000 ± 0.000 | 100.0 ± 0.0 | 50.0 ± 0.0 | 25.0 ± 0.0 |" in text
    assert f"| {last} |" not in text, "no seed has come so far"


def test_practice_on_top_has_a_table_of_its_own() -> None:
    measured = {"nll": 2.0, "book": 1.0, "fits": 0.5, "facts": 0.25, "repetition": 0.0, "ends": 1.0}
    after = {"solved": 0.875, "after_nll": 2.5, "after_fits": 0.25, "after_book": 1.0}
    rows = [{"arm": arm, "seed": 0, **measured, "words": 9.0} for arm in ARMS]
    rows = [row | after if row["arm"] in PRACTISED else row for row in rows]
    result = {"teacher": "big", "model": "10m", "openings": 9, "kept": 8, "teacher_tokens": 99}
    *_, practised = parts({**result, "rows": rows})
    assert practised.count("\n") == len(PRACTISED) + 1
    assert "| 87.5 | 2.000 -> 2.500 | 50.0 -> 25.0 | 100.0 |" in practised
