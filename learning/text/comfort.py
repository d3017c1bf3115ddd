"""Decides whether the owner may be in distress. Only then may the model give the book's crisis answers; if
a message says that its writer may kill or hurt himself, one of the answers must be CRISIS.

"Please call someone you trust, or a crisis line" must not be missing when it is needed, and it alarms the
owner when it is not. The rule therefore errs towards yes: one strong word anywhere in the owner's messages
of this conversation is enough. A weak word counts only in a statement ("my life is over"), not in a
question ("where do I live?"). Left out: which of the other crisis answers fits.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from learning.text.normalise import fold
from learning.text.questions.asking import is_question

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

CRISIS = "I am glad you told me. Please call someone you trust, or a crisis line, now."
"""The book's answer to who may kill or hurt himself."""
_DANGER = re.compile(
    r"\b((kill|hurt|harm|cut|cutting|killing|hurting|harming) myself|(end|ending|take|taking) my (own )?life"
    r"|(end|ending) it all|(want|wanna|wish|going|ready|hope) to (die|be dead)|wish i (was|were) dead"
    r"|(id|i would|everyone would|everybody would|theyd|they would) be better off (dead|without me)"
    r"|(dont|do not) (want|wish) to (live|be alive|go on living|wake up|be here any ?more)"
    r"|(am|im|feel|feeling) (so |very |really |still )?suicidal"
    r"|(not|no longer) worth living|no reason to live|took (too many|all (my|the)) pills"
    r"|should i (just )?die)\b"
)
_DANGER_TO_ME = re.compile(r"\b(self ?harm(ing)?|suicide)\b")
_ME = re.compile(r"\b(i|im|ive|id|me|my|myself)\b")


def in_danger(message: str) -> bool:
    """Whether the writer of an English message says that he may kill or hurt himself, asked or stated. "I
    killed the lights" and "Did Cleopatra commit suicide?" do not say so."""
    words = fold(message)
    return bool(_DANGER.search(words) or (_DANGER_TO_ME.search(words) and _ME.search(words)))


def in_need(said: Sequence[str]) -> bool:
    """Whether the messages contain a strong word, or a weak word outside a question.

    said: the owner's messages of this conversation, oldest first; may be empty.
    """
    for message in said:
        words = fold(message)
        if _STRONG.search(words) or (_WEAK.search(words) and not is_question(message)):
            return True
    return False


def in_place(said: Sequence[str], prompts: Collection[str]) -> bool:
    """Whether a crisis answer may be given to the newest message: if that message is one of the prompts
    which the answer was written for, or if the owner may be in distress.

    said: the owner's messages of this conversation, oldest first, at least one. prompts: folded with
    `learning.text.normalise.fold`. Raises IndexError if `said` is empty.
    """
    return fold(said[-1]) in prompts or in_need(said)
