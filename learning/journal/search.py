"""Full-text search in all that was said: SQLite's FTS5 over messages, answers and candidates.

Words of two letters or more are found by their beginning, whatever their case and accents; all of them
must be there, words in double quotes side by side. What has no words in it (emoji), and scripts that
write no spaces, are looked for letter by letter, which takes longer. No query is an error.

The index (step 3 of learning.journal.migrations) holds no text of its own: triggers follow every row
that is written or deleted, and `rebuild_index` leaves nothing in it of what was deleted before.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from learning.journal.database import Store
from learning.text.normalise import writable

KINDS = ("message", "answer", "candidate")
"""Of the texts in the index; the number of a text there is 3 times its row's number, plus its kind."""
_TABLES = {"message": ("asks", "message"), "answer": ("answers", "text")}
_TABLES["candidate"] = ("candidates", "text")
_PIECES = re.compile(r'"([^"]*)"?|(\S+)')
_NO_SPACES = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u303f\u3040-\u30ff\u3400-\u9fff"
    "\uf900-\ufaff\U00020000-\U0003ffff]"
)
"""Thai, Lao, Burmese, Khmer, Chinese, Japanese: a whole sentence is one word to the index."""


@dataclass(frozen=True)
class Hit:
    """A text that a search found."""

    conversation: int
    ask: int
    place: str
    """"message", "answer" or "candidate"."""
    text: str
    created: float


@dataclass(frozen=True)
class Query:
    """What was typed, taken apart."""

    match: str
    """In FTS5's language; empty where no words were typed."""
    letters: tuple[str, ...]
    """Folded texts that must be contained besides."""
    words: tuple[str, ...]
    """Everything that was typed, piece by piece, to be marked in what is found."""

    def __bool__(self) -> bool:
        return bool(self.words)


def read_query(text: str) -> Query:
    """Takes any text; nothing in it is an operator but double quotes around several words."""
    clean = writable(text.replace("\0", " "))
    match: list[str] = []
    letters: list[str] = []
    words: list[str] = []
    for found in _PIECES.finditer(clean):
        phrase, word = found[1], found[2]
        piece = " ".join((phrase if word is None else word).replace('"', " ").split())
        if not piece:
            continue
        words.append(piece)
        if _NO_SPACES.search(piece) or not any(c.isalnum() for c in piece):
            letters.append(piece.casefold())
        else:
            match.append(f'"{piece}"' + ("*" if word is not None and len(piece) > 1 else ""))
    return Query(" AND ".join(match), tuple(letters), tuple(words))


def search(store: Store, text: str, limit: int = 200) -> list[Hit]:
    """Messages, answers and candidates that the query finds, newest first."""
    query = read_query(text)
    hits: list[Hit] = []
    for kind, (table, column) in _TABLES.items():
        if not query:
            break
        ask = "t.id" if kind == "message" else "t.ask"
        where, values = _condition(query, kind, f"t.{column}")
        rows = store.rows(
            f"""SELECT a.conversation, {ask}, '{kind}', t.{column}, t.created
            FROM {table} t JOIN asks a ON a.id = {ask} WHERE {where} ORDER BY t.id DESC LIMIT ?""",
            *values,
            limit,
        )
        hits += [Hit(*row) for row in rows]
    return sorted(hits, key=lambda hit: (hit.created, hit.ask), reverse=True)[:limit]


def found_in(store: Store, text: str) -> dict[int, tuple[str, int]]:
    """Conversations whose title, messages or answers the query finds -> the newest text of it that
    was found: (kind, its row), kind "title" with row 0 where only the title was."""
    query = read_query(text)
    found: dict[int, tuple[str, int]] = {}
    if not query:
        return found
    titles = " AND ".join(["contains(title, ?)"] * len(query.words))
    folded = [word.casefold() for word in query.words]
    for (conversation,) in store.rows(
        f"SELECT id FROM conversations WHERE title IS NOT NULL AND {titles}", *folded
    ):
        found[conversation] = ("title", 0)
    for kind in ("answer", "message"):
        table, column = _TABLES[kind]
        ask = "t.id" if kind == "message" else "t.ask"
        where, values = _condition(query, kind, f"t.{column}")
        rows = store.rows(
            f"""SELECT a.conversation, max(t.id) FROM {table} t JOIN asks a ON a.id = {ask}
            WHERE {where} GROUP BY a.conversation""",
            *values,
        )
        found.update({conversation: (kind, row) for conversation, row in rows})
    return found


def texts(store: Store, places: Iterable[tuple[str, int]]) -> dict[tuple[str, int], str]:
    """The texts behind the places that `found_in` gave."""
    found = {}
    for kind, row in places:
        if kind in _TABLES:
            table, column = _TABLES[kind]
            if said := store.row(f"SELECT {column} FROM {table} WHERE id = ?", row):
                found[kind, row] = str(said[0])
    return found


def spans(text: str, words: Sequence[str]) -> list[tuple[int, int]]:
    """Where the query's pieces begin a word of the text, or stand anywhere in it: [start, end)."""
    found = []
    for word in words:
        pieces = [re.escape(piece) for piece in re.findall(r"\w+", word)] or [re.escape(word)]
        pattern = r"\W+".join(pieces)
        if not _NO_SPACES.search(word) and re.match(r"\w", word):
            pattern = rf"\b{pattern}"
        found += [match.span() for match in re.finditer(pattern, text, re.IGNORECASE)]
    return sorted(found)


def excerpt(text: str, words: Sequence[str], width: int) -> str:
    """At most `width` characters of the text on one line, with the first place found in it."""
    line = " ".join(text.split())
    first = next(iter(spans(line, words)), (0, 0))[0]
    start = max(0, min(first - width // 3, len(line) - width))
    if start:
        start = line.find(" ", start, first) + 1 or start
    cut = line[start : start + width]
    return ("\u2026" if start else "") + cut + ("\u2026" if start + width < len(line) else "")


def rebuild_index(connection: sqlite3.Connection) -> None:
    """Makes the index anew, inside the caller's transaction: a deleted text leaves words behind in
    FTS5's segments until then."""
    connection.execute("INSERT INTO said (said) VALUES ('rebuild')")


def _condition(query: Query, kind: str, column: str) -> tuple[str, list[object]]:
    """An SQL condition on the rows `t` of one kind."""
    conditions, values = ["1"], list[object]()
    if query.match:
        conditions.append(
            f"""t.id IN (SELECT rowid / 3 FROM said
            WHERE said MATCH ? AND rowid % 3 = {KINDS.index(kind)})"""
        )
        values.append(query.match)
    for piece in query.letters:
        conditions.append(f"contains({column}, ?)")
        values.append(piece)
    return " AND ".join(conditions), values
