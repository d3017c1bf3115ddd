"""Fitting how likely a message asks for something."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.facts import asking_weighing as module
from benchmarks.facts.asking_weighing import (
    LIKE_A_QUESTION,
    REMARK,
    TOLD,
    Message,
    fitted,
    likely,
    messages,
    remarks,
    report,
)
from learning.encoder_training.owners import read_owners
from learning.text.questions import likely_asked as weights_module

ASK = [f"{start} my {thing} agn" for start in ("wat is", "whos", "wer is") for thing in "abcdefgh"]
TELL = [f"my {thing} is {value}" for thing in "abcdefgh" for value in ("red", "old", "at home")]
FOUND = [Message(one, "careless", at % 5) for at, one in enumerate(ASK)]
FOUND += [Message(one, TOLD, at % 5) for at, one in enumerate(TELL)]


def talk(folder: Path) -> Path:
    turns = [("user", "What a lovely day"), ("assistant", "It is!"), ("user", "Where is it")]
    turns += [("user", "I like my tea."), ("user", "Do you?"), ("user", "I like my tea.")]
    row = {"source": "s", "turns": [{"role": role, "text": text} for role, text in turns]}
    path = folder / "talk.jsonl"
    path.write_text(json.dumps(row) + "\n", "utf-8")
    return path


def test_remarks_ask_nothing(tmp_path: Path) -> None:
    assert [*remarks([talk(tmp_path)])] == ["What a lovely day", "I like my tea."]
    assert [*remarks([])] == []


def test_the_halves_do_not_mix() -> None:
    tune, unseen = messages([]), messages([], "unseen")
    assert len(tune) > 5 * len(unseen) > 0
    assert all(one.kind != REMARK for one in tune)
    both = {one.text for one in tune if one.kind == TOLD} & {one.text for one in unseen}
    assert len(both) < len(unseen) / 100


def test_what_counts_more() -> None:
    assert Message("What a day", REMARK, 0).weight == LIKE_A_QUESTION
    assert Message("Nice day", REMARK, 0).weight == 1.0
    assert Message("my gate is red", TOLD, 0).weight > 1.0


def test_weights_tell_questions_from_statements() -> None:
    bias, weights = fitted(FOUND)
    asked, told = Message("wat is my z agn", "careless", 0), Message("my z is red", TOLD, 0)
    assert likely(asked, bias, weights) > 0.5 > likely(told, bias, weights)


def test_the_report_names_each_kind() -> None:
    lines = list[str]()
    report(FOUND, lambda one: 0.75 if one.asks else 0.1, lines.append)
    kind, grammar, rule = lines[1].split(" | ")
    assert kind == "careless" and float(grammar) < 50.0 and rule == "100.0"
    assert lines[2] == "told | 0.0 | 0.0"


def test_the_command_writes_weights_and_judges_the_unseen_half(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = read_owners
    monkeypatch.setattr(module, "read_owners", lambda path, half: whole(path, half)[:5])
    monkeypatch.setattr(module, "LIVES", 1)
    written = list[tuple[float, list[float]]]()
    monkeypatch.setattr(module, "save_weights", lambda *given: written.append(given))
    module.main(["--text", str(talk(tmp_path))])
    told = capsys.readouterr().out
    ((_, weights),) = written
    assert (
        len(weights) == weights_module.BUCKETS
        and "the unseen half:" in told
        and told.count("careless |") == 2
    )
