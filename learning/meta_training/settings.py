"""The settings of a run, and how much each kind of rows weighs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from engine.errors import ConfigError

ASKED = 1.0
"""Weight of what the taught weights are asked: other wordings, yes and no, neighbours, what nobody told."""
TOLD_AGAIN = 0.48
"""Weight of what the taught weights are asked with lessons before the message."""
CONTROL = 0.25
"""Weight at the taught weights of lines of the book, and as much of everyday talk."""
HELD = 0.5
"""Weight at the taught weights of the divergence from the base, on its own words."""
CONVERSATION = 0.6
"""Weight at the untaught weights of conversations about lives."""
RECALLED = 0.8
"""Weight at the untaught weights of messages with lessons before them."""
UNKNOWN = 0.2
"""Weight at the untaught weights of questions about what nobody told."""
BOOK = 1.0
"""Weight at the untaught weights of the book."""
EVERYDAY = 0.5
"""Weight at the untaught weights of everyday talk in Vidya's manner."""
OWN = 1.0
"""Weight at the untaught weights of the divergence from the base, on its own words."""
PEOPLE = 1.5
"""The same on people's conversations, where there are some."""


@dataclass(frozen=True)
class MetaSettings:
    """How a run goes. Raises ConfigError for numbers out of range."""

    seconds: float = 360.0
    """Duration of the whole run by the clock, measures included; > 0."""
    steps: int = 0
    """Most steps; 0: as many as the seconds allow."""
    seed: int = 0
    lr: float = 6e-4
    """AdamW's learning rate for A and B at its highest; > 0."""
    clip: float = 1.0
    """Most norm of the gradient of all A and B; > 0."""
    lessons: int = 2
    """Lessons a step, which together weigh as much as one; >= 1."""
    workers: int = 5
    """Processes that make rows; 0: they are made by a thread of this process."""
    facts: int = 40
    """Least facts of either kind of lives that the measure teaches; >= 1."""
    small: bool = False
    """Small steps: three facts a lesson, few rows of each kind. For a trial on a CPU."""
    measure_first: bool = True
    """Measures before the first step too."""
    conversations: tuple[Path, ...] = ()
    """Files or folders of people's conversations, on whose words the model is held near the base."""
    questions: Path | None = None
    """A file of lessons for the measure, see learning.meta_training.measure."""

    def __post_init__(self) -> None:
        above = {"seconds": self.seconds, "lr": self.lr, "clip": self.clip}
        counts = {
            "steps": (self.steps, 0),
            "lessons": (self.lessons, 1),
            "workers": (self.workers, 0),
            "facts": (self.facts, 1),
        }
        for name, number in above.items():
            if not 0.0 < number < float("inf"):
                raise ConfigError(f"--{name} {number}", "give a number above 0")
        for name, (count, least) in counts.items():
            if count < least:
                raise ConfigError(f"--{name} {count}", f"give a number from {least} up")
