"""Carries an owner's reason ("shorter please") over to other messages, in pauses.

The lesson of the judgement itself holds for its own message only. So a few other messages are answered with
the reason, and what was liked, in the context; of several answers the one is kept that is likeliest after the
message alone, if it is likely there at all. They are learned without the context, together, as weak lessons
(context distillation, 2209.15189; from a demonstration, 2601.19897). The lessons are in the journal, of kind
"reason", under the judgement: whoever takes the judgement back takes them back too.
A reason that led to no lesson is tried once more, after the next start, and then given up, which is told.
That, and what cost too much of the memory, counts for the one model: another model tries the reason anew.
Left out: asking the message itself again (session), replaying these lessons later.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from itertools import chain

import torch

from engine.config import Sampling
from engine.errors import NumericsError
from engine.generate import Finished, generate
from engine.tokenizers.chat_format import encode_prompt
from engine.tokenizers.tokenizer import Tokenizer
from learning.data.examples import Example, from_answer
from learning.journal.judgements import Judged
from learning.lessons.recipe import LessonTransaction, TeachResult
from learning.memory.tasks import LessonTask
from learning.memory.transaction import Commit
from learning.objectives.forward import knowledge
from learning.protocol.events import LearnerState, Understood
from learning.protocol.reason_events import ReasonGivenUp
from learning.protocol.records import Lesson, Pick, Rating, Turn
from learning.text.flaws import broken, ends_sentence
from learning.text.normalise import fold
from learning.text.openings import openings
from learning.text.questions.asking import stands_alone
from learning.text.reason import asked_again, praised

MESSAGES = 8
"""Other messages that a reason is carried over to."""
TRIED = 24
"""Most messages that are tried for that."""
RECENT = 4
"""Most of them that are the owner's own recent ones; the others are everyday openings."""
SAMPLED = 4
"""Answers drawn with the reason in the context; one of them is kept."""
TEMPERATURE = 0.7
TO_THE_POINT = -2.0
"""Least mean log-probability of a token of an answer after the message alone, in nats. Of answers that the
context makes likely, a small model gives many that have nothing to do with the message
(benchmarks/results/reasons.md)."""
LONGEST = 48
"""Ids of an answer at most."""
TRIES = 2
"""How often a reason is tried on TRIED messages if no lesson comes of it."""
WEIGHT = 0.5
"""Weight of these lessons: Vidya wrote the answers, not the owner."""
ANCHOR = 1.0
"""Weight of the anchor on the model's own talk: a tenth of a lesson's, because a reason is about how Vidya
talks, and the anchor holds just that."""


Said = Sequence[tuple[str, str]]


