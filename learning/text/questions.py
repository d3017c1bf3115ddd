"""What an English question asks for: the ways to ask it directly, as a clause, and as a thing.

"What is my rabbit called?" asks "what's my rabbit's name", for "what my rabbit is called" and for "the
name of my rabbit". Made by rules for the questions that people teach: what, who, where, when, how and
which with a form of be or do, yes or no, and "tell me ...". Left out: all other grammar; such a message
is only taken as it is.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass, field

from learning.text.synonyms import MEASURES
from learning.text.verbs import VERBS, past, third_person

_BE = ("is", "am", "are", "was", "were")
_DO = ("do", "does", "did")
_WH = ("what", "who", "where", "when", "why", "how", "which")
_OTHER = {"what": "which", "which": "what"}
_VERB = "|".join((*_BE, *_DO, "can", "will", "should", "would", "could"))
_OPEN = re.compile(
    rf"(?P<wh>{'|'.join(_WH)})(?P<noun>(?: (?!(?:{_VERB})\b)[\w'-]+)*?) (?P<verb>{_VERB}) (?P<rest>.+)",
    re.IGNORECASE,
)
_CLOSED = re.compile(rf"(?P<verb>{_VERB}|have|has) (?P<rest>.+)", re.IGNORECASE)
_REQUEST = re.compile(
    r"(?:please |can you |could you |would you )*(?:tell|give|show) (?:me|us) (?:about )?(?P<thing>.+)"
    r"|(?:please )?(?:say|name) (?P<said>(?!of\b).+)",
    re.IGNORECASE,
)
_NAMED = re.compile(r"(?P<thing>.+?) (?:called|named)", re.IGNORECASE)
_NAME = re.compile(
    r"(?P<whose>(?:my|your|our|his|her|their) .+?)(?:'s|s'|(?<!s)s) name|the name of (?P<of>.+)",
    re.IGNORECASE,
)
_LIKED = re.compile(r"(?P<whose>my|your) (?:favourite|favorite) (?P<thing>.+)", re.IGNORECASE)
_HAVING = re.compile(
    r"do (?P<who>i|you) have an? (?:favourite|favorite) (?P<thing>.+)", re.IGNORECASE
)
_OF = re.compile(r"the (?P<what>[\w-]+) of (?P<whose>[\w' -]+)", re.IGNORECASE)
_PARTICIPLE = re.compile(r"(?P<who>i|you|we|he|she|they) (?P<how>.+)", re.IGNORECASE)
_OWNERS = {
    "i": "my",
    "you": "your",
    "we": "our",
    "he": "his",
    "she": "her",
    "it": "its",
    "they": "their",
}
_DETERMINERS = {"my", "your", "our", "his", "her", "their", "the", "a", "an", "this", "that"}
_CONTRACTED = re.compile(r"(what|who|where|when|how)(?:'s|s)", re.IGNORECASE)
_TAILS = {"born", "made", "from", "like", "about", "allergic", "afraid", "called", "known", "good"}
"""Words that stand behind the subject and a form of be ..."""
_PREPOSITIONS = {"at", "in", "on", "for", "with", "to"}
"""... and those that begin what does."""
_LIKING = ("like best", "love most", "like most", "like the most", "prefer")


@dataclass
class Asked:
    """One question, taken apart; empty lists where the rules do not reach."""

    direct: list[str] = field(default_factory=list)
    """Questions, without a mark: "what is my rabbit's name"."""
    clauses: list[str] = field(default_factory=list)
    """After "tell me": "what my rabbit is called"."""
    things: list[str] = field(default_factory=list)
    """Noun phrases: "the name of my rabbit"."""


def is_question(message: str) -> bool:
    """Whether something is asked, with or without a mark, or is to be told."""
    text = message.strip()
    if text.endswith("?"):
        return True
    plain = expanded(text.rstrip("!. "))
    return any(form.fullmatch(plain) for form in (_OPEN, _CLOSED, _REQUEST))


def understand(question: str, rng: random.Random) -> Asked:
    """Of a question without its mark. rng: chooses among what means the same."""
    text = expanded(question)
    asked = Asked([text])
    if match := _OPEN.fullmatch(text):
        wh, noun = match["wh"].lower(), match["noun"].strip()
        verb, rest = match["verb"].lower(), match["rest"]
        if verb in _BE:
            _being(asked, wh, noun, verb, rest, rng)
        else:
            _doing(asked, wh, noun, verb, rest)
    elif match := _REQUEST.fullmatch(text):
        _request(asked, match["thing"] or match["said"], rng)
    elif match := _CLOSED.fullmatch(text):
        _closed(asked, match["verb"].lower(), match["rest"], rng)
    asked.direct += [short for one in asked.direct if (short := contracted(one)) != one]
    return asked


def expanded(question: str) -> str:
    """ "whats my name" to "what is my name"."""
    words = question.replace("\u2019", "'").split()
    if words and (match := _CONTRACTED.fullmatch(words[0])):
        words[:1] = [match[1], "is"]
    return " ".join(words)


def contracted(question: str) -> str:
    """ "what is my name" to "what's my name"; as it was where there is nothing to contract."""
    return re.sub(r"^(what|who|where|when|how) is (?=\S)", r"\1's ", question, flags=re.IGNORECASE)


# ------------------------------------------------------------ with a form of be


def _being(asked: Asked, wh: str, noun: str, verb: str, rest: str, rng: random.Random) -> None:
    """what/who/which/how/where/when ... is ..."""
    whole = f"{wh} {noun}".strip()
    asked.clauses.append(f"{whole} {_after(rest, verb)}")
    if named := _NAMED.fullmatch(rest):
        _name_of(asked, named["thing"], rng)
    elif whole in MEASURES:
        _measured(asked, MEASURES[whole], rest)
    elif wh == "where":
        _place(asked, verb, rest)
    elif wh == "when":
        _date(asked, verb, rest, rng)
    elif whole in ("what", "who"):
        _thing(asked, rest, f"{wh} {verb}", rng)
        asked.direct.pop()  # it is the question itself
    elif noun and wh in _OTHER:
        _kind(asked, wh, noun, verb, rest)


def _request(asked: Asked, thing: str, rng: random.Random) -> None:
    """ "tell me your name", "tell me where I live"; a joke is only a thing."""
    first = thing.split()[0].lower()
    if first in _WH:
        asked.clauses.append(thing)
    elif first in _DETERMINERS - {"a", "an", "this", "that"}:
        asked.direct.clear()
        _thing(asked, thing, "what is", rng)
    else:
        asked.things.append(thing)


def _thing(asked: Asked, thing: str, what: str, rng: random.Random) -> None:
    """A noun phrase, and what else it is called. what: "who was"."""
    if name := _NAME.fullmatch(thing):
        _name_of(asked, name["whose"] or name["of"], rng)
    elif liked := _LIKED.fullmatch(thing):
        _liked(asked, liked["whose"].lower(), liked["thing"], rng)
        asked.things.append(thing)
    elif thing.lower() not in _OWNERS:
        asked.things.append(thing)
        if whose := _OF.fullmatch(thing):
            asked.things.append(f"{whose['whose']}'s {whose['what']}")
            asked.direct.append(f"{what} {whose['whose']}'s {whose['what']}")
    asked.direct.append(f"{what} {thing}")


def _name_of(asked: Asked, thing: str, rng: random.Random) -> None:
    if owner := _OWNERS.get(thing.lower()):
        asked.things.append(f"{owner} name")
        asked.direct.append(f"what is {owner} name")
        asked.clauses.append(f"what {owner} name is")
        return
    asked.things += [f"{thing}'s name", f"the name of {thing}"]
    asked.direct += [
        f"what is {thing} called",
        *2 * (f"what is {thing}'s name",),  # what is said most
        f"what is the name of {thing}",
        rng.choice([f"what name does {thing} have", f"{thing}, what is the name"]),
        rng.choice([f"{thing}, what is it called", f"which name does {thing} have"]),
    ]
    asked.clauses += [f"what {thing} is called", f"what {thing}'s name is"]
    if thing.lower().startswith(("my ", "our ")):
        who = "I" if thing.lower().startswith("my ") else "we"
        asked.direct.append(
            rng.choice([f"what do {who} call {thing}", f"what did {who} name {thing}"])
        )


def _liked(asked: Asked, whose: str, thing: str, rng: random.Random) -> None:
    who, liking = ("I" if whose == "my" else "you"), rng.choice(_LIKING)
    asked.things += [f"the {thing} {who} {liking}", f"{whose} favourite {thing}"]
    asked.clauses += [f"which {thing} {who} {liking}", f"what {whose} favourite {thing} is"]
    asked.direct += [
        f"which {thing} do {who} {liking}",
        f"what {thing} do {who} {rng.choice(_LIKING)}",
        f"which {thing} is {whose} favourite",
        f"what is {whose} favourite {thing}",
        f"what is the {thing} {who} {liking}",
    ]


def _measured(asked: Asked, measure: str, rest: str) -> None:
    owner = _OWNERS.get(rest.lower())
    if not owner and rest.split()[0].lower() in _OWNERS:
        return  # "how long was I in hospital"
    first = f"{owner} {measure}" if owner else f"{rest}'s {measure}"
    asked.things += [first] if owner else [first, f"the {measure} of {rest}"]
    asked.direct.append(f"what is {first}")
    asked.clauses.append(f"what {first} is")


def _place(asked: Asked, verb: str, rest: str) -> None:
    asked.direct += _in_place(verb, rest)
    if rest.lower() in _OWNERS:
        return
    if born := _PARTICIPLE.fullmatch(rest):
        asked.things.append(f"the place where {born['who']} {verb} {born['how']}")
        asked.direct += [f"which town {verb} {rest} in", f"what town {verb} {rest} in"]
        asked.clauses.append(f"in which town {_after(rest, verb)}")
    else:
        asked.direct += [f"where do I find {rest}", f"where can I find {rest}"]
        asked.clauses.append(f"where to find {rest}")


def _in_place(verb: str, rest: str) -> list[str]:
    return [f"in which place {verb} {rest}", f"what place {verb} {rest} in"]


def _date(asked: Asked, verb: str, rest: str, rng: random.Random) -> None:
    if _PARTICIPLE.fullmatch(rest):
        asked.direct.append(f"what day {verb} {rest}")
        asked.clauses.append(f"what day {_after(rest, verb)}")
        return
    asked.things += [f"the date of {rest}", f"the {rng.choice(['day', 'time'])} of {rest}"]
    asked.direct += [
        f"what date {verb} {rest}",
        f"what day {verb} {rest}",
        f"what time {verb} {rest}",
    ]
    asked.direct.append(f"what is the date of {rest}")
    asked.clauses += [f"what day {rest} {verb}", f"what date {rest} {verb}"]


def _kind(asked: Asked, wh: str, noun: str, verb: str, rest: str) -> None:
    """ "what colour is my door", "which planet is closest to the sun"."""
    other = _OTHER[wh]
    asked.direct.append(f"{other} {noun} {verb} {rest}")
    words = rest.split()
    first = words[0].lower()
    if first in _OWNERS:
        asked.clauses.append(f"{other} {noun} {_after(rest, verb)}")
        if len(words) > 1:
            asked.things.append(f"the {noun} {_after(rest, verb)}")
    elif first in _DETERMINERS - {"the"} or first.endswith("'s") or wh == "what":
        asked.clauses.append(f"{other} {noun} {_after(rest, verb)}")
        asked.things.append(f"the {noun} of {rest}")
        asked.direct.append(f"what {verb} the {noun} of {rest}")
        if first in _DETERMINERS and len(words) <= 3:
            asked.things.append(f"{rest}'s {noun}")
            asked.direct.append(f"what {verb} {rest}'s {noun}")
    else:
        asked.clauses[:] = [f"{either} {noun} {verb} {rest}" for either in (wh, other)]
        asked.things.append(f"the {noun} that {verb} {rest}")
        asked.direct.append(f"what {verb} the {noun} that {verb} {rest}")
        if first == "the" and len(words) == 2:
            asked.things.append(f"the {words[1]} {noun}")
            asked.direct.append(f"what {verb} the {words[1]} {noun}")


# ------------------------------------------------------------ with a form of do, and yes or no


def _doing(asked: Asked, wh: str, noun: str, verb: str, rest: str) -> None:
    """what/where/how many ... do I ..."""
    if wh == "who" and not noun and rest.split()[0].lower() not in _OWNERS:
        return  # "who did the dishes" asks for the subject
    statement = _statement(verb, rest)
    whole = f"{wh} {noun}".strip()
    asked.clauses.append(f"{whole} {statement}")
    if noun and wh in _OTHER:
        other = _OTHER[wh]
        asked.direct.append(f"{other} {noun} {verb} {rest}")
        if not noun.startswith(("kind", "sort", "type")):
            asked.direct.append(f"what kind of {noun} {verb} {rest}")
        asked.direct.append(f"what is the {noun} {statement}")
        asked.things += [f"the {noun} {statement}", f"the {noun} that {statement}"]
        asked.clauses.append(f"{other} {noun} {statement}")
    elif noun.startswith("many "):
        counted = noun.removeprefix("many ")
        asked.direct += [f"what number of {counted} {verb} {rest}"]
        asked.things.append(f"the number of {counted} {statement}")
    elif wh == "where":
        asked.direct += _in_place(verb, rest)
        asked.things.append(f"the place where {statement}")
    elif wh == "when":
        asked.direct += [f"what time {verb} {rest}", f"at what time {verb} {rest}"]
        asked.direct.append(f"what day {verb} {rest}")
        asked.things.append(f"the time when {statement}")
    elif whole == "what":
        asked.direct += [f"what is it {statement}", f"which thing {verb} {rest}"]
        asked.things.append(f"the thing {statement}")
    elif whole == "why":
        asked.direct += [f"how come {statement}", f"for what reason {verb} {rest}"]
        asked.things.append(f"the reason why {statement}")


def _closed(asked: Asked, verb: str, rest: str, rng: random.Random) -> None:
    """Yes or no; "do you have a favourite colour" asks for the colour, "... to anything" for what."""
    if match := _HAVING.fullmatch(f"{verb} {rest}"):
        _liked(asked, "my" if match["who"].lower() == "i" else "your", match["thing"], rng)
        return
    if rest.lower().endswith(" anything"):
        asked.direct.append(f"what {verb} {rest[: -len(' anything')]}")
        asked.clauses.append(f"what {_inside(rest[: -len(' anything')], verb)}")
    statement = _statement(verb, rest)
    asked.clauses += [f"whether {statement}", f"if {statement}"]
    asked.direct += [
        f"is it true that {statement}",
        f"{statement}, right",
        f"{statement}, yes or no",
    ]


def _statement(verb: str, rest: str) -> str:
    """ "does my sister live here" to "my sister lives here"; another verb is kept."""
    if verb not in _DO:
        return _inside(rest, verb)
    words = rest.split()
    at = _verb_at(words)
    if at >= len(words):
        return rest
    form = {"does": third_person, "did": past}.get(verb)
    if form:
        words[at] = form(words[at].lower())
    return " ".join(words)


def _after(rest: str, verb: str) -> str:
    """The verb behind its subject: "my rabbit called", "is" to "my rabbit is called"."""
    words = rest.split()
    return _placed(words, verb, _subject_end(words))


def _inside(rest: str, verb: str) -> str:
    """The verb between a short subject and the rest: "my dog old", "is" to "my dog is old"."""
    words = rest.split()
    return _placed(words, verb, _subject_least(words))


def _placed(words: list[str], verb: str, at: int) -> str:
    return " ".join([*words[:at], verb, *words[at:]])


def _subject_least(words: list[str]) -> int:
    """Words that the subject has at least."""
    return 2 if words[0].lower() in _DETERMINERS else 1


def _verb_at(words: list[str]) -> int:
    """Where the verb of a subject and its verb is: a known one, else the first word that can be."""
    if words[0].lower() in _OWNERS:
        return 1
    least = _subject_least(words)
    known = (i for i in range(least, len(words)) if words[i].lower() in VERBS)
    return next(known, least)


def _subject_end(words: list[str]) -> int:
    """Words of the subject before a form of be: up to a participle or the like, else all of them."""
    if words[0].lower() in _OWNERS:
        return 1
    for at in range(_subject_least(words), len(words)):
        word = words[at].lower()
        if word in _TAILS or (word.endswith("ed") and len(word) > 3) or word in _PREPOSITIONS:
            return at
    return len(words)
