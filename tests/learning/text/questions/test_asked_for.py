"""learning.text.questions.asked_for: what kind of thing a question asks for."""

from __future__ import annotations

import random

import pytest

from learning.text.lives import lives
from learning.text.questions.asked_for import (
    AskedFor,
    asked_for,
    fits,
    has_form,
    lacks_form,
    seems_to_lack_form,
)

NAME = ("What is my sister called?", "Your sister is called Ingrid.")
COLOUR = ("What colour is our car?", "Your car is turquoise.")
SLEEPS = ("Where does our cat sleep?", "Biscotti sleeps in the laundry basket.")
STUDIES = ("What is Zofia studying?", "Zofia is studying veterinary medicine.")
DISH = ("What is my favourite dish?", "Your favourite dish is cabbage pierogi.")
ROOM = ("Why do I sleep in the box room?", "You sleep there because Fergal snores.")
BED = ("When do I go to bed?", "You go to bed at nine.")
SMOKING = ("When did I quit smoking?", "You quit smoking in 2019.")
NAMED = ("Where does my name come from?", "You were named after a sea captain.")


@pytest.mark.parametrize(
    ("question", "forms"),
    [
        ("How old is my sister?", "number"),
        ("tell me how many legs my dog has", "number"),
        ("What did my ring cost?", "number"),
        ("What did I pay for the jeep?", "number"),
        ("What year was I born in?", "number time"),
        ("what is my landlord's phone number", "number"),
        ("do you know when I met Ann", "time"),
        ("Since when do I smoke?", "time"),
        ("On which day do I swim?", "time"),
        ("my bus, when does it leave", "time"),
        ("How often do I swim?", "length"),
        ("how long have I been here", "length"),
        ("Who waters the plants when we are away?", "person"),
        ("whos my doctor", "name person"),
        ("What's the name of my doctor?", "name person"),
        ("What did I call my rabbit?", ""),
        ("What is my rabbit called again", "name person"),
        ("In which town is she?", "place"),
        ("Why do I sleep there?", "reason"),
        ("When I met the Queen, what went wrong?", ""),
        ("How far did I travel?", "number place"),
        ("How is my sister?", ""),
        ("What is it?", ""),
        ("Who is there and what does he want?", ""),
        ("Anna is the one who works at the pub, right?", ""),
        ("Anna works where?", "place"),
        ("my ring, where did I lose it", "place"),
        ("I forgot who my dentist is", "person"),
        ("Wo wohne ich?", ""),
        ("", ""),
    ],
)
def test_the_form_of_what_is_asked_for(question: str, forms: str) -> None:
    assert asked_for(question).forms == {*forms.split()}


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("What colour is our car?", AskedFor(nouns=("colour",))),
        ("which colour's my motorbike", AskedFor(nouns=("colour",))),
        ("What is my favourite dish?", AskedFor(nouns=("favourite", "dish"))),
        ("what's my ex-wife's job", AskedFor(nouns=("job",))),
        ("How many cups do I drink?", AskedFor(frozenset(("number",)), ("cups",))),
        ("What does our cat eat?", AskedFor(verb="eat")),
        ("What does my sister's cat always eat?", AskedFor(verb="eat")),
        ("What is it that I drink at six?", AskedFor(verb="drink")),
        ("What is Zofia studying?", AskedFor(verb="studying")),
        ("What is engraved in my ring?", AskedFor(verb="engraved")),
        ("What did I wear when I married?", AskedFor(verb="wear")),
        ("What is my boss afraid of?", AskedFor()),
        ("Of what is my boss afraid?", AskedFor()),
        ("What do I do for a living?", AskedFor()),
        ("Which kind of home is it?", AskedFor()),
    ],
)
def test_the_thing_that_is_asked_for(question: str, asked: AskedFor) -> None:
    assert asked_for(question) == asked


@pytest.mark.parametrize(
    ("message", "taught"),
    [
        ("How old is my sister?", NAME),
        ("How old is our car?", COLOUR),
        ("What does our cat eat?", SLEEPS),
        ("In which city is Zofia studying?", STUDIES),
        ("Who is studying with Zofia?", ("What is my niece studying?", "She studies maths.")),
        ("When did I begin to like this dish?", DISH),
        ("Where do I sleep in the dog days?", ("How long do I sleep?", "You sleep five hours.")),
        ("What do I read in bed?", BED),
        ("How long did I go on smoking?", ("Where did I go for smoking?", "You went to the yard.")),
        ("which town do I swim in", ("Who do I swim with?", "You swim with Ann.")),
    ],
)
def test_another_kind_of_thing_is_asked_for(message: str, taught: tuple[str, str]) -> None:
    assert not fits(message, *taught)
    assert fits(taught[0], *taught)


