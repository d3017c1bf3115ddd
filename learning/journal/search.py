"""Full-text search over messages, answers, candidates, and lessons of no conversation with SQLite's FTS5.

A text matches if it contains all words of the query. A word of two letters or more also matches longer
words that begin with it; case and accents are ignored. Words in double quotes must be adjacent. Emoji, and
scripts written without spaces, are searched as substrings, which is slower. Any text is a valid query.

The index (migration 3 of learning.journal.migrations) stores no text of its own. Triggers update it for
every row that is inserted or deleted; only `rebuild_index` removes all traces of deleted rows. Lessons that
came from a file or from the book are not in it: a search indexes them anew, in memory.
"""

from __future__ import annotations

import contextlib
import json
import re
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from learning.journal.database import Store
from learning.journal.lessons import MAIN_KINDS
from learning.journal.rows import turns_from_json
from learning.journal.standing import of_kinds
from learning.text.normalise import fold_spaces, writable

KINDS = ("message", "answer", "candidate")
"""The kinds of texts in the index. A text's id there is 3 times its row's id, plus the index of its kind."""
TOKENIZER = "tokenize = 'unicode61 remove_diacritics 2'"
"""How FTS5 takes a text apart, as in the stored index."""
_TABLES = {"message": ("asks", "message"), "answer": ("answers", "text")}
_TABLES["candidate"] = ("candidates", "text")
_PIECES = re.compile(r'"([^"]*)"?|(\S+)')
_NO_SPACES = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u303f\u3040-\u30ff\u3400-\u9fff"
    "\uf900-\ufaff\U00020000-\U0003ffff]"
)
"""Thai, Lao, Burmese, Khmer, Chinese, Japanese. The index takes a whole sentence in them as one word."""


@dataclass(frozen=True)
class Hit:
    """A text that matches a search."""

    conversation: int | None
    """None, as `ask`, for a lesson that came from a file or from the book."""
    ask: int | None
    place: str
    """"message", "answer", "candidate" or "lesson"."""
    text: str
    """The whole text. For a lesson: its messages, its answer and its rejected answers, joined by " -> "."""
    created: float
    """Seconds since the epoch."""
    lesson: int | None = None
    """The number of that lesson; otherwise None."""


@dataclass(frozen=True)
class Query:
    """A parsed query."""

    match: str
    """The words as an FTS5 expression; "" if there are none."""
    letters: tuple[str, ...]
    """Case-folded substrings that a text must contain in addition."""
    words: tuple[str, ...]
    """All words and phrases of the query, for highlighting."""

    def __bool__(self) -> bool:
        return bool(self.words)


def read_query(text: str) -> Query:
    """Parses any text. Double quotes around several words make a phrase; there are no other operators."""
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
    """The newest `limit` messages, answers, candidates, and lessons of no conversation that match a query,
    newest first. A lesson matches if its texts together contain all words."""
    query = read_query(text)
    hits = _lessons(store, query) if query else []
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
    newest_first = sorted(hits, key=lambda hit: (hit.created, hit.ask or hit.lesson), reverse=True)
    return newest_first[:limit]


def _lessons(store: Store, query: Query) -> list[Hit]:
    """The lessons that match and belong to no conversation."""
    found, parts = dict[int, Hit](), list[tuple[int, str, str, str]]()
    for number, prompt, answer, rejected, created in store.rows(
        "SELECT l.id, l.prompt, l.answer, l.rejected, l.created FROM lessons l WHERE l.ask IS NULL"
        f" AND {of_kinds(MAIN_KINDS, 'l')}"
    ):
        asked, refused = [turn.text for turn in turns_from_json(prompt)], json.loads(rejected)
        said = " -> ".join(filter(str.strip, (*asked, answer, *refused)))
        if all(piece in fold_spaces(said) for piece in query.letters):
            found[number] = Hit(None, None, "lesson", said, created, number)
            parts.append((number, "\n".join(asked), answer, "\n".join(refused)))
    if not query.match:
        return list(found.values())
    with contextlib.closing(sqlite3.connect(":memory:")) as memory:
        # a column each, so that words in quotes do not match across question and answer
        memory.execute(
            f"CREATE VIRTUAL TABLE said USING fts5(asked, answer, rejected, {TOKENIZER})"
        )
        memory.executemany(
            "INSERT INTO said (rowid, asked, answer, rejected) VALUES (?, ?, ?, ?)", parts
        )
        rows = memory.execute("SELECT rowid FROM said WHERE said MATCH ?", (query.match,))
        return [found[number] for (number,) in rows]


def found_in(store: Store, text: str) -> dict[int, tuple[str, int]]:
    """By conversation whose title, messages or answers match a query: (kind, row id) of a matching text,
    the newest message, or else the newest answer; ("title", 0) if only the title matches."""
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
    """The texts at places that `found_in` returned. Titles and erased rows are left out."""
    found = {}
    for kind, row in places:
        if kind in _TABLES:
            table, column = _TABLES[kind]
            if said := store.row(f"SELECT {column} FROM {table} WHERE id = ?", row):
                found[kind, row] = str(said[0])
    return found


def spans(text: str, words: Sequence[str]) -> list[tuple[int, int]]:
    """All matches of a query's words in a text, for highlighting: [start, end) in characters, sorted.

    words: see Query.words. A word matches at the beginning of a word, or anywhere in a script without spaces.
    """
    found = []
    for word in words:
        pieces = [re.escape(piece) for piece in re.findall(r"\w+", word)] or [re.escape(word)]
        pattern = r"\W+".join(pieces)
        if not _NO_SPACES.search(word) and re.match(r"\w", word):
            pattern = rf"\b{pattern}"
        found += [match.span() for match in re.finditer(pattern, text, re.IGNORECASE)]
    return sorted(found)


def excerpt(text: str, words: Sequence[str], width: int) -> str:
    """At most `width` characters of the text around the first match, on one line; an ellipsis marks each
    cut."""
    line = " ".join(text.split())
    first = next(iter(spans(line, words)), (0, 0))[0]
    start = max(0, min(first - width // 3, len(line) - width))
    if start:
        start = line.find(" ", start, first) + 1 or start
    cut = line[start : start + width]
    return ("\u2026" if start else "") + cut + ("\u2026" if start + width < len(line) else "")


def rebuild_index(connection: sqlite3.Connection) -> None:
    """Rebuilds the index inside the caller's transaction. Until then, FTS5's segments keep words of deleted
    texts."""
    connection.execute("INSERT INTO said (said) VALUES ('rebuild')")


def _condition(query: Query, kind: str, column: str) -> tuple[str, list[object]]:
    """An SQL condition for the rows `t` of one kind that match, and its parameters."""
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
