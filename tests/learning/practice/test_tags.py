"""learning.practice.tags: warm-up teaches the tags of answers as single tokens."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from engine.config import CONFIGS
from engine.errors import CheckpointError
from engine.model import Model
from engine.tokenizers.load import load_tokenizer
from engine.tokenizers.ranks import RankTokenizer
from engine.tokenizers.tags import TAGS
from learning.memory.replay import Replay
from learning.practice.figures import MISMATCH
from learning.practice.settings import PracticeSettings, WarmUpSettings
from learning.practice.tags import as_text, introduce_tags, name_tags
from learning.practice.trainer import GrpoTrainer
from learning.rewards.verifiers.answer import read_answer
from tests.made_tokenizers import trained, write
from tests.sums import TaggedSums

WARM_UP = WarmUpSettings(lr=5e-3, measure_every=5, measured=32, enough=0.9, steps=60)
SETTINGS = PracticeSettings(groups=2, group_size=4, max_tokens=40, held_out=8, warm_up=WARM_UP)


@torch.no_grad()
def as_pretrained(model: Model, tokenizer: RankTokenizer) -> None:
    """Puts all ids that never occur at one place, as pretraining does."""
    spare = sorted(tokenizer.specials.values())[3:]
    for table in (model.embedding.weight, model.vocabulary):
        table[spare] = table[spare[-1]].clone()


@pytest.mark.parametrize("tied", [True, False])
def test_a_tag_begins_as_the_mean_of_its_words(tiny_tokenizer: RankTokenizer, tied: bool) -> None:
    config = replace(CONFIGS["tiny"], vocab_size=tiny_tokenizer.vocab_size, tied=tied)
    model = Model(config, generator=torch.Generator().manual_seed(0))
    as_pretrained(model, tiny_tokenizer)
    answer, tool = tiny_tokenizer.tags["answer"], tiny_tokenizer.tags["tool"]
    with torch.no_grad():
        model.embedding.weight[tool] *= -1.0  # as if it had been learned
    before = model.embedding.weight.detach().clone()
    assert introduce_tags(model, tiny_tokenizer)
    words = tiny_tokenizer.encode("<answer>")
    for table in (model.embedding.weight, model.vocabulary):
        torch.testing.assert_close(table[answer], table[words].mean(0))
    moved = (model.embedding.weight != before).any(1).nonzero()[:, 0].tolist()
    assert moved == [tiny_tokenizer.tags[tag] for tag in TAGS if tag != "tool"]
    assert not introduce_tags(model, tiny_tokenizer), "once"


def test_names_are_written_once_and_only_by_a_tokenizer_that_has_such_ids(
    tiny_tokenizer: RankTokenizer, tmp_path: Path
) -> None:
    named = name_tags(tiny_tokenizer, tmp_path)
    assert named.says_tags and RankTokenizer.read(tmp_path).says_tags
    assert not tiny_tokenizer.says_tags, "who holds it still draws from the weights before"
    assert name_tags(named, tmp_path / "nowhere") is named
    (tmp_path / "foreign").mkdir()
    foreign = load_tokenizer(write(tmp_path / "foreign", trained()))
    assert name_tags(foreign, tmp_path / "nowhere") is foreign
    file = tmp_path / "file"
    file.touch()
    with pytest.raises(CheckpointError, match="cannot be written"):
        name_tags(tiny_tokenizer, file)


@pytest.mark.slow
def test_warm_up_teaches_tags_and_answers_are_drawn_scored_and_shown_with_them(
    tiny_model: Model, tiny_tokenizer: RankTokenizer, replay: Replay
) -> None:
    as_pretrained(tiny_model, tiny_tokenizer)
    own = GrpoTrainer(tiny_model, tiny_tokenizer, TaggedSums(), replay, SETTINGS)
    last = own.warm_up(lambda _: None, lambda: False)
    assert own.taught_tags and last.success is not None and last.success > 0.5
    assert own.tokenizer.says_tags and not tiny_tokenizer.says_tags
    drawn = own.roller.draw(own.model, own._held_out, 4, own.generator)
    likely = own.roller.draw(own.model, own._held_out, 1, own.generator, greedy=True)
    for found in (drawn, likely):
        right = [sample for sample in found.samples if sample.score.correct]
        assert len(right) > len(found.samples) / 2
        for sample in right:
            assert tiny_tokenizer.tags["answer"] in sample.answer.tokens
            assert sample.answer.ending == "end"
    for sample in right:  # a drawn one may say a part twice
        assert read_answer(sample.text).form.startswith("t /t a /a")
    report = own.step()
    assert report.mismatch < MISMATCH and "<answer>" in report.samples[0].text


def test_tags_as_text_can_be_had(
    tiny_model: Model, tiny_tokenizer: RankTokenizer, replay: Replay
) -> None:
    before = tiny_model.embedding.weight.detach().clone()
    settings = replace(SETTINGS, warm_up=replace(WARM_UP, tags=as_text, steps=1))
    own = GrpoTrainer(tiny_model, tiny_tokenizer, TaggedSums(), replay, settings)
    own.warm_up(lambda _: None, lambda: False)
    assert not own.taught_tags and own.tokenizer is tiny_tokenizer
    tags = sorted(tiny_tokenizer.own_tags)
    torch.testing.assert_close(tiny_model.embedding.weight[tags], before[tags], atol=0.01, rtol=0)
