"""Settings of a run of practice. Loads no torch, so that a screen can list them.

learning.practice.options sets them by name; docs/reference.md lists all.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from learning.curriculum.settings import CurriculumSettings
from learning.objectives.settings import (
    GrpoSettings,
    RetentionSettings,
    check,
    check_both,
    check_product,
    variant,
)

if TYPE_CHECKING:
    from torch import Tensor

    from engine.tokenizers.tokenizer import Tokenizer
    from learning.agents.credit import Credit, GroupAdvantages
    from learning.practice.supply.orders import Order


WORTH = 0.2
"""Success rate from which practice is worth it, even if warm-up was to bring more."""


@dataclass(frozen=True)
class WarmUpSettings:
    """Supervised training on worked examples."""

    lr: float = 2e-4
    """Peak learning rate of AdamW, above 0. At 5e-4 warm-up takes two thirds of the steps and costs twice as
    much of talk (benchmarks/results/practice_learning.md)."""
    batch: int = 32
    """Worked examples per step, >= 1."""
    examples: int = 0
    """Worked examples that are drawn once and come again and again, >= 0; 0: new ones in every step."""
    again: float = 0.5
    """Share of each batch, 0 to below 1, for tasks that are warm already. At 0 the model forgets these tasks
    while it learns another one (benchmarks/results/nights.md). No effect with `examples`."""
    ramp: int = 10
    """Steps of linear learning-rate warm-up, >= 1."""
    measure_every: int = 5
    """Steps between measurements of the success rate, >= 1; the last step is always measured. A measurement
    costs as much as a step."""
    measured: int = 96
    """Problems per measurement, with one sampled answer each; >= 1."""
    enough: float = 0.8
    """Success rate that ends warm-up, 0 to 1. At a fifth a model still guesses; practice rewards the lucky
    guesses, and it learns to guess. If warm-up ends at `steps`, practice begins from 0.2 on."""
    steps: int = 200
    """Most steps, >= 0. With usual settings the 10m took 60 to 80 for `syllogism`, 118 to 130 for `chain_sum`
    and 152 to 200 for `propositional_logic`."""
    tags: Callable[[Tokenizer, str], list[int]] = variant(
        "tokens", tokens="learning.practice.tags:as_tokens", text="learning.practice.tags:as_text"
    )
    """How it teaches the tags of the answer format: as single tokens, where the tokenizer has some, or as
    text, which is half of every answer."""
    save_every: int = 2
    """Measurements between save points, >= 1; what passes the guard is kept where warm-up is interrupted."""
    keep: RetentionSettings = field(default_factory=lambda: RetentionSettings(talk_weight=10.0))
    """Worked examples are far from what the model would say, so own talk weighs more than later."""

    def __post_init__(self) -> None:
        """Raises ConfigError."""
        names = ("batch", "ramp", "measure_every", "measured", "save_every")
        check(
            self,
            lr=0.0 < self.lr < math.inf,
            enough=0.0 <= self.enough <= 1.0,
            again=0.0 <= self.again < 1.0,
            steps=self.steps >= 0,
            examples=self.examples >= 0,
            **{name: getattr(self, name) >= 1 for name in names},
        )


@dataclass(frozen=True)
class CriticSettings:
    """A value of states that credits tokens (learning.practice.critic)."""

    step: Callable[..., Any] = variant(
        "token",
        token="learning.practice.critic:RolloutCritic",
        reply="learning.practice.critic:ReplyCritic",
    )
    """What is credited alike: each token by itself, or each reply of a conversation."""
    answers: int = 0
    """Answers that the value is learned from before it is used, >= 0; 0 switches it off. 500 are enough for
    the tasks that come with vidya."""
    lam: float = 0.95
    """Decay of later errors in an advantage, 0 to 1 a step."""
    gamma: float = 1.0
    """Discount factor per reply for later rewards of a conversation, above 0, at most 1; 1: no discount.
    Answers of one reply do not depend on it."""
    explained: float = 0.2
    """Least explained variance of the returns of new answers for the value to be used, 0 to 1."""
    earlier: float = 0.8
    """What earlier rollouts count beside a new one, 0 to 1: the policy changes."""

    def __post_init__(self) -> None:
        """Raises ConfigError."""
        shares = {
            name: 0.0 <= getattr(self, name) <= 1.0 for name in ("lam", "explained", "earlier")
        }
        check(self, answers=self.answers >= 0, gamma=0.0 < self.gamma <= 1.0, **shares)


@dataclass(frozen=True)
class AdapterSettings:
    """Low-rank adapters (LoRA) that are trained in place of all weights, and added to these."""

    at: int = 100_000_000
    """Models with at least so many weights are practised with adapters, >= 0; 0: every model."""
    rank: int = 32
    """Rank of each adapter, >= 1."""
    alpha: float = 64.0
    """An adapter's change is scaled by alpha / rank, above 0."""
    rate: float = 3.0
    """Times the learning rate of warm-up and of rehearsing what was forgotten, above 0. At 25 the model
    forgets the book (benchmarks/results/practice_learning_smollm2-135m.md)."""

    def __post_init__(self) -> None:
        """Raises ConfigError."""
        above = {name: 0.0 < getattr(self, name) < math.inf for name in ("alpha", "rate")}
        check(self, at=self.at >= 0, rank=self.rank >= 1, **above)


