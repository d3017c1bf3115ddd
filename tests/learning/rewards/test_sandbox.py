"""The sandbox with programs that mean no harm: what passes, what does not, what is said about it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from learning.rewards.sandbox import Sandbox


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(workers=2) as one:
        yield one


def test_right_and_wrong_programs_are_told_apart(sandbox: Sandbox) -> None:
    tests = "assert double(2) == 4\nassert double('ab') == 'abab'"
    assert sandbox.run("def double(x): return x * 2", tests, 20).passed
    wrong = sandbox.run("def double(x): return x + 2", tests, 20)
    assert wrong.value is False
    assert wrong.failure == ""


def test_trusted_functions_are_called(sandbox: Sandbox) -> None:
    assert sandbox.call("math:hypot", [3, 4], 20).value == 5.0
    assert sandbox.call("learning.rewards.sandbox_judge:free_names", ["f(x)", []], 20).failure
