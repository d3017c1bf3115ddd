"""What the owner told in earlier talks is found for a question about it, and for no other."""

from __future__ import annotations

import time

import pytest

from engine.config import Sampling
from engine.encoder import shipped_encoder
from engine.errors import CheckpointError
from learning.journal.journal import Journal
from learning.lessons.learner import Learner
from learning.protocol.records import Ask, Lesson, Turn
from learning.teacher import mentions as module
from learning.teacher import recall as recall_module
from learning.teacher.mentions import LEAST_CHANGED, OF_KIND, Mention, Mentions
from learning.teacher.recall import LessonRecall
from learning.text.mention import said_back
from personality.book import read_book, shipped_book_path
from tests.learning.teacher.conftest import Place
from tests.learning.teacher.test_recall import Talk, lesson, teach
from vidya_tui.session.session import Session

SISTER = "my sister is called Ingrid, she lives up in Tromso"
CAT = "we have a fat old tabby, Biscotti, who sleeps in the laundry basket"
ASKED = "What is the name of my sister?"
COMMON = [turn for entry in read_book(shipped_book_path()) for _, turn in entry.turns]


def say(journal: Journal, *messages: str) -> list[Ask]:
    return [
        journal.add_ask(journal.new_conversation(), (Turn("user", text),), Sampling())
        for text in messages
    ]


def found(journal: Journal, message: str, *said: str) -> list[str]:
    return [one.text for one in mentioned(journal, message, *said)]


def mentioned(journal: Journal, message: str, *said: str) -> list[Mention]:
    mentions = Mentions(journal, lambda: COMMON)
    while mentions.step():
        pass
    return mentions.find(message, shipped_encoder().encode([message]), said)


def test_what_was_told_is_found_in_other_words(journal: Journal) -> None:
    say(journal, SISTER, CAT, "I feel a bit hollow today.", "Is my sister called Astrid?")
    assert found(journal, ASKED) == [SISTER]
    assert found(journal, "Biscotti's bed, which spot is it?") == [CAT]
    assert found(journal, "Do you know how my sister is called?") == [SISTER]
    assert found(journal, "How is the weather in Spain?") == []
    assert found(journal, ASKED.upper()) == [SISTER]


@pytest.mark.parametrize(
    "message",
    [
        "What is Tom's sister called?",
        "WHAT IS TOM'S SISTER CALLED?",
        "What is the name of my brother?",
        "Is your sister called Ingrid?",
    ],
)
def test_what_is_asked_of_somebody_else_is_not_answered(journal: Journal, message: str) -> None:
    say(journal, SISTER)
    assert found(journal, ASKED) and not found(journal, message)


def test_a_statement_of_the_kind_that_is_asked_for_is_likely(journal: Journal) -> None:
    nurse, home = "I work as a nurse at the county hospital", "we moved to Bergen in spring"
    say(journal, SISTER, nurse, home)
    mentions = Mentions(journal, lambda: COMMON)
    while mentions.step():
        pass
    for message, told in (("What do I do for a living?", nurse), ("Where do I live?", home)):
        first = mentions.find(message, shipped_encoder().encode([message]))[0]
        assert (first.text, first.of_kind) == (told, True) and first.likely >= OF_KIND
    message = "What is my brother's job?"
    assert not any(x.of_kind for x in mentions.find(message, shipped_encoder().encode([message])))


def test_a_statement_without_what_is_asked_for_is_less_likely(journal: Journal) -> None:
    place, no_place = (
        "I play football in the park by the river",
        "I play football every single week",
    )
    message, likely = "Where do I play football?", dict[str, float]()
    for text in (place, no_place):
        say(journal, text)
    mentions = Mentions(journal, lambda: COMMON)
    while mentions.step():
        pass
    for one in mentions.find(message, shipped_encoder().encode([message])):
        likely[one.text] = one.likely
    assert likely[place] > 0.7 > likely.get(no_place, 0.0)


def test_one_sentence_may_tell_of_somebody_else(journal: Journal) -> None:
    two = "My sister is called Ingrid. My neighbour's sister is called Kim."
    say(journal, "My neighbours' sister is called Kim.", two)
    assert found(journal, ASKED) == [two]


def test_what_he_did_himself_his_relatives_did_not(journal: Journal) -> None:
    tree = "I planted a quince tree last autumn, it's already taller than the fence"
    say(journal, tree)
    assert found(journal, "Which tree did I plant?") == [tree]
    assert not found(journal, "Which tree did my mum plant?")
    assert found(journal, "Which tree did my mum and I plant?") == [tree]


