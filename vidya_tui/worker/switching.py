"""A teacher that can be exchanged for one with another model, or with other weights, while the app
goes on: the old one saves and stops, something may be done to the models, the new one begins.

Requests that come in between wait. Left out: what the talk makes of it (Session on ModelChanging).
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Protocol

from engine.errors import VidyaError
from learning.protocol.events import Event, Failed, ModelChanging
from learning.protocol.messages import TeacherPort
from learning.protocol.requests import OwnerActive, Request
from vidya_tui.worker.supervisor import queued


class MakeTeacher(Protocol):
    """Starts a teacher; model: name or path, None: the usual one. Raises VidyaError."""

    def __call__(
        self, on_event: Callable[[Event], None], model: str | None = None, /
    ) -> TeacherPort: ...


class SwitchingTeacher:
    """A TeacherPort around whichever teacher it is now."""

    def __init__(self, make: MakeTeacher, on_event: Callable[[Event], None]) -> None:
        self._make, self._on_event = make, on_event
        self._model: str | None = None
        self._lock = threading.Lock()
        self._waiting: list[Request] = []
        self._changing: threading.Thread | None = None
        self._closed = False
        self._now: TeacherPort | None = self._begin()

    @property
    def changing(self) -> bool:
        """Whether it is being exchanged."""
        return self._changing is not None

    def send(self, request: Request) -> None:
        """Hands a request over; returns at once."""
        with self._lock:
            if self._changing is not None or self._now is None:
                if not isinstance(request, OwnerActive) and not queued(request, self._waiting):
                    self._waiting.append(request)
                return
        self._now.send(request)

    def change(self, model: str, work: Callable[[], object] = lambda: None) -> None:
        """Exchanges it, in a thread; `work` is done while there is none. Where work fails, the one
        that was there comes back. Returns at once. Raises VidyaError while it is being exchanged."""
        with self._lock:
            if self._changing is not None:
                raise VidyaError("the model is being changed already", "wait until it is there")
            if self._closed:
                return
            self._changing = threading.Thread(
                target=self._change, args=(model, work), name="changing", daemon=True
            )
        self._on_event(ModelChanging(model))
        self._changing.start()

    def close(self) -> None:
        """Stops whichever it is; returns when it has saved and stopped."""
        with self._lock:
            self._closed, changing = True, self._changing
        if changing is not None:
            changing.join(timeout=30.0)
        if self._now is not None:
            self._now.close()

    def end(self) -> None:
        """Ends whichever it is, now, without saving; from any thread, without waiting for a lock."""
        self._closed = True
        if end := getattr(self._now, "end", None):
            end()

    def _begin(self) -> TeacherPort:
        if self._model is None:
            return self._make(self._on_event)
        return self._make(self._on_event, self._model)

    def _change(self, model: str, work: Callable[[], object]) -> None:
        if self._now is not None:
            self._now.close()
        made: TeacherPort | None = None
        try:
            work()
            self._model = model
        except VidyaError as error:
            self._on_event(Failed("model", error.what, error.next_step))
        if not self._closed:
            try:
                made = self._begin()
            except VidyaError as error:
                self._on_event(Failed("load", error.what, error.next_step))
        with self._lock:
            self._now, self._changing = made, None
            waiting, self._waiting = self._waiting, []
        for request in waiting:
            self.send(request)
