"""What the owner said of a change comes before what was taught; what he told is looked for once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from engine.tokenizers.load import load_tokenizer
from learning.memory.tasks import NOT_KNOWN
from learning.models.store import SHIPPED
from learning.protocol.records import Lesson, Turn
from learning.teacher.answer_check import AnswerCheck
from learning.teacher.known import Known
from learning.teacher.mentions import Mention
from learning.teacher.owners_words import OwnersWords
from learning.teacher.recall import Recalled
from tests.learning.teacher.test_answer_check import SURE, TAUGHT, UNSURE, answer

NOW = Mention("my dog is called Rex now", 1.0, 0.8)
ASKED = TAUGHT.prompt[0].text
TEXT = "Your dog is called Rex now."


def changed(message: str = ASKED, *, several: bool = True, **other: Any) -> AnswerCheck:
    known = Known.of((), (replace(TAUGHT, state="learned"),))
    turns = (Turn("user", message),)
    return AnswerCheck(turns, known, several, changed=lambda _: NOW, **other)


@pytest.mark.parametrize("several", [True, False])
def test_what_was_taught_gives_way_to_what_has_changed(several: bool) -> None:
    tokenizer = load_tokenizer(SHIPPED / "10m")
    check = changed(several=several)
    assert check.at_a_loss([answer(TAUGHT.answer, SURE)])
    standards = check.standards(tokenizer, 64)
    ids = standards.offer([answer(TAUGHT.answer, SURE)]) if several else standards.fallback([])
    assert tokenizer.decode(ids[:-1]) == TEXT and check.origin(TEXT) == NOW
    assert not check.at_a_loss([answer(TAUGHT.answer, SURE)]), "it is said"
    assert check.shown(answer(TEXT), 5) == (TEXT, 0.8)
    for text in (TAUGHT.answer, NOT_KNOWN):
        assert check.shown(answer(text, SURE), 5)[1] == pytest.approx(0.2)
    other = check.shown(answer("Your dog is called Ha.", SURE), 5)[1]
    assert other and other > 0.9, "a guess is what it was"
    assert changed().standards(tokenizer, 4).offer([answer(TAUGHT.answer)]) == (), "no room"


def test_the_lesson_that_is_probably_meant_is_the_one_that_may_have_changed() -> None:
    asked = list[Lesson | None]()

    def found(lesson: Lesson | None) -> Mention | None:
        asked.append(lesson)
        return None

    tokenizer = load_tokenizer(SHIPPED / "10m")
    for likely in (0.8, 0.4):
        meant = Recalled(TAUGHT, likely)
        check = replace(changed("my dog, what's he called"), changed=found, find=lambda m=meant: m)
        check.standards(tokenizer, 64).offer([answer("Bo.")])
    recalled = replace(changed("my dog, what's he called", recalled=meant), changed=found)
    recalled.standards(tokenizer, 64).offer([answer("Bo.")])
    for silent in ("I want to die, what is left?", "My dog is ill."):
        replace(changed(silent), changed=found).standards(tokenizer, 64).offer([answer("Bo.")])
    assert asked == [TAUGHT, None, None]


def test_each_search_is_done_once() -> None:
    done = list[str]()

    def once(what: str, found: Any) -> Callable[[], Any]:
        return lambda: done.append(what) or found

    words = OwnersWords(
        "my dog, what's he called",
        False,
        once("statements", [replace(NOW, likely=0.5)]),
        once("change", None),
        lambda: False,
        lambda text: True,
    )
    for _ in range(2):
        assert words.likely is None and words.change is None
        told = words.instead_of_guess
        assert told and told.doubted and words.certainty(told) is None
    assert sorted(done) == ["change", "statements"]


@pytest.mark.parametrize(
    ("message", "told", "likely"),
    [
        ("my dog, what's he called", NOW, True),
        ("the spare key, where is it", Mention("I keep the spare key in a pot", 1.0, 0.8), True),
        ("what is the wifi password", Mention("the wifi password is b", 1.0, 0.8, True), True),
        ("whats helen do", Mention("my wife is a nurse", 1.0, 0.8, named=True), True),
        ("what is the capital of Peru", Mention("we flew to Peru", 1.0, 0.8), False),
        ("my dog, what's he called", replace(NOW, likely=0.64), False),
    ],
)
def test_what_is_probably_asked_for_is_about_the_owner(
    message: str, told: Mention, likely: bool
) -> None:
    words = OwnersWords(message, True, lambda: [told], lambda: None, lambda: False, lambda _: True)
    assert (words.likely == told) == likely


def test_the_models_own_words_are_as_sure_as_what_he_told() -> None:
    check = AnswerCheck((Turn("user", ASKED),), Known.of((), ()), True, mentioned=lambda: [NOW])
    check.standards(load_tokenizer(SHIPPED / "10m"), 64)
    assert check.shown(answer(TEXT, UNSURE), 5) == (TEXT, 0.8)
