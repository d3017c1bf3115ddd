"""Names of the files that a model's folder holds beside its weights."""

from __future__ import annotations

TALK = "talk.json"


TALK_BYTES = 1 << 26
"""Of the largest such file that is read; one of 768 rows has 1 MB."""
