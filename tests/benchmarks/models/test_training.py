from __future__ import annotations

from typing import Any

import pytest

from benchmarks import BenchOptions
from benchmarks.common.weights import fingerprint_of
from benchmarks.models.training import BASE, attention_share, measure, parts, run, seconds_to
from benchmarks.models.training_engines import (
    BATCHES,
    documents_of,
    gemm_peak,
    packed_rows,
    padded,
    usual_step,
)
from engine.config import CONFIGS
from engine.errors import NotFound


class Fake:
    """A worker that takes as long as it is told."""

    missing: str | None = None

    def __init__(self, seconds: list[float]) -> None:
        self._seconds = iter(seconds)

    def ask(self, *, work: str, size: str, count: int) -> dict[str, Any]:
        if work == "gemm":
            return {"gflops": 100.0, "parameters": 10_000_000}
        return {"seconds": next(self._seconds), "tokens": 1000, "peak_mb": 5.0}


class Absent:
    missing = "it is not installed"


def test_ratios_are_of_the_same_round(tmp_path: Any) -> None:
    workers: Any = {
        "vidya": Fake([1.0, 4.0, 2.0]),  # 1000, 250 and 500 tokens a second
        "vidya compiled": Fake([2.0, 2.0, 2.0]),
        "transformers Trainer": Fake([3.0, 8.0, 8.0]),
        "transformers Trainer, padded": Fake([6.0, 8.0, 8.0]),
    }
    rows = measure(workers, "pretrain", "10m", 3, 2, BenchOptions(tmp_path))
    ours = rows[0]
    assert ours["tokens_per_second"] == 500.0
    assert ours["times_trainer"] == pytest.approx(3.0)  # of 3, 2 and 4
    # 6 operations for each of 10 million weights and 500 tokens: 30 of 100 GFLOP/s
    assert ours["share_of_gemm_peak"] == pytest.approx(0.3)
    assert rows[2]["times_trainer"] == 1.0


def test_a_program_that_is_missing_has_a_row(tmp_path: Any) -> None:
    workers: Any = {"vidya": Fake([1.0]), "transformers Trainer": Absent()}
    rows = measure(workers, "book", "10m", 1, 1, BenchOptions(tmp_path))
    assert rows[0]["times_trainer"] is None
    assert rows[1]["missing"] == "it is not installed"
    text = "\n".join(parts({"rows": rows}))
    assert "| 10m | transformers Trainer | it is not installed |" in text


def test_what_was_measured_is_not_measured_again(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[str, str]] = []
    monkeypatch.setattr("benchmarks.models.training.Worker", lambda *_, **__: Worker())
    monkeypatch.setattr("benchmarks.models.training.measure", lambda *a: measured(a))

    class Worker:
        def close(self) -> None: ...

    def measured(arguments: tuple[Any, ...]) -> list[dict[str, Any]]:
        asked.append(arguments[1:3])
        return [{"work": asked[-1][0], "size": asked[-1][1], "engine": "vidya", "missing": "x"}]

    options = BenchOptions(tmp_path, out=tmp_path)
    monkeypatch.setenv("VIDYA_TRAINING", "book 49m, pretrain 10m")
    run(options)
    assert asked == [("pretrain", "10m"), ("book", "49m")]
    monkeypatch.delenv("VIDYA_TRAINING")
    rows = run(options)["rows"]
    assert len(rows) == 6
    assert {row["fingerprint"] for row in rows} == {fingerprint_of(options, BASE)}
    longer = [("pretrain of 32", "10m"), ("pretrain of 32", "49m")]
    assert asked[2:] == [("pretrain", "49m"), *longer, ("book", "10m")]


def test_a_part_that_does_not_exist_is_told_before_anything_is_measured(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("benchmarks.models.training.Worker", None)
    monkeypatch.setenv("VIDYA_TRAINING", "book 10m, book 135m")
    with pytest.raises(NotFound) as caught:
        run(BenchOptions(tmp_path, quick=True, out=tmp_path))
    assert str(caught.value) == (
        "'book 135m' does not exist (VIDYA_TRAINING); choose among: pretrain 10m, pretrain of 32 10m, "
        "book 10m"
    )


def test_when_the_book_was_known() -> None:
    curve = [(0, 1.0, 0.0), (1, 5.0, 0.94), (2, 9.0, 0.95), (3, 13.0, 0.9)]
    assert seconds_to(0.95, curve) == 9.0
    assert seconds_to(0.96, curve) is None


def test_rows_are_full_of_documents() -> None:
    ids, documents = packed_rows(2, 50, BATCHES["pretrain"])
    assert ids.shape == documents.shape == (2, *BATCHES["pretrain"])
    assert int(ids.max()) < 50
    # equal numbers lie together, and a row holds two documents at least
    changes = documents.diff(dim=-1)
    assert bool((changes >= 0).all()) and bool((changes.sum(-1) >= 1).all())


def test_documents_are_the_same_tokens() -> None:
    ids, documents = packed_rows(2, 50, BATCHES["pretrain"])
    alone = documents_of(ids, documents)
    assert sum(len(d) for d in alone) == ids.numel()
    assert all(40 <= len(d) <= 120 for d in alone[:-1])  # the last is cut off
    start = len(alone[0])
    assert alone[1].tolist() == ids.flatten()[start : start + len(alone[1])].tolist()


def test_a_padded_batch_learns_no_padding() -> None:
    batch = padded(
        [{"input_ids": [5, 6, 7], "labels": [5, 6, 7]}, {"input_ids": [8], "labels": [8]}]
    )
    assert batch["input_ids"].tolist() == [[5, 6, 7], [8, 0, 0]]
    assert batch["labels"].tolist() == [[5, 6, 7], [8, -100, -100]]
    assert batch["attention_mask"].tolist() == [[1, 1, 1], [1, 0, 0]]


def test_what_else_the_machine_does_meets_single_steps() -> None:
    # the first compiles; one of the others was disturbed
    assert usual_step([30.0, 2.0, 9.0, 2.2], 512) == {"seconds": 2.2, "first": 30.0, "tokens": 512}


def test_attention_has_its_own_products() -> None:
    # 12 x 5 layers x 6 heads of 64 x 256 tokens, beside 6 x 10.2 million
    assert attention_share(CONFIGS["10m"], 256) == pytest.approx(0.0961, abs=1e-4)


def test_the_peak_is_a_speed() -> None:
    assert 0.1 < gemm_peak(128) < 1e7
