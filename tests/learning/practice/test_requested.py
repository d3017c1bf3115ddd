"""The options that tasks bring along."""

from __future__ import annotations

import pytest

from learning.practice.requested import practice_settings
from learning.practice.settings import PracticeSettings, WarmUpSettings
from learning.protocol.requests import Practise

USUAL = WarmUpSettings().enough


@pytest.mark.parametrize(
    ("request_", "enough"),
    [
        (Practise("syllogism"), USUAL),
        (Practise("chain_sum"), 0.8),
        (Practise("chain_sum", settings=("max_terms=3",)), 0.8),
        (Practise("chain_sum", options=("warm_up.enough=0.3",)), 0.3),
        (Practise("chain_sum × 2", arms=("chain_sum", "chain_sum max_terms=3")), 0.8),
        (Practise("both", arms=("chain_sum max_terms=3", "basic_arithmetic")), 0.8),
        (Practise("both", arms=("chain_sum", "syllogism")), USUAL),
        (Practise("both", arms=("syllogism", "chain_sum")), USUAL),
    ],
)
def test_several_tasks_have_the_options_that_all_of_them_have(
    request_: Practise, enough: float
) -> None:
    assert practice_settings(PracticeSettings(), request_).warm_up.enough == enough


def test_what_taste_needs_is_for_taste_alone() -> None:
    assert practice_settings(PracticeSettings(), Practise("taste")).groups == 12
    assert practice_settings(PracticeSettings(), Practise("chain_sum")).groups == 32
