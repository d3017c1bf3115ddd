"""Generates conversations that teach a small model to use its context.

    python -m learning.pretraining.synthetic_rows skills.jsonl --rows 20000

A base model of 10M weights, trained on 26 million tokens of talk, does not use its context: when a random
sequence is repeated, it predicts 0.7 % of the tokens of the repetition, and it cannot name what it was told
two lines earlier. Training on these rows corrects that (benchmarks/results/in_context.md). The rows have the
format that `vidya pretrain` reads, and are of three kinds: `recall` (facts are told and then asked for in
other words, among facts that differ in one word only), `copying` (random text is repeated; a copying head
forms if only the repetition is trained) and `sums` (results to 20). The words come from the lists in this
file and from the vocabulary that ships with vidya; names are invented. Left out: facts about Vidya, which the
book has.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

from learning.text.kinds.articles import with_article
from learning.text.variations import variations

Row = dict[str, Any]


def _words(text: str, between: str | None = None) -> list[str]:
    return text.split(between)


_ONSETS = _words("b br c ch d dr f g gr h j k kl l m n p pr r s sh st t tr v w z")
_VOWELS = _words("a e i o u ai ea ee oo ou")
_CODAS = ["", "", "l", "m", "n", "nd", "r", "rk", "s", "sk", "t", "th", "x"]
_KIN = _words(
    "aunt brother cousin daughter father friend grandfather grandmother mother neighbour nephew niece "
    "sister son uncle teacher boss"
)
_ANIMALS = _words(
    "bird budgie canary cat chicken cow dog donkey duck fish frog goat goose hamster horse mouse owl "
    "parrot pig pony rabbit sheep snake tortoise"
)
_OWNED = _words(
    "band bicycle boat bookshop cafe car doll farm garden guitar robot ship team tractor van"
)
_LIKES = {
    "colour": "black blue brown gold green grey orange pink purple red silver violet white yellow",
    "fruit": "apples apricots cherries figs grapes kiwis lemons mangoes melons peaches pears plums",
    "animal": "bats bears bees deer foxes hares lions otters seals tigers whales wolves",
    "drink": "cider cocoa coffee juice lemonade milk soda tea water",
    "food": "bread cheese curry noodles pancakes pasta pies pizza rice salad soup stew",
    "season": "autumn spring summer winter",
    "sport": "boxing chess cycling football golf hockey rowing rugby running skiing swimming tennis",
    "tree": "ash beech birch elm fir maple oak pine poplar willow",
    "flower": "daisies irises lilies orchids poppies roses tulips violets",
    "day": "Monday Tuesday Wednesday Thursday Friday Saturday Sunday",
}
_JOBS = _words(
    "baker builder butcher carpenter clerk cook dentist doctor driver farmer gardener lawyer nurse "
    "painter pilot plumber sailor singer tailor teacher waiter writer"
)
_OBJECTS = _words(
    "broom camera candles charger coat drill glue hammer ladder lamp letters map money paint passport "
    "rope saw scissors stamps string tent torch towels umbrella"
)
_SPOTS = _words(
    "attic basket bathroom cellar corridor cupboard desk drawer garage hall kitchen office porch shed "
    "suitcase trunk wardrobe workshop"
)
_THINGS = _words(
    "big bird|blue stone|dance|game with two balls|kind of bread|long coat|loud song|quiet street|"
    "sharp knife|small boat|soft cheese|sweet drink|tall tree|warm hat|wooden toy|young horse",
    "|",
)
_MONTHS = _words(
    "January February March April May June July August September October November December"
)
_DAYS = _words("first second third fourth fifth sixth seventh eighth ninth tenth twelfth twentieth")
_CODES = _words("alarm bicycle bank door gate locker phone safe wifi")
HEARD = (
    "I see.",
    "Good to know.",
    "Thank you for telling me.",
    "I will remember that.",
    "All right.",
    "That is good to hear.",
    "Okay, noted.",
)
"""What Vidya says when a fact is told, where she does not repeat it."""
_TALK = (
    ("how are you?", "I am fine, thank you."),
    ("it is raining again", "Then it is a good day to stay inside."),
    ("I am tired", "Take a little rest."),
    ("thanks", "You are welcome."),
    ("nice", "I am glad that you like it."),
    ("let me think", "Take your time."),
    ("ok", "Is there anything else?"),
    ("good morning", "Good morning!"),
    ("I had a long day", "I hope the evening is quiet."),
    ("this is fun", "I think so too."),
)
_REPEAT = ("{}", "{}", "Say: {}", "Repeat after me: {}", "Please say {}", "Can you repeat this? {}")
AGAIN = ("Again", "Once more, please.", "Say it again.", "Repeat that")


@dataclass(frozen=True)
class Fact:
    """A fact that the user tells and later asks for."""

    told: str
    """The statement, in the user's words."""
    question: str
    answer: str


