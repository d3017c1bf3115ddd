"""Reads rows of problems from local JSON, JSON lines (either may be compressed) or parquet files, and
from the Hugging Face hub by name.

Left out: writing, streaming files that do not fit into memory, running a data set's own scripts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from engine.errors import ConfigError, DataError
from learning.data.text_files import open_data, open_file, plain_suffix, text_lines

SUFFIXES = (".json", ".jsonl", ".parquet")
"""The first two may end in `.zst` or `.gz`."""
INSTALL = "in the folder of vidya: pip install '.[practice]'"
Row = Mapping[str, Any]


def read_rows(path: Path) -> Iterator[tuple[str, Row]]:
    """Yields ("FILE:LINE" or "FILE row N", row) for each row of a file, or of all files under a folder
    in the order of their names.

    Raises DataError if a file cannot be read, ConfigError if a package for it is missing.
    """
    if path.is_dir():
        files = sorted(p for p in path.rglob("*") if p.is_file() and plain_suffix(p) in SUFFIXES)
        if not files:
            raise DataError(f"{path}: holds no data", f"put in files of: {', '.join(SUFFIXES)}")
        for file in files:
            yield from read_rows(file)
        return
    readers = {".jsonl": _json_lines, ".json": _json, ".parquet": _parquet}
    if not path.exists():
        raise DataError(f"{path}: does not exist", "name a file or a folder that is there")
    reader = readers.get(plain_suffix(path))
    if reader is None:
        forms = f"{', '.join(SUFFIXES)} (the first two also as .zst or .gz)"
        raise DataError(f"{path}: is of no known kind", f"give a file of: {forms}; or a folder")
    try:
        yield from reader(path)
    except OSError as error:
        raise DataError(
            f"{path}: cannot be read ({error.strerror or error})", "name a file that is there"
        ) from error


def hub_folder(name: str, patterns: Sequence[str]) -> Path:
    """The local folder with those files of a hub data set that match the patterns; downloads what is
    not in the cache.

    Raises ConfigError if huggingface_hub is missing, DataError if the download fails.
    """
    try:
        import huggingface_hub
    except ImportError:
        raise ConfigError(
            f"fetching {name} needs the package huggingface_hub",
            f"{INSTALL}, or give a file with --data",
        ) from None
    try:
        folder = huggingface_hub.snapshot_download(
            name, repo_type="dataset", allow_patterns=list(patterns)
        )
    except Exception as error:  # its own error classes, those of its HTTP library, and OSError
        first = (str(error).strip().splitlines() or [""])[0]
        why = re.sub(r"^(Got: )?(\w+Error: )?(\[Errno -?\d+\] )?", "", first)[:200]
        raise DataError(
            f"{name} cannot be fetched from the Hugging Face hub ({why or 'no reason was given'})",
            "look at the network, or give a file with --data",
        ) from error
    return Path(folder)


def _json_lines(path: Path) -> Iterator[tuple[str, Row]]:
    with open_data(path) as stream:
        for number, line in text_lines(stream, path):
            if line.strip():
                yield _checked(f"{path}:{number}", _parse(line, f"{path}:{number}"))


def _json(path: Path) -> Iterator[tuple[str, Row]]:
    with open_data(path) as stream:
        text = "\n".join(line for _, line in text_lines(stream, path))
    whole = _parse(text, str(path))
    if isinstance(whole, dict):  # {"Data": [...]}, {"rows": [...]}
        lists = [value for value in whole.values() if isinstance(value, list)]
        whole = lists[0] if len(lists) == 1 else [whole]
    if not isinstance(whole, list):
        raise DataError(f"{path}: is no list of rows", "give a list of objects")
    yield from _numbered(path, whole)


def _parquet(path: Path) -> Iterator[tuple[str, Row]]:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise ConfigError(
            f"{path}: parquet needs the package pyarrow", f"{INSTALL}, or give JSON lines"
        ) from None
    try:
        with open_file(path) as file:
            rows = parquet.read_table(file).to_pylist()
    except pyarrow.ArrowException as error:
        raise DataError(f"{path}: is no whole parquet file ({error})", "fetch it again") from error
    yield from _numbered(path, rows)


def _numbered(path: Path, rows: Iterable[Any]) -> Iterator[tuple[str, Row]]:
    for number, row in enumerate(rows, 1):
        yield _checked(f"{path} row {number}", row)


def _checked(where: str, row: Any) -> tuple[str, Row]:
    if not isinstance(row, dict):
        raise DataError(f"{where}: is no object", "give one object a row")
    return where, row


def _parse(text: str, where: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{where}: is no JSON ({error})", "mend the line or remove it") from error
