"""Reads out the candidates of the open conversation in the line mode, each once."""

from __future__ import annotations

from collections.abc import Iterator

from vidya_tui.session.session import Session


class CandidateReader:
    """Knows which candidates were printed. Others in their place (another message, another conversation, or
    the same message asked again after a crash) are read out from the first."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._cards = session.cards
        self._told = 0
        """Number of these cards that were printed."""
        self._skipped = False
        """They were left out because an answer was chosen."""

    def skip(self) -> None:
        """Leaves out what is complete by now: an answer is chosen, and was read out with its conversation.
        Where that is undone, `lines` reads them all out."""
        self._turn_to_new_cards()
        self._skipped = True
        by_number = sorted(self._cards, key=lambda card: card.index)
        while self._told < len(by_number) and by_number[self._told].state == "done":
            self._told += 1

    def lines(self) -> Iterator[str]:
        """The candidates in order of their numbers, as far as they are finished and were not printed; then
        the surest one, with which the conversation goes on if none is picked."""
        self._turn_to_new_cards()
        if self._skipped and self._session.waiting:
            self._told, self._skipped = 0, False
        cards = sorted(self._cards, key=lambda card: card.index)
        while self._told < len(cards) and cards[self._told].state == "done":
            card = cards[self._told]
            self._told += 1
            if card.said and card.ending != "cancelled":
                yield f"{card.index}. {card.said}" if len(cards) > 1 else card.said
            if card.origin and (card.offered or self._told == len(cards)):
                yield f"{card.index} is {card.origin}" if card.offered else card.origin
            if self._told == len(cards) > 1 and self._session.waiting:
                yield f"surest: {self._session.cards[0].index}"

    def _turn_to_new_cards(self) -> None:
        if self._session.cards is not self._cards:
            self._cards, self._told, self._skipped = self._session.cards, 0, False
