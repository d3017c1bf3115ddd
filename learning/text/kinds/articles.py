"""The indefinite article of a word, by its sound: a dog, an hour, a university, an MRI scan.

Imports nothing else of learning. Words that people say in two ways (hotel, herb) take "a". Left out: short
words in capitals that are read as a word although their second letter is a consonant (SWAT).
"""

from __future__ import annotations

import re
import unicodedata

_UNSPOKEN = re.compile(r"^\W+")
"""Quotes and brackets before the first word."""
_SPELLED = re.compile(
    r"([A-Za-z]|[A-Z]\d+|[A-Z][B-DF-HJ-NP-TV-Z][A-Z\d]{0,2}s?|EU|FAQs?|HIV|LEDs?|SOS|SUVs?)(?![\w'’])"
)
"""What is said letter by letter: one letter, as in X-ray and F16, and short words in capitals whose second
letter is a consonant (MRI). With a vowel there, most are read as words (SIM, NASA); the others are listed."""
_VOWEL_NAMES = frozenset("AEFHILMNORSX")
"""Letters whose names begin with a vowel sound: F is "eff"."""
_VOWEL_NUMBERS = re.compile(r"8|1[18](?!\d)")
"""Eight, eighty, eleven, eighteen."""
_CONSONANT_SOUNDS = re.compile(
    r"eu|ewe|on(e|ce)\b|oui|u(ni(?!n|m|dent|ron|ss)|k|[rt][aeiou]|s[aeiu]|tr|biq|fo|ga|ly|vu)"
)
"""Vowels that sound as in "you" and "won": Europe, university, use, one. Not: unimportant, unidentified."""
_SILENT_H = re.compile(r"hour(?!i)|heir|honest|honou?r")


def with_article(text: str) -> str:
    """The text with "a " or "an " before it, as its first word sounds."""
    return f"{'an' if _sounds_like_vowel(_UNSPOKEN.sub('', text)) else 'a'} {text}"


def _sounds_like_vowel(text: str) -> bool:
    """Whether the first sound of a text is a vowel. False for an empty text."""
    if _SPELLED.match(text):
        return text[0].upper() in _VOWEL_NAMES
    plain = unicodedata.normalize("NFD", text).casefold()  # an accent stands behind its letter
    if plain[:1] in tuple("aeiou"):
        return not _CONSONANT_SOUNDS.match(plain)
    return bool(_SILENT_H.match(plain) or _VOWEL_NUMBERS.match(plain))
