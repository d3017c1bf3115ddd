"""A text is found in a file however the file writes it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from learning.journal.conversations import as_json, as_markdown
from learning.lessons.forget_files import holds, plain
from learning.protocol.records import Turn


@pytest.mark.parametrize(
    "text",
    [
        "my pin is\nswordfish",
        "my pin is\n\n  swordfish",
        "> my pin\n> is\n> > swordfish",
        "my pin \U0001f600 is swordfish",
        "C:\\new\\table is *bold* [x]",
    ],
)
def test_a_text_is_found_as_markdown_json_and_messages_write_it(tmp_path: Path, text: str) -> None:
    file, turns = tmp_path / "file", (Turn("user", text),)
    written = as_markdown("A talk", 0.0, turns), as_json(1, "A talk", 0.0, turns)
    for whole in (*written, json.dumps({"text": text}), f"ValueError: {text!r}"):
        file.write_text(whole, "utf-8")
        assert holds(file, frozenset({(plain(text),)})), whole
        assert not holds(file, frozenset({(plain(f"{text} or trout"),)}))
