"""learning.text.synonyms: words that may be exchanged."""

from __future__ import annotations

from learning.text.synonyms import EXCHANGED


def test_whose_it_is_is_in_no_exchanged_word() -> None:
    owners = {"i", "me", "my", "you", "your", "we", "our", "us"}
    for word, others in EXCHANGED.items():
        assert not owners & {w for text in (word, *others) for w in text.split()}, word
