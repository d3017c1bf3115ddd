"""learning.meta_training.network: the same numbers as the engine's model with its adapters."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F

from engine.config import CONFIGS, ModelConfig
from engine.model import Model
from learning.meta_training.losses import reference_of, weighted_loss
from learning.meta_training.network import MergedNetwork
from learning.meta_training.packing import Packer, shipped
from learning.meta_training.rows import MetaRow

from .conftest import CPU, drawn_adapters, made_network

TINY = replace(CONFIGS["tiny"], layers=3, vocab_size=50)
QWEN = replace(TINY, qk_norm=True, tied=False, head_size=24, kv_heads=1)
PREFIX = (7, 8, 9)
ROWS = [
    MetaRow((1, 2, 3, 4, 5), (2, 3, 4), 0.5),
    MetaRow((6, 5, 4, 3, 2, 1, 11), (3, 6), 0.25),
]


def model_of(config: ModelConfig) -> Model:
    model = Model(config, generator=torch.Generator().manual_seed(3))
    with torch.no_grad():  # norms that are not all ones
        for name, weight in model.named_parameters():
            if weight.dim() == 1:
                weight.add_(0.1 * torch.arange(len(weight)).sin() + 0.01 * len(name))
    return model.requires_grad_(False)


@pytest.mark.parametrize("prefix", [PREFIX, ()])
@pytest.mark.parametrize("config", [TINY, QWEN])
def test_its_logits_are_those_of_the_model(config: ModelConfig, prefix: tuple[int, ...]) -> None:
    model = model_of(config)
    network = made_network(model, prefix)
    batch = shipped(Packer(len(prefix)).pack(ROWS), CPU)
    x = network.outputs(batch.ids, network.block_weights())
    found = network.logits(x, batch.targets.at)
    expected = [
        model(torch.tensor([[*prefix, *row.ids]]))[0, len(prefix) + place - 1]
        for row in ROWS
        for place in row.places
    ]
    torch.testing.assert_close(found, torch.stack(expected), atol=1e-4, rtol=1e-4)


def test_in_bfloat16_they_are_nearly_so() -> None:
    model = model_of(QWEN)
    exact = made_network(model, PREFIX)
    short = MergedNetwork(model, exact.factors.adapters, PREFIX, CPU, torch.bfloat16)
    batch = shipped(Packer(3).pack(ROWS), CPU)
    found, expected = (
        n.logits(n.outputs(batch.ids, n.block_weights()), batch.targets.at) for n in (short, exact)
    )
    assert found.dtype == torch.float32
    torch.testing.assert_close(found, expected, atol=0.03, rtol=0.03)


def test_bare_it_is_the_base() -> None:
    model = model_of(TINY)
    network = made_network(model, PREFIX)
    network.merge(bare=True)
    batch = shipped(Packer(3).pack(ROWS[:1]), CPU)
    found = network.logits(network.outputs(batch.ids, network.block_weights()), batch.targets.at)
    network.factors.adapters.active = False
    expected = model(torch.tensor([[*PREFIX, *ROWS[0].ids]]))[0, 4:7]
    torch.testing.assert_close(found, expected, atol=1e-4, rtol=1e-4)


def test_the_gradients_of_its_factors_are_those_of_autograd() -> None:
    model = model_of(TINY)
    adapters = drawn_adapters(model)
    network = MergedNetwork(model, adapters, PREFIX, CPU, torch.float32)
    batch = shipped(Packer(3).pack(ROWS), CPU)
    x = network.outputs(batch.ids, network.block_weights())
    loss = weighted_loss(network, x, batch.targets, torch.empty(0))
    loss.backward()
    found = network.factor_gradients()
    whole = torch.zeros(())
    for row in ROWS:
        logits = model(torch.tensor([[*PREFIX, *row.ids]]))[0]
        for place in row.places:
            label = torch.tensor(row.ids[place])
            whole = whole + row.weight * F.cross_entropy(logits[3 + place - 1], label)
    whole.backward()
    assert loss.item() == pytest.approx(whole.item(), rel=1e-5)
    of_a, of_b = dict[tuple[int, str], torch.Tensor](), dict[tuple[int, str], torch.Tensor]()
    for (block, _, _), layer in adapters._layers.items():
        downs = layer.factors[0].grad.split(adapters.settings.rank)
        for part, a, b in zip(layer.sizes, downs, layer.factors[1:], strict=True):
            of_a[block, part], of_b[block, part] = a, b.grad
    parts = list(network.factors.a)
    for place, part in enumerate(parts):
        for block in range(3):
            torch.testing.assert_close(found[place][block], of_a[block, part], atol=1e-6, rtol=1e-3)
            b = found[len(parts) + place][block]
            torch.testing.assert_close(b, of_b[block, part], atol=1e-6, rtol=1e-3)


def test_the_divergence_from_itself_is_nothing_and_from_its_base_something() -> None:
    network = made_network(model_of(TINY), PREFIX)
    reference, rows = reference_of(network, ROWS)
    assert reference.shape == (5, 50) and [row.reference for row in rows] == [0, 3]
    batch = shipped(Packer(3).pack(rows), CPU)

    def loss() -> float:
        x = network.outputs(batch.ids, network.block_weights())
        return weighted_loss(network, x, batch.targets, reference).item()

    assert abs(loss()) < 1e-3
    network.merge(bare=True)
    assert loss() > 0.01


def test_without_rows_there_is_an_empty_reference() -> None:
    reference, rows = reference_of(made_network(model_of(TINY), ()), [])
    assert reference.shape == (0, 50) and rows == []
