"""How a taught lesson is put before a question, for models that learned to answer from a given text.

Such a model answers far more questions from a lesson in this form than from the same lesson as an earlier
exchange (benchmarks/results/recall.md). Imports nothing else of learning.
"""

from __future__ import annotations


def question_and_answer(question: str, answer: str) -> str:
    """A lesson as one text."""
    return f"{question} {answer}"


def in_context(question: str, answer: str, message: str) -> str:
    """The message as the model sees it. For the prompt only: neither the conversation nor a lesson has it."""
    return f'Context: "{question_and_answer(question, answer)}"\nQuestion: {message}\nAnswer:'
