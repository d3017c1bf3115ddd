"""Which lessons a message may mean, by its words alone (nearness: learning.teacher.recall)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from learning.journal.contradictions import as_changed, asked_alone, same_person
from learning.protocol.records import Lesson
from learning.text.content import content_words
from learning.text.normalise import fold
from learning.text.questions.another import asks_another, leaves_out_the_owner
from learning.text.questions.asked_for import fits
from learning.text.questions.asking import asks_in_any_order, asks_in_english, states

NEWEST = 5_000
"""Most lessons that can be recalled, the newest."""
_NAME = re.compile(r"\b[A-Z]\w+")


@lru_cache(maxsize=1 << 15)  # questions and answers of ten thousand lessons
def folded(text: str) -> str:
    """`fold` of what a lesson asks or answers."""
    return fold(text)


@lru_cache(maxsize=1 << 15)
def _said_in(*texts: str) -> frozenset[str]:
    """Content words of what a lesson asks or answers."""
    return content_words(" ".join(texts))


def recallable(lessons: Sequence[Lesson]) -> list[Lesson]:
    """Of lessons that stand, oldest first: those with an answer to a question that makes sense alone, the
    newest of each question, at most NEWEST. One that a later lesson changes has the later one's answer
    (`as_changed`); one that a later lesson on a statement tells otherwise is left out."""
    latest: dict[str, Lesson] = {}
    for lesson in as_changed(lessons):
        if not lesson.prompt or not lesson.prompt[-1].text.strip():
            continue
        question = lesson.prompt[-1].text
        # an answer that is only to be avoided ends an earlier one too
        latest.pop(folded(question), None)
        if lesson.answer and asked_alone(lesson):
            latest[folded(question)] = lesson
    return _without_told_otherwise(list(latest.values())[-NEWEST:])


def _without_told_otherwise(lessons: Sequence[Lesson]) -> list[Lesson]:
    """Without the lessons that a later lesson on a statement tells otherwise. "My sister lives in Oslo now."
    speaks of all that "Where does my sister live?" asks for, and says something new."""
    told: dict[str, list[tuple[int, Lesson, frozenset[str]]]] = {}
    for place, lesson in enumerate(lessons):
        if states(question_of(lesson)):
            words = _said_in(question_of(lesson), lesson.answer)
            for word in words:
                told.setdefault(word, []).append((place, lesson, words))

    def told_otherwise(place: int, lesson: Lesson) -> bool:
        asked = _said_in(question_of(lesson))
        fact = _said_in(lesson.answer) - asked
        speak_of_it = min((told.get(word, []) for word in asked), key=len, default=[])
        return any(
            later > place
            and asked <= words
            and not fact <= words
            and tells_more(lesson, question_of(other))
            for later, other, words in speak_of_it
        )

    return [one for place, one in enumerate(lessons) if not told or not told_otherwise(place, one)]


def said_otherwise(lesson: Lesson, said: Iterable[str]) -> bool:
    """Whether the owner has said something of what the lesson's question asks about that the lesson does not
    tell: "My sister moved to Oslo."."""
    about = content_words(question_of(lesson))
    return any(about & content_words(text) and tells_more(lesson, text) for text in said)


def _asks(lesson: Lesson) -> bool:
    """Whether it answers a question that makes sense alone, and no greeting or remark."""
    return asked_alone(lesson) and asks_in_english(question_of(lesson))


def general_answers(lessons: Sequence[Lesson]) -> frozenset[str]:
    """Folded answers that may fit any question. A lesson teaches such an answer to a greeting or a remark, or
    no lesson teaches it to an English question that makes sense alone."""
    remarks = {
        folded(x.answer) for x in lessons if x.prompt and not asks_in_any_order(question_of(x))
    }
    asked = {folded(x.answer) for x in lessons if _asks(x)}
    return frozenset(remarks | ({folded(x.answer) for x in lessons} - asked))


def may_be_meant(lesson: Lesson, message: str) -> bool:
    """Whether nothing in the words of the message speaks against it."""
    return _of_whom(lesson, message) and _of_this(lesson, message)


def may_concern(lesson: Lesson, message: str) -> bool:
    """Whether it may be meant. Also if the message has a name out of the answer and speaks neither of the
    owner nor of Vidya: "Biscotti's bed, which spot is it?"."""
    named = has_its_name(lesson, message) and same_person(message, question_of(lesson))
    return (named or _of_whom(lesson, message)) and _of_this(lesson, message)


def _of_whom(lesson: Lesson, message: str) -> bool:
    """Whether the message speaks of the owner or Vidya as the lesson does, or does not say whose it is."""
    question = question_of(lesson)
    return same_person(question, message) or leaves_out_the_owner(message, question, lesson.answer)


def has_its_name(lesson: Lesson, message: str) -> bool:
    """Whether the message has a name that the answer told."""
    told = content_words(" ".join(_NAME.findall(lesson.answer)))
    return bool((told - content_words(question_of(lesson))) & content_words(message))


def _of_this(lesson: Lesson, message: str) -> bool:
    """Whether the message asks for nothing that the lesson cannot answer."""
    question, answer = question_of(lesson), lesson.answer
    if tells_more(lesson, message):
        return False
    return not asks_another(message, question, answer) and fits(message, question, answer)


def tells_more(lesson: Lesson, message: str) -> bool:
    """Whether the message states what the lesson does not say, though the lesson answers a question: "My
    sister lives in Oslo now.", where the sister was said to live in Tromso."""
    question = question_of(lesson)
    if not states(message) or not asks_in_any_order(question):
        return False
    return not _said_in(message) <= _said_in(question, lesson.answer)


def question_of(lesson: Lesson) -> str:
    """What it answers."""
    return lesson.prompt[-1].text
