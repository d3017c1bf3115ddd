"""reasoning-gym's generators and scorers. Imported inside the sandbox only, because they evaluate text.

An answer on which a scorer raises is wrong; a scorer that never returns is killed from outside. The
sandbox cannot stop evaluated text from changing the result of its own scorer, so scorers that evaluate
get only literals and plain formulas. Answers that a scorer would wrongly reward never reach it
(gym_refusals.py).
"""

from __future__ import annotations

import ast
import importlib
import math
import sys
import types
from fractions import Fraction
from typing import Any

_EVALUATED = (
    "algorithmic.binary_matrix",
    "algorithmic.number_sorting",
    "algorithmic.spiral_matrix",
    "algorithmic.string_insertion",
    "games.n_queens",
)
"""Modules whose scorers call `eval` on the answer."""


class _NoDrawing(types.ModuleType):
    """Replaces matplotlib, which takes half of the start-up time and needs a folder to write to;
    text tasks draw nothing."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return None


for _name in (
    "matplotlib", "matplotlib.pyplot", "matplotlib.animation", "matplotlib.collections",
    "mpl_toolkits", "mpl_toolkits.mplot3d",
):  # fmt: skip
    sys.modules.setdefault(_name, _NoDrawing(_name))

import reasoning_gym  # noqa: E402
from reasoning_gym.factory import DATASETS  # noqa: E402

from learning.rewards.tasks.gym_refusals import refused  # noqa: E402
from learning.rewards.verifiers.verified import convert  # noqa: E402

for _module in _EVALUATED:
    # the scorers of these modules use `eval` only to parse lists, which literal_eval does safely
    importlib.import_module(f"reasoning_gym.{_module}").__dict__["eval"] = ast.literal_eval


def make(name: str, settings: dict[str, Any], seed: int, count: int) -> list[dict[str, Any]]:
    """`count` items of one generator: question, answer (None if several are right) and metadata.
    Raises ValueError, ConfigError or AssertionError for settings that it refuses."""
    dataset = _dataset(name, settings, seed, count)
    return [
        {name: pack(item[name]) for name in ("question", "answer", "metadata")}
        for item in (dataset[i] for i in range(count))
    ]


def score(name: str, settings: dict[str, Any], item: dict[str, Any], answer: str) -> float:
    """The scorer's result for the answer, clipped to [0, 1]; 0 if it raises or is not finite."""
    item = unpack(item)
    dataset = _dataset(name, settings, 0, 1)
    try:
        if refused(name, item, answer):
            return 0.0
        given = float(dataset.score_answer(answer, entry=item))
    except Exception:  # an answer that its scorer cannot handle is wrong
        return 0.0
    return min(1.0, max(0.0, given)) if math.isfinite(given) else 0.0


def pack(value: Any) -> Any:
    """Tags the types that JSON does not keep (tuple, set, Fraction, other keys): scorers compare them."""
    if isinstance(value, tuple | set | frozenset):
        kind = "tuple" if isinstance(value, tuple) else "set"
        return {f"<{kind}>": [pack(one) for one in value]}
    if isinstance(value, list):
        return [pack(one) for one in value]
    if isinstance(value, dict) and not all(isinstance(key, str) for key in value):
        return {"<dict>": [[pack(key), pack(one)] for key, one in value.items()]}
    if isinstance(value, dict):
        return {key: pack(one) for key, one in value.items()}
    if isinstance(value, Fraction):
        return {"<fraction>": str(value)}
    if value is None or isinstance(value, str | int | float):
        return value
    return pack(value.tolist()) if hasattr(value, "tolist") else str(value)


def unpack(value: Any) -> Any:
    """Inverse of `pack`."""
    if isinstance(value, list):
        return [unpack(one) for one in value]
    if not isinstance(value, dict):
        return value
    if len(value) == 1:
        [(kind, inside)] = value.items()
        if kind == "<tuple>":
            return tuple(unpack(one) for one in inside)
        if kind == "<set>":
            return {unpack(one) for one in inside}
        if kind == "<fraction>":
            return Fraction(inside)
        if kind == "<dict>":
            return {unpack(key): unpack(one) for key, one in inside}
    return {key: unpack(one) for key, one in value.items()}


def _dataset(name: str, settings: dict[str, Any], seed: int, size: int) -> Any:
    kind = DATASETS[name][1]
    defaults = kind()
    given = {}
    for key, value in settings.items():
        if key in ("seed", "size") or not hasattr(defaults, key):
            known = [k for k in vars(defaults) if k not in ("seed", "size")]
            raise ValueError(f"there is no setting {key!r}; choose among: {', '.join(known)}")
        given[key] = convert(value, getattr(defaults, key), key)
    return reasoning_gym.create_dataset(name, **given, seed=seed, size=size)
