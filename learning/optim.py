"""Optimizers for training from scratch: Muon for the blocks' matrices, AdamW for the rest.

Muon (Jordan 2024; scaled as in 2502.16982) orthogonalises the momentum of a matrix; embeddings and
norms, which are not matrices in that sense, are stepped by AdamW. AdamW alone is what it is measured
against.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor, nn

Named = list[tuple[str, nn.Parameter]]


def matrices_and_rest(model: nn.Module) -> tuple[Named, Named]:
    """The matrices of the blocks, and embeddings and norms."""
    named = list(model.named_parameters())
    return (
        [(n, p) for n, p in named if p.dim() == 2 and "embedding" not in n],
        [(n, p) for n, p in named if p.dim() != 2 or "embedding" in n],
    )


class Optimizers:
    """One face for several: `step`, `zero_grad`, a rate that all scale with, tensors to save."""

    def __init__(self, parts: Sequence[tuple[torch.optim.Optimizer, Named]]) -> None:
        """Each optimizer with the parameters that it steps, in its own order."""
        self._parts = parts
        self._base = [[group["lr"] for group in part.param_groups] for part, _ in parts]

    def set_rate(self, factor: float) -> None:
        """Learning rates are the base rates times factor, in [0, 1]."""
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
        """The inverse of `tensors`."""
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
    ) -> None:
        self.matrices, self.others = matrices_and_rest(model)
        muon = torch.optim.Muon(
            [p for _, p in self.matrices],
            lr=muon_lr,
            momentum=0.95,
            weight_decay=weight_decay,
            adjust_lr_fn="match_rms_adamw",
        )
        adam = torch.optim.AdamW(
            [p for _, p in self.others], lr=adam_lr, betas=betas, weight_decay=0.0, fused=True
        )
        super().__init__([(muon, self.matrices), (adam, self.others)])


class AdamWAlone(Optimizers):
    """AdamW for everything; only matrices decay."""

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
