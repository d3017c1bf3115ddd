"""Finds answers about which the model of the owner's taste is unsure, for the owner to pick among.

The heads of the reward model saw different samples of the same picks; where they disagree about which of
several answers is better, a pick teaches most (2312.09244). Left out: asking the owner, and what a pick
does.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path

import torch

from engine.model import Model
from engine.storage.checkpoint import load_model
from engine.storage.weight_files import current_version
from engine.tokenizers.load import load_tokenizer
from engine.tokenizers.tokenizer import Tokenizer
from learning.journal.journal import Journal
from learning.journal.practices import practice_entries, practice_samples
from learning.memory.own_talk import own_talk
from learning.memory.rewording import talk_frames
from learning.objectives.grpo import GrpoAnswer, GrpoGroup, log_probabilities
from learning.objectives.settings import GrpoSettings
from learning.practice.sampling.rollouts import RolloutSampler, fitting
from learning.protocol.records import DisputedAnswers
from learning.rewards.owner import OwnerData
from learning.rewards.registry import TASTE
from learning.rewards.reward_keeper import usable
from learning.rewards.reward_model import answer_ids
from learning.rewards.task import Problem
from learning.rewards.tasks.taste import TOKENS, TasteTask
from learning.text.normalise import fold_answer

MESSAGES = 60
"""Messages that are answered, for each ten that the owner is asked."""
ANSWERS = 5
"""Most answers to each that are shown."""
DRAWN = 7
"""Answers drawn to each; different ones are kept."""


def most_disputed(
    folder: Path,
    journal: Journal,
    count: int,
    *,
    seed: int = 0,
    pause: Callable[[], None] = lambda: None,
) -> list[DisputedAnswers]:
    """The `count` messages whose answers are most in dispute, the most first: the owner's and made-up ones,
    and those of the last practice of taste with the answers that it gave. Raises RewardError if there is no
    taste that may be used, and CheckpointError."""
    model, tokenizer = load_model(folder).requires_grad_(False), load_tokenizer(folder)
    talk = own_talk(model, tokenizer, folder)
    made_up = talk_frames(tokenizer, talk).texts
    owner = OwnerData(folder, journal, tokenizer, model, lambda: made_up, pause)
    task = TasteTask(owner, *usable(folder, journal))
    practised = _practised(journal)
    sampler = RolloutSampler(tokenizer, task, max_tokens=TOKENS, pause=pause)
    wanted = -(-count * MESSAGES // 10)
    fresh = fitting(task, random.Random(seed), lambda one: sampler.fits(model, one))
    texts = dict.fromkeys([*practised, *(one.prompt for one in islice(fresh, wanted))])
    problems = [Problem(text, None) for text in texts if sampler.fits(model, Problem(text, None))]
    drawn = sampler.draw(model, problems, DRAWN, torch.Generator().manual_seed(seed))
    found = []
    for problem, samples in zip(problems, drawn.groups, strict=True):
        whole = [sample.text for sample in samples if not sample.truncated]
        answers = _different([*practised.get(problem.prompt, ()), *whole])[:ANSWERS]
        pause()
        if len(answers) > 1:
            apart = task.dispute(problem.prompt, answers)
            found.append((apart, problem.prompt, tuple(answers)))
    found.sort(key=lambda one: -one[0])
    version = current_version(folder)
    return [
        _with_odds(model, tokenizer, sampler.prompt(model, Problem(one[1], None)), *one, version)
        for one in found[:count]
    ]


def _practised(journal: Journal) -> dict[str, list[str]]:
    """Message -> answers, of the last practice of taste. These are where an alarm stopped it."""
    run = next((entry.id for entry in practice_entries(journal) if entry.task == TASTE), None)
    found = dict[str, list[str]]()
    for sample in practice_samples(journal, run) if run is not None else ():
        if not sample.truncated and sample.text.strip():
            found.setdefault(sample.prompt, []).insert(0, sample.text.strip())
    return found


def _different(texts: Sequence[str]) -> list[str]:
    return list({fold_answer(text): text for text in reversed(texts) if text}.values())[::-1]


def _with_odds(
    model: Model,
    tokenizer: Tokenizer,
    prompt: tuple[int, ...],
    disagreement: float,
    message: str,
    answers: tuple[str, ...],
    version: int,
) -> DisputedAnswers:
    tokens = [tuple(answer_ids(tokenizer, text, model.config.context)) for text in answers]
    group = GrpoGroup(prompt, tuple(map(GrpoAnswer.given, tokens)))
    [odds] = log_probabilities(model, [group], GrpoSettings())
    return DisputedAnswers(
        message,
        answers,
        disagreement,
        tuple(tokens),
        tuple(tuple(values.tolist()) for values in odds),
        version,
    )
