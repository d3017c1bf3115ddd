"""Random conversations in which a word is said here and there: what is erased with it, and what stays."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from engine.config import Sampling
from learning.channels import (
    learn_again,
    learn_from_continuation,
    learn_from_correction,
    learn_from_human,
    learn_from_rating,
    learn_from_selection,
)
from learning.journal.journal import Journal
from learning.journal.lessons import MAIN_KINDS
from learning.journal.rows import ASK_COLUMNS, ask_from_row
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
from tests.learning.journal.erasing.test_erase import traces

MARK = "swordfish"


class Talker:
    """Builds a journal as sessions do, and as imports and earlier versions left them."""

    def __init__(self, journal: Journal, seed: int) -> None:
        self.journal, self.rng, self.count = journal, random.Random(seed), 0

    def text(self, odds: float, begin: str) -> str:
        self.count += 1
        mark = f"the {MARK} of " if self.rng.random() < odds else ""
        space = self.rng.choice(["", "", "\n", "  "])
        return f"{begin} {mark}{space}thing é“{self.count}”."

    def build(self) -> None:
        for _ in range(self.rng.randint(1, 2)):
            conversation = self.journal.new_conversation()
            ends: list[Ask] = []
            for _ in range(self.rng.randint(3, 9)):
                ends.append(self.ask(conversation, ends))
                self.answer(ends[-1])
                if self.rng.random() < 0.3:  # later asks have its earlier answer in their history
                    self.answer(self.rng.choice(ends))
            if self.rng.random() < 0.3:
                self.journal.rename(conversation, self.text(0.5, "About"))
        old = self.text(0.3, "The old book's")
        question = (Turn("user", "What is in the book?"),)
        loose = Lesson("correction", question, self.text(0.1, "A book's"), (old,), replaces=old)
        self.journal.add_lessons([loose])

    def ask(self, conversation: int, before: list[Ask]) -> Ask:
        rng, journal = self.rng, self.journal
        if before and rng.random() < 0.2:  # asked again
            last = rng.choice(before)
            old = journal.answer(last.id)
            again = (
                Again(old, self.text(0.1, "Shorter than")) if old and rng.random() < 0.5 else None
            )
            return journal.add_ask(
                conversation, last.turns, Sampling(), parent=last.parent, again=again
            )
        parent, turns = None, Turns()
        if before:
            parent = before[-1] if rng.random() < 0.7 else rng.choice(before)
            turns = journal.turns(conversation, parent.id)
            if turns[-1].role == "user":
                turns = (*turns, Turn("assistant", self.text(0.1, "Never noted")))
        short = rng.random() < 0.1
        message = "And why there?" if short else self.text(0.1, "What is")
        turns = (*turns, Turn("user", message))
        weak = [learn_from_human(turns)] if rng.random() < 0.5 else []
        number = parent.id if parent and rng.random() < 0.9 else None
        return journal.add_ask(conversation, turns, Sampling(), lessons=weak, parent=number)

    def answer(self, ask: Ask) -> None:
        rng, journal = self.rng, self.journal
        cards = [
            Candidate(ask.id, n, self.text(0.15, "Card"), (1,), (-1.0,), "end", 0) for n in (1, 2)
        ]
        journal.add_candidates(cards)
        ways = ["stands", "pick", "early", "correct", "twice", "good", "bad", "undone", "again"]
        way = rng.choice(ways)
        if way in ("stands", "again", "bad"):
            weak = learn_from_continuation(ask, cards[0].text)
            journal.set_answer(ask.id, cards[0].text, [weak])
            if way == "again":
                journal.add_lessons([learn_again(weak)], ask=ask.id)
        if way in ("good", "bad"):
            rating = Rating(ask.id, "good" if way == "good" else "bad", self.text(0.1, "Because"))
            lesson = learn_from_rating(ask, cards[0].text, rating.value)
            number = journal.judge(rating, cards[0].text, [lesson] if lesson else [])
            carried = (Turn("user", self.text(0.1, "Other")),)
            journal.add_lessons(
                [Lesson("reason", carried, self.text(0.1, "Carried"), (self.text(0.1, "Plain"),))],
                number,
            )
        if way in ("pick", "early", "undone"):
            pick = Pick(ask.id, 1, ask.again.reason if ask.again else None)
            lesson = learn_from_selection(ask, pick, cards)
            if way == "early":
                number = journal.judge(pick, cards[0].text[:4])
                journal.complete(number, lesson.answer, [lesson])
            else:
                number = journal.judge(pick, cards[0].text, [lesson])
            if way == "undone":
                journal.withdraw(number)
                for one in journal.lessons_of(number):
                    journal.set_lesson_state(one.id, "undone")
        if way in ("correct", "twice", "early") and (way != "early" or rng.random() < 0.5):
            for _ in range(2 if way == "twice" else 1):
                text = self.text(0.15, "Typed")
                old = journal.answer(ask.id)
                shown = cards if old is None else []
                lesson = learn_from_correction(ask, text, old, shown)
                journal.judge(Correction(ask.id, text), text, [lesson])
        if rng.random() < 0.05:
            journal.drop_unchosen()


def asks_of(journal: Journal) -> dict[int, Ask]:
    rows = journal.rows(f"SELECT {ASK_COLUMNS} FROM asks")
    return {ask.id: ask for ask in map(ask_from_row, rows)}


def lengths_of(journal: Journal, asks: dict[int, Ask]) -> dict[int, int]:
    """Ask -> number of turns by the tree of its conversation."""
    conversations = {ask.conversation for ask in asks.values()}
    trees = [journal.branches(number) for number in conversations]
    return {
        number: node.turns
        for number, ask in asks.items()
        for tree in trees
        for node in tree.path(ask.id)
        if node.ask == number
    }


def within(short: Turns, long: Turns) -> bool:
    """Whether the turns are a subsequence."""
    rest = iter(long)
    return all(turn in rest for turn in short)


def says(text: str) -> bool:
    return MARK in text


def owners(journal: Journal) -> dict[int, tuple[Lesson, int | None]]:
    """The owner's lessons in effect that teach an answer, with their asks."""
    rows = dict(journal.rows("SELECT id, ask FROM lessons"))
    return {
        lesson.id: (lesson, rows[lesson.id])
        for lesson in journal.standing()
        if lesson.kind in MAIN_KINDS and lesson.answer
    }


