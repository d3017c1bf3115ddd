"""A little of what tests/monkey.py plays."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.monkey import PASTES, monkey
from vidya_tui.commands.table import COMMANDS


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_random_keys_words_pastes_and_sizes(tmp_path: Path, seed: int) -> None:
    did = monkey(tmp_path, seed, 160)
    assert min(did[what] for what in ("keys", "words", "pastes", "sizes", "clicks")) > 0


def test_every_room_is_among_what_it_opens() -> None:
    names = {line.partition(" ")[0] for line in PASTES}
    assert {f"/{command.name}" for command in COMMANDS} <= names
