"""What is taught after something that is erased stays, without it; what the model said there does not."""

from __future__ import annotations

import pytest

from engine.config import Sampling
from learning.channels import learn_from_continuation, learn_from_rating, learn_from_selection
from learning.journal.journal import Journal
from learning.protocol.records import Again, Ask, Candidate, Correction, Lesson, Pick, Rating
from tests.learning.journal.erasing.test_erase import correct, say, traces

QUESTIONS = (
    "Where does my sister live?",
    "What is my cat called?",
    "Which tea do I like?",
    "Where do I work?",
)
ANSWERS = ("In Swordfish Bay.", "Your cat is called Tilly.", "You like mint tea.", "At the mill.")


def talk(journal: Journal, *taught: bool) -> tuple[list[Ask], list[Lesson | None]]:
    """A conversation with these questions. taught: whether each answer is typed by the owner, or the model's
    and left standing."""
    asks: list[Ask] = []
    lessons: list[Lesson | None] = []
    said: list[str] = []
    for question, answer, typed in zip(QUESTIONS, ANSWERS, taught, strict=False):
        conversation = asks[0].conversation if asks else None
        asks.append(say(journal, *said, question, conversation=conversation))
        drawn = Candidate(asks[-1].id, 1, f"drawn for {question}", (1,), (-1.0,), "end", 0)
        journal.add_candidates([drawn])
        if typed:
            lessons.append(correct(journal, asks[-1], answer))
            said += [question, answer]
        else:
            weak = learn_from_continuation(asks[-1], drawn.text)
            journal.set_answer(asks[-1].id, drawn.text, [weak])
            lessons.append(None)
            said += [question, drawn.text]
    return asks, lessons


def texts(journal: Journal, ask: Ask) -> list[str]:
    return [turn.text for turn in journal.ask(ask.id).turns]


@pytest.mark.parametrize("by", ["lesson", "text"])
def test_lessons_of_the_same_conversation_stay_without_it(journal: Journal, by: str) -> None:
    asks, lessons = talk(journal, True, True, True, True)
    first = lessons[0]
    assert first
    named = {"lesson": first.id} if by == "lesson" else {"text": "swordfish"}
    doomed = journal.to_forget(**named)
    later = [one for one in journal.lessons() if len(one.prompt) > 1]
    assert doomed.relearned == tuple(one.id for one in later)
    journal.forget(**named)
    assert traces(journal, "wordfish") == []
    assert [texts(journal, ask) for ask in asks[1:]] == [
        [QUESTIONS[1]],
        [QUESTIONS[1], ANSWERS[1], QUESTIONS[2]],
        [QUESTIONS[1], ANSWERS[1], QUESTIONS[2], ANSWERS[2], QUESTIONS[3]],
    ]
    assert [journal.ask(ask.id).parent for ask in asks[1:]] == [None, asks[1].id, asks[2].id]
    assert [journal.answer(ask.id) for ask in asks[1:]] == list(ANSWERS[1:])
    left = journal.lessons(kinds=["correction"])
    assert [(one.prompt[-1].text, one.answer) for one in left] == list(
        zip(QUESTIONS[1:], ANSWERS[1:], strict=True)
    )
    assert left[-1].prompt == journal.ask(asks[3].id).turns
    assert journal.integrity() == "ok"
    tree = journal.branches(asks[1].conversation)
    assert [node.ask for node in tree.path(asks[3].id)] == [ask.id for ask in asks[1:]]


def test_what_was_said_before_it_stays_as_it_is(journal: Journal) -> None:
    asks, lessons = talk(journal, True, False, True, True)
    third = lessons[2]
    assert third
    before = journal.rows("SELECT * FROM asks WHERE id <= ?", asks[2].id)
    drawn = journal.answer(asks[1].id)
    journal.forget(lesson=third.id)
    assert journal.rows("SELECT * FROM asks WHERE id <= ?", asks[2].id) == before
    assert journal.answer(asks[1].id) == drawn, "the model said that without it"
    assert texts(journal, asks[3]) == [QUESTIONS[0], ANSWERS[0], QUESTIONS[1], drawn, QUESTIONS[3]]
    assert journal.ask(asks[3].id).parent == asks[1].id


