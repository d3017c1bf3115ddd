"""What is known about the owner's taste, as it is kept in the head of the reward model's file.

Reading it needs no torch, so that the app shows it without the model. Left out: the weights
(learning.rewards.reward_model), and how the numbers come about (reward_training, reward_looks).
"""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from engine.errors import CheckpointError
from engine.storage.checkpoint_files import read_metadata

TASTE = "taste.safetensors"
"""Name of the file in a model's folder."""
REPORT = "report"
"""Its metadata that holds the report."""
FEWEST = 30
"""Picks and corrections below which nothing is trained."""
ERRORS = 2.0
"""Standard errors by which held-out pairs must be ordered better than by chance."""


@dataclass(frozen=True)
class Look:
    """How one property of an answer changes its reward. Measured on answers that have the property, with and
    without it."""

    what: str
    """"a question back", "a question mark", "one more sentence", or a word in quotes."""
    change: float
    """Mean change of the reward by having it, in standard deviations of the rewards of shown answers."""
    error: float
    """Standard error of `change`."""
    count: int
    """Number of answers that it was taken away from."""

    @property
    def sure(self) -> bool:
        """Whether the change is more than chance would give (2 standard errors)."""
        return abs(self.change) > 2.0 * self.error


@dataclass(frozen=True)
class Rated:
    """One of the last answers, by its place in the journal; its text stays there."""

    ask: int
    number: int
    """1 to n."""
    score: float
    """Standard deviations above the mean of shown answers."""


@dataclass(frozen=True)
class TasteReport:
    """How well a reward model foretells its owner."""

    version: int
    """Version of the weights whose lowest blocks it was built from."""
    mark: str
    """Of the preferences that it was trained on (Preferences.mark)."""
    judgements: tuple[int, ...]
    """Ids of the judgements that it was trained on or measured on."""
    trained_on: int
    """Choices that it was trained on."""
    opinions: int
    """Ratings that it was trained on."""
    held_out: int
    """Choices that it was measured on."""
    picks_right: float
    """Share of them that it foretells, 0 to 1."""
    pairs_right: float
    """Share of their pairs, chosen and not chosen, that it orders as the owner did: mean over choices, 0 to
    1."""
    chance: float
    """Share of the picks that guessing foretells."""
    ceiling: float
    """Share that it would foretell if its own calibrated odds were exactly right: picks are partly chance."""
    temperature: float
    """Units of reward of one unit of log-odds."""
    calibration_error: float
    """ECE of its odds on held-out pairs, 0 to 1."""
    first: float
    """Share of all picks that fell on the first answer of the screen."""
    read_in_order: bool
    """Reading order was suspected and was taken out of the picks."""
    mean: float
    deviation: float
    """Of its rewards of the answers that were shown; `score` counts in these."""
    seconds: float
    """Time of training and measuring."""
    weights: int = 0
    """Number of weights of the reward model."""
    policy_weights: int = 0
    """Number of weights of the model that answers."""
    looks: tuple[Look, ...] = ()
    """The strongest first."""
    best: tuple[Rated, ...] = ()
    """Of the last hundred answers, best first."""
    least: tuple[Rated, ...] = ()
    """The least liked first."""
    looked_at: int = 0
    """Number of answers among which `best` and `least` are."""
    pairs_error: float | None = None
    """Standard error of `pairs_right` over choices; None: an older version did not measure it."""
    length_right: float = 0.0
    """The same share for the length of answers alone, longer or shorter as the owner likes them."""
    length_error: float = 1.0
    """Its standard error."""
    beyond_length: float = 0.0
    """By how much `pairs_right` exceeds `length_right`, paired by choice."""
    beyond_error: float = 1.0
    """Its standard error."""
    unknown: dict[str, Any] = field(default_factory=dict, compare=False)
    """What a newer version wrote in addition."""

    @property
    def better_than_chance(self) -> bool:
        """Whether it orders pairs of held-out choices better than guessing by 2 standard errors over
        choices."""
        return self.pairs_error is not None and self.pairs_right > 0.5 + ERRORS * self.pairs_error

    @property
    def no_more_than_length(self) -> bool:
        """Whether length alone foretells picks, and the reward model not surely more. It may then have
        learned the length alone, and what only goes with length in these picks passes for taste."""
        foretells = self.length_right > 0.5 + ERRORS * self.length_error
        return foretells and self.beyond_length <= ERRORS * self.beyond_error

    @property
    def choices(self) -> int:
        """All choices that it has seen."""
        return self.trained_on + self.held_out

    @property
    def why_not(self) -> str:
        """Why it is not used; "" if it is."""
        if self.choices < FEWEST:
            return f"it has seen {self.choices} picks, and needs {FEWEST}"
        if self.pairs_error is None:
            return "an older version trained it; the next pause trains it anew"
        if not self.better_than_chance:
            return (
                f"it orders {self.pairs_right:.0%} of held-out pairs as you did, and guessing 50% "
                f"(standard error {self.pairs_error:.0%}): no better than chance"
            )
        return ""

    def stale(self, standing: Collection[int]) -> bool:
        """Whether it was trained on a judgement that was withdrawn, undone or forgotten since. standing: ids
        of the judgements in effect."""
        return not set(standing).issuperset(self.judgements)

    def score(self, reward: float) -> float:
        """A reward in standard deviations above the mean of shown answers."""
        return (reward - self.mean) / self.deviation

    def to_json(self) -> str:
        """As `from_json` reads it."""
        row = asdict(self)
        del row["unknown"]
        return json.dumps(row, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> TasteReport:
        """Raises ValueError, TypeError or KeyError for what is no report."""
        row = json.loads(text)
        known = {one.name for one in fields(cls)}
        report = cls(**{key: value for key, value in row.items() if key in known})
        return replace(
            report,
            judgements=tuple(report.judgements),
            looks=tuple(Look(**one) for one in row.get("looks", ())),
            best=tuple(Rated(**one) for one in row.get("best", ())),
            least=tuple(Rated(**one) for one in row.get("least", ())),
            unknown={key: value for key, value in row.items() if key not in known},
        )


def read_report(folder: Path) -> TasteReport | None:
    """The report of a model's taste; None if there is none. Raises CheckpointError if the file is damaged."""
    path = folder / TASTE
    if not path.exists():
        return None
    try:
        return TasteReport.from_json(read_metadata(path)[REPORT])
    except (KeyError, TypeError, ValueError) as error:
        raise CheckpointError(
            f"{path}: has no readable report ({error})",
            "`vidya reward train` writes it anew, or remove the file",
        ) from error
