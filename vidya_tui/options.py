"""The options that every command takes, and what follows from them."""

from __future__ import annotations

import functools
import re
import sys
from dataclasses import dataclass, replace
from pathlib import Path

from engine.errors import ConfigError
from learning.home import Home
from vidya_tui.settings.file import Settings, SettingsError
from vidya_tui.settings.file import load as load_settings


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

    @functools.cached_property
    def settings(self) -> Settings:
        """Of the home, with --model in place of its model. What in the file counts for nothing is told
        once, on standard error. Raises SettingsError."""

        def warn(error: SettingsError) -> None:
            sys.stderr.write(f"vidya: {error}\n")

        found = load_settings(self.home.settings_path, warn)
        try:
            return replace(found, model=self.model) if self.model else found
        except SettingsError as error:
            why = error.what.removeprefix("settings.toml: model: ")
            raise ConfigError(f"--model {self.model}: {why}", "name a model of the home") from error

    @property
    def chosen_model(self) -> str:
        """--model, else what `vidya model use` chose. Raises SettingsError."""
        return self.model or self.settings.model

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