def test_what_the_model_said_after_it_goes(journal: Journal) -> None:
    asks, lessons = talk(journal, True, False, True, True)
    first = lessons[0]
    assert first
    drawn = "drawn for"
    assert traces(journal, f"{drawn} {QUESTIONS[2]}"), "a card that was not chosen"
    doomed = journal.to_forget(lesson=first.id)
    assert doomed.asks == (asks[1].id,)
    journal.forget(lesson=first.id)
    for question in QUESTIONS[1:]:
        assert traces(journal, f"{drawn} {question}") == []
    assert traces(journal, f"{drawn} {QUESTIONS[0]}"), "drawn before the answer was taught"
    assert texts(journal, asks[3]) == [QUESTIONS[2], ANSWERS[2], QUESTIONS[3]]
    assert journal.ask(asks[3].id).parent == asks[2].id


@pytest.mark.parametrize("follow_up", ["And why there?", "Does she like it?", "Why?"])
def test_a_message_that_refers_to_it_goes(journal: Journal, follow_up: str) -> None:
    asks, lessons = talk(journal, True, True)
    said = [QUESTIONS[0], ANSWERS[0], follow_up]
    about = say(journal, *said, conversation=asks[0].conversation)
    correct(journal, about, "Because of the sea.")
    other = say(
        journal, *said[:2], QUESTIONS[1], ANSWERS[1], "Why?", conversation=about.conversation
    )
    stays = correct(journal, other, "After an aunt.")
    assert lessons[0]
    doomed = journal.to_forget(lesson=lessons[0].id)
    assert doomed.asks == (about.id,)
    journal.forget(lesson=lessons[0].id)
    assert [turn.text for turn in journal.lesson(stays.id).prompt] == [
        QUESTIONS[1],
        ANSWERS[1],
        "Why?",
    ], "what it refers to is still there"


def test_a_later_message_or_answer_that_says_it_too_goes(journal: Journal) -> None:
    asks, lessons = talk(journal, True)
    said = [QUESTIONS[0], ANSWERS[0]]
    asked = say(journal, *said, "Is Swordfish Bay a cold place?", conversation=asks[0].conversation)
    correct(journal, asked, "It is.")
    told = say(journal, *said, "Where shall we travel?", conversation=asks[0].conversation)
    correct(journal, told, "To Swordfish Bay.")
    assert lessons[0]
    assert journal.to_forget(lesson=lessons[0].id).asks == (asked.id, told.id)
    journal.forget(lesson=lessons[0].id)
    assert traces(journal, "wordfish") == []


def test_a_short_answer_does_not_take_others_with_the_same_word_along(journal: Journal) -> None:
    poodle = say(journal, "Is my dog a poodle?")
    first = correct(journal, poodle, "Yes.")
    tea = say(
        journal,
        "Is my dog a poodle?",
        "Yes.",
        "Do I like black tea?",
        conversation=poodle.conversation,
    )
    correct(journal, tea, "Yes.")
    journal.forget(lesson=first.id)
    assert texts(journal, tea) == ["Do I like black tea?"]
    assert journal.answer(tea.id) == "Yes."


def test_of_a_pick_only_what_was_picked_stays(journal: Journal) -> None:
    asks, lessons = talk(journal, True)
    later = say(journal, QUESTIONS[0], ANSWERS[0], QUESTIONS[1], conversation=asks[0].conversation)
    cards = [Candidate(later.id, n, f"card {n}", (1,), (-1.0,), "end", 0) for n in (1, 2, 3)]
    journal.add_candidates(cards)
    pick = Pick(later.id, 2)
    bad = learn_from_rating(later, "card 1", "bad")
    assert bad and lessons[0]
    journal.judge(Rating(later.id, "bad"), "card 1", [bad])
    number = journal.judge(pick, "card 2", [learn_from_selection(later, pick, cards)])
    journal.forget(lesson=lessons[0].id)
    assert [card.text for card in journal.candidates(later.id)] == ["card 2"]
    (lesson,) = journal.lessons_of(number)
    assert (lesson.answer, lesson.rejected, journal.answer(later.id)) == ("card 2", (), "card 2")
    assert len(journal.judgements(later.id)) == 1
    assert traces(journal, "card 1") == traces(journal, "card 3") == []


