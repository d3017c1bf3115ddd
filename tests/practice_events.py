"""Events of practice, for tests of how they are stored, worded and shown."""

from __future__ import annotations

from learning.protocol.events import (
    PracticeDone,
    PracticeSample,
    PracticeStage,
    PracticeStep,
)

STEP = PracticeStep(
    task="syllogism",
    step=4,
    steps=100,
    reward_mean=0.5,
    reward_std=0.25,
    success=0.41,
    groups=20,
    dead_groups=4,
    kl=0.012,
    loss=-0.01,
    entropy=0.4,
    clipped=0.01,
    length=38.2,
    truncated=0.02,
    failed=0,
    tokens=4000,
    tokens_per_second=1300.0,
    seconds=12.0,
    components={"correct": 0.41},
)


SAMPLE = PracticeSample(
    4, "Is it [bold]?", "<answer>No</answer>", 0.95, {"correct": 1.0, "format": 0.5}
)


BEFORE = PracticeStage("syllogism", "before", accuracy=0.3, book_recall=1.0)


LATER = PracticeStage("syllogism", "during", 10, accuracy=0.62, book_recall=0.99, saved=True)


DONE = PracticeDone(
    "syllogism", "steps", "", 100, 0, 0.3, None, 0.62, 1.0, 0.99, 1800.0, "", 10, 100, 7
)
