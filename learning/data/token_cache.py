"""Tokenised files kept on disk, so that a second run begins at once and memory holds no corpus.

A cache file is named after the hash of the data file's contents, its name, the tokenizer and this
format. It carries a checksum of its bytes: a file that is cut short or altered is built anew, never
trusted. Writing is atomic. Left out: clearing old caches; they are ordinary files.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.errors import DataError, reason
from engine.storage.files import make_private_folder, replacing
from engine.tokenizers.tokenizer import Tokenizer
from learning.data.corpus import read_documents
from learning.data.text_files import OnBad
from learning.data.tokens import Tokens, tokenise

FORMAT = 2
"""Raised whenever the same file would become other ids, or be laid out otherwise."""
_MAGIC = b"vidya tokens\n"
_ALIGN = 16


def cached_tokens(
    path: Path, tokenizer: Tokenizer, folder: Path, *, on_bad: OnBad | None = None
) -> Tokens:
    """The tokens of a data file, from `folder` if they are there and whole, else made and kept.

    Bad rows are reported only when the cache is made. Raises DataError.
    """
    digest = data_digest(path, tokenizer, skips=on_bad is not None)
    kept = folder / f"{path.name.split('.')[0][:40]}-{digest}.tokens"
    found = _read(kept, digest)
    if found is None:
        made = tokenise(read_documents(path, on_bad), tokenizer, digest)
        if _write(made, kept):
            found = _read(kept, digest)  # from now on the pages can be given back to the system
        return found or made
    return found


def data_digest(path: Path, tokenizer: Tokenizer, *, skips: bool) -> str:
    """Hash of everything that decides the tokens of a file. Raises DataError."""
    head = f"{FORMAT} {path.name} {tokenizer.fingerprint()} {skips}\n"
    state = hashlib.blake2b(head.encode("utf-8", "surrogateescape"), digest_size=16)
    try:
        with path.open("rb") as file:
            while block := file.read(1 << 20):
                state.update(block)
    except OSError as error:
        raise DataError(
            f"{path}: cannot be read ({reason(error)})", "give a file of text"
        ) from error
    return state.hexdigest()


def _arrays(tokens: Tokens) -> dict[str, NDArray[Any]]:
    return {
        "ids": tokens.ids,
        "bounds": tokens.bounds,
        "lots": tokens.lots,
        "sources": tokens.sources,
    }


def _write(tokens: Tokens, path: Path) -> bool:
    """Whether it could be written: a full disk costs the cache, not the run."""
    arrays = _arrays(tokens)
    header: dict[str, Any] = {
        "digest": tokens.digest,
        "names": tokens.names,
        "arrays": {name: [array.dtype.str, len(array)] for name, array in arrays.items()},
        "checksum": _checksum(arrays),
    }
    head = _MAGIC + json.dumps(header).encode() + b"\n"
    try:
        make_private_folder(path.parent)
        with replacing(path) as new, new.open("wb") as file:
            file.write(head)
            for array in arrays.values():
                file.write(b"\0" * (-file.tell() % _ALIGN))
                file.write(array.data)
    except OSError:
        return False
    return True


def _read(path: Path, digest: str) -> Tokens | None:
    """The tokens of a cache file, mapped into memory; None where it is missing or not whole."""
    try:
        with path.open("rb") as file:
            if file.readline(len(_MAGIC)) != _MAGIC:
                return None
            header = json.loads(file.readline(1 << 24))
            offset = file.tell()
        arrays: dict[str, NDArray[Any]] = {}
        for name, (kind, count) in header["arrays"].items():
            offset += -offset % _ALIGN
            dtype = np.dtype(kind)
            arrays[name] = (
                np.memmap(path, dtype, "r", offset, (count,)) if count else np.empty(0, dtype)
            )
            offset += count * dtype.itemsize
        if header["digest"] != digest or header["checksum"] != _checksum(arrays):
            return None
        return Tokens(names=tuple(header["names"]), digest=digest, **arrays)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _checksum(arrays: Mapping[str, NDArray[Any]]) -> str:
    state = hashlib.blake2b(digest_size=16)
    for name, array in arrays.items():
        state.update(f"{name} {array.dtype.str} {len(array)} ".encode())
        for start in range(0, len(array), 1 << 20):
            state.update(np.ascontiguousarray(array[start : start + (1 << 20)]).data)
    return state.hexdigest()
