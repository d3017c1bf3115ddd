"""The file of a model's folder with sampled conversations of the base model (learning.memory.own_talk)."""

from __future__ import annotations

TALK = "talk.json"


TALK_BYTES = 1 << 26
"""Largest size in bytes of a `talk.json` that is read. One of 768 rows has about 1 MB."""
