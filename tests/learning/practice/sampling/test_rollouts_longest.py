"""How long an answer may be: as the settings say, or as long as the worked answer."""

from __future__ import annotations

from dataclasses import replace

import torch

from engine.model import Model
from engine.tokenizers.tokenizer import Tokenizer
from learning.practice.sampling.mixed import sampler
from learning.practice.sampling.rollouts import TOKENS, RolloutSampler
from learning.rewards.registry import find_task
from learning.rewards.task import Problem, TaskOptions
from tests.sums import Sums

SHORT, NONE = Problem("1+1=", {}, "It is 2."), Problem("1+1=", {})
LONG = Problem("2+2=", {}, "2+2=3+1=4 " * 8)


def test_an_answer_has_room_for_the_worked_one(tiny_tokenizer: Tokenizer) -> None:
    worked = len(tiny_tokenizer.encode(str(LONG.worked)))
    assert worked > TOKENS
    roller = RolloutSampler(tiny_tokenizer, Sums())
    assert [roller.longest(p) for p in (SHORT, NONE, LONG)] == [TOKENS, TOKENS, worked + 1]


def test_a_limit_that_was_set_holds(tiny_tokenizer: Tokenizer) -> None:
    roller = RolloutSampler(tiny_tokenizer, Sums(), max_tokens=20)
    assert [roller.longest(p) for p in (SHORT, NONE, LONG)] == [20, 20, 20]


def test_each_problem_has_its_own_limit(tiny_model: Model, tiny_tokenizer: Tokenizer) -> None:
    roller = RolloutSampler(tiny_tokenizer, Sums())
    drawn = roller.draw(tiny_model, [SHORT, LONG], 40, torch.Generator().manual_seed(0))
    most = [max(len(sample.answer.tokens) for sample in group) for group in drawn.groups]
    assert most == [roller.longest(SHORT), roller.longest(LONG)]
    for group, problem in zip(drawn.groups, (SHORT, LONG), strict=True):
        cut = [s.answer for s in group if s.answer.ending == "length"]
        assert cut and {len(answer.tokens) for answer in cut} == {roller.longest(problem)}


def test_a_worked_answer_is_taught_whole(tiny_model: Model, tiny_tokenizer: Tokenizer) -> None:
    assert tiny_model.config.context == 128
    roller = RolloutSampler(tiny_tokenizer, Sums())
    ids = tiny_tokenizer.encode(str(LONG.worked))
    example = roller.worked(tiny_model, LONG, tiny_tokenizer.encode)
    assert example is not None and not example.cut
    assert example.answer[:-1] == tuple(ids), "it is longer than half of the context"
    longer = replace(LONG, worked=str(LONG.worked) * 2)
    cut = roller.worked(tiny_model, longer, tiny_tokenizer.encode)
    assert cut is not None and cut.cut > 0
    assert len(cut.ids) == tiny_model.config.context
    assert cut.ids[: len(roller.prompt(tiny_model, LONG))] == roller.prompt(tiny_model, LONG)


def test_replies_of_a_conversation_are_as_the_settings_say(tiny_tokenizer: Tokenizer) -> None:
    task = find_task("detective", TaskOptions())
    roller = sampler(tiny_tokenizer, task)
    assert roller.max_tokens == TOKENS
    assert roller.longest(NONE) == TOKENS * 5
