"""A model's chat template: the fixed ids before, between and after the texts of a conversation.

A template is data, created once when the tokenizer is loaded. It never contains what people type. Left out:
encoding the texts (engine.tokenizers.chat_format).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

Ids = tuple[int, ...]


@dataclass(frozen=True)
class ChatTemplate:
    """A conversation is `start`, then turns; a turn is a head, the ids of its text, and a tail."""

    user_head: Ids
    assistant_head: Ids
    """Before an answer. The first id of this and of `user_head` never occurs in encoded text."""
    assistant_tail: Ids
    """After an answer. Its first id never occurs in encoded text. It ends the answer; the loss covers it."""
    document_head: Ids
    """Before a plain document."""
    document_tail: Ids
    """After a plain document."""
    user_tail: Ids = ()
    opening: Ids = ()
    """At the start of a conversation, for example the id that begins a sequence."""
    system_head: Ids = ()
    system: Ids = ()
    """The system prompt. If empty, there is no system turn."""
    system_tail: Ids = ()

    @property
    def end(self) -> int:
        """The id that ends an answer."""
        return self.assistant_tail[0]

    @cached_property
    def stop_ids(self) -> Ids:
        """Ids at which sampling stops."""
        return tuple(dict.fromkeys((self.end, *self.document_tail[:1])))

    @cached_property
    def start(self) -> Ids:
        """The ids before the first turn: opening and system turn."""
        if not self.system:
            return self.opening
        return (*self.opening, *self.system_head, *self.system, *self.system_tail)

    @property
    def around_message(self) -> int:
        """Number of ids in a prompt with a single message, not counting the message's own."""
        pieces = (self.start, self.user_head, self.user_tail, self.assistant_head)
        return sum(map(len, pieces))

    def head(self, role: str) -> Ids:
        """The ids before a text of that role, "user" or "assistant"."""
        return self.assistant_head if role == "assistant" else self.user_head

    def tail(self, role: str) -> Ids:
        """The ids after a text of that role."""
        return self.assistant_tail if role == "assistant" else self.user_tail

    def spoken(self, ids: Sequence[int]) -> list[bool]:
        """For each id of a conversation: True if it belongs to an answer, including the id that ends it."""
        said, speaking, place = list[bool](), False, 0
        while place < len(ids):
            if opens(self.user_head, ids, place):
                said += [False] * len(self.user_head)
                speaking = False
            elif opens(self.assistant_head, ids, place):
                said += [speaking] * len(self.assistant_head)
                speaking = True
            else:
                said.append(speaking)
                speaking = speaking and ids[place] != self.end
            place = len(said)
        return said

    def turns_of(self, ids: Sequence[int]) -> list[tuple[str, list[int]]]:
        """The turns of a conversation in order, as (role, ids of the text). If the conversation is truncated,
        the last turn has no tail and may be incomplete."""
        turns: list[tuple[str, list[int]]] = []
        body: list[int] | None = None
        place = 0
        while place < len(ids):
            role = next((r for r in ("user", "assistant") if opens(self.head(r), ids, place)), None)
            if role:
                body = []
                turns.append((role, body))
                place += len(self.head(role))
                continue
            if body is not None and ids[place] in self._ends(turns[-1][0]):
                body = None
                if ids[place] not in self.tail(turns[-1][0]):
                    turns.pop()  # a message interrupted by the id that ends an answer
            elif body is not None:
                body.append(ids[place])
            place += 1
        return turns

    def _ends(self, role: str) -> Ids:
        return self.tail(role)[:1] or (self.end,)


def opens(head: Sequence[int], ids: Sequence[int], place: int) -> bool:
    """True if ids[place:] begins with the head."""
    return ids[place] == head[0] and tuple(ids[place : place + len(head)]) == tuple(head)
