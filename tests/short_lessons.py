"""Settings of lessons for tiny models.

Batches have few rows. The book of a test is short, and the learner fills free rows with the model's own talk,
which at this size is long noise.
"""

from __future__ import annotations

from learning.lessons.batch import Mixture
from learning.lessons.recipe import TeachSettings

ROWS = Mixture(batch=12, talk=2)
LEARNED = TeachSettings(lr=3e-3, steps=60, repair=40, talk_weight=1.0, mixture=ROWS)
"""A tiny model learns the lesson. The usual weight of talk would hold it to its noise."""
SHORT = TeachSettings(steps=2, repair=1, mixture=ROWS)
"""For tests that do not ask how well a lesson is learned."""