@pytest.mark.parametrize(
    ("message", "taught"),
    [
        ("Who is my sister?", NAME),
        ("what name does my sister have?", NAME),
        ("Tell me about my sister.", NAME),
        ("Is my sister called Ingrid?", NAME),
        ("which shade of colour has our car got?", COLOUR),
        ("Which subject is Zofia studying?", STUDIES),
        ("what's my favourite dish called again", DISH),
        ("How do I get to the box room?", ROOM),
        ("At what time do I go to bed?", BED),
        ("what year did I quit smoking", SMOKING),
        ("How old is my sister?", ("Who is my sister?", "She is Ann, 30 years old.")),
        ("When does it open?", ("When is the bar open?", "It never is.")),
        ("Who was I named after?", NAMED),
        ("What company do I work for?", ("Who do I work for?", "You work for Siemens.")),
        (
            "Who works at the hospital?",
            ("Where does my brother work?", "Your brother works there."),
        ),
        ("Who walks the dog?", ("What do I do for the dog?", "You walk the dog.")),
        ("How often do I take my pills?", ("When do I take my pills?", "With each meal.")),
        ("Why can't I eat peanuts?", ("Which peanuts can I eat?", "You are allergic to peanuts.")),
        ("What is the code of the wifi?", ("What is my wifi password?", "Your wifi is tulip.")),
        ("When do I eat meat?", ("What meat do I eat?", "You do not eat meat.")),
        ("Where did it all begin?", ("Was there a beginning?", "In the end it begins.")),
        ("How old is the moon?", NAME),
        ("Which town do I live in?", ("Which city do I live in?", "You live in Oslo.")),
        ("We met at the bar when it rained.", ("I was at the bar.", "Which bar?")),
        ("what did they operate on", ("Which operation did I have?", "Your hip was replaced.")),
    ],
)
def test_what_may_answer_the_message(message: str, taught: tuple[str, str]) -> None:
    assert fits(message, *taught)


def test_a_person_whom_the_question_names_is_not_told() -> None:
    assert not has_form("Zofia is studying maths.", "person", "What is Zofia studying?")
    assert has_form("Zofia is studying maths.", "person", "What does my niece do?")
    assert has_form("Your neighbour does.", "person", "Who waters the plants?")


def test_numbers_and_times() -> None:
    for text in ("She is 30.", "Thirty-one."):
        assert has_form(text, "number") and has_form(text, "time")
    for text in ("On Mondays.", "Last summer.", "You never did."):
        assert has_form(text, "time") and not has_form(text, "number")
    assert not has_form("Your sister is called Ingrid.", "time")
    assert has_form("Since 2019.", "length") and not has_form("At dawn.", "length")


def test_the_many_ways_to_ask_for_a_fact_of_an_invented_life_fit_it() -> None:
    facts = [fact for life in lives(40, random.Random(1)) for fact in life.facts]
    pairs = [(q, fact) for fact in facts for q in (*fact.rewordings, *fact.paraphrases)]
    wrong = [q for q, fact in pairs if not fits(q, fact.question, fact.answer)]
    assert len(wrong) <= len(pairs) / 500, wrong


@pytest.mark.parametrize(
    ("message", "lacks"),
    [
        ("How old is my sister?", True),
        ("Who is my sister?", False),
        ("Where does my sister live?", False),
        ("Since when has my sister lived there?", True),
        ("Why is it dark where my sister lives?", False),
        ("How many sisters do I have?", False),
        ("my sister?", False),
    ],
)
def test_a_text_may_lack_what_is_asked_for(message: str, lacks: bool) -> None:
    assert lacks_form(message, "my sister ingrid lives up in Tromso, dark and cold") == lacks


def test_a_time_may_be_told_in_many_words() -> None:
    assert not lacks_form("When do I get up?", "I get up early")
    assert not lacks_form("When did I learn to swim?", "I learned to swim AS A TEENAGER")


def test_a_place_or_a_person_may_seem_to_be_lacking() -> None:
    assert seems_to_lack_form("Where do I play football?", "I play football every week")
    assert not seems_to_lack_form("Where do I play football?", "I play football in the park")
    assert seems_to_lack_form("Who did my sister marry?", "my sister got married at last")
    assert not seems_to_lack_form("What does my sister like?", "my sister loves cake")


@pytest.mark.parametrize(
    ("message", "text", "lacks"),
    [
        ("What time is my eye test?", "my eye test is on the 9th of March", True),
        ("What time is my eye test?", "my eye test is at nine on Monday", False),
        ("what time do i get up", "i get up before dawn", False),
        ("How much does our insurance cost?", "our insurance renews on 4 November", True),
        ("How much is the permit?", "the permit for 2026 runs out in May", True),
        ("How much is the permit?", "the permit is 40 quid", False),
        ("How many did I smoke a day?", "I gave up smoking in 2011", True),
        ("How old is our house?", "our house was built in 1931", False),
        ("How much is my rent?", "my rent is 2000 a month", False),
        ("When do I charge my phone?", "I charge my phone at 22:30", False),
        ("When did the price of gas go up?", "the price went up in 2021", False),
        ("What time do I work?", "I work 9 to 5", False),
        ("What time is my alarm set for?", "my alarm is set for 6", False),
        ("What time do I get up?", "I get up early", False),
        ("What time of year do we go to Italy?", "we go every May", False),
    ],
)
def test_a_date_is_no_time_of_the_day_and_no_amount(message: str, text: str, lacks: bool) -> None:
    assert lacks_form(message, text) == lacks


def test_a_reason_is_told_with_a_word_for_it() -> None:
    assert seems_to_lack_form("Why did Ruth move away?", "Ruth moved to Toronto and we miss her")
    assert not seems_to_lack_form("Why did Ruth move?", "Ruth moved because of her job")
