"""Decides whether a sentence asserts a number, denies it, or only bounds or approximates it.

Works on a skeleton: the text with DIGITS in place of each number in digits and WORDS in place of each
number in words. A number is *denied* if it is negated, doubted, questioned, bounded or rounded (`not 5`,
`I doubt it is 5`, `5?`, `more than 5`, `about 5`, `5 is wrong`), and *entangled* if it is part of
something larger (`5 or 6`, `3-5`, `5 * 3`, `5:30`, `5 feet 3`). A negation reaches to the end of its
clause or to the next verb that starts a new statement: `those who do not play are 5` and `not 4 but 5`
both assert 5. Left out: other languages, irony.
"""

from __future__ import annotations

import re
from collections.abc import Callable

DIGITS, WORDS = "\0", "\1"
"""Placeholders for a number in digits and a number in words."""
_N = f"[{DIGITS}{WORDS}]"
_NO_N = f"[^{DIGITS}{WORDS}.!?;\n]"

_NEAR = 80
"""Characters before a number that are searched for a bound."""
_SENTENCE = re.compile(r"[.!?](?=[\s)\"'”»]|$)|\n")
_CLAUSE = re.compile(
    r"[.!?;](?=\s|$)|\n|,(?=\s)|\b(?:so|therefore|thus|hence|because|since|although|though|whereas"
    r"|while|instead|then|but)\b|\s-+\s(?=[a-z])",
    re.IGNORECASE,
)
_ASIDE = re.compile(
    r"^[\s,$€£(\"']*(?:i (?:think|believe|guess|say)|however|of course|honestly|clearly)?[\s,$€£(\"']*$",
    re.IGNORECASE,
)
"""A clause without content of its own; it continues the clause before it."""
_NOT_WRONG = re.compile(
    r"(?:\bnot|n't|\bnever|\bno)\s+(?:\w+\s+)?(?:wrong|incorrect|false|mistaken)\b", re.IGNORECASE
)
_NOT = (
    r"(?:\b(?:not|never|neither|nor|cannot|hardly|scarcely|(?:is|are|was|were|do|does|did|ca|wo|ai)nt)\b"
    r"|n't\b|\bno (?:way|chance|longer|case|circumstances?|means)\b|¬)"
)
_NEGATED = re.compile(_NOT, re.IGNORECASE)
_NEW_VERB = re.compile(
    r"\b(?:is|are|was|were|equals|makes|totals|has|had|costs|gives|leaves|comes|gets|needs|becomes"
    r"|remains?|contains|holds|will|must)\b|=",
    re.IGNORECASE,
)
_DOUBTED = re.compile(
    _NOT + r"\s+(?:\w+\s+){0,2}?(?:think|believe|say|claim|agree|accept|certain|sure|true|right"
    r"|correct|case|likely|possible|know|expect|suppose|convinced)\b"
    r"|\b(?:doubt\w*|den(?:y|ies|ied)|unlikely|impossible|unsure|uncertain|reject\w*|refut\w*|maybe"
    r"|perhaps|possibly|probably|presumably|whether|(?:nobody|no one) \w+s)\b"
    r"|\b(?:wrong|false|incorrect|mistaken)(?:ly)?\s*(?:(?:to|that|answers?|guess\w*|numbers?|values?"
    r"|results?|solutions?)\b|[:,]|$)",
    re.IGNORECASE,
)
_FILL = (
    r"(?:(?:the|an?|just|only|exactly|even|about|number|value|answer|total|of|be|by)\s+){0,3}\$?$"
)
_BOUND = re.compile(
    r"(?:\b(?:(?:more|less|other|rather|\w+er) than(?: or equal to)?|at (?:the )?(?:very )?(?:least|most)"
    r"|up to|over|under|above|below|beyond|exceed(?:s|ed|ing)?|within|between|(?:mini|maxi)mum of"
    r"|as (?:many|much|few|little) as|upwards of|nearly|almost|about|around|approximately|approx\.?"
    r"|roughly|circa|ca\.|close to|near|not quite|practically|some|except(?: for)?|excluding|unlike"
    r"|instead of|different from|unequal to|besides|without|far from|nothing like|opposite of|no"
    r"|(?:might|may|could)(?: well)? be)\s+"
    rf"|\b(?:any|every)(?:thing|one)?(?: \w+)? but\s+|\ball but\s+){_FILL}"
    rf"|\bbetween\s{_NO_N}{{0,20}}{_N}{_NO_N}{{0,20}}\band\s+$"
    r"|(?:≠|¬|!=|=/=|<>|(?<![-=])[<>]=?|[≤≥~≈∼≃±])\s*$",
    re.IGNORECASE,
)
_ADDS_UP = re.compile(
    r"\b(?:add|sum|com|bring|round|count)\w*(?: \w+){0,2} up to\s+$", re.IGNORECASE
)
_UNIT = r"^(?:\s*[°%$€£]|\s+[a-z²³]+\b){0,2}?"
_BOUND_AFTER = re.compile(
    rf"^-?ish\b|{_UNIT}\s*(?:\+(?!\s*{_N})|(?:or|and)\s+(?:more|less|fewer|greater|higher|lower|above"
    r"|below|over|under|up|so|thereabouts|beyond|upwards?|counting)\b|at (?:least|most)\b"
    r"|(?:mini|maxi)mum\b|max\b|tops\b|upwards\b|give or take\b|plus\s*(?:$|[.,])|±)"
    r"|^(?:\s+degrees?)?\s+below\b"
    rf"|^{_NO_N}{{0,60}}\?",
    re.IGNORECASE,
)
_DENIED_AFTER = re.compile(
    r"^[^\0\1\n]{0,60}?(?:\b(?:is|was|are|were|be|seems|looks|just|not)|'s|[,(.!?:;-])\s*(?:\w+\s+)?"
    r"(?:wrong|incorrect|false|mistaken|untrue|invalid|kidding|nonsense)\b(?!/)"
    rf"|^{_NO_N}{{0,30}}?(?:n't|\bnot|\bnever|\bcannot)\s+(?:\w+\s+){{0,3}}?(?:answer|right|correct"
    r"|true|solution|result|possible|valid|case)\b"
    r"|^[\s,.!?-]*(?:not|no|nope)[\s.!?]*$"
    rf"|^{_NO_N}{{0,20}}[.!?]\s+(?:not|no|nope)\s*(?:[.!,]|$)"
    rf"|^{_NO_N}{{0,20}},\s*(?:maybe|perhaps|possibly|probably)\b",
    re.IGNORECASE,
)
_LARGE_UNIT = (
    r"(?:hours?|hrs?|h|minutes?|mins?|m|days?|weeks?|months?|years?|feet|foot|ft|yards?|miles?|pounds?"
    r"|lbs?|dollars?|kg|kilograms?|km|kilomet(?:er|re)s?|met(?:er|re)s?|gallons?|quarts?)"
)
_SMALL_UNIT = (
    r"(?:minutes?|mins?|seconds?|secs?|hours?|days?|weeks?|months?|inch(?:es)?|in|ounces?|oz|cents?"
    r"|grams?|g|cm|mm|feet|ft)\b"
)
_ENTANGLED = re.compile(
    # two numbers around a joint: one of several, a range, an operand, a time, a date
    rf"{_N}(?=[ \t()]*(?:[-+*/×÷·⋅∙^:x]|\*\*|;|\band\b|\bto\b|\bthrough\b|\bversus\b|\bvs\b|"
    rf"\btimes\b|\bplus\b|\bminus\b|\bpoint\b|\bover\b|\b(?:multiplied |divided )?by\b)[\s()]*{_N})"
    rf"|{_N}(?=[.'_:/-]{_N})|{WORDS}(?=\s+of\s+{_N})|{_N}(?=\s+out\s+of\s+{_N})"
    rf"|{DIGITS}(?=\s?{_LARGE_UNIT}\.?,?(?: and)?\s*{DIGITS}\s?{_SMALL_UNIT})"
    rf"|{WORDS}(?=\s{_LARGE_UNIT},?(?: and)?\s{WORDS}\s{_SMALL_UNIT})",
    re.IGNORECASE,
)
_ALTERNATIVES = re.compile(
    rf"{DIGITS}(?=[ \t]*{DIGITS})|{WORDS}(?=[ \t]*{WORDS})|{_N}(?=[ \t]*,\s*{_N})"
    rf"|{_N}(?={_NO_N}{{0,40}}\bor\b{_NO_N}{{0,40}}{_N})",
    re.IGNORECASE,
)
_PART = re.compile(
    rf"{_N}(?=\s+(?:squared|cubed|factorial|doubled|tripled|halved|and (?:a|one|two|three) (?:half|third"
    r"|quarter)s?\b|to the (?:power\b|\w+th\b|[\0\1])|raised to\b|in (?:\w+ )?debt)|\s*(?:\^|\*\*))",
    re.IGNORECASE,
)
_PART_AFTER = re.compile(
    r"(?:\b(?:half|third|quarter|twice|thrice|double|triple|sqrt|root|cube|square|log|factorial)"
    r"(?:\s+of)?\s*\(?\s*|\bto the (?:power (?:of )?)?|[√^]\s*\(?)$",
    re.IGNORECASE,
)
_ANSWER = re.compile(
    r"\banswer\b(?:\s+(?:is|was|must be|should be|would be|will be|comes (?:out )?to|equals))\b\s*[:=]?"
    r"|\banswer\b\s*(?:[:=]|\n)",
    re.IGNORECASE,
)
_IS_ANSWER = re.compile(
    rf"{_N}(?={_NO_N}{{0,30}}\bis (?:the|our|my) (?:\w+ )?(?:answer|result|solution)\b)",
    re.IGNORECASE,
)
_CORRECTED = re.compile(
    r"\b(?:no|actually|wait|sorry|correction|oops|i mean|instead|rather)\b", re.IGNORECASE
)
_INSTEAD = re.compile(
    r",\s*(?:but|rather|instead|it(?:'s| is| was)|the (?:\w+ )?answer)\b", re.IGNORECASE
)
_STATED = re.compile(r"[.!?;](?=\s|$)|(?<=\S)\n|,(?=\s*[a-z])|\b(?:because|since)\b", re.IGNORECASE)


