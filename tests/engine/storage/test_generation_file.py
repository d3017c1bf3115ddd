"""What a model's folder says of drawing its answers; no model is refused for what stands there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from engine.config import Sampling
from engine.storage.generation_file import (
    GENERATION,
    Generation,
    generation_of,
    read_generation,
    write_generation,
)

OWN = Sampling(temperature=0.5, top_k=20, top_p=0.9, min_p=0.1, repetition_penalty=1.05)


def test_what_is_written_is_read_again_but_for_the_length(tmp_path: Path) -> None:
    write_generation(Generation(OWN.with_(max_tokens=7), 0.4), tmp_path)
    assert read_generation(tmp_path) == Generation(OWN, 0.4)
    raw = json.loads((tmp_path / GENERATION).read_text())
    assert raw["do_sample"] is True and raw["top_k"] == 20 and raw["certainty_exponent"] == 0.4


def test_the_file_of_qwen3_as_it_is_on_the_hub() -> None:
    raw = {
        **{"bos_token_id": 151643, "do_sample": True, "eos_token_id": [151645, 151643]},
        **{"temperature": 0.6, "top_k": 20, "top_p": 0.95, "transformers_version": "4.51.0"},
    }
    drawn = generation_of(raw).sampling
    assert drawn == Sampling(temperature=0.6, top_k=20, top_p=0.95, repetition_penalty=1.0)


@pytest.mark.parametrize(
    "raw",
    [
        {"bos_token_id": 1, "eos_token_id": 2},
        {"temperature": 0.1},
        {"do_sample": "yes", "temperature": 0.1},
        {"do_sample": True, "temperature": -1.0},
        {"do_sample": True, "top_p": 7},
        {"do_sample": True, "top_k": -3},
        {"certainty_exponent": 0},
        {"certainty_exponent": "a lot"},
        {"certainty_exponent": True},
    ],
)
def test_values_that_mean_nothing_leave_the_defaults(raw: dict[str, Any]) -> None:
    assert generation_of(raw) == Generation()


def test_single_values_of_another_type_are_passed_over() -> None:
    raw = {"do_sample": True, "temperature": "hot", "top_k": 2.5, "min_p": 0.2}
    assert generation_of(raw).sampling == Sampling(
        temperature=1.0, top_p=1.0, min_p=0.2, repetition_penalty=1.0
    )


@pytest.mark.parametrize("text", ["", "{", "[1]", '{"temperature": NaN', "null"])
def test_a_broken_file_and_none_are_the_defaults(tmp_path: Path, text: str) -> None:
    assert read_generation(tmp_path) == Generation() == Generation(Sampling(), None)
    (tmp_path / GENERATION).write_text(text)
    assert read_generation(tmp_path) == Generation()
