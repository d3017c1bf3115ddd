from __future__ import annotations

import json
import random
import re
from pathlib import Path

import pytest

import benchmarks
from learning.text.lives import (
    NOT_KNOWN,
    InventedLife,
    LifeFact,
    lives,
    relations,
    shares_content,
    values,
)
from learning.text.normalise import fold
from personality.book import read_book, shipped_book_path

_CALENDAR = {"day", "month", "few", "hotdrink"}
"""Lists of which a language has no others."""


@pytest.fixture(scope="module")
def many() -> list[InventedLife]:
    return lives(300, random.Random(7))


@pytest.fixture(scope="module")
def facts(many: list[InventedLife]) -> list[LifeFact]:
    return [fact for life in many for fact in life.facts]


def test_the_same_seed_makes_the_same_lives() -> None:
    assert lives(3, random.Random(1)) == lives(3, random.Random(1)) != lives(3, random.Random(2))


def test_a_life_of_chosen_kinds_has_facts_of_no_others() -> None:
    chosen = sorted(relations())[::4]
    told = {f.relation for life in lives(40, random.Random(0), chosen) for f in life.facts}
    assert told == {*chosen, "relative_name"}
    everything = lives(3, random.Random(1), list(relations()))
    assert everything == lives(3, random.Random(1)), "all kinds are chosen if none are"


def test_there_are_nearly_two_hundred_relations_with_eight_wordings_each(
    facts: list[LifeFact],
) -> None:
    assert {fact.relation for fact in facts} == set(relations())
    assert len(relations()) >= 190
    few = [f.relation for f in facts if len({f.question, *f.rewordings, *f.paraphrases}) < 8]
    assert few == []


def test_lists_of_values_have_each_once_and_those_of_names_are_long() -> None:
    for name, listed in values().items():
        if name == "kin":  # women and men: some words are both
            continue
        assert len(listed) == len(set(listed)), name
    assert len(values()["first_f"]) > 150
    assert len(values()["petname"]) > 90


def test_a_life_has_some_ten_facts_and_things_never_told(many: list[InventedLife]) -> None:
    sizes = [len(life.facts) for life in many]
    assert min(sizes) >= 7
    assert max(sizes) <= 18
    assert 8.5 < sum(sizes) / len(sizes) < 12
    for life in many:
        told = {q for f in life.facts for q in (f.question, *f.rewordings, *f.paraphrases)}
        assert len(life.unknown) == 4
        assert not told & set(life.unknown)


def test_answers_and_statements_hold_what_is_told(facts: list[LifeFact]) -> None:
    for fact in facts:
        assert fact.key in fact.answer, fact
        lacking = [told for told in fact.statements if fold(fact.key) not in fold(told)]
        if fact.relation not in ("habit", "dream"):  # said with another person's verb
            assert not lacking, lacking


def test_rewordings_share_a_word_with_the_question_and_paraphrases_none(
    facts: list[LifeFact],
) -> None:
    for fact in facts:
        assert all(shares_content(fact.question, other) for other in fact.rewordings)
        assert not any(shares_content(fact.question, other) for other in fact.paraphrases)
    assert sum(len(fact.paraphrases) for fact in facts) > 3 * len(facts)


@pytest.mark.parametrize(
    ("one", "other", "shared"),
    [
        ("What is my sister called?", "How do I call her?", True),
        ("What is my sister's name?", "Which name has she?", True),
        ("Where do I live?", "What is my address?", False),
    ],
)
def test_words_in_other_forms_are_shared_and_small_words_are_not(
    one: str, other: str, shared: bool
) -> None:
    assert shares_content(one, other) is shared


def test_yes_and_no_are_answered_with_what_is_true(facts: list[LifeFact]) -> None:
    for fact in facts:
        assert fact.right
        assert fact.wrong
        for asked in fact.right:
            assert asked.answer.startswith("Yes, ")
            assert fact.key in asked.answer
        for asked in fact.wrong:
            assert asked.answer.startswith("No, ")
            assert fact.key in asked.answer
            assert asked.question not in {right.question for right in fact.right}


def test_what_follows_needs_the_fact(facts: list[LifeFact]) -> None:
    assert sum(not fact.follows for fact in facts) < len(facts) // 5
    by_name = [f for f in facts if f.relation == "job" for q in f.follows if q.answer == f.answer]
    assert by_name  # a relative whose name was told is asked about by name


def test_neighbours_and_unknown_things_were_not_told(many: list[InventedLife]) -> None:
    for life in many:
        told = {fold(q) for f in life.facts for q in (f.question, *f.rewordings)}
        for fact in life.facts:
            assert not told & {fold(q) for q in fact.neighbours}, fact
    assert NOT_KNOWN in {entry.answer for entry in read_book(shipped_book_path())}


def test_sentences_are_filled_and_have_the_right_person(facts: list[LifeFact]) -> None:
    wrong = re.compile(
        r"[{}<>@|]|\bI (is|has|does)\b|\bmy my\b|\byou (is|am)\b|\b(a) [aeio]\w", re.I
    )
    bad = [
        text
        for f in facts
        for text in (
            *f.statements,
            f.question,
            f.answer,
            *f.rewordings,
            *f.paraphrases,
            *f.neighbours,
            *(t for q in (*f.right, *f.wrong, *f.follows) for t in (q.question, q.answer)),
        )
        if wrong.search(text)
    ]
    assert bad == []


_NOT_TAUGHT = ("talk.jsonl", "rare_letters.jsonl", "everyday.jsonl", "everyday_tune.jsonl")
"""Files that teach nothing about owners; what is only said no weights learn."""


def test_no_benchmark_teaches_a_value_of_the_lives() -> None:
    """What they ask must be nothing that a base could have seen."""
    taught = [
        (file.name, f" {fold(text)} ")
        for file in sorted(Path(benchmarks.__file__).with_name("data").glob("*.jsonl"))
        if file.name not in _NOT_TAUGHT
        for line in file.read_text("utf-8").splitlines()
        for text in _taught(json.loads(line))
    ]
    assert taught
    dates = {f"{day} of {month}" for day in values()["date_day"] for month in values()["month"]}
    listed = {**values(), "date": tuple(sorted(dates))}
    faults = [
        f"{list_name}: {value!r} is in {file}:{text.rstrip()}"
        for list_name in ({*relations().values()} | {"first_f", "first_m", "surname"})
        if list_name not in _CALENDAR
        for value in listed.get(list_name, ())
        for words in [f" {fold(re.sub('[<>{}]', ' ', value))} "]
        for file, text in taught
        if words in text
    ]
    assert faults == []


def _taught(row: dict[str, object]) -> list[str]:
    later = row.get("later") or {}
    assert isinstance(later, dict)
    found = [row.get("answer"), row.get("invention"), later.get("answer")]
    keys = [row.get("key") or [], later.get("key") or []]
    for key in keys:
        assert isinstance(key, list)
        found += [text for one in key for text in ([one] if isinstance(one, str) else one)]
    return [text for text in found if isinstance(text, str)]


def test_values_have_the_article_of_their_sound(facts: list[LifeFact]) -> None:
    told = " ".join(text for fact in facts for text in fact.statements)
    assert "an uncle" in told and "an umbrella" in told
    assert "a uncle" not in told and "a umbrella" not in told
