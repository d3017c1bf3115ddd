"""learning.objectives.forward: what is measured of targets in blocks is what all logits at once give, and the
logits of one block alone are in memory."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from engine import precision
from engine.model import Model
from learning.data.examples import Example
from learning.memory.packed_rows import PackedRows
from learning.memory.prefix_cache import PrefixCache, UpperModel
from learning.models.trainable import all_weights, upper_matrices
from learning.objectives import forward
from learning.objectives.forward import (
    WITHOUT_GRADIENT,
    HiddenStates,
    by_target,
    knowledge,
    target_states,
)
from learning.objectives.preference import avoidance_gradients, preference_gradients
from learning.objectives.supervised import anchor_gradients, likelihood_gradients, row_gradients
from tests.last_block import positions_of


def row(number: int, prompt: int, answer: int) -> Example:
    """So many ids before the targets, and so many targets."""
    drawn = torch.Generator().manual_seed(number)
    ids = tuple(torch.randint(384, (prompt + answer,), generator=drawn).tolist())
    return Example(ids, (False,) * prompt + (True,) * answer)


ROWS = [row(0, 4, 9), row(1, 3, 1), row(2, 2, 6)]
TARGETS = 16
REFERENCE = torch.tensor([-20.0, -3.0, -30.0])
"""Log-probabilities of ROWS before a lesson; any numbers do."""
HALF_LIFE = 2.0
BLOCKS = [1, 3, 4, 16, 1000]


@pytest.fixture(autouse=True)
def _exact(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some machines are faster, and rounder, in bfloat16."""
    monkeypatch.setattr(precision, "fast_dtype", lambda _: torch.float32)


@pytest.fixture
def still(tiny_model: Model) -> Iterator[Model]:
    """A model that talks otherwise."""
    other = Model(tiny_model.config, generator=torch.Generator().manual_seed(5))
    yield other.requires_grad_(False)


def every_logit(model: Model) -> tuple[Tensor, Tensor, Tensor]:
    """Logits, labels and rows of all targets, each row passed alone through the whole model."""
    logits, labels, rows = list[Tensor](), list[int](), list[int]()
    for number, example in enumerate(ROWS):
        first = example.target.index(True)
        logits.append(model(torch.tensor([example.ids]))[0, first - 1 : -1])
        labels += example.ids[first:]
        rows += [number] * example.targets
    return torch.cat(logits), torch.tensor(labels), torch.tensor(rows)


def log_odds(model: Model, half_life: float = math.inf) -> Tensor:
    """Log-probabilities of ROWS."""
    logits, labels, rows = every_logit(model)
    token = logits.log_softmax(-1).gather(1, labels[:, None])[:, 0]
    sums = []
    for number, example in enumerate(ROWS):
        behind = torch.arange(example.targets - 1, -1, -1)
        sums.append((token[rows == number] * 0.5 ** (behind / half_life)).sum())
    return torch.stack(sums)


def mean_nll(model: Model, _still: Model) -> Tensor:
    return -log_odds(model).sum() / TARGETS


def mean_divergence(model: Model, still: Model) -> Tensor:
    before = every_logit(still)[0].log_softmax(-1)
    now = every_logit(model)[0].log_softmax(-1)
    return (before.exp() * (before - now)).sum() / TARGETS


def dpo(model: Model, _still: Model) -> Tensor:
    lead = log_odds(model) - REFERENCE
    return -F.logsigmoid(0.1 * (lead[0] - lead[1:])).mean()


def avoidance(model: Model, _still: Model) -> Tensor:
    return -F.logsigmoid(-0.1 * (log_odds(model, HALF_LIFE) - REFERENCE)).mean()


Passes = Model | HiddenStates
Loss = Callable[[Model, Model], Tensor]
CASES: dict[str, tuple[Loss, Callable[[Passes, Model], float]]] = {
    "likelihood": (mean_nll, lambda m, _: likelihood_gradients(m, ROWS)),
    "anchor": (mean_divergence, lambda m, still: anchor_gradients(m, still, ROWS)),
    "preference": (dpo, lambda m, _: preference_gradients(m, ROWS[0], ROWS[1:], REFERENCE)),
    "avoidance": (
        avoidance,
        lambda m, _: avoidance_gradients(m, ROWS, REFERENCE, half_life=HALF_LIFE),
    ),
}


def gradients(tensors: Sequence[Tensor]) -> list[Tensor]:
    """Takes the gradients away from the tensors."""
    found = [torch.zeros_like(x) if x.grad is None else x.grad for x in tensors]
    for tensor in tensors:
        tensor.grad = None
    return found


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("whole", [False, True])
def test_losses_and_gradients_are_those_of_all_logits_at_once(
    tiny_model: Model,
    still: Model,
    monkeypatch: pytest.MonkeyPatch,
    whole: bool,
    case: str,
    block: int,
) -> None:
    """whole: all weights are trained, the output layer too; otherwise the upper block."""
    monkeypatch.setattr(forward, "OUTPUT_BLOCK", block)
    tensors = (all_weights(tiny_model) if whole else upper_matrices(tiny_model, 1)).start()
    passes = tiny_model if whole else UpperModel(tiny_model, PrefixCache(tiny_model, 1))
    loss, objective = CASES[case]
    wanted = loss(tiny_model, still)
    wanted.backward()  # type: ignore[no-untyped-call]
    slopes = gradients(tensors)
    assert objective(passes, still) == pytest.approx(wanted.item(), rel=1e-5)
    for mine, slope in zip(gradients(tensors), slopes, strict=True):
        torch.testing.assert_close(mine, slope, atol=1e-7, rtol=1e-4)


