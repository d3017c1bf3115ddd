"""Tokenised files kept on disk, so that a second run begins at once and memory holds no corpus.

A cache file is a safetensors file, named after the hash of the data file's contents, its name, the
tokenizer and this format. It carries a checksum of what is in it: a file that is cut short or altered
is built anew, never trusted. Writing is atomic. Left out: clearing old caches; they are ordinary files.
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
from learning.data.text_files import OnBad
from learning.data.tokens import Tokens, tokenise

FORMAT = 2
"""Raised whenever the same file would become other ids; a run that was begun before is not gone on with."""
ARRAYS = ("ids", "bounds", "lots", "sources")
"""Of `Tokens`, as the file has them."""
_KINDS = {"I16": "<i2", "I32": "<i4", "I64": "<i8", "U32": "<u4"}


def cached_tokens(
    path: Path, tokenizer: Tokenizer, folder: Path, *, on_bad: OnBad | None = None
) -> Tokens:
    """The tokens of a data file, from `folder` if they are there and whole, else made and kept.

    Bad rows are reported only when the cache is made. Raises DataError.
    """
    digest = data_digest(path, tokenizer, skips=on_bad is not None)
    kept = folder / f"{path.name.split('.')[0][:40]}-{digest}.safetensors"
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


def _write(tokens: Tokens, path: Path) -> bool:
    """Whether it could be written: a full disk costs the cache, not the run."""
    arrays = {name: getattr(tokens, name) for name in ARRAYS}
    names, digest = tokens.names, tokens.digest
    said = {"digest": digest, "names": names, "checksum": _checksum(arrays, names)}
    try:
        make_private_folder(path.parent)
        with replacing(path) as new:
            # one entry, since the order of several is not always the same
            save_file(arrays, new, metadata={"tokens": json.dumps(said)})
    except (OSError, SafetensorError):
        return False
    return True


def _read(path: Path, digest: str) -> Tokens | None:
    """The tokens of a cache file, mapped into memory; None where it is missing or not whole."""
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
    """Bytes of all arrays, which stand at the end of the file."""
    return max(header[name]["data_offsets"][1] for name in ARRAYS)


def _mapped(path: Path, start: int, said: Mapping[str, Any]) -> NDArray[Any]:
    """One array of the file, as its header says; `load_file` would read it into memory."""
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
