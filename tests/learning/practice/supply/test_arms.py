"""Arms as one types them."""

from __future__ import annotations

import pytest

from engine.errors import ConfigError, NotFound, VidyaError
from learning.practice.supply.arms import label, parse_arms, requested
from learning.protocol.requests import Practise


def test_settings_belong_to_the_task_before_them_and_options_to_all() -> None:
    words = ["chain_sum", "max_terms=3", "lr=1e-5", "max_digits=2,", "syllogism", ",", "chain_sum"]
    found = parse_arms(words)
    assert found.arms == ("chain_sum max_digits=2 max_terms=3", "syllogism", "chain_sum")
    assert found.options == ("lr=1e-5",)
    assert label(found.arms) == "chain_sum × 2, syllogism"


@pytest.mark.parametrize(
    ("words", "kind", "said"),
    [
        ("max_terms=3 chain_sum", ConfigError, "before any task"),
        ("chain_sum chainsum", NotFound, "chainsum"),
        ("syllogism syllogism", ConfigError, "twice"),
        ("chain_sum a=1 b=2 chain_sum b=2 a=1", ConfigError, "twice"),
    ],
)
def test_what_cannot_be_meant_is_refused(words: str, kind: type[VidyaError], said: str) -> None:
    with pytest.raises(kind, match=said):
        parse_arms(words.split())


def test_one_task_is_a_request_as_ever_and_several_have_arms() -> None:
    one = requested(["syllogism", "forms=2", "groups=4"], ["x=1"])
    assert one == Practise("syllogism", settings=("forms=2", "x=1"), options=("groups=4",))
    two = requested(["chain_sum", "max_terms=3", "syllogism"], ["x=1"])
    assert two == Practise(
        "chain_sum, syllogism", arms=("chain_sum max_terms=3 x=1", "syllogism x=1")
    )
    with pytest.raises(ConfigError, match="no task"):
        requested(["groups=4"])
