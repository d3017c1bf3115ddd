from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
import torch

from benchmarks import BenchOptions
from benchmarks.models import decode, decode_engines
from benchmarks.models.decode import SAME, environment_of, parts, prompt_of
from benchmarks.models.decode_engines import make
from engine.config import GREEDY, Sampling
from engine.errors import VidyaError
from engine.model import Model
from engine.storage.checkpoint import save_model
from engine.tokenizers.tokenizer import Tokenizer


@pytest.fixture
def folder(tiny_model: Model, tiny_tokenizer: Tokenizer, tmp_path: Path) -> Path:
    """Wide weights, so that a wrong order of heads or a wrong rotation says something else."""
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for weight in tiny_model.parameters():
            if weight.dim() == 2:
                weight.mul_(5.0)
            else:
                weight.normal_(1.0, 0.2, generator=generator)
        tiny_model.embedding.weight[tiny_tokenizer.user :] = 0.0
    save_model(tiny_model, tmp_path, dtype=torch.float32)
    tiny_tokenizer.save(tmp_path)
    return tmp_path


def _asked(n: int, sampling: Sampling) -> dict[str, Any]:
    prompt = torch.randint(0, 300, (20,), generator=torch.Generator().manual_seed(4)).tolist()
    return {"prompt": prompt, "n": n, "sampling": sampling.to_dict(), "seed": 3}


@pytest.mark.parametrize(
    "name",
    ["vidya rollouts", "llama.cpp f32", pytest.param("transformers", marks=pytest.mark.slow)],
)
def test_all_programs_say_the_same_from_the_same_weights(folder: Path, name: str) -> None:
    if name == "llama.cpp f32":
        pytest.importorskip("llama_cpp")
        pytest.importorskip("gguf")
    greedy = _asked(1, GREEDY.with_(max_tokens=SAME))
    ours = make("vidya", folder)(**greedy)["answers"]
    do = make(name, folder)
    assert do(**greedy)["answers"] == ours
    drawn = do(**_asked(3, Sampling(temperature=1.0, max_tokens=9)))
    assert drawn["tokens"] == 27 and drawn["seconds"] > 0
    assert do(**greedy, publish=True)["publish"] > 0
    assert do(**greedy)["answers"] == ours


def test_a_program_that_crashes_is_a_row_and_ours_is_an_error(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    crashed = {"llama.cpp q8_0"}

    class Program:
        missing = None

        def __init__(self, _: str, name: str, *__: object, **___: object) -> None:
            self.name = name

        def ask(self, **request: Any) -> dict[str, Any]:
            if self.name in crashed:
                raise VidyaError(f"{self.name}: its process ended: without a word")
            took = {"answers": [[1, 2]], "tokens": 9, "seconds": 1.0, "kind": "f32"}
            return took | {"first": 0.1, "resident": 1.0, "publish": 0.1}

        def close(self) -> None: ...

    monkeypatch.setattr(decode, "Worker", Program)
    options = BenchOptions(tmp_path)
    rows = decode.compare(folder, "tiny", "five candidates", 1, options)
    (row,) = [row for row in rows if row["engine"] in crashed]
    assert row["missing"] == "llama.cpp q8_0: its process ended: without a word"
    assert len(rows) == len(decode.ENGINES["five candidates"])
    crashed.add("vidya")
    with pytest.raises(VidyaError, match="vidya"):
        decode.compare(folder, "tiny", "five candidates", 1, options)


def test_a_prompt_has_its_length(folder: Path) -> None:
    assert [len(prompt_of(folder, length)) for length in (60, 2000)] == [60, 2000]


def test_llama_cpp_reads_a_prompt_in_parts(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("llama_cpp")
    pytest.importorskip("gguf")
    greedy = _asked(2, GREEDY.with_(max_tokens=SAME))
    do = make("llama.cpp f32", folder)
    whole = do(**greedy)["answers"]
    monkeypatch.setattr(decode_engines, "BATCH", 7)
    assert do(**greedy)["answers"] == whole


def test_a_short_context_gets_no_long_prompt(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def compare(folder: Path, size: str, work: str, *_: object) -> list[dict[str, Any]]:
        asked.append(work)
        return []

    monkeypatch.setattr(decode, "compare", compare)
    decode.run(BenchOptions(None, quick=True))
    assert asked == [decode.FIVE, decode.ROLLOUTS]


def test_only_we_start_with_what_our_program_sets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GLIBC_TUNABLES", raising=False)
    assert "GLIBC_TUNABLES" in environment_of("vidya")
    assert environment_of("transformers") == dict(os.environ)


def test_the_tables_name_what_is_missing() -> None:
    row = {
        "size": "10m",
        "work": "five candidates",
        "engine": "vidya",
        "kind": "float32",
        "same_greedy_answer": True,
        "tokens_per_second": 1300.0,
        "first_ms": 20.0,
        "publish_ms": 30.0,
        "resident_mb": 400.0,
        "vidya_is_times": 1.0,
    }
    absent = {
        "size": "10m",
        "work": "five candidates",
        "engine": "llama.cpp",
        "missing": "install it",
    }
    text = "\n".join(parts({"rounds": 3, "rows": [row, absent]}))
    assert "| 10m | vidya | float32 | 1,300 | 1.00 x | 20 | 30 | 400 | yes |" in text
    assert "| 10m | llama.cpp | install it |" in text
