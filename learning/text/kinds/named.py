"""Who is called what, so that "Helen turned 46" answers a question about "my wife".

    names = Names.of(["my wife is called Helen", "Helen turned 46"])
    names.readings("Helen turned 46")  # ["my wife turned 46"]
    names.readings("my wife is allergic to nuts")  # ["Helen is allergic to nuts"]

Relatives, other people and animals. Only where nobody else has the name and the relation has no other name,
as far as the owner told; in doubt nothing is read otherwise. English. Imports no torch.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import chain

from learning.text.kinds.relations import listed_values
from learning.text.kinds.words import RELATIVES, counted_text
from learning.text.normalise import fold, word_set
from learning.text.questions.another import CAPITAL, LETTERS, asked_words

MOST_READINGS = 3
"""Of one statement."""
_ONE = r"(?P<one>[^\W\d_][\w-]*(?: (?-i:[a-z])[\w-]*){0,2}?)"
"""What somebody is to the owner: "sister", "best friend", "guinea pig"."""
_TITLE = r"(?:(?:Mr|Mrs|Ms|Miss|Dr|Prof)\b\.? )?"
_CAPITAL = r"(?-i:(?:[OD]['’])?[A-ZÀ-ÖØ-Þ])[\w-]+"
_NAME = rf"(?P<name>(?-i:{_TITLE}){_CAPITAL}(?: {_CAPITAL}){{0,2}})"
_TYPED = rf"(?P<name>{_TITLE}(?:[OD]['’])?[^\W\d_][\w-]+(?: {_CAPITAL}){{0,2}})"
"""A name, and one that may be in small letters."""
_BEGINS = r"(?:^|[,.;!] )"
_ENDS = r"(?= ?[,.;!?:()\"–—]| -|$| (?:and|but|who|which|now|too|because|he|she|it)\b)"
_FORMS = [
    re.compile(form, re.IGNORECASE)
    for form in (
        rf"\b(?:my|our) {_ONE}(?: is|['’]s)(?: now| also)? (?:called|named) {_TYPED}{_ENDS}",
        rf"\b(?:my|our) {_ONE}['’]?s name(?: is|['’]s) {_TYPED}{_ENDS}",
        rf"\bthe name of (?:my|our) {_ONE} is {_TYPED}{_ENDS}",
        rf"\b(?:i|we)(?: have|['’]ve)?(?: got)? an? {_ONE} (?:called|named) {_TYPED}{_ENDS}",
        rf"\b(?:i|we)(?: have|['’]ve)?(?: got)? an? {_ONE}(?:,| and) (?:his|her|its) name is {_TYPED}{_ENDS}",
        rf"{_BEGINS}{_NAME}(?: is|['’]s) (?:my|our) {_ONE}{_ENDS}",
        rf"(?:{_BEGINS}|\band )(?:my|our) {_ONE}(?: is|['’]s) {_NAME}{_ENDS}",
        rf"\b(?:my|our) {_ONE} {_NAME}(?=[,.!]| (?-i:[a-z])|['’]s |$)",
    )
]
_IS_A_NAME = 5
"""So many of these forms, from the first, say that it is a name."""
_MAY_DESCRIBE = 6
"""The form that may say what somebody is: "my wife is Colombian"."""
_IN_DOUBT = re.compile(
    r"\b(?:not|never|no longer|used to|said|says|thinks?|hopes?|wish|if|maybe|perhaps|was called"
    r"|(?:gave|sent|bought|got|showed|taught|lent|made|give|send|buy|show|read) (?:my|our))\b|n['’]t\b"
    r"|\bof (?:my|our) [\w-]+ is (?:called|named)\b",
    re.IGNORECASE,
)
"""What a statement has that may tell no name, or one of somebody else."""
_ADJECTIVES = re.compile(
    r"^(?:(?:little|big|older|younger|elder|eldest|oldest|youngest|late|dear|lovely|new|black|white|brown|grey"
    r"|ginger|baby|twin) )+(?=\w)"
)
_NO_NAMES = word_set("""
i you he she it we they this that these those here there who what one mine yours not the a an my our his
her their also same called named names always never now so really very everyone everybody nobody somebody
someone in on at to from after before yes no ok okay oh well hello hi hey sorry actually anyway again off
up upon back out away today yesterday tomorrow monday tuesday wednesday thursday friday saturday sunday
january february march july september october november december christmas easter god jesus coffee vidya
google youtube facebook is was has are lol btw great cute pretty common old cool rare hard different
short long weird funny beautiful unknown nice lovely unusual stupid fat
""")
_PEOPLES = word_set("""
french dutch greek swiss czech thai german welsh arab iraqi israeli pakistani afghan somali american
african mexican canadian italian indian russian australian austrian belgian norwegian hungarian brazilian
nigerian ukrainian romanian bulgarian egyptian iranian korean cuban muslim hindu sikh catholic protestant
anglican buddhist vegan asian deaf autistic head vegetarian labour tory republican democrat conservative
aries taurus gemini virgo libra scorpio capricorn aquarius pisces labrador poodle beagle pug siamese
spurs arsenal londoner
""")
_OF_A_PEOPLE = re.compile(r".*(?:ish|ese|ian|can|ed|terrier|retriever|shepherd)", re.IGNORECASE)
"""What somebody may be that begins with a capital and is no name."""
_LIKE_A_PEOPLE = word_set("""
brian ian adrian julian christian vivian lillian damian fabian sebastian dorian duncan fred ted ned jed ed
alfred wilfred winifred mohammed ahmed mildred
""")
"""Names that end as such words do."""
_MORE_BEINGS = word_set("""
boyfriend girlfriend partner fiancé fiancée friend mate coworker roommate manager doctor dentist vet nanny
grandson granddaughter stepdad stepmum hamster rabbit horse fish
""")
_OFTEN_SEVERAL = word_set(
    "friend mate cousin colleague coworker neighbour teacher doctor aunt uncle niece nephew"
)
"""Of these one name tells little: the owner may have others, whom he does not name."""
_WORDS_TOO = word_set("""
will may june april august rose mark bill art grace joy hope faith rob sue pat jack frank dawn ivy lily daisy
heather holly amber ruby pearl olive basil violet iris jasmine poppy robin guy drew chase hunter mason dean
king prince duke lucky happy coco honey ginger pepper socks shadow snowy tiger princess angel star sunny misty
sandy smokey spot patch bear biscuit cookie peanut max charity summer autumn rusty buddy pickle mango bean
toffee oreo teddy penny carol eve blue
""")
"""Names that are words too: in small letters they may name nobody."""
_PLACES_TOO = word_set("""
paris virginia chelsea sydney florence savannah brooklyn austin dallas london india georgia charlotte victoria
jordan chester lincoln carolina asia verona vienna phoenix
""")
_AT_A_PLACE = re.compile(r"\b(?:in|to|from|at|support|near|through) $", re.IGNORECASE)
_BEFORE = re.compile(
    r"(?:\b(?:an?|the|another|other|his|her|their|your|my|our|called|named|name is|uncle|aunt|auntie|st|mount"
    r"|santa|lake|princess|king|queen)|['’]s(?: \w+)?|\b(?:his|her|their) \w+)[.]? $",
    re.IGNORECASE,
)
"""What stands before a name that is not somebody's whom the owner speaks of."""
_BEHIND = r"(?![\w-])(?! of\b)(?! (?!I\b)[A-ZÀ-ÖØ-Þ])"