class Reasons:
    """The reasons in one model's journal that are not carried over yet."""

    def __init__(
        self,
        transaction: LessonTransaction,
        tokenizer: Tokenizer,
        tell: Callable[[LearnerState | Understood | ReasonGivenUp], None] = lambda _: None,
    ) -> None:
        self._transaction, self._tokenizer, self._tell = transaction, tokenizer, tell
        self._tried: dict[int, list[str]] = {}
        """Messages that were tried, by judgement."""
        self._closed: set[int] = set()
        """Judgements for which no more answers are drawn."""
        self._generator = torch.Generator().manual_seed(0)
        """Of its own, so that lessons draw the same random numbers with and without reasons."""

    def catch_up(self) -> bool:
        """Does one small piece of work: answers one other message, or learns the answers of one reason.
        Returns False when nothing is left to do."""
        for judged in self._transaction.journal.reasons():
            put_back = self._put_back(judged)
            if self._model in put_back:
                continue
            lessons = self._transaction.journal.lessons_of(judged.id)
            mine = [lesson for lesson in lessons if lesson.kind == "reason"]
            untried = ("waiting", "needs_practice") if put_back else ("waiting",)
            waiting = [lesson for lesson in mine if lesson.state in untried]
            begun = judged.id in self._closed or len(mine) != len(waiting)
            if not begun and len(mine) < MESSAGES and (mine or self._fruitless(judged) < TRIES):
                if self._draw(judged, mine):
                    return True
                if not mine:
                    self._found_none(judged)
            self._closed.add(judged.id)
            if waiting:
                self._learn(judged, waiting)
                return True
        return False

    @property
    def _model(self) -> str:
        return self._transaction.weights.folder.name

    def _put_back(self, judged: Judged) -> set[str]:
        """The models that learned the answers and were put back."""
        name = _put_back_by(judged, "")
        sql = "SELECT DISTINCT name FROM measures WHERE name GLOB ?"
        found = self._transaction.journal.rows(sql, f"{name}*")
        return {str(one).removeprefix(name) for (one,) in found}

    # ------------------------------------------------------------ answering other messages

    def _draw(self, judged: Judged, mine: Sequence[Lesson]) -> bool:
        """Answers one other message; returns False if none is left."""
        journal = self._transaction.journal
        tried = self._tried.setdefault(judged.id, [lesson.prompt[-1].text for lesson in mine])
        message = next((m for m in self._others(judged) if m not in tried), None)
        if message is None or len(tried) >= TRIED:
            return False
        self._tell(LearnerState("consolidating", book_recall=self._transaction.caches.book_recall))
        tried.append(message)
        answers = self._answers(judged, message, {fold(lesson.answer) for lesson in mine})
        if answers is not None:
            new, plain = answers
            prompt = (Turn("user", message),)
            lesson = Lesson("reason", prompt, new, (plain,), WEIGHT, judgement=judged.id)
            journal.add_lessons([lesson], judged.id, judged.judgement.ask)
        return True

    def _fruitless(self, judged: Judged) -> int:
        """How often this model tried it on all messages and no lesson came of it, in earlier runs of the
        program too."""
        return len(self._transaction.journal.measures(_fruitless_of(judged, self._model)))

    def _found_none(self, judged: Judged) -> None:
        """Notes a try that led to no lesson, and tells the last one."""
        name = _fruitless_of(judged, self._model)
        self._transaction.journal.add_measure(name, len(self._tried[judged.id]))
        if self._fruitless(judged) >= TRIES:
            self._tell(ReasonGivenUp(judged.id, _reason(judged)))

    def _others(self, judged: Judged) -> Iterator[str]:
        """Messages without the judged one and without what was taught an answer: the owner's recent ones,
        then everyday openings."""
        transaction = self._transaction
        own = transaction.journal.ask(judged.judgement.ask).turns[-1].text
        taken = {example.prompt for example in transaction.caches.replay.memory} | {fold(own)}
        asked = reversed(transaction.journal.questions(10 * RECENT))
        recent = [text for text in asked if stands_alone(text)]
        everyday = openings()
        random.Random(judged.id).shuffle(everyday)
        for message in chain(list(dict.fromkeys(recent))[:RECENT], everyday):
            if fold(message) not in taken:
                yield message

    def _answers(
        self, judged: Judged, message: str, used: AbstractSet[str]
    ) -> tuple[str, str] | None:
        """(answer with the reason in the context, plain answer); None if they are the same, or none is in
        good form and to the point. used: folded answers to other messages."""
        plain = (Turn("user", message),)
        (usual,) = self._said(plain, 1, 0.0)
        context = self._context(judged, message, usual.text)
        taken = used | {fold(text) for role, text in context if role == "assistant"}
        found = [
            one
            for one in self._said(context, SAMPLED, TEMPERATURE)
            if one.ending == "end" and _well_formed(one.text) and fold(one.text) not in taken
        ]
        if not found:
            return None
        likely = self._likelihoods(found, plain)
        best = max(likely)
        return (found[likely.index(best)].text, usual.text) if best >= TO_THE_POINT else None

    def _context(self, judged: Judged, message: str, usual: str) -> Said:
        """The message with its usual answer and the reason against that, after the owner's own example where
        there is one. (With "end with a question", 11 of 12 answers of the 10M follow it so, none with the
        example alone; with "shorter please" 8 and 6.) After praise: the message after that and its reason."""
        ask, judgement = self._transaction.journal.ask(judged.judgement.ask), judged.judgement
        asked, reason = ask.turns[-1:], _reason(judged)
        if isinstance(judgement, Pick) and ask.again:
            wished = asked_again(asked, ask.again.old, reason)
            shown = [*wished, ("assistant", judged.answer), ("user", message)]
            return asked_again(shown, usual, reason)
        if isinstance(judgement, Rating) and judgement.value == "good":
            return praised(asked, judged.answer, reason, message)
        return asked_again([("user", message)], usual, reason)

    def _said(self, turns: Said, count: int, temperature: float) -> list[Finished]:
        """Answers after these turns, by the published weights, which are packed already."""
        model, tokenizer = self._transaction.weights.published.model, self._tokenizer
        self._transaction.pause()
        ids = encode_prompt(tokenizer, turns, model.config.context, LONGEST)
        sampling = Sampling(temperature=temperature, max_tokens=LONGEST)
        events = generate(model, tokenizer, ids, count, sampling, generator=self._generator)
        return [event for event in events if isinstance(event, Finished)]

    def _likelihoods(self, answers: Sequence[Finished], turns: Said) -> list[float]:
        """Mean log-probability of a token of each answer after these turns, in nats."""
        model = self._transaction.weights.published.model
        rows = [
            from_answer(self._tokenizer, turns, one.text, model.config.context) for one in answers
        ]
        checked = knowledge(model, rows, pause=self._transaction.pause)
        return [-item.nll / max(1, item.tokens) for item in checked]

    # ------------------------------------------------------------ learning them

    def _learn(self, judged: Judged, lessons: Sequence[Lesson]) -> None:
        """Learns all answers of a reason together; what costs too much of the memory is put back, and the
        lessons stay "needs practice"."""
        transaction = self._transaction
        caches, context = transaction.caches, transaction.weights.model.config.context
        self._tell(LearnerState("consolidating", book_recall=caches.book_recall))
        caches.prepare()
        rows: list[Example] = [
            from_answer(self._tokenizer, lesson.prompt, lesson.answer, context)
            for lesson in lessons
        ]
        task = LessonTask(rows[0], weight=WEIGHT, forms=tuple(rows[1:]))
        settings = transaction.settings.rehearsal().with_anchor(ANCHOR)
        stake = transaction.at_stake(task)
        numbers = [lesson.id for lesson in lessons]

        def judge(result: TeachResult) -> Commit | None:
            if not stake.judged(transaction.weights.model).passed:
                return None
            note = f"the reason of judgement {judged.id}"
            return Commit(numbers, note, moved=result.steps > 0)

        try:
            kept = transaction.attempt(lambda: transaction.teach(task, settings), judge).kept
        except NumericsError:
            kept = False
        if not kept:
            transaction.journal.add_measure(_put_back_by(judged, self._model), len(numbers))
        for number in numbers:
            transaction.journal.set_lesson_state(number, "learned" if kept else "needs_practice")
        caches.tidy()


def _well_formed(answer: str) -> bool:
    return bool(answer.strip()) and ends_sentence(answer) and not broken(answer)


def _fruitless_of(judged: Judged, model: str) -> str:
    """The journal's measure of how many messages a try of this model took that led to no lesson."""
    return f"reason/{judged.id}/fruitless/{model}"


def _put_back_by(judged: Judged, model: str) -> str:
    """The journal's measure of how many answers this model learned and was put back."""
    return f"reason/{judged.id}/put_back/{model}"


def _reason(judged: Judged) -> str:
    judgement = judged.judgement
    return (judgement.reason if isinstance(judgement, Pick | Rating) else None) or ""