def denied(skeleton: str, at: int) -> bool:
    """True if the number at index `at` is negated, doubted, questioned, bounded or approximate."""
    text = _NOT_WRONG.sub("right", skeleton[:at])
    before, after = _clause(text), _NOT_WRONG.sub("right", skeleton[at + 1 :])
    if _DOUBTED.search(before) or _BOUND_AFTER.search(after) or _DENIED_AFTER.search(after):
        return True
    near = text[-_NEAR:]
    if _BOUND.search(near) and not _ADDS_UP.search(near):
        return True
    last = None
    for match in _NEGATED.finditer(before):
        last = match
    return last is not None and not _NEW_VERB.search(before, last.end())


def entangled(skeleton: str, same: Callable[[int, int], bool]) -> set[int]:
    """Indices of numbers that are part of something larger or one of several alternatives. same(i, j):
    whether two numbers are equal, written in two ways (`1/2 or 50%`)."""
    found = {match.start() for match in _PART.finditer(skeleton)}
    for match in _ENTANGLED.finditer(skeleton):
        found |= {match.start(), _next(skeleton, match.end())}
    for match in _ALTERNATIVES.finditer(skeleton):
        other = _next(skeleton, match.end())
        if not same(match.start(), other):
            found |= {match.start(), other}
    for place in places(skeleton):
        if _PART_AFTER.search(skeleton[max(0, place - 30) : place]):
            found.add(place)
    return found


