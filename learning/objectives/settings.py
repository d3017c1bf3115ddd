"""Settings of the policy gradient, and of what is kept in every batch beside it. Loads no torch.

A variant is a function. `variant` names the functions that a field may have, and imports one only where
settings are made, so that a screen can list all names.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from typing import TYPE_CHECKING, Any

from engine.errors import ConfigError

if TYPE_CHECKING:
    from torch import Tensor

    from learning.maths.normalise import Normaliser
    from learning.maths.policy import Ratio

    Divergence = Callable[[Tensor, Tensor], Tensor]
    """(log-probabilities [L], those of the reference [L]) -> estimate per token [L]: kl.k2 or k3."""

VARIANTS = "variants"
"""Key of a field's metadata: name of each variant -> "module:function"."""
MOST = 1_000_000
"""Upper bound of a count, such as steps or problems. A number of weights is none: its default is larger."""
MICRO_TOKENS = 512
"""Padded tokens per forward and backward pass: about 80 ms at 10M weights on two cores, the longest that a
streaming answer waits for the learner. The cost of attention grows with their square."""


def variant(usual: str, /, **functions: str) -> Any:
    """A dataclass field whose values are functions. functions: name -> "module:function"; usual: the name of
    the default."""
    return field(
        default_factory=lambda: load_variant(functions[usual]),
        metadata={VARIANTS: functions, "usual": usual},
    )


def load_variant(where: str) -> Any:
    """The function at "module:function"."""
    module, _, name = where.partition(":")
    return getattr(importlib.import_module(module), name)


def variant_name(functions: Mapping[str, str], function: Any) -> str:
    """The name of a function among a field's variants; its own name if it is none of them."""
    where = f"{function.__module__}:{function.__name__}"
    return next((name for name, place in functions.items() if place == where), where)


@dataclass(frozen=True)
class GrpoSettings:
    """Parameters of the objective."""

    low: float = 0.2
    """Lower clipping bound, above 0 and below 1: no gradient for a ratio below 1 - low with a negative
    advantage."""
    high: float = 0.28
    """Upper clipping bound, above 0: no gradient for a ratio above 1 + high with a positive advantage
    (larger than `low`, as in arXiv 2503.14476)."""
    dual_clip: float = 3.0
    """Bound of the ratio with a negative advantage, above 1 + high; inf switches it off. Matters only for
    answers that were drawn some updates ago."""
    ratio: Ratio = variant(
        "token",
        token="learning.maths.policy:token_ratio",
        sequence="learning.maths.policy:sequence_ratio",
    )
    """What the bounds apply to: the ratio of each token, or that of the whole answer (GSPO)."""
    normalise: Normaliser = variant(
        "by_tokens",
        by_tokens="learning.maths.normalise:by_tokens",
        by_answer="learning.maths.normalise:by_answer",
        by_constant="learning.maths.normalise:by_constant",
    )
    """How tokens weigh: all alike (DAPO), all answers alike (GRPO), or by the longest answer allowed
    (Dr. GRPO)."""
    kl_weight: float = 0.0
    """Weight of the divergence from the reference in the loss, >= 0; 0 switches it off."""
    divergence: Divergence = variant("k3", k2="learning.maths.kl:k2", k3="learning.maths.kl:k3")
    """Estimate of the divergence in the loss. k1 is none of them: as a loss its expected gradient is zero;
    `kl_reward` has it where it belongs."""
    temperature: float = 1.0
    """Sampling temperature of the answers, > 0; log-probabilities refer to that distribution."""
    micro_tokens: int = MICRO_TOKENS
    """Tokens per forward and backward pass, >= 1."""

    def __post_init__(self) -> None:
        """Raises ConfigError."""
        check(
            self,
            low=0.0 < self.low < 1.0,
            high=0.0 < self.high < math.inf,
            kl_weight=0.0 <= self.kl_weight < math.inf,
            temperature=0.0 < self.temperature < math.inf,
            micro_tokens=self.micro_tokens >= 1,
        )
        above = self.dual_clip > 1.0 + self.high
        check_both(self, "dual_clip", "high", above, "dual_clip must be above 1 + high")