def word(rng: random.Random, syllables: int = 2) -> str:
    """An invented word of that many syllables, in lower case."""
    parts = [rng.choice(_ONSETS) + rng.choice(_VOWELS) for _ in range(syllables)]
    return "".join(parts) + rng.choice(_CODAS)


def name(rng: random.Random) -> str:
    """An invented name of one to three syllables, capitalised."""
    return word(rng, rng.choice((1, 2, 2, 3))).capitalize()


def _called(rng: random.Random) -> Fact:
    who, what = rng.choice(_KIN + 2 * _ANIMALS + _OWNED), name(rng)
    told = rng.choice(
        [
            f"My {who} is called {what}.",
            f"my {who}'s name is {what}",
            f"I have {with_article(who)}, {what}.",
        ]
    )
    return Fact(told, f"What is my {who} called?", f"Your {who} is called {what}.")


def _favourite(rng: random.Random) -> Fact:
    kind = rng.choice(list(_LIKES))
    what = rng.choice(_LIKES[kind].split())
    told = rng.choice([f"My favourite {kind} is {what}.", f"the {kind} I like best is {what}"])
    return Fact(told, f"What is my favourite {kind}?", f"Your favourite {kind} is {what}.")


def _lives(rng: random.Random) -> Fact:
    who, town = rng.choice(_KIN), name(rng)
    if rng.random() < 0.2:
        return Fact(f"I live in {town}.", "Where do I live?", f"You live in {town}.")
    told = rng.choice([f"My {who} lives in {town}.", f"my {who} has a house in {town}"])
    return Fact(told, f"Where does my {who} live?", f"Your {who} lives in {town}.")


def _works(rng: random.Random) -> Fact:
    who, job = rng.choice(_KIN), rng.choice(_JOBS)
    told = f"My {who} is a {job}."
    return Fact(told, f"What does my {who} do for work?", f"Your {who} is a {job}.")


def _kept(rng: random.Random) -> Fact:
    what, where = rng.choice(_OBJECTS), rng.choice(_SPOTS)
    told = rng.choice([f"I keep the {what} in the {where}.", f"the {what} is in the {where}"])
    return Fact(told, f"Where do I keep the {what}?", f"You keep the {what} in the {where}.")


def _self(rng: random.Random) -> Fact:
    what, age, job = name(rng), str(rng.randint(5, 99)), rng.choice(_JOBS)
    return rng.choice(
        [
            Fact(
                rng.choice(
                    [f"My name is {what}.", f"I am called {what}", f"hi, my name is {what}"]
                ),
                "What is my name?",
                f"Your name is {what}.",
            ),
            Fact(f"I am {age} years old.", "How old am I?", f"You are {age} years old."),
            Fact(f"I come from {what}.", "Where do I come from?", f"You come from {what}."),
            Fact(f"I am a {job}.", "What do I do for work?", f"You are a {job}."),
        ]
    )


def _birthday(rng: random.Random) -> Fact:
    who, day = rng.choice(_KIN), f"the {rng.choice(_DAYS)} of {rng.choice(_MONTHS)}"
    told = f"My {who}'s birthday is {day}."
    return Fact(told, f"When is my {who}'s birthday?", f"Your {who}'s birthday is {day}.")


def _code(rng: random.Random) -> Fact:
    what, digits = rng.choice(_CODES), str(rng.randint(10, 9999))
    told = f"The {what} code is {digits}."
    return Fact(told, f"What is the {what} code?", told)


