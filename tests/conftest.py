"""Fixtures for tests that need a real, tiny model. Only tests that use one import torch."""

from __future__ import annotations

import os
import sys
from collections.abc import MutableMapping
from typing import TYPE_CHECKING

import pytest

from vidya_tui.worker.environment import prepare

if TYPE_CHECKING:
    from engine.model import Model
    from engine.tokenizers.tokenizer import Tokenizer


def share_cores(environment: MutableMapping[str, str]) -> None:
    """Gives torch of a pytest-xdist worker, and of what it starts, its share of the cores.

    Otherwise each worker has as many threads as there are cores, and they wait for each other.
    """
    if workers := environment.get("PYTEST_XDIST_WORKER_COUNT"):
        cores = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
        environment.setdefault("OMP_NUM_THREADS", str(max(1, cores // int(workers))))


def keep_bytecode(environment: MutableMapping[str, str]) -> None:
    """Lets Python keep what it has compiled, here and in what is started, as it does by itself.

    Where an image forbids it, each process of tests compiles all of the program and its tests again: 13
    seconds of a core before the first test of a worker, instead of 7.
    """
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False


def buffer_output(environment: MutableMapping[str, str]) -> None:
    """Removes PYTHONUNBUFFERED, so that the programs that tests start buffer their output, as they do for
    people. With that variable a write to a full disk fails at once, and no test sees the failing flush at
    exit."""
    environment.pop("PYTHONUNBUFFERED", None)


prepare(os.environ)
share_cores(os.environ)
keep_bytecode(os.environ)
buffer_output(os.environ)
os.environ.setdefault("SSH_CONNECTION", "tests")  # nobody's own clipboard is written


@pytest.fixture(scope="session")
def tiny_tokenizer() -> Tokenizer:
    """A BPE of 384 ids."""
    from tests.random_model import small_tokenizer

    return small_tokenizer()


@pytest.fixture
def tiny_model(tiny_tokenizer: Tokenizer) -> Model:
    """A fresh random model, the same for every test."""
    from tests.random_model import random_model

    return random_model(tiny_tokenizer)
