"""learning.text.questions.yes_or_no: what a lesson says to a question for a yes or no."""

from __future__ import annotations

import pytest

from learning.text.questions.yes_or_no import answered, asks_yes_or_no, read_out, unsure

NAME = ("What is my sister called?", "Your sister is called Ingrid.")
HOME = ("Where does my sister live?", "Your sister lives in Tromso with two cats.")
PETS = ("What are my pets called?", "Your dog is called Bruno and your cat is called Mia.")
NUTS = ("What can I not eat?", "You can not eat nuts.")
HOURS = ("How many hours do I sleep?", "You sleep five hours.")
SMOKED = ("When did I quit smoking?", "You quit smoking in 2019.")
YOGA = ("What time is my yoga class?", "Your yoga class is at six.")
ROME = ("What is my favourite city?", "Your favourite city is Rome.")
TOM = ("Isn't my sister married to Tom?", "No, she is married to Peter.")


@pytest.mark.parametrize(
    ("message", "lesson", "found"),
    [
        ("Is my sister called Ingrid?", NAME, "Yes, your sister is called Ingrid."),
        (
            "Is my sister called Astrid?",
            ("What's the name of my sister?", NAME[1]),
            f"No, {NAME[1][0].lower()}{NAME[1][1:]}",
        ),
        ("is Ingrid what my sister is called", NAME, "Yes, your sister is called Ingrid."),
        ("Is my sister called Astrid?", NAME, "No, your sister is called Ingrid."),
        ("Does my sister live in Tromso?", HOME, "Yes, your sister lives in Tromso with two cats."),
        ("Does my sister live in Norway?", HOME, unsure(HOME[1])),  # it may be there
        ("Does my sister live alone?", HOME, unsure(HOME[1])),
        ("Do I sleep nine hours?", HOURS, "No, you sleep five hours."),
        ("Do I sleep long hours?", HOURS, unsure(HOURS[1])),
        ("did I quit smoking in 2008", SMOKED, "No, you quit smoking in 2019."),
        ("did I quit smoking in winter", SMOKED, unsure(SMOKED[1])),
        ("Is my yoga class at 6?", YOGA, "Yes, your yoga class is at six."),
        ("Is my yoga class at seven?", YOGA, "No, your yoga class is at six."),
        ("Is my yoga class at 18:00?", YOGA, unsure(YOGA[1])),  # two numbers
        ("Is my yoga class in two hours?", YOGA, unsure(YOGA[1])),
        ("Is my yoga class cancelled?", YOGA, unsure(YOGA[1])),
        ("Was my sister called yesterday?", NAME, unsure(NAME[1])),
        ("Is my favourite city in Italy?", ROME, unsure(ROME[1])),
        ("Should I call my sister Astrid?", NAME, ""),
        ("Do you like my favourite city Paris?", ROME, ""),
        ("Is my sister called Astrid?", (NAME[0], "That is a secret!"), ""),
        ("Is my sister called Astrid?", (NAME[0], "Ingrid. She is my twin."), ""),
        ("Does my sister live?", HOME, ""),  # nothing of what the answer adds
        ("Does my sister live alone in Tromso?", HOME, ""),  # a word too many
        ("Is my sister married?", NAME, ""),  # it shares one word alone
        ("Does my sister live in a house by the sea in Norway?", HOME, ""),
        ("Is my dog called Mia?", PETS, ""),  # two things
        ("Can I eat nuts?", NUTS, ""),  # a negation
        ("Isn't my sister called Ingrid?", NAME, ""),
        ("Is my sister married to Tom?", TOM, ""),
        ("Is my sister called Ingrid?", (NAME[0], " "), ""),
    ],
)
def test_a_yes_or_no_is_read_out_of_a_lesson(
    message: str, lesson: tuple[str, str], found: str
) -> None:
    assert read_out(message, *lesson) == found


def test_an_answer_goes_on_behind_yes_or_no() -> None:
    assert answered(False, NAME[1]) == "No, your sister is called Ingrid."
    assert answered(True, "Ingrid is your sister.") == "Yes, Ingrid is your sister."
    assert answered(True, "The car is red.") == "Yes, the car is red."
    assert unsure(HOME[1]) == "I only know this: your sister lives in Tromso with two cats."
    assert answered(False, "We call it Mio.") == "No, we call it Mio."


def test_what_is_answered_by_yes_or_no() -> None:
    assert asks_yes_or_no("Is my sister called Astrid?") and asks_yes_or_no("do I eat meat")
    assert not asks_yes_or_no("Do you know what my sister is called?")
    assert not asks_yes_or_no("What is my sister called?")
