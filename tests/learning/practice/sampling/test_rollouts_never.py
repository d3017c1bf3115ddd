"""Answers of practice have no id that chat never says, and the odds are those of the others."""

from __future__ import annotations

import pytest
import torch

from engine import precision
from engine.model import Model
from engine.rollout import message_answers
from engine.tokenizers.ranks import RankTokenizer
from learning.memory.replay import Replay
from learning.practice.sampling.rollouts import RolloutSampler
from learning.practice.settings import PracticeSettings
from learning.practice.trainer import GrpoTrainer
from learning.rewards.task import Problem, Score
from tests.sums import Sums


@pytest.mark.parametrize("tags", [False, True])
def test_only_stop_ids_end_an_answer(
    tiny_model: Model, tiny_tokenizer: RankTokenizer, tags: bool
) -> None:
    sampler = RolloutSampler(tiny_tokenizer, Sums(), max_tokens=20)
    sampler.says_tags = tags
    problems = [Sums()._problem(3, 4)] * 40
    drawn = sampler.draw(tiny_model, problems, 8, torch.Generator().manual_seed(0))
    said = {token for sample in drawn.samples for token in sample.answer.tokens}
    special = said & set(tiny_tokenizer.not_text(tiny_model.config.vocab_size))
    allowed = set(tiny_tokenizer.chat.stop_ids) | (tiny_tokenizer.own_tags if tags else set())
    assert special == allowed, "all of them are drawn by a model that knows nothing"
    for sample in drawn.samples:
        last = sample.answer.tokens[-1]
        assert (sample.answer.ending == "end") == (last in tiny_tokenizer.chat.stop_ids)


def test_answers_to_messages_have_none_either(
    tiny_model: Model, tiny_tokenizer: RankTokenizer
) -> None:
    generator = torch.Generator().manual_seed(0)
    found = message_answers(
        tiny_model, tiny_tokenizer, ["hello"], 200, max_tokens=20, generator=generator
    )
    said = {token for _, answer in found[0] for token in answer.tokens}
    special = said & set(tiny_tokenizer.not_text(tiny_model.config.vocab_size))
    assert special == set(tiny_tokenizer.chat.stop_ids)


class ManyE(Sums):
    """Pays for texts with an e, which an untrained model writes now and then."""

    def _score(self, problem: Problem, answer: str) -> Score:
        return Score.of({"correct": float("e" in answer)}, self._weights)


def test_the_ratio_before_the_first_update_is_one(
    tiny_model: Model,
    tiny_tokenizer: RankTokenizer,
    replay: Replay,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(precision, "fast_dtype", lambda _: torch.float32)
    settings = PracticeSettings(groups=2, group_size=8, max_tokens=10, updates=1, held_out=2)
    trainer = GrpoTrainer(tiny_model, tiny_tokenizer, ManyE(), replay, settings)
    assert trainer.roller.never(tiny_model)
    report = trainer.step()
    assert trainer.updates == 1
    assert 0.0 < report.mismatch < 2e-4 and abs(report.ratio - 1.0) < 1e-3
