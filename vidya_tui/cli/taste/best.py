"""The best of many answers by the owner's taste, for `vidya ask --best-of`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from learning.journal.journal import Journal
from learning.protocol.records import Turns
from learning.text.comfort import CRISIS, in_danger
from learning.text.normalise import fold

if TYPE_CHECKING:
    from vidya_tui.session.candidate import Card

Best = Callable[[Turns, Sequence["Card"]], "Card | None"]
"""(turns up to the message, its candidates) -> the one that would please most; None if all are empty. If
the owner may hurt himself it is CRISIS, whatever pleases."""


def best_by_taste(folder: Path, journal: Journal) -> Best:
    """Loads the taste of a model's folder. Raises RewardError if it must not be used."""
    from engine.storage.checkpoint import load_config
    from engine.tokenizers.load import load_tokenizer
    from learning.rewards.reward_keeper import usable
    from learning.rewards.reward_model import read

    model, _ = usable(folder, journal)
    tokenizer, context = load_tokenizer(folder), load_config(folder).context

    def best(turns: Turns, cards: Sequence[Card]) -> Card | None:
        said = [card for card in cards if card.said]
        if not said:
            return None
        helps = [card for card in said if fold(card.said) == fold(CRISIS)]
        if helps and in_danger(turns[-1].text):
            return helps[0]
        group = read(tokenizer, [(turns, card.said) for card in said], context)
        return said[int(model.rewards(group).mean(1).argmax())]

    return best
