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
    return AnswerCheck(
        (Turn("user", message),), known, True, mentioned=lambda: TOLD, offers=True, **other
    )


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

    for one, sure, unsure in ((0.8, 0.8, 0.2), (0.59, None, None)):
        check = likely(one)
        assert offered(check) == TOLD[0].answer
        assert check.shown(answer(TOLD[0].answer, UNSURE), 5)[1] == sure
        known = asked().shown(answer(NOT_KNOWN, SURE), 5)[1]
        told = check.shown(answer(NOT_KNOWN, SURE), 5)[1]
        assert told == (known if unsure is None else pytest.approx(unsure))
        assert check.shown(answer(TOLD[1].answer, SURE), 5)[1] != 0.9, "the first one alone"
    told = [replace(TOLD[0], likely=0.8)]
    general = replace(asked("the cats of Peru, what are they called"), mentioned=lambda: told)
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
        replace(asked(), mentioned=None),
    ],
    ids=["nothing is asked", "in danger", "an answer was taught", "none are said back"],
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


LIKELY = replace(TOLD[0], likely=0.8)


def told(one: Mention = LIKELY, message: str = MESSAGE, *, several: bool = False) -> AnswerCheck:
    """Without offers."""
    return replace(asked(message), mentioned=lambda: [one], several=several)


def fallbacks(check: AnswerCheck, room: int = 64) -> list[str]:
    """What takes the place of one refused candidate after the other."""
    tokenizer = load_tokenizer(SHIPPED / "10m")
    fallback = check.standards(tokenizer, room).fallback
    return [tokenizer.decode(ids[:-1]) for ids in (fallback([]), fallback([]))]


def test_a_single_guess_gives_way_to_what_the_owner_told() -> None:
    check = told()
    assert check.at_a_loss([GUESS]) and fallbacks(check)[0] == LIKELY.answer
    assert check.shown(answer(LIKELY.answer, UNSURE), 1) == (LIKELY.answer, 0.8)
    assert check.origin(LIKELY.answer) == LIKELY
    assert told().at_a_loss([answer(NOT_KNOWN, SURE)]), "it is known"
    assert not told().at_a_loss([answer("Rex.", SURE)]), "the model knows it"


def test_a_single_answer_says_where_it_is_uncertain_what_is_asked_for() -> None:
    check = told(replace(LIKELY, likely=0.59))
    for guess in (GUESS, answer(NOT_KNOWN, SURE)):
        assert check.at_a_loss([guess])
    said = fallbacks(check)[0]
    assert said == "I only know this: your cat is called Bo."
    assert check.origin(said) == replace(LIKELY, likely=0.59, doubted=True)
    assert check.shown(answer(said, SURE), 1) == (said, None)


def test_a_single_answer_stands_where_nothing_of_the_owner_is_asked_for() -> None:
    for check in (
        told(message="the cats of Peru, what are they called"),
        told(message="My cat is ill."),
        replace(told(), several=True, mentioned=None),
    ):
        assert check.at_a_loss([GUESS]) == check.several
        assert LIKELY.answer not in fallbacks(check)
    assert fallbacks(told(), room=4)[0] == "", "it would be cut off"


def test_without_offers_none_of_several_says_what_is_only_perhaps_asked_for() -> None:
    tokenizer, perhaps = load_tokenizer(SHIPPED / "10m"), replace(LIKELY, likely=0.59)
    for one, offer in ((LIKELY, LIKELY.answer), (perhaps, "")):
        check = replace(told(one, several=True), offers=False)
        ids = check.standards(tokenizer, 64).offer([GUESS])
        assert tokenizer.decode(ids[:-1]) == offer


def test_without_offers_one_of_several_says_it_and_another_that_nothing_is_known() -> None:
    check = told(several=True)
    assert check.at_a_loss([GUESS, answer(NOT_KNOWN, UNSURE)])
    assert fallbacks(check) == [LIKELY.answer, NOT_KNOWN]
    assert not check.at_a_loss([answer(NOT_KNOWN, UNSURE)]), "it was said back already"
