"""A small model's files, and a home to fetch it into."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from learning.home import Home
from tests.fetched import Fetched, little_model


@pytest.fixture(scope="session")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The files of a model on the hub."""
    return little_model(tmp_path_factory.mktemp("little"))


@pytest.fixture
def place(tmp_path: Path) -> Fetched:
    home = Home(tmp_path / "home")
    home.path.chmod(stat.S_IRWXU)
    return Fetched(home)
