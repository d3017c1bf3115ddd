"""Replaces the teacher by one with another model or other weights while the app runs: the old one saves and
stops, some work on the models may follow, then the new one starts.

Requests wait meanwhile. Left out: how the session reacts (Session on ModelChanging).
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
    """Starts a teacher. model: name or path; None: the default one. Raises VidyaError."""

    def __call__(
        self, on_event: Callable[[Event], None], model: str | None = None, /
    ) -> TeacherPort: ...


class SwitchingTeacher:
    """A TeacherPort that passes requests to the current teacher."""

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
        """True while the teacher is being replaced."""
        return self._changing is not None

    def send(self, request: Request) -> None:
        """Passes a request to the teacher, or keeps it while there is none; returns at once."""
        with self._lock:
            if self._changing is not None or self._now is None:
                if not isinstance(request, OwnerActive) and not queued(request, self._waiting):
                    self._waiting.append(request)
                return
        self._now.send(request)

    def change(self, model: str, work: Callable[[], object] = lambda: None) -> None:
        """Replaces the teacher, in a thread, and runs `work` while there is none. If `work` fails, the
        previous model comes back; if the model cannot be loaded then, there is none, and requests wait until
        another one is there. Returns at once. Raises VidyaError during another change."""
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
        """Stops the current teacher; returns when it has saved and stopped."""
        with self._lock:
            self._closed, changing = True, self._changing
        if changing is not None:
            changing.join(timeout=30.0)
        if self._now is not None:
            self._now.close()

    def end(self) -> None:
        """Kills the current teacher at once, without saving. Can be called from any thread; takes no lock."""
        self._closed = True
        if end := getattr(self._now, "end", None):
            end()

    def _begin(self) -> TeacherPort:
        if self._model is None:
            return self._make(self._on_event)
        return self._make(self._on_event, self._model)

    def _change(self, model: str, work: Callable[[], object]) -> None:
        made: TeacherPort | None = None
        try:
            if self._now is not None:
                self._now.close()
            work()
            self._model = model
        except Exception as error:
            self._failed("model", error)
        if not self._closed:
            try:
                made = self._begin()
            except Exception as error:
                self._failed("load", error)
        with self._lock:
            self._now, self._changing = made, None
            waiting, self._waiting = self._waiting, []
        for request in waiting:
            self.send(request)

    def _failed(self, where: str, error: Exception) -> None:
        """Tells that a part of the change failed, expected or not."""
        if isinstance(error, VidyaError):
            self._on_event(Failed(where, error.what, error.next_step))
        else:
            what = f"the model could not be changed ({type(error).__name__}: {error})"
            self._on_event(Failed(where, what, "try again; nothing was lost"))
