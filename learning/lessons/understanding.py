"""Whether a lesson was understood: asks its question in wordings that no step has seen, and questions about
somebody or something else that should not get its answer.

The figures are only reported. Taking back rehearsals that leak to other questions was tried and did not help:
leaks and known wordings mostly rise together (benchmarks/results/specificity.md). The other questions cost a
quarter of a second of one core a lesson at 10M, and half of that after its rehearsals.
"""

from __future__ import annotations

from collections.abc import Sequence

from engine.rollout import message_answers
from learning.data.examples import Example
from learning.journal.lesson_list import keep_understanding
from learning.memory.transaction import WeightTransaction
from learning.objectives.forward import knowledge
from learning.protocol.records import Understanding
from learning.text.key import mostly_holds, own_words
from learning.text.normalise import fold
from learning.text.questions.another import neighbours
from learning.text.questions.asking import stands_alone

WAYS = 5
"""Unseen wordings that are asked after a lesson."""
ROOM = 8
"""Tokens that an answer to another question may be longer than the lesson's own answer."""
LONGEST = 100
"""Tokens of the longest answer for which other questions are asked; decoding longer ones would take too
long."""


def all_others(example: Example) -> list[str]:
    """Questions about somebody or something else than a lesson's (`neighbours`). Empty if the lesson's
    question makes no sense alone, or if its answer adds no word to it or is too long."""
    question, answer = example.question, example.said
    short = stands_alone(question) and len(example.answer) <= LONGEST
    return neighbours(question, answer) if short and own_words(question, answer) else []


def others_before(transaction: WeightTransaction, example: Example) -> list[str]:
    """Those of `all_others` whose published answers do not have the lesson's own words. Call it before the
    lesson is taught."""
    found = _not_taught(transaction, all_others(example))
    told = _told(transaction, example, found)
    return [text for text in found if text not in told]


def measure(
    transaction: WeightTransaction,
    lesson: int,
    example: Example | None,
    others: Sequence[str],
) -> Understanding:
    """`understanding` of a published lesson, which it also writes into the journal. lesson: its number there.
    example: None: the lesson is not known, and nothing is asked."""
    found = understanding(transaction, example, others) if example else Understanding()
    keep_understanding(transaction.journal, lesson, found)
    return found


def understanding(
    transaction: WeightTransaction,
    example: Example,
    others: Sequence[str],
) -> Understanding:
    """Asks a remembered lesson in up to WAYS unseen wordings, alone, and the other questions. An answer is
    known if greedy decoding gives it word for word. Another question is told if its greedy answer has more
    than half of the words that the lesson's answer adds to its question. others: of `others_before`; those
    that have been taught since are left out."""
    caches = transaction.caches
    if not stands_alone(example.question):
        return Understanding()
    ways = caches.unseen_wordings(example, WAYS)
    checked = knowledge(caches.upper, ways, pause=transaction.pause)
    caches.tidy()  # they are hardly ever asked again
    asked = _not_taught(transaction, others)
    told = _told(transaction, example, asked)
    known = sum(item.known for item in checked)
    return Understanding(known, len(ways), len(told), len(asked))


def _not_taught(transaction: WeightTransaction, questions: Sequence[str]) -> list[str]:
    """Those that no remembered example answers."""
    taught = {e.prompt for e in transaction.caches.replay.memory}
    return [text for text in questions if fold(text) not in taught]


def _told(
    transaction: WeightTransaction,
    example: Example,
    questions: Sequence[str],
) -> list[str]:
    """Those whose published answer, by greedy decoding, has most words that the example's answer adds to its
    question."""
    said = message_answers(
        transaction.weights.published.model,
        transaction.caches.tokenizer,
        questions,
        1,
        max_tokens=len(example.answer) + ROOM,
        temperature=0.0,
        pause=transaction.pause,
    )
    words = own_words(example.question, example.said)
    return [
        text
        for text, ((answer, _),) in zip(questions, said, strict=True)
        if mostly_holds(answer, words)
    ]