def must_stay(lesson: Lesson, ask: Ask | None, judged: dict[int, str]) -> bool:
    """Whether nothing of a lesson but its history contains the mark, and its message makes sense alone."""
    texts = [lesson.answer, *(turn.text for turn in lesson.prompt[-1:])]
    texts.append(judged.get(lesson.judgement or 0, ""))
    return not any(map(says, texts)) and not (ask and ask.turns[-1].text == "And why there?")


def check_trees(journal: Journal, before: dict[int, Ask]) -> dict[int, Ask]:
    """Checks the asks that are left and the trees of their conversations. before: the asks as they were."""
    after = asks_of(journal)
    for number, ask in after.items():
        assert within(ask.turns, before[number].turns)
        if ask.parent is not None:
            parent = after[ask.parent]
            assert len(parent.turns) + 2 == len(ask.turns)
            if ask.turns != before[number].turns:
                assert words(ask)[:-1] == words(parent)
        journal.conversation(ask.conversation, number)
        assert journal.turns(ask.conversation, number)[len(ask.turns) - 1] == ask.turns[-1]
    assert lengths_of(journal, after) == {number: len(ask.turns) for number, ask in after.items()}
    assert journal.integrity() == "ok"
    assert journal.judgements_without_lessons() == []
    return after


def words(ask: Ask) -> list[str]:
    """The owner's messages up to an ask."""
    return [turn.text for turn in ask.turns if turn.role == "user"]


def talk(folder: Path, seed: int) -> Journal:
    journal = Journal(folder / "journal.sqlite3")
    with journal.reading() as connection:
        connection.execute("PRAGMA synchronous = OFF")
    Talker(journal, seed).build()
    check_trees(journal, asks_of(journal))
    return journal


@pytest.mark.parametrize("seed", range(60))
def test_a_text_is_erased_and_all_else_stays(tmp_path: Path, seed: int) -> None:
    journal = talk(tmp_path, seed)
    before, taught = asks_of(journal), owners(journal)
    judged = {
        number: " ".join(filter(None, texts))
        for number, *texts in journal.rows("SELECT id, text, answer, reason FROM judgements")
    }
    if not traces(journal, MARK):
        return
    doomed = journal.to_forget(text=MARK)
    journal.forget(text=MARK)
    assert traces(journal, MARK) == []
    after = check_trees(journal, before)
    assert set(before) - set(after) == set(doomed.asks)
    left = {lesson.id: lesson for lesson in journal.lessons()}
    for number, (lesson, ask) in taught.items():
        if must_stay(lesson, before[ask] if ask else None, judged):
            now = left[number]
            assert now.answer == lesson.answer
            assert within(now.prompt, lesson.prompt)
            assert set(now.rejected) <= set(lesson.rejected)
            assert ask is None or now.prompt == after[ask].turns
            assert now.prompt == lesson.prompt or number in doomed.relearned
    for number, ask in after.items():
        if not any(says(turn.text) for turn in before[number].turns):
            assert ask.turns == before[number].turns


@pytest.mark.parametrize("seed", range(60, 100))
def test_two_lessons_are_erased_one_after_the_other(tmp_path: Path, seed: int) -> None:
    journal = talk(tmp_path, seed)
    for _ in range(2):
        before, taught = asks_of(journal), owners(journal)
        lesson, own = random.Random(seed).choice([*taught.values()])
        journal.forget(lesson=lesson.id)
        after, left = check_trees(journal, before), owners(journal)
        assert lesson.id not in left
        if own is not None:
            for ask in after.values():
                if words(ask)[: len(words(before[own]))] == words(before[own]):
                    assert Turn("assistant", lesson.answer) not in ask.turns
        for number in taught.keys() - left.keys() - {lesson.id}:
            other, where = taught[number]
            if other.judgement is None or other.judgement != lesson.judgement:
                assert where is not None
                assert "And why there?" in words(before[where])[-1:] or before[where].again
