"""Whether an English message asks for something, by its mark and its words."""

from __future__ import annotations

import re
from functools import lru_cache

from learning.text.normalise import fold

QUESTION_WORDS = frozenset(["what", "which", "who", "whom", "whose", "where", "when", "why", "how"])
_VERB = "is|am|are|was|were|do|does|did|can|will|should|would|could"
IS = rf"(?:{_VERB}|has|have)"
_NAMED_WILL = (
    r"(?!will(?:'s| (?:is|was|has|had|and|will|works|lives|likes|loves|wants|goes|plays|drives|comes|hates"
    r"|got|bought|went|came|said|told|left|won|lost|broke|made|took|gave|\w+ed)\b)|can you believe\b)"
)
"""Before a verb that begins a question: "Will is my boss." and "Can you believe it" begin none."""
_ASKS = re.compile(
    rf"(?:what|who|where|when|why|how|which)(?: [\w'-]+)* (?:{_VERB}) .+"  # what colour is my door
    r"|(?:what|who|where|which)(?: [\w'-]+)* (?:has|have) .+"  # what name has my dog
    r"|(?:what|how) about .+|what happen(?:ed|s) .+"
    r"|(?:what|who|where|when|how)'?s .+"  # whats my name
    r"|(?:what|where|when)'?d .+"  # where'd I park
    rf"|{_NAMED_WILL}{IS} .+"  # do you know me
    r"|(?:please |can you |could you |would you )*(?:tell|give|show) (?:me|us) .+"
    r"|(?:please )?(?:say|name|guess|describe) (?!of\b).+",
    re.IGNORECASE,
)

_OPENING = re.compile(
    r"^(?:(?:ok(?:ay)?|hey|hi|hello|yo|yeah|um+|uh|er+m?|well|and|so|but|please|listen|vidya|now|then|right|oh|yes|no"
    r"|good (?:morning|evening|afternoon)|lol|btw|by the way)\b[,!:]? )+",
    re.IGNORECASE,
)
_LEANING_WORDS = """
it its that this those these they them he she him her then there one ones else instead
"""
_LEANING = frozenset(_LEANING_WORDS.split())
"""Words that refer to what was said before."""


def stands_alone(question: str) -> bool:
    """Whether a question makes sense without the talk before it: it has at least three words, none of which
    refers back. "Why?" and "and then" do not."""
    return len(fold(question).split()) >= 3 and not refers_back(question)


def refers_back(question: str) -> bool:
    """Whether a word of the question refers to what was said before: "How old is she?"."""
    return not _LEANING.isdisjoint(fold(question).split())


def without_opening(message: str) -> str:
    """The message without the words that open it: "hey", "ok so", "by the way"."""
    return _OPENING.sub("", message)


def is_question(message: str) -> bool:
    """Whether something is asked, with or without a mark, or is to be told."""
    plain = " ".join(message.replace("\u2019", "'").split())
    asked = without_opening(plain.rstrip("!. "))
    return plain.endswith("?") or bool(_ASKS.fullmatch(asked))


_IN = "at|in|on|from|since|until|to|with|by|for|under"
_OF_IT = "it|he|she|they|that|them|this|i|we|you"
_NOT_ASKED = (
    r"(?!.*\b(?:knows?|idea|guess|matters?|sure|remember|forgot|wonder|tell|care|see|depends?)\b)"
)
_LOOSELY = re.compile(
    rf"(?:{_IN}) (?:what|when) (?:[\w'-]+ )*{IS} .+"  # at what trade do i work
    r"|what [\w'-]+s (?:my|me|our|us|the|his|her|their|your|you|it)\b.*"  # what makes my lips swell
    r"|(?:remind me|(?:have you )?any idea|i (?:forgot|forget|can't remember|don't remember|wonder)"
    r"|i've forgotten) (?:what|which|who|where|when|how) .+"  # remind me where the key is
    r"|whose .+|whom .+|who (?!cares|knows)[\w'-]+ .+"  # who gave me my dog
    rf"|(?:(?:{_IN}) )?which (?!is|was|means|makes|reminds|leaves|explains|i )[\w'-]+ .+"
    rf"|how (?:many .+|(?:old|long|often|far) {IS} .+)"  # how many rooms has my flat
    r"|.+[,:;] (?:what|why|how)(?:'s)? (?!an? ).+"  # my trade, what is it
    rf"|.+[,:;] which (?!(?:{_OF_IT}) )[\w'-]+(?:'s| {IS}) .+"  # my floor, which number is it
    rf"|.+[,:;] (?:who|where|when|which)(?:'s| {IS}) (?:{_OF_IT})\b.*"  # my ring, where is it
    r"|(?:my|our|the) (?:\S+ )+(?:what|where|when|who)(?:'s| is| are| was)"  # my car where is it
    r" (?:it|he|she|they)\b.*"
    rf"|{_NOT_ASKED}(?:\S+ ){{2,}}"
    r"(?:what|where|which|who|when|how long)(?: again)?"  # my ex-wife is living where
    rf"|{_NOT_ASKED}(?:\S+ )+(?:{_IN}) (?:what|which) [\w'-]+(?: again)?"  # I'm deaf in which ear
    r"|(?:my|our|the) (?:\S+ )+(?<!hard to )(?<!easy to )(?<!s to )please",  # the fruit that I like please
    re.IGNORECASE,
)


def asks_in_any_order(message: str) -> bool:
    """Whether something is asked with a mark, or in words in whatever order: "my trade, what is it". True of
    some statements too, so it is for where a wrong yes costs little."""
    return " ".join(message.split()).endswith("?") or asks_in_english(message)


def asks_in_english(message: str) -> bool:
    """Whether its English words ask something, in whatever order; a mark alone does not count."""
    plain = without_opening(" ".join(message.replace("\u2019", "'").split()).rstrip("?!. "))
    return bool(_ASKS.fullmatch(plain) or _LOOSELY.fullmatch(plain))


_WHO_STATES = "i|i['’]?m|i['’]ve|we|we['’]re|we['’]ve|my|our|the|it|it['’]s|she|he|they"
_LOOKS_FOR = "forg|need|want|wonder|don['’]?t (?:know|remember)|can['’]?(?:no)?t (?:find|remember)"
"""Behind "I": words with which something is asked for."""
_STATES = re.compile(
    rf"(?:(?:well|so|oh|no|yes|but|and|today|now),? )*(?:{_WHO_STATES})\b(?! (?:{_LOOKS_FOR})).+",
    re.IGNORECASE,
)
_VERB_THAT_STATES = re.compile(
    r"\b(?:am|is|are|was|were|has|have|had|do|does|did|will|\w+ed|lives?|works?|likes?|loves?|goes|go)\b"
    r"|['’](?:m|s|re|ve)\b",
    re.IGNORECASE,
)


@lru_cache(maxsize=1 << 15)  # messages, and the questions of ten thousand lessons
def states(message: str) -> bool:
    """Whether it has the form of a statement: "My sister lives in Oslo now."."""
    plain = " ".join(message.split())
    if asks_in_any_order(plain) or not QUESTION_WORDS.isdisjoint(re.findall(r"\w+", plain.lower())):
        return False
    return bool(_STATES.fullmatch(plain) and _VERB_THAT_STATES.search(plain))
