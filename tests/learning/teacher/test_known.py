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
