"""What the owner tells in a message, as it may be quoted to him later. English. Imports no torch."""

from __future__ import annotations

import re
from functools import lru_cache

from learning.text.content import content_words
from learning.text.flaws import sentences_of
from learning.text.questions.asking import asks_in_any_order

LONGEST = 30
"""Most words that are quoted."""
_TO_DO = (
    "write|make|give|tell|show|list|explain|help|let['’]?s|translate|summari[sz]e|describe|sing|play|stop"
    "|try|think|imagine|pretend|say|repeat|guess|name|count|add|do|don['’]?t|be|use|answer|continue|go on"
)
_FOR_VIDYA = re.compile(rf"(?:please |now |then |ok |okay )*(?:{_TO_DO})\b", re.IGNORECASE)
"""How a sentence begins that tells Vidya what to do."""


@lru_cache(maxsize=1 << 13)
def told_in(message: str) -> tuple[str, ...]:
    """What a message tells: its sentences that neither ask nor order anything; together, or one by one where
    they have more than LONGEST words. A longer sentence is left out, and so is one of two words."""
    sentences = [one for one in sentences_of(" ".join(message.split())) if _tells(one)]
    together = " ".join(sentences)
    found = [together] if len(together.split()) <= LONGEST else sentences
    return tuple(one for one in found if 3 <= len(one.split()) <= LONGEST and content_words(one))


def quoted(told: str) -> str:
    """What was told, as an answer."""
    return f"You told me: \u201c{told}\u201d"


def _tells(sentence: str) -> bool:
    return not asks_in_any_order(sentence) and not _FOR_VIDYA.match(sentence)
