"""learning.text.small_talk: conversations of everyday talk."""

from __future__ import annotations

import random
import re

import pytest

from learning.text.kinds.articles import with_article
from learning.text.small_talk import conversation, exchange, frames


def test_there_are_over_a_hundred_frames_and_four_hundred_ways_to_begin() -> None:
    _, found = frames()
    assert len(found) > 100
    assert sum(len(frame.said) for frame in found) > 400
    assert all(frame.answers for frame in found)


def test_every_slot_has_a_list_and_every_list_is_used() -> None:
    lists, found = frames()
    texts = " ".join(text for frame in found for text in (*frame.said, *frame.answers))
    used = set(re.findall(r"\{(?:a )?(\w+)\}", texts))
    assert used <= set(lists)
    assert all(len(words) == len(set(words)) for words in lists.values())


@pytest.mark.parametrize("seed", range(60))
def test_an_answer_names_only_what_was_said_or_suggests(seed: int) -> None:
    said, answer = exchange(random.Random(seed))
    assert "{" not in said + answer
    assert answer[0].isupper() and answer[-1] in ".?!"
    for article, word in re.findall(r"\b([Aa]n?) ([\w-]+)", f"{said} {answer}"):
        assert with_article(word) == f"{article.lower()} {word}"


def test_words_have_the_article_of_their_sound() -> None:
    rng = random.Random(0)
    texts = " ".join(" ".join(exchange(rng)) for _ in range(9000))
    assert "a useful job" in texts and "an exam" in texts and "an English exam" in texts
    assert "an useful" not in texts and "a English" not in texts


def test_the_same_seed_makes_the_same_conversation_and_excluded_ones_are_left_out() -> None:
    talks = [conversation(random.Random(seed)) for seed in range(20)]
    assert talks == [conversation(random.Random(seed)) for seed in range(20)]
    assert {len(talk) for talk in talks} >= {1, 2, 3}
    assert conversation(random.Random(0), lambda _: True) == []


def test_a_question_ends_with_its_mark() -> None:
    rng = random.Random(3)
    for said, _ in (exchange(rng) for _ in range(500)):
        if said.startswith(("What", "Who", "How", "Do you", "Can you")) and said[-1] in "?.!":
            assert said.endswith("?"), said
