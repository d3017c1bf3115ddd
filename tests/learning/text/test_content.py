from __future__ import annotations

from learning.text.content import content_words


def test_words_of_grammar_and_endings_are_left_out() -> None:
    assert content_words("Where does plastic come from?") == content_words("Plastic comes.")
    assert content_words("What is it that you do?") == frozenset()
    assert content_words("the dog's well-known name") == content_words("names known, well: dog")
    assert content_words("Oslo") != content_words("Norway")
