"""Whether a message asks something else than a taught question, although nearly all words are the same; and
questions that do (`neighbours`).

If the owner taught "What is my sister called?", then "What is Tom's sister called?" and "What is my brother
called?" ask something else. "What do I do after work?" asks something else than "What do I do before work?".
The rules compare words and do not know meanings; in doubt the function returns False. English. Imports no
torch.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import chain, zip_longest

from learning.text.content import content_words
from learning.text.flaws import sentences_of
from learning.text.kinds.words import RELATIVES
from learning.text.normalise import fold, uncapitalised, word_set
from learning.text.questions.asking import IS
from learning.text.questions.numbers_named import names_another_number

_HAS = re.compile(r"(?<![\w-])([^\W\d_][\w-]*)(?:['’]s\b|(?<=s)['’](?=\s))", re.IGNORECASE)
"""The owner of something: the word before "'s", or one with "s'"."""
_NO_OWNER = word_set("""what who where when why how which that this it here there he she let everything
something nothing today tomorrow yesterday tonight year month week day morning evening night""")
"""Words before "'s" that own nothing: "what's", "today's"."""
_DOES = re.compile(
    r"\b(?:does|did|is|was|has|must|can|could|should|will|would)(?:n['’]t)? (?:(?:my|our) )?([^\W\d_][\w-]*)",
    re.IGNORECASE,
)
"""The subject behind a verb that asks."""
_NO_SUBJECT = word_set("""i we me us you he she it they my our your his her their this that these those there
the a an any some no not one""")
_DOES_RELATIVE = re.compile(r"\b(?:does|did) (?:my|our) ([\w-]+)(?! and\b)", re.IGNORECASE)
_HIMSELF = re.compile(r"\b(?:i|we)\b")
_NAME = {"call": "nam"}
_RELATIVES = {word: "|".join((word, *others)) for word, others in RELATIVES.items()}
_INSTEAD = """
{mother} {father} sister brother {aunt} uncle cousin niece nephew son daughter {grandmother} {grandfather}
wife husband girlfriend boyfriend neighbour|neighbor landlord|landlady boss colleague friend teacher
doctor dentist

dog cat parrot hamster rabbit horse fish

car bike|bicycle boat van motorbike|motorcycle

before after

last next

first second third fourth fifth

left right

oldest|eldest youngest

yesterday today tomorrow

morning noon evening|night

spring summer autumn|fall winter

monday|mondays tuesday|tuesdays wednesday|wednesdays thursday|thursdays friday|fridays
saturday|saturdays sunday|sundays

january february march april may june july august september october november december

breakfast lunch dinner|supper

best worst

most least
""".format(**_RELATIVES)
"""Paragraph by paragraph: words that stand in each other's place and mean something else; "|" stands between
those that mean the same."""
_PLACES = {
    word: (row, names)
    for row, words in enumerate(_INSTEAD.split("\n\n"))
    for names in words.split()
    for word in names.split("|")
}
"""Word -> (the number of its paragraph, all that mean the same)."""
_BEINGS = frozenset(word for word, (row, _) in _PLACES.items() if row < 2)
"""Relatives, people and animals."""
_POSSESSED = re.compile(rf"{_HAS.pattern} ((?:[\w-]+ ){{0,2}}[\w-]+)", re.IGNORECASE)
"""The owner of something, and the words behind him."""
_OTHER_KIN = re.compile(
    r"\b(?:(?:ex|step|half|great)-(\w+)|(\w+)[- ]in[- ]law|other (\w+))\b", re.IGNORECASE
)
_SUBJECT = re.compile(r"(?:my|our) ([\w-]+)", re.IGNORECASE)
NEIGHBOURS = 3
"""Most questions that `neighbours` returns."""
_SOMEBODY = ("Tom", "Peter", "Felix", "Simon")
_OWNER = re.compile(r"\b(?:my|our)\b", re.IGNORECASE)
_VIDYAS = re.compile(r"\byour\b", re.IGNORECASE)
_ASKS_OWNER = re.compile(
    r"\b(do|am|are|have|were|did|was|had|can|could|should|will|would|must) (?:i|we)\b",
    re.IGNORECASE,
)
"""The owner as the subject behind a verb that asks."""
_THIRD = {"do": "does", "am": "is", "are": "is", "have": "has", "were": "was"}
"""How a verb is said of somebody else; the others stay."""
_OBJECTS = {"my": "his", "our": "his", "me": "him", "us": "him", "myself": "himself"}
_OWNED = re.compile(r"\b(?:my|our) ([\w-]+)", re.IGNORECASE)
_SPOKEN_OF = re.compile(r"\b(?:i|im|ive|me|my|mine|we|weve|us|our|ours)\b", re.IGNORECASE)
_SOMEBODY_ELSE = re.compile(
    r"\b(?:you|your|yours|he|him|his|she|her|hers|they|them|their|one|somebody|someone|people)\b",
    re.IGNORECASE,
)
CAPITAL = re.compile(r"(?<=.)\b[A-Z]\w+")
"""A name, anywhere but at the beginning."""
_OF_WHAT = re.compile(
    r"\b(?:of|at|in|for|from|to|do|does|did) (?:the |an? )?([^\W\d_][\w-]+)", re.IGNORECASE
)
"""A noun behind a preposition, or a subject behind a verb that asks."""
_IN_GENERAL = re.compile(
    r"\b(?:an?|any|every|each|most|all|average|[\w-]{2,}est) (?:[\w-]+ )?([\w-]+)", re.IGNORECASE
)
"""Something that is nobody's: "a sister", "the safest car"."""
_LEFT = re.compile(rf"\b(?:{'|'.join(_OBJECTS)})\b", re.IGNORECASE)
_OTHER_SENSE = frozenset(("may", "march"))
"""Words of `_INSTEAD` that are verbs too."""
LETTERS = re.compile(r"[^\W\d_]+")


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


