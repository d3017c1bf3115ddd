"""The steps that train a sentence encoder, resumable.

Each step has two losses. The vectors of sentences are to be the teacher's, and as near to each other as
the teacher's are (distillation). A question about an invented life is to be nearer to its own lesson than
to other lessons, and nearer to it than questions about the same people that no lesson answers (InfoNCE); so
is a question about what a person told, if there are such facts (owners.py).

Which sentences, lives and owners a step takes depends on its number and on the seed alone, so a run that was
interrupted goes on as if it had not been. Left out: reading the sentences (run.py).
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor, nn

from engine.encoder import SentenceEncoder
from engine.errors import CheckpointError
from engine.storage.checkpoint import load_tensors, save_tensors
from learning.encoder_training.careless import careless
from learning.encoder_training.owners import Owner, told_pairs, traps
from learning.encoder_training.pairs import Pair, Stranger, pairs, same_life, strangers, twins
from learning.encoder_training.settings import EncoderSettings
from learning.maths.contrast import info_nce, similarity_divergence
from learning.maths.optim import MuonAdamW
from learning.text.lives import lives

TRAINING = "training.safetensors"
_CHUNK = 32
"""Batches of sentences that are drawn together, so that each can hold sentences of one length."""
_MOST_NORM = 1.0


@dataclass(frozen=True)
class EncoderReport:
    """What a step measured before it moved the weights."""

    step: int
    """Steps taken, this one included."""
    cosine: float
    """Mean cosine of the encoder's vectors and the teacher's, -1 to 1."""
    divergence: float
    """`similarity_divergence`, in nats."""
    contrast: float
    """`info_nce` of the lives, in nats; 0 without lives."""
    told: float
    """`info_nce` of what the owners told, in nats; 0 without owners."""


class EncoderLoop:
    """Steps of one run."""

    def __init__(
        self,
        encoder: SentenceEncoder,
        texts: Sequence[str],
        vectors: Tensor,
        settings: EncoderSettings,
        about: str = "",
        owners: Sequence[Owner] = (),
    ) -> None:
        """texts: at least as many as a step takes; vectors: the teacher's, [len(texts), S of the encoder].
        about: says what the run is made of; `resume` refuses another. owners: what they told; may be
        empty."""
        self.encoder, self.settings, self.vectors, self._about = encoder, settings, vectors, about
        self.steps, self._owners = 0, owners
        self._texts, self._rows = texts, [encoder.ids(text) for text in texts]
        self._optimizer = MuonAdamW(
            encoder,
            muon_lr=settings.muon_lr,
            adam_lr=settings.adam_lr,
            weight_decay=settings.weight_decay,
            betas=(0.9, 0.98),
        )

    def run(self, report: Callable[[EncoderReport], None], save: Callable[[], None]) -> None:
        """Takes the steps that are left. save: called every `save_every` steps and at the end."""
        while self.steps < self.settings.steps:
            report(self.step())
            if self.steps % self.settings.save_every == 0 or self.steps == self.settings.steps:
                save()

    def step(self) -> EncoderReport:
        """One step."""
        settings, encoder = self.settings, self.encoder
        self._optimizer.set_rate(settings.rate(self.steps))
        self._optimizer.zero_grad()
        batch = self._sentences(self.steps)
        wanted = self.vectors[torch.tensor(batch)].float()
        found = encoder(self._read(batch))
        cosine = (found * wanted).sum(-1).mean()
        divergence = similarity_divergence(found, wanted, settings.temperature)
        (1.0 - cosine + settings.similarity * divergence).backward()
        contrast = self._of_lives() if settings.lives else 0.0
        told = self._of_owners() if self._owners else 0.0
        nn.utils.clip_grad_norm_(encoder.parameters(), _MOST_NORM)
        self._optimizer.step()
        self.steps += 1
        return EncoderReport(self.steps, cosine.item(), divergence.item(), contrast, told)

    def save(self, folder: Path) -> None:
        """Writes all that a later call of `resume` needs. Raises CheckpointError."""
        tensors = {f"encoder/{name}": value for name, value in self.encoder.state_dict().items()}
        tensors |= {f"optimizer/{name}": value for name, value in self._optimizer.tensors()}
        save_tensors(tensors, folder / TRAINING, {"steps": str(self.steps), **self._identity()})

    def resume(self, folder: Path) -> bool:
        """Goes on from what `save` wrote; False if there is nothing. Raises CheckpointError if it is of
        another run."""
        if not (folder / TRAINING).exists():
            return False
        tensors, kept = load_tensors(folder / TRAINING)
        if {name: kept.get(name) for name in self._identity()} != self._identity():
            raise CheckpointError(
                f"{folder / TRAINING}: is of a run with other settings or sentences",
                "name another folder, or repeat the command that began the run",
            )
        own = {"encoder": dict[str, Tensor](), "optimizer": dict[str, Tensor]()}
        for name, tensor in tensors.items():
            part, _, rest = name.partition("/")
            own[part][rest] = tensor
        self.encoder.load_state_dict(own["encoder"])
        self._optimizer.restore(own["optimizer"])
        self.steps = int(kept["steps"])
        return True

    def _identity(self) -> dict[str, str]:
        return {"settings": repr(self.settings), "about": f"{len(self._rows)} {self._about}"}

    def _sentences(self, step: int) -> list[int]:
        """Which sentences a step takes."""
        chunk, place = divmod(step, _CHUNK)
        rng, count = random.Random(f"{self.settings.seed} {chunk}"), self.settings.sentences
        batches = max(1, min(_CHUNK, len(self._rows) // count))
        drawn = rng.sample(range(len(self._rows)), min(batches * count, len(self._rows)))
        drawn.sort(key=lambda at: len(self._rows[at]))
        begin = rng.sample(range(batches), batches)[place % batches] * count
        return drawn[begin : begin + count]

    def _read(self, batch: Sequence[int]) -> list[list[int]]:
        """The ids of a step's sentences, some of them typed in a hurry."""
        rng = random.Random(f"{self.settings.seed} {self.steps} careless")
        return [self._hurried(self._texts[at], rng) or self._rows[at] for at in batch]

    def _hurried(self, text: str, rng: random.Random) -> list[int] | None:
        """The ids of a text as it is typed in a hurry, for the share of texts that are; None for others."""
        hurry = rng.random() < self.settings.careless
        return self.encoder.ids(careless(text, rng)) if hurry else None

    def _of_lives(self) -> float:
        """Adds the gradient of a step's lives. Returns their loss in nats."""
        rng = random.Random(f"{self.settings.seed} {self.steps} lives")
        drawn = lives(self.settings.lives, rng)
        found, others = list(pairs(drawn, rng)), list(strangers(drawn, rng))
        return self._contrast(found, others, self.encoder.ids, self.settings.contrast)

    def _of_owners(self) -> float:
        """Adds the gradient of what a step's owners told. Returns its loss in nats."""
        rng = random.Random(f"{self.settings.seed} {self.steps} owners")
        drawn = rng.sample(self._owners, min(self.settings.owners, len(self._owners)))
        found, others = list(told_pairs(drawn, rng)), list(traps(drawn, rng))

        def read(text: str) -> list[int]:
            return self._hurried(text, rng) or self.encoder.ids(text)

        return self._contrast(found, others, read, self.settings.told)

    def _contrast(
        self,
        found: Sequence[Pair],
        others: Sequence[Stranger],
        read: Callable[[str], list[int]],
        weight: float,
    ) -> float:
        """Adds the gradient of `info_nce`, so weighted. read: the ids of a text. Returns the loss in nats."""
        texts = [one.asked for one in found] + [one.asked for one in others]
        texts += [one.known for one in found]
        vectors = self.encoder([*map(read, texts)])
        asked, unanswered, known = vectors.split([len(found), len(others), len(found)])
        loss = info_nce(
            asked,
            known,
            self.settings.temperature,
            twins(found),
            (unanswered, same_life(found, others)),
        )
        (weight * loss).backward()
        return loss.item()
