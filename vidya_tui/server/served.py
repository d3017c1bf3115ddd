"""A conversation whose turns a client keeps: each request brings all of them."""

from __future__ import annotations

from dataclasses import replace

from learning.protocol.records import Ask, Turns
from learning.protocol.requests import Generate
from vidya_tui.session.session import Session


class ServedSession(Session):
    """A session of one request."""

    system = ""
    """What the client tells the model first; empty: nothing."""
    stops: tuple[str, ...] = ()
    """Texts before which an answer ends."""

    def ask_after(self, before: Ask | None, turns: Turns) -> Ask:
        """Asks with the client's turns; the message is in the journal when this returns.

        before: the ask whose answer the last message follows, so that the conversation goes on in the
        journal; its answer becomes the one that the client went on with, unjudged, unless it has another by
        a judgement. None: begins a conversation.
        """
        if before is not None:
            self.reopen(before)
            self._leave_standing(turns[-2].text)
        ask = self._add_ask(turns, before.id if before else None, self._words(turns))
        self._generate(ask)
        return ask

    def _leave_standing(self, answer: str) -> None:
        card = next((card for card in self.cards if card.said == answer), None)
        if self._now is None or card is None or self.standing() or self.answer == answer:
            return
        ask = self._now.ask
        self.journal.set_answer(ask.id, answer, self._continuation(ask, card))

    def _request(self, ask: Ask, count: int, others: bool) -> Generate:
        made = super()._request(ask, count, others)
        return replace(made, system=self.system, stops=self.stops)
