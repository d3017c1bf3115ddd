"""The settings of a run that trains the sentence encoder."""

from __future__ import annotations

from dataclasses import dataclass

from engine.errors import ConfigError


@dataclass(frozen=True)
class EncoderSettings:
    """The defaults are those of the second encoder, from which the shipped one was trained further with
    FURTHER (benchmarks/results/encoder.md)."""

    steps: int = 2_400
    seed: int = 0
    vocabulary: int = 24_576
    """Tokens of its own tokenizer."""
    blocks: int = 3
    sentences: int = 384
    """Sentences per step whose vectors are to be the teacher's."""
    careless: float = 0.2
    """Share of them that the encoder reads as if they were typed in a hurry."""
    lives: int = 3
    """Invented lives per step, of about ten facts, which are to be found by questions about them; 0: none."""
    contrast: float = 0.1
    """Weight of that loss beside those of the sentences."""
    owners: int = 2
    """People per step, of forty facts, whose facts are to be found by questions about them."""
    told: float = 0.3
    """Weight of that loss."""
    muon_lr: float = 0.003
    adam_lr: float = 0.01
    weight_decay: float = 0.01
    warm_up: int = 100
    """Steps over which the learning rates rise; then they fall linearly to a fiftieth."""
    temperature: float = 0.05
    similarity: float = 0.2
    """Weight of the teacher's similarities beside its vectors."""
    save_every: int = 400
    """Steps between two savings."""

    def __post_init__(self) -> None:
        least = {
            "steps": 1,
            "vocabulary": 300,
            "blocks": 1,
            "sentences": 2,
            "lives": 0,
            "owners": 1,
        }
        least |= {"warm_up": 1, "save_every": 1}
        for name, limit in least.items():
            if (value := getattr(self, name)) < limit:
                raise ConfigError(f"{name} is {value}", f"give at least {limit}")

    def rate(self, step: int) -> float:
        """The share of the learning rates in a step, counted from 0; 0 to 1."""
        return min(1.0, (step + 1) / self.warm_up) * max(0.02, 1.0 - step / self.steps)


FURTHER = EncoderSettings(
    steps=500, sentences=192, lives=1, muon_lr=0.001, adam_lr=0.002, warm_up=30, save_every=100
)
"""Of a run that goes on from a trained encoder with what people told."""
