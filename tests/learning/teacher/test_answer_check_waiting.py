"""Answers to a question whose lesson waits to be learned."""

from __future__ import annotations

from dataclasses import replace

from learning.teacher.recall import Recalled
from tests.learning.teacher.test_answer_check import TAUGHT, answer, check


def test_until_a_lesson_is_learned_the_model_may_not_know_its_answer() -> None:
    asked = check("What is my dog called?", lessons=(TAUGHT,))
    assert TAUGHT.state == "waiting" and asked.may_not_know
    assert asked.acceptable(answer(TAUGHT.answer)), "it may be given too"
    offers = replace(asked, find=lambda: Recalled(TAUGHT, 1.0))
    assert not offers.may_not_know, "then the lesson itself is offered"
    assert not replace(asked, recalled=Recalled(TAUGHT, 1.0)).may_not_know
