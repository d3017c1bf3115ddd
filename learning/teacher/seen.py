"""What the model sees of a talk when it answers: all of it, but for what it made up against lessons.

The journal keeps everything. An answer of the model's own that contradicts what was taught is not shown
to it again, or it would be repeated rather than the lesson. Where the owner asks what was taught, nothing
that the model said unjudged is shown either: a small model goes on with names it has just made up, and
gives one taught fact in seven right after ten of them (benchmarks/results/inventions.md). What the owner
judged, and what the owner told on the matter, stays.
"""

from __future__ import annotations

from collections.abc import Mapping

from engine.errors import NotFound
from learning.channels import REMEMBERED
from learning.journal.contradictions import Contradictions, is_question, touches
from learning.journal.journal import Journal
from learning.memory.tasks import stands_alone
from learning.protocol.records import Turn, Turns
from learning.text.normalise import fold


class Seen:
    """For the asks of one journal."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._taught = Contradictions()
        self._mark: object = None

    def turns(self, ask: int, turns: Turns) -> Turns:
        """Those of an ask that the model sees; the last message is always among them."""
        if len(turns) < 2:
            return turns
        try:
            own = self._journal.own_answers(ask)
        except NotFound:  # forgotten meanwhile, or asked by somebody who keeps no journal
            return turns
        if not own:
            return turns
        mark = self._journal.lessons_mark()
        if mark != self._mark:
            self._taught.update(self._journal.standing())
            self._mark = mark
        return seen(turns, own, self._taught)


def seen(turns: Turns, own: Mapping[int, int | None], taught: Contradictions) -> Turns:
    """The turns without what contradicts lessons.

    own: of the answers that the model gave, by their place among the turns, the number of the lesson by
    which the owner judged it; None: nobody judged it. Where the owner told something, what was taught
    stands in the place of the answer.
    """
    if taught.taught(turns):
        return turns
    last = turns[-1].text
    asked = _by_itself(last) and taught.asks(last)
    kept: list[Turn] = []
    for place, turn in enumerate(turns):
        far = place < len(turns) - REMEMBERED  # no model looks back so far
        if far or place not in own or place == 0 or turn.role != "assistant":
            kept.append(turn)
            continue
        message, lesson = turns[place - 1].text, own[place]
        told = not is_question(message)
        against = taught.against(message, turn.text, lesson or 0)
        if lesson is None and asked and not (told and touches(message, last)):
            kept.pop()
        elif against is None:
            kept.append(turn)
        elif told and against.answer:
            kept.append(Turn("assistant", against.answer))
        else:
            kept.pop()
    return tuple(kept)


def _by_itself(message: str) -> bool:
    """Whether it can be answered without the talk before it; also "Where's Bob?", which is short."""
    words = fold(message).split()
    return stands_alone(message) or len(words) == 2 and stands_alone(f"{message} please")