@dataclass(frozen=True)
class RetentionSettings:
    """Examples per optimizer step and their weights relative to the task's loss."""

    lines: int = 8
    """Lines of book and earlier lessons, >= 0; up to half of them weak ones."""
    talk: int = 16
    """Examples of the model's own talk, >= 0."""
    line_weight: float = 1.0
    """Weight of the lines, >= 0."""
    talk_weight: float = 1.0
    """Weight of own talk, >= 0. At 1 its gradient is about as large as the objective's; at 10 it
    dominates."""

    def __post_init__(self) -> None:
        """Raises ConfigError."""
        names = ("lines", "talk", "line_weight", "talk_weight")
        check(self, **{name: 0 <= getattr(self, name) < math.inf for name in names})


class OutOfRange(ConfigError):
    """A setting with a value outside its range; `what` is "OWNER: NAME is VALUE"."""

    def inside(self, part: str) -> OutOfRange:
        """The same error as one of the options of practice, whose names begin with that part: `warm_up.`."""
        return OutOfRange(f"practice: {part}{self.what.partition(': ')[2]}", self.next_step)


def check(settings: Any, whose: str = "practice", /, **good: bool) -> None:
    """Raises OutOfRange for the first field that is not good, with its text, which has the range, and for a
    count above MOST. whose: what the settings are of; the error begins with it."""
    kind: type = type(settings)
    for part in fields(kind):
        counts = type(part.default) is int and part.default <= MOST
        if counts and getattr(settings, part.name) > MOST:
            raise OutOfRange(
                f"{whose}: {part.name} is {_typed(settings, part.name)}",
                f"give at most {MOST:,}: {field_texts(kind)[part.name]}",
            )
    for name, fits in good.items():
        if not fits:
            raise OutOfRange(
                f"{whose}: {name} is {_typed(settings, name)}",
                f"give another value: {field_texts(kind)[name]}",
            )


def check_both(
    settings: Any,
    name: str,
    other: str,
    fits: bool,
    rule: str,
    *,
    way: str = "",
    next_step: str = "",
) -> None:
    """Raises ConfigError unless `fits`. name, other: two fields that limit each other. rule: the limit, in
    words. way: prefix of both names in options, such as "few.". next_step: advice of the error; empty: to
    change one of the two."""
    if not fits:
        values = {f"{way}{one}": _typed(settings, one) for one in (name, other)}
        raise _clash(values, rule, next_step)


def check_product(settings: Any, *names: str) -> None:
    """Raises ConfigError if the product of these counts is above MOST: so many answers are in memory at a
    time. names: two or more fields, those of a part as `self_play.answers`."""
    values = {name: operator.attrgetter(name)(settings) for name in names}
    if math.prod(values.values()) > MOST:
        raise _clash(values, f"their product must be at most {MOST:,}")


def _clash(values: Mapping[str, Any], rule: str, next_step: str = "") -> ConfigError:
    """The error for options that do not fit each other. values: name -> value as one types it."""
    *names, last = values
    told = "".join(f"{name} is {values[name]}, " for name in names)
    return ConfigError(
        f"practice: {told}and {last} is {values[last]}: {rule}",
        next_step or f"change {', '.join(names)} or {last}",
    )


def _typed(settings: Any, name: str) -> Any:
    """The value of a field as one types it."""
    value = getattr(settings, name)
    [part] = [one for one in fields(settings) if one.name == name]
    variants = part.metadata.get(VARIANTS)
    return variant_name(variants, value) if variants else value


@cache
def field_texts(kind: type) -> dict[str, str]:
    """Field -> the text under it in the source."""
    body = ast.parse(inspect.getsource(kind)).body[0]
    assert isinstance(body, ast.ClassDef)
    found = {}
    for line, text in zip(body.body, body.body[1:], strict=False):
        match line, text:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=said)):
                found[name] = " ".join(str(said).split())
    return found
