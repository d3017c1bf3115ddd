"""What kind of thing an English question asks for, and whether a taught answer may be of that kind.

    asked_for("What colour is our car?")  # a "colour"
    asked_for("How old is our car?")      # a number
    asked_for("What does our cat eat?")   # what somebody can "eat"

If the owner taught "Our car is turquoise.", that is no answer to "How old is our car?" (`fits`). The rules
look at the question word, the noun behind it and the verb. They know no meanings, and in doubt the answer
fits. Imports no torch.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import takewhile
from typing import Literal

from learning.text.content import content_words
from learning.text.kinds.words import RELATIVES
from learning.text.normalise import word_set
from learning.text.number_words import find_words
from learning.text.questions.asking import QUESTION_WORDS, asks_in_any_order

Form = Literal["person", "name", "place", "time", "length", "number", "reason", "anything"]
"""What an answer must have. "length": of a time, as "how long" asks for it. "anything": something else may be
meant than the forms beside it."""


@dataclass(frozen=True)
class AskedFor:
    """What a question asks for. All fields empty: the rules cannot tell."""

    forms: frozenset[Form] = frozenset()
    """An answer has at least one of them."""
    nouns: tuple[str, ...] = ()
    """What the thing is: "colour"."""
    verb: str = ""
    """What is done with the thing: "eat"."""


_BE = word_set("is am are was were")
_VERBS = _BE | word_set("do does did can will should would could has have had must may might shall")
_LINKS = word_set(
    """of for with in at on to from by about under behind near into since until during after before than as
    like over off up out around between instead"""
)
_BEFORE_QUESTION = (_VERBS | _LINKS) | word_set(
    """know tell me us remember forgot forgotten forget remind recall wonder say ask idea sure and but so hey
    please"""
)
"""Words before a question word that asks, and begins no clause about somebody."""
_PRONOUNS = word_set("i we you he she it they one")
_DETERMINERS = word_set("my our the your a an his her its their any some this that these those")
_ENDS_PHRASE = _VERBS | _LINKS | _PRONOUNS | _DETERMINERS
_OBJECTS = _DETERMINERS | _LINKS | word_set("me us")
"""Words behind a verb."""
_ADVERBS = word_set(
    """always last usually never first really best most not also have ever just still often again now both"""
)
_AT_THE_END = word_set("again now please exactly right just")
_NOUNS_IN_ING = word_set("wedding building thing nothing ring king spring evening morning")
_NOTHING = word_set(
    """thing things kind kinds sort sorts type types way one ones stuff something word words part parts idea
    point again now please exactly right just it that this all matter trouble news problem plan"""
)
"""Nouns that do not say what kind of thing it is."""
_ANYTHING = word_set(
    """do doing done did have having had get getting got make making made go going gone use using keep call
    take taking like want wanted need come give put be being been work think thinking say saying know tell
    mean meant happen find able good called named wrong odd special new left see look"""
)
"""Verbs, and adjectives behind "what is", that anything may be put to."""
_SHORT_FORMS = [
    (re.compile(pattern), text)
    for pattern, text in (
        (r"\b(what|who|where|when|why|how|which|that|there|it|he|she|here)'?s\b", r"\1 is"),
        (r"\bi'?m\b", "i am"),
        (r"'re\b", " are"),
        (r"'ve\b", " have"),
        (r"\b(what|who|where|when|why|how)'?d\b", r"\1 did"),
        (r"\b(i|you|he|she|we|they|it)'d\b", r"\1 would"),
        (r"\bcan'?t\b|\bcannot\b", "can"),
        (r"\b(do|does|did|is|are|was|were|would|could|should|has|have)n'?t\b", r"\1"),
        (r"(\w)'s (?=(?:my|our|the|i|we|me)\b)", r"\1 is "),  # which colour's my bike
    )
]
_MEASURED = word_set("old tall heavy deep slow fast high wide thick")
"""Adjectives behind "how" that ask for a number."""
_OF_FORM: dict[Form, frozenset[str]] = {
    "person": frozenset(RELATIVES)
    | word_set(
        """person man woman friend relative neighbour neighbor doctor dentist boss teacher colleague author
        writer playwright poet painter singer actor girl boy people child guy lady somebody president king
        queen brother sister son daughter uncle cousin nephew niece wife husband partner boyfriend girlfriend
        mum dad twin landlord neighbour company firm employer team club party brand charity band bank"""
    ),
    "name": word_set("name nickname surname"),
    "place": word_set(
        """place town city country village street road address region state county area spot location room
        hospital shop school suburb continent island station mall university office restaurant building
        corner chemist market bank pub church park garden cafe theatre cinema gym library museum stadium
        clinic hotel airport beach forest bakery pharmacy chapel port harbour valley birthplace district
        capital home destination space part"""
    ),
    "time": word_set(
        """date day month year time season hour occasion week weekday birthday decade moment evening morning
        night"""
    ),
    "number": word_set(
        """number age year size price cost amount height weight length grade phone temperature"""
    ),
}
"""Nouns behind "which" that ask for a form."""
_FORM_ALONE = word_set(
    "place spot location time moment occasion person man woman people name number somebody"
)
"""Of these, those that say no more than the form."""
_PRICE = re.compile(r"\b(?:cost|weigh)\b|\b(?:pay|paid)(?:$| for (?:my|our|the|an?|it)\b)")
_PERSON = re.compile(
    rf"\b(?:[A-Z]\w+|(?:{'|'.join(sorted(_OF_FORM['person']))}|nobody|everyone|everybody))\b"
)
_PLACE = re.compile(
    r"\b(?:in|at|on|near|by|under|behind|from|to|above|below|over|inside|outside|next|along|between|through"
    r"|has|keeps?)\b"
)
_LENGTH = re.compile(
    r"\b(?:(?:year|month|week|day|hour|minute|second)s|long|since|for|ever|always|often|daily|weekly|every"
    r"|each|once|twice|meals?|breakfast|lunch|dinner)\b|days\b"
)
_AMOUNT = re.compile(
    r"\b(?:couple|few|several|dozens?|both|none|twins?|half|double|early|late|soon|recently|sunrise|sunset"
    r"|fortnight|monthly|twenties|thirties|teen(?:s|ager)?|child|kid|baby|toddler|puppy|kitten|student"
    r"|pensioner|birth|when|before|after|until)\b",
    re.IGNORECASE,
)
"""Other words for a number or a time."""
_NEGATION = re.compile(r"\b(?:not|no|never|nothing|nobody|without)\b|n['’]t\b", re.IGNORECASE)
_REASON = re.compile(r"\b(?:because|since|so that|for|from|to|as|or else|otherwise)\b")
_PLAIN_REASON = re.compile(
    r"\b(?:because|since|so that|so i|so we|as i|as we|due to|or else|otherwise)\b"
)
_DAYS = "mon|tues|wednes|thurs|fri|satur|sun"
_MONTHS = "january|february|march|april|may|june|july|august|september|october|november|december"
_TIMES = """spring|summer|autumn|fall|winter|morning|noon|afternoon|evening|night|midnight|dawn|second|minute|
hour|day|week|month|year|weekend|birthday|holiday|christmas|easter|ago|last|next|today|tomorrow|yesterday|now|soon|
on|for|before|after|since|until|during|when|while|every|each|always|never|often|once|twice|ever|meal|breakfast|lunch|dinner"""
_TIME = re.compile(rf"\b(?:(?:{_DAYS})day|{_MONTHS}|{_TIMES})s?\b".replace("\n", ""), re.IGNORECASE)

_ASKS_CLOCK = re.compile(
    r"\bwhat time\b(?! zone| of (?:the )?year)|\bat what hour\b", re.IGNORECASE
)
_OF_THE_DAY = re.compile(
    r"\b(?:o['’]?clock|half|quarter|noon|midday|midnight|dawn|sunrise|sunset|morning|afternoon|evening|night"
    r"|lunch|breakfast|dinner|work|school)\b"
)
"""What a text has that tells a time of the day, beside a number."""
_ASKS_AMOUNT = re.compile(r"\bhow (?:much|many)\b", re.IGNORECASE)
_DATE = re.compile(
    rf"\b\d{{1,2}}(?:st|nd|rd|th)?(?: of)? (?:{_MONTHS})\b|\b(?:{_MONTHS}) \d{{1,2}}(?:st|nd|rd|th)?\b"
    r"|\b(?:in|since|until|by|for|of) (?:19|20)\d\d\b"
)
"""Numbers that are no amount and no time of the day."""


def fits(message: str, question: str, answer: str) -> bool:
    """Whether an answer that was taught for a question may answer the message. It does not if the message
    shares a content word with question and answer, but asks for another kind of thing than the question, and
    nothing of that kind is in the answer. Everything fits a message that asks nothing."""
    there = content_words(f"{question} {answer}")
    if not there & content_words(message) or not asks_in_any_order(message):
        return True
    wanted, told = asked_for(message), asked_for(question)
    if _NEGATION.search(answer) or any(_stands_in(noun, there) for noun in wanted.nouns):
        return True
    if wanted.forms == {"reason"} and not told.forms:
        return True
    if "person" in wanted.forms and wanted.verb and _stands_in(wanted.verb, content_words(answer)):
        return True  # "Who feeds the cat?", "You feed the cat."
    if wanted.forms:
        # "What is my favourite dish called?" asks for a dish
        named = "name" in wanted.forms and any(
            _stands_in(noun, content_words(message)) for noun in told.nouns
        )
        known = bool(wanted.forms & told.forms) or "anything" in told.forms
        asked = " ".join(content_words(question) & content_words(message))
        return named or known or any(has_form(answer, form, asked) for form in wanted.forms)
    if wanted.nouns:
        return bool(told.nouns) or told.forms != {"person"}
    other = wanted.verb and told.forms & {"place", "time", "length"}
    return not other or _stands_in(wanted.verb, there)


def lacks_form(message: str, text: str) -> bool:
    """Whether the message asks for a number or a time and the text has none, nor the thing that is counted
    ("How many cats do I have?", "I have a cat."). People and places may be told in any words."""
    small = text.lower()
    if _ASKS_CLOCK.search(message):
        small = _DATE.sub(" ", small)
        return not (_has_number(small) or _OF_THE_DAY.search(small) or _AMOUNT.search(small))
    wanted = asked_for(message)
    if not wanted.forms or not wanted.forms <= {"number", "length", "time"}:
        return False
    if any(_stands_in(noun, content_words(text)) for noun in wanted.nouns) or _AMOUNT.search(text):
        return False
    if _ASKS_AMOUNT.search(message):
        small = _DATE.sub(" ", small)
    return not any(has_form(small, form) for form in wanted.forms)


def seems_to_lack_form(message: str, text: str) -> bool:
    """Whether the message asks for a person, a place, a time or the like, and the rules find none in the
    text. Weaker than `lacks_form`: people and places may be told in any words, and a reason without
    "because"."""
    forms = asked_for(message).forms
    if not forms or "anything" in forms:
        return False
    if forms == {"reason"}:
        return not _PLAIN_REASON.search(text)
    asked = " ".join(content_words(message) & content_words(text))
    return not any(has_form(text, form, asked) for form in forms)


def _stands_in(word: str, words: Iterable[str]) -> bool:
    """Whether one of a text's content words is this word, or begins like it: "operate", "operation"."""
    own = content_words(word) or {word}
    return any(a == b or (len(a) > 4 and a[:5] == b[:5]) for a in own for b in words)


