"""Optimizers for training from scratch: Muon for the blocks' matrices, AdamW for the rest.

Muon (Jordan 2024; scaled as in 2502.16982) orthogonalises the momentum of a matrix; embeddings and
norms, which are not matrices in that sense, are stepped by AdamW.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor, nn


class MuonAdamW:
    """One face for the two: `step`, `zero_grad`, a rate that both scale with, tensors to save."""

    def __init__(
        self,
        model: nn.Module,
        *,
        muon_lr: float,
        adam_lr: float,
        weight_decay: float,
        betas: tuple[float, float],
    ) -> None:
        self.matrices = [
            (n, p) for n, p in model.named_parameters() if p.dim() == 2 and "embedding" not in n
        ]
        self.others = [
            (n, p) for n, p in model.named_parameters() if p.dim() != 2 or "embedding" in n
        ]
        self._base_lr = (muon_lr, adam_lr)
        self._muon = torch.optim.Muon(
            [p for _, p in self.matrices],
            lr=muon_lr,
            momentum=0.95,
            weight_decay=weight_decay,
            adjust_lr_fn="match_rms_adamw",
        )
        self._adam = torch.optim.AdamW(
            [p for _, p in self.others], lr=adam_lr, betas=betas, weight_decay=0.0, fused=True
        )

    def set_rate(self, factor: float) -> None:
        """Learning rates are the base rates times factor, in [0, 1]."""
        for optimizer, base in zip((self._muon, self._adam), self._base_lr, strict=True):
            for group in optimizer.param_groups:
                group["lr"] = base * factor

    def step(self) -> None:
        self._muon.step()
        self._adam.step()

    def zero_grad(self) -> None:
        self._muon.zero_grad(set_to_none=True)
        self._adam.zero_grad(set_to_none=True)

    def tensors(self) -> Iterator[tuple[str, Tensor]]:
        """The state as named tensors, so that it is saved without pickle."""
        for optimizer, named in ((self._muon, self.matrices), (self._adam, self.others)):
            for name, parameter in named:
                for key, value in optimizer.state.get(parameter, {}).items():
                    yield f"{name}/{key}", torch.as_tensor(value)

    def restore(self, tensors: dict[str, Tensor]) -> None:
        """The inverse of `tensors`."""
        for optimizer, named in ((self._muon, self.matrices), (self._adam, self.others)):
            for name, parameter in named:
                keys = [k for k in tensors if k.rpartition("/")[0] == name]
                optimizer.state[parameter] = {
                    k.rpartition("/")[2]: tensors[k].clone() for k in keys
                }
