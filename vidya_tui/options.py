"""The options that every command takes, and the home, settings, model and device that they select."""

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
    """The common options. An option after the command name overrides one before it."""

    home_path: Path | None = None
    model: str | None = None
    device: str | None = None
    seed: int | None = None
    as_json: bool = False
    debug: bool = False

    @property
    def home(self) -> Home:
        """The home. Raises HomeError if it cannot be created."""
        return Home(self.home_path)

    @functools.cached_property
    def settings(self) -> Settings:
        """The home's settings, with --model in place of its model. Reports ignored entries once, on stderr.
        Raises SettingsError, or ConfigError for a bad --model."""

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
        """--model, or else the model in the settings. Raises SettingsError."""
        return self.model or self.settings.model

    @property
    def chosen_device(self) -> str:
        """--device, or else "cpu". Raises ConfigError if the machine has no such device."""
        if self.device in (None, "cpu"):
            return "cpu"
        import torch

        if not re.fullmatch(r"cuda(:\d+)?", self.device or ""):
            raise ConfigError(f"device {self.device!r} is unknown", "choose cpu or cuda")
        if not torch.cuda.is_available():
            raise ConfigError("this machine has no usable CUDA device", "leave --device out")
        return self.device or "cpu"