def test_an_answer_that_follows_a_reason_stays_without_the_answer_before(journal: Journal) -> None:
    asks, lessons = talk(journal, True)
    again = Again(ANSWERS[0], "shorter")
    asked = journal.add_ask(asks[0].conversation, asks[0].turns, Sampling(), again=again)
    wrong = Lesson("pick", asked.turns, "North.", (ANSWERS[0],), replaces=ANSWERS[0])
    journal.judge(Pick(asked.id, 1), "North.", [wrong])
    assert lessons[0]
    journal.forget(lesson=lessons[0].id)
    assert traces(journal, "wordfish") == []
    left = journal.ask(asked.id)
    assert (left.again, left.turns) == (None, asks[0].turns)
    (lesson,) = journal.lessons(kinds=["pick"])
    assert (lesson.answer, lesson.rejected, lesson.replaces) == ("North.", (), None)


def test_a_text_that_only_an_unchosen_card_has_costs_no_lesson(journal: Journal) -> None:
    ask = say(journal, QUESTIONS[1])
    journal.add_candidates(
        [
            Candidate(ask.id, 1, "Your cat is Swordfish.", (1,), (-1.0,), "end", 0),
            Candidate(ask.id, 2, "Your cat is Milly.", (1,), (-1.0,), "end", 0),
        ]
    )
    lesson = Lesson(
        "correction", ask.turns, ANSWERS[1], ("Your cat is Swordfish.", "Your cat is Milly.")
    )
    journal.judge(Correction(ask.id, ANSWERS[1]), ANSWERS[1], [lesson])
    doomed = journal.to_forget(text="swordfish")
    assert doomed.asks == doomed.lessons == ()
    journal.forget(text="swordfish")
    assert traces(journal, "wordfish") == []
    assert [card.text for card in journal.candidates(ask.id)] == ["Your cat is Milly."]
    (left,) = journal.lessons(kinds=["correction"])
    assert (left.answer, left.rejected) == (ANSWERS[1], ("Your cat is Milly.",))


def test_a_long_talk_of_which_a_lesson_has_only_the_end(journal: Journal) -> None:
    """A lesson stores the last hundred turns before its answer."""
    secret = say(journal, QUESTIONS[0])
    first = correct(journal, secret, ANSWERS[0])
    said = [QUESTIONS[0], ANSWERS[0]]
    for number in range(60):
        ask = say(journal, *said, f"What is fact {number} about?", conversation=secret.conversation)
        correct(journal, ask, f"About {number}.")
        said += [f"What is fact {number} about?", f"About {number}."]
    last = journal.lessons(kinds=["correction"])[-1]
    before = last.prompt
    assert len(before) < 120
    journal.forget(lesson=first.id)
    assert journal.lesson(last.id).prompt == before, "it never had the answer"
    assert len(journal.ask(ask.id).turns) == 119
    middle = journal.lessons(kinds=["correction"])[30]
    assert [turn.text for turn in middle.prompt] == [*said[2:62], "What is fact 30 about?"]


def test_all_that_was_said_after_an_ask_goes_with_it(journal: Journal) -> None:
    asks, _ = talk(journal, True, True, True)
    doomed = journal.to_forget(ask=asks[1].id)
    assert (doomed.asks, doomed.shortened) == ((asks[1].id, asks[2].id), ())


def test_an_early_pick_goes_with_the_rest_of_its_text(journal: Journal) -> None:
    """The judgement has what was seen when it was given; only its answer has the whole text."""
    ask = say(journal, QUESTIONS[1])
    early = journal.judge(Pick(ask.id, 1), "Your cat")
    journal.complete(
        early, "Your cat is Swordfish.", [Lesson("pick", ask.turns, "Your cat is Swordfish.")]
    )
    kept = correct(journal, ask, ANSWERS[1])
    journal.forget(text="swordfish")
    assert traces(journal, "wordfish") == []
    assert [judged.answer for judged in journal.judgements(ask.id)] == [ANSWERS[1]]
    assert journal.judgements_without_lessons() == [], "none whose lesson would be made again"
    assert journal.lessons(kinds=["pick", "correction"]) == [kept]


def corrected_late(journal: Journal) -> tuple[Lesson, list[Ask], Lesson]:
    """Asked, taught further, and only then corrected: (the correction, the asks, what was taught between)."""
    first = say(journal, QUESTIONS[0])
    journal.set_answer(first.id, "By the sea.")
    talked = (QUESTIONS[0], "By the sea.", QUESTIONS[1])
    second = say(journal, *talked, conversation=first.conversation)
    between = correct(journal, second, ANSWERS[1])
    secret = correct(journal, first, ANSWERS[0])
    talked = (QUESTIONS[0], ANSWERS[0], QUESTIONS[1], ANSWERS[1], "Is she a big one?")
    third = say(journal, *talked, conversation=first.conversation)
    correct(journal, third, "She is small.")
    return secret, [first, second, third], between


