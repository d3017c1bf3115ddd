"""Byte-level BPE of a Hugging Face `tokenizer.json`, run by the `tokenizers` library.

The library replaces added tokens in any text, so a typed `<|im_start|>` would become the special id. Text is
therefore encoded with a copy of the tokenizer that has no added tokens except those of white space; special
ids come only from the chat template. Left out: other kinds of tokenizers (unigram, WordPiece, byte
fallback), which are refused; post-processors that add ids at the start or end of a sequence (the chat
template does that).
"""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from engine.errors import CheckpointError, VidyaError
from engine.storage.files import write_atomically
from engine.storage.reading import parse_json, read_regular, shown
from engine.tokenizers.chat_pieces import CHAT_FILE, ChatPieces
from engine.tokenizers.pattern_trial import try_tokenizer
from engine.tokenizers.patterns import KNOWN_PATTERNS
from engine.tokenizers.ranks import TOKENIZER_CONFIG
from engine.tokenizers.rendering import TEMPLATE_FILE, find_pieces
from engine.tokenizers.tokenizer import Tokenizer, panic_as_error, without_lone_surrogates

TOKENIZER_JSON = "tokenizer.json"
TOKENIZER_BYTES = 64_000_000
"""Size limit of a tokenizer file. One with 150,000 ids has 11 MB."""
MOST_IDS = 1_000_000
"""Limit of the number of ids."""


class ByteLevelTokenizer(Tokenizer):
    """The tokenizer of an imported model. Its ids may be in any order and have gaps."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        """files: name -> contents, for those of `NAMES` that the folder has. Raises CheckpointError,
        ValueError, KeyError or TypeError if they are not a byte-level BPE tokenizer."""
        import tokenizers  # takes half a second, so only models that need it import it

        self._files = dict(files)
        raw = parse_json(files[TOKENIZER_JSON], depth=64)
        config = parse_json(files[TOKENIZER_CONFIG]) if TOKENIZER_CONFIG in files else {}
        if not isinstance(raw, dict) or not isinstance(config, dict):
            raise ValueError("it is no object")
        _check_kind(raw)
        added = {int(one["id"]): one for one in raw.get("added_tokens") or []}
        blank = {i for i, one in added.items() if not one["content"].strip() and one["content"]}
        vocab: dict[str, int] = raw["model"]["vocab"]
        self._markers = {one["content"]: i for i, one in added.items() if i not in blank}
        self._bytes = _bytes_of_ids(
            {i: token for token, i in vocab.items() if i not in self._markers.values()},
            {i: added[i]["content"] for i in blank},
        )
        self.vocab_size = 1 + max([*self._bytes, *added])
        if self.vocab_size > MOST_IDS:
            raise ValueError(f"it has ids above {MOST_IDS:,}")
        self.special_ids = frozenset(range(self.vocab_size)).difference(self._bytes)
        plain = _without_markers(raw, set(self._markers))
        if _patterns(plain) - KNOWN_PATTERNS:
            try_tokenizer(plain)
        self._plain = tokenizers.Tokenizer.from_str(plain)
        self._whole = tokenizers.Tokenizer.from_str(_without_markers(raw, set()))
        self._pieces = self._find_pieces(config)
        self._files[CHAT_FILE] = self._pieces.to_json().encode()
        self.chat = self._pieces.template(self.encode, self._encode_piece, self._markers)

    def encode(self, text: str) -> list[int]:
        """Ids of the text. Drops bytes that the vocabulary lacks, and ids that stand for no text."""
        with panic_as_error():
            ids = self._plain.encode(without_lone_surrogates(text), add_special_tokens=False).ids
        return [i for i in ids if i in self._bytes]

    def decode_bytes(self, ids: Iterable[int]) -> bytes:
        """The bytes of the ids. Special and unknown ids give none."""
        return b"".join(self._bytes.get(i, b"") for i in ids)

    def save(self, folder: Path) -> None:
        """Writes the files it was read from, and `chat.json`. Raises OSError."""
        for name, data in self._files.items():
            write_atomically(folder / name, data.decode("utf-8"))

    def files(self) -> tuple[str, ...]:
        """Names of the files it was read from, and `chat.json`."""
        return tuple(self._files)

    @property
    def contents(self) -> Mapping[str, bytes]:
        """File name -> contents."""
        return self._files

    def fingerprint(self) -> str:
        """Hash of the names and contents of all its files, 32 hexadecimal digits."""
        state = hashlib.blake2b(digest_size=16)
        for name in sorted(self._files):
            state.update(f"{name}:{len(self._files[name])}:".encode() + self._files[name])
        return state.hexdigest()

    @classmethod
    def read(cls, folder: Path) -> ByteLevelTokenizer:
        """Reads those of `NAMES` that the folder has. Raises CheckpointError."""
        path = folder / TOKENIZER_JSON
        try:
            files = {
                name: read_regular(folder / name, TOKENIZER_BYTES)
                for name in NAMES
                if (folder / name).exists()
            }
            return cls(files)
        except VidyaError as error:
            raise CheckpointError(f"{folder}: {error.what}", error.next_step) from error
        except Exception as error:  # the library raises plain Exception
            raise CheckpointError(
                f"{path}: cannot be read ({error or type(error).__name__})",
                "restore the model folder, or import it again",
            ) from error

    def _find_pieces(self, config: dict[str, Any]) -> ChatPieces:
        if CHAT_FILE in self._files:
            return ChatPieces.from_json(self._files[CHAT_FILE])
        template = self._files.get(TEMPLATE_FILE)
        text = template.decode("utf-8") if template else config.get("chat_template")
        return find_pieces(text, config, self._markers)

    def _encode_piece(self, text: str) -> tuple[int, ...]:
        return tuple(self._whole.encode(text, add_special_tokens=False).ids)


NAMES = (TOKENIZER_JSON, TOKENIZER_CONFIG, TEMPLATE_FILE, CHAT_FILE)
"""The files of such a tokenizer. Only the first is required."""


def byte_alphabet() -> dict[str, int]:
    """Character of a byte-level vocabulary -> the byte it stands for. A printable byte is written as the
    character with its code; the other bytes, in order, as the characters from U+0100 on. The inverse of
    GPT-2's `bytes_to_unicode`."""
    shown = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    hidden = [byte for byte in range(256) if byte not in set(shown)]
    return {chr(b): b for b in shown} | {chr(256 + i): b for i, b in enumerate(hidden)}


