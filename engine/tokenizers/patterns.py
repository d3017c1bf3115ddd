"""Regular expressions by which known models split text before merging, as their `tokenizer.json` has them.

They need no trial (engine.tokenizers.pattern_trial).
"""

from __future__ import annotations

_WORDS = r"""(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+"""
_REST = r""" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"""
QWEN_2 = rf"{_WORDS}|\p{{N}}|{_REST}"
"""Qwen 2 and 3: digits one by one."""
LLAMA_3 = rf"{_WORDS}|\p{{N}}{{1,3}}|{_REST}"
"""Digits in threes."""
KNOWN_PATTERNS = frozenset({QWEN_2, LLAMA_3})
