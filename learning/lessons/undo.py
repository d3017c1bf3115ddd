"""Undoes a lesson in the weights: restores weights from before it, or trains against it if none are kept.

Snapshots without the lesson are exactly the weights from before it. Only the last few snapshots are
kept, and a grown model never had any without lessons that it inherited. Then the model is trained not
to give the answer any more and to give another in its place (learning.memory.tasks), which it remembers
from then on.
Left out: which lessons are undone (learning.journal.lessons), and who is told
(learning.teacher.jobs).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from engine.errors import NotFound, NumericsError
from engine.tokenizers.tokenizer import Tokenizer
from learning.data.examples import answered_by
from learning.journal.journal import Journal
from learning.journal.lessons import RIDER_KINDS, WITHOUT, against
from learning.lessons.avoid import teach_or_avoid
from learning.lessons.consolidate import FORMS
from learning.lessons.recipe import LessonTransaction, TeachResult, known_before
from learning.memory.current_answers import CurrentAnswers
from learning.memory.rewording import reworded
from learning.memory.tasks import LessonTask, replacement_lesson, to_task
from learning.memory.transaction import Commit
from learning.models.snapshots import OldWeights
from learning.models.unfinished_training import remove_unfinished
from learning.models.weights import Weights
from learning.objectives.forward import knowledge
from learning.protocol.events import UndoDone
from learning.protocol.records import Lesson, LessonState
from learning.text.normalise import fold


def missing(lesson: Lesson) -> LessonState:
    """State of a lesson that the weights lost: it waits to be learned again. A practice does not: it takes an
    hour, and the owner starts it."""
    return "needs_practice" if lesson.kind == "practice" else "waiting"


def leave(
    weights: Weights, journal: Journal, lessons: Collection[int], to: OldWeights | None = None
) -> list[Lesson]:
    """Restores the newest saved weights without these lessons, or those given. Returns the other lessons
    that those lack; they wait again. Raises NotFound, with nothing changed, if no such weights are kept."""
    parent, path = (to.version, to.path) if to else weights.without(lessons)
    gone = journal.lessons_in(weights.version) - journal.lessons_in(parent) - set(lessons)
    undone = {other.id for other in journal.to_undo()}
    weights.go_back(parent, path, f"{WITHOUT}{', '.join(map(str, sorted(lessons or gone)))}")
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
    """Undoes a lesson and marks it undone. Returns what to tell and the lessons that wait again."""
    weights, journal = transaction.weights, transaction.journal
    lost: list[Lesson] = []
    version, stays = weights.version, ""
    if lesson.id in journal.lessons_in(version) - journal.taught_against(version):
        try:
            lost = leave(weights, journal, [lesson.id])
        except NotFound:
            _undone(journal, lesson)
            transaction.caches.forget()  # the memory drops it and has again what it replaced
            stays = f": no weights without it are left, {_teach_against(transaction, tokenizer, lesson)}"
    _undone(journal, lesson)
    untrained = journal.trainings_in(version) - journal.trainings_in(weights.version)
    words = _words(lesson, stays, lost, bool(untrained))
    return UndoDone(lesson.id, words, weights.version), lost


def _undone(journal: Journal, lesson: Lesson) -> None:
    if journal.lesson(lesson.id).state != "undone":
        journal.set_lesson_state(lesson.id, "undone")


def _teach_against(transaction: LessonTransaction, tokenizer: Tokenizer, lesson: Lesson) -> str:
    """Trains the model not to give the lesson's answer, and to give its earlier answer if that is known.
    Publishes in any case, so that the journal knows that it was done. Returns the outcome in words."""
    task = _task_against(transaction, tokenizer, lesson)
    note, steps = against(lesson.id), 0
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
            steps = _attempt(transaction, tokenizer, attempt, note)
            if steps:
                words = "so the model was taught not to say it"
                break
    if steps:
        remove_unfinished(
            transaction.weights.folder
        )  # an interrupted training still knows the lesson
    else:
        transaction.publish(Commit(note=note, moved=False, snapshot=False))
    return words


def _attempt(
    transaction: LessonTransaction, tokenizer: Tokenizer, task: LessonTask, note: str
) -> int:
    """Number of steps that were published; 0 if they failed or cost too much of the memory."""
    stake = transaction.at_stake(task)

    def judge(result: TeachResult) -> Commit | None:
        good = result.steps and result.known and stake.judged(transaction.weights.model).passed
        return Commit(note=note, snapshot=False) if good else None

    try:
        outcome = transaction.attempt(lambda: teach_or_avoid(transaction, tokenizer, task), judge)
    except NumericsError:
        return 0
    return outcome.result.steps if outcome.kept else 0


def _task_against(
    transaction: LessonTransaction, tokenizer: Tokenizer, lesson: Lesson
) -> LessonTask | None:
    """The task that undoes a lesson; None if it has no answer to avoid. Rejects nothing if a book or another
    lesson gives the same answer. The questions whose answers the lesson changed have their own ones again."""
    if not lesson.answer or not lesson.prompt or lesson.kind in ("practice", *RIDER_KINDS):
        return None
    context, replay = transaction.weights.model.config.context, transaction.caches.replay
    right = {e.prompt: e for e in replay.memory}
    wrong = to_task(tokenizer, replace(lesson, rejected=()), context).answers
    known = CurrentAnswers(replay.memory)
    other, asked = replacement_lesson(lesson, known), wrong[0].prompt
    task, bad = LessonTask(None), tuple(wrong)
    if asked in right:
        bad = () if right[asked].answer == wrong[0].answer else bad
        wordings = reworded(tokenizer, right[asked], replay.frames, context, transaction.rng)
        task = LessonTask(right[asked], variations=wordings)
    elif fold(known.elsewhere(lesson.prompt[-1].text)) == fold(lesson.answer):
        bad = ()
    elif other:
        task = to_task(tokenizer, other, context, transaction.rng, replay.frames)
    forms = {e.prompt: e for e in task.forms}
    changed = [e for answer in wrong for e in known.give(answer, context)]
    forms |= {e.prompt: right[e.prompt] for e in (*changed, *wrong[1:]) if e.prompt in right}
    return replace(task, rejected=bad, forms=tuple(forms.values()))


def _in_other_words(transaction: LessonTransaction, task: LessonTask) -> LessonTask:
    """Adds some other wordings of the question to which the model gives the undone answer."""
    context = transaction.weights.model.config.context
    claimed = {e.prompt for e in transaction.caches.replay.memory}
    bad = task.rejected[0]
    pairs = [(e, answered_by(e, bad.answer, bad.said)) for e in task.variations]
    pairs = [(e, it) for e, it in pairs if e.prompt not in claimed and len(it.ids) <= context]
    checked = knowledge(transaction.caches.upper, [it for _, it in pairs], pause=transaction.pause)
    said = [e for (e, _), item in zip(pairs, checked, strict=True) if item.known]
    return replace(task, forms=(*task.forms, *transaction.rng.sample(said, min(FORMS, len(said)))))


def _words(lesson: Lesson, stays: str, lost: list[Lesson], untrained: bool) -> str:
    """What was done, in words for the owner."""
    lessons = [other for other in lost if other.kind not in ("practice", "reason", *RIDER_KINDS)]
    many = f"{len(lessons)} that came with it or later are" if lessons[1:] else "one more is"
    again = f"; {many} learned again" if lessons else ""
    practised = sorted({o.prompt[0].text for o in lost if o.kind == "practice"})
    again += f"; what practice of {', '.join(practised)} gained is gone too" if practised else ""
    again += "; the book training since is gone too, a new one repeats it" if untrained else ""
    name = f"lesson {lesson.id}"
    if lesson.kind == "practice":
        name = lesson.run_name
    too = " in this model too" if lesson.state == "undone" else ""
    return f"took back {name}{too}{stays}{again}"
