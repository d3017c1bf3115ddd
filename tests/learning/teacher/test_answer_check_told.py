"""When what the owner told earlier is said back among the answers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from engine.tokenizers.load import load_tokenizer
from learning.memory.tasks import NOT_KNOWN
from learning.models.store import SHIPPED
from learning.protocol.records import Turn
from learning.teacher.answer_check import AnswerCheck
from learning.teacher.known import Known
from learning.teacher.mentions import Mention
from learning.teacher.recall import Recalled
from tests.learning.teacher.test_answer_check import SURE, TAUGHT, UNSURE, answer

MESSAGE = "my cat, what's he called"
TOLD = [
    Mention(f"our cat is called {name}", when) for when, name in enumerate(("Bo", "Rex", "Tib"))
]
GUESS = answer("Your cat is called Ha.", UNSURE)


def asked(message: str = MESSAGE, **other: Any) -> AnswerCheck:
    known = Known.of((), (TAUGHT,))
    return AnswerCheck((Turn("user", message),), known, True, mentioned=lambda: TOLD, **other)


def offered(check: AnswerCheck) -> str:
    tokenizer = load_tokenizer(SHIPPED / "10m")
    return tokenizer.decode(check.standards(tokenizer, 64).offer([GUESS])[:-1])


def test_the_likeliest_is_said_back() -> None:
    check = asked()
    assert offered(check) == TOLD[0].answer
    assert check.origin(TOLD[0].answer) == TOLD[0] and check.origin(GUESS.text) is None
    assert check.shown(answer(TOLD[0].answer, SURE), 5) == (TOLD[0].answer, None)
    assert offered(asked("Is my cat called Rex?")) == TOLD[0].answer, "it says so too"


def test_what_is_likely_asked_for_is_as_sure_and_not_knowing_is_less() -> None:
    def likely(one: float) -> AnswerCheck:
        told = [replace(TOLD[0], likely=one), replace(TOLD[1], likely=0.9)]
        return replace(asked(), mentioned=lambda: told)

    for one, sure, unsure in ((0.8, 0.8, 0.2), (0.69, None, None)):
        check = likely(one)
        assert offered(check) == TOLD[0].answer
        assert check.shown(answer(TOLD[0].answer, UNSURE), 5)[1] == sure
        known = asked().shown(answer(NOT_KNOWN, SURE), 5)[1]
        told = check.shown(answer(NOT_KNOWN, SURE), 5)[1]
        assert told == (known if unsure is None else pytest.approx(unsure))
        assert check.shown(answer(TOLD[1].answer, SURE), 5)[1] != 0.9, "the first one alone"
    told = [replace(TOLD[0], likely=0.8)]
    general = replace(asked("the cat, what's he called"), mentioned=lambda: told)
    assert offered(general) and general.shown(answer(TOLD[0].answer, SURE), 5)[1] is None
    long = replace(asked(), mentioned=lambda: told)
    tokenizer = load_tokenizer(SHIPPED / "10m")
    assert long.standards(tokenizer, 4).offer([GUESS]) == (), "it would be cut off"
    assert (long.shown(answer(NOT_KNOWN, SURE), 5)[1] or 0.0) > 0.8
    meant = replace(likely(0.8), find=lambda: Recalled(replace(TAUGHT, id=3), 0.4))
    assert (meant.shown(answer(NOT_KNOWN, SURE), 5)[1] or 0.0) > 0.8, "a lesson goes first"


@pytest.mark.parametrize(
    "check",
    [
        asked("My cat is ill."),
        asked("I want to die, what is left?"),
        asked(TAUGHT.prompt[0].text),
        replace(asked(), several=False),
    ],
    ids=["nothing is asked", "in danger", "an answer was taught", "one answer"],
)
def test_otherwise_nothing_is_quoted(check: AnswerCheck) -> None:
    assert offered(check) == "" and not check.offered


def test_a_lesson_that_may_be_meant_goes_first() -> None:
    meant = Recalled(replace(TAUGHT, id=3), 0.4)
    assert offered(asked(find=lambda: meant)) == TAUGHT.answer


def test_where_the_model_knows_no_answer_more_is_quoted_beside_the_nearest_lessons() -> None:
    tokenizer = load_tokenizer(SHIPPED / "10m")
    check, told = asked(nearest=lambda: [TAUGHT]), [GUESS]
    instead = check.standards(tokenizer, 64).instead
    while ids := instead(told) if instead else ():
        told.append(answer(tokenizer.decode(ids[:-1]), UNSURE))
    first, *rest = TOLD
    texts = [first.answer, TAUGHT.answer, *(one.answer for one in rest)]
    assert [one.text for one in told[1:]] == texts
    assert [check.origin(text) for text in texts] == [first, TAUGHT, *rest]
    sure = asked(nearest=lambda: [TAUGHT]).standards(tokenizer, 64).instead
    assert sure and sure([answer("Rex.", SURE)]) == (), "the model knows it"
