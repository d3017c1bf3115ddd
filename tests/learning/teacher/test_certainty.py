"""How sure the model is."""

from __future__ import annotations

import math

import pytest

from learning.teacher.certainty import EXPONENT, calibration_error, certainty, of_not_knowing


def test_one_guessed_word_makes_the_whole_answer_a_guess() -> None:
    known, invented = (-0.01,) * 8, (-0.01,) * 7 + (-4.0,)
    assert certainty(known) == pytest.approx(math.exp(-0.08 * EXPONENT))
    assert (certainty(invented) or 0.0) < 0.1 < 0.6 < math.exp(sum(invented) / 8), "was 60 % sure"


def test_it_is_a_share_and_none_of_nothing() -> None:
    assert certainty(()) is None
    assert certainty((0.0, 0.0)) == 1.0
    assert certainty((1e-7,)) == 1.0, "rounding may make a probability a little more than 1"
    assert certainty((-1e9,)) == 0.0


def test_not_knowing_is_right_where_nothing_else_is() -> None:
    assert of_not_knowing([0.1, 0.3, None]) == pytest.approx(0.7)
    assert of_not_knowing([None]) == of_not_knowing([]) == 1.0


def test_calibration_error_by_hand() -> None:
    # bin 0.1: claimed 0.1, right 1/2; bin 0.9: claimed 0.9 and 1.0, right 1/2
    claims = [(0.1, True), (0.1, False), (0.9, True), (1.0, False)]
    assert calibration_error(claims) == pytest.approx((2 * 0.4 + 2 * 0.45) / 4)
    assert calibration_error([(1.0, True), (0.0, False)]) == 0.0
    assert calibration_error([(0.75, True)] * 3 + [(0.75, False)]) == pytest.approx(0.0)
    with pytest.raises(ValueError, match="no claims"):
        calibration_error([])


def test_a_model_may_have_an_exponent_of_its_own() -> None:
    assert certainty((-1.0, -1.0), 0.5) == pytest.approx(math.exp(-1.0))
