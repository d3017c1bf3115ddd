"""The options that every command takes, and what follows from them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from engine.errors import ConfigError
from learning.home import Home
from vidya_tui.settings import load as load_settings


@dataclass(frozen=True)
class Options:
    """The common options; those given after the command win over those before it."""

    home_path: Path | None = None
    model: str | None = None
    device: str | None = None
    seed: int | None = None
    as_json: bool = False
    debug: bool = False

    @property
    def home(self) -> Home:
        """Raises HomeError where it cannot be made."""
        return Home(self.home_path)

    @property
    def chosen_model(self) -> str:
        """--model, else what `vidya model use` chose. Raises SettingsError."""
        return self.model or load_settings(self.home.settings_path).model

    @property
    def chosen_device(self) -> str:
        """--device, else the CPU. Raises ConfigError where the machine has no such device."""
        if self.device in (None, "cpu"):
            return "cpu"
        import torch

        if not re.fullmatch(r"cuda(:\d+)?", self.device or ""):
            raise ConfigError(f"device {self.device!r} is unknown", "choose cpu or cuda")
        if not torch.cuda.is_available():
            raise ConfigError("this machine has no usable CUDA device", "leave --device out")
        return self.device or "cpu"
