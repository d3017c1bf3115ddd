"""Finds the cards that say back to the owner what he told in asks that are to be erased.

Left out: what came of these cards (plan.py).
"""

from __future__ import annotations

from collections.abc import Collection

from learning.journal.database import Store, chosen
from learning.journal.lessons import MAIN_KINDS
from learning.journal.standing import of_kinds, stands
from learning.text.mention import said_back, told_in


def cards_that_say_back(store: Store, asks: Collection[int]) -> list[tuple[int, int, str]]:
    """(number of the candidate, its ask, its text) of each such card. A text that a standing lesson of an ask
    without such a card teaches is left out: the card may be that lesson's."""
    told = {
        said_back(one).strip()
        for (message,) in chosen(store, "asks", "message", asks)
        for one in told_in(message)
    }
    rows = (
        store.rows("SELECT id, ask, stripped(text) FROM candidates WHERE offered") if told else []
    )
    cards = [(int(number), int(ask), str(text)) for number, ask, text in rows if text in told]
    shown = {(ask, text) for _, ask, text in cards}
    kept = f"{of_kinds(MAIN_KINDS)} AND {stands()}"
    taught = store.rows(f"SELECT ask, stripped(answer) FROM lessons WHERE {kept}") if cards else []
    elsewhere = {text for ask, text in taught if (ask, text) not in shown}
    return [card for card in cards if card[2] not in elsewhere]
