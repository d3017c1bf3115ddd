"""Every setting of practice has a name, a default and a meaning, and is set by it."""

from __future__ import annotations

import dataclasses
import math
import re
import subprocess
import sys
from typing import Any

import pytest

from engine.errors import ConfigError
from learning.maths.normalise import by_answer
from learning.maths.policy import batch_advantages, sequence_ratio
from learning.practice.options import (
    changed_values,
    check_options,
    named_values,
    parse_options,
    practice_options,
    split_words,
    with_options,
)
from learning.practice.settings import PracticeSettings


def leaves(settings: Any) -> int:
    return sum(
        leaves(value) if dataclasses.is_dataclass(value := getattr(settings, part.name)) else 1
        for part in dataclasses.fields(settings)
    )


def test_every_field_is_an_option_with_its_default_and_a_meaning() -> None:
    options, usual = practice_options(), PracticeSettings()
    assert len(options) == leaves(usual) > 40
    assert {option.name: option.usual for option in options} == named_values(usual)
    assert all(option.help.endswith(".") for option in options), "each field has a text"
    assert changed_values(usual) == {}


def test_a_value_arrives_where_it_belongs() -> None:
    words = (
        *("kl_weight=0.05", "normalise=by_answer", "advantages=batch", "ratio=sequence"),
        *("keep.lines=3", "warm_up.keep.talk=2", "dual_clip=inf", "buffer_size=64"),
    )
    settings = with_options(PracticeSettings(), words)
    objective = settings.objective
    assert (objective.kl_weight, objective.normalise) == (0.05, by_answer)
    assert (settings.advantages, objective.ratio) == (batch_advantages, sequence_ratio)
    assert (settings.keep.lines, settings.warm_up.keep.talk) == (3, 2)
    assert (objective.dual_clip, settings.buffer_size) == (math.inf, 64)
    assert settings.warm_up.keep.talk_weight == 10.0, "the rest is as it was"
    assert sorted(f"{k}={v}" for k, v in changed_values(settings).items()) == sorted(words)


def test_all_values_together_make_the_same_settings_again() -> None:
    settings = with_options(PracticeSettings(), ("lr=3e-05", "divergence=k2", "seconds=60.0"))
    words = [f"{name}={value}" for name, value in named_values(settings).items()]
    assert with_options(PracticeSettings(), words) == settings


