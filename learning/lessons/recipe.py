"""The recipe that teaches one lesson at once.

Each step takes one batch of the lesson among replay (learning.lessons.batch). The loss is the
likelihood of the lesson and of what was known, plus the KL divergence on the model's own talk from how
it talked before (learning.memory.reference). Steps go on until the lesson is known with a margin and no
remembered example is broken, or until a limit. Adam has no first moment: in three steps it would only
repeat the first direction. Only the matrices of the upper blocks are trained: all knowledge shares the
embeddings and norms, and the outputs of the lower blocks can then be cached
(learning.memory.prefix_cache). benchmarks/results/recipe.md says what was tried. Left out: publication
and the guard (learning.lessons.learner).
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
    """Constants of the recipe, tuned on lessons_tune.jsonl, never on lessons that results are
    reported for."""

    lr: float = 6e-4
    """Peak rate of AdamW at 10M; falls linearly to a tenth over `steps`."""
    steps: int = 20
    """Most steps to learn the lesson."""
    repair: int = 6
    """Most further steps to repair what the lesson broke."""
    margin: float = 0.5
    """Lead in logits that every token of the lesson needs."""
    talk_weight: float = 10.0
    """Weight of the anchor on the model's own talk."""
    wordings_weight: float = 0.5
    """Weight of the other wordings of the question."""
    part_weight: float = 10.0
    """Weight of avoiding a blamed part, beside that of a whole answer: of tokens that are nearly certain the
    likelihood falls slowly, and behind a beginning that is held they often are."""
    half_life: float = math.inf
    """Of the blame of a bad answer's tokens, counted back from its last one, in tokens. Infinite: all bear
    the same (benchmarks/results/credit.md)."""
    trunk: float = 0.6
    """Share of the blocks, from below, that a lesson does not train (rounded to whole blocks)."""
    moving_of_large: int = 8_000_000
    """Weights that a lesson trains at most, as long as that is a block, in a large model
    (learning.memory.prefix_cache): work and what is written grow with it. Two blocks of a 135M model."""
    mixture: Mixture = field(default_factory=Mixture)

    def rehearsal(self) -> TeachSettings:
        """Settings to rehearse other wordings: fewer steps, and more memory in place of variations."""
        mixture = replace(self.mixture, batch=40, variations=0, talk=12)
        return replace(self, steps=6, repair=4, mixture=mixture)

    def with_anchor(self, weight: float) -> TeachSettings:
        """Settings with another weight of the anchor on the model's own talk."""
        return replace(self, talk_weight=weight)

    def trunk_layers(self, config: ModelConfig) -> int:
        """Number of frozen blocks in a model of that shape; at least one is trained."""
        layers = config.layers
        frozen = min(layers - 1, round(self.trunk * layers))
        if config.parameters <= LARGE:
            return frozen
        return max(frozen, layers - max(1, self.moving_of_large // config.block_parameters))


@dataclass(frozen=True)
class TeachResult:
    """What the steps did."""

    steps: int
    loss: float
    """Loss of the last step, the sum of all terms, in nats; 0 if no step was needed."""
    known: bool
    batch: int
    ridden: frozenset[Example] = frozenset()
    """Auxiliary lessons that were in a batch."""


UNKNOWN_POOL = 4
"""Times as many questions without an answer are drawn for a lesson as one batch has."""
IN_TALK = 0.3
"""Share of the other wordings that follow some other talk."""
AVOIDED_BY = 2.0
"""Nats by which a bad answer's log-probability must fall."""
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
    """Trains the model in place on a task.

    trunk, tracker, reference: the model's caches; new ones are made where they are left out. broken:
    examples to repair along with what these steps break. `pause` is called before every micro-batch,
    `report` with (step, loss), `checking` before the memory is measured. Afterwards the tracker knows
    which examples the lesson broke. Raises NumericsError if a loss is not finite; the caller puts the
    weights back.
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
    unknown = replay.unanswered(rng, task.answers, UNKNOWN_POOL * settings.mixture.unknown)
    if tracker is None:
        tracker = MarginTracker()
    tracker.measure_new(student, replay.memory, pause=pause)
    wording = Wording(task, replay, rng)
    broken, ridden = list(broken), set[Example]()
    known, loss, step, rows = goal_reached(student, task, before, settings), 0.0, 0, 0
    while not (known and not broken) and step < settings.steps + settings.repair:
        wordings = wording.rows(settings.mixture.variations)
        batch = accumulator.mix(task.answers, broken, wordings, task.prompts, unknown)
        rows = batch.rows + len(task.rejected)
        ridden |= {example for example, _ in batch.riders}
        loss = _gradients(student, reference, task, batch, before, settings, pause)
        stepper.step(loss, max(0.1, 1.0 - 0.9 * step / settings.steps))
        step += 1
        report(step, loss)
        known = goal_reached(student, task, before, settings)
        if known or step >= settings.steps:
            checking()
            if broken:  # the rest is measured again only when these are repaired
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
    """Draws a lesson's question as people will ask it: after other talk, and in other words."""

    def __init__(self, task: LessonTask, replay: Replay, rng: random.Random) -> None:
        self._question = task.answers[-1] if task.answers else None
        self._context, self._rng = replay.model.config.context, rng
        self._memory = replay.memory
        known = {e.prompt for e in self._memory} | task.prompts
        self._others = [e for e in task.variations if e.prompt not in known]

    def rows(self, count: int) -> list[Example]:
        """`count` rows for one step; none for a task without an answer."""
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
    """Whether the task is done: greedy decoding gives the answer, with a margin. For a task without an
    answer: it gives no rejected one, and their likelihood has fallen by AVOIDED_BY; what stands before a
    blamed part is held."""
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
    """Adds the gradients of all terms of the loss. Returns their weighted sum in nats."""
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
    """Whether the model already gives the task's answers, or none of those to avoid, under greedy
    decoding."""
    if task.answers:
        return all(item.known for item in knowledge(model, task.answers))
    return not any(item.known for item in knowledge(model, task.rejected))


@dataclass
class LessonTransaction(WeightTransaction):
    """A transaction whose steps are those of this recipe."""

    settings: TeachSettings = field(default_factory=TeachSettings)

    @property
    def trainable(self) -> Trainable:
        """The matrices that a lesson moves."""
        return upper_matrices(self.weights.model, self.caches.trunk.layers)

    def teach(
        self,
        task: LessonTask,
        settings: TeachSettings | None = None,
        broken: Sequence[Example] = (),
        report: Callable[[int, float], None] = lambda _step, _loss: None,
        checking: Callable[[], None] = lambda: None,
    ) -> TeachResult:
        """See `teach`. settings: others than the learner's. Raises NumericsError."""
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
