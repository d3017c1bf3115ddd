"""Caches tokenised files on disk, so that a second run starts quickly and the corpus is not held in memory.

A cache file is a safetensors file. Its name contains a hash of the data file's name and contents, the
tokenizer and FORMAT. It has a checksum of its contents; a truncated or altered file is made again. Writing
is atomic. Left out: deleting old caches, which are ordinary files.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import save_file

from engine.errors import CheckpointError, DataError, reason
from engine.storage.checkpoint_files import METADATA, read_header
from engine.storage.files import make_private_folder, replacing
from engine.tokenizers.tokenizer import Tokenizer
from learning.data.corpus import read_documents
from learning.data.text_files import OnBad, open_file
from learning.data.tokens import Tokens, tokenise

FORMAT = 2
"""Version of the tokenisation. Increase it whenever the same file would give other ids; then older runs
cannot be resumed."""
ARRAYS = ("ids", "bounds", "lots", "sources")
"""The arrays of `Tokens`, in the order of the file."""
_KINDS = {"I16": "<i2", "I32": "<i4", "I64": "<i8", "U32": "<u4"}


def cached_tokens(
    path: Path, tokenizer: Tokenizer, folder: Path, *, on_bad: OnBad | None = None
) -> Tokens:
    """The tokens of a data file, from its cache in `folder` if that is valid; otherwise tokenises it and
    writes the cache.

    on_bad: called for each bad row, which is skipped, but only when the file is tokenised. Raises DataError.
    """
    digest = data_digest(path, tokenizer, skips=on_bad is not None)
    kept = folder / f"{path.name.split('.')[0][:40]}-{digest}.safetensors"
    found = _read(kept, digest)
    if found is None:
        made = tokenise(read_documents(path, on_bad), tokenizer, digest)
        if _write(made, kept):
            found = _read(kept, digest)  # memory-mapped, so the system can reclaim the memory
        return found or made
    return found


def data_digest(path: Path, tokenizer: Tokenizer, *, skips: bool) -> str:
    """Hex hash of everything that the tokens of a file depend on. skips: whether bad rows are skipped. Raises
    DataError if the file cannot be read."""
    head = f"{FORMAT} {path.name} {tokenizer.fingerprint()} {skips}\n"
    state = hashlib.blake2b(head.encode("utf-8", "surrogateescape"), digest_size=16)
    try:
        with open_file(path) as file:
            while block := file.read(1 << 20):
                state.update(block)
    except OSError as error:
        raise DataError(
            f"{path}: cannot be read ({reason(error)})", "give a file of text"
        ) from error
    return state.hexdigest()


def _write(tokens: Tokens, path: Path) -> bool:
    """Writes a cache file. Returns False if it cannot be written; training goes on without it then."""
    arrays = {name: getattr(tokens, name) for name in ARRAYS}
    names, digest = tokens.names, tokens.digest
    said = {"digest": digest, "names": names, "checksum": _checksum(arrays, names)}
    try:
        make_private_folder(path.parent)
        with replacing(path) as new:
            # a single entry, because safetensors does not keep the order of several
            save_file(arrays, new, metadata={"tokens": json.dumps(said)})
    except (OSError, SafetensorError):
        return False
    return True


def _read(path: Path, digest: str) -> Tokens | None:
    """The memory-mapped tokens of a cache file; None if it is missing or invalid."""
    try:
        header = read_header(path)
        said, start = json.loads(header[METADATA]["tokens"]), path.stat().st_size - _end(header)
        arrays = {name: _mapped(path, start, header[name]) for name in ARRAYS}
        names = tuple(said["names"])
        if (said["digest"], said["checksum"]) != (digest, _checksum(arrays, names)):
            return None
        return Tokens(names=names, digest=digest, **arrays)
    except (OSError, ValueError, LookupError, TypeError, CheckpointError):
        return None


def _end(header: Mapping[str, Any]) -> int:
    """Size in bytes of all arrays, which are at the end of the file."""
    return max(header[name]["data_offsets"][1] for name in ARRAYS)


def _mapped(path: Path, start: int, said: Mapping[str, Any]) -> NDArray[Any]:
    """One memory-mapped array of the file. said: its entry in the header. start: offset of the first array
    in bytes. safetensors' `load_file` would read the array into memory."""
    kind = np.dtype(_KINDS[said["dtype"]])
    if not said["shape"][0]:
        return np.empty(0, kind)
    return np.memmap(path, kind, "r", start + said["data_offsets"][0], tuple(said["shape"]))


def _checksum(arrays: Mapping[str, NDArray[Any]], names: Sequence[str]) -> str:
    state = hashlib.blake2b(json.dumps(names).encode(), digest_size=16)
    for name, array in arrays.items():
        state.update(f"{name} {array.dtype.str} {len(array)} ".encode())
        for at in range(0, len(array), 1 << 20):
            state.update(np.ascontiguousarray(array[at : at + (1 << 20)]).data)
    return state.hexdigest()
