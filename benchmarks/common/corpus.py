"""The corpus that a benchmark trains or measures on: files or a folder named in VIDYA_CORPUS."""

from __future__ import annotations

import os
from pathlib import Path

from engine.errors import DataError
from learning.data.corpus import Document, data_files, read_documents


def named_corpus() -> list[Path]:
    """The files and folders in VIDYA_CORPUS; empty if it is not set."""
    return [Path(part) for part in os.environ.get("VIDYA_CORPUS", "").split(os.pathsep) if part]


def corpus_files() -> list[Path]:
    """The data files of the corpus. Raises DataError if VIDYA_CORPUS is not set or has no data."""
    named = named_corpus()
    if not named:
        raise DataError("this benchmark needs a corpus", "name its folder or files in VIDYA_CORPUS")
    return data_files(named)


def corpus_documents() -> list[Document]:
    """All documents of the corpus. Raises DataError."""
    return [document for file in corpus_files() for document in read_documents(file)]
