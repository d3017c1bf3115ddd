"""Finds the statements in a message of the owner's, and turns them into answers to him. English. Imports no
torch.

A sentence that may be no statement is left out. A statement is quoted if it has an "I" or "my" that may not
mean the owner, because "you" would make a false sentence of it.
"""

from __future__ import annotations

import re
from functools import lru_cache

from learning.text.comfort import in_danger
from learning.text.content import content_words
from learning.text.flaws import sentences_of
from learning.text.kinds.told import asks_by_its_words
from learning.text.normalise import fold
from learning.text.questions.asking import without_opening
from learning.text.questions.likely_asked import asks_by_its_look
from learning.text.questions.yes_or_no import unsure

LONGEST = 30
"""Most words that are said back."""
LONGEST_MESSAGE, LONGEST_TEXT = 100, 1_000
"""Words, and characters, from which a message is more likely pasted than told."""
_QUOTED = "You told me: "


@lru_cache(maxsize=1 << 13)
def told_in(message: str) -> tuple[str, ...]:
    """The statements of a message: its sentences without questions and orders. If these have at most LONGEST
    words together, they are one statement, else each sentence is one. A statement has three to LONGEST words.
    A message has no statement if it begins with an order about a text ("Summarise this: ..."),
    if the writer plays a part in it, if it is probably pasted, or if he may hurt himself."""
    plain = " ".join(message.split())
    if len(plain) > LONGEST_TEXT or len(plain.split()) > LONGEST_MESSAGE:
        return ()
    if _WITH_A_TEXT.match(plain) or _PASTED.search(plain) or in_danger(plain):
        return ()
    pieces = _sentences(_lines(message))
    if len(pieces) > 1 and _OF_A_TEXT.search(pieces[0]) and not _tells(pieces[0]):
        return ()
    if len(pieces) > 1 and " " not in pieces[0]:  # "Hello!"
        del pieces[0]
    sentences = [one for one in pieces if _tells(one)]
    together = " ".join(sentences)
    found = [together] if len(together.split()) <= LONGEST else sentences
    return tuple(one for one in found if 3 <= len(one.split()) <= LONGEST and content_words(one))


def anything_said_back(message: str) -> set[str]:
    """The folded answers (`fold`) in which any version of Vidya may say back sentences of a message. Versions
    differ in what they take for a statement, so each run of sentences counts."""
    found = [*told_in(message)]
    if len(message.split()) <= LONGEST_MESSAGE:
        pieces = _sentences(message.splitlines())
        ends = range(1, len(pieces) + 1)
        runs = (" ".join(pieces[first:end]) for end in ends for first in range(end))
        found += [x for x in runs if len(x) <= LONGEST_TEXT and len(x.split()) <= LONGEST]
    return {fold(answer(one)) for one in found for answer in (said_back, said_back_in_doubt)}


def clauses(told: str) -> list[str]:
    """A statement without its opening words ("by the way"), then its clauses of at least three words, in
    order. A question may ask for one clause alone."""
    plain = _without_ahead(told.replace("\u2019", "'"))
    parts = (part.strip() for part in _BETWEEN_CLAUSES.split(plain))
    return list(dict.fromkeys([plain, *(part for part in parts if len(part.split()) >= 3)]))


def said_back(told: str) -> str:
    """A statement as an answer to its writer: "Your sister is called Ingrid." for "oh, my sister is called
    Ingrid". The answer quotes the statement if that speaks to Vidya, may not be English, or has an "I" or
    "my" that may not mean the writer ("World War I", "he said: I am late")."""
    plain = _without_ahead(told.replace("\u2019", "'"))
    if not _ENGLISH.search(plain) or _IN_DOUBT.search(plain) or plain.isupper():
        return f"{_QUOTED}\u201c{told}\u201d"
    text = _I_AM.sub(r"you\1 are", _I_WAS.sub(r"you\1 were", plain))
    text = _WORD.sub(lambda word: _TURNED.get(word[0].lower(), word[0]), text)
    text = _BEGINNING.sub(lambda word: word[0].capitalize(), text)
    text = text[:1].upper() + text[1:]
    return text if text.endswith((".", "!", "?", "\u2026")) else f"{text}."


def quotes(answer: str) -> bool:
    """Whether an answer has the form in which the owner's words are quoted."""
    return answer.startswith(_QUOTED)


def said_back_in_doubt(told: str) -> str:
    """The same where the writer may have asked for something else: "I only know this: your sister is called
    Ingrid."."""
    said = said_back(told)
    if said.startswith(_QUOTED):
        return f"I only know that you told me: {said.removeprefix(_QUOTED)}"
    return unsure(said)


