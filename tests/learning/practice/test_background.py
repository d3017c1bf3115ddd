"""Slow work in another thread, while the waiting one looks whether the owner is back."""

from __future__ import annotations

from concurrent.futures import Future

import pytest

from learning.practice import background
from learning.practice.background import in_background


def test_work_that_ends_just_after_a_wait_has_its_result(monkeypatch: pytest.MonkeyPatch) -> None:
    class Late(Future[int]):
        def result(self, timeout: float | None = None) -> int:
            value = super().result(5.0)
            if timeout is not None:
                raise TimeoutError  # as if the wait had ended just before
            return value

    monkeypatch.setattr(background, "Future", Late)
    assert in_background(lambda: 7, lambda: None) == 7


def test_what_the_work_raises_is_raised_a_timeout_too() -> None:
    def work() -> None:
        raise TimeoutError("the server is slow")

    with pytest.raises(TimeoutError, match="the server is slow"):
        in_background(work, lambda: None)


def test_what_pause_raises_ends_the_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    never = Future[None]()

    def pause() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        in_background(never.result, pause)
    never.set_result(None)