@dataclass(frozen=True)
class Names:
    """The names of the owner's relatives, friends and animals."""

    called: dict[str, str]
    """What somebody is, as it counts ("mother" for "mum") -> his name as it was told; each once."""

    @classmethod
    def of(cls, statements: Iterable[str]) -> Names:
        """The names that statements tell. Left out: a name of two people, and people with two names."""
        certain, names = defaultdict[str, set[str]](set), defaultdict[str, set[str]](set)
        for told in (told for text in statements for told in named_in(text)):
            (certain if told.certain else names)[told.one].add(told.name)
        names |= certain  # "my wife is Colombian" counts for nothing beside "my wife is called Ana"
        found = {one: name for one, told in names.items() if (name := _one_name(told))}
        times = Counter(map(fold, found.values()))
        return cls({one: name for one, name in found.items() if times[fold(name)] == 1})

    def speaks_of_one(self, message: str) -> bool:
        """Whether a message has one of these names, in small letters too if it is no other word."""
        return any(
            _is_his(message, found)
            for name in self.called.values()
            for found in _place_of_name(name, typed=True).finditer(message)
        )

    def readings(self, statement: str) -> list[str]:
        """The statement, or a question, with a name in the place of what somebody is, or the other way round;
        at most MOST_READINGS. One that has both is left as it is."""
        found, small = list[str](), statement.lower()
        for one, name in self.called.items():
            if not any(word in small for word in (name.lower(), *_words_for(one))):
                continue  # nearly always
            spoken_of = _place_of_one(one).search(statement)
            if _place_of_name(name).search(statement):
                if not spoken_of and (read := _without_name(statement, name, one)):
                    found.append(read)
            elif spoken_of and one.split()[-1] not in _OFTEN_SEVERAL:
                found.append(_place_of_one(one).sub(name, statement))
        return found[:MOST_READINGS]


