"""benchmarks.lessons.long_life: the lessons, and a short run of the real learner with a tiny model."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest

from benchmarks import BenchOptions
from benchmarks.lessons import long_life
from benchmarks.lessons.long_life_lessons import make_lessons
from engine.model import Model
from engine.storage.checkpoint import save_model
from engine.tokenizers.tokenizer import Tokenizer
from learning.home import Home
from learning.lessons.recipe import TeachSettings
from learning.text.normalise import fold


def test_a_thousand_lessons_of_which_no_two_ask_the_same() -> None:
    lessons = make_lessons(long_life.LESSONS, 0)
    assert len({fold(one.prompt[-1].text) for one in lessons}) == 1000
    assert all(one.answer.endswith(".") and len(one.prompt) == 1 for one in lessons)


def test_a_seed_changes_the_order_only() -> None:
    first, again, other = (make_lessons(1004, seed) for seed in (0, 0, 1))
    assert first == again != other
    assert {(o.prompt, o.answer) for o in first} == {(o.prompt, o.answer) for o in other}


@pytest.mark.slow
def test_a_short_life(
    tmp_path: Path, tiny_model: Model, tiny_tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = Home(tmp_path / "home").models_path / "tiny"
    save_model(tiny_model, folder)
    tiny_tokenizer.save(folder)
    monkeypatch.delenv("VIDYA_CORPUS", raising=False)
    few = partial(TeachSettings, steps=6, repair=4)  # how well it learns is not what is tested
    monkeypatch.setattr("learning.lessons.learner.TeachSettings", few)
    options = BenchOptions(tmp_path / "home", model="tiny", quick=True, out=tmp_path / "out")
    rows = long_life.run(options)["rows"]
    assert [row["lessons"] for row in rows] == [3, 6]
    assert all(0.0 <= row[key] <= 1.0 for row in rows for key in ("known", "early", "book"))
    assert rows[0]["home"] > 0 and rows[0]["journal"] > 4096 and rows[1]["seconds"] > 0.0
    written = json.loads((tmp_path / "out" / "long_life.json").read_text())
    assert written["rows"] == rows
    text = (tmp_path / "out" / "long_life.md").read_text()
    assert "| the first 2 |" in text and "vidya bench long_life --quick --model tiny" in text
