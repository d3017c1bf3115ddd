"""The tags of an answer as single ids: its thought, its answer, the call of a tool, the tool's result.

An answer is then a row of sections, each of which begins with a tag's id and ends where the next one begins
or the answer ends: `<|think|> 6 - 5 = 1<|answer|> 1<|end|>`. As text it has the usual tags,
`<think>6 - 5 = 1</think><answer>1</answer>`, which cost 20 ids of a tokenizer that has no ids for them.
The text of a section begins with a space, so that its first word has the id that it has within a sentence.

Only `tagged_ids` writes these ids, for text that a program wrote; typed text is encoded by
`Tokenizer.encode`, which knows none of them. Left out: what the tags mean
(learning.rewards.verifiers.answer).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping

TAGS = ("think", "answer", "tool", "result")
"""In the order of their ids."""
GIVEN = "result"
"""The tag of what the model never says itself: a tool's result."""

# no possessive group with more than literals in it: Python 3.11.2, which Debian 12 has, matches it wrongly
_ANY = rf"</?(?:{'|'.join(TAGS)})>"
_SECTION = re.compile(rf"<({'|'.join(TAGS)})>((?:(?!{_ANY}).)*)</\1>", re.DOTALL)


def tag_name(tag: str) -> str:
    """The name of a tag's id in a tokenizer's files."""
    return f"<|{tag}|>"


def sections(text: str) -> list[tuple[str, str]] | None:
    """The text as (tag, text) of its sections. None if it is not made of sections alone."""
    found, place = [], 0
    while place < len(text):
        match = _SECTION.match(text, place)
        if match is None:
            return None
        found.append((match[1], match[2]))
        place = match.end()
    return found or None


def tagged_ids(
    text: str, encode: Callable[[str], list[int]], tags: Mapping[str, int] | None
) -> list[int]:
    """Ids of an answer that a program wrote, with its tags as single ids. Without tags, or if the text is not
    made of sections alone, those of `encode`. tags: id of each tag."""
    parts = sections(text) if tags else None
    if tags is None or parts is None:
        return encode(text)
    return [i for tag, said in parts for i in (tags[tag], *encode(f" {said}"))]


class TagWriter:
    """Writes the bytes of a stream of ids, with tags as text. A section that goes on is not closed."""

    def __init__(
        self,
        decode_bytes: Callable[[Iterable[int]], bytes],
        tags: Mapping[str, int] | None,
        stop_ids: Iterable[int],
    ) -> None:
        """stop_ids: the ids that end an answer. They close its last section."""
        self._decode = decode_bytes
        self._tags = {i: tag for tag, i in (tags or {}).items()}
        self._stop_ids = frozenset(stop_ids)
        self._open = ""
        self._begins = False
        """Whether nothing of the open section's text has come yet."""

    def push(self, token: int) -> bytes:
        """The bytes of the next id."""
        if tag := self._tags.get(token):
            closing = self.close()
            self._open, self._begins = tag, True
            return closing + f"<{tag}>".encode()
        if token in self._stop_ids:
            return self.close()
        data = self._decode([token])
        if self._begins and data:
            self._begins = False
            return data.removeprefix(b" ")
        return data

    def close(self) -> bytes:
        """The end of the open section, if there is one."""
        tag, self._open, self._begins = self._open, "", False
        return f"</{tag}>".encode() if tag else b""
