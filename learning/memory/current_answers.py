"""The current answer to each remembered question: a later one may change earlier ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from learning.data.examples import Example, answered_by
from learning.text.kinds.one_answer import asks_for_one, says_otherwise
from learning.text.kinds.recognise import Asked
from learning.text.normalise import fold
from learning.text.questions.asking import stands_alone

_TURN = " / "
"""Between the turns of a folded prompt."""


class CurrentAnswers:
    """Examples by their folded prompts, the last of each."""

    def __init__(self, examples: Iterable[Example] = ()) -> None:
        self.by_prompt = {e.prompt: e for e in examples}
        self._of_what: dict[Asked, dict[str, None]] | None = None
        """What a question asks for (learning.text.kinds.one_answer) -> the prompts whose last question asks
        for it. A question after other talk is left out if it makes no sense alone. None: not built yet."""

    def give(self, example: Example, context: int) -> list[Example]:
        """Records the example as the current answer to its prompt.

        It is also given to the same question after other talk, if that has the old answer, and to other
        questions that ask for the same thing, if they have an answer that says otherwise
        (learning.text.kinds.one_answer). Returns these changed examples. Left out are those that would have
        more than `context` ids, and all if there is talk before the question.
        """
        old, question = self.by_prompt.get(example.prompt), example.prompt
        self._record(example)
        if _TURN in question:
            return []
        found = {e.prompt: e for e in self._worded_otherwise(example)}
        if old and old.answer != example.answer and stands_alone(question):
            talks = (e for e in self.by_prompt.values() if e.prompt.endswith(f"{_TURN}{question}"))
            found |= {e.prompt: e for e in talks if e.answer == old.answer}
        changed = [answered_by(e, example.answer, example.said) for e in found.values()]
        changed = [e for e in changed if len(e.ids) <= context]
        for one in changed:
            self._record(one)
        return changed

    def elsewhere(self, question: str) -> str:
        """What is answered to another question that asks for the same one thing; empty if nothing is."""
        others = (e for e in self._asking(question) if _last(e.prompt) != fold(question))
        return next((e.said for e in others), "")

    def drop(self, prompt: str) -> None:
        """Forgets the answer to a prompt."""
        del self.by_prompt[prompt]

    def _record(self, example: Example) -> None:
        if self._of_what is not None and example.prompt not in self.by_prompt:
            self._index(self._of_what, example.prompt)
        self.by_prompt[example.prompt] = example

    def _worded_otherwise(self, example: Example) -> Iterator[Example]:
        """The examples whose questions ask for the same thing in other words, and whose answers say
        otherwise."""
        for other in self._asking(example.prompt):
            last = _last(other.prompt)
            if last != example.prompt and says_otherwise(
                example.prompt, example.said, last, other.said
            ):
                yield other

    def _asking(self, question: str) -> Iterator[Example]:
        """The examples whose questions ask for the same one thing, those in the same words too."""
        if not (asked := asks_for_one(question)):
            return
        if self._of_what is None:
            self._of_what = {}
            for prompt in self.by_prompt:
                self._index(self._of_what, prompt)
        for prompt in self._of_what.get(asked, ()):
            if other := self.by_prompt.get(prompt):
                yield other

    def _index(self, found: dict[Asked, dict[str, None]], prompt: str) -> None:
        last = _last(prompt)
        if (asked := asks_for_one(last)) and (last == prompt or stands_alone(last)):
            found.setdefault(asked, {})[prompt] = None


def _last(prompt: str) -> str:
    """The last question of a folded prompt."""
    return prompt.rpartition(_TURN)[2]
