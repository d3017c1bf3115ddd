"""What people told in passing, as training data of the encoder."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from engine.errors import DataError
from learning.encoder_training.owners import ASKINGS, read_owners, told_pairs, traps
from learning.encoder_training.pairs import twins
from learning.text.context import question_and_answer


def line(owner: int, number: int, half: str = "tune") -> str:
    return json.dumps(
        {
            "owner": owner,
            "half": half,
            "said": f"my thing {number} is red",
            "asked": [f"question {number} {way}" for way in range(5)],
            "unknown": [f"unknown {number} a", f"unknown {number} b"],
            "neighbour": f"neighbour {number}",
        }
    )


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "owners.jsonl"
    lines = [line(1, 1), line(1, 2), line(2, 3), line(3, 4, "unseen")]
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


def test_the_facts_of_an_owner_stand_together(file: Path) -> None:
    assert [len(facts) for facts in read_owners(file, "tune")] == [2, 1]
    assert [len(facts) for facts in read_owners(file, "unseen")] == [1]


def test_pairs_and_traps(file: Path) -> None:
    owners, rng = read_owners(file, "tune"), random.Random(0)
    seen = set[str]()
    for _ in range(60):
        found = list(told_pairs(owners, rng))
        assert len(found) == 3 * ASKINGS
        for pair in found:
            number = pair.asked.split()[1]
            first, said = f"question {number} 0", f"my thing {number} is red"
            known = {said: "said", first: "question", question_and_answer(first, said): "both"}
            seen.add(known[pair.known])
            assert pair.known != pair.asked
    assert seen == {"said", "question", "both"}
    others = list(traps(owners, rng))
    assert [one.life for one in others] == [0, 0, 0, 0, 1, 1]
    assert {one.asked.split()[0] for one in others} == {"unknown", "neighbour"}


def test_facts_of_other_owners_may_be_as_right(file: Path) -> None:
    found = list(told_pairs(read_owners(file, "tune"), random.Random(0)))
    both = twins(found)
    for row, one in enumerate(found):
        for column, other in enumerate(found):
            same_fact = one.asked.split()[1] == other.asked.split()[1]
            assert both[row, column] == (same_fact or one.life != other.life)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ('{"owner": 1}', "owners.jsonl:1: no fact ('asked')"),
        (
            line(1, 1).replace(', "question 1 4"', ""),
            "1: no fact (`asked` has 4 in place of 5, `unknown` 2)",
        ),
        (line(1, 1).replace('["unknown 1 a", "unknown 1 b"]', '"why"'), "`unknown` is no list"),
        (line(1, 1).replace('["unknown 1 a", "unknown 1 b"]', "[]"), "`unknown` 0)"),
    ],
)
def test_a_line_that_is_no_fact(tmp_path: Path, text: str, what: str) -> None:
    path = tmp_path / "owners.jsonl"
    path.write_text(text + "\n", "utf-8")
    with pytest.raises(DataError) as caught:
        read_owners(path, "tune")
    assert what in caught.value.what and caught.value.next_step == "mend the line"


def test_a_half_that_has_no_owner(file: Path) -> None:
    with pytest.raises(DataError, match="owners.jsonl: has no owner of the half 'tuen'"):
        read_owners(file, "tuen")


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be read"):
        read_owners(tmp_path / "none", "tune")
