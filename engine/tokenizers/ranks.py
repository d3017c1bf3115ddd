"""Vidya's own tokenizer: byte-level BPE, trained with rustbpe and run by tiktoken.

Text is not normalised, so any text round-trips exactly.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import tiktoken

from engine.errors import CheckpointError, ConfigError
from engine.storage.files import write_atomically
from engine.storage.reading import read_json, read_regular
from engine.tokenizers.chat_template import ChatTemplate
from engine.tokenizers.pattern_trial import try_pattern
from engine.tokenizers.tags import TAGS, tag_name
from engine.tokenizers.tokenizer import Tokenizer, panic_as_error, without_lone_surrogates

PATTERN = r"""'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s"""  # noqa: E501
"""The pre-tokenizer: contractions, words with one leading space, single digits, punctuation, white space."""

RANKS, TOKENIZER_CONFIG = "tokenizer.tiktoken", "tokenizer_config.json"
"""Names of the tokenizer's two files."""
SPECIALS = ("<|user|>", "<|assistant|>", "<|end|>")
RESERVED = 5
"""Ids kept free for later special tokens, so that a tokenizer can grow without a new embedding. The first
ones are for the tags of answers. In the files of a model that has learned the tags they have the tags'
names."""


RANK_BYTES = 64_000_000
"""Size limit of a rank file. One with 200,000 ids has 4 MB."""
LONGEST_BLANK = 100_000
"""Longest run of white space, in characters, that is encoded in one piece. For a much longer run the matcher
runs out of memory."""
_BLANK = r"[^\S\x1c-\x1f]"  # Python's \s includes four control characters that tiktoken's does not


