"""docs/architecture.md and its picture match the code."""

from __future__ import annotations

import re

from tests.storeys import draw
from tests.test_architecture import ROOT

PAGE = (ROOT / "docs" / "architecture.md").read_text("utf-8")


def test_the_picture_is_of_these_imports() -> None:
    drawn = (ROOT / "docs" / "architecture.svg").read_text("utf-8")
    assert drawn == draw(), "run: python -m tests.storeys docs/architecture.svg"


def test_every_place_that_the_page_names_exists() -> None:
    named = re.findall(r"`((?:engine|learning|vidya_tui|personality)/[\w/]+\.py)(?::(\w+))?`", PAGE)
    assert len(named) > 40
    missing = []
    for file, name in named:
        path = ROOT / file
        source = path.read_text("utf-8") if path.is_file() else ""
        if not source or (
            name and not re.search(rf"^\s*(async )?(def|class) {name}\b", source, re.M)
        ):
            missing.append(f"{file}:{name}")
    assert not missing, missing
