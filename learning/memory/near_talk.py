"""Near talk: what the model said, before a lesson, to questions that are close to the lesson's.

Rehearsed in other words, a fact spreads to other people as well: asked what Greta's dog is called, the model
names the owner's. So the model is asked such questions before the lesson's first step, and the anchor holds
its answers as it holds own talk (learning.memory.reference): in the lesson, in its rehearsals, and some of
them in later lessons (benchmarks/results/specificity.md). Left out: which questions are close
(learning.text.untaught).
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from engine.model import Model
from engine.rollout import greedy_answers
from engine.storage.files import write_atomically
from engine.storage.reading import read_json
from engine.tokenizers.tokenizer import Tokenizer
from learning.data.examples import Example, from_answer
from learning.journal.contradictions import Contradictions
from learning.memory.tasks import stands_alone
from learning.protocol.records import Lesson, Turn
from learning.text.normalise import fold
from learning.text.untaught import near_questions

NEAR = "near.json"
NEAR_BYTES = 1 << 24
QUESTIONS = 6
"""Questions that are asked for one lesson."""
LONGEST = 40
"""Most tokens of an answer."""
LESSONS = 64
"""The newest lessons whose near talk is kept."""


@dataclass
class NearTalk:
    """The near talk of the newest lessons."""

    tokenizer: Tokenizer
    context: int
    _rows: dict[str, tuple[Example, ...]] = field(default_factory=dict)
    """Folded question of a lesson -> its near talk; the newest lesson last."""
    _answered: Contradictions = field(default_factory=Contradictions)
    """What the memory answers; only what is new in it is read again."""
    _numbers: dict[str, int] = field(default_factory=dict)
    """Folded question of the memory -> a number that it keeps."""

    def listen(
        self, model: Model, lesson: Example, *, pause: Callable[[], None] = lambda: None
    ) -> None:
        """Asks the model as it is now, unless this question was taught before. The same questions for the
        same lesson. Call it before the lesson's first step."""
        asked = lesson.question
        if lesson.prompt in self._rows or lesson.prompt != fold(asked) or not stands_alone(asked):
            return
        texts = near_questions(asked, random.Random(lesson.prompt), QUESTIONS)
        said = greedy_answers(model, self.tokenizer, texts, max_tokens=LONGEST, pause=pause)
        self._put(lesson.prompt, zip(texts, said, strict=True))

    def draw(self, rng: random.Random, lesson: Example, memory: Iterable[Example]) -> list[Example]:
        """The lesson's own near talk, and half as much of other lessons'. Without questions that another
        lesson or the book has answered since, in these words or nearly so."""
        own = self._rows.get(lesson.prompt, ())
        known = {e.prompt: e for e in (*memory, lesson) if e.question}
        self._answered.update(self._lessons(known.values()))
        found = [row for row in own if self._is_free(row, lesson.prompt)]
        others = [
            (prompt, row)
            for prompt, rows in self._rows.items()
            if prompt != lesson.prompt and prompt in known
            for row in rows
        ]
        some = rng.sample(others, min(QUESTIONS // 2, len(others)))
        return found + [row for prompt, row in some if self._is_free(row, prompt)]

    def save(self, path: Path) -> None:
        """Writes questions and answers. Raises OSError."""
        rows = {prompt: [[e.question, e.said] for e in rows] for prompt, rows in self._rows.items()}
        write_atomically(path, json.dumps(rows))

    def load(self, path: Path, prompts: Iterable[str]) -> None:
        """Reads what `save` wrote for these folded questions. A file that is missing or damaged costs the
        near talk of earlier lessons."""
        try:
            kept = read_json(path, NEAR_BYTES)
            for prompt in set(prompts) & kept.keys():
                self._put(prompt, [(str(question), str(said)) for question, said in kept[prompt]])
        except (OSError, ValueError, TypeError, AttributeError):
            return

    def _put(self, prompt: str, said: Iterable[tuple[str, str]]) -> None:
        rows = [
            from_answer(self.tokenizer, [Turn("user", question)], answer, self.context)
            for question, answer in said
            if answer
        ]
        self._rows[prompt] = tuple(rows)
        for old in list(self._rows)[:-LESSONS]:
            del self._rows[old]

    def _is_free(self, row: Example, near_to: str) -> bool:
        """Whether nothing that was taught answers the row's question, the lesson left out that it is near
        to."""
        return not self._answered.asked_by(row.question) - {near_to}

    def _lessons(self, examples: Iterable[Example]) -> Sequence[Lesson]:
        """As `Contradictions` reads them."""
        number = self._numbers
        return [
            Lesson(
                "example",
                (Turn("user", e.question),),
                e.said,
                id=number.setdefault(e.prompt, len(number) + 1),
            )
            for e in examples
        ]
