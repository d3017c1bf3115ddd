"""Selects the turns of a conversation that the model gets as its prompt: without its own inventions.

The journal keeps everything. If one of the model's answers contradicts a lesson, it is left out of the
prompt, because the model would repeat it instead of the lesson. If the owner asks for something that was
taught, all unjudged answers of the model are left out: a small model repeats names that it has just
invented, and after ten of them gives only one taught fact in seven right
(benchmarks/results/inventions.md). Answers that the owner judged, and what the owner said on the matter,
stay.
"""

from __future__ import annotations

from collections.abc import Mapping

from engine.errors import NotFound
from learning.channels import REMEMBERED
from learning.journal.contradictions import Contradictions, touches
from learning.journal.journal import Journal
from learning.protocol.records import Turn, Turns
from learning.text.normalise import fold
from learning.text.questions.asking import is_question, stands_alone


class Seen:
    """Filters the turns of the asks in one journal."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._taught = Contradictions()
        self._mark: object = None

    def turns(self, ask: int, turns: Turns) -> Turns:
        """The turns of an ask that go into the prompt; always includes the last message."""
        if len(turns) < 2:
            return turns
        try:
            own = self._journal.own_answers(ask)
        except NotFound:  # forgotten meanwhile, or an ask without a journal
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

    own: index of each turn that the model wrote -> id of the lesson with the owner's judgement of it;
    None: not judged. If the message before a contradicting answer was a statement, the answer is replaced
    by the taught one; if it was a question, both are dropped.
    """
    if taught.taught(turns):
        return turns
    last = turns[-1].text
    asked = _by_itself(last) and taught.asks(last)
    kept: list[Turn] = []
    for place, turn in enumerate(turns):
        far = place < len(turns) - REMEMBERED  # beyond any model's context
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
    """True if the message is clear without the turns before it; also for short ones: "Where's Bob?"."""
    words = fold(message).split()
    return stands_alone(message) or len(words) == 2 and stands_alone(f"{message} please")
