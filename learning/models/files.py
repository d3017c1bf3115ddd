"""The files of a model's folder that more than one room reads."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from engine.errors import CheckpointError
from engine.storage.checkpoint_files import parse_number, read_metadata

TALK = "talk.json"
"""Sampled conversations of the base model (learning.memory.own_talk)."""


TALK_BYTES = 1 << 26
"""Largest size in bytes of a `talk.json` that is read. One of 768 rows has about 1 MB."""


REFERENCE = "voice.safetensors"
"""What the base model predicts in these conversations (learning.memory.reference_file)."""


REFERENCE_VERSION = "version"
"""In that file's metadata: the version of the weights that all these conversations come from. Absent if other
weights may have said some."""


PRACTICE_ANCHOR = "practice_anchor.safetensors"
"""How the model talked before it practised (learning.practice.checks.yardstick)."""


PRACTICE_BEST = "practice_best.json"
"""The best recall of the book since."""


def reference_version(folder: Path) -> int | None:
    """The version in the metadata of a folder's reference; None if it is not known."""
    try:
        return version_told(read_metadata(folder / REFERENCE))
    except CheckpointError:
        return None


def version_told(record: Mapping[str, str]) -> int | None:
    """The version in a reference's metadata; None if it is not there or is no number."""
    version = parse_number(told := record.get(REFERENCE_VERSION))
    return version if told == str(version) else None
