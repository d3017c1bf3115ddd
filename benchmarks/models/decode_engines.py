"""Three programs that sample answers from the same weights, behind one interface.

Run as `python -m benchmarks.models.decode_engines ENGINE FOLDER` by benchmarks.common.workers.
Each uses its own sampler. Left out: what an app does with the answers.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.common.processes import resident_bytes
from benchmarks.common.workers import serve
from engine.config import Sampling

Ids = list[list[int]]
BATCH = 512
"""Tokens of a prompt that llama.cpp takes at once."""


class Vidya:
    """engine.generate, as the app calls it. Every engine that is measured has these two methods: `publish`
    makes new weights in memory (or their file) ready for the first prompt, `answers` gives n answers of
    exactly `max_tokens` ids each and the seconds until the first id of each."""

    def __init__(self, folder: Path) -> None:
        import torch

        from engine.packed import HalfProduct, product_for
        from engine.precision import fast_dtype
        from engine.storage.checkpoint import load_model
        from engine.tokenizers.load import load_tokenizer

        self._dtype = fast_dtype("cpu")
        self._masters = load_model(folder)
        self._tokenizer = load_tokenizer(folder)
        self._seed = torch.Generator().manual_seed
        self.kind = str(self._dtype).removeprefix("torch.")
        if product_for(torch.device("cpu"), self._dtype) is HalfProduct:
            self.kind = "float16 weights"
        self.publish()

    def publish(self) -> None:
        """Copies as learning.models.weights does, and packs as the first answer would."""
        import copy

        from engine.packed import packed

        self._model = copy.deepcopy(self._masters).to(self._dtype).requires_grad_(False).eval()
        packed(self._model)

    def answers(
        self, prompt: list[int], n: int, sampling: Sampling, seed: int
    ) -> tuple[float, Ids]:
        from engine.generate import Delta, Finished, generate

        started, first, found = time.perf_counter(), 0.0, {}
        for event in generate(
            self._model,
            self._tokenizer,
            prompt,
            n,
            sampling,
            generator=self._seed(seed),
            distinct=False,
        ):
            if not first and isinstance(event, Delta):
                first = time.perf_counter() - started
            if isinstance(event, Finished):
                found[event.index] = list(event.tokens)
        return first, [found[i] for i in sorted(found)]


class Rollouts(Vidya):
    """engine.rollout, as practice calls it."""

    def answers(
        self, prompt: list[int], n: int, sampling: Sampling, seed: int
    ) -> tuple[float, Ids]:
        from engine.rollout import Rollout

        rollout = Rollout(
            self._model,
            [prompt],
            n,
            ends=(),
            max_tokens=sampling.max_tokens,
            temperature=sampling.temperature,
            generator=self._seed(seed),
        )
        return 0.0, [list(answer.tokens) for answer in rollout.answers()[0]]


class Transformers:
    """LlamaForCausalLM.generate with its usual settings and a dynamic cache."""

    def __init__(self, folder: Path) -> None:
        import torch
        import transformers

        from engine.precision import fast_dtype

        transformers.logging.set_verbosity_error()
        dtype = fast_dtype("cpu")
        self._model = transformers.LlamaForCausalLM.from_pretrained(folder, dtype=dtype).eval()
        self._new = {k: v.float().clone() for k, v in self._model.state_dict().items()}
        self._torch = torch
        self.kind = str(dtype).removeprefix("torch.")

    def publish(self) -> None:
        self._model.load_state_dict(self._new)

    def answers(
        self, prompt: list[int], n: int, sampling: Sampling, seed: int
    ) -> tuple[float, Ids]:
        self._torch.manual_seed(seed)
        ids = self._torch.tensor([prompt])
        drawn = {
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            "top_k": 0,
            "repetition_penalty": sampling.repetition_penalty,
        }
        clock = _FirstToken()
        out = self._model.generate(
            ids,
            attention_mask=self._torch.ones_like(ids),
            max_new_tokens=sampling.max_tokens,
            num_return_sequences=n,
            pad_token_id=0,
            eos_token_id=None,
            do_sample=sampling.temperature > 0,
            stopping_criteria=[clock],
            **(drawn if sampling.temperature > 0 else {}),
        )
        return clock.seconds, out[:, len(prompt) :].tolist()


class _FirstToken:
    """A stopping criterion that never stops; records the time of the first token."""

    def __init__(self) -> None:
        self._started = time.perf_counter()
        self.seconds = 0.0

    def __call__(self, ids: Any, scores: Any, **_: Any) -> Any:
        self.seconds = self.seconds or time.perf_counter() - self._started
        return ids.new_zeros(len(ids), dtype=bool)


class LlamaCpp:
    """llama.cpp through its C functions: one prompt whose cache n sequences share, one batch per step."""

    def __init__(self, folder: Path, kind: str) -> None:
        import llama_cpp

        from engine.storage.checkpoint import load_config, load_tensors
        from engine.storage.checkpoint_files import WEIGHTS
        from engine.storage.gguf_model import write_gguf

        self._c: Any = llama_cpp
        self._quiet = llama_cpp.llama_log_callback(lambda *_: None)
        llama_cpp.llama_log_set(self._quiet, None)
        self._context, self._config, self.kind = None, load_config(folder), kind
        self._model: Any = None
        file, self._path = tempfile.mkstemp(suffix=".gguf")
        os.close(file)
        no_words = {"tokenizer.ggml.model": "no_vocab"}  # the benchmark speaks in ids
        self._write: Callable[[], None] = lambda: write_gguf(
            Path(self._path), self._config, load_tensors(folder / WEIGHTS)[0], kind, no_words
        )
        self.publish()

    def publish(self) -> None:
        """Converts, writes and loads a file, because llama.cpp reads weights only from files."""
        c = self._c
        self._write()
        if self._context:
            c.llama_free(self._context)
            c.llama_model_free(self._model)
        self._model = c.llama_model_load_from_file(
            self._path.encode(), c.llama_model_default_params()
        )
        settings = c.llama_context_default_params()
        settings.n_ctx, settings.n_seq_max, settings.kv_unified = 8192, 64, True
        settings.n_batch = settings.n_ubatch = BATCH
        settings.n_threads = settings.n_threads_batch = _cores()
        self._context = c.llama_init_from_model(self._model, settings)

    def answers(
        self, prompt: list[int], n: int, sampling: Sampling, seed: int
    ) -> tuple[float, Ids]:
        c, started = self._c, time.perf_counter()
        memory = c.llama_get_memory(self._context)
        c.llama_memory_clear(memory, False)
        samplers = [self._sampler(sampling, seed * n + i) for i in range(n)]
        for start in range(0, len(prompt), BATCH):
            part = prompt[start : start + BATCH]
            self._decode(part, range(start, start + len(part)), [0] * len(part), last_only=True)
        for sequence in range(1, n):
            c.llama_memory_seq_cp(memory, 0, sequence, -1, -1)
        at = len(part) - 1
        found = [[c.llama_sampler_sample(s, self._context, at)] for s in samplers]
        first = time.perf_counter() - started
        for step in range(1, sampling.max_tokens):
            position = len(prompt) + step - 1
            self._decode([row[-1] for row in found], [position] * n, range(n), last_only=False)
            for place, (row, sampler) in enumerate(zip(found, samplers, strict=True)):
                row.append(c.llama_sampler_sample(sampler, self._context, place))
        for sampler in samplers:
            c.llama_sampler_free(sampler)
        return first, found

    def _sampler(self, sampling: Sampling, seed: int) -> Any:
        """A chain of penalty, top-p, temperature and sampling; excludes special tokens, like the others."""
        c = self._c
        chain = c.llama_sampler_chain_init(c.llama_sampler_chain_default_params())
        if sampling.temperature == 0.0:
            c.llama_sampler_chain_add(chain, c.llama_sampler_init_greedy())
            return chain
        if sampling.repetition_penalty != 1.0:
            penalty = c.llama_sampler_init_penalties(
                sampling.max_tokens, 0, sampling.repetition_penalty, 0.0, 0.0
            )
            c.llama_sampler_chain_add(chain, penalty)
        c.llama_sampler_chain_add(chain, c.llama_sampler_init_temp(sampling.temperature))
        if sampling.top_p < 1.0:
            c.llama_sampler_chain_add(chain, c.llama_sampler_init_top_p(sampling.top_p, 1))
        c.llama_sampler_chain_add(chain, c.llama_sampler_init_dist(seed))
        return chain

    def _decode(
        self,
        tokens: Sequence[int],
        positions: Sequence[int],
        sequences: Sequence[int],
        *,
        last_only: bool,
    ) -> None:
        batch = self._c.llama_batch_init(len(tokens), 0, 1)
        batch.n_tokens = len(tokens)
        for i, (token, position, sequence) in enumerate(
            zip(tokens, positions, sequences, strict=True)
        ):
            batch.token[i], batch.pos[i], batch.n_seq_id[i] = token, position, 1
            batch.seq_id[i][0] = sequence
            batch.logits[i] = not last_only or i == len(tokens) - 1
        failed = self._c.llama_decode(self._context, batch)
        self._c.llama_batch_free(batch)
        if failed:
            raise RuntimeError(f"llama_decode: {failed}")


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def make(name: str, folder: Path) -> Callable[..., dict[str, Any]]:
    """Creates the engine and returns the function that handles its requests."""
    makers: dict[str, Callable[[], Any]] = {
        "vidya": lambda: Vidya(folder),
        "vidya rollouts": lambda: Rollouts(folder),
        "transformers": lambda: Transformers(folder),
    }
    kind = name.rpartition(" ")[2]
    engine = makers.get(name, lambda: LlamaCpp(folder, kind))()

    def do(
        *, prompt: list[int], n: int, sampling: dict[str, Any], seed: int, publish: bool = False
    ) -> dict[str, Any]:
        if publish:
            started = time.perf_counter()
            engine.publish()
            return {"publish": time.perf_counter() - started}
        started = time.perf_counter()
        first, answers = engine.answers(prompt, n, Sampling(**sampling), seed)
        return {
            "seconds": time.perf_counter() - started,
            "first": first,
            "tokens": sum(map(len, answers)),
            "answers": answers[:1],
            "resident": resident_bytes(os.getpid()),
            "kind": engine.kind,
        }

    return do


if __name__ == "__main__":
    serve(lambda: make(sys.argv[1], Path(sys.argv[2])))
