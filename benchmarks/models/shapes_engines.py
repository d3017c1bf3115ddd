"""The programs of `vidya bench shapes`, each in a process of its own."""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable
from typing import Any

from benchmarks.common.processes import peak_bytes
from benchmarks.common.workers import serve
from benchmarks.models.shapes import BEFORE, PEER

SHAPES = {"learn": ((7, 21), (20, 47)), "look": ((30, 75), (20, 30))}
"""Least and most rows, and tokens of a row, of each kind of work."""
EVERY = 4
"""Every how many tokens logits are computed."""


def batches_of(work: str, seed: int, count: int) -> list[tuple[int, int]]:
    """Rows and tokens of each batch."""
    draw = random.Random(f"{work} {seed}")
    rows, tokens = SHAPES[work]
    return [(draw.randint(*rows), draw.randint(*tokens)) for _ in range(count)]


def make(name: str, size: str) -> Callable[..., dict[str, Any]]:
    """What does the work of one program."""
    import torch

    from benchmarks.common.sizes import SMOLLM2
    from engine import model as modelling
    from engine import products
    from engine.config import CONFIGS
    from engine.precision import autocast

    config = CONFIGS.get(size, SMOLLM2)
    passed: Callable[[Any], Any]
    if name == PEER:
        import transformers

        theirs = transformers.LlamaForCausalLM(
            transformers.LlamaConfig(
                vocab_size=config.vocab_size,
                hidden_size=config.dim,
                num_hidden_layers=config.layers,
                num_attention_heads=config.heads,
                num_key_value_heads=config.kv_heads,
                intermediate_size=config.hidden,
                max_position_embeddings=config.context,
                tie_word_embeddings=True,
            )
        )
        net: torch.nn.Module = theirs

        def passed(ids: Any) -> Any:
            hidden = theirs.model(input_ids=ids, use_cache=False).last_hidden_state
            return theirs.lm_head(hidden[:, ::EVERY])
    else:
        if name == BEFORE:
            products.ROWS, products.KEPT, modelling.SHORT = 1, 0, 0
        ours = modelling.Model(config, generator=torch.Generator().manual_seed(0))
        net = ours

        def passed(ids: Any) -> Any:
            return ours.logits(ours.hidden_states(ids)[:, ::EVERY])

    device = torch.device("cpu")

    def do(*, work: str, seed: int, batches: int) -> dict[str, Any]:
        net.requires_grad_(work == "learn")
        seconds, tokens = 0.0, 0
        for rows, length in batches_of(work, seed, batches):
            ids = torch.randint(config.vocab_size, (rows, length))
            started = time.process_time()
            with torch.set_grad_enabled(work == "learn"):
                with autocast(device):
                    logits = passed(ids)
                loss = logits.float().logsumexp(-1).mean()
            if work == "learn":
                loss.backward()
                net.zero_grad()
            seconds, tokens = seconds + time.process_time() - started, tokens + rows * length
        return {"seconds": seconds, "tokens": tokens, "peak_mb": (peak_bytes() or 0) / 1e6}

    return do


if __name__ == "__main__":
    serve(lambda: make(*sys.argv[1:]))
