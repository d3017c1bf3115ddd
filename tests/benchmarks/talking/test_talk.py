"""The talk benchmark with a scripted answerer, and once with a tiny model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from benchmarks import BenchOptions
from benchmarks.talking.talk import chosen_questions, chosen_seeds, held_out, measure, scores
from benchmarks.talking.talk_data import CATEGORIES, Question, load
from benchmarks.talking.talk_samples import (
    OPENINGS,
    Answer,
    Turns,
    conversations,
    openings,
    samples_text,
    seed_of,
)
from engine.config import Sampling

if TYPE_CHECKING:
    from engine.model import Model
    from engine.tokenizers.tokenizer import Tokenizer

HOME = Path("nowhere")


def question(kind: str, text: str, category: str = "opinions", truth: str = "") -> Question:
    return Question(text, category, kind, (("user", text),), (truth,) if truth else ())


def scripted(turns: Turns, sampling: Sampling, seed: int) -> Answer:
    return Answer(f"To {turns[-1][1]!r}.", "end")


def test_scores_of_four_answers() -> None:
    questions = [
        question("yes_no", "Is it late?"),
        question("where", "Where is it?"),
        question("how_many", "What is 2 + 3?", "arithmetic", "5"),
        question("statement", "A story, please.", "story"),
    ]
    answers = [
        Answer("Yes.", "end"),
        Answer("My wife knows.", "end"),
        Answer("It is 5.", "end"),
        Answer("My name is Tom and", "length"),
    ]
    found = scores(questions, answers)
    assert found["words"] == (1 + 3 + 3 + 5) / 4
    assert found["ends_properly"] == 3 / 4
    assert found["fits"] == 2 / 3, "yes and a number; a wife is no place; a story is not judged"
    assert (found["fits/yes_no"], found["fits/where"], found["fits/how_many"]) == (1, 0, 1)
    assert found["arithmetic/says"] == 1.0 and found["arithmetic/exact"] == 0.0
    assert found["human"] == 1 / 3 and found["human/kin"] == 1 / 3, "stories are left out"
    assert found["human/name"] == 0.0
    assert "facts/says" not in found, "no fact was asked"


def test_seeds_are_three_at_least_and_one_when_quick() -> None:
    assert chosen_seeds(BenchOptions(HOME)) == (0, 1, 2)
    assert chosen_seeds(BenchOptions(HOME, seeds=(7, 8))) == (7, 8, 9)
    assert chosen_seeds(BenchOptions(HOME, seeds=(1, 2, 3, 4))) == (1, 2, 3, 4)
    assert chosen_seeds(BenchOptions(HOME, seeds=(4, 5), quick=True)) == (4,)


def test_quick_keeps_every_category() -> None:
    few = chosen_questions(BenchOptions(HOME, quick=True))
    assert len(few) < 40 and {q.category for q in few} == set(CATEGORIES)


def test_a_seed_belongs_to_its_question() -> None:
    assert seed_of(0, "a") == seed_of(0, "a") != seed_of(1, "a") != seed_of(1, "b")


def test_conversations_are_drawn_by_seed_and_asked_twice() -> None:
    questions = load()
    first = conversations(scripted, questions, 5, 3)
    assert first == conversations(scripted, questions, 5, 3)
    assert [c["id"] for c in first] != [c["id"] for c in conversations(scripted, questions, 5, 4)]
    for row in first:
        roles = [role for role, _ in row["turns"][row["given"] :]]
        assert roles == ["assistant", "user", "assistant"]


def test_samples_are_shown_as_text() -> None:
    said = {"openings": openings(lambda *_: Answer("<b>*hi*</b>\n# no", "end"), 0)}
    text = samples_text({"m": {**said, "conversations": []}}, "vidya bench talk", 0)
    assert all(f"**{opening}**" in text for opening in OPENINGS)
    assert "- \\<b>\\*hi\\*\\</b> \\# no" in text


def test_held_out_reads_a_folder(tmp_path: Path) -> None:
    rows = [json.dumps({"source": "a", "text": f"text {n}"}) for n in range(2000)]
    (tmp_path / "a.jsonl").write_text("\n".join(rows), "utf-8")
    (tmp_path / "stats.json").write_text("{}", "utf-8")
    found = held_out([tmp_path])
    assert 1 <= len(found) <= 30 and all(document.held_out for document in found)
    assert held_out([]) == []


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_a_tiny_model_from_end_to_end(
    tiny_model: Model,
    tiny_tokenizer: Tokenizer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import torch

    from engine.storage.checkpoint import save_model

    monkeypatch.setattr("benchmarks.talking.talk.QUICK_QUESTIONS", 11)
    monkeypatch.setattr("benchmarks.talking.talk_samples.OPENINGS", OPENINGS[:2])
    monkeypatch.setattr("benchmarks.talking.talk.Sampling", lambda: Sampling(max_tokens=8))
    folder = tmp_path / "models" / "small"
    save_model(tiny_model, folder)
    tiny_tokenizer.save(folder)
    corpus = tmp_path / "corpus.jsonl"
    rows = [json.dumps({"source": "a", "text": f"The cat sat on {n}."}) for n in range(1000)]
    corpus.write_text("\n".join(rows), "utf-8")
    lines: list[str] = []
    out = tmp_path / "out"
    options = BenchOptions(tmp_path, "small", quick=True, out=out, say=lines.append)
    threads = torch.get_num_threads()
    result = measure(options, [corpus])
    assert torch.get_num_threads() == threads
    assert result["models"]["small"]["bits_per_byte"].keys() == {"a", "all"}
    assert (
        result["models"]["small"]["mean"]["fits"] == result["models"]["small"]["sampled"][0]["fits"]
    )
    assert json.loads((out / "talk.json").read_text("utf-8")) == result
    assert "vidya bench talk --quick --model small" in (out / "talk.md").read_text("utf-8")
    assert "newcomer" in (out / "talk_samples.md").read_text("utf-8")
    assert result["skipped"] == [] and len(lines) == 2
