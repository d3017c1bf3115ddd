"""learning.journal.journal: records are kept, and only `forget` deletes them."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.config import Sampling
from engine.errors import JournalError, NotFound
from learning.journal.journal import Journal
from learning.protocol.records import Ask, Candidate, Correction, Lesson, Pick, Turn, Turns

SAMPLING = Sampling(temperature=0.5, max_tokens=7)


def user(*texts: str) -> Turns:
    """Turns that begin with the owner and alternate."""
    return tuple(Turn("assistant" if i % 2 else "user", text) for i, text in enumerate(texts))


def candidate(ask: Ask, index: int, text: str) -> Candidate:
    return Candidate(ask.id, index, text, (7, 4_000_000_000), (-0.1, -1e-300), "end", 3)


def lesson(answer: str = "yes", **fields: object) -> Lesson:
    return Lesson(**{"kind": "pick", "prompt": user("q"), "answer": answer, **fields})  # type: ignore[arg-type]


def ask(journal: Journal, *texts: str, conversation: int | None = None) -> Ask:
    turns = user(*(texts or ("hello",)))
    return journal.add_ask(conversation or journal.new_conversation(), turns, SAMPLING)


# ---------------------------------------------------------------- asks and candidates


def test_an_ask_comes_back_as_it_was_after_reopening(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "j")
    turns = user('a "quoted"\nline', "ans\twer", "¿qué? 🐕 \x00 \x1b[1m <|assistant|>")
    rider = Lesson("owner_words", turns[:-1], turns[-1].text, weight=0.02)
    given_ = journal.add_ask(journal.new_conversation(), turns, SAMPLING, 11, [rider])
    journal.close()
    journal = Journal(tmp_path / "j")
    assert journal.ask(given_.id) == given_
    assert journal.latest_ask() == given_
    assert (given_.turns, given_.sampling, given_.seed) == (turns, SAMPLING, 11)
    assert [(r.kind, r.prompt, r.answer) for r in journal.riders()] == [
        ("owner_words", turns[:-1], turns[-1].text)
    ]
    journal.close()


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.text())
def test_any_text_survives(journal: Journal, text: str) -> None:
    first = ask(journal, text)
    assert journal.ask(first.id).turns[0].text == text
    journal.judge(Correction(first.id, text), text, [lesson(text, rejected=(text,))])
    assert journal.answer(first.id) == text
    newest = journal.last_lesson()
    assert newest is not None
    assert (newest.answer, newest.rejected) == (text, (text,))


def test_half_characters_become_question_marks(journal: Journal) -> None:
    assert ask(journal, "a\ud800b").turns == user("a?b")


def test_an_ask_needs_a_message_and_a_conversation(journal: Journal) -> None:
    with pytest.raises(JournalError, match="must end with the owner's message"):
        journal.add_ask(journal.new_conversation(), user("a", "b"), SAMPLING)
    with pytest.raises(JournalError):
        journal.add_ask(journal.new_conversation(), (), SAMPLING)
    with pytest.raises(NotFound, match="conversation 99"):
        journal.add_ask(99, user("a"), SAMPLING)
    with pytest.raises(NotFound, match="ask 5"):
        journal.ask(5)
    assert journal.latest_ask() is None
    with pytest.raises(JournalError, match="number too large"):
        journal.add_ask(1, user("a"), SAMPLING, seed=2**70)


def test_candidates_are_appended_and_repeats_passed_over(journal: Journal) -> None:
    first = ask(journal)
    both = [candidate(first, 1, "one"), candidate(first, 2, "two")]
    journal.add_candidates(both)
    journal.add_candidates(both)
    assert journal.candidates(first.id) == both
    assert journal.row("SELECT count(*) FROM candidates") == (2,)
    anew = candidate(first, 2, "zwei")
    journal.add_candidates([anew])
    assert journal.candidates(first.id) == [both[0], anew]
    assert journal.row("SELECT count(*) FROM candidates") == (3,)
    with pytest.raises(NotFound, match="ask 99"):
        journal.add_candidates([Candidate(99, 1, "", (), (), "end", 0)])


# ---------------------------------------------------------------- conversations


def test_a_conversation_is_its_asks_in_order_with_their_answers(journal: Journal) -> None:
    first = ask(journal, "hello")
    talk = first.conversation
    journal.judge(Pick(first.id, 1), "Hi.", [lesson("Hi.")])
    second = ask(journal, "hello", "Hi.", "how are you?", conversation=talk)
    assert journal.conversation(talk) == [(first, "Hi."), (second, None)]
    assert journal.turns(talk) == user("hello", "Hi.", "how are you?")
    journal.set_answer(second.id, "Well.")
    assert journal.turns(talk) == user("hello", "Hi.", "how are you?", "Well.")
    assert journal.turns(journal.new_conversation()) == ()
    with pytest.raises(NotFound):
        journal.conversation(99)
    with pytest.raises(NotFound):
        journal.turns(99)


def test_an_ask_made_anew_takes_the_place_of_the_old(journal: Journal) -> None:
    first = ask(journal, "hello")
    talk = first.conversation
    journal.set_answer(first.id, "Hm.")
    again = ask(journal, "hello", conversation=talk)
    journal.set_answer(again.id, "Hi.")
    assert journal.conversation(talk) == [(again, "Hi.")]
    assert journal.turns(talk) == user("hello", "Hi.")


def test_every_branch_is_kept_and_found(journal: Journal) -> None:
    first = ask(journal, "hello")
    talk = first.conversation
    journal.set_answer(first.id, "Hi.")
    old = ask(journal, "hello", "Hi.", "one", conversation=talk)
    journal.set_answer(old.id, "Old.")
    again = journal.add_ask(talk, user("hello", "Hi.", "two"), SAMPLING, parent=first.id)
    journal.set_answer(again.id, "New.")
    anew = ask(journal, "hello", conversation=talk)
    back = journal.add_ask(talk, user("hello", "Hi.", "one", "Old.", "on"), SAMPLING, parent=old.id)
    assert [one.parent for one in (first, old, again, anew, back)] == [
        *(None, first.id, first.id, None, old.id)
    ]
    assert journal.ask(back.id) == back
    branches = journal.branches(talk)
    assert branches.newest() == back.id and len(branches) == 5
    assert [node.ask for node in branches.path(back.id)] == [first.id, old.id, back.id]
    assert branches.beside(again.id) == [old.id, again.id]
    assert branches.beside(first.id) == [first.id, anew.id]
    assert (branches.end(first.id), branches.end(old.id), branches.end(anew.id)) == (
        *(back.id, back.id, anew.id),
    )
    assert branches.after(first.id) == {old.id: 1, again.id: 1, back.id: 2}
    assert (branches.path(99), branches.beside(99), branches.after(99)) == ([], [], {})
    assert journal.turns(talk) == user("hello", "Hi.", "one", "Old.", "on")
    assert journal.turns(talk, again.id) == user("hello", "Hi.", "two", "New.")
    assert journal.conversation(talk, again.id) == [(first, "Hi."), (again, "New.")]
    assert journal.turns(talk, anew.id) == user("hello")


def test_what_followed_something_forgotten_stays_whole(journal: Journal) -> None:
    first = ask(journal, "hello")
    talk = first.conversation
    second = ask(journal, "hello", "Hi.", "more", conversation=talk)
    with journal.writing() as connection:
        connection.execute("DELETE FROM asks WHERE id = ?", (first.id,))
    assert journal.ask(second.id).parent is None
    assert journal.turns(talk) == user("hello", "Hi.", "more")


def test_a_long_conversation_opens_at_once(journal: Journal) -> None:
    """The histories of its asks, which grow with it, are not read."""
    talk = journal.new_conversation()
    history = [["user", "a message of a dozen words or so, as people type them"]] * 1000
    rows = [
        (talk, json.dumps(history[: 2 * at]), f"message {at}", "{}", 1.0, at or None)
        for at in range(300)
    ]
    with journal.writing() as connection:
        connection.executemany(
            "INSERT INTO asks (conversation, history, message, sampling, created, parent)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            rows,
        )
    with journal.reading() as connection:
        connection.execute("UPDATE asks SET history = 'no JSON' WHERE id BETWEEN 2 AND 299")
    assert len(journal.branches(talk).path(300)) == 300
    assert len(journal.turns(talk)) == 599


def test_an_answer_corrected_later_shows_and_one_taken_back_stays_as_it_was_said(
    journal: Journal,
) -> None:
    first = ask(journal, "hello")
    talk = first.conversation
    number = journal.judge(Pick(first.id, 1), "Hi.", [lesson("Hi.")])
    ask(journal, "hello", "Hi.", "more", conversation=talk)
    journal.withdraw(number)
    assert journal.turns(talk) == user("hello", "Hi.", "more")
    journal.judge(Correction(first.id, "Hello!"), "Hello!", [lesson("Hello!")])
    assert journal.turns(talk) == user("hello", "Hello!", "more")


def test_the_history_lists_what_was_used_last_first_and_is_searched(journal: Journal) -> None:
    empty = journal.new_conversation()
    dogs, cats = ask(journal, "About DOGS"), ask(journal, "about cats")
    journal.set_answer(cats.id, "Ähnlich wie Hunde.")
    ask(journal, "About DOGS", "Yes?", "go on", conversation=dogs.conversation)
    found = journal.conversations()
    assert [(talk.id, talk.title, talk.asks) for talk in found] == [
        (dogs.conversation, "About DOGS", 2),
        (cats.conversation, "about cats", 1),
    ]
    assert empty not in [talk.id for talk in found]
    assert found[0].last >= found[0].created
    assert [talk.id for talk in journal.conversations(limit=1)] == [dogs.conversation]
    assert [talk.title for talk in journal.conversations(search="dogs")] == ["About DOGS"]
    assert [talk.title for talk in journal.conversations(search="ÄHNLICH")] == ["about cats"]
    assert journal.conversations(search="100%") == []


def test_search_finds_messages_answers_and_candidates(journal: Journal) -> None:
    first = ask(journal, "Where is the DOG?")
    journal.add_candidates([candidate(first, 1, "The dog is out."), candidate(first, 2, "No.")])
    journal.set_answer(first.id, "a Dog!")
    hits = journal.search("dog")
    assert sorted((hit.place, hit.text) for hit in hits) == [
        ("answer", "a Dog!"),
        ("candidate", "The dog is out."),
        ("message", "Where is the DOG?"),
    ]
    assert {(hit.ask, hit.conversation) for hit in hits} == {(first.id, first.conversation)}
    assert len(journal.search("dog", limit=2)) == 2


# ---------------------------------------------------------------- the file


def test_only_the_owner_may_read_it(journal: Journal) -> None:
    assert journal.path.stat().st_mode & 0o777 == 0o600


def test_closed_is_closed(journal: Journal) -> None:
    journal.close()
    journal.close()
    with pytest.raises(JournalError, match="closed"):
        journal.new_conversation()
    with pytest.raises(JournalError, match="closed"):
        journal.latest_ask()


def test_threads_share_one_journal(journal: Journal) -> None:
    first = ask(journal)
    errors: list[Exception] = []

    def work() -> None:
        try:
            for _ in range(10):
                journal.add_lessons([lesson()])
                journal.waiting()
        except JournalError as error:
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    journal.judge(Pick(first.id, 1), "one", [lesson()])
    for thread in threads:
        thread.join()
    assert errors == []
    assert len(journal.waiting()) == 41
    assert journal.integrity() == "ok"
