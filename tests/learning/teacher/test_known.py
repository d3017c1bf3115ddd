"""What counts as taught, of books and lessons."""

from __future__ import annotations

from learning.protocol.records import Lesson, Turn
from learning.teacher.known import Known
from personality.book import BookEntry, parse_line

QUESTION = "Where do I live?"
PROMPT = (Turn("user", QUESTION),)
FOLDED = "where do i live"


def test_an_answer_that_was_only_rejected_since_is_not_taught_any_more() -> None:
    entry = BookEntry(parse_line(f"<|user|> {QUESTION} <|assistant|> In Rome."), 1, "")
    picked = Lesson("pick", PROMPT, "In Oslo.", id=1)
    bad = Lesson("rating", PROMPT, "", ("In Oslo.",), id=2)
    assert Known.of((entry,), (picked,)).latest == {FOLDED: "in oslo"}
    known = Known.of((entry,), (picked, bad))
    assert known.answers == {FOLDED: frozenset({"in rome"})}
    assert known.latest == {FOLDED: "in rome"}
    again = Known.of((entry,), (picked, bad, picked))
    assert again.latest == {FOLDED: "in oslo"}, "taught once more"
    also = Lesson("rating", PROMPT, "", ("In Rome.",), id=3)
    assert Known.of((entry,), (picked, bad, also)).answers == {}


def test_a_later_lesson_in_other_words_changes_lessons_and_the_book() -> None:
    entry = BookEntry(
        parse_line("<|user|> What is your name? <|assistant|> My name is Vidya."), 1, ""
    )
    first = Lesson("example", PROMPT, "You live in Oslo.", id=1, state="learned")
    town = (Turn("user", "In which town do I live?"),)
    moved = Lesson("example", town, "You live in Bergen now.", id=2, state="waiting")
    name = (Turn("user", "What should I call you?"),)
    renamed = Lesson("example", name, "Call me Max.", id=3, state="learned")
    known = Known.of((entry,), (first, moved, renamed))
    assert known.latest == {
        FOLDED: "you live in bergen now",
        "in which town do i live": "you live in bergen now",
        "what is your name": "call me max",
        "what should i call you": "call me max",
    }
    assert known.waiting == {FOLDED, "in which town do i live"}
