"""Questions that nobody has answered: about the owner's everyday life, and about somebody else's.

A model that is only ever taught answers learns to have one for everything. Rehearsed with these among its
lessons, it learns that a question is not yet an answer (benchmarks/results/inventions.md). Left out: which
of them the owner has answered meanwhile, which the memory knows (learning.memory.unknown).
"""

from __future__ import annotations

import random
import re

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
_NAMES = [
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
]
_SWAPS = (
    (r"\b(do) i\b", "does {}"),
    (r"\b(was|did|can|could|should|will|would) i\b", r"\1 {}"),
    (r"\b(am) i\b", "is {}"),
    (r"\b(have) i\b", "has {}"),
    (r"\bmy\b", "{}'s"),
)


def about_somebody_else(question: str, rng: random.Random) -> str | None:
    """The question about a person with an invented name instead of the owner: "What is Greta's dog called?"
    for "What is my dog called?". None where it is not about the owner."""
    name = rng.choice(_NAMES)
    for pattern, other in _SWAPS:
        text, count = re.subn(pattern, other.format(name), question, count=1, flags=re.IGNORECASE)
        if count:
            if re.search(r"\b(i|me|my|mine|we|us|our)\b", text, re.IGNORECASE):
                return None  # still about the owner too
            return text
    return None
