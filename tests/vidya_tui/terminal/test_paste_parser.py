"""Pastes come whole out of what the terminal sends, whatever is in them."""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from pathlib import Path

import pytest
from textual import constants, events
from textual._xterm_parser import XTermParser
from textual.message import Message

from tests.stage import Stage, play
from vidya_tui.terminal.paste_parser import PasteParser

START, END = "\x1b[200~", "\x1b[201~"
COLOURED = "error: \x1b[31m3 of 5 failed\x1b[0m in file\nsee \x1b the log \x1b[200 at \x1b[<0;3;4M"


def said(messages: Iterable[Message]) -> list[tuple[str, str]]:
    """(kind, text or key) of each."""
    return [
        ("paste", m.text) if isinstance(m, events.Paste) else ("key", getattr(m, "key", repr(m)))
        for m in messages
    ]


@pytest.mark.parametrize("size", [1, 2, 3, 5, 7, 4096])
def test_a_paste_with_escapes_is_one_paste_however_it_arrives(size: int) -> None:
    stream = f"a{START}{COLOURED}{END}b{START}{END}{START}x\0y{END}\r"
    parser, found = PasteParser(), []
    for at in range(0, len(stream), size):
        found += said(parser.feed(stream[at : at + size]))
    keys = [("key", "a"), ("paste", COLOURED), ("key", "b"), ("paste", ""), ("paste", "xy")]
    assert found == [*keys, ("key", "enter")]


def test_a_long_paste_in_pieces() -> None:
    text = "x" * 300_000 + "\x1b[201" + "y" * 5
    stream, parser, found = START + text + END, PasteParser(), []
    for at in range(0, len(stream), 4096):
        found += said(parser.feed(stream[at : at + 4096]))
    assert found == [("paste", text)]


def test_keys_and_the_mouse_are_as_before() -> None:
    parser = PasteParser()
    assert said(parser.feed("\x1b[A\x1b[2~x")) == [("key", "up"), ("key", "insert"), ("key", "x")]
    [click] = parser.feed("\x1b[<0;3;4M")
    assert isinstance(click, events.MouseDown) and (click.x, click.y) == (2, 3)


@pytest.mark.parametrize("sent", ["\x1b", "\x1b[2"])
def test_what_only_looks_like_a_paste_waits_no_longer_than_an_escape(
    sent: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [100.0]
    for module in ("vidya_tui.terminal.paste_parser", "textual._parser"):
        monkeypatch.setattr(f"{module}.get_time", lambda: now[0])
    parser = PasteParser()
    assert said(parser.feed(sent)) == said(parser.tick()) == []
    now[0] += 1.01 * constants.ESCAPE_DELAY
    found = said(parser.tick())
    plain = XTermParser()
    list(plain.feed(sent))
    now[0] += 1.01 * constants.ESCAPE_DELAY
    assert found == said(plain.tick()) != []


def test_an_escape_sequence_in_two_pieces_is_one_key() -> None:
    parser = PasteParser()
    assert said(parser.feed("\x1b")) == []
    assert said(parser.feed("[A")) == [("key", "up")]


def test_the_driver_reads_with_it(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        module = importlib.import_module(stage.app.get_driver_class().__module__)
        if hasattr(module, "XTermParser"):  # on Windows another module reads
            assert module.XTermParser is PasteParser

    play(scenario, tmp_path)
