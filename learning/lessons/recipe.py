"""The recipe by which one lesson is learned at once.

Each step trains on one batch that mixes the lesson with replay (learning.lessons.batch). The loss is the
negative log-likelihood of the lesson and of remembered examples, plus the KL divergence from an earlier
reference on the model's self-generated talk (learning.memory.reference). Steps end when the lesson is known
with a margin and no remembered example is broken, or at a limit. Adam has no first moment, because in three
steps it would only repeat the first direction. Only the matrices of the upper blocks are trained: all
knowledge shares the embeddings and norms, and the outputs of frozen lower blocks can be cached
(learning.memory.prefix_cache). benchmarks/results/recipe.md says what was tried. Left out: publication and
the guard (learning.lessons.learner).
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from torch import Tensor

from engine.config import ModelConfig
from engine.model import Model
from learning.data.examples import Example, after
from learning.lessons.batch import BatchAccumulator, MixedBatch, Mixture
from learning.memory.margins import MarginTracker
from learning.memory.packed_rows import upper_model
from learning.memory.prefix_cache import LARGE, PrefixCache, UpperModel
from learning.memory.reference import AnchorReference, capture_reference
from learning.memory.replay import Replay
from learning.memory.tasks import LessonTask
from learning.memory.transaction import WeightTransaction
from learning.models.trainable import Trainable, upper_matrices
from learning.objectives.forward import Knowledge, knowledge
from learning.objectives.preference import (
    avoidance_gradients,
    preference_gradients,
    reference_log_probabilities,
)
from learning.objectives.stepper import Stepper
from learning.objectives.supervised import anchor_gradients, row_gradients


@dataclass(frozen=True)
class TeachSettings:
    """Constants of the recipe. They were tuned on lessons_tune.jsonl, never on the lessons for which results
    are reported."""

    lr: float = 6e-4
    """AdamW's learning rate in the first step, tuned at 10M weights; falls linearly to a tenth over
    `steps`."""
    steps: int = 20
    """Most steps for learning the lesson."""
    repair: int = 6
    """Most further steps for repairing examples that the lesson broke."""
    margin: float = 0.5
    """Least lead of each answer token over the next best token, in logits, for a lesson to be known."""
    talk_weight: float = 10.0
    """Factor of the KL divergence on self-generated talk in the loss."""
    wordings_weight: float = 0.5
    """Factor of the other wordings of the question in the loss."""
    part_weight: float = 10.0
    """Weight of avoiding a blamed part, beside that of a whole answer. After a beginning that is kept, the
    blamed tokens are often nearly certain, and the likelihood of such tokens falls slowly."""
    half_life: float = math.inf
    """Of the blame of a bad answer's tokens, counted back from its last one, in tokens. Infinite: all bear
    the same (benchmarks/results/credit.md)."""
    trunk: float = 0.6
    """Share of the blocks, counted from the input, that a lesson does not train; rounded to whole blocks."""
    moving_of_large: int = 8_000_000
    """Most weights that a lesson trains in a large model (learning.memory.prefix_cache), but at least one
    block. Computation and bytes written grow with it. Two blocks of a 135M model."""
    mixture: Mixture = field(default_factory=Mixture)
    """Numbers of rows of each kind in a batch."""

    def rehearsal(self) -> TeachSettings:
        """Settings for rehearsing other wordings: fewer steps, and replay in place of variations."""
        mixture = replace(self.mixture, batch=40, variations=0, talk=12)
        steps, repair = min(self.steps, 6), min(self.repair, 4)
        return replace(self, steps=steps, repair=repair, mixture=mixture)

    def with_anchor(self, weight: float) -> TeachSettings:
        """Settings with another `talk_weight`."""
        return replace(self, talk_weight=weight)

    def trunk_layers(self, config: ModelConfig) -> int:
        """Number of frozen blocks in a model of that shape, from 0 to layers - 1."""
        layers = config.layers
        frozen = min(layers - 1, round(self.trunk * layers))
        if config.parameters <= LARGE:
            return frozen
        return max(frozen, layers - max(1, self.moving_of_large // config.block_parameters))


@dataclass(frozen=True)
class TeachResult:
    """The outcome of `teach`."""

    steps: int
    """Steps taken, from 0 to `TeachSettings.steps` + `repair`."""
    loss: float
    """Loss of the last step: the weighted sum of all terms, in nats; 0 if no step was needed."""
    known: bool
    """Whether the task's goal was reached (`goal_reached`)."""
    batch: int
    """Rows of the last batch, rejected answers included; 0 if no step was needed."""
    ridden: frozenset[Example] = frozenset()
    """Auxiliary lessons that were in at least one batch."""


