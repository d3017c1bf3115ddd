"""Whether an English message asks for something, or for a yes or no, by its mark and its words."""

from __future__ import annotations

import re

from learning.text.content import content_words
from learning.text.normalise import fold
from learning.text.questions.asked_for import asked_for, has_form

_VERB = "is|am|are|was|were|do|does|did|can|will|should|would|could"
_IS = rf"(?:{_VERB}|has|have)"
_ASKS = re.compile(
    rf"(?:what|who|where|when|why|how|which)(?: [\w'-]+)* (?:{_VERB}) .+"  # what colour is my door
    r"|(?:what|who|where|which)(?: [\w'-]+)* (?:has|have) .+"  # what name has my dog
    r"|(?:what|how) about .+|what happen(?:ed|s) .+"
    r"|(?:what|who|where|when|how)'?s .+"  # whats my name
    rf"|{_IS} .+"  # do you know me
    r"|(?:please |can you |could you |would you )*(?:tell|give|show) (?:me|us) .+"
    r"|(?:please )?(?:say|name|guess|describe) (?!of\b).+",
    re.IGNORECASE,
)

_LEANING_WORDS = """
it its that this those these they them he she him her then there one ones else instead
"""
_LEANING = frozenset(_LEANING_WORDS.split())
"""Words that refer to what was said before."""

_YES_OR_NO = re.compile(rf"{_IS} (?!you (?:know|remember|recall)\b|you tell\b).+", re.IGNORECASE)


def asks_yes_or_no(message: str) -> bool:
    """Whether a question is answered by yes or no; "Do you know ...?" asks for what is known."""
    return bool(_YES_OR_NO.fullmatch(" ".join(message.split())))


def stands_alone(question: str) -> bool:
    """Whether a question makes sense without the talk before it: it has at least three words, none of which
    refers back. "Why?" and "and then" do not."""
    return len(fold(question).split()) >= 3 and not refers_back(question)


def refers_back(question: str) -> bool:
    """Whether a word of the question refers to what was said before: "How old is she?"."""
    return not _LEANING.isdisjoint(fold(question).split())


def is_question(message: str) -> bool:
    """Whether something is asked, with or without a mark, or is to be told."""
    plain = " ".join(message.replace("\u2019", "'").split())
    return plain.endswith("?") or bool(_ASKS.fullmatch(plain.rstrip("!. ")))


_IN = "at|in|on|from|since|until|to|with|by|for|under"
_OF_IT = "it|he|she|they|that|them|this|i|we|you"
_LOOSELY = re.compile(
    rf"(?:{_IN}) (?:what|when) (?:[\w'-]+ )*{_IS} .+"  # at what trade do i work
    r"|what [\w'-]+s (?:my|me|our|us|the|his|her|their|your|you|it)\b.*"  # what makes my lips swell
    r"|whose .+|whom .+|who (?!cares|knows)[\w'-]+ .+"  # who gave me my dog
    rf"|(?:(?:{_IN}) )?which (?!is|was|means|makes|reminds|leaves|explains|i )[\w'-]+ .+"
    rf"|how (?:many .+|(?:old|long|often|far) {_IS} .+)"  # how many rooms has my flat
    r"|.+[,:;] (?:what|why|how)(?:'s)? (?!an? ).+"  # my trade, what is it
    rf"|.+[,:;] which (?!(?:{_OF_IT}) )[\w'-]+(?:'s| {_IS}) .+"  # my floor, which number is it
    rf"|.+[,:;] (?:who|where|when|which)(?:'s| {_IS}) (?:{_OF_IT})\b.*"  # my ring, where is it
    r"|(?!.*\b(?:knows?|idea|guess|matters?|sure|remember|forgot|wonder|tell|care|see)\b)(?:\S+ ){2,}"
    r"(?:what|where|which|who|when|how long)(?: again)?"  # my ex-wife is living where
    r"|(?:my|our|the) (?:\S+ )+(?<!hard to )(?<!easy to )(?<!s to )please",  # the fruit that I like please
    re.IGNORECASE,
)


def asks_in_any_order(message: str) -> bool:
    """Whether something is asked with a mark, or in words in whatever order: "my trade, what is it". True of
    some statements too, so it is for where a wrong yes costs little."""
    return " ".join(message.split()).endswith("?") or asks_in_english(message)


def asks_in_english(message: str) -> bool:
    """Whether its English words ask something, in whatever order; a mark alone does not count."""
    plain = " ".join(message.replace("\u2019", "'").split()).rstrip("?!. ")
    return bool(_ASKS.fullmatch(plain) or _LOOSELY.fullmatch(plain))


def read_out(message: str, question: str, answer: str) -> str:
    """What a lesson says to a question for a yes or no about the same; empty where its words do not tell.

    Yes: the lesson contains all content words of the message, and the message names what the answer adds to
    the question ("Is my sister called Ingrid?"). No: the message names something else instead, in one or two
    words, and shares two or more with the lesson ("Is my sister called Astrid?"), and only one thing can be
    right, such as a name, or one number where a number is asked for. "Not that I know" if more than one thing
    can be right ("Does my sister live in Norway?"). Nothing is read out where a text has a negation, an "and"
    or a "yes".
    The caller makes sure that message and lesson are about the same.
    """
    texts = (message, question, answer)
    if not answer.strip() or any(_UNCLEAR.search(text.replace("\u2019", "'")) for text in texts):
        return ""
    said, asked, told = map(content_words, texts)
    fact, own = told - asked, said - asked - told
    if not own and said & fact:
        return answered(True, answer)
    if 1 <= len(own) <= 2 and not said & fact and len(said - own) >= 2:
        return answered(False, answer) if _excludes(message, question, answer) else unsure(answer)
    return ""


def _excludes(message: str, question: str, answer: str) -> bool:
    """Whether only one thing can be right, and the message names another one."""
    if _ONE_THING.search(question + answer):
        return True
    asked = asked_for(question).forms & {"number", "time", "length"}
    return bool(asked) and has_form(message, "number") and has_form(answer, "number")


def answered(yes: bool, answer: str) -> str:
    """A taught answer behind yes or no: "No, your sister is called Ingrid."."""
    return f"{'Yes' if yes else 'No'}, {_inside(answer)}"


def unsure(answer: str) -> str:
    """A taught answer to a question whether something else is so, which it does not rule out."""
    return f"Not that I know: {_inside(answer)}"


_UNCLEAR = re.compile(r"\b(?:not|no|never|nobody|nothing|none|yes|and|or)\b|n't\b", re.IGNORECASE)
_ONE_THING = re.compile(
    r"\b(?:called|named?|surname|born|birthday|married|favou?rite|colou?r)\b", re.IGNORECASE
)
"""Of these a person or a thing has one."""


def _inside(answer: str) -> str:
    """An answer as it stands behind a comma."""
    return answer[0].lower() + answer[1:] if answer.split()[0] in ("Your", "You", "The") else answer
