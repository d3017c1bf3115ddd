"""Turns a lesson of the journal into a `LessonTask`: examples to learn, to avoid, and to correct with it."""

from __future__ import annotations

import random
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from engine.tokenizers.tokenizer import Tokenizer
from learning.data.examples import (
    Example,
    after_question,
    answered_by,
    asked,
    beginning,
    blamed,
    conversation,
    from_answer,
)
from learning.journal.journal import Journal
from learning.journal.lessons import RIDER_KINDS
from learning.journal.weak import Leading, weak_lessons
from learning.memory.current_answers import CurrentAnswers
from learning.memory.rewording import reworded
from learning.protocol.records import Lesson, LessonKind, Span
from learning.text.flaws import ends_sentence
from learning.text.normalise import fold, fold_prompt
from learning.text.paraphrases import NO_FRAMES, Frames
from learning.text.questions.asking import is_question, stands_alone

MAX_RIDERS = 20
"""Most auxiliary lessons added to one lesson's batches; the others wait for the next lesson."""
WORDED_BEFORE = 8
"""Most other wordings of a question in the memory that get the new answer with one lesson."""


def folded_prompt(lesson: Lesson) -> str:
    """The lesson's prompt, folded as in `Example.prompt`."""
    return fold_prompt(lesson.prompt)


def answer_example(tokenizer: Tokenizer, lesson: Lesson, context: int) -> Example | None:
    """The lesson's prompt and answer as one example of at most `context` ids; None for a lesson without an
    answer."""
    if not lesson.answer:
        return None
    return from_answer(tokenizer, lesson.prompt, lesson.answer, context)


def waiting_riders(
    tokenizer: Tokenizer,
    journal: Journal,
    context: int,
    kinds: Collection[LessonKind] = RIDER_KINDS,
    memory: Iterable[Example] = (),
) -> dict[int, tuple[Example, float]]:
    """The newest MAX_RIDERS waiting auxiliary lessons of these kinds, as a map from lesson number to
    (example, weight). Leaves out those that contradict a taught answer or an example of `memory`, and answers
    that led to bad ones."""
    if not kinds:
        return {}
    riders = weak_lessons([rider for rider in journal.riders() if rider.kind in kinds], journal)
    known = {example.prompt: example.answer for example in memory} if riders else {}
    found: dict[int, tuple[Example, float]] = {}
    weighed = filter(None, map(Leading(journal).weighed, reversed(riders)))
    for rider in reversed([*islice(weighed, MAX_RIDERS)]):
        example = rider_example(tokenizer, rider, context)
        if example and known.get(example.prompt, example.answer) == example.answer:
            found[rider.id] = (example, rider.weight)
    return found