def of_somebody_else(message: str, told: str) -> bool:
    """Whether the message asks about somebody or something that the owner's words do not name: "What is Tom's
    sister called?", "What is the capital of France?", "Where does our cat sleep?" where only a dog was told
    of. Also if it asks about Vidya and not the owner. A question for a yes or no may name what was not told:
    "Is my sister called Astrid?"."""
    message = uncapitalised(message)
    if _YOU.search(message) and not _SPOKEN_OF.search(message):
        return True
    there = {*LETTERS.findall(told.lower())}
    there |= {word[:-1] for word in there if word.endswith("s")}  # imogens birthday

    def names_another(words: Iterable[str]) -> bool:
        letters = {part for word in words for part in LETTERS.findall(word.lower())}
        return not letters - _NO_NAMES <= there

    if names_another(_owners(message) | _named(message)):
        return True
    for sentence in sentences_of(message):
        if _YES_OR_NO.match(sentence):
            continue
        if names_another(CAPITAL.findall(sentence)) or names_another_number(sentence, told):
            return True
    asked, said = _places(message), _places(told)
    return not (_rows(asked) & _rows(said)) <= _rows(asked & said)


def tells_of_another(message: str, told: str) -> bool:
    """Whether the owner's words tell of somebody else what the message asks of him: "My neighbour's dog is
    called Bella." for "What is my dog called?", "My cat eats fish." for "What do I eat?", "My mother-in-law
    ..." for "my mother"."""
    asked, folded = content_words(message), fold(message)
    owned = {word.lower() for word in _OWNED.findall(message)}
    for owner, things in _POSSESSED.findall(told):
        words = {*things.lower().split()}
        of_owner = {"my", "our"} & words or owner.lower() in _NO_OWNER
        if not of_owner and owned & words and not content_words(owner) <= asked:
            return True
    for kin in _OTHER_KIN.finditer(told):
        if owned & {word.lower() for word in kin.groups() if word} and fold(kin[0]) not in folded:
            return True
    if _of_him_alone(message, told):
        return True
    subject = _SUBJECT.match(told)
    if subject is None or owned or not _ASKS_OWNER.search(message):
        return False
    being = subject[1].lower()
    return being in _BEINGS and being not in folded.split() and not _HIMSELF.search(fold(told))


def _of_him_alone(message: str, told: str) -> bool:
    """Whether the message asks what a relative of the owner's does or did, and his words tell it of himself:
    "What did my mum plant?", "I planted a tree."."""
    does = _DOES_RELATIVE.search(message)
    if does is None or does[1].lower() not in _BEINGS or not _HIMSELF.match(told.lower()):
        return False
    return not (_SOMEBODY_ELSE.search(told) or CAPITAL.search(told) or {*_split(told)} & _BEINGS)


def speaks_of_owner(message: str) -> bool:
    """Whether a message speaks of the owner: "I", "my", "our"."""
    return bool(_SPOKEN_OF.search(message))


def asks_of_its_owner(message: str, told: str) -> bool:
    """Whether the message names the one to whom something belongs in the owner's words: "olgas op", for
    "Olga's op"."""
    names = " ".join(word for word in _owners(told) if word[0].isupper())
    return bool(content_words(names) & content_words(message))


def asks_in_general(message: str, *, of_his: bool = False) -> bool:
    """Whether the message asks for advice, or what something is, and for nothing of the owner: "How do I
    learn to juggle?", "What is a half marathon?". Not "Who is Ingrid?" and "Where is Ingrid from?". of_his:
    the message names somebody of his, so that it asks for advice at most."""
    if _ADVICE.search(message):
        return True
    if of_his:
        return False
    message = uncapitalised(message)
    named = _DOING.match(message) or (message[:3].lower() == "who" and CAPITAL.search(message))
    return bool(_WHAT_IS.match(message)) and not (named or _SPOKEN_OF.search(message))


