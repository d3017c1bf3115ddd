"""What is wrong with the form of an answer: broken bytes, words glued together, two book lines in one.

Pure functions of texts. They are careful: what the owner taught or typed is always right
(learning.teacher.answer_check), and so is what people write on purpose: iPhone, McDonald, e.g.,
3.5, addresses.
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
"""Words in a row that mark a piece as taken from a book line, where it is no whole sentence."""
BROKEN = "\ufffd"
_NO_SPACE_NEEDED = re.compile(r"://|www\.|@|[\\/_=#<>{}\[\]()`|~]|\.\w+\.\w")
"""Addresses, paths, code: a chunk with one of these is no running text."""
_AFTER_MARK = re.compile(r"(?<=[^\W\d_])[!?]+(?=[^\W\d_])")
"""No space after the end of a sentence: "Hello!Hello!"."""
_AFTER_STOP = re.compile(r"([^\W\d_]{2,})[.,;:](?=([^\W\d_]{2,}))")
"""The same for marks that also stand inside words; only where a new sentence seems to begin."""
_SHORT = frozenset(
    {"dr", "mr", "mrs", "ms", "st", "prof", "no", "vs", "ph", "jr", "sr", "mt", "ft", "inc"}
)
"""Written with a stop and, by some, without a space."""
_EVERYDAY = frozenset(
    re.findall(
        r"\w+",
        """a an and are but called can could did do does for from had has have he hello her here hey hi his
        how i if is it its my named nice no not now of oh or our she so some tell thank thanks that the
        their then there they this those to very was we well were what when where which who why will with
        would yes you your""",
    )
)
"""Words that no name is made of: "YourAna", "blueIt" are two words."""
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
"""Names that are made of such words all the same."""


def broken(text: str) -> bool:
    """Whether bytes in it make no character, or a control character stands in it."""
    return BROKEN in text or any(
        c not in "\n\t\r" and unicodedata.category(c) in ("Cc", "Cs") for c in text
    )


def ends_sentence(text: str) -> bool:
    """True if the last sentence is complete: it ends with . ! ? or an ellipsis, possibly before closing
    quotes and brackets."""
    return text.rstrip(" \"')]”’»*").endswith((".", "!", "?", "…"))


def seams(text: str, seen: Collection[str] = ()) -> list[int]:
    """Places where a space is missing between two words, in order.

    seen: casefolded chunks, as `chunks` gives them, that are right as they are.
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
    """Where a capital begins a second word: "YourAna's", and not "iPhone" or "McDonald"."""
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
    """A word, cut at each change from a small letter to a capital."""
    cuts = [i for i in range(1, len(word)) if word[i].isupper() and word[i - 1].islower()]
    return [word[i:j] for i, j in itertools.pairwise([0, *cuts, len(word)])]


def chunks(texts: Iterable[str]) -> frozenset[str]:
    """What stands between white space, and the words within, casefolded: right as they are."""
    found = {_bare(chunk) for text in texts for chunk in text.split()}
    words = {word for chunk in found for word in re.findall(r"[^\W\d_]+", chunk)}
    return frozenset(found | words)


def _bare(chunk: str) -> str:
    return chunk.casefold().strip("\"'“”‘’(),.;:!?")


def mended(text: str, seen: Collection[str] = ()) -> str:
    """The text without broken bytes and control characters, and with the spaces that are missing."""
    kept = "".join(c for c in text if not broken(c))
    for place in reversed(seams(kept, seen)):
        kept = f"{kept[:place]} {kept[place:]}"
    return kept.strip()


class Blends:
    """Finds answers that are pieced together from two lines of a book."""

    def __init__(self, answers: Iterable[str]) -> None:
        self._lines: set[str] = set()
        self._pieces: dict[str, set[str]] = defaultdict(set)
        """A sentence, or RUN words in a row -> the lines (folded) that have them."""
        for answer in answers:
            line = fold(answer)
            self._lines.add(line)
            for piece in _pieces(answer):
                self._pieces[piece].add(line)

    def blended(self, text: str) -> bool:
        """Whether pieces of several lines stand in it that no one line has."""
        if fold(text) in self._lines:
            return False
        sources = [self._pieces[piece] for piece in _pieces(text) if piece in self._pieces]
        return bool(sources) and not set.intersection(*sources)


def _pieces(text: str) -> Iterator[str]:
    """Folded: each sentence, and each RUN words in a row within one."""
    for sentence in re.split(r"(?<=[.!?])\s+", text):
        words = fold(sentence).split()
        yield " ".join(words)
        for place in range(len(words) - RUN + 1):
            yield " ".join(words[place : place + RUN])
