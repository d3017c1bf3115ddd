"""Takes a lesson out of the weights: back to those before it or, where none are left, taught against.

Weights without it are exactly as they were. Where they were let go (only the last few are kept), or
never were (a model grown from one that knew it), the model is taught not to say the answer any more,
and to say something else in its place (learning.memory.tasks), which is remembered from then on.
Left out: which lessons are taken back (learning.journal.lessons), and who is told (learning.teacher.teacher).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from engine.errors import NotFound, NumericsError
from engine.tokenizer import Tokenizer
from learning.data.examples import answered_by
from learning.journal.journal import Journal
from learning.journal.lessons import RIDER_KINDS, WITHOUT, against
from learning.lessons.avoid import teach_or_avoid
from learning.lessons.consolidate import FORMS
from learning.lessons.recipe import LessonTransaction, known_before
from learning.memory.rewording import reworded
from learning.memory.tasks import LessonTask, replacement_lesson, to_task
from learning.models.snapshots import OldWeights
from learning.models.unfinished_training import remove_unfinished
from learning.models.weights import Weights
from learning.objectives.forward import knowledge
from learning.protocol.events import UndoDone
from learning.protocol.records import Lesson, LessonState


def missing(lesson: Lesson) -> LessonState:
    """What a lesson is that the weights have no longer: learned again, but for a practice, which
    takes an hour and which the owner asks for."""
    return "needs_practice" if lesson.kind == "practice" else "waiting"


def leave(
    weights: Weights, journal: Journal, lessons: Collection[int], to: OldWeights | None = None
) -> list[Lesson]:
    """Back to the newest saved weights that know none of these, or to those named. Returns the other
    lessons that those lack, which wait again. Raises NotFound, with nothing changed, where no such
    weights are left."""
    parent, path = (to.version, to.path) if to else weights.without(lessons)
    gone = journal.lessons_in(weights.version) - journal.lessons_in(parent) - set(lessons)
    undone = {other.id for other in journal.to_undo()}
    weights.go_back(parent, path, f"{WITHOUT}{', '.join(map(str, sorted(lessons)))}")
    lost = [
        other
        for other in map(journal.lesson, sorted(gone))
        if other.state == "learned" and other.id not in undone
    ]
    for other in lost:
        journal.set_lesson_state(other.id, missing(other))
    return lost


def take_back(
    transaction: LessonTransaction, tokenizer: Tokenizer, lesson: Lesson
) -> tuple[UndoDone, list[Lesson]]:
    """Takes a lesson out and marks it undone. Returns what to say and the lessons that wait again."""
    weights, journal = transaction.weights, transaction.journal
    lost: list[Lesson] = []
    version, stays = weights.version, ""
    if lesson.id in journal.lessons_in(version) - journal.taught_against(version):
        try:
            lost = leave(weights, journal, [lesson.id])
        except NotFound:
            _undone(journal, lesson)
            transaction.caches.forget()  # it is remembered no longer, and what it replaced is
            stays = f": no weights without it are left, {_teach_against(transaction, tokenizer, lesson)}"
    _undone(journal, lesson)
    untrained = journal.trainings_in(version) - journal.trainings_in(weights.version)
    words = _words(lesson, stays, lost, bool(untrained))
    return UndoDone(lesson.id, words, weights.version), lost


def _undone(journal: Journal, lesson: Lesson) -> None:
    if journal.lesson(lesson.id).state != "undone":
        journal.set_lesson_state(lesson.id, "undone")


def _teach_against(transaction: LessonTransaction, tokenizer: Tokenizer, lesson: Lesson) -> str:
    """Makes the model stop saying the lesson's answer, and say again what it said before where that
    is known. What became of it, in words; the weights are published in any case, so that the journal
    knows that it was done."""
    task, steps = _task_against(transaction, tokenizer, lesson), 0
    with transaction.or_as_before() as before:
        if task is None:
            words = "so what it did to them stays"
        elif not task.rejected:
            words = "and a book or another lesson says the same"
        elif known_before(transaction.caches.upper, LessonTask(None, task.rejected)):
            words = "but the model does not say it"
        else:
            words = "and the model could not be taught not to say it"
            attempts = _in_other_words(transaction, task), task, LessonTask(None, task.rejected)
            for attempt in dict.fromkeys(attempts):
                steps = _steps(transaction, tokenizer, attempt)
                if steps:
                    words = "so the model was taught not to say it"
                    break
                transaction.put_back(before)
        transaction.publish([], against(lesson.id), changed=steps > 0, snapshot=False)
    if steps:
        remove_unfinished(
            transaction.weights.folder
        )  # a training that was broken off still knows it
    return words


def _steps(transaction: LessonTransaction, tokenizer: Tokenizer, task: LessonTask) -> int:
    """How many were taken; 0 where they did not do what they should at no cost to the memory."""
    stake = transaction.at_stake(task)
    try:
        result = teach_or_avoid(transaction, tokenizer, task)
    except NumericsError:
        return 0
    return result.steps if result.known and stake.judged(transaction.weights.model).passed else 0


def _task_against(
    transaction: LessonTransaction, tokenizer: Tokenizer, lesson: Lesson
) -> LessonTask | None:
    """None where the lesson has no answer that could be avoided; nothing is rejected where the memory
    has the same."""
    if not lesson.answer or not lesson.prompt or lesson.kind in ("practice", *RIDER_KINDS):
        return None
    context, replay = transaction.weights.model.config.context, transaction.caches.replay
    right = {e.prompt: e for e in replay.memory}
    wrong = to_task(tokenizer, replace(lesson, rejected=()), context).answers
    other, asked = replacement_lesson(lesson), wrong[0].prompt
    task, bad = LessonTask(None), tuple(wrong)
    if asked in right:
        bad = () if right[asked].answer == wrong[0].answer else bad
        wordings = reworded(tokenizer, right[asked], replay.frames, context, transaction.rng)
        task = LessonTask(right[asked], variations=wordings)
    elif other:
        task = to_task(tokenizer, other, context, transaction.rng, replay.frames)
    forms = {e.prompt: e for e in task.forms}
    forms |= {e.prompt: right[e.prompt] for e in wrong[1:] if e.prompt in right}
    return replace(task, rejected=bad, forms=tuple(forms.values()))


def _in_other_words(transaction: LessonTransaction, task: LessonTask) -> LessonTask:
    """The task with some of the other wordings that the model gives the wrong answer to."""
    context = transaction.weights.model.config.context
    claimed = {e.prompt for e in transaction.caches.replay.memory}
    pairs = [(e, answered_by(e, task.rejected[0].answer)) for e in task.variations]
    pairs = [(e, bad) for e, bad in pairs if e.prompt not in claimed and len(bad.ids) <= context]
    checked = knowledge(
        transaction.caches.upper, [bad for _, bad in pairs], pause=transaction.pause
    )
    said = [e for (e, _), item in zip(pairs, checked, strict=True) if item.known]
    return replace(task, forms=(*task.forms, *transaction.rng.sample(said, min(FORMS, len(said)))))


def _words(lesson: Lesson, stays: str, lost: list[Lesson], untrained: bool) -> str:
    """What was done, for the owner."""
    lessons = [other for other in lost if other.kind not in ("practice", *RIDER_KINDS)]
    many = f"{len(lessons)} that came with it or later are" if lessons[1:] else "one more is"
    again = f"; {many} learned again" if lessons else ""
    practised = sorted({o.prompt[0].text for o in lost if o.kind == "practice"})
    again += f"; what practice of {', '.join(practised)} gained is gone too" if practised else ""
    again += "; the book training since is gone too, a new one repeats it" if untrained else ""
    name = f"lesson {lesson.id}"
    if lesson.kind == "practice":
        name = f"practice of {lesson.prompt[0].text}"
    too = " in this model too" if lesson.state == "undone" else ""
    return f"took back {name}{too}{stays}{again}"
