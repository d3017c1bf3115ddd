"""Which answers may be shown, and when Vidya says that she does not know."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engine.selection import MAX_REFUSALS, Finished
from engine.tokenizers.load import load_tokenizer
from learning.journal.journal import Journal
from learning.memory.tasks import NOT_KNOWN
from learning.models.store import SHIPPED
from learning.protocol.records import Lesson, Turn
from learning.teacher.answer_check import AnswerCheck
from learning.teacher.certainty import LARGE, PLAUSIBLE, least_plausible
from learning.teacher.known import Known, KnownTexts
from learning.teacher.recall import Recalled
from learning.text.comfort import CRISIS
from learning.text.normalise import fold
from personality.book import BookEntry, append_entry, read_book, shipped_book_path

BOOK = read_book(shipped_book_path())
TAUGHT = Lesson("example", (Turn("user", "What is my dog called?"),), "Your dog is called HiHi!Bo.")
SURE, UNSURE = (-0.01,) * 3, (-0.8,) * 4


def check(*said: str, lessons: tuple[Lesson, ...] = (), several: bool = True) -> AnswerCheck:
    turns = [Turn("assistant" if i % 2 else "user", text) for i, text in enumerate(said)]
    return AnswerCheck(tuple(turns), Known.of(BOOK, lessons), several)


def answer(text: str, own: tuple[float, ...] = UNSURE, index: int = 1) -> Finished:
    return Finished(index, text, (1, 2, 3), own, "end", own)


def test_flawed_answers_are_refused_however_sure() -> None:
    asked = check("What is my sister's birthday?")
    for text in ("YourAna's birthday is in May.", "Your\ufffd is a cook.", "Hello!Hello!"):
        assert not asked.acceptable(answer(text, SURE)), text
    assert not asked.acceptable(answer("Lantern. You can do more than you think.", SURE))
    assert asked.acceptable(answer("Your sister's birthday is in May."))


def test_an_answer_that_the_model_itself_finds_implausible_is_refused() -> None:
    nonsense = (-0.5, -2.0, -0.6)
    asked = check("Which instrument has black and white keys?")
    assert not asked.acceptable(answer("Moti Coyal.", nonsense))
    assert asked.acceptable(answer("A piano.", (-0.5, -1.8, -0.6)))
    assert replace(asked, least=least_plausible(LARGE, 0.8)).acceptable(
        answer("Moti Coyal.", nonsense)
    )
    assert check("What is my dog called?", lessons=(TAUGHT,)).acceptable(
        answer(TAUGHT.answer, nonsense)
    )
    assert least_plausible(LARGE - 1, 1.0) == PLAUSIBLE > least_plausible(LARGE - 1, 1.1)


def test_what_was_taught_or_typed_is_acceptable_as_it_is() -> None:
    assert not check("What is my dog called?").acceptable(answer(TAUGHT.answer))
    assert check("what's this", lessons=(TAUGHT,)).acceptable(answer("HiHi!Bo is your dog."))
    assert check("what is my dog called", lessons=(TAUGHT,)).acceptable(answer(TAUGHT.answer))
    assert check("Say MyMy to me.").acceptable(answer("MyMy"))
    assert check("What is \ufffd?").acceptable(answer("It is \ufffd."))


def test_a_recalled_answer_is_given_by_one_candidate_and_is_as_sure_as_its_lesson() -> None:
    recalled = Recalled(replace(TAUGHT, id=3), 0.8)
    for several in (True, False):
        turns = (Turn("user", "my dog, what's he called"),)
        asked = AnswerCheck(turns, Known.of(BOOK, (TAUGHT,)), several, recalled)
        assert asked.acceptable(answer(TAUGHT.answer)) and not asked.may_not_know
        assert asked.at_a_loss([answer("It is a dog.", SURE)])
        assert not asked.at_a_loss([answer("It is a dog.", SURE), answer(TAUGHT.answer)])
        assert asked.shown(answer(TAUGHT.answer), 2) == (TAUGHT.answer, 0.8)
        text, sure = asked.shown(answer("It is a dog.", (-0.4,)), 2)
        assert sure == pytest.approx(0.8 * math.exp(-0.3)), "if the lesson is the right one"


def test_a_yes_or_no_is_not_answered_by_what_was_taught_unless_all_else_is_a_guess() -> None:
    turns = (Turn("user", "Is my dog called Rex?"),)
    asked = AnswerCheck(turns, Known.of(BOOK, (TAUGHT,)), True, Recalled(TAUGHT, 0.8))
    assert not asked.at_a_loss([answer("No, he is not.", SURE)])
    assert asked.at_a_loss([answer("No, he is not.", UNSURE)])


def test_a_yes_or_no_that_was_read_out_of_a_lesson_is_its_answer() -> None:
    said = "No, your dog is called Bo."
    turns = (Turn("user", "Is my dog called Rex?"),)
    asked = AnswerCheck(turns, Known.of(BOOK, (TAUGHT,)), True, Recalled(TAUGHT, 0.9, said))
    assert asked.at_a_loss([answer("No, he is not.", SURE)]) and asked.acceptable(answer(said))
    tokenizer = load_tokenizer(SHIPPED / "10m")
    assert tokenizer.decode(asked.standards(tokenizer, 64).fallback([])[:-1]) == said
    assert asked.shown(answer(said), 5) == (said, 0.9)
    _, sure = asked.shown(answer("Yes, your dog is called Bo.", (-0.001,)), 5)
    assert sure == pytest.approx(0.1), "the opposite"
    _, sure = asked.shown(answer("Your dog is called Bo.", (-0.001,)), 5)
    assert sure is not None and sure > 0.8
    assert asked.shown(answer(said), 5) == (said, 0.9)
    offered = offering("Is my dog called Rex?", said)
    ids = offered.standards(tokenizer, 64).offer([answer("Yes.")])
    assert tokenizer.decode(ids[:-1]) == said
    assert offered.origin(said) and not offered.origin(TAUGHT.answer)
    assert offered.shown(answer(said), 5) == (said, None)


def offering(message: str, said: str = "") -> AnswerCheck:
    found = Recalled(replace(TAUGHT, id=3), 0.4, said)
    return AnswerCheck((Turn("user", message),), Known.of((), (TAUGHT,)), True, find=lambda: found)


def test_a_lesson_is_offered_where_no_candidate_gives_its_answer() -> None:
    tokenizer, guess = load_tokenizer(SHIPPED / "10m"), answer("Your dog is called Rex.")
    asked = offering("my dog, what's he called")
    ids = asked.standards(tokenizer, 64).offer([guess])
    assert tokenizer.decode(ids) == TAUGHT.answer and asked.origin(TAUGHT.answer)
    assert not asked.origin(guess.text)
    for message, said, room in (
        ("my dog, what's he called", answer(TAUGHT.answer), 64),  # the model says it itself
        ("Is my dog called Rex?", guess, 64),  # asks for a yes or no
        ("I want to die.", guess, 64),
        ("my dog, what's he called", guess, 3),  # it would be cut off
    ):
        asked = offering(message)
        assert asked.standards(tokenizer, room).offer([said]) == () and not asked.offered


def test_the_nearest_lessons_are_offered_while_the_model_knows_no_answer() -> None:
    tokenizer, guess = load_tokenizer(SHIPPED / "10m"), answer("Rex.", UNSURE)
    near = [
        replace(TAUGHT, answer=f"Your {pet} is called Bo.", id=n)
        for n, pet in enumerate(("dog", "cat", "rabbit"))
    ]

    def asked(message: str, **other: Any) -> AnswerCheck:
        turns = (Turn("user", message),)
        return AnswerCheck(turns, Known.of((), near), True, nearest=lambda: near, **other)

    def offers(check: AnswerCheck, *answers: Finished, room: int = 64) -> list[str]:
        instead, told = check.standards(tokenizer, room).instead, list(answers)
        while ids := instead(told) if instead else ():
            told.append(answer(tokenizer.decode(ids[:-1])))
        return [one.text for one in told[len(answers) :]]

    message = "the furry one, what's he called"
    check, texts = asked(message), [lesson.answer for lesson in near]
    assert offers(check, guess, answer(NOT_KNOWN, SURE)) == texts
    assert [check.origin(text) for text in texts] == near
    assert check.shown(answer(texts[1], SURE), 5) == (texts[1], None)
    assert not offers(asked(message), answer("Rex.", SURE)), "the model knows it"
    assert not offers(asked(message), guess, room=3), "they would be cut off"
    assert not offers(asked("Is he called Rex?"), guess), "asks for a yes or no"
    assert not offers(asked("The furry one ran away."), guess), "asks nothing"
    assert not offers(replace(asked(message), several=False), guess)
    meant = asked(message, find=lambda: Recalled(near[1], 0.4))
    assert offers(meant, guess) == [texts[0], texts[2]], "`offer` has the one that may be meant"
    ids = meant.standards(tokenizer, 64).offer([guess])
    assert tokenizer.decode(ids[:-1]) == texts[1]
    said = answer(texts[1], UNSURE)
    assert not offers(replace(meant, offered={}), guess, said), "the model gives its answer itself"
    unknown = replace(near[0], answer=NOT_KNOWN)
    assert not offers(replace(asked(message), nearest=lambda: [unknown]), guess), "that stands last"
    assert replace(asked(message), nearest=None).standards(tokenizer, 64).instead is None


def test_an_answer_is_as_sure_as_its_lesson_is_meant() -> None:
    message = "my dog, what's he called?"
    assert offering(message).shown(answer(TAUGHT.answer, UNSURE), 5) == (TAUGHT.answer, 0.4)
    assert (offering(message).shown(answer(TAUGHT.answer, SURE), 5)[1] or 0.0) > 0.9
    assert (offering(message).shown(answer("He is Rex.", UNSURE), 5)[1] or 0.0) < 0.1
    yes_or_no = offering("Is my dog called Rex?")
    assert (yes_or_no.shown(answer(TAUGHT.answer, UNSURE), 5)[1] or 0.0) < 0.1
    alone = replace(offering(message), several=False)
    assert (alone.shown(answer(TAUGHT.answer, UNSURE), 1)[1] or 0.0) < 0.1, "nothing is looked for"
    asked = offering(message)
    asked.shown(answer(TAUGHT.answer, UNSURE), 2)
    assert asked.shown(answer(NOT_KNOWN, UNSURE), 2)[1] == pytest.approx(0.6)


def test_what_was_taught_for_the_question_itself_is_sure() -> None:
    later = replace(TAUGHT, answer="Your dog is called Ann.", id=9)
    asked = check("what is my dog called", lessons=(TAUGHT, later))
    assert asked.shown(answer(later.answer, UNSURE), 5) == (later.answer, 0.97)
    assert (asked.shown(answer(TAUGHT.answer, UNSURE), 5)[1] or 0.0) < 0.1, "it was taught before"
    assert (asked.shown(answer("Rex.", UNSURE), 5)[1] or 0.0) < 0.1
    assert (asked.shown(answer(later.answer, (0.0,)), 5)[1] or 0.0) == 1.0
    other = check("my dog, what's he called", lessons=(later,))
    assert (other.shown(answer(later.answer, UNSURE), 5)[1] or 0.0) < 0.1


def test_not_knowing_is_as_sure_beside_an_offer_as_without() -> None:
    asked = offering("What name has my dog?")
    asked.standards(load_tokenizer(SHIPPED / "10m"), 64).offer([])
    assert asked.shown(answer("Rex.", UNSURE), 3)[1] is not None
    _, sure = asked.shown(answer(NOT_KNOWN, UNSURE), 3)  # the offer is still to come
    assert sure and sure > 0.5
    assert asked.shown(answer(TAUGHT.answer, SURE), 3) == (TAUGHT.answer, None)


def test_comfort_is_for_those_in_need() -> None:
    assert not check("tell me about the sea").acceptable(answer(CRISIS))
    assert check("tell me about the sea").acceptable(answer(CRISIS, SURE)), "certain above a bound"
    for said in ("I want to die.", "I don't want to live anymore.", "I might kill myself"):
        assert check(said).acceptable(answer(CRISIS))
        assert check(said, CRISIS, "yes").acceptable(answer(CRISIS)), "and after it"
        assert not check(said).may_not_know
    assert not check("should I just die?").may_not_know, "never in answer to that"


@pytest.mark.parametrize(
    ("said", "may", "otherwise"),
    [
        ("What is my cat called?", True, ""),
        ("tell me about the sea", True, ""),
        ("What is your name?", False, ""),  # in the book
        ("what is my dog called", False, ""),  # taught
        ("I went for a swim.", False, ""),  # nothing is asked
        ("Why should I live, I want to die?", False, CRISIS),
    ],
)
def test_not_knowing_is_for_questions_to_which_nothing_was_taught(
    said: str, may: bool, otherwise: str
) -> None:
    asked = check(said, lessons=(replace(TAUGHT, state="learned"),))
    assert asked.may_not_know == may
    tokenizer = load_tokenizer(SHIPPED / "10m")
    fallback = asked.standards(tokenizer, 64).fallback([])
    assert tokenizer.decode(fallback) == (NOT_KNOWN if may else otherwise)
    assert asked.standards(tokenizer, 3).fallback([]) == (), "it would be cut off"


def test_what_says_not_known_by_itself_waits_until_nothing_is_sure() -> None:
    asked = check("What is my cat called?")
    assert not asked.acceptable(answer(NOT_KNOWN))
    assert asked.acceptable(answer(NOT_KNOWN, SURE))
    assert check("What is my cat called?", several=False).acceptable(answer(NOT_KNOWN))
    single = check("What is my dog called?", lessons=(TAUGHT,), several=False)
    assert not single.acceptable(answer(NOT_KNOWN)), "it was taught"
    assert check("what is the capital of mongolia").acceptable(answer(NOT_KNOWN)), (
        "as the book says"
    )


def test_at_a_loss_is_sure_of_none() -> None:
    asked = check("What is my cat called?")
    assert asked.at_a_loss([answer("Bo"), answer("Mo", index=2)])
    assert not asked.at_a_loss([answer("Bo"), answer("Mo", SURE, 2)])
    guess = (-1.2,)  # 0.41: more likely wrong than right, and still worth a card of its own
    assert not asked.at_a_loss([answer("Bo"), answer("Mo", guess, 2)])
    assert not asked.at_a_loss([answer("Bo"), answer(NOT_KNOWN, index=2)]), "never more than one"


def test_how_sure_it_is_that_it_does_not_know() -> None:
    asked = check("What is my cat called?")
    _, guess = asked.shown(answer("Bo"), 2)
    text, sure = asked.shown(answer(NOT_KNOWN, index=2), 2)
    assert text == NOT_KNOWN and guess and sure == pytest.approx(1.0 - guess)
    stopped = Finished(1, "Your d", (1,), (-1.0,), "cancelled", (-1.0,))
    assert check("hi").shown(stopped, 5) == ("Your d", None)


def test_what_no_redraw_helped_is_mended() -> None:
    assert check("hi").shown(answer("YourAna\ufffd is here."), 5)[0] == "Your Ana is here."


def test_known_texts_follow_book_and_journal(tmp_path: Path) -> None:
    journal, book = Journal(tmp_path / "journal.sqlite3"), tmp_path / "book.txt"
    texts = KnownTexts(journal, book)
    first = texts.now()
    assert texts.now() is first, "made once"
    append_entry(book, [("user", "what is my car"), ("assistant", "A red one.")])
    (lesson,) = journal.add_lessons([TAUGHT])
    after = texts.now()
    assert after.answers["what is my car"] == {"a red one"}
    assert after.answers["what is my dog called"] == {fold(TAUGHT.answer)}
    journal.retract(lesson.id)
    assert "what is my dog called" not in texts.now().answers
    book.write_bytes(b"no book\n")
    assert "what is my car" not in texts.now().answers
    journal.close()


def test_headings_of_the_owner_are_no_ours(tmp_path: Path) -> None:
    book = tmp_path / "book.txt"
    book.write_text("# Comfort in need\n<|user|> a <|assistant|> Bo.\n")
    journal = Journal(tmp_path / "journal.sqlite3")
    assert "bo" not in KnownTexts(journal, book).now().comfort
    journal.close()


def test_entries_are_compared_without_their_heading() -> None:
    assert BookEntry((("user", "a"), ("assistant", "b")), 1, "x") == BookEntry(
        (("user", "a"), ("assistant", "b")), 1
    )
    assert MAX_REFUSALS >= 1


def test_how_sure_a_model_is_is_measured_by_its_own_exponent() -> None:
    turns = (Turn("user", "What is my dog called?"),)
    said = answer("Rex", (-0.4, -0.4))
    sure = {
        exponent: AnswerCheck(turns, Known.of(BOOK, ()), True, exponent=exponent)
        for exponent in (0.5, 4.0)
    }
    assert sure[0.5].shown(said, 1)[1] == pytest.approx(0.67, abs=0.01)
    assert sure[4.0].shown(said, 1)[1] == pytest.approx(0.04, abs=0.01)
    assert sure[4.0].at_a_loss([said]) and not sure[0.5].at_a_loss([said])


def test_vidya_is_not_the_owner() -> None:
    asked = check("What is my name?")
    assert not asked.acceptable(answer("My name is Vidya.", SURE))
    assert check("What is your name?").acceptable(answer("My name is Vidya.", UNSURE))
    named = Lesson("example", (Turn("user", "What is my name?"),), "My name is Vidya.")
    assert check("What is my name?", lessons=(named,)).acceptable(answer("My name is Vidya."))
