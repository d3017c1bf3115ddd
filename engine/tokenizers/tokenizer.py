"""What every tokenizer can do, whatever files it comes from; text that streams out of ids.

Text is always ordinary: `encode` never yields a special id, whatever the text contains. Special ids are
placed by engine.tokenizers.chat_format only, as the model's own `chat` says. Left out: the kinds of
tokenizers (engine.tokenizers.ranks, engine.tokenizers.byte_level).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path

from engine.errors import CheckpointError
from engine.tokenizers.chat_template import ChatTemplate


class Tokenizer(ABC):
    """Text to ids and back. `Tokenizer.load` reads the one of a model's folder."""

    vocab_size: int
    """All ids are below it, special ones too; a model may have more, which mean nothing."""
    special_ids: frozenset[int]
    """Ids below `vocab_size` that stand for no text: markers, reserved ids, holes."""
    chat: ChatTemplate

    @staticmethod
    def load(folder: Path) -> Tokenizer:
        """The tokenizer of a model's folder, by the files that it has. Raises CheckpointError."""
        from engine.tokenizers.load import load_tokenizer  # which imports all kinds

        return load_tokenizer(folder)

    @abstractmethod
    def encode(self, text: str) -> list[int]:
        """Ids of the text as ordinary text: `<|im_start|>` in it becomes several plain tokens."""

    @abstractmethod
    def decode_bytes(self, ids: Iterable[int]) -> bytes:
        """The bytes of the ids; special ones, and those that it does not have, have none."""

    @abstractmethod
    def save(self, folder: Path) -> None:
        """Writes its `files`. Raises OSError."""

    @abstractmethod
    def files(self) -> tuple[str, ...]:
        """Names of its files in a model's folder."""

    @abstractmethod
    def fingerprint(self) -> str:
        """Hash of everything that decides which ids a text or a conversation becomes."""

    def decode(self, ids: Iterable[int]) -> str:
        """The text of the ids; bytes that are no UTF-8 become U+FFFD."""
        return self.decode_bytes(ids).decode("utf-8", "replace")

    @cached_property
    def never_ids(self) -> tuple[int, ...]:
        """Ids below `vocab_size`, rising, that no answer holds; those from there on are none either."""
        return tuple(sorted(self.special_ids.difference(self.chat.stop_ids)))

    @cached_property
    def answer_width(self) -> int:
        """Ids below it can be in an answer, `forbidden` left out; all from it on cannot."""
        never = set(self.never_ids)
        return 1 + max((i for i in range(self.vocab_size) if i not in never), default=-1)

    @cached_property
    def forbidden(self) -> list[int]:
        """The ids of `never_ids` below `answer_width`."""
        return [i for i in self.never_ids if i < self.answer_width]

    def not_text(self, vocab_size: int) -> Collection[int]:
        """All ids of a model with so many that stand for no text: the stop ids, and what is never
        drawn."""
        beyond = range(self.vocab_size, vocab_size)
        return self.special_ids.union(self.chat.stop_ids, beyond)


def without_lone_surrogates(text: str) -> str:
    """The text; lone surrogates, which a terminal can send and no encoder takes, become U+FFFD."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


@contextmanager
def panic_as_error() -> Iterator[None]:
    """Turns a panic of tiktoken or of `tokenizers`, which is no Exception, into a CheckpointError."""
    try:
        yield
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        raise CheckpointError(
            "the tokenizer's pattern does not get to the end of this text",
            "say it in other words, or use another model: this one's tokenizer is not sound",
        ) from None


class StreamDecoder:
    """Turns a stream of ids into text that holds only whole UTF-8 characters."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._pending = b""

    def push(self, token: int) -> str:
        """Text that became whole with this token; may be empty."""
        self._pending += self._tokenizer.decode_bytes([token])
        whole = _whole_prefix(self._pending)
        text, self._pending = (
            self._pending[:whole].decode("utf-8", "replace"),
            self._pending[whole:],
        )
        return text

    def finish(self) -> str:
        """What is left when the stream ends; an unfinished character becomes U+FFFD."""
        text, self._pending = self._pending.decode("utf-8", "replace"), b""
        return text


def _whole_prefix(data: bytes) -> int:
    """Length of the prefix that does not end inside a UTF-8 character that may still be completed."""
    for back in range(1, min(4, len(data)) + 1):
        byte = data[-back]
        if byte >= 0xC0:  # a lead byte: is its character complete?
            need = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return len(data) if back >= need or byte >= 0xF8 else len(data) - back
        if byte < 0x80:
            break
    return len(data)
