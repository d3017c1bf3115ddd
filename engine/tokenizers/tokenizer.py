"""The interface of all tokenizers, and a decoder for streams of ids.

`encode` never yields a special id, whatever the text contains. Only engine.tokenizers.chat_format inserts
special ids, according to the tokenizer's chat template, and `encode_tagged` those of tags, in answers that a
program wrote. Left out: the two implementations (engine.tokenizers.ranks, engine.tokenizers.byte_level), and
reading a folder's (engine.tokenizers.load).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path

from engine.errors import CheckpointError
from engine.tokenizers.chat_template import ChatTemplate
from engine.tokenizers.tags import GIVEN, TagWriter, tagged_ids


class Tokenizer(ABC):
    """Converts text to ids and back. `load_tokenizer` reads the tokenizer of a model's folder."""

    vocab_size: int
    """All ids, including special ones, are below this. A model's vocabulary may be larger; its further ids
    mean nothing."""
    special_ids: frozenset[int]
    """Ids below `vocab_size` that stand for no text: special tokens, reserved ids, gaps."""
    chat: ChatTemplate
    tags: Mapping[str, int] | None = None
    """The id of each tag of an answer (engine.tokenizers.tags); None if there are none."""
    says_tags: bool = False
    """Whether the model has learned the tags. Otherwise chat never draws them."""

    @abstractmethod
    def encode(self, text: str) -> list[int]:
        """Ids of the text as ordinary text: `<|im_start|>` in it becomes several plain tokens."""

    @abstractmethod
    def decode_bytes(self, ids: Iterable[int]) -> bytes:
        """The bytes of the ids. Special and unknown ids give none."""

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
        """The text of the ids, tags included. Bytes that are not valid UTF-8 become U+FFFD."""
        writer = self.tag_writer()
        return b"".join(map(writer.push, ids)).decode("utf-8", "replace")

    def encode_tagged(self, text: str) -> list[int]:
        """Ids of an answer that a program wrote, with its tags as single ids if the tokenizer has some. Never
        for what somebody typed."""
        return tagged_ids(text, self.encode, self.tags)

    def tag_writer(self) -> TagWriter:
        """Writes ids as bytes, one by one."""
        return TagWriter(self.decode_bytes, self.tags, self.chat.stop_ids)

    @cached_property
    def own_tags(self) -> frozenset[int]:
        """Ids of the tags that a model may say."""
        return frozenset(i for tag, i in (self.tags or {}).items() if tag != GIVEN)

    @cached_property
    def never_ids(self) -> tuple[int, ...]:
        """Ids below `vocab_size` that an answer never contains (special, but neither stop ids nor tags that
        the model has learned), ascending. Ids from `vocab_size` on never occur either."""
        said = self.own_tags if self.says_tags else frozenset[int]()
        return tuple(sorted(self.special_ids.difference(self.chat.stop_ids, said)))

    @cached_property
    def answer_width(self) -> int:
        """One more than the highest id that an answer can contain. Logits from this id on need not be
        computed."""
        never = set(self.never_ids)
        return 1 + max((i for i in range(self.vocab_size) if i not in never), default=-1)

    @cached_property
    def forbidden(self) -> list[int]:
        """Those of `never_ids` that are below `answer_width`; their logits must be masked."""
        return [i for i in self.never_ids if i < self.answer_width]

    def not_text(self, vocab_size: int) -> Collection[int]:
        """All ids that stand for no text: special ids, stop ids, and those from the tokenizer's vocabulary
        size up to the model's. vocab_size: that of the model."""
        beyond = range(self.vocab_size, vocab_size)
        return self.special_ids.union(self.chat.stop_ids, beyond)

    def reply_ends(self, vocab_size: int, *, says_tags: bool | None = None) -> Collection[int]:
        """Ids that end a sampled reply: those of `not_text`, but not tags that the model has learned.
        says_tags: whether it has; None: as the tokenizer says."""
        learned = self.says_tags if says_tags is None else says_tags
        return set(self.not_text(vocab_size)).difference(self.own_tags if learned else ())

    def unsaid(self, vocab_size: int, *, says_tags: bool | None = None) -> tuple[int, ...]:
        """Ids that a sampled reply never has, ascending: those of `reply_ends` at which no answer ends."""
        ends = self.reply_ends(vocab_size, says_tags=says_tags)
        return tuple(sorted(set(ends).difference(self.chat.stop_ids)))


def without_lone_surrogates(text: str) -> str:
    """The text with each lone surrogate replaced by U+FFFD. A terminal can send lone surrogates, but no
    encoder accepts them."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


@contextmanager
def panic_as_error() -> Iterator[None]:
    """Turns a panic of tiktoken or `tokenizers` (a BaseException) into a CheckpointError."""
    try:
        yield
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        raise CheckpointError(
            "the tokenizer's pattern fails on this text",
            "say it in other words, or use another model: the tokenizer of this one is faulty",
        ) from None


class StreamDecoder:
    """Decodes a stream of ids. Each piece of text consists of whole UTF-8 characters."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._writer = tokenizer.tag_writer()
        self._pending = b""

    def push(self, token: int) -> str:
        """The text that this token completes; may be empty."""
        self._pending += self._writer.push(token)
        whole = _whole_prefix(self._pending)
        text, self._pending = (
            self._pending[:whole].decode("utf-8", "replace"),
            self._pending[whole:],
        )
        return text

    def finish(self, *, ended: bool = False) -> str:
        """The rest at the end of the stream. An incomplete character becomes U+FFFD. ended: whether the
        answer came to its end, and with it the section that is open."""
        data, self._pending = self._pending + (self._writer.close() if ended else b""), b""
        return data.decode("utf-8", "replace")


def _whole_prefix(data: bytes) -> int:
    """Length of data in bytes, without a UTF-8 character at its end that is still incomplete."""
    for back in range(1, min(4, len(data)) + 1):
        byte = data[-back]
        if byte >= 0xC0:  # a lead byte: is its character complete?
            need = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return len(data) if back >= need or byte >= 0xF8 else len(data) - back
        if byte < 0x80:
            break
    return len(data)
