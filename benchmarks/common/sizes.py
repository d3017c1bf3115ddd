"""Shapes of models that benchmarks make with random weights."""

from __future__ import annotations

from engine.config import ModelConfig

SMOLLM2 = ModelConfig(
    vocab_size=49_152, dim=576, layers=30, heads=9, kv_heads=3, hidden=1536, context=2048
)
"""The shape of SmolLM2-135M."""
