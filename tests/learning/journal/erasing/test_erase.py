"""Erased text is in no row, no page of the file, no log and no backup."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from engine.config import Sampling
from engine.errors import JournalError, NotFound
from learning.channels import learn_from_correction, learn_from_human
from learning.journal.erasing.plan import ErasurePlan
from learning.journal.journal import Journal
from learning.journal.migrations import backups
from learning.journal.practices import (
    add_practice_step,
    begin_practice,
    practice_entries,
    practice_samples,
)
from learning.protocol.events import PracticeSample
from learning.protocol.records import (
    Again,
    Ask,
    Candidate,
    Correction,
    Lesson,
    Pick,
    Rating,
    Turn,
    Turns,
)


def traces(journal: Journal, text: str) -> list[str]:
    """Files beside the journal, and the journal itself, that have the bytes of the text in them."""
    folder = journal.path.parent
    return [file.name for file in folder.iterdir() if text.encode() in file.read_bytes()]


def say(journal: Journal, *texts: str, conversation: int | None = None) -> Ask:
    """An ask as a session makes it, with the rider."""
    turns: Turns = tuple(
        Turn("assistant" if i % 2 else "user", text) for i, text in enumerate(texts)
    )
    talk = conversation or journal.new_conversation()
    return journal.add_ask(talk, turns, Sampling(), lessons=[learn_from_human(turns)])


def correct(journal: Journal, ask: Ask, text: str) -> Lesson:
    lesson = learn_from_correction(ask, text, None)
    number = journal.judge(Correction(ask.id, text), text, [lesson])
    return journal.lessons_of(number)[0]


def test_a_forgotten_conversation_leaves_no_trace_in_any_file(journal: Journal) -> None:
    secret = say(journal, "my password is swordfish")
    journal.add_candidates([Candidate(secret.id, 1, "swordfish, noted", (1,), (-1.0,), "end", 0)])
    correct(journal, secret, "swordfish it is")
    kept = say(journal, "hello")
    correct(journal, kept, "Hi.")
    assert traces(journal, "swordfish")
    doomed = journal.to_forget(conversation=secret.conversation)
    assert doomed == ErasurePlan(asks=(secret.id,), lessons=(1, 2))
    assert journal.forget(conversation=secret.conversation) == 3
    assert traces(journal, "swordfish") == []
    assert journal.integrity() == "ok"
    assert [talk.title for talk in journal.conversations()] == ["hello"]
    assert [lesson.answer for lesson in journal.lessons()] == ["hello", "Hi."]
    with pytest.raises(NotFound):
        journal.conversation(secret.conversation)
    # a number is not given out again
    assert say(journal, "again").id == kept.id + 1


def test_the_file_shrinks_by_what_was_forgotten(journal: Journal) -> None:
    long = say(journal, "x" * 1_000_000)
    journal.forget(ask=long.id)
    files = journal.path.parent.glob(f"{journal.path.name}*")  # the log beside it too
    assert sum(file.stat().st_size for file in files) < 500_000


def test_while_another_program_has_the_journal_open(journal: Journal) -> None:
    other = Journal(journal.path)
    secret = say(other, "swordfish")
    assert other.latest_ask() == secret
    assert journal.forget(ask=secret.id) == 2
    assert traces(journal, "swordfish") == []
    assert other.latest_ask() is None
    other.close()


def test_an_unfinished_erasure_is_said_and_can_be_finished(journal: Journal) -> None:
    secret = say(journal, "swordfish")
    kept = say(journal, "hello")
    reader = sqlite3.connect(journal.path, isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT * FROM asks").fetchall()  # holds on to the old pages
    with journal.reading() as connection:
        connection.execute("PRAGMA busy_timeout = 50")
    with pytest.raises(JournalError) as caught:
        journal.forget(ask=secret.id)
    assert "keeps traces" in caught.value.what
    assert "forget once more" in caught.value.next_step
    reader.close()
    journal.forget(ask=kept.id)
    assert traces(journal, "swordfish") == []


def test_copies_that_migrations_left_go_too(journal: Journal) -> None:
    secret = say(journal, "swordfish")
    copy = journal.path.with_name("journal.sqlite3.before-2")
    copy.write_bytes(b"an older journal with swordfish in it")
    journal.forget(conversation=secret.conversation)
    assert list(backups(journal.path)) == []
    assert traces(journal, "swordfish") == []


def test_a_forgotten_lesson_takes_along_the_offers_of_it(journal: Journal) -> None:
    first, second = say(journal, "what is my pin"), say(journal, "the code, what is it")
    lesson = correct(journal, first, "Your pin is swordfish.")
    made = [(second.id, 2, lesson.answer), (second.id, 3, "Your pin is new.")]
    picked = say(journal, "which pin have i")
    made += [(picked.id, 1, lesson.answer)]
    journal.add_candidates([Candidate(*one, (1,), (-1.0,), "end", 0) for one in made])
    number = journal.judge(Pick(picked.id, 1), lesson.answer, [replace(lesson, kind="pick")])
    (own,) = journal.lessons_of(number)
    journal.forget(lesson=lesson.id)
    kept = {(row[0], row[1]) for row in journal.rows("SELECT ask, number FROM candidates")}
    assert kept == {(second.id, 3), (picked.id, 1)}, "what was picked is a lesson of its own"
    journal.forget(lesson=own.id)
    assert traces(journal, "swordfish") == []


def test_a_forgotten_answer_is_found_with_any_white_space_around_it(journal: Journal) -> None:
    """A model may end an answer with a line break; what is picked has none."""
    ask = say(journal, "what is my pin\n")
    journal.add_candidates([Candidate(ask.id, 1, "swordfish\n\xa0", (1,), (-1.0,), "end", 0)])
    lesson = Lesson("pick", ask.turns, "swordfish")
    journal.judge(Pick(ask.id, 1), "swordfish", [lesson])
    journal.drop_unchosen()
    assert len(journal.candidates(ask.id)) == 1, "it is what was chosen"
    run = begin_practice(journal, "taste", {"seed": 1})
    sample = PracticeSample(1, "what is my pin", "It may be.", 0.5, {"taste": 0.5})
    add_practice_step(journal, run, 1, {"loss": 0.5}, [sample])
    assert journal.to_forget(ask=ask.id).practices == (run,)
    (taught,) = journal.lessons(kinds=["pick"])
    journal.forget(lesson=taught.id)
    assert traces(journal, "swordfish") == []


def test_a_forgotten_ask_takes_along_whatever_quotes_it(journal: Journal) -> None:
    first = say(journal, "hello")
    talk = first.conversation
    secret = say(journal, "hello", "Hi.", "swordfish", conversation=talk)
    again = say(journal, "hello", "Hi.", "swordfish", conversation=talk)  # asked anew
    quoting = say(journal, "hello", "Hello!", "swordfish", "Ok.", "bye", conversation=talk)
    branch = say(journal, "hello", "Hi.", "sword", conversation=talk)
    elsewhere = say(journal, "hello")
    assert journal.to_forget(ask=secret.id).asks == (secret.id, again.id, quoting.id)
    journal.forget(ask=secret.id)
    assert traces(journal, "swordfish") == []
    kept = {row[0] for row in journal.rows("SELECT id FROM asks")}
    assert kept == {first.id, branch.id, elsewhere.id}


def test_a_forgotten_lesson_takes_its_judgement_and_the_answer(journal: Journal) -> None:
    ask = say(journal, "hello")
    lesson = correct(journal, ask, "swordfish")
    later = say(journal, "hello", "swordfish", "and?", conversation=ask.conversation)
    other = say(journal, "hello", "Hi.", "and?", conversation=ask.conversation)
    again = Again("swordfish", "shorter")
    asked = journal.add_ask(ask.conversation, ask.turns, Sampling(), again=again)
    doomed = journal.to_forget(lesson=lesson.id)
    assert doomed.asks == (later.id, asked.id), "also the ask that was to answer otherwise"
    assert journal.forget(lesson=lesson.id) == 4  # itself, these, and the later one's rider
    assert traces(journal, "swordfish") == []
    assert journal.answer(ask.id) is None
    assert journal.judgements(ask.id) == []
    assert {row[0] for row in journal.rows("SELECT id FROM asks")} == {ask.id, other.id}
    with pytest.raises(NotFound):
        journal.ask(later.id)


def test_later_lessons_quote_a_forgotten_answer_no_more(journal: Journal) -> None:
    """Otherwise taking the later lesson back would bring it again, into the book and into the weights."""
    ask, other, third = (say(journal, text) for text in ("what is my pin", "and the code", "pin?"))
    secret = correct(journal, ask, "swordfish")
    journal.add_candidates([Candidate(other.id, 1, "swordfish", (1,), (-1.0,), "end", 0)])
    correction = learn_from_correction(ask, "12 34", "swordfish")
    offered = Lesson("pick", other.turns, "no idea", ("swordfish", "12"))
    kept = Lesson("pick", third.turns, "no idea", ("12",), replaces="12")
    judged = ((Correction(ask.id, "12 34"), correction), (Pick(other.id, 2), offered))
    for judgement, lesson in (*judged, (Pick(third.id, 1), kept)):
        journal.judge(judgement, lesson.answer, [lesson])
    journal.forget(lesson=secret.id)
    assert traces(journal, "swordfish") == []
    left = journal.lessons(kinds=["pick", "correction"])
    assert [(x.answer, x.rejected, x.replaces) for x in left] == [
        ("12 34", (), None),
        ("no idea", ("12",), None),
        ("no idea", ("12",), "12"),
    ]


def test_a_reason_that_was_carried_over_to_a_forgotten_message_goes_with_it(
    journal: Journal,
) -> None:
    rated, secret, usual = (say(journal, text) for text in ("hello", "my swordfish?", "bye"))
    number = journal.judge(Rating(rated.id, "bad", "shorter"), "Hi.")
    carried = [Lesson("reason", one.turns, "Yes.", ("Yes, it is.",)) for one in (secret, usual)]
    gone, kept = journal.add_lessons(carried, number)
    assert gone.id in journal.to_forget(conversation=secret.conversation).lessons
    say(journal, "bye")
    assert journal.to_forget(ask=usual.id).lessons == (3,), "the message is another ask's too"
    journal.forget(conversation=secret.conversation)
    assert traces(journal, "swordfish") == []
    assert journal.lessons_of(number) == [kept]


def test_a_lesson_from_a_file_is_forgotten_alone(journal: Journal) -> None:
    one, two = journal.add_lessons(
        [Lesson("example", (Turn("user", "q"),), text) for text in ("swordfish", "kept")]
    )
    assert journal.forget(lesson=one.id) == 1
    assert journal.lessons() == [two]


@pytest.mark.parametrize(
    "wanted", ["SWORDFISH", 'say "swordfish"', '"swordfish" please', 'say\n"swordfish"']
)
def test_a_forgotten_text_is_found_wherever_it_stands(journal: Journal, wanted: str) -> None:
    kept = say(journal, "hello")
    said = 'Say "SwordFish"\nplease'
    in_message, in_history = say(journal, said), say(journal, "hello", said, "bye")
    in_candidate, in_answer, in_judgement = say(journal, "1"), say(journal, "2"), say(journal, "3")
    journal.add_candidates([Candidate(in_candidate.id, 1, said, (), (), "end", 0)])
    journal.set_answer(in_answer.id, said)
    correct(journal, in_judgement, said)
    prompt = (Turn("user", "q"),)
    journal.add_lessons(
        [
            Lesson("example", (Turn("user", said),), "a"),
            Lesson("example", prompt, "", rejected=(said,)),
            Lesson("example", prompt, "instead", rejected=(said,)),
            Lesson("example", prompt, "new", replaces=said),
            Lesson("example", prompt, "kept"),
        ]
    )
    doomed = journal.to_forget(text=wanted)
    assert doomed.asks == tuple(
        ask.id for ask in (in_message, in_history, in_candidate, in_answer, in_judgement)
    )
    journal.forget(text=wanted)
    assert traces(journal, "SwordFish") == []
    left = [(lesson.answer, lesson.rejected, lesson.replaces) for lesson in journal.lessons()]
    # a lesson with another answer stays, and the text is removed from it
    assert left == [(text, (), None) for text in ("hello", "instead", "new", "kept")]
    assert journal.latest_ask() == kept


def test_a_forgotten_text_is_found_in_reasons_and_in_what_was_answered_again(
    journal: Journal,
) -> None:
    rated, old, reason = say(journal, "1"), say(journal, "2"), say(journal, "3")
    journal.judge(Rating(rated.id, "bad", "not like Swordfish"), "Hi.")
    again = [
        journal.add_ask(one.conversation, one.turns, Sampling(), again=why)
        for one, why in (
            (old, Again("Swordfish!", "shorter")),
            (reason, Again("Hi.", "as Swordfish would")),
        )
    ]
    doomed = journal.to_forget(text="swordfish")
    assert doomed.asks == (rated.id, *(ask.id for ask in again))
    journal.forget(text="swordfish")
    assert traces(journal, "Swordfish") == []
    assert journal.ask(old.id) == old


def test_all_is_all_but_the_numbers_of_the_weights(journal: Journal) -> None:
    ask = say(journal, "swordfish")
    lesson = correct(journal, ask, "swordfish!")
    journal.add_publication(4, 0, (lesson.id,))
    journal.add_step([lesson.id], 0.5, 32, 0.1, "lesson")
    journal.new_conversation()
    assert journal.forget(all=True) == 3
    assert traces(journal, "swordfish") == []
    assert journal.latest_ask() is None
    assert journal.lessons() == []
    assert journal.rows("SELECT * FROM conversations") == []
    assert journal.latest_version() == 4  # the weights on the disk have that number
    assert journal.integrity() == "ok"


def test_what_is_not_there_or_not_one_thing_is_refused(journal: Journal) -> None:
    say(journal, "hello")
    for named in ({"ask": 9}, {"conversation": 9}, {"lesson": 9}, {"text": "swordfish"}):
        with pytest.raises(NotFound):
            journal.forget(**named)
    for named in (
        {},
        {"text": ""},
        {"text": " \n"},
        {"ask": 1, "lesson": 1},
        {"all": True, "ask": 1},
    ):
        with pytest.raises(JournalError, match="name one thing"):
            journal.forget(**named)
    assert len(journal.conversations()) == 1


def test_a_text_in_a_title_alone_is_found_and_its_conversation_stays(journal: Journal) -> None:
    ask = say(journal, "hello")
    journal.rename(ask.conversation, "the Swordfish affair")
    assert journal.to_forget(text="swordfish") == ErasurePlan((), (), titles=(ask.conversation,))
    assert journal.forget(text="swordfish") == 1
    assert traces(journal, "Swordfish") == []
    assert [talk.title for talk in journal.conversations()] == ["hello"]


def test_practice_on_a_message_is_forgotten_with_it(journal: Journal) -> None:
    """`vidya practice taste` practises on the owner's own messages."""
    secret, other = say(journal, " is it swordfish? "), say(journal, "hello")
    for problem in ("is it swordfish?", "hello"):
        run = begin_practice(journal, "taste", {"seed": 1})
        sample = PracticeSample(1, problem, "It may be.", 0.5, {"taste": 0.5})
        add_practice_step(journal, run, 1, {"loss": 0.5}, [sample])
    assert journal.to_forget(ask=other.id).practices == (2,)
    journal.forget(conversation=secret.conversation)
    assert [entry.id for entry in practice_entries(journal)] == [2]
    assert not traces(journal, "swordfish")


def test_answers_of_practice_are_forgotten_with_what_they_quote(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "j.sqlite3")
    for prompt in ("my cat Tilly", "3 + 4"):
        run = begin_practice(journal, "taste", {"seed": 1})
        sample = PracticeSample(1, prompt, "an answer", 1.0, {"correct": 1.0})
        add_practice_step(journal, run, 1, {"loss": 0.5}, [sample])
    journal.forget(text="tilly")
    assert [entry.id for entry in practice_entries(journal)] == [2]
    assert practice_samples(journal, 1) == [] and len(practice_samples(journal, 2)) == 1
    journal.forget(all=True)
    assert practice_entries(journal) == []
    journal.close()
