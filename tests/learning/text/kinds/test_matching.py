"""learning.text.kinds.matching: which lines a text has the form of."""

from __future__ import annotations

from learning.text.kinds.matching import all_readings, readings, tree, words_of
from learning.text.kinds.relations import QuestionKind

NAME = QuestionKind("name", "me", {"K": "pet"}, {}, {}, one=True)
PLACE = QuestionKind("place", "any", {"X": "*"}, {}, {}, one=True)
ROOT = tree(
    [
        (NAME, "My {K} is called {X}."),
        (NAME, "My {K} is happy."),
        (PLACE, "{Whose} {X} is happy."),
        (PLACE, "{Who} <live> in {X}."),
    ]
)


def test_a_text_has_the_form_of_the_lines_that_it_fills() -> None:
    (found,) = readings(ROOT, words_of("My brother lives in New York!"), folded=True)
    assert (found.relation.name, found.person.text) == ("place", "brother")
    assert found.slots["X"].text == "New York"
    assert not readings(ROOT, words_of("My brother live in New York"), folded=True), "the verb"
    assert not readings(ROOT, words_of("My brother lives in"), folded=True)
    assert not readings(ROOT, words_of("We live in what you see"), folded=True), "a clause"


def test_the_best_line_has_most_of_the_words() -> None:
    words = words_of("my dog is happy")
    assert {
        one.relation.name for _, one in all_readings(ROOT, words, (len(words),), folded=True)
    } == {
        "name",
        "place",
    }
    assert [one.relation.name for one in readings(ROOT, words, folded=True)] == ["name"]
    begun = all_readings(ROOT, words_of("I live in Oslo since May"), (4,), folded=True)
    assert [one.slots["X"].text for _, one in begun] == ["Oslo"], "the words before an end"


def test_long_texts_and_those_with_marks_of_blanks_have_no_words() -> None:
    assert words_of("I live in {X}") == [] and words_of("word " * 40) == []
    assert [word.text for word in words_of("We live here, please")] == ["i", "live", "here"]
