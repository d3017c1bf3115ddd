"""The files of a model's folder that more than one room reads."""

from __future__ import annotations

TALK = "talk.json"
"""Sampled conversations of the base model (learning.memory.own_talk)."""


TALK_BYTES = 1 << 26
"""Largest size in bytes of a `talk.json` that is read. One of 768 rows has about 1 MB."""


PRACTICE_ANCHOR = "practice_anchor.safetensors"
"""How the model talked before it practised (learning.practice.checks.yardstick)."""


PRACTICE_BEST = "practice_best.json"
"""The best recall of the book since."""
