"""How a model's answers are drawn and how sure it is of them: `generation_config.json` in its folder, as
Hugging Face has it, with one key more. It imports no torch, because the interface reads it.

What suits a model belongs to it, not to the program: a temperature at which 10M weights say something new
makes broken sentences of 135M. Left out: what the owner chose, which goes before it (vidya_tui.settings).
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.config import Sampling
from engine.errors import ConfigError
from engine.storage.reading import read_json

GENERATION = "generation_config.json"
EXPONENT = "certainty_exponent"
"""The key that is vidya's own: `Generation.certainty_exponent`."""
_NUMBERS = ("temperature", "top_p", "min_p", "repetition_penalty")
_PLAIN = Sampling(temperature=1.0, top_p=1.0, repetition_penalty=1.0)
"""What transformers takes for a key that is missing (but for top_k, which is 50 there)."""


@dataclass(frozen=True)
class Generation:
    """What a model's folder says; the defaults are the program's."""

    sampling: Sampling = Sampling()
    certainty_exponent: float | None = None
    """Of the probability of a whole answer (learning.teacher.certainty), above 0; None: not measured for
    this model."""

    def to_json(self) -> dict[str, Any]:
        """The contents of the file."""
        drawn = self.sampling.to_dict()
        said = {"do_sample": True, "top_k": drawn["top_k"], **{key: drawn[key] for key in _NUMBERS}}
        exponent = self.certainty_exponent
        return said | ({EXPONENT: exponent} if exponent is not None else {})


def read_generation(folder: Path) -> Generation:
    """What the folder's file says. Without a file, and of values that mean nothing, the program's defaults:
    no model is refused for it."""
    try:
        raw = read_json(folder / GENERATION)
    except (OSError, ValueError):
        return Generation()
    return generation_of(raw) if isinstance(raw, dict) else Generation()


def write_generation(generation: Generation, folder: Path) -> None:
    """Writes the folder's file. Raises OSError."""
    text = json.dumps(generation.to_json(), indent=1) + "\n"
    (folder / GENERATION).write_text(text, "utf-8")


def generation_of(raw: Mapping[str, Any]) -> Generation:
    """Reads the contents of the file. As in transformers, nothing is drawn, and no temperature means
    anything, where `do_sample` is not true."""
    exponent = _number(raw.get(EXPONENT))
    if exponent is not None and not 0.0 < exponent <= 100.0:
        exponent = None
    if raw.get("do_sample") is not True:
        return Generation(certainty_exponent=exponent)
    found: dict[str, Any] = {key: _number(raw.get(key)) for key in _NUMBERS}
    top_k = raw.get("top_k")
    found["top_k"] = top_k if isinstance(top_k, int) and not isinstance(top_k, bool) else None
    try:
        return Generation(_PLAIN.with_(**found), exponent)
    except ConfigError:
        return Generation(certainty_exponent=exponent)


def _number(value: object) -> float | None:
    """A finite number; None for anything else."""
    if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
        return None
    return float(value)
