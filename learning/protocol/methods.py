"""Names of the ways to teach that failed, for settings and tables. Imports no torch: what they do is
in learning.lessons.baselines.
"""

from __future__ import annotations

RECIPE = "recipe"
"""The way that does not fail: learning.lessons.recipe."""
METHODS: dict[str, str] = {
    "single-1e-4": "one step on the lesson, lr 1e-4",
    "single-5e-5": "one step on the lesson, lr 5e-5",
    "single-1e-5": "one step on the lesson, lr 1e-5",
    "repeats": "four steps on the lesson, lr 1e-5",
    "warm-adam": "one step with the book's Adam state",
    "threshold": "steps while the loss is above 1.5",
    "elastic-0.02": "four steps, each pulled back by 0.02",
    "elastic-0.01": "four steps, each pulled back by 0.01",
    "elastic-0.1": "four steps, each pulled back by 0.1",
    "dpo-moving": "DPO against a reference that moves along",
    "contrastive": "contrastive loss, pulled back by 0.02",
    "conversation": "five lessons' gradients, then one step",
    "combined": "two to seven together",
}
"""Name -> one line of what it does."""