class RankTokenizer(Tokenizer):
    """The special tokens have the highest ids: `user`, `assistant`, `end`, then RESERVED spare ones."""

    def __init__(
        self, ranks: dict[bytes, int], pattern: str = PATTERN, *, says_tags: bool = False
    ) -> None:
        if sorted(ranks.values()) != list(range(len(ranks))):
            raise CheckpointError("tokenizer: ranks are not 0 to n-1", "use an unchanged tokenizer")
        if any(bytes([b]) not in ranks for b in range(256)):
            raise CheckpointError(
                "tokenizer: a single byte is missing", "use an unchanged tokenizer"
            )
        spare = [f"<|reserved_{i}|>" for i in range(RESERVED)]
        first = len(ranks) + len(SPECIALS)
        self.tags: dict[str, int] = {tag: first + i for i, tag in enumerate(TAGS)}
        self.says_tags = says_tags
        if says_tags:
            spare[: len(TAGS)] = map(tag_name, TAGS)
        names = [*SPECIALS, *spare]
        self.ranks = ranks
        self.pattern = pattern
        self.specials = {name: len(ranks) + i for i, name in enumerate(names)}
        self.user, self.assistant, self.end = (self.specials[name] for name in SPECIALS)
        self.vocab_size = len(ranks) + len(names)
        self.special_ids = frozenset(self.specials.values())
        self.chat = ChatTemplate(
            user_head=(self.user,),
            assistant_head=(self.assistant,),
            assistant_tail=(self.end,),
            document_head=(self.end,),
            document_tail=(self.end,),
        )
        self._encoding = tiktoken.Encoding(
            "vidya", pat_str=pattern, mergeable_ranks=ranks, special_tokens=self.specials
        )

    def encode(self, text: str) -> list[int]:
        """Ids of the text as ordinary text: `<|assistant|>` in it becomes several plain tokens."""
        clean = without_lone_surrogates(text)
        parts = [clean] if len(clean) <= LONGEST_BLANK else _parts(clean)
        with panic_as_error():
            return [i for part in parts for i in self._encoding.encode_ordinary(part)]

    def decode_bytes(self, ids: Iterable[int]) -> bytes:
        """The bytes of the ids. Special and unknown ids give none."""
        return b"".join(
            self._encoding.decode_single_token_bytes(i) for i in ids if i < len(self.ranks)
        )

    def save(self, folder: Path) -> None:
        """Writes `tokenizer.tiktoken` (rank file) and `tokenizer_config.json` (pattern, specials). Raises
        OSError."""
        lines = [
            f"{base64.b64encode(token).decode()} {rank}\n"
            for token, rank in sorted(self.ranks.items(), key=lambda item: item[1])
        ]
        write_atomically(folder / RANKS, "".join(lines))
        config = {"pattern": self.pattern, "special_tokens": self.specials}
        text = json.dumps(config, indent=1) + "\n"
        write_atomically(folder / TOKENIZER_CONFIG, text)

    def files(self) -> tuple[str, ...]:
        """Names of the files that `save` writes."""
        return RANKS, TOKENIZER_CONFIG

    def fingerprint(self) -> str:
        """Hash of the pattern, the special tokens and the ranks, 32 hexadecimal digits."""
        state = hashlib.blake2b(repr((self.pattern, self.specials)).encode(), digest_size=16)
        for token, rank in sorted(self.ranks.items(), key=lambda item: item[1]):
            state.update(b"%d:%d:" % (rank, len(token)) + token)
        return state.hexdigest()

    def with_tags(self) -> RankTokenizer:
        """The same tokenizer, of a model that has learned the tags. All ids stay as they are."""
        return RankTokenizer(self.ranks, self.pattern, says_tags=True)

    @classmethod
    def read(cls, folder: Path) -> RankTokenizer:
        """Reads the files that `save` writes. If the pattern is not PATTERN, tests it first in a separate
        process. Raises CheckpointError."""
        path = folder / RANKS
        try:
            ranks = {}
            for line in read_regular(path, RANK_BYTES).splitlines():
                token, rank = line.split()
                ranks[base64.b64decode(token, validate=True)] = int(rank)
            path = folder / TOKENIZER_CONFIG
            config = read_json(path)
            pattern, specials = config["pattern"], config.get("special_tokens")
            if not isinstance(pattern, str):
                raise ValueError("its pattern is no text")
            if pattern != PATTERN:
                try_pattern(pattern)
            path = folder / RANKS
            says_tags = isinstance(specials, dict) and tag_name(TAGS[0]) in specials
            found = cls(ranks, pattern, says_tags=says_tags)
            if specials is not None and specials != found.specials:
                raise ValueError(f"it has {len(ranks)} ids, and {TOKENIZER_CONFIG} counts others")
            return found
        except (OSError, ValueError, KeyError, TypeError, AttributeError, CheckpointError) as error:
            what = error.what if isinstance(error, CheckpointError) else error
            raise CheckpointError(
                f"{path}: cannot be read ({what})", "restore the model folder, or import it again"
            ) from error


def _parts(text: str) -> Iterator[str]:
    """The text in pieces. Cuts only runs of LONGEST_BLANK or more white-space characters, at places where the
    pattern also splits: after the run's last line end and before its last character. So the ids are the same
    as without cutting."""
    start = 0
    for blank in re.finditer(rf"(?<!{_BLANK}){_BLANK}{{{LONGEST_BLANK},}}", text):
        if blank.end() == len(text):
            break
        lines = 1 + max(text.rfind(end, blank.start(), blank.end()) for end in "\r\n")
        for place in sorted({lines, blank.end() - 1} - {0}):
            if place > start:
                yield text[start:place]
                start = place
    yield text[start:]


def train_tokenizer(texts: Iterator[str], vocab_size: int) -> RankTokenizer:
    """Trains a byte-level BPE with rustbpe. vocab_size: number of ids, including special and reserved ones.

    Raises ConfigError if rustbpe is not installed.
    """
    try:
        import rustbpe  # only needed to train
    except ImportError:
        raise ConfigError(
            "training a tokenizer needs the package rustbpe",
            "pip install rustbpe, or use the tokenizer that comes with vidya",
        ) from None
    trainer = rustbpe.Tokenizer()
    trainer.train_from_iterator(texts, vocab_size - len(SPECIALS) - RESERVED, pattern=PATTERN)
    return RankTokenizer({bytes(token): rank for token, rank in trainer.get_mergeable_ranks()})
