"""One ask and its candidates as they are written.

State only: no journal, no teacher, no widgets. session.py decides what the owner may do with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from learning.protocol.records import Ask, Candidate, Pick
from vidya_tui.session.candidate import Card


@dataclass(frozen=True)
class EarlyPick:
    """A pick whose text is still being written; its lesson waits for the rest."""

    pick: Pick
    judgement: int
    """Its number in the journal."""
    seen: str
    """The text as it stood when it was picked."""


@dataclass
class Exchange:
    """What one ask shows."""

    ask: Ask
    cards: list[Card] = field(default_factory=list)
    early: EarlyPick | None = None

    def deal(self, count: int) -> None:
        """Empty cards for candidates to come."""
        self.cards = [Card(number) for number in range(1, count + 1)]

    def show(self, candidates: Sequence[Candidate]) -> None:
        """Cards of candidates that are there already."""
        self.cards = [Card(candidate.index) for candidate in candidates]
        for candidate in candidates:
            self.finish(candidate)

    @property
    def streaming(self) -> bool:
        return any(card.state != "done" for card in self.cards)

    def card(self, index: int) -> Card | None:
        return next((card for card in self.cards if card.index == index), None)

    def first_shown(self) -> Card | None:
        """The first card with a text."""
        return next((card for card in self.cards if card.said), None)

    def surest(self) -> Card | None:
        """The card with a text that the model is surest of; of what is not whole, the first."""
        said = [card for card in self.cards if card.said]
        return max(said, key=Card.certainty, default=None)

    def order(self) -> None:
        """Once all have ended the surest stands first. Numbers stay with their cards: a key that is
        pressed in this moment means the card that was seen."""
        if not self.streaming:
            self.cards.sort(key=Card.certainty, reverse=True)

    def add(self, index: int, delta: str) -> None:
        card = self.card(index)
        if card is not None and card.state != "done":
            card.text += delta
            card.state = "streaming"

    def draw_anew(self, index: int) -> None:
        card = self.card(index)
        if card is not None and card.state != "done":
            card.text, card.state = "", "waiting"

    def finish(self, candidate: Candidate) -> None:
        card = self.card(candidate.index)
        if card is not None and not (card.chosen and card.state == "done"):
            card.finish(candidate)  # what was chosen and is whole changes no more
        self.order()

    def stop(self) -> None:
        """Nothing more will come."""
        for card in self.cards:
            card.stop()
        self.order()

    def settle(self, text: str) -> None:
        """The early pick's text is whole, and this is it."""
        card = self.card(self.early.pick.index) if self.early else None
        if card is not None:
            card.text = text
            card.stop()
        self.early = None

    def as_seen(self, index: int | None = None, text: str = "") -> list[Candidate]:
        """The candidates as the owner sees them now; number `index`, if any, with the given
        text."""
        return [
            Candidate(
                self.ask.id,
                card.index,
                text if card.index == index else card.text,
                (),
                (),
                card.ending or "cancelled",
                0,
            )
            for card in self.cards
        ]
