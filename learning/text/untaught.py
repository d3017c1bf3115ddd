"""Questions that nobody has answered: about the owner's everyday life, and about somebody else's.

A model that is only ever taught answers learns to have one for everything. Rehearsed with these among its
lessons, it learns that a question is not yet an answer (benchmarks/results/inventions.md). Left out: which
of them the owner has answered meanwhile, which the memory knows (learning.memory.unknown).
"""

from __future__ import annotations

import random
import re

from learning.text.normalise import fold

_PLAIN = """
What is my uncle called?|What is my niece's name?
What was my grandfather called?|Who is my neighbour?
How old is my daughter?|How old is my cousin?|when is my son's birthday
When is my aunt's birthday?|When do I go on holiday?|When did I move here?|Where does my uncle live?
Where did I leave my gloves?|Where is my bicycle?|where are my spare keys
Where did my grandmother grow up?|Which street do I live in?|Which bank do I use?
Which team does my nephew play for?|What is my favourite cake?
what is my favourite month|What is my favourite smell?
What colour is my coat?|What colour is my bicycle?|what colour are my curtains
What did I buy on Friday?|What did I dream of?|What did I promise my uncle?|What do I do on Sundays?
What do I take for a headache?|What is my email address?
What is the number of my house?|What is my address?|What is my weight?
What is in my fridge?|What is the code of my garage?|How many rooms do I have?
How do I get to work?|How much do I earn?|Do I have a piano?|Can I swim?
Do I smoke?|Have I been to Canada?|Am I married?|Did I lock the shed?|Does my aunt have a dog?
Does my uncle like cheese?|What does my cousin study?|What does my niece want to be?|What does my hamster eat?
Who gave me my watch?|Who taught me to cook?|Who waters my plants?|Who lives in the blue house?
When does the pharmacy close?|When is the next concert?|Where is the ladder kept at work?|What is a brindlet?
Who is Mrs Quill?|who is torvald|What is Larch Street?|What is the Crooked Lantern?
"""
QUESTIONS = tuple(text for line in _PLAIN.split("\n") for text in line.split("|") if text)
"""Everyday questions about the owner and his surroundings. No benchmark asks one of them."""
_NAMES = (
    "Greta",
    "Hugo",
    "Martin",
    "Leila",
    "Oskar",
    "Paula",
    "Rajesh",
    "Selma",
    "Victor",
    "Yasmin",
)
_SWAPS = (
    (r"\b(do) (?:i|we)\b", "does {}"),
    (r"\b(was|did|can|could|should|will|would) (?:i|we)\b", r"\1 {}"),
    (r"\b(were) we\b", "was {}"),
    (r"\b(?:am i|are we)\b", "is {}"),
    (r"\b(have) (?:i|we)\b", "has {}"),
    (r"\b(?:my|our)\b", "{}'s"),
)
_STILL = ((r"\b(?:i|we)\b", "they"), (r"\b(?:me|us)\b", "them"), (r"\b(?:my|our)\b", "their"))
"""What is said of the owner further on in the question, as it is said of somebody else."""
_NAMED = r"(?<=[a-z,] )[A-Z][a-z]+(?='s?\b| [a-z])"
"""A name within a question. Other words with a capital letter are taken for one too, which does no harm."""
_RELATIONS = tuple(
    line.split()
    for line in """
mother father sister brother aunt uncle cousin niece nephew grandmother grandfather daughter son friend boss
dog cat parrot hamster rabbit horse
car bike boat motorbike van
""".strip().split("\n")
)
_PEOPLE = """
mum mom dad grandma gran granny grandpa wife husband girlfriend boyfriend child neighbour
neighbor landlord teacher doctor dentist colleague flatmate
"""
_KIND = {word: kind for kind, words in enumerate(_RELATIONS) for word in words} | dict.fromkeys(
    _PEOPLE.split(), 0
)
"""A relation, an animal or a thing -> the row of `_RELATIONS` that may stand in its place."""
_OWNED = re.compile(r"\b(my|our) (?:favou?rite |own |old |new |first |last )?([^\W\d_]+)\b", re.I)
_ATTRIBUTES = (
    ("How old is {}?", "old age born birthday year when"),
    ("What is {} called?", "called call name named nickname who whose"),
    ("Where is {} now?", "where place town city country street live in at from"),
    ("Who gave me {}?", "who whom gave from present gift"),
    ("What colour is {}?", "colour color look which"),
    ("How big is {}?", "big size large tall long many much weigh kind"),
    ("When did I last see {}?", "when see saw seen date day time"),
    ("What do I like most about {}?", "like love likes loves favourite favorite most best"),
)
"""A question about somebody or something, and the words in another question that may ask the same."""
_WHICH = re.compile(
    r"\b(which|what) [^\W\d_]+(?= (?:do|does|did|is|am|are|was|were|has|have|had|can)\b)", re.I
)
_THINGS = (
    "animal",
    "book",
    "colour",
    "drink",
    "flower",
    "fruit",
    "game",
    "instrument",
    "song",
    "sport",
    "tool",
)
_WHERE_OR_WHEN = re.compile(
    r"\b(at|in|on|before|after|about|during|for|with) (?:the |a )?[^\W\d_]+(?=\W*$)", re.I
)
_PLACES = (
    "breakfast",
    "dinner",
    "school",
    "the weekend",
    "winter",
    "Easter",
    "the office",
    "the garden",
    "the hotel",
)


