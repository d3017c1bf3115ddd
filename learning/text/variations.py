"""Rewords an English question by rules, so that the model learns more than one exact wording of it.

A model that is taught one wording learns only that wording. The rules put the question into templates
("Tell me, ...", "Do you know ...?"), drop some function words or all of them, and imitate careless typing.
They never drop pronouns: "my name" and "your name" are different questions. Left out, because they gained
nothing (benchmarks/results/recipe.md): grammar and a list of synonyms.
"""

from __future__ import annotations

import random

_ASKED = {"what", "who", "where", "when", "why", "how", "which", "what's", "am", "who's", "where's"}
_ASKED |= {"when's", "how's"}
_SMALL = {"a", "an", "the", "is", "are", "was", "were", "do", "does", "did", "of", "to", "in", "on"}
_SMALL |= {"at", "for", "with", "by", "so", "and", "please", "be"}
_REQUEST = {"tell", "give", "show"}
_DIRECT = (
    "{}?",
    "{}?",
    "{}?",
    "{} again?",
    "{}, please?",
    "{}, do you know?",
    "{}, do you remember?",
    "So, {}?",
    "And {}?",
    "Hey, {}?",
    "Vidya, {}?",
    "Tell me, {}?",
    "{} now?",
    "{}, again?",
)
_CLAUSE = (
    "Tell me {}.",
    "Can you tell me {}?",
    "Do you know {}?",
    "Do you remember {}?",
    "Remind me {}.",
    "Please tell me {}.",
    "I would like to know {}.",
    "I forgot {}.",
    "Could you say {}?",
    "Any idea {}?",
)
_THING = (
    "{}?",
    "{} please",
    "Tell me {}.",
    "Tell me about {}.",
    "Do you know {}?",
    "Do you remember {}?",
    "What about {}?",
    "Name {}.",
    "Say {}.",
    "Give me {}.",
    "Remind me of {}.",
    "I forgot {}.",
    "What do you know about {}?",
)
_LOOSE = (
    "{}",
    "{}?",
    "{}, which one?",
    "{}: what was it?",
    "about {}",
    "a question about {}",
    "and {}, you know?",
    "which is it, {}?",
)
_WEIGHTS = (9, 5, 6, 4)
"""Relative frequencies of _DIRECT, _CLAUSE, _THING and _LOOSE."""


def variations(question: str, count: int, rng: random.Random) -> list[str]:
    """Up to `count` different rewordings of the question, none of them the question itself; fewer if the
    rules give no more in 4 * count draws."""
    found: dict[str, str] = {}
    own = _plain(question)
    for _ in range(4 * count):
        text = _vary(question, rng)
        key = _plain(text)
        if key and key != own:
            found.setdefault(key, text)
        if len(found) == count:
            break
    return list(found.values())


def _vary(question: str, rng: random.Random) -> str:
    body = " ".join(question.split()).rstrip("?!. ")
    text = _asked_otherwise(body, rng)
    if rng.random() < 0.2:
        text = _without_small_words(text, rng)
    return careless(text, rng)


def _asked_otherwise(body: str, rng: random.Random) -> str:
    """Puts the whole question, or only its content words, into a random template."""
    frames = rng.choices((_DIRECT, _CLAUSE, _THING, _LOOSE), _WEIGHTS)[0]
    frame, text = rng.choice(frames), body
    if frames in (_THING, _LOOSE):
        text = _bag(body)
    return frame.format(text if frame.startswith("{") else _lower_first(text))


def _bag(body: str) -> str:
    """The content words in lower case; the whole text if it has none."""
    words = [w for w in body.lower().split() if w not in _SMALL | _ASKED]
    words = words[2:] if words[1:2] == ["me"] and words[0] in _REQUEST else words
    return " ".join(words) or body


def _without_small_words(text: str, rng: random.Random) -> str:
    words = text.split()
    kept = [w for w in words if w.lower().rstrip("?!.,") not in _SMALL or rng.random() < 0.4]
    return " ".join(kept) if len(kept) > 1 else text


def careless(text: str, rng: random.Random) -> str:
    """The text as people type it: sometimes without capitals, final punctuation or apostrophes."""
    draw = rng.random()
    if draw < 0.08:
        return text.rstrip("?!.").lower().replace("'", "")
    if draw < 0.3:
        return text.rstrip("?!.").lower()
    if draw < 0.4:
        return text.lower()
    return text[:1].upper() + text[1:]


def _lower_first(text: str) -> str:
    return text if text[:2] in ("I ", "I'") else text[:1].lower() + text[1:]


def _plain(text: str) -> str:
    """The text with each run of white space as one space."""
    return " ".join(text.split())