def test_what_was_taught_before_a_late_correction_stays_before_later_asks(journal: Journal) -> None:
    secret, (_, second, third), between = corrected_late(journal)
    journal.forget(lesson=secret.id)
    assert texts(journal, second) == [QUESTIONS[0], "By the sea.", QUESTIONS[1]]
    assert journal.lesson(between.id) == between, "it never had the erased answer before it"
    assert texts(journal, third) == [QUESTIONS[1], ANSWERS[1], "Is she a big one?"]
    assert journal.answer(third.id) == "She is small."


@pytest.mark.parametrize("by", ["lesson", "text"])
def test_an_ask_whose_parent_became_shorter_shows_its_own_answers(
    journal: Journal, by: str
) -> None:
    first = say(journal, QUESTIONS[0])
    secret = correct(journal, first, ANSWERS[0])
    second = say(journal, QUESTIONS[0], ANSWERS[0], QUESTIONS[1], conversation=first.conversation)
    correct(journal, second, ANSWERS[1])
    correct(journal, first, "In Norway.")
    talked = (QUESTIONS[0], "In Norway.", QUESTIONS[1], ANSWERS[1], QUESTIONS[2])
    third = say(journal, *talked, conversation=first.conversation)
    assert journal.ask(third.id).parent == second.id
    journal.forget(**({"lesson": secret.id} if by == "lesson" else {"text": "swordfish"}))
    assert texts(journal, second) == [QUESTIONS[1]]
    assert [turn.text for turn in journal.turns(first.conversation, third.id)] == list(talked)
    (shown,) = journal.conversation(first.conversation, third.id)
    assert (shown[0].turns, journal.ask(third.id).parent) == (third.turns, None)


def test_the_same_short_answer_to_another_message_is_no_quotation(journal: Journal) -> None:
    poodle = say(journal, "Is my dog a poodle?")
    first = correct(journal, poodle, "Yes.")
    correct(journal, poodle, "No.")
    talked = ("Is my dog a poodle?", "No.", "Do I like black tea?", "Yes.", QUESTIONS[1])
    later = say(journal, *talked, conversation=poodle.conversation)
    journal.set_answer(later.id, "I do not know.")
    doomed = journal.to_forget(lesson=first.id)
    assert (doomed.asks, doomed.shortened) == ((), ())


def test_a_lesson_that_only_rejects_a_text_stays_without_it(journal: Journal) -> None:
    prompt = say(journal, QUESTIONS[1]).turns
    old = "It is Swordfish."
    journal.add_lessons([Lesson("correction", prompt, ANSWERS[1], (old, "Milly."), replaces=old)])
    doomed = journal.to_forget(text="swordfish")
    assert (doomed.lessons, doomed.shortened_lessons) == ((), 1)
    journal.forget(text="swordfish")
    assert traces(journal, "wordfish") == []
    (left,) = journal.lessons(kinds=["correction"])
    assert (left.answer, left.rejected, left.replaces) == (ANSWERS[1], ("Milly.",), None)


def test_what_a_reason_taught_elsewhere_is_no_answer_here(journal: Journal) -> None:
    """The owner corrected what the reason was carried over to: that lesson is stored under the rated ask."""
    asks, lessons = talk(journal, True, False)
    journal.add_lessons(
        [Lesson("example", say(journal, "Good day").turns, "drawn")], ask=asks[1].id
    )
    journal.add_candidates([Candidate(asks[1].id, 2, "drawn", (1,), (-1.0,), "end", 0)])
    assert lessons[0]
    journal.forget(lesson=lessons[0].id)
    assert [lesson.answer for lesson in journal.lessons(kinds=["example"])] == ["drawn"]
    assert journal.candidates(asks[1].id) == []


def test_a_reason_that_says_it_goes_and_what_was_typed_then_stays(journal: Journal) -> None:
    first = say(journal, QUESTIONS[1])
    journal.set_answer(first.id, "It is Milly.")
    again = Again("It is Milly.", "not like my swordfish")
    asked = journal.add_ask(first.conversation, first.turns, Sampling(), again=again)
    kept = correct(journal, asked, ANSWERS[1])
    journal.forget(text="swordfish")
    assert traces(journal, "wordfish") == []
    assert (journal.ask(asked.id).again, journal.lesson(kept.id)) == (None, kept)
