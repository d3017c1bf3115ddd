"""Histories are read once, and what the owner said is compared without the answers in between."""

from __future__ import annotations

from engine.config import Sampling
from learning.journal.erasing.talks import Talks
from learning.journal.journal import Journal
from learning.protocol.records import Turn
from tests.learning.journal.erasing.test_erase import say


def test_a_path_has_the_messages_and_not_the_answers(journal: Journal) -> None:
    first = say(journal, "a")
    talk = first.conversation
    second = say(journal, "a", "x", "b", conversation=talk)
    corrected = say(journal, "a", "y", "b", conversation=talk)
    third = say(journal, "a", "y", "b", "z", "c", conversation=talk)
    elsewhere = say(journal, "a")
    talks = Talks(journal)
    path = {one.id: talks.own_path(talks.asks[one.id]) for one in (first, second, corrected, third)}
    assert path[second.id] == path[corrected.id] != path[first.id]
    assert talks.own_path(talks.asks[elsewhere.id]) != path[first.id]
    assert talks.follows(path[third.id], {path[first.id]})
    assert talks.follows(path[first.id], {path[first.id]})
    assert not talks.follows(path[first.id], {path[third.id]})
    (one, two) = talks.exchanges(talks.asks[third.id])
    assert one == (path[first.id], (Turn("user", "a"), Turn("assistant", "y")))
    assert two == (path[second.id], (Turn("user", "b"), Turn("assistant", "z")))
    assert list(Talks(journal, {elsewhere.conversation}).asks) == [elsewhere.id]


def test_every_turn_of_an_odd_history_is_in_one_exchange(journal: Journal) -> None:
    """As an import may bring it: two answers first, and a message without one."""
    turns = (
        Turn("assistant", "Hello."),
        Turn("assistant", "Hm?"),
        Turn("user", "a"),
        Turn("user", "b"),
        Turn("assistant", "x"),
    )
    asked = (*turns, Turn("user", "c"))
    number = journal.add_ask(journal.new_conversation(), asked, Sampling()).id
    talks = Talks(journal)
    parts = [part for _, part in talks.exchanges(talks.asks[number])]
    assert parts == [turns[:2], turns[2:3], turns[3:]]
