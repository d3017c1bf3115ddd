"""The words of a text that carry meaning, in any of their forms, also where it was typed in a hurry ("pls").
Imports no torch. English only."""

from __future__ import annotations

import re

from learning.text.normalise import fold

_FUNCTION = """
a an the is are was were am be been do does did has have had can could would should will shall must
may might of to in on at for with by from about as if so and or but not no it its that this these
those there here what who whom where when why how which whose please some any just again then now s
up out off into i you he she we they me him her us them my your his our their mine yours im tell
know remember say
whats wheres whens whos hows wat wats wot wots wher whers wich whch hw pls plz agn agen agian u ur
"""
_FUNCTION_WORDS = frozenset(_FUNCTION.split())
_ENDING = re.compile(r"(?:ing|ed|es|s|e|d)$")


def content_words(text: str) -> frozenset[str]:
    """The words without those of grammar, without their endings."""
    words = fold(text.replace("'s", " ").replace("-", " ")).split()
    return frozenset(_ENDING.sub("", w) or w for w in words if w not in _FUNCTION_WORDS)
