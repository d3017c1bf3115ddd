"""Measures the signs that a policy exploits its reward, at every save point.

For the model of the owner's taste: answers to the same held-out messages are drawn with the same dice each
time; the policy's own odds are compared with the owner's held-out picks. For a tool: how often it is called.
Left out: the bounds and the verdict (learning.maths.alarm); what is done (learning.practice.run).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import fmean

import torch

from engine.model import Model
from engine.tokenizers.tokenizer import Tokenizer
from learning.maths.alarm import (
    Signs,
    commonest_share,
    distinct_pairs,
    repeated_share,
)
from learning.maths.kl import k1
from learning.objectives.grpo import GrpoAnswer, GrpoGroup, log_probabilities
from learning.objectives.settings import GrpoSettings
from learning.practice.sampling.rollouts import Drawn, HeldOut
from learning.practice.trainer import GrpoTrainer
from learning.rewards.reward_data import Choice
from learning.rewards.reward_model import answer_ids, prompt_ids
from learning.rewards.task import COUNT
from learning.rewards.tasks.taste import TasteTask
from learning.text.normalise import fold_answer

MESSAGES = 100
"""Held-out messages that are answered at each save point."""
CHOICES = 60
"""The newest held-out choices on which the policy's odds are compared with the owner."""


class TasteSigns:
    """Measures a trainer of the task `taste`; call it with the look at the held-out problems."""

    def __init__(
        self,
        trainer: GrpoTrainer,
        task: TasteTask,
        choices: Sequence[Choice],
        *,
        pause: Callable[[], None] = lambda: None,
    ) -> None:
        """task: the same as the trainer's, without a wrapper. choices: of the owner, held out, oldest
        first."""
        self._trainer, self._task, self._pause = trainer, task, pause
        held_out = choices[-CHOICES:]
        self._choices = [
            group_of(trainer.roller.tokenizer, choice, trainer.model.config.context)
            for choice in held_out
        ]
        self._chosen = [choice.chosen for choice in held_out]
        liked = [
            len(g.answers[at].tokens) for g, at in zip(self._choices, self._chosen, strict=True)
        ]
        self._short = float(sorted(liked)[len(liked) // 10]) if liked else 0.0

    def __call__(self, look: HeldOut) -> Signs:
        """The signs of the trainer's present weights. The trainer's first weights are those at the first
        call, or at the first step."""
        trainer = self._trainer
        drawn = trainer.roller.draw(
            trainer.model,
            trainer.problems_held_out[:MESSAGES],
            1,
            torch.Generator().manual_seed(0),
        )
        samples = drawn.samples
        tokens = [sample.answer.tokens for sample in samples]
        return Signs(
            kl=distance(
                trainer.model,
                trainer.start,
                drawn,
                trainer.settings.objective,
                trainer.roller.never(trainer.model),
                self._pause,
            ),
            same=commonest_share([fold_answer(sample.text) for sample in samples]),
            length=fmean(len(ids) for ids in tokens),
            chosen_short=self._short,
            repeated=repeated_share(tokens),
            distinct=distinct_pairs(tokens),
            disagreement=self._task.disagreement([(s.problem.prompt, s.text) for s in samples]),
            agreement=agreement(
                self._choices,
                self._chosen,
                trainer.model,
                trainer.settings.objective,
                trainer.roller.never(trainer.model),
                self._pause,
            ),
            choices=len(self._choices),
            right=look.right,
            components=look.components,
        )


def count_signs(look: HeldOut) -> Signs:
    """The signs of a task whose answers may do something several times, such as call a tool."""
    counts = {name: value for name, value in look.components.items() if name.endswith(COUNT)}
    return Signs(right=look.right, components=look.components, counts=counts)


def distance(
    model: Model,
    start: Model,
    drawn: Drawn,
    settings: GrpoSettings,
    never: Sequence[int] = (),
    pause: Callable[[], None] = lambda: None,
) -> float:
    """KL(π || π_start) in nats an answer, by k1 on drawn answers: unbiased, and may be a little below 0.
    never: ids that no answer has."""
    groups = [
        GrpoGroup(prompt, tuple(GrpoAnswer.given(sample.answer.tokens) for sample in own))
        for prompt, own in zip(drawn.prompts, drawn.groups, strict=True)
    ]
    now, was = (
        log_probabilities(m, groups, settings, never=never, pause=pause) for m in (model, start)
    )
    sums = [
        float(k1(mine, theirs).sum())
        for own, other in zip(now, was, strict=True)
        for mine, theirs in zip(own, other, strict=True)
    ]
    return fmean(sums) if sums else 0.0


def group_of(tokenizer: Tokenizer, choice: Choice, context: int) -> GrpoGroup:
    """A choice as a prompt and its options, of the ids that the reward model reads."""
    bodies = [answer_ids(tokenizer, text, context) for text in choice.options]
    prompt = prompt_ids(tokenizer, choice.prompt, max(map(len, bodies)), context)
    return GrpoGroup(tuple(prompt), tuple(map(GrpoAnswer.given, bodies)))


def agreement(
    groups: Sequence[GrpoGroup],
    chosen: Sequence[int],
    model: Model,
    settings: GrpoSettings,
    never: Sequence[int] = (),
    pause: Callable[[], None] = lambda: None,
) -> float:
    """Share of pairs, chosen and not chosen, of which the policy finds the chosen answer likelier, 0 to 1:
    the mean over choices; 0 for none. never: ids that answers never have."""
    shares = list[float]()
    values = log_probabilities(model, groups, settings, never=never, pause=pause)
    for own, mine in zip(values, chosen, strict=True):
        sums = [float(one.sum()) for one in own]
        others = [value for place, value in enumerate(sums) if place != mine]
        shares.append(fmean((sums[mine] > o) + 0.5 * (sums[mine] == o) for o in others))
    return fmean(shares) if shares else 0.0
