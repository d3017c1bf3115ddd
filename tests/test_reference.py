"""docs/reference.md says what the program's own tables say."""

from __future__ import annotations

import re
from pathlib import Path

from vidya_tui.cli.reference import reference
from vidya_tui.commands.table import COMMANDS

PAGE = Path(__file__).parents[1] / "docs" / "reference.md"


def test_the_reference_is_up_to_date() -> None:
    advice = "run: python -m vidya_tui.cli.reference docs/reference.md"
    assert PAGE.read_text("utf-8") == reference(), advice


def test_every_table_has_as_many_cells_as_its_head() -> None:
    for table in re.findall(r"(?:^\|.*\n)+", reference(), re.MULTILINE):
        head, *rows = [re.split(r"(?<!\\)\|", line) for line in table.strip().split("\n")]
        assert len(rows) > 1
        assert {len(row) for row in rows} == {len(head)}, table


def test_it_names_everything() -> None:
    page = reference()
    for words in ("vidya ask", "vidya journal forget", "--checkpoint-minutes", "top_p", "ctrl+p"):
        assert words in page
    assert all(f"`/{command.name}" in page for command in COMMANDS)
