"""Keeps a model's taste up to date: when it is trained, whether it may be used.

The journal comes first, as with lessons: the file is a consequence of the judgements that stand. It is built
from a copy of the policy's blocks, judged on held-out choices, and replaces the old file whole; nothing that
answers ever changes by it. After a crash the old file, or none, is there, and the next pause trains again.
Where a judgement that it learned from was withdrawn, undone or forgotten, it is not used any more and trained
anew without it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path

from engine.errors import CheckpointError, VidyaError
from engine.model import Model
from engine.storage.files import remove
from engine.tokenizers.tokenizer import Tokenizer
from learning.journal.journal import Journal
from learning.rewards.reward_data import Preferences, preferences, standing
from learning.rewards.reward_looks import with_looks
from learning.rewards.reward_model import RewardModel, load, save
from learning.rewards.reward_report import FEWEST, TASTE, TasteReport, read_report
from learning.rewards.reward_training import RewardTraining

MORE = 10
"""New choices that it is trained again for."""
GROWTH = 0.1
"""The same as a share of those it has seen; so a pick costs the same, however many there were before."""


class RewardError(VidyaError):
    """The taste cannot be trained or must not be used."""


class RewardKeeper:
    """The taste of one model's folder."""

    def __init__(
        self,
        folder: Path,
        policy: Callable[[], tuple[int, Model]],
        tokenizer: Tokenizer,
        journal: Journal,
        *,
        pause: Callable[[], None] = lambda: None,
    ) -> None:
        """policy: gives version and weights of the model that answers. pause: called before every forward
        pass; may raise Stopped."""
        self._folder, self._policy, self._tokenizer = folder, policy, tokenizer
        self._journal, self._pause = journal, pause
        self._training: RewardTraining | None = None
        self._version = 0
        self._seen: frozenset[int] | None = None
        """Judgements that stood when it was last found up to date."""

    @property
    def busy(self) -> bool:
        """Whether a training is under way."""
        return self._training is not None

    def catch_up(self) -> bool:
        """Does one small piece of work: one batch, or measuring and saving. Returns False if nothing is left
        to do. Raises CheckpointError."""
        now = standing(self._journal)
        if self._training is None and now == self._seen:
            return False
        if self._training is not None and not now.issuperset(self._training.found.judgements):
            self._training = None  # something was taken back meanwhile
        if self._training is None:
            found = preferences(self._journal)
            if not self.due(found, now):
                self._seen = now
                return False
            self._begin(found)
        return self._go_on()

    def due(self, found: Preferences, now: frozenset[int]) -> bool:
        """Whether it is to be trained. Removes a file that must not be used and cannot be replaced."""
        if len(found.choices) < FEWEST:
            if (self._folder / TASTE).exists():
                old = self._report()
                if old is None or old.stale(now):
                    remove(self._folder / TASTE)
            return False
        old = self._report()
        if old is None or old.stale(now) or old.pairs_error is None:
            return True
        new = len(found.judgements.difference(old.judgements))
        return new >= max(MORE, GROWTH * len(old.judgements))

    def train(self, told: Callable[[int, int], None] = lambda done, total: None) -> TasteReport:
        """Trains now on everything. told: called with (trained on, total). Raises RewardError below FEWEST
        choices, NumericsError, CheckpointError."""
        found = preferences(self._journal)
        if len(found.choices) < FEWEST:
            raise RewardError(too_few(found), "pick answers in the app: each pick counts")
        self._begin(found)
        while self._training is not None:
            training = self._training
            self._go_on()
            told(training.done, training.total)
        report = self._report()
        assert report is not None
        return report

    def _begin(self, found: Preferences) -> None:
        self._version, policy = self._policy()
        self._training = RewardTraining(policy, self._tokenizer, found, pause=self._pause)

    def _go_on(self) -> bool:
        """One batch, or the end. Raises NumericsError and CheckpointError; it is not tried again then before
        the next judgement."""
        training = self._training
        assert training is not None
        try:
            if training.step():
                return True
            self._training = None
            self._finish(training)
        except VidyaError:
            self._training, self._seen = None, standing(self._journal)
            raise
        return True

    def _finish(self, training: RewardTraining) -> None:
        """Measures and saves, unless something that was trained on was taken back meanwhile."""
        report = training.report(self._version)
        if not report.why_not:
            context = self._policy()[1].config.context
            model, tokenizer = training.model, self._tokenizer
            report = with_looks(report, model, tokenizer, context, self._journal, pause=self._pause)
        if standing(self._journal).issuperset(report.judgements):
            save(training.model, report, self._folder)

    def _report(self) -> TasteReport | None:
        with contextlib.suppress(CheckpointError):  # damaged: it is written anew
            return read_report(self._folder)
        return None


def usable(folder: Path, journal: Journal) -> tuple[RewardModel, TasteReport]:
    """The reward model of a folder with its report. Raises RewardError if there is none or it must not be
    used, and CheckpointError."""
    report = read_report(folder)
    advice = "go on picking; `vidya reward train` trains it now, pauses of the app by themselves"
    if report is None:
        raise RewardError(
            f"{folder.name} has no taste yet: {too_few(preferences(journal))}", advice
        )
    if report.stale(standing(journal)):
        what = "the taste was trained on something that you took back since"
        raise RewardError(f"{what}, so it is not used", "vidya reward train")
    if report.why_not:
        raise RewardError(
            f"the taste is not used: {report.why_not}",
            "go on picking; it is trained again on more picks",
        )
    return load(folder), report


def too_few(found: Preferences) -> str:
    """How much there is to learn taste from, in words."""
    count = len(found.choices)
    if count >= FEWEST:
        return f"{count} picks are there, and it is not trained on them yet"
    lost = f", {found.alone} more have no other answers left" if found.alone else ""
    return f"{count} of the {FEWEST} picks that it needs{lost}"
