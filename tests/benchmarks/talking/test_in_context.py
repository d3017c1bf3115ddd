"""benchmarks.talking.in_context: recall of facts from earlier in the conversation."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
import torch

from benchmarks import BenchOptions
from benchmarks.talking.in_context import copied, last_answer, parts, run
from engine.model import Model
from engine.storage.checkpoint import save_model
from engine.tokenizers.tokenizer import Tokenizer
from learning.text.synthetic import recall


class Copies:
    """Says at each place what followed the same token before, as an induction head does."""

    config = type("Config", (), {"vocab_size": 100})()

    def hidden_states(self, ids: torch.Tensor) -> torch.Tensor:
        return ids

    def logits(self, ids: torch.Tensor) -> torch.Tensor:
        said = torch.zeros(*ids.shape, 100)
        for row, tokens in enumerate(ids.tolist()):
            for at, token in enumerate(tokens):
                if token in tokens[:at]:
                    before = at - 1 - tokens[:at][::-1].index(token)
                    said[row, at, tokens[before + 1]] = 1.0
        return said


def test_who_copies_scores_and_who_does_not_does_not(tiny_model: Model) -> None:
    assert copied(Copies(), 20, torch.Generator().manual_seed(0)) > 0.7  # type: ignore[arg-type]
    assert copied(tiny_model, 20, torch.Generator().manual_seed(0)) < 0.2


def test_the_last_answer_is_asked_for_after_the_talk_or_alone(tiny_tokenizer: Tokenizer) -> None:
    row = next(r for s in range(50) if len((r := recall(random.Random(s)))["turns"]) > 6)
    whole = last_answer(tiny_tokenizer, row, True, 4096)
    alone = last_answer(tiny_tokenizer, row, False, 4096)
    assert len(whole.ids) > len(alone.ids)
    assert whole.answer == alone.answer
    assert alone.prompt in whole.prompt or len(alone.prompt) < len(whole.prompt)


@pytest.mark.parametrize("seeds", [(0,), (0, 1)])
def test_a_run_writes_its_table(
    tmp_path: Path, tiny_model: Model, tiny_tokenizer: Tokenizer, seeds: tuple[int, ...]
) -> None:
    folder = tmp_path / "models" / "tiny"
    save_model(tiny_model, folder, dtype=torch.float32)
    tiny_tokenizer.save(folder)
    options = BenchOptions(tmp_path, "tiny", seeds, quick=True, out=tmp_path / "out")
    result = run(options)
    assert {"copied", "recalled", "sums"} == set(result["rows"][0]["runs"][0])
    text = (tmp_path / "out" / "in_context.md").read_text("utf-8")
    assert "| tiny |" in text and "20 rows of each kind" in text
    assert ("±" in "\n".join(parts(result))) == (len(seeds) > 1)
