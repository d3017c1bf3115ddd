"""The pre-tokenizer patterns of known models, exactly as in their `tokenizer.json`.

They are trusted without the test of engine.tokenizers.pattern_trial.
"""

from __future__ import annotations

_WORDS = r"""(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+"""
_REST = r""" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"""
QWEN_2 = rf"{_WORDS}|\p{{N}}|{_REST}"
"""Qwen 2 and 3: each digit is a piece of its own."""
LLAMA_3 = rf"{_WORDS}|\p{{N}}{{1,3}}|{_REST}"
"""Llama 3: digits in groups of up to three."""
KNOWN_PATTERNS = frozenset({QWEN_2, LLAMA_3})
