"""A home into which the tests fetch models, and the files of a small model to fetch."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
import torch
from made_tokenizers import trained, write

from engine.config import CONFIGS
from engine.errors import VidyaError
from engine.model import Model
from engine.storage.checkpoint import save_model
from learning.home import Home
from learning.models.get import get_model, import_from_hub
from learning.models.store import ModelStore


def little_model(folder: Path) -> dict[str, bytes]:
    """The files of a model as the hub has them; makes them in `folder`."""
    config = replace(CONFIGS["tiny"], vocab_size=640, context=256)
    save_model(Model(config, generator=torch.Generator().manual_seed(0)), folder)
    write(folder, trained())
    (folder / "README.md").write_text("# Little\nby nobody\n")
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


@dataclass
class Fetched:
    """A home, with the messages and progress shown during a download."""

    home: Home
    said: list[str] = field(default_factory=list)
    shown: list[tuple[int, int]] = field(default_factory=list)

    @property
    def store(self) -> ModelStore:
        return ModelStore(self.home)

    def progress(self, done: int, total: int) -> None:
        self.shown.append((done, total))

    def get(self, name: str = "owner/little", **more: Any) -> None:
        """more: further arguments of get_model."""
        how = {"progress": self.progress, "say": self.said.append, **more}
        if "/" in name:
            import_from_hub(self.home, self.store, name, **how)
        else:
            get_model(self.home, self.store, name, **how)

    def fails(self, name: str = "owner/little", **more: Any) -> str:
        """The error of a download that fails."""
        with pytest.raises(VidyaError) as caught:
            self.get(name, **more)
        assert "\n" not in caught.value.what and len(caught.value.what) < 500
        models = self.home.models_path
        assert not models.exists() or list(models.iterdir()) == [], "nothing half-made"
        return str(caught.value)
