"""Whether an English message asks for something, by its mark or its first words."""

from __future__ import annotations

import re

_VERB = "is|am|are|was|were|do|does|did|can|will|should|would|could"
_ASKS = re.compile(
    rf"(?:what|who|where|when|why|how|which)(?: [\w'-]+)* (?:{_VERB}) .+"  # what colour is my door
    r"|(?:what|who|where|when|how)'?s .+"  # whats my name
    rf"|(?:{_VERB}|have|has) .+"  # do you know me
    r"|(?:please |can you |could you |would you )*(?:tell|give|show) (?:me|us) .+"
    r"|(?:please )?(?:say|name) (?!of\b).+",
    re.IGNORECASE,
)

_YES_OR_NO = re.compile(
    rf"(?:{_VERB}|have|has) (?!you (?:know|remember|recall)\b|you tell\b).+", re.IGNORECASE
)


def asks_yes_or_no(message: str) -> bool:
    """Whether a question is answered by yes or no; "Do you know ...?" asks for what is known."""
    return bool(_YES_OR_NO.fullmatch(" ".join(message.split())))


def is_question(message: str) -> bool:
    """Whether something is asked, with or without a mark, or is to be told."""
    plain = " ".join(message.replace("\u2019", "'").split())
    return plain.endswith("?") or bool(_ASKS.fullmatch(plain.rstrip("!. ")))
