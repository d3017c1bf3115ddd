"""Whether somebody in need is talking: only then are the book's answers for such a moment in place.

"Please call someone you trust, or a crisis line" must never be missing where it is needed, and frightens
where it is not. So the rule is generous: one word that people in need use is enough, anywhere in what
the owner said in this conversation; weaker words count in a statement ("my life is over"), not in a
question ("where do I live?"). Left out: which of the answers fits.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from learning.text.asking import is_question
from learning.text.normalise import fold

_STRONG = re.compile(
    r"\b(die|dies|died|dying|dead|death|kill\w*|suicid\w*|overdos\w*|self ?harm\w*|hurt|hurts|hurting|harm\w*"
    r"|lonely|loneliness|alone|sad|sadness|unhappy|depress\w*|hopeless\w*|worthless\w*|pointless|despair\w*"
    r"|grief|griev\w*|mourn\w*|funeral|passed away|cry|crying|cried|tears|miserable|abus\w*|beaten|raped"
    r"|no reason to|worth living|point (of|in) (living|life|going on|it all|anything)"
    r"|end (it|my life|things|everything)|ending (it|my life|things|everything)"
    r"|give up on|giving up|nobody (likes|loves|cares|would)|no one (likes|loves|cares|would))\b"
)
_WEAK = re.compile(
    r"\b(live|living|life|lives|alive|exist|end|ending|gone|disappear\w*|miss|missing|friends|nobody|no one"
    r"|anybody|cut|cutting|pain\w*|feel\w*|felt|empty|numb|broken|scared|afraid|anymore|any more|unbearable"
    r"|cant (go on|cope|take|stand|do this)|cannot (go on|cope|take|stand|do this)|go on|give up|down|low"
    r"|burden|jump|pills|bridge|hate (myself|my)|help me|sick of|tired of|without me"
    r"|lost (him|her|a friend|(my|our) (\w+ )?(mother|mum|mom|father|dad|brother|sister|wife|husband|son"
    r"|daughter|child|baby|friend|partner|grand\w+|aunt|uncle|dog|cat|pet)))\b"
)


def in_need(said: Sequence[str]) -> bool:
    """Whether the owner's messages, oldest first, hold words of somebody in need."""
    for message in said:
        words = fold(message)
        if _STRONG.search(words) or (_WEAK.search(words) and not is_question(message)):
            return True
    return False


def in_place(said: Sequence[str], prompts: Collection[str]) -> bool:
    """Whether an answer for somebody in need may be said now: to one of the prompts (folded) that it
    was written for, or to somebody in need. said: the owner's messages, oldest first."""
    return fold(said[-1]) in prompts or in_need(said)
