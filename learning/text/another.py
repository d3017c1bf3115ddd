"""Whether a message asks something else than a taught question, although nearly all words are the same.

If the owner taught "What is my sister called?", then "What is Tom's sister called?" and "What is my brother
called?" ask something else. "What do I do after work?" asks something else than "What do I do before work?".
The rules compare words and do not know meanings; in doubt the function returns False. English. Imports no
torch.
"""

from __future__ import annotations

import re
from functools import lru_cache

from learning.text.content import content_words
from learning.text.normalise import fold


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_HAS = re.compile(r"([^\W\d_][\w-]*)['’]s\b", re.IGNORECASE)
"""The owner of something: the word before "'s"."""
_NO_OWNER = _words("""what who where when why how which that this it here there he she let everything
something nothing today tomorrow yesterday tonight year month week day morning evening night""")
"""Words before "'s" that own nothing: "what's", "today's"."""
_DOES = re.compile(
    r"\b(?:does|did|is|was|has|must|can|could|should|will|would)(?:n['’]t)? (?:(?:my|our) )?([^\W\d_][\w-]*)",
    re.IGNORECASE,
)
"""The subject behind a verb that asks."""
_NO_SUBJECT = _words("""i we me us you he she it they my our your his her their this that these those there
the a an any some no not one""")
_HIMSELF = re.compile(r"\b(?:i|we)\b")
_NAME = {"call": "nam"}
_INSTEAD = """
mother|mum|mom|mam|mummy|mommy father|dad|daddy|papa sister brother aunt|auntie uncle cousin niece
nephew son daughter grandmother|grandma|gran|granny|nan|nana grandfather|grandpa|granddad wife
husband girlfriend boyfriend neighbour|neighbor landlord|landlady boss colleague friend teacher
doctor dentist

dog cat parrot hamster rabbit horse fish

car bike|bicycle boat van motorbike|motorcycle

before after

last next

yesterday today tomorrow

morning noon evening|night

spring summer autumn|fall winter

monday|mondays tuesday|tuesdays wednesday|wednesdays thursday|thursdays friday|fridays
saturday|saturdays sunday|sundays

january february march april may june july august september october november december

breakfast lunch dinner|supper

best worst

most least
"""
"""Paragraph by paragraph: words that stand in each other's place and mean something else; "|" stands between
those that mean the same."""
_PLACES = {
    word: (row, names)
    for row, words in enumerate(_INSTEAD.split("\n\n"))
    for names in words.split()
    for word in names.split("|")
}
"""Word -> (the number of its paragraph, all that mean the same)."""


@lru_cache(maxsize=1 << 15)
def asked_words(text: str) -> frozenset[str]:
    """The content words of a question; "called" counts as "name"."""
    return frozenset(_NAME.get(word, word) for word in content_words(text))


@lru_cache(maxsize=1 << 15)
def fixed_words(question: str) -> frozenset[str]:
    """The `asked_words` that every message must contain for which `asks_another` returns True: all but names
    and the words of `_INSTEAD`. A set comparison, to skip most questions quickly."""
    replaced = " ".join([*_named(question), *(w for w in _split(question) if w in _PLACES)])
    return asked_words(question) - asked_words(replaced)


def asks_another(message: str, question: str, answer: str) -> bool:
    """Whether the message asks what a taught question asks, but of something else.

    Somebody else whom question and answer do not mention owns what is asked for ("Tom's sister", for "my
    sister"); or it is asked of somebody else than the owner or the one who is named ("What does Tom drink at
    parties?", for "What do I drink at parties?"); or another relation, animal, time or the like stands in a
    word's place. All other content words of the question must stand in the message: "Ingrid's number" may
    well be "my sister's number".
    """
    asked = asked_words(question)
    if not asked:
        return False
    owners, named = _owners(question), _named(question)
    there = {*fold(question).split(), *fold(answer).split(), *_folded(owners | _owners(answer))}
    others = _folded(_owners(message))
    of_himself = _HIMSELF.search(fold(question)) and not _HIMSELF.search(fold(message))
    if of_himself or named & _subjects(question):
        others |= _folded(_subjects(message))
    replaced = _replaced(message, question, answer)
    rest = asked - asked_words(" ".join([*named, *replaced]))
    return bool(others - there or replaced) and rest <= asked_words(message)


def owned(text: str) -> frozenset[tuple[int, str]]:
    """The relations, animals and the like that a text calls the listener's ("your sister"), as `_PLACES` has
    them."""
    words = _split(text)
    pairs = zip(words, words[1:], strict=False)
    return frozenset(
        _PLACES[word] for before, word in pairs if before == "your" and word in _PLACES
    )


def put_in_place(text: str, question: str, answer: str) -> frozenset[str]:
    """What a text calls the listener's in the place of something alike in the taught answer: {"cat"} for
    "Your cat is called Clover.", where "Your rabbit is called Clover." was taught. Empty if the question or
    the answer speaks of it too, or if the text speaks of both."""
    mine, taught = owned(text), owned(answer)
    rows = {row for row, _ in taught - _places(text)}
    found = mine - _places(question) - _places(answer)
    return frozenset(word for row, names in found if row in rows for word in names.split("|"))


def _replaced(message: str, question: str, answer: str) -> set[str]:
    """Words of the question in whose place the message has others of their paragraph of `_INSTEAD`."""
    said, asked = _places(message), _places(question)
    rows = {row for row, _ in said - asked - _places(answer)}
    return {word for row, names in asked - said if row in rows for word in names.split("|")}


def _places(text: str) -> set[tuple[int, str]]:
    return {_PLACES[word] for word in _split(text) if word in _PLACES}


def _split(text: str) -> list[str]:
    return fold(text.replace("\u2019", "'").replace("'s", " ")).split()


def _named(text: str) -> frozenset[str]:
    """Whom a question names as owner or subject."""
    return frozenset(word for word in (*_owners(text), *_subjects(text)) if word[0].isupper())


def _owners(text: str) -> frozenset[str]:
    return frozenset(word for word in _HAS.findall(text) if word.lower() not in _NO_OWNER)


def _subjects(text: str) -> frozenset[str]:
    return frozenset(
        word for word in _DOES.findall(text) if word.lower() not in _NO_SUBJECT | _NO_OWNER
    )


def _folded(words: frozenset[str]) -> frozenset[str]:
    return frozenset(word.lower() for word in words)