def has_form(answer: str, form: Form, asked: str = "") -> bool:
    """Whether an answer has what such an answer must have. asked: a person who is named here is not told."""
    small = answer[:1].casefold() + answer[1:]
    match form:
        case "person" | "name":
            known = content_words(asked)
            new = [word for word in re.findall(r"[\w-]+", answer) if content_words(word) - known]
            return bool(_PERSON.search(" ".join(new)))
        case "place":
            return bool(_PLACE.search(small))
        case "reason":
            return bool(_REASON.search(small))
        case "length":
            return _has_number(answer) or bool(_LENGTH.search(small))
        case "time":
            return _has_number(answer) or bool(_TIME.search(answer))
        case "anything":
            return True
        case "number":
            return _has_number(answer)


def _has_number(text: str) -> bool:
    return bool(re.search(r"\d", text) or find_words(text))


@lru_cache(maxsize=1 << 15)  # messages, and the questions of ten thousand lessons
def asked_for(question: str) -> AskedFor:
    """What an English question asks for, by its first question word."""
    text = " ".join(question.replace("\u2019", "'").casefold().split()).rstrip("?!. ")
    for pattern, long in _SHORT_FORMS:
        text = pattern.sub(long, text)
    words = re.findall(r"[\w'-]+", text)
    places = [at for at, word in enumerate(words) if word in QUESTION_WORDS]
    if places[:1] == [0] and words[0] == "when" and _VERBS.isdisjoint(words[1:2]):
        places.pop(0)  # "When I met the Queen, what went wrong?"
    if not places:
        return AskedFor()
    word, rest = words[places[0]], words[places[0] + 1 :]
    before = words[places[0] - 1] if places[0] else ""
    apart = before in _BEFORE_QUESTION or re.search(rf"[^\w\s'-]\s*{word}\b", text)
    if before and word != "what" and rest and not apart:
        return AskedFor()  # "Ann is the one who works there, right?"
    if "when" in rest:
        rest = rest[: rest.index("when")]  # "What did I wear when I married?"
    if QUESTION_WORDS & {*rest}:
        return AskedFor()
    if len(rest) > 1 and rest[0] in _BE and rest[1] in ("it", "that", "this"):
        rest = rest[3:] if rest[2:3] == ["that"] else rest[2:]  # "What is it that I do?"
        rest = ["do", *rest] if rest else rest
    return _what(rest, before) if word in ("what", "which") else _other_word(word, rest)