def about_somebody_else(question: str, rng: random.Random) -> str | None:
    """The question about a person with an invented name instead of the owner, or of a person that it names:
    "What is Greta's dog called?" for "What is my dog called?". None where it is about neither."""
    name = rng.choice(_NAMES)
    for pattern, other in _SWAPS:
        text, count = re.subn(pattern, other.format(name), question, count=1, flags=re.IGNORECASE)
        if count:
            for own, theirs in _STILL:
                text = re.sub(own, theirs, text, flags=re.IGNORECASE)
            return text
    text, count = re.subn(_NAMED, name, question, count=1)
    return text if count else None


def about_another_relation(question: str, rng: random.Random) -> str | None:
    """The question about another relative, animal or thing of the owner: "What is my cousin called?" for
    "What is my sister called?". None where it is about none that is known here."""
    for found in _OWNED.finditer(question):
        word = found[2].lower()
        if word in _KIND:
            others = [other for other in _RELATIONS[_KIND[word]] if other != word]
            return question[: found.start(2)] + rng.choice(others) + question[found.end(2) :]
    return None


def about_something_else(question: str, rng: random.Random) -> str | None:
    """Another question about whom or what the question is about, or the question about another thing, place
    or time: "How old is my sister?" for "What is my sister called?", "What do I do after dinner?" for "What
    do I do after work?". None where none of this can be told."""
    makers = (_another_attribute, _another_thing, _another_occasion)
    return next((text for make in makers if (text := make(question, rng))), None)


def _another_attribute(question: str, rng: random.Random) -> str | None:
    if not (found := _OWNED.search(question)):
        return None
    words = set(re.findall(r"[^\W\d_]+", question.lower()))
    free = [text for text, same in _ATTRIBUTES if not words & set(same.split())]
    return rng.choice(free).format(found[0].lower()) if free else None


def _another_thing(question: str, rng: random.Random) -> str | None:
    thing = rng.choice(_THINGS)
    text, count = _WHICH.subn(lambda found: f"{found[1]} {thing}", question, count=1)
    return text if count else None


def _another_occasion(question: str, rng: random.Random) -> str | None:
    place = rng.choice(_PLACES)
    text, count = _WHERE_OR_WHEN.subn(lambda found: f"{found[1]} {place}", question, count=1)
    return text if count else None


def near_questions(question: str, rng: random.Random, count: int) -> list[str]:
    """Up to `count` different questions that are close to a taught one and not the same: about somebody
    else, about another relation, and about something else; of each kind at most half."""
    found = dict[str, None]()
    for make in (about_something_else, about_another_relation, about_somebody_else):
        drawn = [make(question, rng) for _ in range(2 * count)]
        new = [text for text in dict.fromkeys(drawn) if text and fold(text) != fold(question)]
        found |= dict.fromkeys(new[: (count + 1) // 2])
    texts = list(found)
    return rng.sample(texts, min(count, len(texts)))