IN_TALK = 0.3
"""Probability that another wording is put after some other talk."""
AVOIDED_BY = 2.0
"""Least fall of a rejected answer's log-probability, in nats, for it to count as avoided."""
HELD_WITHIN = 0.5
"""Nats by which the log-probability of what stands before a blamed part may fall, where greedy decoding did
not give it before either."""


def teach(
    model: Model,
    task: LessonTask,
    replay: Replay,
    settings: TeachSettings,
    rng: random.Random,
    *,
    trunk: PrefixCache | None = None,
    tracker: MarginTracker | None = None,
    reference: AnchorReference | None = None,
    broken: Sequence[Example] = (),
    pause: Callable[[], None] = lambda: None,
    report: Callable[[int, float], None] = lambda _step, _loss: None,
    checking: Callable[[], None] = lambda: None,
) -> TeachResult:
    """Trains the model in place on a task until its goal is reached and nothing remembered is broken, or
    until `settings.steps` + `settings.repair` steps are taken.

    trunk, tracker, reference: the model's caches; those left out are made here. broken: examples to repair,
    in addition to those that these steps break. Calls `pause` before each micro-batch, `report` with (step,
    loss) after each step, and `checking` before the memory is measured. Afterwards the tracker has the
    margins of the examples that the lesson may have broken. Raises NumericsError if a loss is not finite; the
    caller must then restore the weights.
    """
    if trunk is None:
        trunk = PrefixCache(model, settings.trunk_layers(model.config))
    matrices = upper_matrices(model, trunk.layers).start()
    student = upper_model(model, trunk, task.example.start)
    if reference is None:
        reference = capture_reference(model, trunk, replay.talk)
    before = Before.of(student, task, settings)
    stepper = Stepper(
        matrices,
        settings.lr,
        momentum=0.0,
        what="teaching",
        advice="the lesson waits for book training",
    )
    accumulator = BatchAccumulator(replay, settings.mixture, rng)
    if tracker is None:
        tracker = MarginTracker()
    tracker.measure_new(student, replay.memory, pause=pause)
    wording = Wording(task, replay, rng)
    broken, ridden = list(broken), set[Example]()
    known, loss, step, rows = goal_reached(student, task, before, settings), 0.0, 0, 0
    while not (known and not broken) and step < settings.steps + settings.repair:
        wordings = wording.rows(settings.mixture.variations)
        batch = accumulator.mix(task.answers, broken, wordings, task.prompts)
        rows = batch.rows + len(task.rejected)
        ridden |= {example for example, _ in batch.riders}
        loss = _gradients(student, reference, task, batch, before, settings, pause)
        stepper.step(loss, max(0.1, 1.0 - 0.9 * step / settings.steps))
        step += 1
        report(step, loss)
        known = goal_reached(student, task, before, settings)
        if known or step >= settings.steps:
            checking()
            if broken:  # the other examples are measured again only after these are repaired
                tracker.measure(student, broken, pause=pause)
                broken = tracker.broken(broken)
            if not broken:
                broken = tracker.after_steps(
                    student, replay, task.example, task.prompts, rng, pause=pause
                )
    if broken:  # the limit was reached before the rest of the memory was measured
        tracker.after_steps(student, replay, task.example, task.prompts, rng, pause=pause)
    for parameter in model.parameters():
        parameter.requires_grad_(True)
    return TeachResult(step, loss, known, rows, frozenset(ridden))


class Wording:
    """Draws rows that ask a lesson's question in other words and after other talk."""

    def __init__(self, task: LessonTask, replay: Replay, rng: random.Random) -> None:
        self._question = task.answers[-1] if task.answers else None
        self._context, self._rng = replay.model.config.context, rng
        self._memory = replay.memory
        known = {e.prompt for e in self._memory} | task.prompts
        self._others = [e for e in task.variations if e.prompt not in known]

    def rows(self, count: int) -> list[Example]:
        """`count` rows for one step; empty for a task without an answer. The first row is the question itself
        after other talk."""
        question, rng = self._question, self._rng
        if question is None:
            return []
        talk = [*rng.sample(self._memory, min(2 * count, len(self._memory))), question]
        rows = []
        for row in range(count):
            example = rng.choice(self._others) if self._others and row else question
            if row == 0 or rng.random() < IN_TALK:
                example = after(rng.choice(talk), example, self._context)
            rows.append(example)
        return rows


@dataclass(frozen=True)
class Before:
    """What a task's answers were like before the first step."""

    judged: Tensor
    """Log-probabilities of `task.judged` in nats, weighted as their gradients are."""
    rejected: list[Knowledge]
    beginnings: list[Knowledge]

    @classmethod
    def of(cls, model: UpperModel, task: LessonTask, settings: TeachSettings) -> Before:
        """Measures the model."""
        return cls(
            reference_log_probabilities(model, task.judged, _half_life(task, settings)),
            [] if task.answers else knowledge(model, task.rejected),
            knowledge(model, task.beginnings),
        )