_YES_OR_NO = re.compile(rf"{IS}\b", re.IGNORECASE)
_NO_NAMES = frozenset(("i", "m", "ve", "ll", "d", "mr", "mrs", "ms", "dr", "vidya"))
_ADVICE = re.compile(
    r"\b(?:should|could|shall|can|would) (?:i|we)\b"
    r"|\b(?:how|best way) (?:do|can|to|would)\b(?! (?:i|we) (?:know|spell|call))(?!.*\b(?:my|our)\b)"
    r"|\b(?:write|tell|give) (?:me|us) (?:a|an|another|some)\b",
    re.IGNORECASE,
)
_WHAT_IS = re.compile(
    r"(?:what|who|where) (?:is|are) (?!(?:the|that|in|on|at|under|behind|beside|kept)\b)(?:an? )?"
    r"[\w ]{1,20}\?*$",
    re.IGNORECASE,
)
_DOING = re.compile(r"[Ww](?:hat|here) (?:is|are)(?: [A-Z]\w+)+ [a-z]")
"""Somebody with a name, and what he does: "What is Nomvula studying?"."""
_YOU = re.compile(
    r"\b(?:you|your|yours)\b(?! (?:know|remember|recall|tell|guess|say)\b)", re.IGNORECASE
)


def leaves_out_the_owner(message: str, question: str, answer: str) -> bool:
    """Whether the message may ask what a taught question asks of the owner without saying that it is the
    owner's: "The car, what colour is it?", for "What colour is our car?".

    It speaks of nobody and nothing else ("the colour of Tom's car", "of the sky", "do cars"), nor in general
    ("of a car"), and has the word behind "my" or "our", or two content words of the question.
    """
    if _SOMEBODY_ELSE.search(message) or not _SPOKEN_OF.search(question):
        return False
    said, asked = content_words(message), content_words(question)
    others = (*_owners(message), *CAPITAL.findall(message), *_OF_WHAT.findall(message))
    words = {*fold(f"{question} {answer}").split()}
    known = asked | content_words(answer)
    if any(not content_words(one) <= known or _made_plural(one, words) for one in others):
        return False
    owned = content_words(" ".join(_OWNED.findall(question)))
    general = content_words(" ".join(_IN_GENERAL.findall(message)))
    return not general & asked and (bool(said & owned) or len(said & asked) >= 2)


def _made_plural(word: str, words: set[str]) -> bool:
    """Whether words have it in the singular alone: "dogs"."""
    return word.endswith("s") and word.lower() not in words and word[:-1].lower() in words


def neighbours(question: str, answer: str) -> list[str]:
    """Up to NEIGHBOURS questions of the same form about somebody or something else, always the same ones:
    "What is Tom's sister called?" and "What is my brother called?" for "What is my sister called?".

    `asks_another` is True of each. Empty if the rules give none.
    """
    pairs = zip_longest(_of_somebody(question, answer), _in_place(question))
    made = dict.fromkeys(text for text in chain.from_iterable(pairs) if text)
    return [text for text in made if asks_another(text, question, answer)][:NEIGHBOURS]


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
    rows = _rows(taught - _places(text))
    found = mine - _places(question) - _places(answer)
    return frozenset(word for row, names in found if row in rows for word in names.split("|"))


def _of_somebody(question: str, answer: str) -> Iterator[str]:
    """The question about somebody else, in the place of the owner, of Vidya or of the one who is named."""
    said = {*_split(question), *_split(answer)}
    named = sorted(_named(question))
    for name in (name for name in _SOMEBODY if name.lower() not in said):
        if found := _ASKS_OWNER.search(question):
            text = _ASKS_OWNER.sub(f"{_third(found[1])} {name}", question, count=1)
        elif _OWNER.search(question):
            text = _OWNER.sub(f"{name}'s", question, count=1)
        elif named:
            text = re.sub(rf"\b{re.escape(named[0])}\b", name, question)
        else:
            text = _VIDYAS.sub(f"{name}'s", question, count=1)
        text = _LEFT.sub(lambda found: _OBJECTS[found[0].lower()], text)
        if not _HIMSELF.search(fold(text)):  # further verbs would have to agree with it
            yield text[:1].upper() + text[1:] if question[:1].isupper() else text


def _third(verb: str) -> str:
    third = _THIRD.get(verb.lower(), verb.lower())
    return third.capitalize() if verb[:1].isupper() else third


def _in_place(question: str) -> Iterator[str]:
    """The question with another relation, animal, time or the like in the place of its first one."""
    for found in LETTERS.finditer(question):
        word = found[0].lower()
        if word not in _PLACES or word in _OTHER_SENSE:
            continue
        row, own = _PLACES[word]
        others = _INSTEAD.split("\n\n")[row].split()
        at = others.index(own)
        form = own.split("|").index(word) if own.endswith("days") else 0  # mondays, not a mum
        for names in (*others[at + 1 :], *others[:at]):
            other = names.split("|")[form]
            other = other.capitalize() if found[0][0].isupper() else other
            yield question[: found.start()] + other + question[found.end() :]
        return


def _replaced(message: str, question: str, answer: str) -> set[str]:
    """Words of the question in whose place the message has others of their paragraph of `_INSTEAD`."""
    said, asked = _places(message), _places(question)
    rows = _rows(said - asked - _places(answer))
    return {word for row, names in asked - said if row in rows for word in names.split("|")}


def _places(text: str) -> set[tuple[int, str]]:
    return {_PLACES[word] for word in _split(text) if word in _PLACES}


def _rows(places: Iterable[tuple[int, str]]) -> set[int]:
    return {row for row, _ in places}


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