def _meaning(rng: random.Random) -> Fact:
    new, what = word(rng), rng.choice(_THINGS)
    told = f"A {new} is a {what}."
    return Fact(told, f"What is a {new}?", told)


_FACTS: tuple[Callable[[random.Random], Fact], ...] = (
    _called,
    _called,
    _self,
    _favourite,
    _lives,
    _works,
    _kept,
    _birthday,
    _code,
    _meaning,
)


def recall(rng: random.Random) -> Row:
    """A conversation about one to four facts. The user tells each fact, or asks for it and is answered; then
    the user asks for each, mostly in other words.

    In half of the conversations all facts are of one kind, so that only one word tells them apart. An answer
    that nobody could know yet has weight 0.
    """
    count = rng.randint(1, 4)
    kinds = [rng.choice(_FACTS)] * count if rng.random() < 0.5 else rng.choices(_FACTS, k=count)
    facts = list({f.question: f for f in (kind(rng) for kind in kinds)}.values())
    turns: list[tuple[str, str]] = []
    unknown: set[int] = set()
    for fact in facts:
        if rng.random() < 0.3:
            unknown.add(len(turns))
            turns.append((fact.question, fact.answer))
        else:
            turns.append((fact.told, rng.choice(HEARD)))
        if rng.random() < 0.25:
            turns.append(rng.choice(_TALK))
    asked = rng.sample(facts, len(facts))
    for fact in asked:
        if rng.random() < 0.2:
            turns.append(rng.choice(_TALK))
        turns.append((_otherwise(fact.question, rng), fact.answer))
    return row_of("synthetic_recall", turns, unknown)


def _otherwise(question: str, rng: random.Random) -> str:
    other = variations(question, 1, rng) if rng.random() < 0.7 else []
    return other[0] if other else question


def copying(rng: random.Random, pieces: Sequence[str]) -> Row:
    """One to four rounds in which the user gives a random text and the answer repeats it.

    pieces: strings from which the text is drawn, at least one; invented words are added. In a third of the
    rounds the answer starts at a random word instead of the first. Raises IndexError if `pieces` is empty.
    """
    turns: list[tuple[str, str]] = []
    for _ in range(rng.randint(1, 4)):
        words = "".join(rng.choices(pieces, k=rng.randint(4, 24))).split()
        words += [rng.choice((word, name))(rng) for _ in range(rng.randint(0, 3))]
        rng.shuffle(words)
        ask = rng.choice(_REPEAT).format(" ".join(words))
        start = rng.randrange(len(words)) if rng.random() < 0.33 else 0
        turns.append((ask, " ".join(words[start:])))
        if rng.random() < 0.3:  # once more, so that the two copies are far apart
            turns.append((rng.choice(AGAIN), " ".join(words)))
    return row_of("synthetic_copying", turns)


def sums(rng: random.Random) -> Row:
    """One to five sums or differences of numbers from 0 to 10; no result is negative."""
    turns = []
    for _ in range(rng.randint(1, 5)):
        a, b = rng.randint(0, 10), rng.randint(0, 10)
        sign, spoken, result = ("+", "plus", a + b) if rng.random() < 0.6 else ("-", "minus", a - b)
        if result < 0:
            a, b, result = b, a, -result
        ask = rng.choice(
            [
                f"What is {a} {sign} {b}?",
                f"what is {a} {spoken} {b}",
                f"{a} {sign} {b} = ?",
                f"How much is {a} {sign} {b}?",
                f"{a} {sign} {b}",
            ]
        )
        turns.append((ask, f"{a} {sign} {b} = {result}."))
    return row_of("synthetic_sums", turns)


def row_of(
    source: str,
    turns: Sequence[tuple[str, str]],
    unknown: Collection[int] = (),
    *,
    asked_weight: int = 0,
) -> Row:
    """A row of turns (question, answer). unknown: indexes of turns whose answers have weight 0, because
    nobody could know them. asked_weight: 0 or 1, the weight of questions."""
    said: list[Row] = []
    for place, (asked, answer) in enumerate(turns):
        said.append({"role": "user", "text": asked} | ({} if asked_weight else {"weight": 0}))
        said.append({"role": "assistant", "text": answer})
        if place in unknown:
            said[-1]["weight"] = 0
    return {"turns": said, "source": source}
