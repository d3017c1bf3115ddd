"""learning.memory.packed_rows: rows behind one copy of their beginning give the numbers of separate rows."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from engine import precision
from engine.model import Model
from engine.products import ROWS
from engine.tokenizers.tokenizer import Tokenizer
from learning.data.examples import Example, from_answer
from learning.memory import packed_rows, prefix_cache
from learning.memory import packing as packing_module
from learning.memory.packed_rows import PackedRows
from learning.memory.packing import pack_rows
from learning.memory.prefix_cache import PrefixCache
from learning.objectives.forward import knowledge, target_logits
from learning.objectives.supervised import likelihood_gradients

PAIRS = [("Hi", "Hello."), ("What is my cat called?", "Biscuit."), ("Why?", "Nobody knows it.")]
LONG = "a long beginning that is the same in each row of them"


def examples(tokenizer: Tokenizer, beginning: str) -> list[Example]:
    rows = [from_answer(tokenizer, [("user", q)], a, 128) for q, a in PAIRS]
    head = tuple(tokenizer.encode(beginning))
    silent = (False,) * len(head)
    return [replace(e, ids=head + e.ids, target=silent + e.target) for e in rows]


@pytest.mark.parametrize("room", [320, 70, 8])
@pytest.mark.parametrize("layers", [0, 1, 2])
@pytest.mark.parametrize("beginning", ["", LONG])
def test_the_numbers_of_separate_rows(
    tiny_model: Model,
    tiny_tokenizer: Tokenizer,
    monkeypatch: pytest.MonkeyPatch,
    beginning: str,
    layers: int,
    room: int,
) -> None:
    for place in (packed_rows, prefix_cache):
        monkeypatch.setattr(place, "ROW_TOKENS", room)
    for place in (packed_rows, precision):  # autocast looks there
        monkeypatch.setattr(place, "fast_dtype", lambda _: torch.float32)
    rows = examples(tiny_tokenizer, beginning)
    packed = PackedRows(tiny_model, PrefixCache(tiny_model, layers))
    question = rows[0].target.count(False)
    answer = rows[2].answer  # to the question of the first row
    other = replace(
        rows[0],
        ids=rows[0].ids[:question] + answer,
        target=(False,) * question + (True,) * len(answer),
    )
    part = replace(rows[0], ids=rows[0].ids[:-2], target=rows[0].target[:-2])
    for chosen in (rows, rows[:1], [rows[0], other], [rows[0], rows[0]], [part, rows[0], rows[2]]):
        for mine, whole in zip(
            target_logits(packed, chosen), target_logits(tiny_model, chosen), strict=True
        ):
            torch.testing.assert_close(mine, whole, atol=1e-5, rtol=1e-5)
        for one, other in zip(
            knowledge(packed, chosen), knowledge(tiny_model, chosen), strict=True
        ):
            assert one.tokens == other.tokens
            assert one.nll == pytest.approx(other.nll, abs=1e-4)


def test_the_gradients_of_separate_rows(
    tiny_model: Model, tiny_tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for place in (packed_rows, precision):  # autocast looks there
        monkeypatch.setattr(place, "fast_dtype", lambda _: torch.float32)
    rows = examples(tiny_tokenizer, LONG)
    packed, found = PackedRows(tiny_model, PrefixCache(tiny_model, 1)), []
    for model in (tiny_model, packed):
        tiny_model.zero_grad()
        likelihood_gradients(model, rows)
        found.append([p.grad.clone() for p in tiny_model.blocks[1].parameters()])
    for mine, whole in zip(*found, strict=True):
        torch.testing.assert_close(mine, whole, atol=1e-6, rtol=1e-4)


def test_what_does_not_come_again_is_let_go(
    tiny_model: Model, tiny_tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packed_rows, "OTHERS", 1)
    rows = examples(tiny_tokenizer, "")
    packed = PackedRows(tiny_model, PrefixCache(tiny_model, 1), rows[:1])
    packed.at_targets(rows)
    assert len(packed.trunk) == 3
    packed.at_targets(rows[:1])
    assert len(packed.trunk) == 1


@pytest.mark.parametrize("length", [3, 40, 63, 64, 65])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_packed_rows_have_few_widths_where_products_are_in_bfloat16(
    length: int, dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packing_module, "fast_dtype", lambda _: dtype)
    packing = pack_rows([(1, 2, *range(5, 5 + length)), (1, 2, *range(length))], 320)
    width = packing.mask.shape[-1]
    if dtype == torch.bfloat16:
        assert width % ROWS == 0
    else:
        assert width == 2 + 2 * length
    assert packing.unpack(packing.pack(torch.ones(2, length + 2)))[0].tolist() == [1.0] * (
        length + 2
    )
