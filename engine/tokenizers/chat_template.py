"""How a model's conversations are written: fixed ids before, between and after what is said.

A template is data. It is made once, when a tokenizer is loaded; what people type is never part of it.
Left out: texts (engine.tokenizers.chat_format).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

Ids = tuple[int, ...]


@dataclass(frozen=True)
class ChatTemplate:
    """A conversation is `start`, then turns, each a head, what is said, and a tail."""

    user_head: Ids
    assistant_head: Ids
    """Before an answer. The first id of this and of `user_head` is in no typed text."""
    assistant_tail: Ids
    """After an answer. Its first id, which is in no typed text, ends the answer and is learned."""
    document_head: Ids
    """Before a plain text ..."""
    document_tail: Ids
    """... and after it."""
    user_tail: Ids = ()
    opening: Ids = ()
    """Before everything, as the id that begins a sequence."""
    system_head: Ids = ()
    system: Ids = ()
    """What the model is told before the conversation; none: there is no such turn."""
    system_tail: Ids = ()

    @property
    def end(self) -> int:
        """The id that an answer ends with."""
        return self.assistant_tail[0]

    @cached_property
    def stop_ids(self) -> Ids:
        """Ids at which drawing ends."""
        return tuple(dict.fromkeys((self.end, *self.document_tail[:1])))

    @cached_property
    def start(self) -> Ids:
        """What stands before the first turn."""
        if not self.system:
            return self.opening
        return (*self.opening, *self.system_head, *self.system, *self.system_tail)

    @property
    def around_message(self) -> int:
        """Ids of a prompt with one message, that message's own left out."""
        pieces = (self.start, self.user_head, self.user_tail, self.assistant_head)
        return sum(map(len, pieces))

    def head(self, role: str) -> Ids:
        """What stands before what that role says."""
        return self.assistant_head if role == "assistant" else self.user_head

    def tail(self, role: str) -> Ids:
        """What stands after it."""
        return self.assistant_tail if role == "assistant" else self.user_tail

    def spoken(self, ids: Sequence[int]) -> list[bool]:
        """Of each id of a conversation: whether it is an answer's, the id that ends it included."""
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
        """The turns of a conversation as (role, ids of what is said), in order, where it breaks off
        too: a turn without its tail is the last one and may be unfinished."""
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
                    turns.pop()  # a message that was broken off by the end of an answer
            elif body is not None:
                body.append(ids[place])
            place += 1
        return turns

    def _ends(self, role: str) -> Ids:
        return self.tail(role)[:1] or (self.end,)


def opens(head: Sequence[int], ids: Sequence[int], place: int) -> bool:
    """Whether the head stands at that place."""
    return ids[place] == head[0] and tuple(ids[place : place + len(head)]) == tuple(head)
