"""Settings, progress and reports of a pre-training run. Imports no torch."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from engine.errors import ConfigError
from learning.curriculum.settings import METHODS

TEXT_METHODS = tuple(name for name in METHODS if name != "thresholds")
"""Names of the curricula that can divide text."""


def _require_text_method(name: str) -> None:
    """Raises ConfigError unless it is one of TEXT_METHODS."""
    if name in TEXT_METHODS:
        return
    wrong = f"there is no curriculum {name!r}"
    if name in METHODS:
        wrong = (
            f"the curriculum {name} goes on at a share of right answers, which text does not have"
        )
    raise ConfigError(f"pretrain: {wrong}", f"choose among: {', '.join(TEXT_METHODS)}")


@dataclass(frozen=True)
class PretrainSettings:
    """How to train. Exactly one of `tokens` and `minutes` is the limit. Raises ConfigError."""

    tokens: int | None = None
    """Tokens in all, including those before an interruption."""
    minutes: float | None = None
    """Minutes of training in all, including those before an interruption. The result depends on the
    speed of the machine; only a run limited by `tokens` is reproducible."""
    row: int = 256
    """Tokens per row; >= 2."""
    rows: int = 32
    """Rows per optimizer step, over all processes."""
    micro_rows: int = 8
    """Rows per forward pass of one process; divides its share of the rows."""
    muon_lr: float = 0.003
    adam_lr: float = 0.003
    weight_decay: float = 0.05
    warm_up: float = 0.01
    """Share of the run at its start during which the learning rate rises."""
    decay: float = 0.3
    """Share of the run at its end during which the learning rate falls to 0."""
    clip: float = 1.0
    """Norm to which the gradient is clipped."""
    spike: float = 6.0
    """A step is skipped if its loss or gradient norm is this many standard deviations above the running
    mean; 0 skips only steps that are not finite."""
    seed: int = 0
    curriculum: str | None = None
    """Method that divides the tokens among the sources (learning.pretraining.sources), one of TEXT_METHODS;
    None: each document comes as often as the mixture says."""
    curriculum_rows: int = 4
    """Held-out rows of each source on which a curriculum measures gains, >= 1."""
    curriculum_cost: float = 0.08
    """Share of the run that measuring may take, above 0, at most 0.5. It decides after how many steps all
    sources are measured again: with five sources and 32 rows a step after 3."""
    lives: bool = False
    """Lessons about invented lives are a part of every step (learning.pretraining.lives_stage)."""
    fp32: bool = False
    """Use float32 for matrix products even where bfloat16 is faster."""
    compile: bool = False
    """Use torch.compile. On a CPU it needs a C++ compiler; a tenth faster at 10M, no faster at 49M
    (benchmarks/results/training.md)."""
    checkpoint_minutes: float = 5.0
    """Minutes of training between checkpoints."""

    def __post_init__(self) -> None:
        if (self.tokens is None) == (self.minutes is None):
            raise ConfigError("pretrain: give one limit", "--tokens N or --minutes M")
        positive = {
            "tokens": self.tokens,
            "minutes": self.minutes,
            "row": self.row - 1,
            "rows": self.rows,
            "micro_rows": self.micro_rows,
            "curriculum_rows": self.curriculum_rows,
            "clip": self.clip,
        }
        for name, value in positive.items():
            if value is not None and not value > 0:
                raise ConfigError(f"pretrain: {name} is too small", "give a larger one")
        if self.curriculum is not None:
            _require_text_method(self.curriculum)
        if not 0.0 < self.curriculum_cost <= 0.5:
            raise ConfigError(
                f"pretrain: curriculum_cost is {self.curriculum_cost}",
                "it is a share of the run, above 0 and at most 0.5",
            )
        for name in ("muon_lr", "adam_lr", "weight_decay", "spike", "checkpoint_minutes"):
            if not 0.0 <= getattr(self, name) < math.inf:
                raise ConfigError(
                    f"pretrain: {name} is {getattr(self, name)}", "give a number from 0 on"
                )
        if not (self.warm_up >= 0.0 and self.decay >= 0.0 and self.warm_up + self.decay <= 1.0):
            raise ConfigError(
                f"pretrain: warm-up {self.warm_up} and decay {self.decay} do not fit in one run",
                "they are shares of it, 0 to 1, and at most 1 together",
            )
        if self.rows % self.micro_rows:
            raise ConfigError(
                f"pretrain: {self.rows} rows do not divide into micro-batches of {self.micro_rows}",
                "choose a micro-batch that divides the batch",
            )

    @property
    def step_tokens(self) -> int:
        """Tokens per optimizer step."""
        return self.row * self.rows


@dataclass
class Mean:
    """Running mean of loss and speed between two reports."""

    loss_sum: float = 0.0
    losses: int = 0
    seconds: float = 0.0
    tokens: int = 0

    def add(self, loss: float, finite: bool, seconds: float, tokens: int) -> None:
        if finite:
            self.loss_sum += loss
            self.losses += 1
        self.seconds += seconds
        self.tokens += tokens

    @property
    def loss(self) -> float:
        return self.loss_sum / self.losses if self.losses else float("nan")

    @property
    def rate(self) -> float:
        """Tokens per second."""
        return self.tokens / self.seconds if self.seconds else 0.0


@dataclass
class Progress:
    """Progress of a run; saved with every checkpoint."""

    step: int = 0
    tokens: int = 0
    seconds: float = 0.0
    """Training time, without evaluation and interruptions."""
    skipped: int = 0
    """Steps skipped: spikes, and steps that were not finite."""
    curve: list[tuple[int, float, float, float]] = field(default_factory=list)
    """(tokens seen, mean loss in nats since the last entry, share of the peak rate, tokens per second)."""
    since: Mean = field(default_factory=Mean)
    """Running mean for the next entry of the curve."""
    curriculum: dict[str, Any] = field(default_factory=dict)
    """`SourceCurriculum.told` at the newest save; empty without a curriculum."""
    curriculum_state: dict[str, Any] = field(default_factory=dict)
    """`SourceCurriculum.state` of then."""

    def done(self, settings: PretrainSettings) -> float:
        """Share of the run that is done, >= 0; it ends at 1 or more."""
        if settings.tokens is not None:
            return self.tokens / settings.tokens
        return self.seconds / (60.0 * (settings.minutes or 1.0))

    def middle(self, settings: PretrainSettings) -> float:
        """Share of the run that is done at the middle of the next step, so that neither the first nor
        the last step has rate 0."""
        if settings.tokens is not None:
            return (self.tokens + settings.step_tokens / 2) / settings.tokens
        if not self.step:
            return settings.warm_up / 100  # the duration of a step is not known yet
        return self.done(settings) * (1 + 0.5 / self.step)


@dataclass(frozen=True)
class PretrainReport:
    """One line of progress."""

    step: int
    tokens: int
    loss: float
    """Nats per token, mean over the steps since the last report."""
    rate: float
    """Share of the peak learning rate."""
    tokens_per_second: float
    done: float
    """Share of the run that is done, 0 to 1."""
    seconds_left: float
    skipped: int
    """Steps skipped so far."""
    sources: dict[str, dict[str, float | None]] = field(default_factory=dict)
    """`SourceCurriculum.figures`; empty without a curriculum."""


def schedule(done: float, warm_up: float, decay: float) -> float:
    """Warm-up-stable-decay schedule: share of the peak rate, 0 to 1, at share `done` of the run.

    warm_up, decay: shares of the run. Haegele et al. 2024, arXiv 2405.18392.
    """
    if done < warm_up:
        return done / warm_up
    if decay and done > 1.0 - decay:
        return max(0.0, (1.0 - done) / decay)
    return 1.0
