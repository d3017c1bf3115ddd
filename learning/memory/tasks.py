"""A lesson as the learner takes it: examples to learn, to avoid, and to mend along with it."""

from __future__ import annotations

import random
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace

from engine.tokenizer import Tokenizer
from learning.data.examples import (
    Example,
    answered_by,
    asked,
    from_answer,
)
from learning.journal.journal import Journal
from learning.journal.lessons import RIDER_KINDS
from learning.journal.weak import weak_lessons
from learning.protocol.records import Lesson, LessonKind
from learning.text.normalise import fold, fold_prompt
from learning.text.paraphrases import NO_FRAMES, Frames, asked_otherwise
from learning.text.questions import is_question

MAX_RIDERS = 20
"""Weak lessons that a lesson's batches draw from; the others wait for the next."""


WORDED_BEFORE = 8
"""Ways in which the memory has a question that its new answer has to be known in at once."""


_LEANING = {
    "it",
    "its",
    "that",
    "this",
    "those",
    "these",
    "they",
    "them",
    "he",
    "she",
    "him",
    "her",
}


_LEANING |= {"then", "there", "one", "ones", "else", "instead"}


def folded_prompt(lesson: Lesson) -> str:
    """As examples have it, see learning.text.normalise."""
    return fold_prompt([(t.role, t.text) for t in lesson.prompt])


def answer_example(tokenizer: Tokenizer, lesson: Lesson, context: int) -> Example | None:
    """The lesson's prompt and answer; None where there is no answer to say."""
    if not lesson.answer:
        return None
    return from_answer(tokenizer, [(t.role, t.text) for t in lesson.prompt], lesson.answer, context)


def waiting_riders(
    tokenizer: Tokenizer,
    journal: Journal,
    context: int,
    kinds: Collection[LessonKind] = RIDER_KINDS,
    memory: Iterable[Example] = (),
) -> dict[int, tuple[Example, float]]:
    """The newest weak lessons of these kinds that wait to ride along, with their weights, by number;
    none against what was taught, or against what the memory answers."""
    riders = weak_lessons([rider for rider in journal.riders() if rider.kind in kinds], journal)
    known = {example.prompt: example.answer for example in memory} if riders else {}
    found: dict[int, tuple[Example, float]] = {}
    for rider in riders[-MAX_RIDERS:]:
        example = rider_example(tokenizer, rider, context)
        if example and known.get(example.prompt, example.answer) == example.answer:
            found[rider.id] = (example, rider.weight)
    return found


