"""Answers that were taught for another question are not shown as the answer to this one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from learning.memory.tasks import NOT_KNOWN
from learning.protocol.records import Lesson, Turn
from learning.teacher.answer_check import FAR, MEANT, AnswerCheck
from learning.teacher.known import FAR_OF_KIND
from learning.teacher.recall import Recalled
from learning.text.normalise import fold
from tests.learning.teacher.test_answer_check import SURE, answer, check

SISTER = Lesson("example", (Turn("user", "What is my sister called?"),), "Your sister is Ingrid.")
TOMS = Lesson("example", (Turn("user", "Which name has Tom's sister?"),), "She is Ingrid, too.")


def test_what_was_taught_of_one_person_is_not_said_of_another() -> None:
    asked = check("What is Tom's sister called?", lessons=(SISTER,))
    for text in (SISTER.answer, "Tom's sister is called Ingrid.", "Ingrid!"):
        assert not asked.acceptable(answer(text, SURE)), text
        assert asked.shown(answer(text, SURE), 5) == (text, None), "where no retry helped"
    assert asked.acceptable(answer("Tom's sister is called Eva."))
    assert asked.acceptable(answer("A sister is a relative."))
    assert asked.may_not_know
    talk = ("What is my sister called?", SISTER.answer, "What is my brother called?")
    asked = check(*talk, lessons=(SISTER,))
    assert not asked.acceptable(answer("Your brother is called Ingrid.", SURE)), "said in this talk"


def test_a_number_or_a_time_is_not_answered_by_what_has_none() -> None:
    cafe = Lesson("example", (Turn("user", "When does the café open?"),), "It never does.")
    for question in ("How old is my sister?", "When did I last see my sister?"):
        asked = check(question, lessons=(SISTER, cafe))
        assert not asked.acceptable(answer(SISTER.answer, SURE))
        assert asked.shown(answer(SISTER.answer, SURE), 5) == (SISTER.answer, None)
        assert asked.acceptable(answer("Ingrid is 30 years old since May."))
    when = check("When is the café open?", lessons=(SISTER, cafe))
    assert when.acceptable(answer(cafe.answer, SURE)), "taught for such a question"
    assert check("Who is my sister?", lessons=(SISTER,)).acceptable(answer(SISTER.answer))


def test_it_is_said_of_the_person_of_whom_it_was_taught_or_told() -> None:
    own = check("What's the name of my sister?", lessons=(SISTER,))
    assert own.acceptable(answer(SISTER.answer))
    also = check("What is Tom's sister called?", lessons=(SISTER, TOMS))
    assert also.acceptable(answer("Tom's sister is called Ingrid.")), "taught of both"
    talk = ("Tom's sister is an Ingrid as well.", "Really?", "What is Tom's sister called?")
    assert check(*talk, lessons=(SISTER,)).acceptable(answer("Ingrid.")), "told in this talk"
    yes = Lesson("example", (Turn("user", "Do I smoke at parties?"),), "Yes.")
    assert check("Does Tom smoke at parties?", lessons=(yes,)).acceptable(answer("Yes."))


RABBIT = Lesson(
    "example", (Turn("user", "What is my rabbit called?"),), "Your rabbit is called Clover."
)


def test_what_was_taught_of_the_rabbit_is_not_said_of_the_cat_however_it_was_asked() -> None:
    leaked = "Your cat is called Clover."
    for said in ("Who is my cat?", "tell me about my pets", "And my cat?"):
        asked = check(said, lessons=(RABBIT,))
        assert not asked.acceptable(answer(leaked, SURE))
        assert asked.shown(answer(leaked, SURE), 5) == (leaked, None)
        assert asked.acceptable(answer("Your cat is called Mole."))
        assert asked.acceptable(answer(RABBIT.answer))
        assert asked.acceptable(answer("Clover is your rabbit, not your cat."))
    both = Lesson("example", (Turn("user", "What's my cat's name?"),), "It is Clover, too.")
    asked = check("Who is my cat?", lessons=(RABBIT, both))
    assert asked.acceptable(answer(leaked)), "taught of both"
    for said in (("My cat is a Clover, too.", "Nice!", "Who is my cat?"), ("Is my cat Clover?",)):
        assert check(*said, lessons=(RABBIT,)).acceptable(answer(leaked)), "said in this talk"


def test_what_was_taught_for_a_question_that_means_something_else_is_not_given() -> None:
    asked_for: list[str] = []

    def cosines(cosine: float) -> Callable[[], dict[str, float]]:
        def near() -> dict[str, float]:
            asked_for.append("near")
            return {fold(SISTER.answer): cosine}

        return near

    question = "What does my sister like?"
    far = replace(check(question, lessons=(SISTER,)), near=cosines(FAR - 0.01))
    assert not far.acceptable(answer(SISTER.answer, SURE))
    assert far.shown(answer(SISTER.answer, SURE), 5) == (SISTER.answer, None), "no retry helped"
    assert far.acceptable(answer("Your sister likes plums.", SURE))
    assert len(asked_for) == 1, "it is found out once"
    assert replace(far, near=cosines(FAR)).acceptable(answer(SISTER.answer, SURE))
    told = replace(
        check("Her name is Ingrid.", "I see.", question, lessons=(SISTER,)), near=cosines(0.0)
    )
    assert told.acceptable(answer(SISTER.answer, SURE)), "told in this talk"
    before = check(SISTER.prompt[-1].text, SISTER.answer, question, lessons=(SISTER,))
    repeated = replace(before, near=cosines(0.0))
    assert not repeated.acceptable(answer(SISTER.answer, SURE)), (
        "Vidya said it, to another question"
    )
    for likely in (MEANT, MEANT - 0.01):
        meant = replace(far, near=cosines(0.0), find=partial(Recalled, SISTER, likely))
        assert meant.acceptable(answer(SISTER.answer, SURE)) == (likely == MEANT)
    blue = Lesson("example", (Turn("user", "Which colour is best?"),), "Blue.")
    short = check("Which colour has the sky?", lessons=(blue,))
    short = replace(short, near=lambda: {fold(blue.answer): 0.0})
    assert short.acceptable(answer(blue.answer, SURE)), "it says nothing of the owner"
    asked_for.clear()
    german = replace(check("Wie alt ist sie?", lessons=(SISTER,)), near=cosines(0.0))
    assert german.acceptable(answer(SISTER.answer, SURE))
    own = replace(check("what is my sister called", lessons=(SISTER,)), near=cosines(0.0))
    assert own.acceptable(answer(SISTER.answer, SURE)), "taught for just this"
    remark = replace(check("I saw my sister.", lessons=(SISTER,)), near=cosines(0.0))
    assert remark.acceptable(answer(SISTER.answer, SURE)), "no question"
    after = replace(check("Hi", "Hello.", "And her?", lessons=(SISTER,)), near=cosines(0.0))
    assert after.acceptable(answer(SISTER.answer, SURE)), "what it means was said before it"
    assert not asked_for


BIRTHDAY = Lesson(
    "example", (Turn("user", "When is your birthday?"),), "My birthday is the first of April."
)
WEDDING = "When is my wedding anniversary?"


def of_kind(
    *said: str, lesson: Lesson = BIRTHDAY, cosine: float = FAR_OF_KIND - 0.01
) -> AnswerCheck:
    near = {fold(lesson.answer): cosine}
    return replace(check(*said, lessons=(lesson,)), near=lambda: near)


def test_what_was_taught_for_a_question_of_another_kind_is_not_given() -> None:
    asked = of_kind(WEDDING)
    for text in (BIRTHDAY.answer, "Your birthday is the first of April."):
        assert not asked.acceptable(answer(text, SURE)), text
        assert asked.shown(answer(text, SURE), 5) == (text, None), "where no retry helped"
    assert asked.acceptable(answer("Your wedding anniversary is in June.", SURE))
    assert asked.acceptable(answer("It was the first time in April.", SURE)), "neither of you"
    assert of_kind(WEDDING, cosine=FAR_OF_KIND).acceptable(answer(BIRTHDAY.answer)), "it is near"
    assert check(WEDDING, lessons=(BIRTHDAY,)).acceptable(answer(BIRTHDAY.answer)), "not ready yet"
    unclear = "The anniversary of our wedding, which day do we feast?"
    assert of_kind(unclear).acceptable(answer(BIRTHDAY.answer)), "of no known kind"


def test_it_is_given_if_it_was_taught_told_or_said_of_this_too() -> None:
    own = of_kind("when is your birthday")
    assert own.acceptable(answer(BIRTHDAY.answer)), "taught for just this"
    told = of_kind("On the first of April we married.", "How nice!", WEDDING)
    assert told.acceptable(answer("Your anniversary is the first of April.")), "told in this talk"
    before = of_kind("When is your birthday?", BIRTHDAY.answer, WEDDING)
    assert not before.acceptable(answer(BIRTHDAY.answer, SURE)), (
        "Vidya said it, to another question"
    )
    both = Lesson(
        "example", (Turn("user", "Which wedding was in spring?"),), "On the first of April, ours."
    )
    also = check(WEDDING, lessons=(BIRTHDAY, both))
    also = replace(also, near=lambda: {fold(BIRTHDAY.answer): 0.0, fold(both.answer): 0.0})
    assert also.acceptable(answer("Your wedding was the first of April.")), "a lesson says it too"
    yes = Lesson("example", (Turn("user", "Am I allergic to anything?"),), "You can't eat walnuts.")
    same = of_kind("What are my allergies?", lesson=yes, cosine=FAR)
    assert same.acceptable(answer(yes.answer)), "a question for a yes or no"


def test_what_was_taught_for_the_same_thing_in_other_words_is_given_however_far_it_looks() -> None:
    weight = Lesson("example", (Turn("user", "How much do I weigh?"),), "You weigh like a feather.")
    for said in ("whats my weight", "What's my weight?"):
        far = of_kind(said, lesson=weight, cosine=0.0)
        assert far.acceptable(answer(weight.answer, SURE))
        assert far.shown(answer(weight.answer, SURE), 5)[1]
    assert not of_kind("What do I weigh down?", lesson=weight, cosine=0.0).acceptable(
        answer(weight.answer, SURE)
    )


def test_not_knowing_is_as_sure_as_it_is_whatever_was_taught() -> None:
    teacher = Lesson(
        "example", (Turn("user", "What does my sister do?"),), "Your sister will teach."
    )
    asked = check("What does Tom's sister do?", lessons=(teacher,))
    assert asked.shown(answer("He will teach you.", SURE), 5)[1] is None
    assert asked.shown(answer(NOT_KNOWN, SURE), 5)[1], '"Will you teach me?" tells no fact'
