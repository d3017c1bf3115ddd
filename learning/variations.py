"""Other ways of asking the same English question, made by rules, so that a lesson is known under
more than its exact words.

A model that is taught one wording learns that wording. Here a question is put into other frames
("Tell me ...", "Do you know ...?"), its question word and common words are exchanged
(learning.lexicon), little words fall out or all but those that carry the meaning, and the writing
becomes careless. Pronouns never fall out: "my name" and "your name" are different questions. Left
out: grammar; what comes out is what people type, not what they print.
"""

from __future__ import annotations

import random
import re

from learning.lexicon import EXCHANGED, MEASURES

_QUESTION = re.compile(
    r"(?P<wh>what|who|where|when|why|how|which)(?P<what>(?: (?!is|am|are|was|were|do|does|did|can|will)"
    r"[\w'-]+)*?) ?(?P<verb>'s|s|is|am|are|was|were|do|does|did|can|will) (?P<rest>.+)",
    re.IGNORECASE,
)
_SUBJECT = re.compile(
    r"(?P<subject>(?:my|your|our|the|a|an|his|her|their) [\w'-]+|i|you|we|they|he|she|it)\b ?(?P<tail>.*)",
    re.IGNORECASE,
)
_ASKED = {"what", "who", "where", "when", "why", "how", "which", "whats", "what's", "am", "s", "'s"}
_LOOSE = (
    "{}",
    "{}?",
    "{}, which one?",
    "{}: what was it?",
    "what do you know about {}?",
    "what can you say of {}?",
    "about {}",
    "a question about {}",
    "could you give me {}?",
    "let me hear {}.",
    "give me {}.",
    "how do we call {}?",
    "what do I call {}?",
    "which is it, {}?",
    "do I have {}, and which?",
    "and {}, you know?",
)
_ASKING = (
    "Tell me {}.",
    "Can you tell me {}?",
    "Do you know {}?",
    "Do you remember {}?",
    "Remind me {}.",
    "Please tell me {}.",
    "I would like to know {}.",
    "I forgot {}.",
    "Say {}.",
)
_ADDED = ("{}, please?", "So, {}", "Tell me, {}", "And {}", "Hey, {}", "{} again?", "Vidya, {}")
_THING = (
    "Tell me about {}.",
    "Do you know {}?",
    "Do you remember {}?",
    "{}?",
    "What about {}?",
    "Which is {}?",
    "Name {}.",
    "Say {}.",
)
_WH = {
    "where": ("in which place", "in which town", "at which place", "which place"),
    "when": ("on which day", "at what time", "what day", "at which hour"),
    "who": ("which person", "who exactly"),
    "why": ("for what reason", "how come"),
    "which": ("what",),
    "how many": ("what number of", "count how many"),
    "how old": ("of what age",),
}
_SMALL = {"a", "an", "the", "is", "are", "was", "were", "do", "does", "did", "of", "to", "in", "on"}
_SMALL |= {"at", "for", "with", "by", "so", "and", "please", "tell", "say", "be"}
_NAMED = re.compile(r"(?P<thing>.+?) (?:is |was )?(?:called|named)$", re.IGNORECASE)
_LIKED = re.compile(r"(?P<whose>my|your) (?:favourite|favorite) (?P<thing>.+)", re.IGNORECASE)
_LIKING = ("like best", "love most", "prefer", "like the most")


def variations(question: str, count: int, rng: random.Random) -> list[str]:
    """Up to `count` different other wordings of the question; fewer where it gives no more."""
    found: dict[str, str] = {}
    own = _plain(question)
    for _ in range(4 * count):
        text = _vary(question, rng)
        key = _plain(text)
        if key and key != own:
            found.setdefault(key, text)
        if len(found) == count:
            break
    return list(found.values())


def _vary(question: str, rng: random.Random) -> str:
    body = " ".join(question.split()).rstrip("?!. ")
    if rng.random() < 0.4:
        body = _synonyms(body, rng)
    text = rng.choice(_ways(body, rng))
    if rng.random() < 0.25:
        text = _without_small_words(text, rng)
    return _careless(text, rng)


