"""learning.journal.search: any query finds matching texts and never raises; erased texts are not found."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.config import Sampling
from engine.errors import NotFound
from learning.journal.conversations import as_json, as_markdown, conversations, export, listing
from learning.journal.journal import Journal
from learning.journal.migrations import APPLICATION_ID, MIGRATIONS, migrate
from learning.journal.search import excerpt, read_query, spans
from learning.protocol.records import Ask, Candidate, Correction, Lesson, Turn, Turns


def say(journal: Journal, *texts: str, conversation: int | None = None) -> Ask:
    turns: Turns = tuple(
        Turn("assistant" if i % 2 else "user", text) for i, text in enumerate(texts)
    )
    return journal.add_ask(conversation or journal.new_conversation(), turns, Sampling())


def found(journal: Journal, text: str) -> set[str]:
    return {hit.text for hit in journal.search(text)}


def test_words_are_found_by_their_beginning_whatever_case_accents_and_order(
    journal: Journal,
) -> None:
    say(journal, "The naïve café owner's cat")
    say(journal, "A catalogue of dogs")
    assert found(journal, "CAT") == {"The naïve café owner's cat", "A catalogue of dogs"}
    assert found(journal, "cat naive cafe") == {"The naïve café owner's cat"}
    assert found(journal, "owner's") == {"The naïve café owner's cat"}
    assert found(journal, "dogs catalogue") == {"A catalogue of dogs"}
    assert found(journal, '"of dogs"') == {"A catalogue of dogs"}
    assert found(journal, '"dogs of"') == set()
    assert found(journal, "alogue") == set()
    assert found(journal, "  ") == set()


def test_what_has_no_words_or_no_spaces_is_found_by_its_letters(journal: Journal) -> None:
    say(journal, "我喜欢吃苹果 🍎")
    say(journal, "100% or C++?")
    assert found(journal, "苹果") == {"我喜欢吃苹果 🍎"}
    assert found(journal, "🍎") == {"我喜欢吃苹果 🍎"}
    assert found(journal, "🍎 橙") == set()
    assert found(journal, "%") == {"100% or C++?"}
    assert found(journal, "c++ ?") == {"100% or C++?"}


def test_a_lesson_from_a_file_is_found_by_all_its_texts(journal: Journal) -> None:
    first = Lesson("pick", (Turn("user", "my dog"),), "Réx", ("Max %",), 1.0)
    talk = (Turn("user", "hello"), Turn("assistant", "hi"), Turn("user", "我喜欢苹果"))
    journal.add_lessons([first, Lesson("example", talk, "good dog", (), 1.0)])
    assert found(journal, "rex dog") == found(journal, "max") == {"my dog -> Réx -> Max %"}
    assert found(journal, "%") == {"my dog -> Réx -> Max %"}
    assert found(journal, "苹果 hello") == {"hello -> hi -> 我喜欢苹果 -> good dog"}
    assert [hit.lesson for hit in journal.search("dog")] == [2, 1]
    assert found(journal, '"dog good"') == set()


def test_words_in_quotes_stand_side_by_side_in_the_question_or_in_the_answer(
    journal: Journal,
) -> None:
    journal.add_lessons(
        [Lesson("example", (Turn("user", "My cat's name?"),), "Her name is Zoe.", (), 1.0)]
    )
    assert [hit.lesson for hit in journal.search('"her name" cat')] == [1]
    assert journal.search('"name her"') == []


def test_a_lesson_of_a_conversation_is_found_once_as_what_was_said(journal: Journal) -> None:
    ask = say(journal, "what is it")
    lesson = Lesson("correction", ask.turns, "a swordfish")
    journal.judge(Correction(ask.id, "a swordfish"), "a swordfish", [lesson])
    assert len(journal.search("swordfish")) == 1
    assert all(hit.lesson is None for hit in journal.search("swordfish"))


@pytest.mark.parametrize(
    "text",
    ['"', '""', "AND", "cat OR", "NEAR(a b)", "text:cat", "^cat", "cat*", "(", "-cat", "a\0b", "'"]
    + ["{said}: x", "a AND b NOT", '"*"', "\ud800", "+ - * /", "%_", "said", 'a"b"c'],
)
def test_what_is_an_operator_elsewhere_is_a_word_here(journal: Journal, text: str) -> None:
    say(journal, "cat and or not near text")
    journal.search(text)
    journal.conversations(search=text)


@given(st.text(max_size=30))
@settings(max_examples=150, deadline=None)
def test_no_query_raises(text: str) -> None:
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE VIRTUAL TABLE said USING fts5(text)")
    connection.execute("INSERT INTO said VALUES ('a cat')")
    if (query := read_query(text)).match:
        connection.execute("SELECT * FROM said WHERE said MATCH ?", (query.match,)).fetchall()
    connection.close()
    excerpt(text, query.words, 20)


def test_an_older_journal_is_indexed_when_it_is_opened(tmp_path: Path) -> None:
    path = tmp_path / "old.sqlite3"
    connection = sqlite3.connect(path, isolation_level=None)
    migrate(connection, path, MIGRATIONS[:1])
    assert connection.execute("PRAGMA application_id").fetchone()[0] == APPLICATION_ID
    sampling = '{"temperature": 1.0}'
    connection.execute("INSERT INTO conversations (created) VALUES (1.0)")
    connection.execute(
        "INSERT INTO asks (conversation, history, message, sampling, created)"
        " VALUES (1, '[]', 'where is the swordfish', ?, 2.0)",
        (sampling,),
    )
    connection.execute("INSERT INTO answers (ask, text, created) VALUES (1, 'in the sea', 3.0)")
    connection.close()
    journal = Journal(path)
    assert found(journal, "swordfish") == {"where is the swordfish"}
    (talk,) = journal.conversations(search="sea")
    assert (talk.title, talk.turns, talk.found) == ("where is the swordfish", 2, "in the sea")
    journal.close()


def test_what_is_forgotten_leaves_the_index_and_the_rest_stays(journal: Journal) -> None:
    secret = say(journal, "my password is swordfish")
    journal.add_candidates([Candidate(secret.id, 1, "noted: swordfish", (1,), (-1.0,), "end", 0)])
    journal.set_answer(secret.id, "swordfish it is")
    say(journal, "the sword of the fish")
    journal.forget(conversation=secret.conversation)
    assert found(journal, "swordfish") == set()
    assert found(journal, "sword") == {"the sword of the fish"}
    journal.row("INSERT INTO said (said) VALUES ('integrity-check')")
    # FTS5 keeps a word only in part after one that begins alike, so a part is looked for
    terms = journal.rows("SELECT block FROM said_data")
    assert not any(b"password" in (block or b"") for (block,) in terms)
    assert b"password" not in journal.path.read_bytes()


def test_a_title_is_given_found_and_taken_away(journal: Journal) -> None:
    talk = say(journal, "hello").conversation
    say(journal, "other")
    journal.rename(talk, "  On\nwhales  ")
    assert [c.title for c in journal.conversations()] == ["other", "On whales"]
    assert [c.id for c in journal.conversations(search="whales")] == [talk]
    journal.rename(talk, "")
    assert [c.title for c in journal.conversations()] == ["other", "hello"]
    assert journal.conversations(search="whales") == []
    with pytest.raises(NotFound):
        journal.rename(99, "x")


def test_pages_of_the_history_come_in_the_order_they_were_asked_for(journal: Journal) -> None:
    talks = [say(journal, f"message {number}").conversation for number in range(5)]
    say(journal, "message 1", "yes", "more", conversation=talks[1])
    wanted = listing(journal)
    assert wanted.ids == (talks[1], talks[4], talks[3], talks[2], talks[0])
    page = conversations(journal, wanted, wanted.ids[1:3])
    assert [talk.title for talk in page] == ["message 4", "message 3"]
    (first,) = conversations(journal, wanted, [talks[1]])
    assert (first.asks, first.turns) == (2, 3)
    journal.forget(conversation=talks[4])
    assert [t.id for t in conversations(journal, wanted, wanted.ids[1:3])] == [talks[3]]


def test_copies_of_a_conversation(journal: Journal) -> None:
    turns = (Turn("user", "# not a *heading*\n> nor a quote"), Turn("assistant", "so\x1b[31m"))
    text = as_markdown("A [title]\nof # two", 0.0, turns)
    assert text.splitlines()[0] == r"# A \[title\] of \# two"
    assert "> # not a *heading*\n> > nor a quote" in text
    assert '"role": "assistant"' in as_json(1, "t", 0.0, turns)
    talk = say(journal, "hello").conversation
    (line,) = journal.conversations()
    assert "> hello" in export(line, journal.turns(talk), "md")
    with pytest.raises(Exception, match="pdf"):
        export(line, (), "pdf")


def test_what_was_found_is_marked_where_it_stands() -> None:
    assert spans("The cat, a Catalogue", ["cat"]) == [(4, 7), (11, 14)]
    assert spans("a concat", ["cat"]) == []
    assert spans("go c++ go", ["c++"]) == [(3, 4)]
    assert spans("x % y", ["%"]) == [(2, 3)]
    long = "word " * 50 + "needle " + "word " * 50
    assert "needle" in excerpt(long, ["needle"], 40)
    assert len(excerpt(long, ["needle"], 40)) <= 42
    assert excerpt("short", ["needle"], 40) == "short"
