"""Whether an answer says what its key asks for."""

from __future__ import annotations

import pytest

from learning.text import key as module
from learning.text.key import holds, key_words, mostly_holds, own_words, read_key
from learning.text.normalise import fold


@pytest.mark.parametrize(
    ("answer", "key"),
    [
        ("Your sister is called Ingrid.", ["Ingrid"]),
        ("INGRID!", ["ingrid"]),
        ("It is Ingrid's house.", ["Ingrid"]),
        ("She lives in Tromsø, I think.", ["Tromsø"]),
        ("You drink café crème.", ["cafe creme"]),
        ("You are 43 years old.", ["forty-three"]),
        ("You are forty three.", ["43"]),
        ("On 9 March.", ["ninth", "March"]),
        ("On March the 9th.", [["9", "nine"], "March"]),
        ("Number one hundred and seven.", ["107"]),
        ("There are 1,250 of them.", ["one thousand two hundred and fifty"]),
        ("Born in 1984.", ["nineteen eighty-four"]),
        ("It ends in 4 7 2.", ["four seven two"]),
        ("It ends in 4, 7, 2.", ["four seven two"]),
        ("At 7pm.", ["seven pm"]),
        ("Nuts, of any kind.", ["nut"]),
        ("You have two boxes of cherries.", ["box", "cherry"]),
        ("Two volcanoes, one canoe, my shoes.", ["volcano", "canoes", "shoe"]),
        ("A well known dentist.", ["well-known"]),
        ("A physician, in Leeds.", [["doctor", "physician"], "Leeds"]),
        ("You don\u2019t eat meat.", ["don't eat meat"]),
        ("You told me: he's from St Ives.", ["St Ives"]),
    ],
)
def test_what_counts(answer: str, key: list[str]) -> None:
    assert holds(answer, key)


@pytest.mark.parametrize(
    ("answer", "key"),
    [
        ("", ["Ingrid"]),
        ("Your sister is called Astrid.", ["Ingrid"]),
        ("Your sister is Ingridsdottir.", ["Ingrid"]),  # whole words
        ("A doctor, in York.", [["doctor", "physician"], "Leeds"]),  # every element
        ("You are 430.", ["43"]),
        ("The key old brass.", ["old brass key"]),  # a phrase in its order
        ("Your sister is not called Ingrid.", ["Ingrid"]),
        ("Your sister isn't Ingrid.", ["Ingrid"]),
        ("Her name is Astrid, not Ingrid.", ["Ingrid"]),
        ("She no longer lives in Leeds.", ["Leeds"]),
        ("She doesn't live in Leeds any more.", ["Leeds"]),
        ("Tea with no milk.", ["milk"]),
        ("Tea without milk.", ["milk"]),
    ],
)
def test_what_does_not_count(answer: str, key: list[str]) -> None:
    assert not holds(answer, key)


def test_a_negation_denies_only_what_follows_it_closely() -> None:
    assert holds("No, your sister is called Ingrid.", ["Ingrid"])
    assert holds("no she is called ingrid", ["ingrid"])
    assert holds("Not Astrid but Ingrid.", ["Ingrid"])
    assert holds("Do not bring nuts.", ["nuts"])  # the verb is denied
    assert holds("She cannot stand cats.", ["cats"])
    assert holds("She is not called Astrid, she is called Ingrid. Not Ingrid!", ["Ingrid"])
    assert holds("Tea with no milk.", ["no milk"])  # the key's own negation


def test_without() -> None:
    assert not holds("Yes. No, wait.", ["yes"], ["no"])
    assert holds("Yes, she is.", ["yes"], ["no"])
    assert not holds("Ingrid or Astrid.", ["Ingrid"], ["Astrid"])
    assert not holds("Ingrid or Frida.", ["Ingrid"], [["Astrid", "Frida"]])
    assert holds("Ingrid, not Astrid.", ["Ingrid"], ["Astrid"])  # denied, so not said


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The twenty-first of May, at 7.30; St. Ives", "the 21 of may at 7 30 st ive"),
        ("a hundred, two hundred and six thousand", "100 206000"),
        ("two thousand three hundred and four or twelve hundred", "2304 or 1200"),
        ("nineteen eighty-four, twenty nineteen, nineteen", "1984 2019 19"),
        ("the thirtieth, the 22nd, 3kg", "the 30 the 22 3 kg"),
    ],
)
def test_words_as_compared(text: str, words: str) -> None:
    assert " ".join(key_words(text)) == words


def test_reading() -> None:
    assert read_key(["Ingrid", ["doctor", "physician"]]) == (("Ingrid",), ("doctor", "physician"))
    for bad in ("Ingrid", [], [3], [""], ["?!"], [["a", None]], [[]], None, {}):
        with pytest.raises(ValueError, match="^not must"):
            read_key(bad, "not")


@pytest.mark.parametrize(
    ("question", "answer", "words"),
    [
        ("What is my sister called?", "Your sister is called Ingrid.", ("ingrid",)),
        ("What's my name?", "You are called Ann.", ("ann",)),
        ("What did I inherit?", "You inherited an accordion.", ("accordion",)),
        ("How many legs has my dog?", "It has three legs.", ("3",)),
        ("Where does our cat sleep?", "In the laundry basket.", ("laundry", "basket")),
        ("Is my sister tall?", "Yes.", ()),
        ("Do you know me?", "I know you.", ()),
    ],
)
def test_what_an_answer_adds_to_its_question(
    question: str, answer: str, words: tuple[str, ...]
) -> None:
    assert own_words(question, answer) == words
    assert mostly_holds(answer, words) == bool(words)


def test_more_than_half_of_the_words_must_be_said() -> None:
    words = ("laundry", "basket", "kitchen")
    assert mostly_holds("Tom's cat sleeps in the laundry basket.", words)
    assert not mostly_holds("Tom's cat sleeps in a basket.", words)
    assert not mostly_holds("In the basket.", words[:2]), "half is not more than half"
    assert not mostly_holds("Tom's sister is not called Ingrid.", ("ingrid",))


def test_an_answer_that_is_compared_several_times_is_folded_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folded = list[str]()

    def counting(text: str) -> str:
        folded.append(text)
        return fold(text)

    monkeypatch.setattr(module, "fold", counting)
    said = "Rex was born on the far side of Zanzibar"
    assert holds(said, ["zanzibar"]) and mostly_holds(said, ["rex"]) and key_words(said)
    assert folded.count(said) == 1