def _ways(body: str, rng: random.Random) -> list[str]:
    """The question in other frames."""
    ways = [rng.choice(_ADDED).format(_lower_first(body)), f"{body}?", f"{_synonyms(body, rng)}?"]
    ways += [_bag(body, rng) for _ in range(3)]
    match = _QUESTION.fullmatch(body)
    if not match:
        return [*ways, rng.choice(_THING).format(_lower_first(body))]
    wh, verb, rest = (match["wh"] + match["what"]).lower(), match["verb"].lower(), match["rest"]
    verb = "is" if verb in ("'s", "s") else verb
    for word in _WH.get(wh, ()) or _WH.get(wh.split()[0], ()):
        ways.append(f"{word} {verb} {rest}?".capitalize())
    clause = _clause(wh, verb, rest)
    ways += [frame.format(clause) for frame in rng.sample(_ASKING, 4)]
    ways += [frame.format(thing) for thing in _things(wh, verb, rest, rng) for frame in _pick(rng)]
    return ways


def _pick(rng: random.Random) -> list[str]:
    return rng.sample(_THING, 3)


def _clause(wh: str, verb: str, rest: str) -> str:
    """The indirect question: "what is my cat called" to "what my cat is called"."""
    match = _SUBJECT.fullmatch(rest)
    if not match:
        return f"{wh} {verb} {rest}" if verb not in ("do", "does", "did") else f"{wh} {rest}"
    subject, tail = match["subject"], match["tail"]
    words = [wh, subject, *([verb] if verb not in ("do", "does", "did") else []), tail]
    return " ".join(word for word in words if word)


def _things(wh: str, verb: str, rest: str, rng: random.Random) -> list[str]:
    """What is asked for, as a noun phrase: "the name of my cat", "my favourite food"."""
    if named := _NAMED.fullmatch(rest):
        thing = named["thing"]
        return [f"the name of {thing}", f"{thing}'s name", f"what name {thing} has"]
    if liked := _LIKED.fullmatch(rest):
        who = "I" if liked["whose"].lower() == "my" else "you"
        thing = liked["thing"]
        return [rest, f"which {thing} {who} {rng.choice(_LIKING)}", f"the {thing} {who} like best"]
    being = verb in ("is", "am", "are", "was", "were")
    if wh in MEASURES and being:
        return [f"{_whose(rest)} {MEASURES[wh]}"]
    if wh == "where" and being:
        return [f"the place of {rest}", f"where to find {rest}"]
    if wh == "when" and being:
        return [f"the day of {rest}", f"the time of {rest}"]
    if wh in ("what", "who") and being:
        return [rest]
    return [f"{wh.split()[-1]} {rest}"] if len(wh.split()) > 1 else []


def _whose(rest: str) -> str:
    """Of whom: "I" to "my", "my dog" to "my dog's"."""
    return {"i": "my", "you": "your", "we": "our"}.get(rest.lower(), f"{rest}'s")


def _synonyms(text: str, rng: random.Random) -> str:
    """Some words and phrases exchanged, the longest first."""
    words, made, at = text.split(), list[str](), 0
    while at < len(words):
        for length in (3, 2, 1):
            phrase = " ".join(words[at : at + length])
            core = phrase.rstrip("?!.,")
            others = _others(core.lower())
            if others and at + length <= len(words) and rng.random() < 0.6:
                made.append(rng.choice(others) + phrase[len(core) :])
                at += length
                break
        else:
            made.append(words[at])
            at += 1
    return " ".join(made)


def _others(word: str) -> tuple[str, ...]:
    """What may stand for a word; of a plural or a possessive, that of its stem."""
    if word in EXCHANGED:
        return EXCHANGED[word]
    for ending in ("'s", "s"):
        stem = word.removesuffix(ending)
        if stem != word and stem in EXCHANGED:
            return tuple(other + ending for other in EXCHANGED[stem])
    return ()


def _bag(body: str, rng: random.Random) -> str:
    """The words that carry the meaning, with a few others around them."""
    words = [w for w in body.lower().split() if w not in _SMALL and w not in _ASKED]
    if rng.random() < 0.5:
        words = _synonyms(" ".join(words), rng).split()
    return rng.choice(_LOOSE).format(" ".join(words)) if words else body


def _without_small_words(text: str, rng: random.Random) -> str:
    words = text.split()
    kept = [w for w in words if w.lower().rstrip("?!.,") not in _SMALL or rng.random() < 0.4]
    return " ".join(kept) if len(kept) > 1 else text


def _careless(text: str, rng: random.Random) -> str:
    """Capital letters and the mark at the end are there or not."""
    draw = rng.random()
    if draw < 0.25:
        return text.rstrip("?!.").lower()
    if draw < 0.4:
        return text.lower()
    return text[:1].upper() + text[1:]


def _lower_first(text: str) -> str:
    return text if text[:2] in ("I ", "I'") else text[:1].lower() + text[1:]


def _plain(text: str) -> str:
    """What differs in more than spaces."""
    return " ".join(text.split())
