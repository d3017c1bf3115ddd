"""Finds faults in the form of an answer: broken bytes, missing spaces, two book lines mixed into one.

Pure functions of texts. They prefer to miss a fault over reporting a correct text. They accept what people
write on purpose (iPhone, McDonald, e.g., 3.5, addresses), and every chunk in `seen`, by which
`learning.teacher.answer_check` passes in what the owner taught or typed.
Left out: whether an answer is true, and grammar.
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator

from learning.text.normalise import fold

RUN = 4
"""Number of consecutive words by which part of a sentence is recognised as taken from a book line."""
BROKEN = "\ufffd"
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
_NO_SPACE_NEEDED = re.compile(r"://|www\.|@|[\\/_=#<>{}\[\]()`|~]|\.\w+\.\w")
"""Matches in addresses, paths and code; such chunks are not checked for missing spaces."""
_AFTER_MARK = re.compile(r"(?<=[^\W\d_])[!?]+(?=[^\W\d_])")
"""A sentence that ends without a space after it: "Hello!Hello!"."""
_AFTER_STOP = re.compile(r"([^\W\d_]{2,})[.,;:](?=([^\W\d_]{2,}))")
"""The same for marks that also occur inside words. `seams` reports it only where a new sentence seems to
begin."""
_SHORT = frozenset(
    {"dr", "mr", "mrs", "ms", "st", "prof", "no", "vs", "ph", "jr", "sr", "mt", "ft", "inc"}
)
"""Abbreviations that people write with a full stop and sometimes without a space after it."""
_EVERYDAY = frozenset(
    re.findall(
        r"\w+",
        """a an and are but called can could did do does for from had has have he hello her here hey hi his
        how i if is it its my named nice no not now of oh or our she so some tell thank thanks that the
        their then there they this those to very was we well were what when where which who why will with
        would yes you your""",
    )
)
"""Words that are not parts of names. "YourAna" and "blueIt" are therefore two words each."""
_NAMES = frozenset(
    {
        "youtube",
        "youtuber",
        "youtubers",
        "myspace",
        "mysql",
        "mychart",
        "howto",
        "nosql",
        "noscript",
    }
    | {"tojson", "tostring", "todo", "myfitnesspal", "thefork", "linkedin"}
)
"""Exceptions: names that do contain everyday words."""


def broken(text: str) -> bool:
    """Whether the text contains U+FFFD, a surrogate, or a control character other than tab and newlines."""
    return BROKEN in text or any(
        c not in "\n\t\r" and unicodedata.category(c) in ("Cc", "Cs") for c in text
    )


def sentences_of(text: str) -> list[str]:
    """The text in pieces that end with `.`, `!` or `?`, but for the last, which may end in any way. It is cut
    where white space follows, after abbreviations too."""
    return _SENTENCE_END.split(text.strip())


def with_sentences(text: str) -> list[str]:
    """The text, then each of its sentences; each once."""
    return list(dict.fromkeys([text, *sentences_of(text)]))


def ends_sentence(text: str) -> bool:
    """Whether the last sentence is complete: it ends with . ! ? or an ellipsis, possibly followed by closing
    quotes and brackets."""
    return text.rstrip(" \"')]”’»*").endswith((".", "!", "?", "…"))


def seams(text: str, seen: Collection[str] = ()) -> list[int]:
    """Indexes into `text`, ascending, at which a space is missing between two words.

    seen: casefolded chunks that count as correct, as `chunks` returns them.
    """
    found: list[int] = []
    for match in re.finditer(r"\S+", text):
        chunk = match[0]
        if _bare(chunk) in seen or _NO_SPACE_NEEDED.search(chunk):
            continue
        places = [mark.end() for mark in _AFTER_MARK.finditer(chunk)]
        places += [
            stop.end()
            for stop in _AFTER_STOP.finditer(chunk)
            if stop[1][-1].islower()
            and stop[2][0].isupper()
            and stop[2][1].islower()
            and stop[1].casefold() not in _SHORT
        ]
        places += _humps(chunk, seen)
        found += sorted(match.start() + place for place in places)
    return found


def _humps(chunk: str, seen: Collection[str]) -> list[int]:
    """Indexes into `chunk` at which a capital begins a second word: in "YourAna's", but not in "iPhone" or
    "McDonald"."""
    found = []
    for word in re.finditer(r"[^\W\d_]+", chunk):
        if word[0].casefold() in _NAMES or word[0].casefold() in seen:
            continue
        place = word.start()
        parts = _parts(word[0])
        for left, right in itertools.pairwise(parts):
            place += len(left)
            left, right = left.casefold(), right.casefold()
            common = (left in _EVERYDAY and len(left) > 1) or (right in _EVERYDAY and len(left) > 2)
            if common or left == right:
                found.append(place)
    return found


def _parts(word: str) -> list[str]:
    """Splits a word at each change from a lower-case to an upper-case letter."""
    cuts = [i for i in range(1, len(word)) if word[i].isupper() and word[i - 1].islower()]
    return [word[i:j] for i, j in itertools.pairwise([0, *cuts, len(word)])]


def chunks(texts: Iterable[str]) -> frozenset[str]:
    """The casefolded chunks between white space of the texts, and the words inside them, for use as
    `seen`."""
    found = {_bare(chunk) for text in texts for chunk in text.split()}
    words = {word for chunk in found for word in re.findall(r"[^\W\d_]+", chunk)}
    return frozenset(found | words)


def _bare(chunk: str) -> str:
    return chunk.casefold().strip("\"'“”‘’(),.;:!?")


def mended(text: str, seen: Collection[str] = ()) -> str:
    """The text without broken bytes and control characters, with missing spaces inserted and no white space
    at its ends. seen: as in `seams`."""
    kept = "".join(c for c in text if not broken(c))
    for place in reversed(seams(kept, seen)):
        kept = f"{kept[:place]} {kept[place:]}"
    return kept.strip()


class Blends:
    """Finds answers that mix pieces of several book lines. answers: the answers of the book's lines."""

    def __init__(self, answers: Iterable[str]) -> None:
        self._lines: set[str] = set()
        self._pieces: dict[str, set[str]] = defaultdict(set)
        """Maps each piece (a sentence, or RUN consecutive words) to the folded lines that contain it."""
        for answer in answers:
            line = fold(answer)
            self._lines.add(line)
            for piece in _pieces(answer):
                self._pieces[piece].add(line)

    def blended(self, text: str) -> bool:
        """Whether the text contains pieces of book lines, but no single line contains all of them. False for
        a text that is itself a book line."""
        if fold(text) in self._lines:
            return False
        sources = [self._pieces[piece] for piece in _pieces(text) if piece in self._pieces]
        return bool(sources) and not set.intersection(*sources)


def _pieces(text: str) -> Iterator[str]:
    """Yields each folded sentence, and each run of RUN consecutive words within a sentence."""
    for sentence in sentences_of(text):
        words = fold(sentence).split()
        yield " ".join(words)
        for place in range(len(words) - RUN + 1):
            yield " ".join(words[place : place + RUN])