@pytest.mark.parametrize("option", practice_options(), ids=lambda option: option.name)
def test_a_wrong_value_of_any_option_is_told(option: Any) -> None:
    for wrong in ("nonsense", "nan", "-1"):
        with pytest.raises(ConfigError) as caught:
            with_options(PracticeSettings(), (f"{option.name}={wrong}",))
        assert f"practice: {option.name} is " in caught.value.what, "as one types it"
    if not option.variants:
        assert re.search(r">=? |\babove |\d to ", option.help), "its text has the range"
        other = option.name == "dual_clip"  # its range depends on another option
        assert other or caught.value.next_step == f"give another value: {option.help}"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("groups=1",), "updates is 2, and groups is 1: at most as many updates as groups"),
        (
            ("buffer_size=16",),
            "buffer_size is 16, and groups is 32: buffer_size must be 0 or at least groups",
        ),
        (("high=5",), "dual_clip is 3.0, and high is 5.0: dual_clip must be above 1 + high"),
        (
            ("few.reference=3", "few.examples=50"),
            "few.candidates is 32, and few.examples is 50: where few.reference chooses, at least as many "
            "candidates as examples",
        ),
    ],
)
def test_options_that_do_not_fit_each_other_are_both_named(
    words: tuple[str, ...], said: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        with_options(PracticeSettings(), words)
    assert caught.value.what == f"practice: {said}"
    one, other = re.findall(r"([\w.]+) is ", said)
    assert caught.value.next_step == f"change {one} or {other}"


@pytest.mark.parametrize("digits", [400, 5000])
def test_a_number_of_hundreds_of_digits_is_told(digits: int) -> None:
    with pytest.raises(ConfigError, match="steps is '9+'"):
        parse_options([f"steps={'9' * digits}"])


@pytest.mark.parametrize(
    "name", ["groups", "held_out", "keep.lines", "warm_up.batch", "few.example"]
)
def test_a_count_that_cannot_fit_is_refused_with_its_bound(name: str) -> None:
    for most in ("1000001", "99999999999999999999"):
        with pytest.raises(ConfigError, match=rf"{name} is {most}; give at most 1,000,000: "):
            check_options([f"{name}={most}"])
    check_options(["steps=1000000", "held_out=1000000"])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("groups=100000", "group_size=100000"), "groups is 100000, and group_size is 100000"),
        (("groups=250001",), "groups is 250001, and group_size is 4"),
        (("redraws=7813",), "redraws is 7813, groups is 32, and group_size is 4"),
        (("buffer_size=250001",), "buffer_size is 250001, and group_size is 4"),
        (
            ("self_play.questions=1000", "group_size=1001"),
            "self_play.questions is 1000, and group_size is 1001",
        ),
        (
            ("self_play.questions=100", "group_size=100", "self_play.answers=101"),
            "self_play.questions is 100, group_size is 100, and self_play.answers is 101",
        ),
        (
            ("self_play.questions=16", "buffer_size=125001"),
            "buffer_size is 125001, and self_play.answers is 8",
        ),
    ],
)
def test_counts_that_multiply_are_refused_where_their_product_cannot_fit(
    words: tuple[str, ...], said: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        check_options(words)
    assert caught.value.what == f"practice: {said}: their product must be at most 1,000,000"
    *names, last = re.findall(r"([\w.]+) is ", said)
    assert caught.value.next_step == f"change {', '.join(names)} or {last}"


def test_the_largest_products_are_accepted() -> None:
    check_options(["groups=1000", "group_size=1000", "redraws=1"])
    check_options(["redraws=7812", "buffer_size=250000"])
    check_options(["self_play.questions=100", "group_size=100", "self_play.answers=100"])


def test_long_answers_need_no_fewer_rows() -> None:
    check_options(["max_tokens=7813"])
    check_options(["max_tokens=1000000", "rows=1000000"])
    with pytest.raises(ConfigError, match="max_tokens is 1000001; give at most 1,000,000: "):
        check_options(["max_tokens=1000001", "rows=1"])


@pytest.mark.parametrize("name", ["field_below", "adapter.at"])
def test_a_number_of_weights_has_no_upper_bound(name: str) -> None:
    check_options([f"{name}=99999999999"])


def test_an_unknown_name_lists_all() -> None:
    with pytest.raises(ConfigError) as caught:
        parse_options(("normalize=by_answer",))
    assert (
        "'normalize'" in caught.value.what and "did you mean normalise?" in caught.value.next_step
    )
    assert all(option.name in caught.value.next_step for option in practice_options())
    with pytest.raises(ConfigError, match="option 'lr'"):
        parse_options(("lr",))
    with pytest.raises(ConfigError) as caught:
        with_options(PracticeSettings(), ("divergence=k1",))
    assert caught.value.next_step == "choose among: k2, k3", "k1 has no gradient as a loss"


def test_words_of_practice_and_of_the_task_are_told_apart() -> None:
    mine, tasks = split_words(("max_terms=3", "lr=1e-5", "forms=all,no"))
    assert (mine, tasks) == (("lr=1e-5",), ("max_terms=3", "forms=all,no"))
    assert split_words(["warmup.steps=3"])[0], "a wrong name of an option, not a setting of a task"


def test_names_and_texts_load_no_torch() -> None:
    script = (
        "import sys, learning.practice.options as o; o.practice_options(); o.parse_options(['lr=1']);"
        "print('torch' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "False"
