"""A model with all that a trainer of practice needs to keep beside it."""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from pathlib import Path

from engine.model import Model
from engine.storage.checkpoint import load_model
from engine.tokenizers.load import load_tokenizer
from engine.tokenizers.tokenizer import Tokenizer
from learning.data.examples import Example
from learning.memory.book_rows import book_examples
from learning.memory.own_talk import own_talk
from learning.memory.replay import Replay
from learning.objectives.forward import knowledge, share_known
from learning.practice.settings import PracticeSettings
from learning.practice.supply.source import MakeSource, SingleSource
from learning.practice.trained import TrainedWeights
from learning.practice.trainer import GrpoTrainer
from learning.practice.warm_up import WarmUpReport
from learning.rewards.task import Task
from personality.book import shipped_book_path

QUICK_PRACTICE = (
    *("groups=2", "group_size=2", "updates=1", "max_tokens=8", "held_out=4", "measure_every=1"),
    *("warm_up.steps=1", "warm_up.measured=4", "warm_up.measure_every=1"),
)
"""Options of practice in a quick run (`vidya bench NAME --quick`)."""
EARLIER_RATE = ("lr=1.5e-4", "ramp=5", "adapter.rate=25")
"""The defaults of practice until 29 November 2026, for benchmarks whose results are of then: where their
texts speak of defaults, these are meant."""
EARLIER_PRACTICE = (
    *EARLIER_RATE,
    *("warm_up.enough=0.2", "warm_up.measure_every=2", "warm_up.save_every=5"),
)
"""The same, and the earlier goal of warm-up, which was measured more often."""


def of_defaults() -> dict[str, float]:
    """What results with the program's own settings of practice say of these: rows of others are no part of
    the same table."""
    settings = PracticeSettings()
    return {"lr": settings.lr, "ramp": settings.ramp, "enough": settings.warm_up.enough}


@dataclass(frozen=True)
class Pupil:
    """A model, and what it is kept near to."""

    model: Model
    tokenizer: Tokenizer
    book: list[Example]
    talk: list[Example]

    @classmethod
    def loaded(cls, folder: Path) -> Pupil:
        """The model in that folder with the shipped book and its own talk."""
        model, tokenizer = load_model(folder), load_tokenizer(folder)
        book = book_examples(tokenizer, [shipped_book_path()], model.config.context)
        return cls(model, tokenizer, book, own_talk(model, tokenizer, folder))

    def copied(self) -> Pupil:
        """The same with weights of its own."""
        return replace(self, model=copy.deepcopy(self.model))

    def trainer(
        self,
        task: Task,
        settings: PracticeSettings,
        seed: int,
        source: MakeSource = SingleSource,
        kind: type[GrpoTrainer] = GrpoTrainer,
        trained: TrainedWeights | None = None,
    ) -> GrpoTrainer:
        """A trainer that changes this model. trained: see GrpoTrainer."""
        replay = Replay(self.model, self.book, [], self.talk)
        return kind(
            self.model,
            self.tokenizer,
            task,
            replay,
            settings,
            seed=seed,
            source=source,
            trained=trained,
        )

    def warmed_up(
        self, task: Task, settings: PracticeSettings, seed: int, source: MakeSource = SingleSource
    ) -> tuple[Pupil, WarmUpReport]:
        """This pupil after a warm-up, which changes its model and may teach it the tags of answers; and the
        warm-up's last report."""
        trainer = self.trainer(task, settings, seed, source)
        last = trainer.warm_up(lambda _: None, lambda: False)
        return replace(self, tokenizer=trainer.tokenizer), last

    def book_recall(self) -> float:
        """Share of the book that it still knows, 0 to 1."""
        return share_known(knowledge(self.model, self.book))


class Kept:
    """Keeps weights in memory instead of publishing them."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self.save("")

    def save(self, note: str) -> None:
        self._last = {k: v.detach().clone() for k, v in self._model.state_dict().items()}

    def restore(self) -> None:
        self._model.load_state_dict(self._last)
