"""Which kinds of facts are trained on, and which are held out to be measured."""

from __future__ import annotations

import random

from learning.text.lives import relations

HELD_OUT = 30
"""Relations of lives that no row of the training has."""
_EVERYWHERE = "relative_name"
"""Every life has the names of some relatives, because questions speak of them by name."""


def held_out_kinds() -> frozenset[str]:
    """Names of the relations that are held out, always the same."""
    names = sorted(name for name in relations() if name != _EVERYWHERE)
    return frozenset(random.Random(135).sample(names, HELD_OUT))


def trained_kinds() -> frozenset[str]:
    """Names of all other relations."""
    return frozenset(relations()) - held_out_kinds()
