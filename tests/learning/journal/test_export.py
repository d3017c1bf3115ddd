"""The journal goes out whole and comes back in under new numbers, once."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.config import Sampling
from engine.errors import DataError
from learning.channels import learn_from_correction, learn_from_human
from learning.journal.export import TABLES
from learning.journal.journal import Journal
from learning.journal.lesson_list import keep_understanding
from learning.journal.practices import add_practice_step, begin_practice, end_practice
from learning.protocol.events import PracticeSample
from learning.protocol.records import (
    Again,
    Candidate,
    Correction,
    Lesson,
    Pick,
    Rating,
    Turn,
    Understanding,
)

PROMPT = (Turn("user", 'say "hé"'),)


ASK = {
    **{"table": "asks", "id": 7, "conversation": 1, "history": [], "message": "x", "seed": None},
    **{"sampling": Sampling().to_dict(), "created": 1.5},
}
CANDIDATE = {
    **{"table": "candidates", "ask": 1, "number": 1, "text": "x", "tokens": [], "logprobs": []},
    **{"ending": "end", "version": 1, "created": 1.5},
}

LESSON = {
    **{
        "table": "lessons",
        "id": 7,
        "ask": None,
        "judgement": None,
        "kind": "example",
        "answer": "x",
    },
    **{"prompt": [["user", "x"]], "rejected": [], "weight": 1.0, "replaces": None},
    **{"state": "waiting", "created": 1.5},
}


@pytest.fixture
def full(tmp_path: Path) -> Iterator[Journal]:
    """A journal with a row in every table."""
    journal = Journal(tmp_path / "full.sqlite3")
    ask = journal.add_ask(
        journal.new_conversation(), PROMPT, Sampling(), 5, [learn_from_human(PROMPT)]
    )
    journal.add_candidates(
        [
            Candidate(ask.id, 1, "hé", (1, 2), (-0.1, -2.5), "end", 0),
            Candidate(ask.id, 2, "ho", (3,), (-1.0,), "length", 0),
        ]
    )
    taken_back = journal.judge(Pick(ask.id, 2), "ho", [Lesson("pick", PROMPT, "ho", ("hé",))])
    typed = learn_from_correction(ask, "hé!", "hé")
    journal.judge(Correction(ask.id, "hé!", 1), "hé!", [typed], withdraws=[taken_back])
    journal.set_lesson_state(3, "learned")
    keep_understanding(journal, 3, Understanding(4, 5, 1, 3))
    journal.set_lesson_state(2, "undone")
    journal.retract(2)
    (loose,) = journal.add_lessons([Lesson("example", PROMPT, "a", ("b", "c"))])
    journal.add_step([3], 0.5, 32, 0.1, "lesson")
    journal.add_publication(1, 0, (3,), "snapshots/1", "typed")
    journal.mark_saved(1)
    journal.add_measure("book_recall", 0.75)
    run = begin_practice(journal, "sums", {"seed": 1})
    sample = PracticeSample(1, "3 + 4", "7", 1.0, {"correct": 1.0})
    add_practice_step(journal, run, 1, {"loss": 0.5}, [sample])
    end_practice(journal, run, {"ended": "steps"})
    assert loose.id == 4
    yield journal
    journal.close()


def test_every_table_of_the_schema_comes_out_and_survives_json(full: Journal) -> None:
    rows = list(full.export_rows())
    assert {row["table"] for row in rows} == set(TABLES)
    schema = full.rows("SELECT name FROM sqlite_master WHERE type = 'table'")
    own = {name for (name,) in schema if not name.startswith("said")}  # made from the others
    assert own - {"sqlite_sequence"} == set(TABLES)
    for table, columns in TABLES.items():
        there = {column for _, column, *_ in full.rows(f"PRAGMA table_info({table})")}
        assert there - {"id"} == set(columns) - {"id"}
    assert json.loads(json.dumps(rows)) == rows
    candidates = [row for row in rows if row["table"] == "candidates"]
    assert candidates[0]["tokens"] == [1, 2]
    assert candidates[0]["logprobs"] == [-0.1, -2.5]
    assert next(row for row in rows if row["table"] == "asks")["message"] == 'say "hé"'


def test_preferences_come_out_as_trl_reads_them(full: Journal) -> None:
    prompt = [{"role": "user", "content": 'say "hé"'}]
    assert list(full.export_trl()) == [
        {
            "prompt": prompt,
            "chosen": [{"role": "assistant", "content": chosen}],
            "rejected": [{"role": "assistant", "content": rejected}],
        }
        for chosen, rejected in (("hé!", "hé"), ("a", "b"), ("a", "c"))
    ]


def test_another_journal_reads_it_under_new_numbers(full: Journal, tmp_path: Path) -> None:
    other = Journal(tmp_path / "other.sqlite3")
    mine = other.add_ask(other.new_conversation(), (Turn("user", "mine"),), Sampling())
    assert other.import_rows(full.export_rows()) == 2  # a conversation and a loose lesson
    assert other.integrity() == "ok"
    (pair,) = other.conversation(2)
    ask, answer = pair
    assert ask.id == mine.id + 1
    assert (ask.turns, ask.seed, answer) == (PROMPT, 5, "hé!")
    assert other.candidates(ask.id) == [
        Candidate(ask.id, 1, "hé", (1, 2), (-0.1, -2.5), "end", 0),
        Candidate(ask.id, 2, "ho", (3,), (-1.0,), "length", 0),
    ]
    assert [(judged.judgement, judged.stands) for judged in other.judgements(ask.id)] == [
        (Pick(ask.id, 2), False),
        (Correction(ask.id, "hé!", 1), True),
    ]
    # these weights have learned none of it
    assert [(one.kind, one.state) for one in other.lessons()] == [
        ("owner_words", "waiting"),
        ("pick", "undone"),
        ("correction", "waiting"),
        ("example", "waiting"),
    ]
    assert (other.latest_version(), other.measures("book_recall")) == (0, [])
    other.close()


def test_reasons_come_back_and_an_older_export_has_none(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "one.sqlite3")
    again = Again("ho", "shorter please")
    ask = journal.add_ask(journal.new_conversation(), PROMPT, Sampling(), again=again)
    pick, rating = Pick(ask.id, 1, "shorter please"), Rating(ask.id, "good", "it is short")
    journal.judge(pick, "h", [Lesson("pick", PROMPT, "h", ("ho",))])
    journal.judge(rating, "h")
    rows = list(journal.export_rows())
    other = Journal(tmp_path / "two.sqlite3")
    other.import_rows(rows)
    assert other.ask(1).again == again
    assert [judged.judgement for judged in other.reasons()] == [pick, rating]
    for row in rows:
        row.pop("old", None), row.pop("reason", None)
    third = Journal(tmp_path / "three.sqlite3")
    third.import_rows(rows)
    assert (third.ask(1).again, third.reasons()) == (None, [])
    for one in (journal, other, third):
        one.close()


def test_branches_come_back_and_an_older_export_gets_them(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "one.sqlite3")
    talk = journal.new_conversation()
    turns = (Turn("user", "a"), Turn("assistant", "b"), Turn("user", "c"))
    for said, parent in ((turns[:1], None), (turns[:1], None), (turns, 1)):
        journal.add_ask(talk, said, Sampling(), parent=parent)
    rows = list(journal.export_rows())
    other = Journal(tmp_path / "two.sqlite3")
    other.add_ask(other.new_conversation(), PROMPT, Sampling())
    other.import_rows(rows)
    assert [node.ask for node in other.branches(2).path(4)] == [2, 4]
    for row in rows:
        row.pop("parent", None)
    third = Journal(tmp_path / "three.sqlite3")
    third.import_rows(rows)
    assert [node.ask for node in third.branches(1).path(3)] == [2, 3]  # the newest that is shorter
    for one in (journal, other, third):
        one.close()


def test_an_ask_that_does_not_follow_its_parent_begins_anew(tmp_path: Path) -> None:
    """Only a changed file has one; its conversation can be opened all the same."""
    other = Journal(tmp_path / "other.sqlite3")
    talks = [{"table": "conversations", "id": number, "created": number + 0.5} for number in (1, 2)]
    longer = {"id": 8, "parent": 7, "created": 2.5, "history": [["user", "x"], ["assistant", "y"]]}
    wrong = [{"id": 9, "history": []}, {"id": 10, "conversation": 2}]
    rows = [ASK | longer | row | {"created": 2.5 + n} for n, row in enumerate(({}, *wrong))]
    other.import_rows([*talks, ASK, *rows])
    assert [other.ask(number).parent for number in (1, 2, 3, 4)] == [None, 1, None, None]
    assert [len(other.conversation(1, ask)) for ask in (1, 2, 3)] == [1, 2, 1]
    assert len(other.conversation(2)) == 1
    other.close()


def test_importing_twice_adds_nothing(full: Journal, tmp_path: Path) -> None:
    other = Journal(tmp_path / "other.sqlite3")
    rows = list(full.export_rows())
    other.import_rows(rows)
    before = list(other.export_rows())
    assert other.import_rows(rows) == 0
    assert list(other.export_rows()) == before
    assert full.import_rows(rows) == 0
    other.close()


def talk(journal: Journal, conversation: int, said: str, answer: str) -> int:
    """One exchange whose first candidate was picked, and learned; its ask."""
    turns = (*journal.turns(conversation), Turn("user", said))
    ask = journal.add_ask(conversation, turns, Sampling())
    journal.add_candidates([Candidate(ask.id, 1, answer, (1,), (-0.5,), "end", 0)])
    pick = journal.judge(Pick(ask.id, 1), answer, [Lesson("pick", turns, answer)])
    (lesson,) = (one.id for one in journal.lessons() if one.judgement == pick)
    journal.set_lesson_state(lesson, "learned")
    return ask.id


@pytest.fixture
def two(tmp_path: Path) -> Iterator[tuple[Journal, Journal]]:
    """Two journals with the same conversation of one exchange; the second has one of its own before."""
    one, other = Journal(tmp_path / "one.sqlite3"), Journal(tmp_path / "other.sqlite3")
    talk(other, other.new_conversation(), "mine", "yours")
    talk(one, one.new_conversation(), "a", "b")
    other.import_rows(one.export_rows())
    yield one, other
    one.close()
    other.close()


def learn_all(journal: Journal) -> None:
    for lesson in journal.waiting():
        journal.set_lesson_state(lesson.id, "learned")


def words(journal: Journal, conversation: int) -> list[str]:
    return [turn.text for turn in journal.turns(conversation)]


def test_a_conversation_that_went_on_elsewhere_goes_on_here(two: tuple[Journal, Journal]) -> None:
    one, other = two
    learn_all(other)
    talk(one, 1, "c", "d")
    assert other.import_rows(one.export_rows()) == 1
    assert words(other, 2) == ["a", "b", "c", "d"]
    assert [lesson.answer for lesson in other.waiting()] == ["d"]
    assert len(other.conversations()) == 2
    assert other.integrity() == "ok"
    assert other.import_rows(one.export_rows()) == 0


def test_what_was_said_in_both_places_becomes_branches(two: tuple[Journal, Journal]) -> None:
    one, other = two
    talk(one, 1, "there", "t")
    mine = talk(other, 2, "here", "h")
    other.import_rows(one.export_rows())
    assert words(other, 2) == ["a", "b", "there", "t"]
    assert [turn.text for turn in other.turns(2, mine)] == ["a", "b", "here", "h"]


def test_what_was_judged_since_follows_and_the_weights_with_it(
    two: tuple[Journal, Journal],
) -> None:
    one, other = two
    learn_all(other)
    (pick,) = one.judgements(1)
    typed = learn_from_correction(one.ask(1), "B!", "b")
    one.judge(Correction(1, "B!", 1), "B!", [typed], withdraws=[pick.id])
    assert other.import_rows(one.export_rows()) == 1
    assert words(other, 2) == ["a", "B!"]
    assert [judged.stands for judged in other.judgements(2)] == [False, True]
    assert [lesson.answer for lesson in other.to_undo()] == ["b"]
    assert [lesson.answer for lesson in other.waiting()] == ["B!"]
    assert other.import_rows(one.export_rows()) == 0


def test_the_newer_judgement_holds(two: tuple[Journal, Journal]) -> None:
    one, other = two
    for journal, ask, said in ((one, 1, "there"), (other, 2, "here")):
        typed = learn_from_correction(journal.ask(ask), said, "b")
        journal.judge(Correction(ask, said, 1), said, [typed])
    other.import_rows(one.export_rows())
    assert words(other, 2) == ["a", "here"]
    assert len(other.judgements(2)) == 2
    one.import_rows(other.export_rows())
    assert words(one, 1) == ["a", "here"]


def test_candidates_that_were_dropped_here_stay_away(two: tuple[Journal, Journal]) -> None:
    one, other = two
    one.add_candidates([Candidate(1, 2, "later", (1,), (-0.5,), "end", 0)])
    other.import_rows(one.export_rows())
    assert [candidate.text for candidate in other.candidates(2)] == ["b", "later"]
    talk(one, 1, "c", "d")
    ask = talk(other, 2, "e", "f")
    rows = list(other.export_rows())
    other.add_candidates([Candidate(ask, 2, "newest", (1,), (-0.5,), "end", 0)])
    with other.writing() as connection:
        connection.execute("DELETE FROM candidates WHERE text = 'f'")
    other.import_rows(rows)
    assert [candidate.text for candidate in other.candidates(ask)] == ["newest"]


def test_a_loose_lesson_taken_back_elsewhere_is_taken_back_here(
    two: tuple[Journal, Journal],
) -> None:
    one, other = two
    (loose,) = one.add_lessons([Lesson("example", PROMPT, "a")])
    assert other.import_rows(one.export_rows()) == 1
    learn_all(other)
    one.retract(loose.id)
    assert other.import_rows(one.export_rows()) == 1
    assert [lesson.kind for lesson in other.to_undo()] == ["example"]


@pytest.mark.parametrize(
    "row",
    [
        {},
        {"table": "photos"},
        {"table": "asks", "id": 1},
        {"table": "conversations", "id": 1, "created": None},
        {"table": "conversations", "id": 1, "created": [1]},
        {"table": ["asks"]},
        ASK | {"message": 5},
        ASK | {"history": [["system", "x"]]},
        ASK | {"history": ["ab"]},
        ASK | {"sampling": {"temperature": -1.0}},
        ASK | {"sampling": {"warmth": 1}},
        ASK | {"sampling": {"top_k": "x"}},
        ASK | {"sampling": [1]},
        ASK | {"seed": 2**70},
        ASK | {"id": None},
        CANDIDATE | {"tokens": [-1]},
        CANDIDATE | {"tokens": [2**40]},
        CANDIDATE | {"logprobs": "ab"},
        CANDIDATE | {"ending": "bang"},
        CANDIDATE | {"created": float("nan")},
        ASK | {"history": ""},
        LESSON | {"prompt": []},
        LESSON | {"weight": -1.0},
        ASK | {"created": 1e300},
        ASK | {"created": -1.0},
    ],
)
def test_rows_of_something_else_add_nothing_at_all(
    full: Journal, tmp_path: Path, row: dict[str, object]
) -> None:
    other = Journal(tmp_path / "other.sqlite3")
    good = list(full.export_rows())
    with pytest.raises(DataError, match=f"row {len(good) + 1}: not from a journal's export"):
        other.import_rows([*good, row])
    assert other.conversations() == []
    assert other.lessons() == []
    other.close()


def test_the_rows_those_were_made_from_are_good(full: Journal, tmp_path: Path) -> None:
    other = Journal(tmp_path / "other.sqlite3")
    other.import_rows([*full.export_rows(), ASK, CANDIDATE, LESSON])
    assert other.lessons()[-1].answer == "x"
    assert other.candidates(1)[0].text == "x"
    assert other.ask(2).turns == (Turn("user", "x"),)
    other.close()


def test_blamed_parts_come_back_and_an_older_export_has_none(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "one.sqlite3")
    ask = journal.add_ask(journal.new_conversation(), PROMPT, Sampling())
    rating = Rating(ask.id, "bad", None, (4, 9))
    lesson = Lesson("rating", PROMPT, "", ("One. Two.",), blame=(4, 9))
    journal.judge(rating, "One. Two.", [lesson])
    rows = list(journal.export_rows())
    other = Journal(tmp_path / "two.sqlite3")
    other.import_rows(rows)
    assert [judged.judgement for judged in other.judgements(1)] == [rating]
    assert [one.blame for one in (*journal.lessons(), *other.lessons())] == [(4, 9), (4, 9)]
    for wrong in ({"blamed_from": -1}, {"blamed_to": 4}, {"blamed_to": None}, {"blamed_to": "9"}):
        third = Journal(tmp_path / f"{sorted(wrong.items())}.sqlite3")
        with pytest.raises(DataError, match="not from a journal's export"):
            third.import_rows([row | (wrong if "blamed_to" in row else {}) for row in rows])
        third.close()
    for row in rows:
        row.pop("blamed_from", None), row.pop("blamed_to", None)
    fourth = Journal(tmp_path / "four.sqlite3")
    fourth.import_rows(rows)
    assert [one.blame for one in fourth.lessons()] == [None]
    for one in (journal, other, fourth):
        one.close()
