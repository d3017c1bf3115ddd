"""A conversation whose turns a client keeps: each request brings all of them."""

from __future__ import annotations

from dataclasses import replace

from learning.protocol.records import Ask, Turns
from learning.protocol.requests import Generate
from vidya_tui.session.exchange import Exchange
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
            self.conversation = before.conversation
            self._leave_standing(before, turns[-2].text)
        ask = self._add_ask(turns, before.id if before else None, self._words(turns))
        self._generate(ask)
        return ask

    def _leave_standing(self, ask: Ask, answer: str) -> None:
        """Comes before the next ask is added, because that may delete the candidates without an answer."""
        judged = any(one.stands for one in self.journal.judgements(ask.id))
        if judged or self.journal.answer(ask.id) == answer:
            return
        exchange = Exchange(ask)
        exchange.show(self.journal.candidates(ask.id))
        card = next((card for card in exchange.cards if card.said == answer), None)
        lessons = self._continuation(ask, card) if card else ()  # no card: it was deleted meanwhile
        self.journal.set_answer(ask.id, answer, lessons)

    def _request(self, ask: Ask, count: int, others: bool) -> Generate:
        made = super()._request(ask, count, others)
        return replace(made, system=self.system, stops=self.stops)
