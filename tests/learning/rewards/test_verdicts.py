"""The tables of verdicts: what a careful teacher would pay, and what not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from learning.rewards.sandbox.pool import Sandbox
from learning.rewards.task import Problem
from learning.rewards.verifiers import expression
from learning.rewards.verifiers.answer import read_answer
from learning.rewards.verifiers.expression import expression_check
from learning.rewards.verifiers.number import number_score
from learning.rewards.verifiers.verified import Lent


def rows(name: str) -> Iterator[tuple[str, str, float]]:
    """(truth, answer, right) of each row."""
    for line in (Path(__file__).parent / name).read_text("utf-8").splitlines():
        if line and not line.startswith("#"):
            verdict, truth, answer = line.split("\t")
            yield truth, answer.replace("⏎", "\n"), float({"right": 1, "wrong": 0}[verdict])


def test_numbers_are_paid_as_the_table_says() -> None:
    table = list(rows("verdicts_number.tsv"))
    assert len(table) >= 400
    other = [row for row in table if number_score(row[0], read_answer(row[1])) != row[2]]
    assert not other, "\n".join(f"not {right:g}: {t!r} {said!r}" for t, said, right in other)


@pytest.mark.slow
def test_expressions_are_paid_as_the_table_says(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("math_verify")
    monkeypatch.setattr(expression, "SECONDS", 3.0)  # the machine may be busy
    table = list(rows("verdicts_expression.tsv"))
    by_truth: dict[str, list[tuple[str, float]]] = {}
    for truth, said, right in table:
        by_truth.setdefault(truth, []).append((said, right))
    other = []
    with Sandbox(workers=2) as sandbox:
        check = expression_check(Lent(sandbox))
        for truth, answers in by_truth.items():
            texts = [f"\\boxed{{{said}}}" for said, _ in answers]
            found = check(Problem("", truth), [read_answer(text) for text in texts], texts)
            for (said, right), verdict in zip(answers, found, strict=True):
                if verdict != right:
                    other.append(f"not {right:g} but {verdict}: {truth}  {said}")
    assert not other, "\n".join(other)
