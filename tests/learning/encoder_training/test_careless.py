"""Texts as they are typed in a hurry."""

from __future__ import annotations

import random

from learning.encoder_training.careless import SHORTEST, careless

TEXT = "What's my sister's address, do you know?"


def test_marks_go_or_one_letter_of_a_long_word_is_wrong() -> None:
    found = {careless(TEXT, random.Random(seed)) for seed in range(200)}
    assert {TEXT, "Whats my sisters address do you know"} <= found
    for text in found:
        pairs = zip(TEXT.split(), text.split(), strict=True)
        wrong = [
            (a, b) for a, b in pairs if b not in (a, a.translate(str.maketrans("", "", "',?")))
        ]
        assert len(wrong) <= 1
        for right, other in wrong:
            assert len(right) >= SHORTEST and right[0] == other[0]
            assert abs(len(right.strip(",?")) - len(other.strip(",?"))) <= 2


def test_a_text_without_long_words_and_an_empty_one_stay_texts() -> None:
    for seed in range(20):
        assert careless("who is it", random.Random(seed)) == "who is it"
        assert careless("", random.Random(seed)) == ""
