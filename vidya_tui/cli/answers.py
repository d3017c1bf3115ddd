"""Prints the answers of `vidya ask`: rows of JSON as each completes, or texts in order.

A terminal shows all answers while they stream, in lines that the finished answers then replace. A pipe
gets finished answers only.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from learning.protocol.events import CandidateDone
from vidya_tui.cli.common import print_json, say
from vidya_tui.start import POOR
from vidya_tui.text.sanitise import plain

if TYPE_CHECKING:
    from vidya_tui.session.candidate import Card

FRAME = 0.05
"""Least seconds between two redraws of the streaming answers."""


Show = Callable[[Sequence["Card"]], None]
"""Redraws the cards; called whenever their texts may have grown."""


@contextmanager
def while_written(as_json: bool) -> Iterator[Show]:
    """Yields a function that shows the streaming answers on a terminal; clears them at the end."""
    if as_json or not sys.stdout.isatty() or os.environ.get("TERM") in POOR:
        yield lambda cards: None
        return
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    shown = 0.0

    def show(cards: Sequence[Card]) -> None:
        nonlocal shown
        if time.monotonic() - shown >= FRAME:
            shown = time.monotonic()
            live.update(Text("\n".join(_lines(cards))), refresh=True)

    with Live(console=Console(), auto_refresh=False, transient=True) as live:
        yield show


def print_all(cards: Sequence[Card], ask: int) -> None:
    """Prints the finished answers in order, and on stderr where they come from and how to judge them with
    `vidya teach`."""
    cards = sorted(cards, key=lambda card: card.index)
    for line in _lines(cards):
        click.echo(line)
    for origin in dict.fromkeys(card.origin for card in cards if card.origin):
        of = [str(card.index) for card in cards if card.origin == origin]
        say(origin if len(of) == len(cards) else f"{', '.join(of)}: {origin}")
    pick = "--pick K, " if len(cards) > 1 else ""
    say(f"ask {ask}: vidya teach --ask {ask} {pick}--say TEXT or --rate good|bad judges it")


def print_one(index: int | None, text: str) -> None:
    """Prints one finished text, with its number if there are several."""
    click.echo(plain(text) if index is None else f"{index}. {plain(text)}")


def as_row(event: CandidateDone) -> None:
    """Prints a candidate as a row of JSON, with its origin if the model did not write it by itself."""
    candidate = event.candidate
    origin: dict[str, object] = {}
    if event.recalled is not None:
        origin["recalled"] = event.recalled
    if event.said_at is not None:
        origin["said_at"] = event.said_at
    if candidate.offered:
        origin["offered"] = True
    print_json(
        {
            "index": candidate.index,
            "text": candidate.text,
            "tokens": len(candidate.tokens),
            "logprob": sum(candidate.logprobs),
            **origin,
        }
    )


def _lines(cards: Sequence[Card]) -> list[str]:
    if len(cards) == 1:
        return [plain(cards[0].said)]
    return [f"{card.index}. {plain(card.said)}" for card in cards]