def test_it_may_be_asked_who_somebody_is(journal: Journal) -> None:
    say(journal, SISTER)
    assert found(journal, "Who is Ingrid?") == [SISTER]
    assert not found(journal, "Who is Astrid?") and not found(journal, "What is a sister?")


def test_what_has_no_number_does_not_answer_how_old_somebody_is(journal: Journal) -> None:
    say(journal, SISTER)
    assert found(journal, "How old is my sister?") == []
    aged = f"{SISTER}, she is forty"
    say(journal, aged)
    assert found(journal, "How old is my sister?") == [aged]


TAUGHT = (ASKED, "Your sister is called Ingrid.")


def changed(journal: Journal, message: str = ASKED, taught: tuple[str, str] = TAUGHT) -> str:
    mentions = Mentions(journal, lambda: COMMON)
    while mentions.step():
        pass
    when = dict(journal.messages(99))
    told = mentions.changed(message, *taught, when[SISTER])
    return told.text if told else ""


def test_what_has_changed_since_a_lesson_is_found(journal: Journal) -> None:
    say(journal, "my sister is called Astrid now", SISTER)
    assert changed(journal) == "", "that was before"
    say(journal, CAT, SISTER.replace("Ingrid", "Runa"), "my sister moved to Oslo", "I moved too")
    assert changed(journal) == "", "none of them tells that her name has changed"
    now = "my sister is called Runa now"
    say(journal, "my brother is called Ole now", now)
    assert changed(journal) == now
    newest = "in fact my sister is called Tora now"
    say(journal, newest)
    assert changed(journal) == newest
    assert changed(journal, "What is Tom's sister called?") == ""
    assert changed(journal, CAT, ("Where does our cat sleep?", "In the basket.")) == ""
    say(journal, "my neighbour's sister is called Kim now", "hey what is my sister called now")
    assert changed(journal) == newest, "neither is the owner's"
    say(journal, "everybody likes my sister's name", "my sister is called Tora")
    assert changed(journal) == newest, "it is not taken back"
    say(journal, "my sister is called Ingrid after all")
    assert changed(journal) == "", "it is taken back"


@pytest.mark.parametrize(
    "now", ["I live in Oslo now.", "We've moved to Oslo", "i moved to Oslo in May"]
)
def test_a_change_of_a_known_kind_needs_no_rare_words(journal: Journal, now: str) -> None:
    say(journal, SISTER, now)
    lives = ("Where do I live?", "You live in Bergen.")
    assert changed(journal, lives[0], lives) == now
    say(journal, "I live in a flat", "I live in Bergen")
    assert changed(journal, lives[0], lives) == "", "it is taken back"