def _bytes_of_ids(tokens: Mapping[int, str], blank: Mapping[int, str]) -> dict[int, bytes]:
    """Id -> bytes. tokens: id -> token in the byte-level alphabet; blank: id -> plain text of white space.
    Raises KeyError if a token has a character outside the alphabet."""
    alphabet = byte_alphabet()
    found = {i: bytes(alphabet[c] for c in token) for i, token in tokens.items()}
    return found | {i: text.encode() for i, text in blank.items()}


def _check_kind(raw: dict[str, Any]) -> None:
    model, decoder = raw["model"], raw.get("decoder") or {}
    parts = [decoder, *(decoder.get("decoders") or [])]
    kinds = {part.get("type") for part in parts}
    if (
        model.get("type", "BPE") == "BPE"
        and "ByteLevel" in kinds
        and not model.get("byte_fallback")
    ):
        return
    raise CheckpointError(
        f"its tokenizer is no byte-level BPE (it is {shown(model.get('type'))})",
        "choose a model with such a one, as SmolLM2, Qwen and Llama 3 have",
    )


def _without_markers(raw: dict[str, Any], markers: set[str]) -> str:
    """The tokenizer as JSON, changed so that no text is encoded as one of these markers."""
    plain = copy.copy(raw)
    plain["added_tokens"] = added = [
        one for one in raw.get("added_tokens") or [] if one["content"] not in markers
    ]
    model = dict(raw["model"])
    vocab = {token: i for token, i in model["vocab"].items() if token not in markers}
    # the library would give new ids to added tokens that the vocabulary lacks
    model["vocab"] = vocab | {one["content"]: one["id"] for one in added}
    model["merges"] = [m for m in model["merges"] if _joined(m) not in markers]
    model["unk_token"] = None
    plain |= {"model": model, "post_processor": None, "truncation": None, "padding": None}
    return json.dumps(plain)


def _joined(merge: str | list[str]) -> str:
    return "".join(merge.split(" ", 1) if isinstance(merge, str) else merge)


def _patterns(plain: str) -> set[str]:
    """All regular expressions in the pre-tokenizer and the normaliser. plain: the tokenizer as JSON."""
    found: set[str] = set()
    raw = json.loads(plain)
    parts = [raw.get("pre_tokenizer"), raw.get("normalizer")]
    while parts:
        part = parts.pop()
        if isinstance(part, list):
            parts += part
        elif isinstance(part, dict):
            if isinstance(part.get("Regex"), str):
                found.add(part["Regex"])
            parts += part.values()
    return found
