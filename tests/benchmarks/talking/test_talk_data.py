"""The questions: well formed, and not in what the models were trained on."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.talking.talk_data import CATEGORIES, TYPES, Question, fold, load, seen
from engine.errors import DataError
from personality.book import read_book, shipped_book_path


def ask(text: str) -> Question:
    return Question("x", "facts", "what", (("user", text),))


def test_there_are_200_of_every_category_and_type() -> None:
    questions = load()
    assert len(questions) == len({q.id for q in questions}) == 200
    assert len({fold(q.asked) for q in questions}) == 200
    assert {q.category for q in questions} == set(CATEGORIES)
    assert {q.type for q in questions} == set(TYPES)
    for question in questions:
        assert bool(question.options) == (question.type == "choice"), question.id
        assert question.truth or question.category not in ("arithmetic", "facts"), question.id
        assert (len(question.turns) > 1) == (question.category == "follow_up"), question.id
    turns = Counter(len(q.turns) // 2 for q in questions if q.category == "follow_up")
    assert set(turns) == {1, 2, 3}


def test_a_bad_line_is_named(tmp_path: Path) -> None:
    path = tmp_path / "talk.jsonl"
    path.write_text('{"id": "a", "category": "facts", "type": "what", "turns": []}\n', "utf-8")
    with pytest.raises(DataError, match=r"talk.jsonl:1"):
        load(path)


def test_seen_finds_what_is_equal_after_folding() -> None:
    assert seen([ask("Ahoy there!")], ["ahoy, THERE"]) == {"x": "ahoy there"}
    assert seen([ask("Ahoy there!")], ["ahoy there you"]) == {}


def test_seen_finds_six_words_in_a_row() -> None:
    question = ask("Which of the seven seas is green?")
    assert seen([question], ["one of the seven seas is green today"]) == {
        "x": "of the seven seas is green"
    }
    assert seen([question], ["two of the seven seas is"]) == {}


def test_no_question_is_in_the_book_or_in_other_measurements() -> None:
    data = Path(__file__).parents[3] / "benchmarks" / "data"
    others = (data / "talk_openings.txt").read_text("utf-8").splitlines()
    said = [text for entry in read_book(shipped_book_path()) for _, text in entry.turns]
    assert seen(load(), [*said, *others]) == {}


@pytest.mark.skipif("VIDYA_CORPUS" not in os.environ, reason="VIDYA_CORPUS names no corpus")
def test_no_question_is_in_the_corpus() -> None:
    from learning.data.corpus import read_documents

    def messages() -> Iterator[str]:
        for path in sorted(Path(os.environ["VIDYA_CORPUS"]).glob("*.jsonl*")):
            for document in read_documents(path):
                yield document.text
                yield from (text for _, text in document.turns)

    assert seen(load(), messages()) == {}
