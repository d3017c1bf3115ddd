"""Optimizers for training from scratch: Muon for the blocks' matrices, AdamW for the rest.

Muon (Jordan 2024; scaled as in arXiv 2502.16982) orthogonalises the momentum of a matrix. AdamW steps
embeddings and norms. AdamWAlone is the baseline. torch.optim.Muon is not used because it always
multiplies in bfloat16: a step of the 10M model took three minutes on a CPU without bfloat16 instructions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor, nn

from engine.precision import fast_dtype

Named = list[tuple[str, nn.Parameter]]


def matrices_and_rest(model: nn.Module) -> tuple[Named, Named]:
    """(matrices of the blocks; embedding, output layer and norms), each with names."""
    named = list(model.named_parameters())
    outside = {"embedding", "output"}
    inside = {n for n, p in named if p.dim() == 2 and not outside & set(n.split("."))}
    return [one for one in named if one[0] in inside], [
        one for one in named if one[0] not in inside
    ]


def orthogonalised(matrices: Tensor, steps: int = 5, kind: torch.dtype = torch.float32) -> Tensor:
    """Approximately orthogonalises matrices by quintic Newton-Schulz iterations (Jordan 2024).

    matrices: [N, A, B]. Returns [N, A, B] in dtype `kind`. Singular values become about 0.7 to 1.2, except
    those that were tiny.
    """
    a, b, c = 3.4445, -4.7750, 2.0315
    tall = matrices.shape[1] > matrices.shape[2]
    x = (matrices.mT if tall else matrices).to(kind)
    x = x / x.norm(dim=(1, 2), keepdim=True).clamp_min(1e-7)  # so that no singular value exceeds 1
    for _ in range(steps):
        gram = x @ x.mT
        x = a * x + torch.baddbmm(gram, gram, gram, beta=b, alpha=c) @ x
    return x.mT if tall else x


class Muon(torch.optim.Optimizer):
    """Steps matrices along their orthogonalised Nesterov momentum, with decoupled weight decay.

    Matrices of the same shape are orthogonalised in one batch. The step is scaled by 0.2 √max(A, B), so
    that it is as large as AdamW's and both can use one learning rate (arXiv 2502.16982).
    """

    def __init__(
        self,
        matrices: list[nn.Parameter],
        lr: float,
        momentum: float,
        weight_decay: float,
        kind: torch.dtype | None = None,
    ) -> None:
        """kind: dtype of the iterations; None: the one that the device multiplies fastest."""
        self._kind = kind
        super().__init__(matrices, {"lr": lr, "momentum": momentum, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self, closure: None = None) -> None:  # type: ignore[override]
        for group in self.param_groups:
            alike: dict[torch.Size, list[tuple[nn.Parameter, Tensor]]] = {}
            for parameter in group["params"]:
                if parameter.grad is not None:
                    update = self._momentum(parameter, parameter.grad, group["momentum"])
                    alike.setdefault(parameter.shape, []).append((parameter, update))
            for (rows, columns), members in alike.items():
                kind = self._kind or fast_dtype(members[0][0].device.type)
                steps = orthogonalised(torch.stack([update for _, update in members]), kind=kind)
                scale = group["lr"] * 0.2 * max(rows, columns) ** 0.5
                for (parameter, _), step in zip(members, steps.unbind(), strict=True):
                    parameter.mul_(1.0 - group["lr"] * group["weight_decay"])
                    parameter.add_(step.to(parameter.dtype), alpha=-scale)

    def _momentum(self, parameter: nn.Parameter, gradient: Tensor, momentum: float) -> Tensor:
        state = self.state[parameter]
        if "momentum_buffer" not in state:
            state["momentum_buffer"] = torch.zeros_like(gradient)
        buffer = state["momentum_buffer"].lerp_(gradient, 1.0 - momentum)
        return gradient.lerp(buffer, momentum)


class Optimizers:
    """Several optimizers behind one interface: `step`, `zero_grad`, a common rate, state to save."""

    def __init__(self, parts: Sequence[tuple[torch.optim.Optimizer, Named]]) -> None:
        """parts: each optimizer with the named parameters that it steps, in its order."""
        self._parts = parts
        self._base = [[group["lr"] for group in part.param_groups] for part, _ in parts]

    def set_rate(self, factor: float) -> None:
        """Sets all learning rates to their base rate times `factor`, in [0, 1]."""
        for (part, _), base in zip(self._parts, self._base, strict=True):
            for group, rate in zip(part.param_groups, base, strict=True):
                group["lr"] = rate * factor

    def step(self) -> None:
        for part, _ in self._parts:
            part.step()

    def zero_grad(self) -> None:
        for part, _ in self._parts:
            part.zero_grad(set_to_none=True)

    def tensors(self) -> Iterator[tuple[str, Tensor]]:
        """The state as named tensors, so that it is saved without pickle."""
        for part, named in self._parts:
            for name, parameter in named:
                for key, value in part.state.get(parameter, {}).items():
                    yield f"{name}/{key}", torch.as_tensor(value)

    def restore(self, tensors: dict[str, Tensor]) -> None:
        """Restores the state that `tensors` yielded."""
        for part, named in self._parts:
            for name, parameter in named:
                keys = [k for k in tensors if k.rpartition("/")[0] == name]
                if keys:
                    part.state[parameter] = {
                        k.rpartition("/")[2]: tensors[k].to(parameter.device, copy=True)
                        for k in keys
                    }


class MuonAdamW(Optimizers):
    """Muon for the matrices, AdamW for embeddings and norms."""

    def __init__(
        self,
        model: nn.Module,
        *,
        muon_lr: float,
        adam_lr: float,
        weight_decay: float,
        betas: tuple[float, float],
        kind: torch.dtype | None = None,
    ) -> None:
        """kind: see Muon."""
        self.matrices, self.others = matrices_and_rest(model)
        muon = Muon([p for _, p in self.matrices], muon_lr, 0.95, weight_decay, kind)
        adam = torch.optim.AdamW(
            [p for _, p in self.others], lr=adam_lr, betas=betas, weight_decay=0.0, fused=True
        )
        super().__init__([(muon, self.matrices), (adam, self.others)])


class AdamWAlone(Optimizers):
    """AdamW for all parameters; weight decay for matrices only. The baseline of
    benchmarks/models/optimizers.py."""

    def __init__(
        self, model: nn.Module, *, lr: float, weight_decay: float, betas: tuple[float, float]
    ) -> None:
        matrices, others = matrices_and_rest(model)
        groups = [
            {"params": [p for _, p in matrices], "weight_decay": weight_decay},
            {"params": [p for _, p in others], "weight_decay": 0.0},
        ]
        adam = torch.optim.AdamW(groups, lr=lr, betas=betas, fused=True)
        super().__init__([(adam, [*matrices, *others])])
