"""Reads asks with their histories, once each, and numbers what the owner said up to each message.

A conversation of a thousand asks holds a million turns, because each ask has its whole history. So equal
turns are one object here, and messages are compared by the number of their path.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast

from learning.journal.database import Store
from learning.protocol.records import Role, Turn, Turns

Path = int
"""Number of a message with all messages of the owner before it in its conversation. The answers in between do
not count, as they may have been corrected since."""


@dataclass(frozen=True)
class PastAsk:
    """An ask as it is in the journal."""

    id: int
    conversation: int
    history: Turns
    message: str
    old: str | None
    """The answer that it was asked again for, and why."""
    reason: str | None
    parent: int | None


class Talks:
    """All asks of the journal, or of some conversations, by number, oldest first."""

    def __init__(self, store: Store, conversations: set[int] | None = None) -> None:
        self.asks: dict[int, PastAsk] = {}
        self._turns: dict[tuple[str, str], Turn] = {}
        self._paths: dict[tuple[Path, str], Path] = {}
        self._before: dict[Path, Path] = {}
        where = "1" if conversations is None else "conversation IN (SELECT value FROM json_each(?))"
        values = [] if conversations is None else [json.dumps([*conversations])]
        columns = "id, conversation, history, message, old, reason, parent"
        sql = f"SELECT {columns} FROM asks WHERE {where} ORDER BY id"
        for number, conversation, history, *rest in store.rows(sql, *values):
            turns = tuple(self._turn(role, text) for role, text in json.loads(history))
            self.asks[number] = PastAsk(number, conversation, turns, *rest)

    def exchanges(self, ask: PastAsk) -> Iterator[tuple[Path, Turns]]:
        """The exchanges of an ask's history: a message of the owner with its path, and the answer to it."""
        turns, path, begin = ask.history, -ask.conversation, 0
        for at, turn in enumerate(turns):
            if turn.role == "user":
                if at > begin:
                    yield path, turns[begin:at]
                path, begin = self._next(path, turn.text), at
        if turns:
            yield path, turns[begin:]

    def path(self, conversation: int, turns: Turns) -> Path:
        """The path of the last message among these turns of a conversation."""
        path = -conversation
        for turn in turns:
            if turn.role == "user":
                path = self._next(path, turn.text)
        return path

    def own_path(self, ask: PastAsk) -> Path:
        """The path of an ask's own message."""
        return self._next(self.path(ask.conversation, ask.history), ask.message)

    def follows(self, path: Path, earlier: set[Path]) -> bool:
        """Whether a path is one of the others, or goes on from one."""
        while path > 0 and path not in earlier:
            path = self._before[path]
        return path in earlier

    def _next(self, path: Path, message: str) -> Path:
        found = self._paths.get((path, message))
        if found is None:
            found = self._paths[path, message] = len(self._paths) + 1
            self._before[found] = path
        return found

    def _turn(self, role: str, text: str) -> Turn:
        found = self._turns.get((role, text))
        if found is None:
            found = self._turns[role, text] = Turn(cast(Role, role), text)
        return found