@pytest.mark.parametrize("kind", [None, UpperModel, PackedRows])
def test_the_last_block_computes_the_targets_alone(
    tiny_model: Model, kind: type[UpperModel] | None
) -> None:
    passes = tiny_model if kind is None else kind(tiny_model, PrefixCache(tiny_model, 1))
    computed = positions_of(tiny_model)
    knowledge(passes, ROWS)
    assert computed == [TARGETS] * 2


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("whole", [False, True])
def test_blocks_in_bfloat16_differ_by_rounding_alone(
    tiny_model: Model, still: Model, monkeypatch: pytest.MonkeyPatch, whole: bool, case: str
) -> None:
    monkeypatch.setattr(precision, "fast_dtype", lambda _: torch.bfloat16)
    tensors = (all_weights(tiny_model) if whole else upper_matrices(tiny_model, 1)).start()
    passes = tiny_model if whole else UpperModel(tiny_model, PrefixCache(tiny_model, 1))
    losses, slopes = list[float](), list[Tensor]()
    for block in (1000, 3):
        monkeypatch.setattr(forward, "OUTPUT_BLOCK", block)
        losses.append(CASES[case][1](passes, still))
        slopes.append(torch.cat([x.flatten() for x in gradients(tensors)]))
    assert losses[1] == pytest.approx(losses[0], rel=1e-3)
    assert float((slopes[1] - slopes[0]).norm()) < 0.02 * float(slopes[0].norm())


@pytest.mark.parametrize("block", BLOCKS)
def test_what_is_known_does_not_depend_on_the_blocks(
    tiny_model: Model, monkeypatch: pytest.MonkeyPatch, block: int
) -> None:
    monkeypatch.setattr(forward, "OUTPUT_BLOCK", block)
    found = knowledge(tiny_model, ROWS)
    with torch.no_grad():
        logits, labels, rows = every_logit(tiny_model)
    for number, (item, example) in enumerate(zip(found, ROWS, strict=True)):
        own, right = logits[rows == number], labels[rows == number]
        wrong = own.scatter(1, right[:, None], float("-inf")).amax(1)
        lead = own.gather(1, right[:, None])[:, 0] - wrong
        assert item.tokens == example.targets
        assert item.margin == pytest.approx(float(lead.min()), abs=1e-5)
        assert item.nll == pytest.approx(float(F.cross_entropy(own, right, reduction="sum")))


class Kept:
    """A tensor that is kept for the backward pass, counted as long as it is."""

    positions = most = 0
    """Rows of the vocabulary's size: those that are kept now, and the most at any time."""

    def __init__(self, tensor: Tensor, vocabulary: int) -> None:
        self.tensor = tensor
        of_targets = tensor.dim() == 2 and tensor.shape[1] == vocabulary and len(tensor) <= TARGETS
        self.rows = len(tensor) if of_targets else 0
        Kept.positions += self.rows
        Kept.most = max(Kept.most, Kept.positions)

    def __del__(self) -> None:
        Kept.positions -= self.rows


@contextmanager
def kept_positions(vocabulary: int) -> Iterator[None]:
    """Counts in `Kept.most` positions whose logits, or as many numbers made of them, are kept at a time."""
    Kept.most = Kept.positions = 0
    hooks = torch.autograd.graph.saved_tensors_hooks(
        lambda tensor: Kept(tensor, vocabulary), lambda kept: kept.tensor
    )
    with hooks:
        yield


@pytest.mark.parametrize("case", CASES)
def test_logits_of_one_block_alone_are_kept_for_the_backward_pass(
    tiny_model: Model, still: Model, monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    upper_matrices(tiny_model, 1).start()
    passes = UpperModel(tiny_model, PrefixCache(tiny_model, 1))
    most = {}
    for block in (4, TARGETS):
        monkeypatch.setattr(forward, "OUTPUT_BLOCK", block)
        with kept_positions(tiny_model.config.vocab_size):
            CASES[case][1](passes, still)
        most[block] = Kept.most
    assert most[4] * TARGETS == most[TARGETS] * 4 > 0  # it falls with the block


def test_logits_of_one_block_alone_are_computed_at_a_time(
    tiny_model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of whatever has one row or many: a long answer is one row."""
    monkeypatch.setattr(forward, "OUTPUT_BLOCK", 4)
    sizes = list[int]()
    logits = Model.logits
    monkeypatch.setattr(Model, "logits", lambda self, x: (sizes.append(len(x)), logits(self, x))[1])
    upper_matrices(tiny_model, 1).start()
    passes = UpperModel(tiny_model, PrefixCache(tiny_model, 1))
    row_gradients(passes, [row(9, 3, 50)], [1.0])
    assert (max(sizes), sum(sizes)) == (4, 50)
    sizes.clear()
    knowledge(passes, [row(9, 3, 50)])
    assert (max(sizes), sum(sizes)) == (4 * WITHOUT_GRADIENT, 50)


def test_no_targets_have_no_values(tiny_model: Model) -> None:
    with torch.no_grad():
        states, labels, _ = target_states(tiny_model, [Example((1, 2, 3), (False,) * 3)])
        assert by_target(tiny_model, states, lambda logits, _: logits.sum(1)).shape == (0,)
    assert not len(labels)
