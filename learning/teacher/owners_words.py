"""Which of the owner's own words are said back to his message.

If nothing was taught for the message, his earlier statements may answer it. If a lesson answers it, a newer
statement may tell that its fact has changed. Left out: finding them (learning.teacher.mentions), and where
they stand among the answers (learning.teacher.answer_check).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from learning.teacher.mentions import Mention
from learning.text.kinds.told import asks_or_names
from learning.text.questions.another import (
    asked_words,
    asks_of_its_owner,
    leaves_out_the_owner,
    speaks_of_owner,
)

MEANT = 0.7
"""A lesson that is at least this likely to be asked for may be the answer, however far it is."""
PROBABLE = 0.65
"""The same for the owner's words."""


@dataclass
class OwnersWords:
    """What may be said back to one message. Each search is done once, when it is first needed."""

    message: str
    several: bool
    """True if more than one candidate is requested."""
    find: Callable[[], Sequence[Mention]]
    """The statements that the message may ask for, the best first; none where an answer was taught."""
    find_change: Callable[[], Mention | None]
    """The statement that tells a change of the lesson which answers the message."""
    lesson_first: Callable[[], bool]
    """Whether a lesson may be meant, so that no statement is likely."""
    fits: Callable[[str], bool]
    """Whether a text is no longer than an answer may be."""

    @cached_property
    def statements(self) -> Sequence[Mention]:
        """What the owner told earlier and his message may ask for."""
        found = self.find() if asks_or_names(self.message) else ()
        return [one for one in found if self.fits(one.answer)]

    @cached_property
    def likely(self) -> Mention | None:
        """The first of these statements, if his message is about him and probably asks for it."""
        if self.lesson_first() or not self.statements or not self._of_owner(self.statements[0]):
            return None
        return self.statements[0] if self.statements[0].likely >= PROBABLE else None

    def _of_owner(self, told: Mention) -> bool:
        """Whether his message asks for something of the owner's. It does if it says "I" or "my"; if it names
        somebody of his, or somebody whose thing the statement tells of ("Olga's op"); if the statement tells
        a fact of just the kind that is asked for; if all content words of the message are in the statement
        ("Who services the boiler?"); or if it leaves out "my" as `leaves_out_the_owner` describes."""
        if told.of_kind or told.named or speaks_of_owner(self.message):
            return True
        asked = asked_words(self.message)
        if asked and asked <= asked_words(told.read):
            return True
        if asks_of_its_owner(self.message, told.read):
            return True
        return leaves_out_the_owner(self.message, told.read, "")

    @cached_property
    def change(self) -> Mention | None:
        """The newer statement that tells a change of the lesson which answers the message."""
        told = self.find_change() if asks_or_names(self.message) else None
        return told if told and self.fits(told.answer) else None

    @cached_property
    def instead_of_guess(self) -> Mention | None:
        """What is said back in place of a guess. A single answer may also be a statement that his message
        only perhaps asks for, and then says so."""
        if self.likely or self.several or self.lesson_first() or not self.statements:
            return self.likely
        first = self.statements[0]
        return replace(first, doubted=True) if self._of_owner(first) else None

    def certainty(self, told: Mention) -> float | None:
        """Of a card that says this back, 0 to 1; None if it is only perhaps asked for."""
        return told.likely if told in (self.likely, self.change) else None
