"""learning.text.kinds.words: when two forms of a question count as the same."""

from __future__ import annotations

import pytest

from learning.text.kinds.words import as_typed, counted, counted_text


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("What's my name?", "what is my name"),
        ("Where do we live, please?", "where do i live"),
        ("Where are we going?", "Where am I going"),
        ("We were late.", "i was late"),
        ("my mum's car", "My mother's car"),
        ("Where do my nan and my papa live?", "where do my grandmother and my father live"),
        ("How old is my auntie?", "How old is my aunt"),
        ("Can't you swim?", "cannot you swim"),
        ("What is our favorite color again", "what is my favourite colour"),
        ("What is my name ?", "What is my name?"),
        ("Where is my hat , please ?!", "Where is my hat"),
        ("Which city do I live in?", "what city do I live in"),
        ("In which town is my home?", "What town is my home in?"),
        ("Do you know in which town I live?", "Tell me what town I live in."),
        ("I've forgotten where my hat is.", "Do you still remember where my hat is?"),
        ("I don't know when we met", "Can you remind me when I met?"),
    ],
)
def test_forms_of_one_question_count_the_same(one: str, other: str) -> None:
    assert counted_text(one) == counted_text(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("What is my name?", "What is your name?"),
        ("Where is it?", "Where was it?"),
        ("please again", "vidya"),
        ("What is 3 - 2?", "What is 3 2?"),
        ("Do you know how to swim?", "Tell me how to swim."),
        ("Do you know me?", "Tell me me"),
        ("I forgot", "tell me"),
        ("In my town?", "my town in"),
    ],
)
def test_other_questions_count_as_others(one: str, other: str) -> None:
    assert counted_text(one) != counted_text(other)


def test_words_keep_how_they_were_typed() -> None:
    words = counted("What's my ex-wife's name?")
    assert [word.text for word in words] == ["what", "is", "my", "ex", "wifes", "name"]
    assert as_typed(words, 3, 5, "s") == "ex-wife"
    assert as_typed(words, 3, 5) == "ex-wife's"
    assert as_typed(counted("where is Tromsø?"), 2, 3) == "Tromsø"
    assert as_typed(counted("Who are Duran Duran?"), 2, 4) == "Duran Duran"
    assert as_typed(counted("What is C++?"), 2, 5) == "C++"
    assert as_typed(counted("where is my hat (the red one)?"), 3, 7) == "hat (the red one)"


@pytest.mark.parametrize(
    ("typed", "owner"),
    [("Anna's", "Anna"), ("James'", "James"), ("James's", "James"), ("sisters", "sister")],
)
def test_a_name_keeps_its_own_last_letter(typed: str, owner: str) -> None:
    assert as_typed(counted(typed), 0, 1, "s") == owner


def test_a_text_without_words_has_none() -> None:
    assert counted("") == [] and counted("  ") == [] and counted(" ? !") == []
