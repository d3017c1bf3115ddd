"""Whether a question names a number that the owner's words do not have: "Where is room 14?", for "room 12".

Digits that stand for words count as none ("code 4 the gate", "b4 lunch"), and "2nd" is "second". English.
Imports no torch.
"""

from __future__ import annotations

import re

from learning.text.key import ORDINALS

_DIGITS = re.compile(r"\d+")
_FOR_A_WORD = re.compile(
    r"\b(?:b4|m8|gr8|l8r?|2day|2moro|[24](?= (?:the|my|our|me|us|a|an|be|do|go|get|see)\b))\b",
    re.IGNORECASE,
)


def names_another_number(message: str, told: str) -> bool:
    """Whether a number of the message is not in the owner's words."""
    asked = {*_DIGITS.findall(_FOR_A_WORD.sub(" ", message))}
    if not asked:
        return False
    spelled = {str(ORDINALS[word]) for word in told.lower().split() if word in ORDINALS}
    return not asked <= {*_DIGITS.findall(told)} | spelled
