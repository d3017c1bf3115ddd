"""learning.text.kinds.articles: "a" and "an", by the sound of the word."""

from __future__ import annotations

import pytest

from learning.text.kinds.articles import with_article

_AN = """
owl|umbrella|uncle|old hat|hour|hourglass|heirloom|honest man|honorary title|unidentified object
uninvited guest|unimportant letter|urgent letter|usher|utter mess|iPhone|Opel|onion|onerous duty|éclair
MRI|MRI scan|MP3 player|X-ray|x-ray|F16|F-16|L-shaped room|FBI agent|SUV|LED lamp|HIV test|AI|Übermensch
EU passport|e-bike|upturned boat
8|8-bit computer|80-year-old|11th hour|18-wheeler|"owl"|(old) hat|UMBRELLA
"""
_A = """
dog|university|uniform|unicorn|union|unit|European|euro|ewe|one-way street|one|once-over|user|utility
utensil|uranium mine|urologist|ukulele|Ukrainian|ufo|Ugandan|hotel|herb|house|houri|yurt|Ouija board|my dog
USB stick|UK passport|UFO|U-turn|T-shirt|BBC show|SIM card|NASA mission|HAT|DVD|7|110|180-page book|1|"dog"|?
"""


def _words(text: str) -> list[str]:
    return text.strip().replace("\n", "|").split("|")


@pytest.mark.parametrize("word", _words(_AN))
def test_before_a_vowel_sound_stands_an(word: str) -> None:
    assert with_article(word) == f"an {word}"


@pytest.mark.parametrize("word", _words(_A))
def test_before_other_sounds_stands_a(word: str) -> None:
    assert with_article(word) == f"a {word}"


def test_no_word_gets_a() -> None:
    assert with_article("") == "a "
