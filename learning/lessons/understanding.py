"""Whether a lesson was understood: asks its question in wordings that no step has seen, and questions about
somebody or something else that should not get its answer."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from engine.model import Model
from engine.rollout import message_answers
from learning.data.examples import Example
from learning.memory.tasks import stands_alone
from learning.memory.transaction import WeightTransaction
from learning.objectives.forward import knowledge
from learning.protocol.records import Understanding
from learning.text.another import neighbours
from learning.text.key import mostly_holds, own_words
from learning.text.normalise import fold

WAYS = 5
"""Unseen wordings that are asked after a lesson."""
ROOM = 8
"""Tokens that an answer to a neighbour may be longer than the lesson's own answer."""


def all_others(example: Example) -> list[str]:
    """Questions about somebody or something else than a lesson's (learning.text.another.neighbours). Empty if
    the lesson's question makes no sense alone, or its answer adds no word to it."""
    alone = stands_alone(example.question) and own_words(example.question, example.said)
    return neighbours(example.question, example.said) if alone else []


def others_before(transaction: WeightTransaction, example: Example) -> list[str]:
    """Those of `all_others` whose published answers do not have the lesson's own words. Call it before the
    lesson is taught."""
    found = _not_taught(transaction, all_others(example))
    told = _told(transaction, transaction.weights.published.model, example, found)
    return [text for text in found if text not in told]


def understanding(
    transaction: WeightTransaction,
    example: Example,
    others: Sequence[str] = (),
    moved: Collection[str] = (),
) -> Understanding:
    """Asks a remembered lesson in up to WAYS unseen wordings, alone, and the other questions. An answer is
    known if greedy decoding gives it word for word. Another question is told if its greedy answer has more
    than half of the words that the lesson's answer adds to its question. others: of `others_before`; those
    that have been taught since are left out. moved: names of the parameters that differ from the published
    ones."""
    caches = transaction.caches
    if not stands_alone(example.question):
        return Understanding()
    ways = caches.unseen_wordings(example, WAYS)
    checked = knowledge(caches.upper, ways, pause=transaction.pause)
    caches.tidy()  # they are hardly ever asked again
    asked = _not_taught(transaction, others)
    told = _told(transaction, transaction.weights.answering(moved), example, asked)
    known = sum(item.known for item in checked)
    return Understanding(known, len(ways), len(told), len(asked))


def _not_taught(transaction: WeightTransaction, questions: Sequence[str]) -> list[str]:
    """Those that no remembered example answers."""
    taught = {e.prompt for e in transaction.caches.replay.memory}
    return [text for text in questions if fold(text) not in taught]


def _told(
    transaction: WeightTransaction, model: Model, example: Example, questions: Sequence[str]
) -> list[str]:
    """Those whose greedy answer says what the example's answer adds to its question."""
    room = len(example.answer) + ROOM
    said = message_answers(
        model,
        transaction.caches.tokenizer,
        questions,
        1,
        max_tokens=room,
        temperature=0.0,
        pause=transaction.pause,
    )
    words = own_words(example.question, example.said)
    return [
        text
        for text, ((answer, _),) in zip(questions, said, strict=True)
        if mostly_holds(answer, words)
    ]