def shares_persons_alone(message: str, told: str) -> bool:
    """Whether a message and a statement have content words in common, but only names and words for relatives,
    people and animals, while the message asks for something else too: "What is Helen allergic to?" - "Helen
    works at the mill"."""
    asked = asked_words(message)
    shared = asked & asked_words(told)
    beings = [word for word in LETTERS.findall(message.lower()) if word in _words_of_beings()]
    persons = asked_words(" ".join([*CAPITAL.findall(message), *beings]))
    return bool(shared) and shared <= persons and not asked <= persons


@cache
def _words_of_beings() -> frozenset[str]:
    return frozenset(word for one in _beings() for word in one.split()) | {
        *chain(*RELATIVES.values())
    }


@dataclass(frozen=True)
class Named:
    """Somebody's name, as a statement tells it."""

    one: str
    """What he is to the owner, as it counts."""
    name: str
    certain: bool
    """False if the text may also say what he is: "my wife is Colombian"."""


def _one_name(told: set[str]) -> str:
    """The name that all of these are, the shortest: "Helen" of "Helen" and "Helen Smith"; or nothing."""
    short = min(told, key=len)
    same = all(f"{fold(name)} ".startswith(f"{fold(short)} ") for name in told)
    return short if same else ""


@lru_cache(maxsize=1 << 15)
def named_in(statement: str) -> tuple[Named, ...]:
    """The names that a statement tells, each with whose it is."""
    if _IN_DOUBT.search(statement):
        return ()
    found, capitals = list[Named](), statement.isupper()
    for number, form in enumerate(_FORMS):
        for told in form.finditer(statement):
            one, name = _ADJECTIVES.sub("", counted_text(told["one"])), told["name"]
            plain = number < _IS_A_NAME
            if one in _beings() and (plain or not capitals) and _is_name(name, plain, capitals):
                found.append(
                    Named(one, name.title() if capitals else name, number != _MAY_DESCRIBE)
                )
    return tuple(found)


def _is_name(text: str, plain: bool, capitals: bool) -> bool:
    """Whether a text may be a name. plain: it is said to be one. capitals: of a statement in capitals."""
    words = {*fold(text).split()}
    if not plain and _OF_A_PEOPLE.fullmatch(text) and words.isdisjoint(_LIKE_A_PEOPLE):
        return False
    return words.isdisjoint(_NO_NAMES | _PEOPLES) and (capitals or not text.isupper())


@cache
def _beings() -> frozenset[str]:
    """Relatives, people and animals, as they count."""
    lists = listed_values()
    listed = {counted_text(value.text) for group in ("kin", "pet") for value in lists[group]}
    return frozenset({*listed, *_MORE_BEINGS})


def _words_for(one: str) -> tuple[str, ...]:
    return one, *RELATIVES.get(one, ())


@cache
def _place_of_one(one: str) -> re.Pattern[str]:
    """Where the owner speaks of what somebody is to him."""
    words = "|".join(map(re.escape, _words_for(one)))
    behind = r"(?!-| in[- ]law| tongue| food| and (?:my |our )?(?:mum|mom|dad|mother|father)\b)"
    return re.compile(rf"\b(?:my|our) (?:{words})\b{behind}", re.IGNORECASE)


@cache
def _place_of_name(name: str, *, typed: bool = False) -> re.Pattern[str]:
    """Where the name stands; in small letters only if it is no other word: anywhere if it is `typed` in a
    question, or where a statement begins if it was told so."""
    plain = re.escape(name.title() if name.islower() else name)
    if fold(name) not in _WORDS_TOO | _PLACES_TOO and (typed or name.islower()):
        plain += f"|(?i:{plain})" if typed else f"|^(?i:{plain})"  # "we had pudding" names no cat
    ending = "s?" if typed else ""  # helens job
    return re.compile(rf"(?<![\w-])(?:{plain}){ending}(?![\w-])")


def _without_name(statement: str, name: str, one: str) -> str:
    """The statement with "my wife" in the name's place; empty if the name may be somebody else's."""
    place = _place_of_name(name)
    if all(_is_his(statement, found) for found in place.finditer(statement)):
        return place.sub(f"my {one}", statement)
    return ""


def _is_his(text: str, name: re.Match[str]) -> bool:
    """Whether a name in a text is probably that of somebody whom the owner knows, and no place."""
    before = text[: name.start()]
    at_a_place = fold(name[0]) in _PLACES_TOO and _AT_A_PLACE.search(before)
    return not (at_a_place or _BEFORE.search(before)) and bool(
        re.match(_BEHIND, text[name.end() :])
    )
