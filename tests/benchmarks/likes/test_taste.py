"""bench taste: its hidden preferences, its picks, its baselines."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmarks import BenchOptions
from benchmarks.common.weights import fingerprint_of
from benchmarks.likes import taste
from benchmarks.likes.taste import PICKS, drawn, drawn_answers, parts
from benchmarks.likes.taste_baselines import bag_of_words, length_alone
from benchmarks.likes.taste_data import (
    HIDDEN,
    ceiling,
    distinct,
    divided,
    form,
    gold_pairs,
    luce,
    messages,
    relevance,
    terse,
    terse_picked,
    topic_of,
)
from engine.errors import DataError
from engine.model import Model
from engine.storage.checkpoint import save_model
from engine.tokenizers.tokenizer import Tokenizer
from learning.rewards.reward_training import RewardTraining
from tests.spies import decoded

ENDINGS = ("I like tea.", "And you?", "The rain is wet and cold, and so is the snow in the winter.")


def answers() -> dict[str, list[str]]:
    rng = random.Random(0)
    words = "rain tea fish tree book song doctor train happy wall shirt atom".split()  # noqa: SIM905
    return {
        one: distinct(
            [f"{rng.choice(words)} {rng.choice(words)}. {rng.choice(ENDINGS)}" for _ in range(9)]
        )
        for one in messages(False)
    }


def test_what_the_hidden_preferences_like() -> None:
    assert form("hello", "And you?") == 2.0
    assert form("hello", "one two three four five six seven eight nine") == 0.0
    assert relevance("Why do cats purr?", "A cat is a pet.") == 2.0
    assert relevance("Why do cats purr?", "I like tea.") == 0.0
    assert not topic_of("hello")
    long = "The cat " + "is " * 20
    assert terse("cats", long) == pytest.approx(1.0 - 0.1 * 10)
    assert terse_picked("cats", long) > terse_picked("cats", "The cat.")


def test_picks_are_drawn_by_luces_rule() -> None:
    assert luce([1.0, 1.0]) == [0.5, 0.5]
    odds = luce([0.3, 0.0])
    assert odds[0] / odds[1] == pytest.approx(2.718281828)


@pytest.mark.parametrize("hidden", HIDDEN, ids=lambda one: one.name)
def test_no_message_is_on_both_sides(hidden: object) -> None:
    data = divided(answers(), hidden, 200, seed=1)  # type: ignore[arg-type]
    train = {choice.prompt[-1].text for choice in data.train}
    test = {choice.prompt[-1].text for choice in data.test}
    assert len(data.test) == 200 and not train & test
    assert len(data.train) >= PICKS[-1]
    assert len(data.first(200).choices) == 200
    assert 0.2 < ceiling(data.test, hidden) < 1.0  # type: ignore[arg-type]


def test_gold_pairs_count_ties_by_half_and_equal_worth_not_at_all() -> None:
    hidden = HIDDEN[0]
    data = divided(answers(), hidden, 200, seed=1)
    worths = [[form(c.prompt[-1].text, text) for text in c.options] for c in data.test]
    share, count = gold_pairs(data.test, worths, hidden)
    assert share == 1.0 and count > 100
    assert gold_pairs(data.test, [[0.0] * 5] * 200, hidden)[0] == 0.5
    assert gold_pairs(data.test, [[-w for w in row] for row in worths], hidden)[0] == 0.0


def test_the_baselines_learn_what_they_can_see() -> None:
    hidden = HIDDEN[0]
    data = divided(answers(), hidden, 200, seed=1)
    words, _ = gold_pairs(data.test, bag_of_words(data.train[:300], data.test), hidden)
    length, _ = gold_pairs(data.test, length_alone(data.train[:300], data.test), hidden)
    assert words > 0.85 and length > 0.6


def test_picks_that_mislead_are_told() -> None:
    row = {"hidden": "G3", "picks": 200, "seed": 0, "chance": 0.2, "ceiling": 0.6, "used": True}
    row |= dict.fromkeys(("gold_pairs", "bag_of_words", "length", "picks_right"), 0.45)
    row |= dict.fromkeys(("calibration_error", "seconds", "processor_seconds"), 1.0)
    row |= dict.fromkeys(("share_of_a_pause", "rated_a_minute", "length_correlation"), 1.0)
    said = "\n".join(parts({"rows": [row]}))
    assert "G3: 45% of held-out picks are foretold (guessing 20%)" in said
    assert "worse than guessing" in said
    assert said == "\n".join(parts({"rows": [row | {"command": "vidya bench taste"}]}))
    assert "worse than guessing" not in "\n".join(parts({"rows": [row | {"gold_pairs": 0.6}]}))


def test_the_criteria_stand_above_the_tables() -> None:
    assert "Registered before the run" in parts({"rows": []})[0]


def test_no_answer_is_drawn_with_an_id_that_chat_never_says(
    tiny_model: Model,
    tiny_tokenizer: Tokenizer,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    read = decoded(tiny_tokenizer, monkeypatch)
    found = drawn(tiny_model, tiny_tokenizer, BenchOptions(tmp_path, quick=True))
    assert list(found) == messages(False)[::20]
    assert read and read.isdisjoint(tiny_tokenizer.unsaid(tiny_model.config.vocab_size))


def test_an_interrupted_run_goes_on(
    tiny_model: Model,
    tiny_tokenizer: Tokenizer,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    save_model(tiny_model, tmp_path / "own")
    tiny_tokenizer.save(tmp_path / "own")
    few = dict(list(answers().items())[::15])
    monkeypatch.setattr(taste, "drawn_answers", lambda *_: few)
    monkeypatch.setattr(taste, "PICKS", (200,))
    most, begun = 1, list[int]()

    class Training(RewardTraining):
        def __init__(self, *arguments: Any, seed: int) -> None:
            if len(begun) == most:
                raise KeyboardInterrupt
            begun.append(seed)
            super().__init__(*arguments, seed=seed)

    monkeypatch.setattr(taste, "RewardTraining", Training)
    options = BenchOptions(
        tmp_path, model=str(tmp_path / "own"), seeds=(4,), quick=True, out=tmp_path / "out"
    )
    with pytest.raises(KeyboardInterrupt):
        taste.run(options)
    most = len(HIDDEN)
    result = taste.run(options)
    assert len(begun) == len(HIDDEN), "the first is not measured again"
    assert [row["hidden"] for row in result["rows"]] == [hidden.name for hidden in HIDDEN]
    assert {row["fingerprint"] for row in result["rows"]} == {fingerprint_of(options)}
    text = (tmp_path / "out" / "taste_own.md").read_text("utf-8")
    assert "Seeds measured so far: 4." in text
    monkeypatch.delattr(taste, "load_model")  # a run that has nothing to measure loads none
    assert taste.run(options)["rows"] == result["rows"] and len(begun) == len(HIDDEN)


def test_answers_are_kept_for_the_weights_that_gave_them(
    tiny_model: Model,
    tiny_tokenizer: Tokenizer,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    drawings: list[dict[str, list[str]]] = []

    def draw(*_: object) -> dict[str, list[str]]:
        drawings.append({"hello": [f"answer {len(drawings)}"]})
        return drawings[-1]

    monkeypatch.setattr(taste, "drawn", draw)
    save_model(tiny_model, tmp_path / "own")
    options = BenchOptions(tmp_path, model=str(tmp_path / "own"), out=tmp_path / "out")

    def answered(options: BenchOptions = options) -> dict[str, list[str]]:
        return drawn_answers(tiny_model, tiny_tokenizer, options)

    assert answered() == answered() == drawings[0] and len(drawings) == 1
    next(tiny_model.parameters()).data += 1.0
    save_model(tiny_model, tmp_path / "own")
    assert answered() == answered() == drawings[1] and len(drawings) == 2, "other weights"
    file = tmp_path / "out" / "taste_answers_own.json"
    for damaged in ('{"answers": ', "[1]", '{"hello": ["of weights that are not told"]}'):
        file.write_text(damaged)
        assert answered() == answered() == drawings[-1]
    assert len(drawings) == 5
    assert answered(replace(options, quick=True)) == drawings[5], "a quick run keeps none"
    with pytest.raises(DataError, match=r"taste_answers_own.json: cannot be written .*--out"):
        answered(replace(options, out=file))
