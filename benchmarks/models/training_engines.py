"""Our training and transformers' Trainer on the same rows, behind one interface.

Run as `python -m benchmarks.models.training_engines ENGINE FOLDER` by benchmarks.common.workers.
Both use the machine's fastest number format and AdamW. Left out: reading data.
"""

from __future__ import annotations

import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.common.processes import forget_peak, peak_bytes
from benchmarks.common.workers import serve
from engine.config import CONFIGS

LR = 3e-4
BOOK_LR = 1e-3
BATCH = 32
"""Lines of the book per step."""
BATCHES = {"pretrain": (8, 256), "pretrain of 32": (32, 256)}
"""Work -> (rows per step, tokens per row)."""
MICRO_ROWS = 8
"""Rows per forward pass."""
GEMMS = 30
"""Matrix products, of which the fastest is the machine's peak."""


def packed_rows(steps: int, vocabulary: int, batch: tuple[int, int]) -> Any:
    """(ids, document numbers), each [steps, rows, tokens]: documents of 40 to 120 tokens, packed."""
    import torch

    rows, width = batch
    rng = random.Random(0)
    ids = torch.randint(0, vocabulary, (steps, rows, width), generator=torch.manual_seed(0))
    lengths = [rng.randint(40, 120) for _ in range(steps * rows * width // 40)]
    documents = torch.repeat_interleave(torch.tensor(lengths))[: ids.numel()]
    return ids, documents.view(ids.shape)


def documents_of(ids: Any, documents: Any) -> list[Any]:
    """The documents in the rows of `packed_rows`, each [length]."""
    import torch

    _, lengths = torch.unique_consecutive(documents.flatten(), return_counts=True)
    return list(ids.flatten().split(lengths.tolist()))


def book(folder: Path, context: int) -> list[Any]:
    """The shipped book as examples."""
    from engine.tokenizers.load import load_tokenizer
    from learning.memory.book_rows import book_examples
    from personality.book import shipped_book_path

    return book_examples(load_tokenizer(folder), [shipped_book_path()], context)


class Vidya:
    """learning.pretraining.loop and learning.book_training.loop."""

    def __init__(self, folder: Path, size: str, muon: bool, compiled: bool) -> None:
        from benchmarks.models.decode import load_size

        self._folder, self._muon, self._compiled = folder, muon, compiled
        self._model = load_size(folder, size)

    def pretrain(self, steps: int, batch: tuple[int, int]) -> dict[str, Any]:
        """Times the steps after the first; the first one, which compiles, is reported separately."""
        import torch

        from learning.maths.optim import AdamWAlone
        from learning.pretraining.loop import (
            PretrainSettings,
            accumulate,
            muon_adamw,
            next_token_loss,
        )

        model, took = self._model, []
        rows, width = batch
        settings = PretrainSettings(tokens=1, rows=rows, row=width, micro_rows=MICRO_ROWS)
        loss_of = torch.compile(next_token_loss) if self._compiled else next_token_loss
        optimizer = (
            muon_adamw(model, settings)
            if self._muon
            else AdamWAlone(model, lr=LR, weight_decay=0.0, betas=(0.9, 0.95))
        )
        for ids, documents in zip(
            *packed_rows(steps + 1, model.config.vocab_size, batch), strict=True
        ):
            started = time.perf_counter()
            loss = accumulate(model, ids, documents, settings, loss_of)
            _clip(model)
            optimizer.step()
            optimizer.zero_grad()
            took.append(time.perf_counter() - started)
        return {**usual_step(took, rows * width), "loss": float(loss)}

    def book(self, epochs: int) -> dict[str, Any]:
        """Trains on the whole book, without own talk, so that the work is the same."""
        from learning.book_training.asking import EpochReport
        from learning.book_training.loop import BookSettings, train_book
        from learning.objectives.forward import knowledge, share_known

        lines = book(self._folder, self._model.config.context)
        settings = BookSettings(
            epochs=epochs, batch=BATCH, others=0, talk=0, margin=0.0, until_known=False, lr=BOOK_LR
        )
        curve: list[tuple[int, float, float]] = []

        def seen(report: EpochReport) -> None:
            if report.recall is not None:
                curve.append((report.epoch, report.seconds, report.recall))

        started = time.perf_counter()
        train_book(self._model, lines, [], settings, random.Random(0), report=seen)
        seconds = time.perf_counter() - started
        checking = time.perf_counter()
        recall = share_known(knowledge(self._model, lines))
        checking = time.perf_counter() - checking
        return {
            "seconds": seconds,
            "checking": checking * (epochs + 1),
            "tokens": epochs * sum(len(e.ids) for e in lines),
            "lines": len(lines),
            "recall": recall,
            "curve": curve,
        }


class Trainer:
    """transformers' Trainer with its defaults, except for batch, learning rate and saving.

    padded: pre-training rows have one document each, as Trainer uses a dataset of documents by default.
    """

    def __init__(self, folder: Path, size: str, padded: bool = False) -> None:
        import accelerate  # noqa: F401 - needed by Trainer later
        import transformers

        from benchmarks.models.decode import load_size
        from engine.storage.checkpoint import save_model

        transformers.logging.set_verbosity_error()
        self._t, self._folder, self._padded = transformers, folder, padded
        with tempfile.TemporaryDirectory() as made:
            import torch

            save_model(load_size(folder, size), Path(made), dtype=torch.float32)
            self._model = transformers.LlamaForCausalLM.from_pretrained(made, dtype=torch.float32)

    def pretrain(self, steps: int, batch: tuple[int, int]) -> dict[str, Any]:
        rows, width = batch
        ids, documents = packed_rows(steps + 1, self._model.config.vocab_size, batch)
        if self._padded:
            return self._pretrain_padded(documents_of(ids, documents), steps)
        data = [{"input_ids": row, "labels": row} for row in ids.flatten(0, 1)]
        took = self._train(data, MICRO_ROWS, steps + 1, None, LR, rows // MICRO_ROWS)
        return usual_step(took, rows * width)

    def _pretrain_padded(self, documents: list[Any], steps: int) -> dict[str, Any]:
        """Steps with as many documents as the packed rows have, padded to the longest."""
        data = [{"input_ids": d.tolist(), "labels": d.tolist()} for d in documents]
        batch = len(data) // (steps + 1)
        seen: list[int] = []

        def collate(rows: list[dict[str, Any]]) -> dict[str, Any]:
            seen.append(sum(len(row["input_ids"]) for row in rows))
            return padded(rows)

        took = self._train(data, batch, steps + 1, collate, LR)
        return usual_step(took, round(sum(seen[1 : steps + 1]) / steps))

    def book(self, epochs: int) -> dict[str, Any]:
        """Trains on the book with batches padded to the longest; the loss is on answers only."""
        from learning.objectives.forward import knowledge, share_known

        lines = book(self._folder, self._model.config.max_position_embeddings)
        data = [
            {
                "input_ids": list(e.ids),
                "labels": [i if w else -100 for i, w in zip(e.ids, e.target, strict=True)],
            }
            for e in lines
        ]

        took = self._train(data, BATCH, epochs * -(-len(lines) // BATCH), padded, BOOK_LR)
        return {
            "seconds": sum(took),
            "tokens": epochs * sum(len(e.ids) for e in lines),
            "lines": len(lines),
            "recall": share_known(knowledge(_ours(self._model), lines)),
        }

    def _train(
        self, data: list[Any], batch: int, steps: int, collate: Any, rate: float, passes: int = 1
    ) -> list[float]:
        """Seconds of each optimizer step of `passes` passes, including data loading."""
        from engine.precision import fast_dtype

        took: list[float] = []

        class Clock(self._t.TrainerCallback):  # type: ignore[name-defined,misc]
            def on_train_begin(self, *_: Any, **__: Any) -> None:
                self.last = time.perf_counter()

            def on_step_end(self, *_: Any, **__: Any) -> None:
                took.append(time.perf_counter() - self.last)
                self.last = time.perf_counter()

        with tempfile.TemporaryDirectory() as scratch:
            arguments = self._t.TrainingArguments(
                output_dir=scratch,
                per_device_train_batch_size=batch,
                gradient_accumulation_steps=passes,
                max_steps=steps,
                learning_rate=rate,
                use_cpu=True,
                bf16=fast_dtype("cpu").itemsize == 2,
                report_to=[],
                save_strategy="no",
                logging_strategy="no",
                disable_tqdm=True,
            )
            trainer = self._t.Trainer(
                self._model,
                arguments,
                data_collator=collate,
                train_dataset=data,
                callbacks=[Clock()],
            )
            trainer.train()
        return took


def usual_step(took: list[float], tokens: int) -> dict[str, Any]:
    """The median of the steps after the first; robust against other load on the machine."""
    return {"seconds": statistics.median(took[1:]), "first": took[0], "tokens": tokens}


def padded(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """A batch padded to its longest row."""
    import torch

    width = max(len(row["input_ids"]) for row in rows)
    fill = {"input_ids": 0, "labels": -100}
    batch = {
        key: torch.tensor([r[key] + [empty] * (width - len(r[key])) for r in rows])
        for key, empty in fill.items()
    }
    lengths = torch.tensor([len(row["input_ids"]) for row in rows])
    return {**batch, "attention_mask": (torch.arange(width) < lengths[:, None]).long()}


def _clip(model: Any) -> None:
    import torch

    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)


def _ours(theirs: Any) -> Any:
    """Converts their model into ours, so that recall is measured the same way."""
    from engine.storage.checkpoint import load_model

    with tempfile.TemporaryDirectory() as folder:
        theirs.save_pretrained(folder)
        return load_model(Path(folder))


def gemm_peak(side: int = 2048) -> float:
    """Peak GFLOP/s of a matrix product: the best of GEMMS in the fastest number format. The best of few is
    often half of that, while a thread still sleeps, which would inflate all shares of the peak."""
    import torch

    from engine.precision import fast_dtype

    best = float("inf")
    a = torch.randn(side, side).to(fast_dtype("cpu"))
    with torch.no_grad():
        for _ in range(GEMMS):
            started = time.perf_counter()
            a @ a
            best = min(best, time.perf_counter() - started)
    return 2 * side**3 / best / 1e9


def make(name: str, folder: Path) -> Callable[..., dict[str, Any]]:
    """The function that handles requests; it creates a new engine for each."""
    theirs = name.startswith("transformers Trainer")
    if theirs:
        import accelerate  # noqa: F401
        import transformers  # noqa: F401

    def do(*, work: str, size: str, count: int) -> dict[str, Any]:
        if work == "gemm":
            return {"gflops": gemm_peak(), "parameters": CONFIGS[size].parameters}
        engine: Any = (
            Trainer(folder, size, "padded" in name)
            if theirs
            else Vidya(folder, size, "muon" in name, "compiled" in name)
        )
        forget_peak()
        found: dict[str, Any] = (
            engine.book(count) if work == "book" else engine.pretrain(count, BATCHES[work])
        )
        return {**found, "peak_mb": (peak_bytes() or 0) / 1e6}

    return do


if __name__ == "__main__":
    serve(lambda: make(sys.argv[1], Path(sys.argv[2])))
