"""Whom a question is about: whether it asks of somebody else what a taught question asks.

"What is Tom's sister called?" is not what "What is my sister called?" taught, although nearly all words are
the same. Tells by forms of words alone; where it cannot tell, it says no. English. Imports no torch.
"""

from __future__ import annotations

import re

from learning.text.content import content_words
from learning.text.normalise import fold


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_HAS = re.compile(r"([^\W\d_][\w-]*)['’]s\b", re.IGNORECASE)
"""Somebody before "'s"."""
_IS = _words("""what who where when why how which that this it here there he she let everything something
nothing today tomorrow yesterday tonight year month week day morning evening night""")
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
"""What something is called is its name."""


def about_another(message: str, question: str, answer: str) -> bool:
    """Whether the message asks what a taught question asks, but of somebody whom question and answer do not
    mention.

    Either somebody else owns what is asked for ("Tom's sister", for "my sister"), or it is asked of somebody
    else than the owner or the one who is named ("What does Tom drink at parties?", for "What do I drink at
    parties?"). All content words of the question but that name must stand in the message: "Ingrid's number"
    may well be "my sister's number".
    """
    owners, subjects = _owners(question), _subjects(question)
    named = frozenset(word for word in (*owners, *subjects) if word[0].isupper())
    there = {*fold(question).split(), *fold(answer).split(), *_folded(owners | _owners(answer))}
    others = _folded(_owners(message))
    of_himself = _HIMSELF.search(fold(question)) and not _HIMSELF.search(fold(message))
    if of_himself or named & subjects:
        others |= _folded(_subjects(message))
    asked = _asked(question) - _asked(" ".join(named))
    return bool(others - there) and bool(asked) and asked <= _asked(message)


def _owners(text: str) -> frozenset[str]:
    return frozenset(word for word in _HAS.findall(text) if word.lower() not in _IS)


def _subjects(text: str) -> frozenset[str]:
    return frozenset(word for word in _DOES.findall(text) if word.lower() not in _NO_SUBJECT | _IS)


def _folded(words: frozenset[str]) -> frozenset[str]:
    return frozenset(word.lower() for word in words)


def _asked(text: str) -> frozenset[str]:
    return frozenset(_NAME.get(word, word) for word in content_words(text))