def _other_word(word: str, rest: Sequence[str]) -> AskedFor:
    """What a question with a word like "who" asks for. rest: the words behind it."""
    first = rest[0] if rest else ""
    match word:
        case "who":
            if not rest or first in _BE:
                return _form("person", "name")
            return AskedFor(frozenset(("person",)), verb="" if first in _VERBS else first)
        case "whom" | "whose":
            return _form("person", "name", "anything")
        case "where":  # a name may come from somebody
            return _form("place", "anything") if rest[-1:] == ["from"] else _form("place")
        case "why":
            return _form("reason")
        case "when":
            return _form("time")
        case "how" if first in ("many", "much"):
            noun = rest[1] if first == "many" and len(rest) > 1 else ""
            return AskedFor(
                frozenset(("number",)), (noun,) if noun and noun not in _ENDS_PHRASE else ()
            )
        case "how" if first == "far":
            return _form("number", "place")
        case "how" if first in ("long", "often"):
            return _form("length")
        case "how" if first in _MEASURED:
            return _form("number")
        case "how" if {"called", "named"} & {*rest}:
            return _form("name", "person")
    return AskedFor()


def _form(*forms: Form) -> AskedFor:
    return AskedFor(frozenset(forms))


def _what(rest: Sequence[str], before: str) -> AskedFor:
    """What a question with "what" or "which" asks for. rest: the words that follow it. before: the word that
    precedes it."""
    if not rest:
        return AskedFor()
    if {"called", "named", "name"} & {*rest}:
        return _form("name", "person")
    if _PRICE.search(" ".join(rest)):
        return _form("number")
    if rest[0] in _VERBS and before in _LINKS:  # "Of what is my boss afraid?"
        return AskedFor()
    if rest[0] in _BE and rest[1:2] and rest[1] not in _PRONOUNS:
        return _what_is(rest[1:])
    if rest[0] in _VERBS:
        return AskedFor(verb=_verb_of(rest[1:]))
    thing = list(takewhile(lambda word: word not in _ENDS_PHRASE, rest))
    if not thing or thing[0] in _NOTHING:
        return AskedFor()
    if thing[0].endswith("s") and rest[1:2] and rest[1] in _OBJECTS:  # "What holds the door?"
        return AskedFor(verb="" if thing[0] in ("makes", "brings", "gives") else thing[0])
    return _kind(thing[:2])