def _without_ahead(told: str) -> str:
    """The statement without its opening words."""
    return told[ahead.end() :] if (ahead := _AHEAD.match(told)) else told


def _lines(message: str) -> list[str]:
    """The lines of a message, without the marks of a list. Each but the last ends like a sentence; a line
    that goes on with the sentence of the one before is joined to it."""
    found = list[str]()
    for line in message.splitlines():
        text = " ".join(_LIST.sub("", line).split())
        if text and found and not (_LIST.match(line) or _BEGINS.match(text)):
            found[-1] += f" {text}"
        elif text:
            found.append(text)
    *rest, last = found or [""]
    return [
        *(line if _SENTENCE_ENDS.search(line) else f"{line.rstrip(',;')}." for line in rest),
        last,
    ]


def _sentences(lines: list[str]) -> list[str]:
    """The sentences of these lines; an empty line has none."""
    return [one for line in lines if line.strip() for one in _whole(sentences_of(line))]


def _whole(sentences: list[str]) -> list[str]:
    """The sentences, joined where one ends with an abbreviation: "Her name is Mrs." "Brown."."""
    found = list[str]()
    for one in sentences:
        if found and _ABBREVIATED.search(found[-1]):
            found[-1] += f" {one}"
        else:
            found.append(one)
    return found


def _tells(sentence: str) -> bool:
    """Whether a sentence states something: it asks nothing and orders nothing, behind its opening too ("Ok so
    what colour is my car", "Vidya, where is my bike")."""
    said = without_opening(sentence)
    called = _TO_SOMEBODY.match(said)
    pieces = [sentence, said, *([called[1]] if called else [])]
    if any(_MAY_BE.match(one) or _FOR_VIDYA.match(one) or asks_by_its_words(one) for one in pieces):
        return False
    if asks_by_its_look(sentence):
        return False
    return not _UNFINISHED.search(said)


