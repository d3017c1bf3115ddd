"""Samples answers to problems in one batch and scores them; measures held-out accuracy."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from itertools import islice

import torch

from engine.errors import ConfigError, DataError
from engine.model import Model
from engine.rollout import ROWS, Answered, Rollout, World
from engine.tokenizers.chat_format import encode_whole
from engine.tokenizers.tokenizer import Tokenizer
from learning.data.examples import Example, from_answer
from learning.maths.paired import share_true
from learning.objectives.processes import ALONE, ProcessGroup
from learning.objectives.settings import MOST
from learning.rewards.task import Problem, Score, Task

TOKENS = 64
"""Tokens that an answer may have where the settings and the problem name no limit."""
SHORT = 32
"""Tokens of answer for which a problem must leave room in the context."""
MISSES = 1000
"""After this many problems in a row that do not fit, none is assumed to."""


@dataclass(frozen=True)
class Sample:
    """One scored answer."""

    problem: Problem
    answer: Answered
    text: str
    """The answer; of a conversation all that followed the first message."""
    score: Score
    rewards: tuple[float, ...] = ()
    """Of a conversation what each reply was paid; empty: the answer was paid its score."""

    @property
    def paid(self) -> tuple[float, ...]:
        """What each move was paid (learning.objectives.token_credit)."""
        return self.rewards or (self.score.total,)

    @property
    def reward(self) -> float:
        """All that was paid."""
        return sum(self.paid)

    @property
    def truncated(self) -> bool:
        """True if the answer was cut off at the token limit, so that its score says little."""
        return self.answer.ending == "length"


@dataclass(frozen=True)
class Drawn:
    """Scored answers to some problems."""

    prompts: tuple[tuple[int, ...], ...]
    groups: tuple[tuple[Sample, ...], ...]
    """One group per prompt."""
    tokens: int
    """Tokens of all answers."""
    seconds: float
    """Seconds of sampling, without scoring."""

    @property
    def samples(self) -> list[Sample]:
        return [sample for group in self.groups for sample in group]


@dataclass(frozen=True)
class HeldOut:
    """One look at the held-out problems, always the same ones in the same order."""

    right: tuple[bool | None, ...]
    """For each problem whether greedy decoding solves it, or pleases; None: the verifier failed."""
    components: dict[str, float]
    """Mean of each component of the reward, over the judged answers."""
    arms: tuple[str, ...] = ()
    """The arm of each problem (learning.rewards.task.Problem); empty where there is one task."""

    @property
    def accuracy(self) -> float:
        """Share solved of those that could be judged, 0 to 1."""
        return share_true(self.right)

    def by_arm(self) -> dict[str, float]:
        """The same for each arm, in the order of the problems; empty where there is one task."""
        return {name: self.of(name).accuracy for name in dict.fromkeys(self.arms)}

    def of(self, arm: str) -> HeldOut:
        """The look at the problems of this arm alone, without components."""
        pairs = zip(self.right, self.arms, strict=False)
        return HeldOut(tuple(right for right, name in pairs if name == arm), {})


class RolloutSampler:
    """Samples and scores answers for one task."""

    def __init__(
        self,
        tokenizer: Tokenizer,
        task: Task,
        *,
        max_tokens: int = 0,
        temperature: float = 1.0,
        rows: int = ROWS,
        weights: Callable[[], AbstractContextManager[None]] = nullcontext,
        pause: Callable[[], None] = lambda: None,
        team: ProcessGroup = ALONE,
    ) -> None:
        """max_tokens: of an answer; 0: TOKENS, or as many as the worked answer where it has more. rows: most
        answers that are decoded at a time, >= 1. weights: held while answers are drawn; puts what is
        trained into the model's own weights. team: processes that share the problems."""
        self.tokenizer, self.task = tokenizer, task
        self.max_tokens, self.temperature, self.rows = max_tokens or TOKENS, temperature, rows
        self._as_worked = not max_tokens
        self.weights, self.pause, self.team = weights, pause, team
        self.says_tags = tokenizer.says_tags
        """Whether the model has learned the tags of answers; warm-up may teach them."""

    def longest(self, problem: Problem) -> int:
        """Most own tokens that an answer to the problem may have."""
        if not self._as_worked or problem.worked is None:
            return self.max_tokens
        return max(self.max_tokens, len(self.tokenizer.encode(problem.worked)) + 1)

    def draw(
        self,
        model: Model,
        problems: Sequence[Problem],
        group: int,
        generator: torch.Generator,
        *,
        greedy: bool = False,
    ) -> Drawn:
        """Samples `group` answers to each problem in one batch and scores those of a problem together.
        Of several processes each does its share of the problems, and all get all answers. Raises DataError
        if a problem does not fit into the context."""
        own = self.team.share(problems)
        drawn = self.draw_own(model, own, group, generator, greedy)
        if self.team.size == 1:
            return drawn
        rows = self.team.gather(list(zip(drawn.prompts, drawn.groups, strict=True)))
        (tokens,) = self.team.total(drawn.tokens)
        prompts, groups = zip(*rows, strict=True)
        return Drawn(prompts, groups, int(tokens), drawn.seconds)

    def draw_own(
        self,
        model: Model,
        problems: Sequence[Problem],
        group: int,
        generator: torch.Generator,
        greedy: bool,
    ) -> Drawn:
        """`draw` in this process alone."""
        started = time.monotonic()
        prompts = tuple(self.prompt(model, problem) for problem in problems)
        longest = list(map(self.longest, problems))
        found = self.rollout(model, prompts, group, generator, greedy, longest=longest)
        drawn = time.monotonic()
        groups = tuple(
            self._scored(problem, answers) for problem, answers in zip(problems, found, strict=True)
        )
        tokens = sum(sample.answer.drawn for own in groups for sample in own)
        return Drawn(prompts, groups, tokens, drawn - started)

    def rollout(
        self,
        model: Model,
        prompts: Sequence[tuple[int, ...]],
        group: int,
        generator: torch.Generator,
        greedy: bool,
        world: World | None = None,
        longest: Sequence[int] | None = None,
    ) -> list[list[Answered]]:
        """Answers to prompts, `group` to each (engine.rollout). longest: most tokens of an answer to each
        prompt; None: max_tokens of each reply."""
        with self.weights():
            return Rollout(
                model,
                prompts,
                group,
                ends=self.tokenizer.reply_ends(model.config.vocab_size, says_tags=self.says_tags),
                never=self.never(model),
                max_tokens=longest or self.max_tokens,
                temperature=0.0 if greedy else self.temperature,
                generator=generator,
                rows=self._rows(model, max(longest or [self.max_tokens])),
                world=world,
                pause=self.pause,
            ).answers()

    def _rows(self, model: Model, longest: int) -> int:
        """Answers of at most `longest` tokens decoded at a time, 1 to `rows`: their tokens fit into MOST
        together, or it is one."""
        return max(1, min(self.rows, MOST // min(longest, model.config.context)))

    def never(self, model: Model) -> tuple[int, ...]:
        """Ids that no answer has, because chat never says them either. Whoever compares log-probabilities
        with those of an answer must leave them out too."""
        return self.tokenizer.unsaid(model.config.vocab_size, says_tags=self.says_tags)

    def fits(self, model: Model, problem: Problem) -> bool:
        """True if the context has room for the problem and at least SHORT tokens of answer."""
        size = len(self.tokenizer.encode(problem.prompt)) + self.tokenizer.chat.around_message
        return size + min(self.max_tokens, SHORT) <= model.config.context

    def prompt(self, model: Model, problem: Problem) -> tuple[int, ...]:
        """The problem encoded as a user message, ids. Raises DataError if it does not fit."""
        what = f"{self.task.name}: a problem"
        return tuple(encode_whole(self.tokenizer, problem.prompt, model.config.context, what=what))

    def worked(
        self, model: Model, problem: Problem, encode: Callable[[str], list[int]]
    ) -> Example | None:
        """The worked answer as an example; None if there is none. It loses its end if the context has no room
        for it. encode: ids of the answer."""
        if problem.worked is None:
            return None
        prompt, context = [("user", problem.prompt)], model.config.context
        room = context - len(self.prompt(model, problem)) - 1
        return from_answer(
            self.tokenizer, prompt, problem.worked, context, encode=encode, longest=room
        )

    def held_out(self, model: Model, problems: Sequence[Problem]) -> HeldOut:
        """Answers the problems with greedy decoding. Raises ConfigError if the verifier failed on all
        answers."""
        drawn = self.draw(model, problems, 1, torch.Generator().manual_seed(0), greedy=True)
        samples = drawn.samples
        self.judged(samples)
        right = tuple(None if s.score.failed is not None else s.score.success for s in samples)
        known = [s.score.components for s in samples if s.score.failed is None]
        names = sorted({name for one in known for name in one})
        means = {n: sum(one.get(n, 0.0) for one in known) / len(known) for n in names}
        return HeldOut(right, means, tuple(s.problem.arm for s in samples if s.problem.arm))

    def accuracy(self, model: Model, problems: Sequence[Problem]) -> float:
        """Share of the problems that greedy decoding solves, of those that could be judged, 0 to 1. Raises
        ConfigError if the verifier failed on all answers."""
        return self.held_out(model, problems).accuracy

    def judged(self, samples: Sequence[Sample]) -> None:
        """Raises ConfigError if the verifier failed on every sample: nothing is known of them, so they
        must not count as wrong."""
        if samples and all(sample.score.failed is not None for sample in samples):
            raise ConfigError(
                f"{self.task.name}: not one of {len(samples)} answers could be judged "
                f"({samples[0].score.failed})",
                "mend that, or practise another task; the model is as it was last saved",
            )

    def _scored(self, problem: Problem, answers: Sequence[Answered]) -> tuple[Sample, ...]:
        self.pause()
        texts = [self._text(answer) for answer in answers]
        scores = self.task.score(problem, texts)
        return tuple(
            Sample(problem, answer, text, score)
            for answer, text, score in zip(answers, texts, scores, strict=True)
        )

    def _text(self, answer: Answered) -> str:
        return self.tokenizer.decode(answer.tokens).strip()


def best_by_task(by_arm: Mapping[str, float]) -> dict[str, float]:
    """Task -> the best value among its arms, 0 to 1; an arm's name begins with that of its task."""
    best: dict[str, float] = {}
    for arm, value in by_arm.items():
        task = arm.split()[0]
        best[task] = max(best.get(task, 0.0), value)
    return best


def right_by_arm(samples: Sequence[Sample]) -> dict[str, float]:
    """Arm -> share of its answers that are right, 0 to 1."""
    arms = dict.fromkeys(sample.problem.arm for sample in samples)
    return {arm: share_right([s for s in samples if s.problem.arm == arm]) for arm in arms}


def share_right(samples: Sequence[Sample]) -> float:
    """Share of answers that are right, or please, among those that could be judged, 0 to 1; 0 if there are
    none."""
    known = [sample for sample in samples if sample.score.failed is None]
    return sum(sample.score.success for sample in known) / max(1, len(known))


def held_out_problems(
    task: Task, count: int, fits: Callable[[Problem], bool] = lambda _: True
) -> list[Problem]:
    """The first `count` held-out problems that fit; the same ones at every call. Raises DataError if
    there are none."""
    problems = list(islice(filter(fits, task.problems("held_out", random.Random(0))), count))
    if not problems:
        raise DataError(
            f"{task.name}: no problem is held out that fits into the model's context",
            "give more problems, easier settings, or a model with a longer context",
        )
    return problems


def fitting(task: Task, rng: random.Random, fits: Callable[[Problem], bool]) -> Iterator[Problem]:
    """Yields training problems that fit, without end. Raises DataError if MISSES in a row do not fit, or
    there are none."""
    missed = 0
    for problem in task.problems("train", rng):
        if fits(problem):
            missed = 0
            yield problem
        else:
            missed += 1
            if missed > MISSES:
                raise DataError(
                    f"{task.name}: its problems do not fit into the model's context",
                    "take easier settings, or a model with a longer context",
                )
    raise DataError(f"{task.name}: there are no problems to practise", "give more problems")