def rider_example(tokenizer: Tokenizer, lesson: Lesson, context: int) -> Example | None:
    """The owner's own words as text to predict, or the answer that the talk went on with."""
    if lesson.kind == "continuation":
        return answer_example(tokenizer, lesson, context)
    body = tokenizer.encode(lesson.answer)[: context // 2]
    if not body:
        return None
    return Example((tokenizer.user, *body), (False, *([True] * len(body))))


def to_task(
    tokenizer: Tokenizer,
    lesson: Lesson,
    context: int,
    rng: random.Random | None = None,
    frames: Frames = NO_FRAMES,
) -> LessonTask:
    """A lesson as examples to learn and to avoid; with `rng` also in other wordings."""
    prompt = [(t.role, t.text) for t in lesson.prompt]
    rejected = [t for t in dict.fromkeys(lesson.rejected) if t.strip() and t != lesson.answer]
    question = prompt[-1][1] if prompt else ""
    wordings: list[str] = []
    if rng and lesson.answer and stands_alone(question):
        wordings = asked_otherwise(question, frames, rng, fold_prompt(prompt))
    alone = lesson.answer and len(prompt) > 1 and stands_alone(question)
    return LessonTask(
        answer_example(tokenizer, lesson, context),
        tuple(from_answer(tokenizer, prompt, text, context) for text in rejected),
        lesson.weight,
        tuple(from_answer(tokenizer, [("user", q)], lesson.answer, context) for q in wordings),
        (alone_example(tokenizer, lesson, context),) if alone else (),
    )


def overrule(known: dict[str, Example], example: Example, context: int) -> list[Example]:
    """Puts an example among those that are known by their prompts, and what it changes with it, which is
    returned: the same question after other talk, where it had the answer that it had by itself."""
    old, question = known.get(example.prompt), example.prompt
    known[question] = example
    if old is None or old.answer == example.answer:
        return []
    if " / " in question or not stands_alone(question):
        return []
    in_talk = [e for e in known.values() if e.prompt.endswith(f" / {question}")]
    changed = [answered_by(e, example.answer) for e in in_talk if e.answer == old.answer]
    changed = [e for e in changed if len(e.ids) <= context]
    known |= {e.prompt: e for e in changed}
    return changed


def as_worded_before(task: LessonTask, memory: Iterable[Example], context: int) -> LessonTask:
    """The task with its answer after the very words, too, in which the memory has the same question,
    and after talk in which it had the answer that is replaced: else the old answer is still given to
    "Where do I live?" after "where do i live" was corrected."""
    body = task.answer.answer if task.answer else ()
    if not body:
        return task
    known = {e.prompt: e for e in memory}
    same = [known[prompt] for prompt in task.prompts if prompt in known]
    for answer in task.answers:
        same += overrule(known, answer, context)
    heads = {asked(e) for e in task.answers}
    found: dict[tuple[int, ...], Example] = {}
    for example in same:
        head = asked(example)
        if head not in heads and len(head + body) <= context:
            found[head] = answered_by(example, body)
    return replace(task, reworded=tuple(found.values())[-WORDED_BEFORE:])


def stands_alone(question: str) -> bool:
    """Can it be understood without the talk before it? "Why?" and "and then" cannot."""
    words = fold(question).split()
    return len(words) >= 3 and not _LEANING & set(words)


def alone_example(tokenizer: Tokenizer, lesson: Lesson, context: int) -> Example:
    """The answer to the last message by itself."""
    last = [(t.role, t.text) for t in lesson.prompt[-1:]]
    return from_answer(tokenizer, last, lesson.answer, context)


@dataclass(frozen=True)
class LessonTask:
    """A lesson as examples."""

    answer: Example | None
    """What to say; None where something is only to be avoided."""
    rejected: tuple[Example, ...] = ()
    weight: float = 1.0
    variations: tuple[Example, ...] = ()
    """The same answer to other wordings of the question, alone."""
    forms: tuple[Example, ...] = ()
    """The same answer to further forms of the question, which have to be known too."""
    reworded: tuple[Example, ...] = ()
    """The same answer to the question as it stood in the memory, in other capitals or marks, say."""

    @property
    def answers(self) -> list[Example]:
        """What has to be known; of those to equal prompts the last is remembered."""
        return [*self.reworded, *([self.answer] if self.answer else []), *self.forms]

    @property
    def prompts(self) -> set[str]:
        """Folded questions whose earlier answers this lesson replaces."""
        return {self.prompt, *(e.prompt for e in self.answers)}

    @property
    def judged(self) -> list[Example]:
        """The exact answer, then the rejected ones."""
        return [*([self.answer] if self.answer else []), *self.rejected]

    @property
    def example(self) -> Example:
        """What to say, else one of those to avoid."""
        return self.answer or self.rejected[0]

    @property
    def prompt(self) -> str:
        return self.example.prompt


NOT_KNOWN = "I do not know that yet. Will you teach me?"
"""As the shipped book has it."""


def replacement_lesson(lesson: Lesson) -> Lesson | None:
    """A lesson that says what stood there before the correction or, to a question that the owner had
    written an answer to, that Vidya does not know; the answer taken back is rejected. None where
    neither would do: what was picked or rated was Vidya's own."""
    if lesson.kind not in ("correction", "example") or not lesson.answer or not lesson.prompt:
        return None
    text = lesson.replaces or (NOT_KNOWN if is_question(lesson.prompt[-1].text) else "")
    if text in ("", lesson.answer):
        return None
    return replace(lesson, answer=text, rejected=(lesson.answer,), replaces=None)
