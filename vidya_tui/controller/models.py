"""What the settings, model and training screens can change in the running app.

Changes take effect at once and are in settings.toml when a method returns. Knows no widgets.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from engine.config import CONFIGS
from engine.errors import CheckpointError, VidyaError
from learning.home import Home
from learning.models.store import ModelInfo, ModelStore, Snapshot
from learning.models.unfinished_training import read_unfinished
from learning.practice.supply.arms import parse_others
from learning.practice.supply.typed import split_typed
from learning.protocol.records import DisputedAnswers
from learning.protocol.requests import FindDisputed, Grow
from vidya_tui.commands.keymap import shown
from vidya_tui.controller.controller import Controller
from vidya_tui.controller.preferences import how_to_learn, prepare
from vidya_tui.session.disputed import pick_disputed
from vidya_tui.settings import file as settings_file
from vidya_tui.settings.file import Settings
from vidya_tui.state.growth import Growing
from vidya_tui.state.message import StatusMessage
from vidya_tui.worker.switching import SwitchingTeacher

if TYPE_CHECKING:
    from vidya_tui.state.taste import TasteView


class ModelControl:
    """A method that raises VidyaError has changed nothing."""

    def __init__(
        self,
        home: Home,
        settings: Settings,
        controller: Controller,
        teacher: SwitchingTeacher,
        changed: Callable[[Settings], None] = lambda _: None,
    ) -> None:
        """changed: called with new settings, for what only the app can apply."""
        self.settings = settings
        self.controller = controller
        self._home, self._teacher, self._changed = home, teacher, changed
        self._store = ModelStore(home)
        self._came = False
        """Whether the model was changed, and `go_on` has not told of the new one's interrupted training."""
        self._apply()

    # ------------------------------------------------------------ settings

    def set(self, key: str, value: object) -> None:
        """Changes one setting. Raises SettingsError where the value or the file is wrong."""
        settings = replace(self.settings, **{key: value})  # type: ignore[arg-type]
        if key == "model":
            self.use(str(value))
            return
        self._save(key, value)
        self.settings = settings
        self._apply()

    def _save(self, key: str, value: object) -> None:
        path = self._home.settings_path
        now = settings_file.load(path)  # the owner may have edited it meanwhile
        settings_file.save(path, replace(now, **{key: value}))  # type: ignore[arg-type]

    def _apply(self) -> None:
        now = self.settings
        self._prepare()
        self.controller.learn_as(how_to_learn(now))
        words = split_typed(now.practice_settings), tuple(now.practice_options.split())
        others = parse_others(split_typed(now.practice_others)) if now.idle_practice else ()
        self.controller.practice.idle_as(now.idle_practice, now.practice_task, *words, others)
        self._changed(now)

    def _prepare(self) -> None:
        drawn = self._store.generation(self.settings.model).sampling
        prepare(self.controller.session, self.settings, drawn)

    # ------------------------------------------------------------ models

    @property
    def model(self) -> str:
        """Name or path of the model in use."""
        return self.settings.model

    def taste(self) -> TasteView:
        """What is known about the owner's taste with the model in use. Raises NotFound, CheckpointError and
        JournalError."""
        from vidya_tui.state.taste import (
            read_taste,
        )  # the first frame waits for no more than it needs

        return read_taste(self._store.info(self.model).path, self.controller.journal)

    def find_disputed(self, count: int) -> None:
        """Asks the teacher for messages about whose answers the taste is unsure; they come as a Disputed."""
        self.controller.session.teacher.send(FindDisputed(count))

    def pick_disputed(self, one: DisputedAnswers, index: int) -> None:
        """Takes one of these answers, 1 to n, as the owner's pick. Raises JournalError, and DataError where
        the book cannot be written."""
        session = self.controller.session
        pick_disputed(session.journal, session.teacher, self._home.book_path, one, index)

    def models(self) -> tuple[Sequence[ModelInfo], dict[str, CheckpointError]]:
        """(models of the home, then those that come with vidya; name -> why a model cannot be read)."""
        return self._store.readable()

    def in_use(self, info: ModelInfo) -> bool:
        return info.is_called(self.model)

    def called(self, info: ModelInfo) -> str:
        """See ModelStore.called."""
        return self._store.called(info)

    @property
    def awake(self) -> bool:
        """Whether the model in use is loaded."""
        return self.controller.learning.loaded

    def unfinished(self) -> StatusMessage | None:
        """Says that the book training of the model in use was interrupted; None if none was."""
        found = read_unfinished(self._home.models_path / self.model)
        if found is None:
            return None
        where = f" in epoch {found.epoch + 1}" if found.step else ""
        key = shown(self.controller.keys["train"]) or "/train"
        return StatusMessage(f"book training was interrupted{where}; {key} continues it", stay=True)

    def snapshots(self) -> Sequence[Snapshot]:
        """Earlier weights of the model in use, newest first."""
        if self._store.info(self.model).shipped:  # looking must not bring it into the home
            return ()
        return self._store.snapshots(self.model)[::-1]

    def use(self, name: str) -> None:
        """Changes to another model."""
        if name == self.model and self.awake:
            return
        info = self._store.info(name)
        wanted = self.called(info)
        self._ready()
        self._save("model", wanted)
        self._teacher.change(wanted)
        self._came = True
        self.settings = replace(self.settings, model=wanted)
        self._prepare()
        if coming := self.controller.fetches.now:
            self.controller.known.change(fetching=replace(coming, wanted=False))

    def go_on(self) -> StatusMessage | None:
        """Call after events: goes on with a model that was fetched, as soon as nothing would be broken off.
        Returns what to tell the owner, who is also told of an interrupted training of a model that came."""
        if self._came and self.awake and not self._teacher.changing:
            self._came = False
            if told := self.unfinished():
                return told
        controller, coming = self.controller, self.controller.fetches.now
        busy = (
            controller.session.streaming
            or controller.training.running
            or controller.practice.running
        )
        if (
            coming is None
            or not coming.there
            or busy
            or controller.growing
            or self._teacher.changing
        ):
            return None
        controller.known.change(fetching=None)
        if not coming.wanted:
            return StatusMessage(f"{coming.name} is there: /model talks to it", stay=True)
        try:
            self.use(coming.name)
        except VidyaError as error:
            return StatusMessage(f"{coming.name} is there, but {error}", trouble=True, stay=True)
        return None

    def rollback(self, version: int) -> None:
        """Restores a snapshot of the model in use; later lessons need practice then."""
        if version not in {shot.version for shot in self.snapshots()}:
            raise VidyaError(f"there is no snapshot {version}", "choose one of the list")
        self._ready()
        model, journal = self.model, self.controller.journal
        self._teacher.change(model, lambda: self._store.rollback(model, version, journal))

    def grow(self, config: str) -> str:
        """Begins to make a larger model out of the one in use and returns its name. A Grown event comes when
        it is there."""
        if config not in self.larger():
            raise VidyaError(f"{config} is not larger than this model", "choose a larger one")
        self._ready()
        taken = self._store.names()
        names = (config, *(f"{config}-{number}" for number in range(2, 1000)))
        name = next(name for name in names if name not in taken)
        self.controller.known.change(growing=Growing(name, time.monotonic()))
        self._teacher.send(Grow(config, name))
        return name

    def larger(self) -> list[str]:
        """Names of configurations that the model in use can grow to, smallest first."""
        size = self._store.info(self.model).parameters
        larger = [(c.parameters, name) for name, c in CONFIGS.items() if c.parameters > 1.5 * size]
        return [name for _, name in sorted(larger)]

    def _ready(self) -> None:
        if self._teacher.changing:
            raise VidyaError("the model is being changed already", "wait until it is there")
        if growing := self.controller.growing:
            raise VidyaError(f"{growing.name} is being made", "wait until it is there")
