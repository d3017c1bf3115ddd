"""Questions without a taught answer, as rows that say so: "I do not know that yet. Will you teach me?"

Some of them ride in every batch of a lesson: everyday questions about the owner that nobody has answered, and
the taught questions about somebody else. Left out: what the questions are (learning.text.untaught).
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from engine.tokenizers.tokenizer import Tokenizer
from learning.data.examples import Example, from_answer
from learning.journal.contradictions import Contradictions
from learning.memory.tasks import NOT_KNOWN
from learning.protocol.records import Lesson, Turn
from learning.text.asking import is_question
from learning.text.normalise import fold
from learning.text.untaught import QUESTIONS, about_somebody_else


@dataclass
class Unknown:
    """Draws rows to rehearse not knowing."""

    tokenizer: Tokenizer
    context: int
    _rows: dict[str, Example] = field(default_factory=dict)
    """Question -> its row; made once."""
    _numbers: dict[str, int] = field(default_factory=dict)
    """Folded question of the memory -> a number that it keeps."""
    _answered: Contradictions = field(default_factory=Contradictions)
    """What the memory answers; only what is new in it is read again."""

    def draw(
        self, rng: random.Random, lesson: Sequence[Example], memory: Iterable[Example], count: int
    ) -> list[Example]:
        """`count` rows: about half are the lesson's or an earlier question about somebody else, the others
        everyday questions. None that the lesson or the memory answers, in its words or nearly so."""
        if count < 1:
            return []
        known = [*memory, *lesson]
        questions = [e.question for e in known if e.question]
        others = [about_somebody_else(e.question, rng) for e in lesson[-1:] if e.question]
        taught = rng.sample(questions, min(2 * count, len(questions)))
        others += [about_somebody_else(text, rng) for text in taught]
        near = [text for text in others if text and is_question(text)][: (count + 1) // 2]
        texts = [*near, *rng.sample(QUESTIONS, min(2 * count, len(QUESTIONS)))]
        self._answered.update(self._lessons(known))
        free = [text for text in dict.fromkeys(texts) if not self._answered.asks(text)]
        return [self._row(text) for text in free[:count]]

    def _row(self, question: str) -> Example:
        if question not in self._rows:
            turns = [Turn("user", question)]
            self._rows[question] = from_answer(self.tokenizer, turns, NOT_KNOWN, self.context)
        return self._rows[question]

    def _lessons(self, examples: Iterable[Example]) -> list[Lesson]:
        """One lesson a question, as `Contradictions` reads them."""
        by_question = {fold(e.question): e for e in examples if e.question}
        number = self._numbers
        return [
            Lesson(
                "example",
                (Turn("user", e.question),),
                e.said,
                id=number.setdefault(question, len(number) + 1),
            )
            for question, e in by_question.items()
        ]
