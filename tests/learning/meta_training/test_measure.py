"""learning.meta_training.measure: the same questions each time."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from engine.errors import DataError
from learning.meta_training import measure, plans
from learning.meta_training.kept_rows import KeptRows
from learning.meta_training.kinds import held_out_kinds
from learning.meta_training.measure import WITH_PAUSES, Exam, report
from learning.meta_training.network import MergedNetwork
from learning.meta_training.plans import LessonPlan, plan_lesson
from learning.meta_training.questions import Pair

LESSON = {
    "question": "Where do I live?",
    "answer": "You live in Rome.",
    "rewordings": ["Where is it that I live?"],
    "paraphrases": ["What is my town?", "What town is mine?"],
}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "mine.jsonl"
    path.write_text(json.dumps(LESSON) + "\n")
    return path


def test_it_counts_the_answers_of_every_kind(
    network: MergedNetwork, kept: KeptRows, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measure, "GENERAL", 4)
    monkeypatch.setattr(measure, "GROUP", 1)
    monkeypatch.setattr(plans, "STEPS", {"few": 2})
    exam = Exam(kept, 1, file)
    found = exam.measure(network)
    names = ["book", "general questions", "seen kinds", "unseen kinds", WITH_PAUSES, "mine.jsonl"]
    assert list(found) == names
    assert found["book"] == {"exact": (0, 30)}
    assert {kind: n for kind, (_, n) in found["mine.jsonl"].items()} == {
        "taught": 1,
        "rewordings": 1,
        "refused rewordings": 1,
        "paraphrases": 2,
        "refused paraphrases": 2,
        "recalled": 3,
    }
    lines = list(report({"book": {"exact": (3, 4)}}))
    assert lines == ["book: exact 75.0 % of 4"]


def test_held_out_kinds_are_measured_apart(kept: KeptRows) -> None:
    exam, again = Exam(kept, 20), Exam(kept, 20)
    assert exam.groups == again.groups
    asked = {
        name: {fact.relation for group in groups for fact in group.facts}
        for name, groups in exam.groups.items()
    }
    assert asked["unseen kinds"] <= held_out_kinds()
    assert not asked["seen kinds"] & held_out_kinds()
    assert sum(len(group.facts) for group in exam.groups["seen kinds"]) >= 20


def test_kinds_that_are_held_out_are_taught_with_pauses_too(
    network: MergedNetwork, kept: KeptRows, monkeypatch: pytest.MonkeyPatch
) -> None:
    styles = list[str]()

    def planned(taught: list[Pair], style: str, *rest: Any) -> LessonPlan:
        styles.append(style)
        return plan_lesson(taught, "tiny", *rest)

    monkeypatch.setattr(measure, "GENERAL", 4)
    monkeypatch.setattr(measure, "plan_lesson", planned)
    exam = Exam(kept, 1)
    exam.measure(network)
    assert exam.groups[WITH_PAUSES] == exam.groups["unseen kinds"]
    counts = [len(groups) for groups in exam.groups.values()]
    assert styles == ["few"] * sum(counts[:2]) + ["paused"] * counts[2]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "holds no lesson"),
        ("nonsense\n", ":1: is no JSON"),
        (json.dumps({"question": "What?"}), ":1: is no lesson"),
        (json.dumps(LESSON | {"paraphrases": "one"}), ":1: is no lesson"),
    ],
)
def test_a_bad_file_is_named_with_its_line(
    kept: KeptRows, file: Path, text: str, what: str
) -> None:
    file.write_text(text)
    with pytest.raises(DataError, match=what) as error:
        Exam(kept, 1, file)
    assert "question" in error.value.next_step


def test_a_file_that_is_missing_is_named(kept: KeptRows, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be read"):
        Exam(kept, 1, tmp_path / "none")
