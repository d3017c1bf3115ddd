"""How what people told is found without a model."""

from __future__ import annotations

import pytest

from benchmarks.facts import owners as module
from benchmarks.facts.owners import OWNERS, asked_of, chance, main, of_owner, report
from learning.encoder_training.owners import ASKED, read_owners
from learning.text.normalise import fold


def test_the_file_holds_whole_people() -> None:
    for half, count in (("tune", 110), ("unseen", 20)):
        people = read_owners(OWNERS, half)
        assert len(people) == count
        for owner in people:
            assert len(owner) == 40
            texts = [fold(text) for fact in owner for text in (fact.said, *fact.asked)]
            assert all(texts)
            told = [fold(fact.said) for fact in owner]
            assert len({*told}) == len(told)
            assert all(len(fact.unknown) == 2 and fact.neighbour for fact in owner)


def test_what_is_found_for_one_person() -> None:
    owner = read_owners(OWNERS, "tune")[0][:4]
    found = list(of_owner(owner))
    assert len(found) == sum(len(asked_of(fact)) for fact in owner) == 32
    plain = [one for one in found if one.kind == "plain"]
    assert all(one.asks for one in plain) and sum(one.among for one in plain) >= 3
    assert sum(one.nearest for one in plain) >= 3
    untold = [one for one in found if one.kind not in ASKED]
    assert len(untold) == 12 and not any(one.nearest or one.right or one.among for one in untold)
    assert "| plain | 100 |" in report(found)


def test_chance() -> None:
    assert chance([2.0, 3.0], [1.0]) == 1.0
    assert chance([1.0], [1.0]) == 0.5
    assert chance([0.0, 2.0], [1.0]) == 0.5


def test_the_command(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    few = [owner[:1] for owner in read_owners(OWNERS, "unseen")]
    monkeypatch.setattr(module, "read_owners", lambda path, half: few)
    main(["--half", "unseen", "--owners", "1"])
    told = capsys.readouterr().out
    assert "unseen half, 1 people" in told and "| neighbour |" in told
    assert "Nearer than one that nothing answers: unknown" in told
