"""benchmarks.likes.credit: the data, the scoring of answers, and resuming an interrupted run."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

import benchmarks.likes.credit
from benchmarks import BenchOptions
from benchmarks.likes.credit import ARMS, HALVES, Mixed, gone, kept, read_mixed, run
from benchmarks.likes.credit_rewards import OneWord
from engine.errors import NotFound
from learning.text.blame import last_sentence
from learning.text.normalise import fold
from personality.book import read_book, shipped_book_path

CATS = Mixed("Tell me about cats.", "Cats purr when they are content.", "They are a kind of fish.")


def test_halves_share_no_question_and_none_is_of_the_book() -> None:
    measured, tune = (read_mixed(half) for half in HALVES)
    assert (len(measured), len(tune)) == (48, 24)
    prompts = [fold(one.prompt) for one in (*measured, *tune)]
    assert len(set(prompts)) == 72
    assert not {fold(e.turns[0][1]) for e in read_book(shipped_book_path())} & set(prompts)
    for one in (*measured, *tune):
        start, end = last_sentence(one.answer)
        assert one.answer[start:end] == one.wrong


@pytest.mark.parametrize(
    ("said", "is_kept", "is_gone"),
    [
        (CATS.answer, True, False),
        (CATS.keep, True, True),
        ("cats purr when they are content! They sleep a lot.", True, True),
        ("Cats purr when they are content. They are a kind of bird.", True, False),
        ("Cats sleep. They are a kind of fish", False, False),
        ("", False, True),
    ],
)
def test_an_answer_is_judged_by_its_sentences(said: str, is_kept: bool, is_gone: bool) -> None:
    assert (kept(said, CATS), gone(said, CATS)) == (is_kept, is_gone)


def test_an_interrupted_run_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    figures = {"gone": 1.0, "kept": 0.5, "both": 0.5, "book": 1.0, "learned": 1.0}

    def rate(
        _home: object, _model: str, _known: object, arm: object, seed: int, _: object
    ) -> object:
        done.append(f"{seed} {next(name for name, it in ARMS.items() if it == arm)}")
        if len(done) == 3:
            raise KeyboardInterrupt
        return {**figures, "steps": 2.0, "seconds": 0.1}

    monkeypatch.setattr(benchmarks.likes.credit, "_teach", lambda *_: [CATS])
    monkeypatch.setattr(benchmarks.likes.credit, "_rate", rate)
    monkeypatch.setenv("VIDYA_CREDIT_ARMS", "whole answer, last sentence")
    options = BenchOptions(tmp_path, seeds=(0, 1), out=tmp_path / "out")
    with pytest.raises(KeyboardInterrupt):
        run(options)
    result = run(options)
    assert done == ["0 whole answer", "0 last sentence", *["1 whole answer"] * 2, "1 last sentence"]
    assert len(result["rows"]) == 4 and run(options)["rows"] == result["rows"]
    assert len(json.loads((tmp_path / "out" / "credit.json").read_text())["rows"]) == 4
    written = (tmp_path / "out" / "credit.md").read_text()
    assert "| last sentence | 1 | 1 | 100 |" in written
    assert "VIDYA_CREDIT_ARMS='whole answer, last sentence' vidya bench credit" in written


@pytest.mark.parametrize("name", ["ARMS", "HALF"])
def test_a_name_that_does_not_exist_lists_those_that_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv(f"VIDYA_CREDIT_{name}", "other")
    with pytest.raises(NotFound, match="'other' does not exist") as caught:
        run(BenchOptions(tmp_path))
    assert "choose among" in caught.value.next_step


def test_one_word_is_paid(tmp_path: Path) -> None:
    rng = random.Random(0)
    for early in (False, True):
        task = OneWord(early)
        held = [problem.prompt for problem in task.problems("held_out", rng)]
        train = [p.prompt for p, _ in zip(task.problems("train", rng), range(200), strict=False)]
        assert len(held) == 200 and not set(held) & set(train)
        worked = [next(task.problems("train", rng)).worked or "" for _ in range(400)]
        paid = sum(score.correct for score in task.score(next(task.problems("train", rng)), worked))
        assert 25 < paid < 80, "an eighth of the warm-up's answers"
    assert OneWord(False).right("Lamp tree, green!") and not OneWord(False).right("green, lamp.")
    assert OneWord(True).right("Green, lamp.") and not OneWord(True).right("")
