"""Fetches models on command, and knows which can be fetched.

Beside controller/controller.py: commands go in, words for the owner come out. Left out: that the talk goes on
with what was fetched (controller/models.py). Knows no widgets.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from engine.errors import VidyaError
from vidya_tui.commands.arguments import Argument
from vidya_tui.commands.keymap import Keymap, way
from vidya_tui.state import fetching as words
from vidya_tui.state.fetching import Fetching
from vidya_tui.state.known import StateStore
from vidya_tui.state.message import StatusMessage

if TYPE_CHECKING:  # the first frame waits for no more than it needs
    from learning.models.known import KnownModel
    from vidya_tui.worker.fetcher import Fetcher

STOP = "stop"


class FetchDesk:
    """The downloads of one program."""

    def __init__(self, known: StateStore, fetcher: Fetcher | None, keys: Keymap) -> None:
        """fetcher: None: nothing can be fetched."""
        self._known, self._fetcher, self._keys = known, fetcher, keys

    @property
    def now(self) -> Fetching | None:
        """The model that is on its way."""
        return self._known.now.fetching

    def missing(self) -> Sequence[KnownModel]:
        """The known models that are not in the home, the one that is offered first."""
        from learning.models.known import KNOWN
        from learning.models.store import ModelStore

        if self._fetcher is None:
            return ()
        there = ModelStore(self._fetcher.home).names()
        return [model for name, model in KNOWN.items() if name not in there]

    def offer(self) -> str:
        """The sentence that offers a better model; empty where it is in the home or on its way."""
        from learning.models.known import OFFERED

        missing = self.missing()
        if self.now is not None or not missing or missing[0].name != OFFERED:
            return ""
        return words.offer(missing[0], self.lesson(missing[0]), way(self._keys, "get"))

    def lesson(self, model: KnownModel) -> str:
        """How long a lesson of the model takes (state.fetching.lesson)."""
        learning = self._known.now.learning
        return words.lesson(model, learning.model, learning.took)

    def facts(self, model: KnownModel) -> str:
        """Size, licence, and how long a lesson takes."""
        return ", ".join(part for part in (words.facts(model), self.lesson(model)) if part)

    def carry_out(self, wanted: Argument) -> StatusMessage:
        """`begin`, or `stop`; None: the model that is offered. Raises VidyaError."""
        from learning.models.known import OFFERED

        if wanted == STOP:
            return self.stop()
        return self.begin(OFFERED if wanted is None else str(wanted))

    def begin(self, name: str) -> StatusMessage:
        """Begins to fetch a known model. Raises VidyaError where it is there, unknown, or another is on its
        way."""
        from learning.models.known import known_model

        if self._fetcher is None:
            raise VidyaError("models cannot be fetched here", f"run `vidya model get {name}`")
        self._check_none_waits()
        if self.now is not None:
            raise VidyaError(f"{self.now.name} is being fetched already", "/get stop ends that")
        model = known_model(name)
        if model not in self.missing():
            raise VidyaError(f"{name} is in the home already", "/model changes to it")
        self._fetcher.start(name)
        self._known.change(fetching=Fetching(name))
        return StatusMessage(
            f"fetching {name} ({self.facts(model)}); go on talking, and the talk goes on with it "
            "when it is there; /get stop ends it"
        )

    def stop(self) -> StatusMessage:
        """Ends the download. Raises VidyaError where there is none."""
        self._check_none_waits()
        now = self.now
        if self._fetcher is None or now is None:
            raise VidyaError("nothing is being fetched", "/model lists what can be fetched")
        self._fetcher.stop()
        self._known.change(fetching=None)
        if now.name not in {model.name for model in self.missing()}:  # it was being prepared
            return StatusMessage(f"{now.name} is in the home; /model changes to it")
        return StatusMessage(f"{now.name} is not fetched; /get {now.name} goes on with it")

    def _check_none_waits(self) -> None:
        """Raises VidyaError where a model is fetched and the talk has not gone on with it yet."""
        if self.now is not None and self.now.there:
            raise VidyaError(
                f"{self.now.name} is there already",
                "the talk goes on with it when what runs now is done",
            )