def test_a_change_is_of_the_lesson_that_was_asked_for(
    tiny_place: Place, recall: LessonRecall, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = tiny_place[2]
    now = "my sister is called Runa now"
    (lesson,) = journal.add_lessons(
        [Lesson("example", (Turn("user", ASKED),), "Your sister is called Ingrid.")]
    )
    say(journal, now)
    told = recall.changed(ASKED)
    assert told and told.text == now and told.likely >= LEAST_CHANGED
    other = "Which name has my sister got?"
    found = recall.changed(other, lesson)
    assert recall.changed(other) is None and found and found.text == now
    monkeypatch.setattr(recall_module, "AT_ONCE", 0)
    say(journal, CAT)
    assert recall.changed(ASKED) is None, "it would take long"


def test_what_stands_in_the_conversation_already_is_not_quoted(journal: Journal) -> None:
    say(journal, SISTER)
    assert found(journal, ASKED, f"Listen, {SISTER}") == [SISTER], "in other words"
    assert found(journal, ASKED, SISTER.upper()) == []
    assert found(journal, f"Hello! {ASKED}") == [SISTER]
    say(journal, f"{SISTER}.")
    assert found(journal, f"{SISTER}. {ASKED}") == [], "the message says it itself"


def test_the_newest_of_messages_that_are_as_near_comes_first(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    say(journal, SISTER, SISTER.replace("Ingrid", "Runa"), CAT, SISTER)
    newest = SISTER.replace("Ingrid", "Astrid")
    say(journal, newest)
    assert found(journal, ASKED) == [newest, SISTER, SISTER.replace("Ingrid", "Runa")]
    monkeypatch.setattr(module, "MOST", 1)
    assert found(journal, ASKED) == [newest]
    monkeypatch.setattr(module, "NEWEST", 1)
    say(journal, CAT)
    assert found(journal, ASKED) == [], "only so many messages are looked at"


def test_what_is_denied_does_not_come_first_for_being_newer(journal: Journal) -> None:
    say(journal, SISTER, "my sister is not called Astrid")
    assert found(journal, ASKED)[0] == SISTER


def test_of_an_edited_message_only_the_newest_wording_is_looked_at(journal: Journal) -> None:
    (first,) = say(journal, SISTER.replace("Ingrid", "Ingird"))
    journal.add_ask(first.conversation, (Turn("user", SISTER),), Sampling())
    assert found(journal, ASKED) == [SISTER]


def test_only_so_much_is_looked_at(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    say(journal, SISTER, CAT)
    monkeypatch.setattr(module, "MOST_TOLD", 1)
    assert found(journal, ASKED) == []
    assert found(journal, "Where does our tabby Biscotti sleep?") == [CAT]


def test_what_was_erased_is_not_found(journal: Journal) -> None:
    first, _ = say(journal, SISTER, CAT)
    mentions = Mentions(journal, lambda: COMMON)
    while mentions.step():
        pass
    parts = shipped_encoder().encode([ASKED])
    assert mentions.find(ASKED, parts)
    journal.forget(ask=first.id)
    mentions.refresh()
    assert not mentions.find(ASKED, parts) and not mentions.missing()


def test_only_what_has_a_vector_is_found(
    tiny_place: Place, learner: Learner, recall: LessonRecall, monkeypatch: pytest.MonkeyPatch
) -> None:
    say(tiny_place[2], SISTER)
    assert [one.text for one in recall.mentioned(ASKED)] == [SISTER], "one is computed at once"
    monkeypatch.setattr(recall_module, "AT_ONCE", 0)
    say(tiny_place[2], CAT)
    assert recall.mentioned(ASKED) == [], "it would take long"
    recall.prepare()
    assert recall.mentioned(ASKED) and recall.mentioned(" ") == []
    patient = LessonRecall(learner, tiny_place[2], lambda _: None)
    assert patient.mentioned(ASKED), "it waits for all"
    ended = LessonRecall(learner, tiny_place[2], lambda _: None)
    ended.close()
    assert ended.mentioned(ASKED) == [], "it was told to end"
    monkeypatch.setattr(recall_module, "PATIENCE", 0.01)
    with recall._lock:
        assert recall.mentioned(ASKED) == [], "another thread is at work"

    def damaged() -> None:
        raise CheckpointError("the encoder cannot be read")

    monkeypatch.setattr(recall_module, "shipped_encoder", damaged)
    assert recall.mentioned(f"{ASKED} please") == []


def test_an_answer_waits_only_so_long_for_what_was_said(
    tiny_place: Place, learner: Learner, monkeypatch: pytest.MonkeyPatch
) -> None:
    say(tiny_place[2], SISTER)
    recall = LessonRecall(learner, tiny_place[2], lambda _: None)
    monkeypatch.setattr(recall_module, "AT_ONCE", 0)
    monkeypatch.setattr(recall_module, "WAIT", 0.0)
    assert recall.mentioned(ASKED) == []
    monkeypatch.setattr(recall_module, "WAIT", 60.0)
    assert recall.mentioned(ASKED) == [], "once for each message"
    assert [one.text for one in recall.mentioned(f"Hello! {ASKED}")] == [SISTER]
    monkeypatch.setattr(recall_module, "AT_ONCE", 1)
    say(tiny_place[2], SISTER.replace("Ingrid", "Runa"))
    found = recall.mentioned(f"Hello! {ASKED}")
    assert len(found) == 2, "one that was said since is looked at, though the question is the same"


def test_what_was_said_is_made_ready_for_the_next_question(
    tiny_place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recall_module, "AT_ONCE", 0)
    talk = Talk(tiny_place)
    try:
        session = Session(tiny_place[2], talk.teacher, sampling=Sampling(max_tokens=8), seed=0)
        session.say(SISTER)
        talk.done(session)
        recall = talk.teacher._recall  # type: ignore[attr-defined]
        until = time.monotonic() + 60
        while not (found := recall.mentioned(ASKED)) and time.monotonic() < until:
            time.sleep(0.05)
        assert [one.text for one in found] == [SISTER]
    finally:
        talk.teacher.close()


def test_a_card_quotes_the_owner_and_says_when(tiny_place: Place) -> None:
    (told,) = say(tiny_place[2], SISTER)
    talk = Talk(tiny_place)
    try:
        session = Session(tiny_place[2], talk.teacher, sampling=Sampling(max_tokens=60), seed=0)
        session.offers = True
        session.say(ASKED)
        (quote,) = [event for event in talk.done(session) if event.said_at is not None]
        assert quote.candidate.text == said_back(SISTER) and quote.said_at == pytest.approx(
            told.created
        )
        assert quote.candidate.offered and quote.recalled is None
        (card,) = [card for card in session.cards if card.said == quote.candidate.text]
        assert "what you said (today" in card.facts()
        assert card.confidence and card == session.cards[0], "it is likely asked for"
        session.regenerate()
        assert not [event for event in talk.done(session) if event.said_at], "it was offered before"
        session.say(SISTER)
        assert not [event for event in talk.done(session) if event.said_at], "nothing is asked"
        session.say(ASKED)
        assert not [event for event in talk.done(session) if event.said_at], "it was said just now"
    finally:
        talk.teacher.close()


@pytest.mark.parametrize("n", [1, 2])
def test_of_few_answers_or_without_offers_one_says_it(tiny_place: Place, n: int) -> None:
    say(tiny_place[2], SISTER)
    talk = Talk(tiny_place)
    try:
        for recall, offers in ((True, False), (False, True), (False, False)):
            session = Session(tiny_place[2], talk.teacher, sampling=Sampling(max_tokens=60), seed=0)
            session.candidates, session.recall, session.offers = n, recall, offers
            session.say(ASKED)
            said = [event.candidate for event in talk.done(session) if event.said_at is not None]
            assert [one.text for one in said] == [said_back(SISTER)][: recall or offers]
            assert all(one.offered and (one.certainty or 0.0) >= 0.7 for one in said)
    finally:
        talk.teacher.close()


@pytest.mark.parametrize("n", [1, 5])
def test_what_has_changed_comes_before_what_was_taught(tiny_place: Place, n: int) -> None:
    journal, now = tiny_place[2], "my sister is called Runa now"
    journal.add_lessons(
        [Lesson("example", (Turn("user", ASKED),), "Your sister is called Ingrid.")]
    )
    talk = Talk(tiny_place)
    try:
        session = Session(journal, talk.teacher, sampling=Sampling(max_tokens=40), seed=0)
        session.candidates, session.recall, session.offers = n, True, True
        session.say(now)
        talk.done(session)
        session.say(ASKED)
        (told,) = [event for event in talk.done(session) if event.said_at is not None]
        assert told.candidate.text == said_back(now), "though it was said in this talk"
        assert session.cards[0].said == told.candidate.text
        taught = [card for card in session.cards if "Ingrid" in card.said]
        assert len(taught) == (n > 1), "the lesson waits to be learned"
        assert all((card.confidence or 0.0) < 0.3 for card in taught)
        session.regenerate()
        again = talk.done(session)
        assert not [event for event in again if event.said_at], "it was shown before"
        sure = [
            event.candidate.certainty or 0.0 for event in again if "Ingrid" in event.candidate.text
        ]
        assert all(one < 0.3 for one in sure)
    finally:
        talk.teacher.close()


def test_what_is_told_of_a_name_is_told_of_who_has_it(journal: Journal) -> None:
    say(journal, "Helen is my wife", "our son Leo hates peas", "Helen turned 46 yesterday")
    assert found(journal, "How old is my wife?")[:1] == ["Helen turned 46 yesterday"]
    assert found(journal, "What does Leo hate?")[:1] == ["our son Leo hates peas"]
    assert found(journal, "who is helen")[:1] == ["Helen is my wife"]
    say(journal, "my wife is allergic to nuts")
    assert found(journal, "What is Helen allergic to?")[:1] == ["my wife is allergic to nuts"]
    say(journal, "my wife is called Ida")
    for one in mentioned(journal, "How old is my wife?"):
        assert not one.named and not one.of_kind and one.likely < 0.5, "which of the two?"


def test_a_lesson_may_tell_the_name(tiny_place: Place, recall: LessonRecall) -> None:
    journal = tiny_place[2]
    wife = lesson("What is my wife called?", "Your wife is called Helen.")
    work = lesson("Where does Helen work?", "Helen works at the mill.")
    teach(journal, wife, work, learned=True)
    say(journal, "Helen turned 46 yesterday")
    recall.prepare()
    assert recall.mentioned("How old is my wife?")[0].text == "Helen turned 46 yesterday"
    found = recall.find("Where does my wife work?")
    assert found and found.answer == "Helen works at the mill."