_ABBREVIATED = re.compile(r"\b(?:dr|mr|mrs|ms|st|prof|jr|sr|mt|[a-z])\.$", re.IGNORECASE)
_TO_DO = (
    "write|make|give|tell|list|explain|help|let['\u2019]?s|translate|summari[sz]e|describe|sing|try|think"
    "|imagine|pretend|say|repeat|add|do|don['\u2019]?t(?! forget)|be|answer|continue|go on|fix|correct"
    "|rewrite|rephrase|proofread|act|remind|call|read|look|check|find"
    r"|(?:show|stop|guess|name|count|use|play)\b(?!['\u2019]s)"
    r"(?! \w+ (?:is|are|was)| (?:is|are|was|i['\u2019]?m))"
)
_FOR_VIDYA = re.compile(
    rf"(?:please |now |then |ok |okay )*(?:{_TO_DO})\b(?! (?:remember|note|keep in mind)\b)"
    r"|i (?:forg[eo]t|wonder|asked|want|need|wish|would like|don['\u2019]?t (?:know|understand|remember))\b"
    r"|(?:i )?(?:can['\u2019]?t|cannot|couldn['\u2019]?t) (?:remember|recall|find)\b"
    r"|i['\u2019]?(?:ve| have) forgotten\b|i['\u2019]?d (?:like|love) to know\b"
    r"|i(?:['\u2019]?m| am| was) (?:wondering|asking|trying to (?:remember|recall|find))\b"
    r"|(?:no|any) idea\b|not sure\b|how come\b|what (?:if|an?)\b|(?:do )?u know\b"
    r"|(?:forget|learn|know|delete|quiz)\b|remember (?:my|our|the) [\w'\u2019]+$",
    re.IGNORECASE,
)
"""How a sentence begins that tells Vidya what to do, or asks something without a mark."""
_WITH_A_TEXT = re.compile(
    rf"(?:please )?(?:{_TO_DO})\b[^.!?]*:|act as |you are |pretend |imagine ", re.IGNORECASE
)
_PASTED = re.compile(r"Traceback|\b(?:User|Assistant|System):|```")
_OF_A_TEXT = re.compile(
    r"\b(?:translat|grammar|spelling|proofread|correct\b|summar|rewrite|letter|e-?mail|stor(?:y|ies)|poem"
    r"|lyrics|novel|mean\b)",
    re.IGNORECASE,
)
"""What a first sentence has that speaks of a text which follows."""
_SENTENCE_ENDS = re.compile(r"[.!?:\u2026][\"'\u201d\u2019)]*$")
_LIST = re.compile(r"^\s*(?:[-*\u2022]|\d{1,2}[.)])\s+")
_BEGINS = re.compile(
    r"[A-Z]|(?:my|our|i|i['\u2019]?m|the|we|she|he|it|they|what|who|where|when|why|how|which|is|do|does|am|are|can)\b"
)
"""How a line begins if it is a new sentence."""
_TO_SOMEBODY = re.compile(
    r"(?!(?:my|our|the|his|her|their|an?)\b)(?:[\w'\u2019]+ )?[\w'\u2019]+[,:] ([^,]+)$",
    re.IGNORECASE,
)
"""A sentence behind a name of one or two words: "you idiot, where is my bike"."""
_UNFINISHED = re.compile(
    r"\b(?:is|are|called)(?:\.\.+|\u2026)?$|, (?:right|isn't (?:he|she|it))$", re.IGNORECASE
)
"""How a sentence ends that asks without a question word: "the name of my sister is..."."""
_MAY_BE = re.compile(
    r"(?:if|maybe|perhaps|in (?:this|the|my) (?:story|novel|book|dream|game)|suppose|my \w+ says?|whether"
    r"|unless|hypothetically|once upon a time|they say|i (?:wish|dream(?:t|ed)))\b",
    re.IGNORECASE,
)
"""How a sentence begins that says what may be, or what somebody says."""
_AHEAD = re.compile(
    r"(?:(?:(?:oh|so|and|honestly|actually|please|by the way|btw|fyi)[,:]?"
    r"|(?:well|yes|yeah|no|okay|ok|hello|hi|hey)(?:[,!:.]|(?= (?:i|im|i'm|my)\b))) )*"
    r"(?:(?:remember|note|don't forget|keep in mind)\b,? (?:that )?)?",
    re.IGNORECASE,
)
"""What stands before a fact and does not belong to it."""
_BETWEEN_CLAUSES = re.compile(r"(?<![,;:.!?])[,;:.!?]+\s|\s[-\u2013\u2014]\s")
_SELF = "i|me|my|mine|us|our|ours|we|am|im"
_IN_DOUBT = re.compile(
    r"\b(?:you|your|yours|yourself|vidya|u|ur|youre)\b"
    r"|\b(?:don't|never|please|let)\b.* (?:me|us)\b"
    r'|["\u201c\u201d\u00ab\u00bb`{}<>=\\_@#|()\[\]]|://|www\.|(?<!\w)\'\w'  # other people's words, addresses
    r"|\d ?am\b|\b[ap]\.m\.|\bi\.e\b|(?-i:\bUS\b)|\b(?:an?|the|this|that|coal|gold) mine\b"
    rf"|[-./&](?:{_SELF})\b|\b(?:{_SELF})[-./&](?=\w)"
    r"|(?-i:(?<=[\w,] )(?:My|Our|We|Me|Mine|Us)\b)"  # a title
    r"|(?-i:(?<=\w )I(?=[.,!?;]|$)|(?<=[a-z] )[A-Z][a-z]+ I\b)"  # World War I
    r"|\b(?:type|class|part|stage|act|grade|phase|volume|chapter) i\b"
    r"|(?:said|says|asked|told \w+|replied|:|if) (?:i|my|we)\b"
    r"|\b(?:oh|dear|my) (?:my|me|god|goodness|gosh|lord)\b|\bmy[,.!]"
    r"|\b(?:i|we) (?:\w+ )?wasn'?t\b|\b(?:i|we)\b.* (?:and|but|or) (?:am|was)\b|\bam (?:i|you)\b"
    r"|\bus (?:president|army|navy|citizen|dollars?|states?)\b",
    re.IGNORECASE,
)
_ENGLISH = re.compile(
    r"\b(?:my|the|have|has|with|our|not|to|i'm|from|his|her|their|called|and|were|are|i've|i'll|i'd|we're|we've"
    r"|myself|i (?:am|was|live|work|like|love|hate|have|had|do|don't|can't|got|grew|keep|play|own|think))\b",
    re.IGNORECASE,
)
_I_WAS = re.compile(r"\b(?:i|we)( \w+)? was\b", re.IGNORECASE)
_I_AM = re.compile(r"\bi( \w+)? am\b", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")
_BEGINNING = re.compile(r"(?<=[.!?] )(?:your?|you're|yours)\b")
_TURNED = {
    **{"i": "you", "me": "you", "my": "your", "mine": "yours", "myself": "yourself"},
    **{"we": "you", "us": "you", "our": "your", "ours": "yours", "ourselves": "yourselves"},
    **{"im": "you're", "ive": "you've", "i'm": "you're", "we're": "you're"},
    **{f"{who}'{verb}": f"you'{verb}" for who in ("i", "we") for verb in ("ve", "ll", "d")},
}
"""How the words of the owner are said to him."""