@dataclass(frozen=True)
class FewSettings:
    """Practice on a fixed list of problems (learning.practice.supply.few)."""

    examples: int = 0
    """Problems that are practised again and again, the same ones for every seed, >= 0; 0: new ones all the
    time."""
    example: int = 0
    """Number of the first of them among the task's problems, >= 0."""
    reference: int = 0
    """Steps in which `candidates` problems are practised first, >= 0; then those of them whose success rate
    varied most are the examples. 0: the first ones are."""
    candidates: int = 32
    """Problems among which `reference` steps choose, >= 1 and >= `examples`."""
    order: Order = variant(
        "none",
        none="learning.practice.supply.orders:as_they_come",
        random="learning.practice.supply.orders:shuffled",
        easy_to_hard="learning.practice.supply.orders:easy_to_hard",
        hard_to_easy="learning.practice.supply.orders:hard_to_easy",
        blocks="learning.practice.supply.orders:blocks",
    )
    """In which order `examples` come, again and again: as the task yields them; by chance; with the shortest
    or the longest worked answers first; those of one form together."""

    def __post_init__(self) -> None:
        """Raises ConfigError."""
        check(
            self,
            examples=self.examples >= 0,
            example=self.example >= 0,
            reference=self.reference >= 0,
            candidates=self.candidates >= 1,
        )
        check_both(
            self,
            "candidates",
            "examples",
            not self.reference or self.candidates >= self.examples,
            "where few.reference chooses, at least as many candidates as examples",
            way="few.",
        )
        ordered = self.order.__name__ != "as_they_come"
        chosen = {"example": self.example, "reference": self.reference, "order": ordered}
        for name, given in chosen.items():
            check_both(
                self,
                name,
                "examples",
                bool(self.examples or not given),
                "an order or a choice of examples needs a number of examples",
                way="few.",
                next_step="say how many: --examples 16, or few.examples=16",
            )


SELF_PLAY = 16
"""`questions` of self-play where it is switched on without a number."""


@dataclass(frozen=True)
class SelfPlaySettings:
    """The model asks the questions itself, and a program answers them (learning.practice.self_play)."""

    questions: int = 0
    """Groups of `group_size` questions that it asks itself a step, >= 0; 16 are usual. 0: the task's own
    problems are practised."""
    answers: int = 8
    """Answers to each different question, >= 2; the share of right ones says what the question is worth."""
    reward: Callable[[float], float] = variant(
        "learnability",
        learnability="learning.maths.learnability:learnability",
        min="learning.maths.learnability:rarer_outcome",
        azr="learning.maths.learnability:hard_but_solved",
        adversarial="learning.maths.learnability:adversarial",
    )
    """What a question is worth, by the share p of right answers: 4p(1-p); min(p, 1-p) (R-Zero); 1-p unless no
    answer is right (Absolute Zero); 1-p, which fails, because only questions that nobody can answer are asked
    then."""
    kl_reward: float = 0.2
    """Weight of the divergence of questions from those before the first step in their reward (k1, per
    question), >= 0, reward per nat; 0 switches it off. With it the best share of each question is its share
    before, times exp(worth / weight): what is worth nothing yet is still asked now and then."""
    examples: int = 50
    """Example questions in warm-up, which teaches the model to ask, >= 1."""

    def __post_init__(self) -> None:
        """Raises ConfigError."""
        check(
            self,
            questions=self.questions >= 0,
            answers=self.answers >= 2,
            kl_reward=0.0 <= self.kl_reward < math.inf,
            examples=self.examples >= 1,
        )


