"""How tasks that the program makes itself get harder: for each a ladder of settings, easiest first.

The first rung is the task as it is without settings. Each next rung is a small step, so that a model which
can do the one before finds some right answers. Practice while the owner is away climbs it
(learning.practice.supply.ladder). Loads no torch.
"""

from __future__ import annotations

LADDERS: dict[str, tuple[tuple[str, ...], ...]] = {
    "chain_sum": (
        (),
        ("min_terms=3", "max_terms=3"),
        ("min_digits=2", "max_digits=2"),
        ("min_terms=4", "max_terms=4"),
        ("min_terms=3", "max_terms=3", "min_digits=2", "max_digits=2"),
        ("min_terms=4", "max_terms=4", "min_digits=2", "max_digits=2"),
        ("min_digits=3", "max_digits=3"),
    ),
    "basic_arithmetic": (
        (),
        ("min_terms=4", "max_terms=4"),
        ("max_terms=2", "min_digits=2", "max_digits=2"),
        ("min_terms=3", "max_terms=3", "min_digits=2", "max_digits=2"),
    ),
    "syllogism": (
        (),
        ("turned_share=0",),
    ),
    "propositional_logic": (
        (),
        ("min_steps=3", "max_steps=3"),
        ("min_others=2", "max_others=3"),
        ("min_steps=3", "max_steps=4", "min_others=2", "max_others=3", "letters=8"),
    ),
    "tool_sums": (
        (),
        ("digits=4",),
        ("digits=5",),
        ("digits=6",),
    ),
    "umbrella_talk": (
        (),
        ("weathers=3",),
        ("weathers=4",),
    ),
    "detective": (
        (),
        ("questions=3",),
    ),
}
"""Task name -> its rungs, each NAME=VALUE settings of the task. The name of a rung is its arm's
(learning.practice.supply.arms)."""
