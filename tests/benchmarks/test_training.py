from __future__ import annotations

from typing import Any

import pytest

from benchmarks import BenchOptions
from benchmarks.training import measure, parts
from benchmarks.training_engines import BATCHES, documents_of, gemm_peak, packed_rows, padded


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
        "vidya muon": Fake([2.0, 2.0, 2.0]),
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


def test_rows_are_full_of_documents() -> None:
    ids, documents = packed_rows(2, 50)
    assert ids.shape == documents.shape == (2, *BATCHES["pretrain"])
    assert int(ids.max()) < 50
    # equal numbers lie together, and a row holds two documents at least
    changes = documents.diff(dim=-1)
    assert bool((changes >= 0).all()) and bool((changes.sum(-1) >= 1).all())


def test_documents_are_the_same_tokens() -> None:
    ids, documents = packed_rows(2, 50)
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


def test_the_peak_is_a_speed() -> None:
    assert 0.1 < gemm_peak(128) < 1e7