def rider_example(tokenizer: Tokenizer, lesson: Lesson, context: int) -> Example | None:
    """An auxiliary lesson's example of at most `context` ids: the owner's own message, or the answer after
    which the talk went on; None if that is empty."""
    if lesson.kind == "continuation":
        return answer_example(tokenizer, lesson, context)
    body = tokenizer.encode(lesson.answer)[: context // 2]
    if not body:
        return None
    head = (*tokenizer.chat.start, *tokenizer.chat.user_head)
    return conversation(tokenizer, [*head, *body], [*([False] * len(head)), *([True] * len(body))])


def to_task(
    tokenizer: Tokenizer,
    lesson: Lesson,
    context: int,
    rng: random.Random | None = None,
    frames: Frames = NO_FRAMES,
) -> LessonTask:
    """The lesson as examples to learn and to avoid, each of at most `context` ids. With `rng` the task also
    has the answer after other wordings of the question, drawn with `frames`."""
    answer = answer_example(tokenizer, lesson, context)
    rejected = [t for t in dict.fromkeys(lesson.rejected) if t.strip() and t != lesson.answer]
    forms: tuple[Example, ...] = ()
    if answer and len(lesson.prompt) > 1 and stands_alone(answer.question):
        forms = (after_question(tokenizer, answer.question, answer, context),)
    task = LessonTask(
        answer,
        tuple(
            found
            for text in rejected
            if (found := to_avoid(tokenizer, lesson.prompt, text, context, lesson.blame))
        ),
        lesson.weight,
        forms=forms,
    )
    return with_wordings(tokenizer, task, frames, context, rng) if rng else task


def to_avoid(
    tokenizer: Tokenizer,
    prompt: Sequence[tuple[str, str]],
    answer: str,
    context: int,
    blame: Span | None = None,
) -> Example | None:
    """An answer to avoid, or the tokens of its blamed part after what stands before. None if the model's
    context ends before that part. Where whole sentences stand before it, and nothing behind it, the answer
    is to end there: a part that the model is sure of gives way to something else only slowly."""
    whole = from_answer(tokenizer, prompt, answer, context)
    if blame is None:
        return whole
    start, end = blame
    ids = tokenizer.encode(answer)
    first = _common(tokenizer.encode(answer[:start].rstrip()), ids)
    upto = tokenizer.encode(answer[:end])
    last = _common(upto, ids)
    last = min(max(first, last) + (last < len(upto)), whole.targets - 1)
    if first >= last:
        return None
    ends = ends_sentence(answer[:start]) and not answer[end:].strip()
    instead = (tokenizer.chat.end,) if ends else ()
    return blamed(whole, first, last, answer[start:end], instead)


def _common(one: Sequence[int], other: Sequence[int]) -> int:
    """Number of ids with which both begin."""
    pairs = zip(one, other, strict=False)
    return next((at for at, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def with_wordings(
    tokenizer: Tokenizer, task: LessonTask, frames: Frames, context: int, rng: random.Random
) -> LessonTask:
    """The task with newly drawn `variations`; unchanged if it has no answer or its question makes no sense
    alone."""
    if task.answer is None or not stands_alone(task.answer.question):
        return task
    wordings = reworded(tokenizer, task.answer, frames, context, rng)
    return replace(task, variations=wordings)


def as_worded_before(task: LessonTask, memory: Iterable[Example], context: int) -> LessonTask:
    """The task with its answer given to other spellings of its question in the memory too, and to what
    `CurrentAnswers` changes: the question after other talk, and other questions that ask for the same thing.
    Otherwise "Where do I live?" would keep the old answer after "where do i live" was corrected. The first of
    more than WORDED_BEFORE examples are only remembered so."""
    if task.answer is None:
        return task
    body, said = task.answer.answer, task.answer.said
    known = CurrentAnswers(memory)
    same = [known.by_prompt[prompt] for prompt in task.prompts if prompt in known.by_prompt]
    for answer in task.answers:
        same += known.give(answer, context)
    heads = {asked(e) for e in task.answers}
    found: dict[tuple[int, ...], Example] = {}
    for example in same:
        head = asked(example)
        if head not in heads and len(head + body) <= context:
            found[head] = answered_by(example, body, said)
    others = tuple(found.values())
    return replace(task, reworded=others[-WORDED_BEFORE:], remembered=others[:-WORDED_BEFORE])


def changed_questions(task: LessonTask) -> tuple[str, ...]:
    """The questions of `remembered` and `reworded` that ask in other words, as they were typed."""
    own = task.answer.question if task.answer else ""
    other = {fold(e.question): e.question for e in (*task.remembered, *task.reworded)}
    return tuple(text for folded, text in other.items() if folded != fold(own))


@dataclass(frozen=True)
class LessonTask:
    """A lesson as examples."""

    answer: Example | None
    """The answer to learn; None for a task that only avoids answers."""
    rejected: tuple[Example, ...] = ()
    """Answers to avoid, to the same prompt."""
    weight: float = 1.0
    """Factor of the lesson's terms of the loss, above 0."""
    variations: tuple[Example, ...] = ()
    """The answer after other wordings of the question, without earlier talk; trained, but need not be
    known."""
    forms: tuple[Example, ...] = ()
    """The answer after further forms of the question; these must be known too."""
    reworded: tuple[Example, ...] = ()
    """The answer after other wordings of the question that the memory has; these must be known too."""
    remembered: tuple[Example, ...] = ()
    """The answer after still more of these wordings; only remembered, and so replayed with later lessons."""

    @property
    def answers(self) -> list[Example]:
        """All examples that must be known. Of several with the same prompt the last one is remembered."""
        return [*self.reworded, *([self.answer] if self.answer else []), *self.forms]

    @property
    def prompts(self) -> set[str]:
        """Folded questions whose earlier answers this lesson replaces."""
        return {self.prompt, *(e.prompt for e in (*self.remembered, *self.answers))}

    @property
    def judged(self) -> list[Example]:
        """The exact answer, then the rejected ones."""
        return [*([self.answer] if self.answer else []), *self.rejected]

    @property
    def beginnings(self) -> list[Example]:
        """What stood before the blamed part of each rejected answer, and is to stay as it is."""
        return self._beginnings(ended=False)

    @property
    def held(self) -> list[Example]:
        """The same as they are trained: with the end of the answer, where they may end it."""
        return self._beginnings(ended=True)

    def _beginnings(self, *, ended: bool) -> list[Example]:
        found = [beginning(bad, ended=ended) for bad in self.rejected]
        return [] if self.answer else [one for one in found if one]

    @property
    def example(self) -> Example:
        """The answer, or the first answer to avoid."""
        return self.answer or self.rejected[0]

    @property
    def prompt(self) -> str:
        """The folded prompt of `example`."""
        return self.example.prompt


NOT_KNOWN = "I do not know that yet. Will you teach me?"
"""The shipped book's answer to a question that it does not know."""


def replacement_lesson(lesson: Lesson, known: CurrentAnswers) -> Lesson | None:
    """What is taught in place of an undone lesson: the same prompt with another answer, and the undone answer
    rejected. The other answer is what is known of the same thing in other words. If nothing is, it is the
    answer from before the correction, or NOT_KNOWN for a question that the owner had answered. None if there
    is no other answer; picks and ratings have only the first kind, because the model itself had given their
    answers. known: what the memory has without the lesson."""
    if not lesson.answer or not lesson.prompt:
        return None
    question = lesson.prompt[-1].text
    text = known.elsewhere(question)
    if not text and lesson.kind in ("correction", "example"):
        text = lesson.replaces or (NOT_KNOWN if is_question(question) else "")
    if text in ("", lesson.answer):
        return None
    return replace(lesson, answer=text, rejected=(lesson.answer,), replaces=None)
