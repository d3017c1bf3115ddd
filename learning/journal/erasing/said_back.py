"""Finds the cards that say back what the owner told in asks that are to be erased.

Left out: the other rows that contain the text of such a card (plan.py).
"""

from __future__ import annotations

from collections.abc import Collection

from learning.journal.database import Store, chosen
from learning.journal.lessons import MAIN_KINDS
from learning.journal.standing import of_kinds, stands
from learning.text.mention import anything_said_back
from learning.text.normalise import fold


def cards_that_say_back(store: Store, asks: Collection[int]) -> list[tuple[int, int, str]]:
    """(candidate, its ask, its text) of each card that says back the owner's messages of these asks. A card
    may offer a lesson with the same text instead: it is left out if a standing lesson teaches that text in an
    ask that shows no such card."""
    messages = chosen(store, "asks", "message", asks)
    told = {text for (message,) in messages for text in anything_said_back(message)}
    rows = store.rows("SELECT id, ask, stripped(text) FROM candidates WHERE offered")
    cards = [(int(number), int(ask), str(text)) for number, ask, text in rows if fold(text) in told]
    if not cards:
        return []
    shown = {(ask, text) for _, ask, text in cards}
    kept = f"{of_kinds(MAIN_KINDS)} AND {stands()}"
    taught = store.rows(f"SELECT ask, stripped(answer) FROM lessons WHERE {kept}")
    elsewhere = {text for ask, text in taught if (ask, text) not in shown}
    return [card for card in cards if card[2] not in elsewhere]
