"""Published methods that teach a fact, on our own layers, as baselines for `vidya bench people`.

Each takes one lesson at a time and its answer alone. To add one, write a class with `learn` and add a line to
EDITORS. The program itself does not use them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from benchmarks.baselines.adapter import PlainLora
from benchmarks.baselines.alpha_edit import AlphaEdit
from benchmarks.baselines.common import Attempt
from benchmarks.baselines.memit import Memit
from benchmarks.baselines.one_layer import OneLayer
from benchmarks.baselines.rome import Rome
from engine.model import Model
from learning.data.examples import Example


@dataclass(frozen=True)
class Editor:
    """A published method."""

    what: str
    """One line for tables, with its paper."""
    make: Callable[[Model, Sequence[Example]], Attempt]
    """(model, own talk and book, which are to be disturbed least) -> the method."""


EDITORS: dict[str, Editor] = {
    "lora": Editor("an adapter per lesson, merged (2106.09685)", lambda m, _: PlainLora(m)),
    "ft-m": Editor("steps on one MLP's down projection (2401.01286)", lambda m, _: OneLayer(m)),
    "rome": Editor("a rank-one edit of one MLP (2202.05262)", Rome),
    "memit": Editor("a least-squares edit of several MLPs (2210.07229)", Memit),
    "alphaedit": Editor("the same, projected onto unused directions (2410.02355)", AlphaEdit),
}