def places(skeleton: str, start: int = 0, end: int | None = None) -> list[int]:
    """Indices of the numbers in digits; if there are none, of the numbers in words."""
    part = range(start, len(skeleton) if end is None else end)
    return [i for i in part if skeleton[i] == DIGITS] or [i for i in part if skeleton[i] == WORDS]


def answering(skeleton: str) -> tuple[list[int], bool]:
    """Indices of the numbers that a text without an answer field may give as its answer, and whether
    they must all agree. They follow the last `the answer is`, or are called the answer (must agree);
    else they are those of the last sentence with a number, of which the last asserted one counts."""
    marked = [(m.end(), m.end()) for m in _ANSWER.finditer(skeleton)]
    marked += [(m.start(), m.end()) for m in _IS_ANSWER.finditer(skeleton)]
    for start, end in sorted(marked, reverse=True):
        stop = end
        if start == end:
            rest = skeleton[start:]
            begin = start + len(rest) - len(rest.lstrip())
            over = _STATED.search(skeleton, begin)
            if over and _INSTEAD.match(skeleton, over.start()):  # not 4, but 5
                over = _SENTENCE.search(skeleton, begin)
            stop = over.start() if over else len(skeleton)
        found = places(skeleton, start, stop)
        if found and not _corrected(skeleton, stop):
            return found, True
        if found:
            break
    for start, end in reversed(_sentences(skeleton)):
        if DIGITS in skeleton[start:end] or (
            DIGITS not in skeleton and WORDS in skeleton[start:end]
        ):
            return places(skeleton, start, end), False
    return [], False


def _corrected(skeleton: str, start: int) -> bool:
    """True if a word of correction (`no`, `actually`, `wait`) and another number follow."""
    found = _CORRECTED.search(skeleton, start)
    return found is not None and bool(places(skeleton, found.end()))


def _sentences(skeleton: str) -> list[tuple[int, int]]:
    ends = [match.end() for match in _SENTENCE.finditer(skeleton)] + [len(skeleton)]
    return list(zip([0, *ends], ends, strict=False))


def _clause(text: str) -> str:
    """The clause at the end of the text: from the last boundary on, extended back over a comma if the
    part after it has no content of its own."""
    start = 0
    for match in _CLAUSE.finditer(text):
        if match[0] != ",":
            start = match.end()
    parts = text[start:].split(",")
    last = whole = parts.pop()
    while parts and _ASIDE.match(last):
        last = parts.pop()
        whole = f"{last},{whole}"
    return whole


def _next(skeleton: str, start: int) -> int:
    while skeleton[start] not in (DIGITS, WORDS):
        start += 1
    return start
