"""Lists, renames and exports conversations.

A list is read in two steps, first the ids of all conversations and then the visible rows, so that ten
thousand conversations open as fast as ten. Left out: deleting (learning.journal.erasing).
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from engine.errors import JournalError, NotFound
from learning.journal.database import Store
from learning.journal.search import found_in, texts
from learning.journal.standing import ANSWERS
from learning.protocol.records import Turns
from learning.text.normalise import writable

LONGEST_TITLE = 200


@dataclass(frozen=True)
class Conversation:
    """One row of the list of conversations."""

    id: int
    title: str
    """The title that the owner gave it, or else the owner's first message."""
    asks: int
    """Number of asks. A message that was sent again counts again."""
    created: float
    """Seconds since the epoch, as `last`."""
    last: float
    """Time of the newest ask."""
    turns: int = 0
    """Messages and answers on the path to the newest ask."""
    found: str = ""
    """The newest text in it that matches the search; empty without a search."""


@dataclass(frozen=True)
class Listing:
    """The ids of all conversations, or of those that match a search."""

    ids: tuple[int, ...]
    """The last used first."""
    places: dict[int, tuple[str, int]]
    """By conversation, the text that matches the search (learning.journal.search.found_in)."""


def listing(store: Store, search: str | None = None) -> Listing:
    """All conversations with at least one ask, or those of them that match a search."""
    rows = store.rows("SELECT conversation FROM asks GROUP BY conversation ORDER BY max(id) DESC")
    ids = tuple(int(number) for (number,) in rows)
    if search is None or not search.strip():
        return Listing(ids, {})
    places = found_in(store, search)
    return Listing(tuple(number for number in ids if number in places), places)


def conversations(store: Store, wanted: Listing, ids: Sequence[int]) -> list[Conversation]:
    """The rows for some ids of `wanted`, in the order of `ids`. Conversations that were erased are left
    out."""
    rows = store.rows(
        f"""WITH chosen (id) AS (SELECT value FROM json_each(?)),
        counted AS (
            SELECT a.conversation AS id, count(*) AS asks, max(a.id) AS newest, min(a.id) AS first
            FROM asks a JOIN chosen ON a.conversation = chosen.id GROUP BY a.conversation)
        SELECT c.id, coalesce(c.title, f.message), k.asks, c.created, n.created,
            json_array_length(n.history) + 1
            + EXISTS (SELECT 1 {ANSWERS} AND a.ask = n.id)
        FROM counted k JOIN conversations c ON c.id = k.id
        JOIN asks n ON n.id = k.newest JOIN asks f ON f.id = k.first""",
        json.dumps(list(ids)),
    )
    hits = texts(store, {wanted.places[i] for i in ids if i in wanted.places})
    made = {}
    for number, title, asks, created, last, turns in rows:
        found = hits.get(wanted.places.get(number, ("", 0)), "")
        made[number] = Conversation(number, title, asks, created, last, turns, found)
    return [made[number] for number in ids if number in made]


def rename(store: Store, conversation: int, title: str) -> None:
    """Sets a conversation's title. An empty one restores the default, the first message. Raises NotFound."""
    clean = " ".join(writable(title).split())[:LONGEST_TITLE]
    with store.writing() as connection:
        changed = connection.execute(
            "UPDATE conversations SET title = ? WHERE id = ?", (clean or None, conversation)
        ).rowcount
        if not changed:
            raise NotFound(
                f"conversation {conversation} is not in the journal", "find it with /history"
            )


# ---------------------------------------------------------------- copies


def as_markdown(title: str, created: float, turns: Turns) -> str:
    """The conversation as Markdown. Texts are quoted line by line, so none of their lines becomes a heading.
    created: seconds since the epoch."""
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(created))
    parts = [f"# {_heading(title)}", f"Begun {when}."]
    for turn in turns:
        who = "You" if turn.role == "user" else "Vidya"
        quoted = "\n".join(f"> {line}".rstrip() for line in turn.text.split("\n"))
        parts.append(f"**{who}**\n\n{quoted}")
    return "\n\n".join(parts) + "\n"


def as_json(conversation: int, title: str, created: float, turns: Turns) -> str:
    """The conversation as a JSON object with conversation, title, created and turns."""
    record: dict[str, Any] = {
        "conversation": conversation,
        "title": title,
        "created": created,
        "turns": [{"role": turn.role, "text": turn.text} for turn in turns],
    }
    return json.dumps(record, ensure_ascii=False, indent=1) + "\n"


def export(conversation: Conversation, turns: Turns, form: str) -> str:
    """The conversation in the format `form`, "md" or "json". Raises JournalError for any other."""
    if form == "md":
        return as_markdown(conversation.title, conversation.created, turns)
    if form == "json":
        return as_json(conversation.id, conversation.title, conversation.created, turns)
    raise JournalError(f"a conversation cannot be written as {form!r}", "choose md or json")


def _heading(title: str) -> str:
    """The first 80 characters of a title on one line, with Markdown syntax escaped."""
    line = " ".join(title.split())[:80]
    return "".join(f"\\{c}" if c in "\\`*_{}[]<>#+!|" else c for c in line)
