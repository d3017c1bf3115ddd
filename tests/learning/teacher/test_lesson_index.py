"""Lessons with their vectors: each is computed once, kept in the home, and gone when its lesson is."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from torch import Tensor

from engine.encoder import SentenceEncoder
from engine.errors import JournalError
from learning.home import Home
from learning.lessons.forget import forget
from learning.memory.lesson_vectors import KnownAnswer, VectorFile
from learning.protocol.records import Lesson
from learning.teacher import lesson_index as module
from learning.teacher import meant
from learning.teacher import recall as recall_module
from learning.teacher.lesson_index import PIECE
from learning.teacher.recall import LessonRecall
from learning.text.normalise import fold
from tests.learning.teacher.conftest import Place
from tests.learning.teacher.test_recall import ASKED, DOG_LESSON, SISTER_LESSON, lesson, teach


@pytest.fixture
def computed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Gets the number of vectors of each computation."""
    numbers: list[int] = []
    real = module.lesson_vectors

    def counted(encoder: SentenceEncoder, known: Sequence[KnownAnswer]) -> Tensor:
        numbers.append(len(known))
        return real(encoder, known)

    monkeypatch.setattr(module, "lesson_vectors", counted)
    return numbers


def next_start(place: Place, recall: LessonRecall) -> LessonRecall:
    """What the next start of the program has."""
    return LessonRecall(recall._learner, place[2])


def kept(home: Home, *lessons: Lesson) -> int:
    """How many of these lessons the home has vectors of."""
    lines = [KnownAnswer(one.prompt[-1].text, one.answer) for one in lessons]
    return len(VectorFile(home.lesson_vectors_path).read(lines))


def many(count: int) -> list[Lesson]:
    return [
        lesson(f"Who winds tower clock {i}?", f"Ottokar the {i}. winds it.") for i in range(count)
    ]


def test_each_vector_is_computed_once(
    tiny_place: Place, recall: LessonRecall, computed: list[int]
) -> None:
    teach(tiny_place[2], DOG_LESSON, learned=True)
    recall.prepare()
    assert sum(computed) > 100, "the book's too"
    computed.clear()
    recall.find(ASKED)
    assert not computed
    teach(tiny_place[2], SISTER_LESSON, learned=True)
    recall.find("where my sister lives")
    assert computed == [1], "what is new"


def test_the_book_is_encoded_once_for_all_starts(
    tiny_place: Place, recall: LessonRecall, computed: list[int]
) -> None:
    home, _, journal = tiny_place
    teach(journal, DOG_LESSON, learned=True)
    before = {path for path in home.path.rglob("*") if path.is_file()}
    recall.prepare()
    written = {path for path in home.path.rglob("*") if path.is_file()} - before
    assert written == {home.book_vectors_path}, "one lesson is not worth a file"
    line = KnownAnswer(DOG_LESSON.prompt[-1].text, DOG_LESSON.answer)
    assert not VectorFile(home.book_vectors_path).read([line]), "it has no lesson"

    def first_find() -> int:
        computed.clear()
        assert next_start(tiny_place, recall).find(ASKED) is not None
        return sum(computed)

    assert first_find() == 1, "the book's are read"
    home.book_vectors_path.write_bytes(b"damaged")
    assert first_find() > 100
    assert first_find() == 1, "they were written again"


def test_lessons_are_encoded_once_for_all_starts(
    tiny_place: Place,
    recall: LessonRecall,
    computed: list[int],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    home, _, journal = tiny_place
    lessons = teach(journal, DOG_LESSON, *many(PIECE), learned=True)
    recall.prepare()
    assert kept(home, *lessons) == PIECE + 1
    computed.clear()
    monkeypatch.setattr(recall_module, "MOST_AT_ONCE", 0)  # as with thousands of lessons
    monkeypatch.setattr(recall_module, "AT_ONCE", 0)
    again = next_start(tiny_place, recall)
    found = again.find(ASKED)
    assert found is not None and found.lesson.id == lessons[0].id and not computed
    assert again.answers_near(ASKED) and again.nearest(ASKED), "nor do they wait"


def test_a_lesson_that_is_gone_leaves_the_file(tiny_place: Place, recall: LessonRecall) -> None:
    home, _, journal = tiny_place
    dog, *others = teach(journal, DOG_LESSON, *many(PIECE), learned=True)
    recall.prepare()
    assert kept(home, dog) == 1
    journal.retract(dog.id)
    recall.prepare()
    assert kept(home, dog) == 0 and kept(home, *others) == PIECE
    for one in others:
        journal.retract(one.id)
    next_start(tiny_place, recall).prepare()
    assert not home.lesson_vectors_path.exists()


def test_what_is_forgotten_leaves_the_file_at_once_and_the_rest_stays(
    tiny_place: Place, recall: LessonRecall
) -> None:
    home, _, journal = tiny_place
    dog, *others = teach(journal, DOG_LESSON, *many(PIECE), learned=True)
    recall.prepare()
    (sister,) = teach(journal, SISTER_LESSON, learned=True)
    recall.prepare()
    assert kept(home, dog, *others) == PIECE + 1 and kept(home, sister) == 0, "one is spare"
    forget(home, journal, journal.to_forget(lesson=sister.id))
    recall.prepare()
    assert kept(home, dog, *others) == PIECE + 1
    forget(home, journal, journal.to_forget(lesson=dog.id))
    assert kept(home, dog) == 0 and kept(home, *others) == PIECE
    recall.prepare()
    assert kept(home, dog) == 0 and kept(home, *others) == PIECE


def test_a_reading_that_breaks_off_is_begun_again(
    tiny_place: Place, recall: LessonRecall, monkeypatch: pytest.MonkeyPatch
) -> None:
    teach(tiny_place[2], DOG_LESSON, learned=True)

    def breaks(*_: object) -> None:
        raise JournalError("the journal cannot be read", "look at the disk")

    with monkeypatch.context() as patch:
        patch.setattr(module, "general_answers", breaks)
        with pytest.raises(JournalError):
            recall.find(ASKED)
    assert recall.find(ASKED) is not None


def test_what_lessons_say_is_folded_once(
    tiny_place: Place, recall: LessonRecall, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = tiny_place[2]
    teach(journal, lesson("Who winds the tower clock?", "Ottokar winds it."))
    recall.answers_near(ASKED)
    said = list[str]()

    def counted(text: str) -> str:
        said.append(text)
        return fold(text)

    monkeypatch.setattr(meant, "fold", counted)
    teach(journal, lesson("Who oils the tower clock?", "Ludmilla oils it."))
    recall.answers_near(ASKED)
    assert sorted(said) == ["Ludmilla oils it.", "Who oils the tower clock?"], "what is new"
