"""The shipped model and the caches beside it."""

from __future__ import annotations

from engine.storage.checkpoint import load_model
from engine.tokenizers.load import load_tokenizer
from learning.evaluate import greedy_answer
from learning.memory.book_rows import book_examples
from learning.memory.margins import MarginTracker
from learning.memory.own_talk import own_talk, talk_rows
from learning.models.files import TALK
from learning.models.store import SHIPPED
from learning.objectives.forward import knowledge
from personality.book import shipped_book_path

KNOWN = {
    "What is a volcano?": "mountain",
    "what colour is snow": "white",
    "What is the opposite of tall?": "short",
    "Where is the Eiffel Tower?": "Paris",
    "How many legs does a spider have?": "eight",
}
"""Questions that no line of the book answers, and a word of the answer."""


def test_margins_beside_the_10m_are_those_of_its_weights() -> None:
    folder = SHIPPED / "10m"
    model, tokenizer = load_model(folder), load_tokenizer(folder)
    book = book_examples(tokenizer, [shipped_book_path()], model.config.context)
    tracker = MarginTracker()
    tracker.load(folder / "watch.json", 0, book)
    assert len(tracker) == len(book), "make watch.json anew where the book or the weights change"
    assert tracker.recall(book) >= 0.95
    some = book[::20]
    for example, item in zip(some, knowledge(model, some), strict=True):
        assert abs(item.margin - tracker.margin(example)) < 0.5


def test_the_10m_knows_its_book_and_keeps_what_its_base_knows() -> None:
    folder = SHIPPED / "10m"
    model, tokenizer = load_model(folder), load_tokenizer(folder)
    book = book_examples(tokenizer, [shipped_book_path()], model.config.context)
    assert all(item.known for item in knowledge(model, book))
    said = {q: greedy_answer(model, tokenizer, (("user", q),)) for q in KNOWN}
    assert all(word in said[question] for question, word in KNOWN.items()), said


def test_talk_beside_the_shipped_models_is_as_much_as_they_would_dream() -> None:
    for name in ("10m", "10m-base"):
        folder = SHIPPED / name
        model, tokenizer = load_model(folder), load_tokenizer(folder)
        assert (folder / TALK).is_file()
        assert len(own_talk(model, tokenizer, folder)) > 0.9 * talk_rows(model)
