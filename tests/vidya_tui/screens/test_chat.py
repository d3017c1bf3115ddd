"""The chat screen is one screen that holds objects; none reaches into another's private parts."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.test_architecture import ROOT
from vidya_tui.screens.chat.screen import ChatScreen
from vidya_tui.screens.textual_fixes import Steady
from vidya_tui.widgets.conversation import ConversationView

TEXTUALS = {"_bindings", "_forward_event"}
"""Private attributes of Textual, which has no other way."""
FOLDERS = ("screens/chat", "widgets", "controller", "session", "state", "commands", "line_mode")


def test_no_part_of_the_chat_is_mixed_in() -> None:
    ours = [kind for kind in ChatScreen.__mro__ if kind.__module__.startswith("vidya_tui.")]
    assert ours == [ChatScreen, Steady]
    ours = [kind for kind in ConversationView.__mro__ if kind.__module__.startswith("vidya_tui.")]
    assert ours == [ConversationView]


@pytest.mark.parametrize("folder", FOLDERS)
def test_nothing_uses_private_attributes_of_another_object(folder: str) -> None:
    assert reaches(ROOT / "vidya_tui" / folder) == []


def reaches(folder: Path) -> list[str]:
    """file:line of every `x._y` where x is not `self` or `cls`."""
    return [
        f"{file.name}:{node.lineno} {ast.unparse(node)}"
        for file in sorted(folder.rglob("*.py"))
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(node, ast.Attribute)
        and node.attr.startswith("_")
        and not node.attr.startswith("__")
        and node.attr not in TEXTUALS
        and not (isinstance(node.value, ast.Name) and node.value.id in ("self", "cls"))
        and not (isinstance(node.value, ast.Call) and ast.unparse(node.value) == "super()")
    ]