@dataclass(frozen=True)
class PracticeSettings:
    """Defaults for models of 10M weights; benchmarks/results/practice*.md has measurements with them."""

    steps: int = 100
    """Most steps, >= 0; each is one rollout, with its updates if enough groups are there."""
    groups: int = 32
    """Problems per step whose answers differ in reward, >= 1."""
    group_size: int = 4
    """Answers per problem, >= 2; times `groups`, at most 1,000,000."""
    max_tokens: int = 0
    """Longest answer in tokens, >= 0; 0: 64, or as many as the worked answer where it has more, with its
    tags as text."""
    redraws: int = 2
    """How often a step replaces problems whose answers all have the same reward, >= 0."""
    buffer_size: int = 0
    """Problems whose answers differ in reward that the updates need, 0 or >= `groups`; 0: `groups`. With
    fewer no optimizer step is taken: they wait for those of the next steps."""
    max_age: int = 2
    """Updates that a problem's answers outlive at most while they wait for others, >= 0; 0: only those of the
    newest weights are used."""
    max_drift: float = 0.5
    """Mean |log ratio| in nats a token above which answers that waited are dropped, above 0."""
    updates: int = 2
    """Optimizer steps per pass, each on its share of the groups; 1 to `groups`."""
    passes: int = 1
    """Passes over the groups, >= 1."""
    lr: float = 5e-5
    """Peak learning rate of AdamW, above 0. High for reinforcement learning (others take 1e-6): every step
    is anchored to the book and to own talk. At 1.5e-4 a model forgets part of what
    warm-up taught it (benchmarks/results/practice_learning.md)."""
    ramp: int = 20
    """Optimizer steps of linear learning-rate warm-up, >= 1."""
    advantages: Callable[[Tensor], Tensor] = variant(
        "group",
        group="learning.maths.policy:standardised_advantages",
        dr_grpo="learning.maths.policy:centred_advantages",
        batch="learning.maths.policy:batch_advantages",
    )
    """Rewards [N, G] -> advantages [N, G]: divided by the group's deviation (GRPO), not divided (Dr. GRPO),
    or divided by the batch's deviation (for continuous rewards)."""
    kl_reward: float = 0.0
    """Weight of the divergence from the weights before the first step in the reward (k1, per answer), >= 0,
    reward per nat; 0 switches it off."""
    credit: Callable[[GroupAdvantages], Credit] = variant(
        "whole_answer", whole_answer="learning.agents.credit:whole_answer"
    )
    """How advantages of answers become those of their tokens: all tokens of an answer have its own."""
    critic: CriticSettings = field(default_factory=CriticSettings)
    adapter: AdapterSettings = field(default_factory=AdapterSettings)
    curriculum: CurriculumSettings = field(default_factory=CurriculumSettings)
    few: FewSettings = field(default_factory=FewSettings)
    self_play: SelfPlaySettings = field(default_factory=SelfPlaySettings)
    objective: GrpoSettings = field(default_factory=GrpoSettings)
    keep: RetentionSettings = field(default_factory=RetentionSettings)
    warm_up: WarmUpSettings = field(default_factory=WarmUpSettings)
    held_out: int = 200
    """Problems on which accuracy is measured, >= 1."""
    measure_every: int = 10
    """Steps between save points, at which accuracy and recall are measured; >= 1. One comes earlier where
    answers call a tool a quarter more often than before."""
    rows: int = 128
    """Most answers decoded at a time, >= 1; fewer where they could have more than 1,000,000 tokens
    together."""
    patience: int = 3
    """Steps in a row with dead groups only, after which the run ends; >= 1."""
    waits: int = 6
    """Steps in a row without an update, after which the run ends; >= 1."""
    field_below: int = 100_000_000
    """Models with fewer weights are paid only for what stands in an answer field, in every task: a number
    anywhere in their text is right by chance too often. >= 0; 0: only where the task wants a field anyway."""
    shown: int = 3
    """Samples of each step that are reported, >= 0."""
    seconds: float = math.inf
    """Time limit of the run, above 0."""

    def __post_init__(self) -> None:
        """Raises ConfigError."""
        at_least_one = (
            *("groups", "updates", "passes", "ramp", "held_out", "measure_every"),
            *("rows", "patience", "waits"),
        )
        none_or_more = (
            *("steps", "redraws", "buffer_size", "max_age", "max_tokens", "field_below", "shown"),
        )
        check(
            self,
            **{name: getattr(self, name) >= 1 for name in at_least_one},
            **{name: getattr(self, name) >= 0 for name in none_or_more},
            group_size=self.group_size >= 2,
            max_drift=self.max_drift > 0.0,
            lr=0.0 < self.lr < math.inf,
            kl_reward=0.0 <= self.kl_reward < math.inf,
            seconds=self.seconds > 0.0,
        )
        few = self.updates <= self.groups
        check_both(self, "updates", "groups", few, "at most as many updates as groups")
        full = self.buffer_size == 0 or self.buffer_size >= self.groups
        check_both(self, "buffer_size", "groups", full, "buffer_size must be 0 or at least groups")
        asked = ("self_play.questions", "group_size")
        products = [
            *(("groups", "group_size"), ("redraws", "groups", "group_size")),
            *(("buffer_size", "group_size"), asked, (*asked, "self_play.answers")),
        ]
        products += [("buffer_size", "self_play.answers")] if self.self_play.questions else []
        for product in products:
            check_product(self, *product)