def _what_is(rest: Sequence[str]) -> AskedFor:
    """What "what is" asks for, with "the name of my doctor", "my sister's job" or "Zofia studying" behind."""
    end = next((at for at, word in enumerate(rest) if at and word in _ENDS_PHRASE), len(rest))
    if end == len(rest) - 1 and rest[-1] in _LINKS:  # "What is my boss afraid of?"
        return AskedFor()
    thing = list(rest[:end])
    while thing and thing[-1] in _AT_THE_END:
        thing.pop()
    if not thing or thing[0] in _LINKS:
        return AskedFor()
    head = thing[-1]
    done = head.endswith("ing") and len(thing) > 1 and head not in _NOUNS_IN_ING
    if done or (len(thing) == 1 and head.endswith("ed")):  # "What is engraved in my ring?"
        return AskedFor(verb="" if head in _ANYTHING else head)
    if head in _NOTHING | _ANYTHING | _DETERMINERS:
        return AskedFor()
    owned = any(word.endswith("'s") for word in thing[:-1])
    return _kind([head] if owned or thing[0] not in _DETERMINERS else thing[1:])


def _kind(nouns: Iterable[str]) -> AskedFor:
    """A thing that is called so."""
    nouns = [re.sub(r"'s?$", "", noun) for noun in nouns]
    both = {*nouns, *(noun.removesuffix("s") for noun in nouns)}
    forms: frozenset[Form] = frozenset(form for form, names in _OF_FORM.items() if names & both)
    return AskedFor(forms, tuple(noun for noun in nouns if noun not in _FORM_ALONE))


def _verb_of(words: Sequence[str]) -> str:
    """The verb behind its subject: "eat" of "our cat eat"; empty if it says nothing of its object."""
    at = 1
    if words[:1] and words[0] in _DETERMINERS:
        while at < len(words) and words[at].endswith("'s"):
            at += 1
        at += 1
    while at < len(words) and words[at] in _ADVERBS:
        at += 1
    verb = words[at] if at < len(words) else ""
    return "" if verb in _ANYTHING | _NOTHING | _ENDS_PHRASE else verb