def _half_life(task: LessonTask, settings: TeachSettings) -> float:
    """Of the blame: parts that the owner named are blamed evenly, as are answers among better ones."""
    return math.inf if task.answer or task.beginnings else settings.half_life


def goal_reached(
    model: Model | UpperModel, task: LessonTask, before: Before, settings: TeachSettings
) -> bool:
    """Whether greedy decoding gives each of the task's answers with `settings.margin`. For a task without an
    answer: whether it gives no rejected answer, each one's log-probability has fallen by AVOIDED_BY, and what
    stands before a blamed part is held.

    before: log-probabilities of `task.judged` before the first step, [judged], in nats.
    """
    if task.answers:
        return all(item.margin > settings.margin for item in knowledge(model, task.answers))
    avoided = all(
        not item.known and item.nll >= was.nll + AVOIDED_BY
        for item, was in zip(knowledge(model, task.rejected), before.rejected, strict=True)
    )
    return avoided and all(
        item.known if was.known else item.nll <= was.nll + HELD_WITHIN
        for item, was in zip(knowledge(model, task.beginnings), before.beginnings, strict=True)
    )


def _gradients(
    model: UpperModel,
    reference: AnchorReference,
    task: LessonTask,
    batch: MixedBatch,
    before: Before,
    settings: TeachSettings,
    pause: Callable[[], None],
) -> float:
    """Adds the gradients of all terms of the loss to the parameters' `.grad`. Returns the loss, in nats."""
    loss = 0.0
    held = task.held
    new = [*task.judged, *held, *batch.lesson, *batch.wordings, *batch.replay, *batch.talk]
    model.look_ahead([*new, *(e for e, _ in batch.riders)], pause=pause)
    if not task.answer:
        blame = task.weight * (settings.part_weight if held else 1.0)
        loss += blame * avoidance_gradients(
            model,
            task.rejected,
            before.judged,
            weight=blame,
            half_life=_half_life(task, settings),
            pause=pause,
        )
    elif task.rejected:
        loss += task.weight * preference_gradients(
            model, task.answer, task.rejected, before.judged, weight=task.weight, pause=pause
        )
    wordings = task.weight * settings.wordings_weight
    terms: list[tuple[Sequence[Example], Sequence[float]]] = [
        (batch.lesson, [task.weight] * len(batch.lesson)),
        (held, [1.0] * len(held)),
        (batch.wordings, [wordings] * len(batch.wordings)),
        (batch.replay, [1.0] * len(batch.replay)),
        ([e for e, _ in batch.riders], [weight for _, weight in batch.riders]),
    ]
    examples = [e for rows, _ in terms for e in rows]
    weights = []
    for rows, factors in terms:  # each term is a mean over its own tokens
        tokens = sum(e.targets for e in rows)
        weights += [factor / tokens for factor in factors]
    loss += row_gradients(model, examples, weights, pause=pause)
    if batch.talk:
        loss += settings.talk_weight * anchor_gradients(
            model, reference, batch.talk, weight=settings.talk_weight, pause=pause
        )
    return loss


def known_before(model: Model | UpperModel, task: LessonTask) -> bool:
    """Whether greedy decoding already gives all of the task's answers; for a task without an answer, whether
    it gives none of the rejected ones."""
    if task.answers:
        return all(item.known for item in knowledge(model, task.answers))
    return not any(item.known for item in knowledge(model, task.rejected))


@dataclass
class LessonTransaction(WeightTransaction):
    """A weight transaction that takes the steps of this recipe."""

    settings: TeachSettings = field(default_factory=TeachSettings)

    @property
    def trainable(self) -> Trainable:
        """The matrices that a lesson trains."""
        return upper_matrices(self.weights.model, self.caches.trunk.layers)

    def teach(
        self,
        task: LessonTask,
        settings: TeachSettings | None = None,
        broken: Sequence[Example] = (),
        report: Callable[[int, float], None] = lambda _step, _loss: None,
        checking: Callable[[], None] = lambda: None,
    ) -> TeachResult:
        """Calls `teach` with the learner's caches. settings: in place of the learner's own. Raises
        NumericsError."""
        caches = self.caches
        return teach(
            self.weights.model,
            task,
            caches.replay,
            settings or self.settings,
            self.rng,
            trunk=caches.trunk,
            tracker=caches.tracker,
            reference=caches.reference,
            broken=broken,
            pause=self.pause,
            report=report,
            checking=checking,
        )
