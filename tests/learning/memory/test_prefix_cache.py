"""learning.memory.prefix_cache: the lower blocks' outputs, kept, change nothing but the time that
is needed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import Tensor

from engine import precision
from engine.model import Model
from engine.products import filled_up
from engine.tokenizers.tokenizer import Tokenizer
from learning.data.examples import Example, from_answer
from learning.memory.prefix_cache import PrefixCache, UpperModel
from learning.objectives.forward import knowledge, target_logits
from learning.objectives.supervised import anchor_gradients, likelihood_gradients


def _examples(tokenizer: Tokenizer) -> list[Example]:
    pairs = [("Hi", "Hello."), ("What is my cat called?", "Biscuit."), ("Why?", "Nobody knows it.")]
    return [from_answer(tokenizer, [("user", q)], a, 128) for q, a in pairs]


@pytest.mark.parametrize("layers", [0, 1, 2])
def test_same_logits_and_margins_as_the_whole_model(
    tiny_model: Model, tiny_tokenizer: Tokenizer, layers: int
) -> None:
    examples = _examples(tiny_tokenizer)
    upper = UpperModel(tiny_model, PrefixCache(tiny_model, layers))
    for _ in range(2):  # worked out, then kept
        for mine, whole in zip(
            target_logits(upper, examples), target_logits(tiny_model, examples), strict=True
        ):
            torch.testing.assert_close(mine, whole, atol=1e-5, rtol=1e-5)
    for one, other in zip(knowledge(upper, examples), knowledge(tiny_model, examples), strict=True):
        assert one.margin == pytest.approx(other.margin, abs=1e-4)
    assert len(upper.trunk) == 3


def test_same_gradients_in_the_upper_blocks_and_none_below(
    tiny_model: Model, tiny_tokenizer: Tokenizer
) -> None:
    examples = _examples(tiny_tokenizer)
    upper = UpperModel(tiny_model, PrefixCache(tiny_model, 1))
    matrices = [p for p in tiny_model.blocks[1].parameters() if p.dim() == 2]
    gradients = []
    for model in (tiny_model, upper):
        tiny_model.zero_grad()
        likelihood_gradients(model, examples)
        anchor_gradients(model, model, examples)
        gradients.append([p.grad.clone() for p in matrices if p.grad is not None])
    assert len(gradients[0]) == len(matrices)
    for one, other in zip(*gradients, strict=True):
        torch.testing.assert_close(one, other, atol=1e-5, rtol=1e-4)
    assert tiny_model.blocks[0].attention.qkv.weight.grad is None


def test_changes_above_are_seen_and_those_below_are_not(
    tiny_model: Model, tiny_tokenizer: Tokenizer
) -> None:
    examples = _examples(tiny_tokenizer)
    upper = UpperModel(tiny_model, PrefixCache(tiny_model, 1))
    before = target_logits(upper, examples)[0]
    with torch.no_grad():
        tiny_model.blocks[1].ffn.down.weight.add_(0.1)
    after = target_logits(upper, examples)[0]
    assert not torch.equal(before, after)
    with torch.no_grad():
        tiny_model.blocks[0].ffn.down.weight.add_(0.1)
    assert torch.equal(target_logits(upper, examples)[0], after)


def test_only_what_is_remembered_is_kept(tiny_model: Model, tiny_tokenizer: Tokenizer) -> None:
    examples, trunk = _examples(tiny_tokenizer), PrefixCache(tiny_model, 1)
    trunk.outputs(examples)
    trunk.keep(examples[1:])
    assert len(trunk) == 2


def test_a_trunk_higher_than_the_model_is_refused(tiny_model: Model) -> None:
    with pytest.raises(ValueError, match="2 blocks has no trunk of 3"):
        PrefixCache(tiny_model, 3)


def test_outputs_that_were_written_are_read_for_the_same_weights(
    tiny_model: Model, tiny_tokenizer: Tokenizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    examples, path = _examples(tiny_tokenizer), tmp_path / "trunk.safetensors"
    made = PrefixCache(tiny_model, 1)
    made.save(path, "these", examples[:2])
    whole, passed = made.outputs(examples), []
    trunk = tiny_model.trunk
    monkeypatch.setattr(
        tiny_model, "trunk", lambda ids, layers: passed.append(len(ids)) or trunk(ids, layers)
    )
    for mark, computed in (("these", [1]), ("others", [3])):
        passed.clear()
        again = PrefixCache(tiny_model, 1)
        again.load(path, mark)
        torch.testing.assert_close(again.outputs(examples), whole)
        assert passed == computed
    path.write_bytes(b"no tensors")
    again = PrefixCache(tiny_model, 1)
    again.load(path, "these")
    torch.testing.assert_close(again.outputs(examples), whole)


def test_rows_share_one_pass_over_what_the_model_is_told(
    tiny_model: Model, tiny_tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(precision, "fast_dtype", lambda _: torch.float32)  # autocast looks there
    head = tuple(tiny_tokenizer.encode("You are told this before each conversation."))
    rows = [
        replace(e, ids=head + e.ids, target=(False,) * len(head) + e.target, start=len(head))
        for e in _examples(tiny_tokenizer)
    ]
    passed: list[int] = []
    trunk = Model.trunk

    def counted(self: Model, ids: Tensor, layers: int, **how: Tensor) -> Tensor:
        passed.append(ids.numel())
        return trunk(self, ids, layers, **how)

    monkeypatch.setattr(Model, "trunk", counted)
    together = PrefixCache(tiny_model, 1).outputs(rows)
    own = sum(len(e.ids) - 1 - len(head) for e in rows)
    assert len(passed) == 1
    assert passed[0] <= filled_up(len(head) + own), "their beginning stands there once"
    alone = PrefixCache(tiny_model, 1)
    for row, example in zip(together, rows, strict=True):
        (apart,) = alone.outputs([example])
        torch.testing.assert_close(row[: len(apart)], apart, atol=1e-5, rtol=1e-5)
