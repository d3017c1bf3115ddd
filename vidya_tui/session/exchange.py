"""One ask and its candidates while they stream.

State only: no journal, no teacher, no widgets. session.py decides what the owner may do with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from learning.protocol.events import CandidateDone
from learning.protocol.records import Ask, Candidate, Pick
from vidya_tui.session.candidate import Card


@dataclass(frozen=True)
class EarlyPick:
    """A pick whose text is still being written; its lesson waits for the rest."""

    pick: Pick
    judgement: int
    """Its number in the journal."""
    seen: str
    """The text at the moment of the pick."""


@dataclass
class Exchange:
    """An ask and its cards."""

    ask: Ask
    cards: list[Card] = field(default_factory=list)
    early: EarlyPick | None = None

    def deal(self, count: int) -> None:
        """Makes empty cards for candidates that are going to stream."""
        self.cards = [Card(number) for number in range(1, count + 1)]

    def show(self, candidates: Sequence[Candidate]) -> None:
        """Makes cards of candidates that are complete."""
        self.cards = [Card(candidate.index) for candidate in candidates]
        for candidate in candidates:
            self.finish(CandidateDone(candidate))

    @property
    def streaming(self) -> bool:
        return any(card.state != "done" for card in self.cards)

    def card(self, index: int) -> Card | None:
        return next((card for card in self.cards if card.index == index), None)

    def first_shown(self) -> Card | None:
        """The first card with a text."""
        return next((card for card in self.cards if card.said), None)

    def surest(self) -> Card | None:
        """The card with a text that the model is surest of; where none is complete, the first with a text."""
        said = [card for card in self.cards if card.said]
        return max(said, key=Card.certainty, default=None)

    def order(self) -> None:
        """Sorts the cards by certainty once all have ended. Each card keeps its number, so that a digit
        pressed at this moment still picks the card that the owner saw."""
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

    def finish(self, done: CandidateDone) -> None:
        """Completes a card."""
        card = self.card(done.candidate.index)
        if card is not None and not (card.chosen and card.state == "done"):
            # a chosen card that is complete stays as it is
            card.finish(done)
        self.order()

    def stop(self) -> None:
        """Ends all cards that still stream."""
        for card in self.cards:
            card.stop()
        self.order()

    def settle(self, text: str) -> None:
        """Completes the card of the early pick with this text."""
        card = self.card(self.early.pick.index) if self.early else None
        if card is not None:
            card.text = text
            card.stop()
        self.early = None

    def as_seen(self, index: int | None = None, text: str = "") -> list[Candidate]:
        """The candidates with the texts that the owner sees now. text: of number `index`, instead of what its
        card shows. Offers are left out but for that one: what was taught for another question is not wrong
        because it does not answer this one."""
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
            if card.index == index or not card.offered
        ]
