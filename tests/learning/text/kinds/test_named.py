"""Who is called what."""

from __future__ import annotations

import pytest

from learning.text.kinds.named import MOST_READINGS, Names, named_in, shares_persons_alone


@pytest.mark.parametrize(
    ("statement", "told"),
    [
        ("my wife is called Helen", {("wife", "Helen")}),
        ("oh, my sister's called Ingrid and she lives in Oslo", {("sister", "Ingrid")}),
        ("my mum's name is ruth", {("mother", "ruth")}),
        ("the name of our cat is Mitzi.", {("cat", "Mitzi")}),
        ("we have a guinea pig called Nugget", {("guinea pig", "Nugget")}),
        ("I've got a black dog named Rex", {("dog", "Rex")}),
        ("I have a brother, his name is Sam", {("brother", "Sam")}),
        ("Helen is my wife, Tom is my son", {("wife", "Helen"), ("son", "Tom")}),
        ("Helen's my wife", {("wife", "Helen")}),
        ("My boss is Mo Brown.", {("boss", "Mo Brown")}),
        ("my neighbour is called Mrs. O'Neill", {("neighbour", "Mrs. O'Neill")}),
        ("my brother Colin Jones works at the mill", {("brother", "Colin Jones")}),
        ("my little sister Amy sings", {("sister", "Amy")}),
        ("my dog Rex's lead broke", {("dog", "Rex")}),
        ("I saw my brother Brian.", {("brother", "Brian")}),
        ("our dog is called Bo now", {("dog", "Bo")}),
        ("my best friend is Émile", {("best friend", "Émile")}),
        ("MY SON IS CALLED LEO", {("son", "Leo")}),
        ("my wife is not called Helen", set()),
        ("my dog is no longer called Rex", set()),
        ("I don't think my boss is called Tim", set()),
        ("Tom said my dog is called Rex", set()),
        ("the dog of my sister is called Rex", set()),
        ("my meeting was called off", set()),
        ("my boat is called Betsy", set()),
        ("my wife's name is beautiful", set()),
        ("my wife is Danish", set()),
        ("my boss is American", set()),
        ("my mum is Catholic", set()),
        ("my dog is a Labrador", set()),
        ("my dog is a Yorkshire Terrier", set()),
        ("my sister is OK", set()),
        ("MY DOG DIED", set()),
        ("my wife is Colombian", set()),
        ("my cat's name is cute", set()),
        ("my brother Googled it", set()),
        ("my boss is CEO", set()),
        ("his sister is called Ida", set()),
        ("my wife is called the boss", set()),
        ("I told my wife I was late", set()),
        ("She is my wife", set()),
        ("This is my dog", set()),
        ("Coffee is my best friend", set()),
        ("I saw my son Monday morning", set()),
        ("I gave my son Lego for Christmas", set()),
        ("On Monday, my wife, my son and I went out", set()),
    ],
)
def test_what_says_who_is_called_what(statement: str, told: set[tuple[str, str]]) -> None:
    assert {(one.one, one.name) for one in named_in(statement)} == told


def test_names_stand_for_what_they_are_called_and_the_other_way_round() -> None:
    names = Names.of(["Helen is my wife", "my mum is called Ruth", "our dog's name is rex"])
    assert names.readings("Helen turned 46 yesterday") == ["my wife turned 46 yesterday"]
    assert names.readings("Helen's car broke down") == ["my wife's car broke down"]
    assert names.readings("my wife is allergic to nuts") == ["Helen is allergic to nuts"]
    assert names.readings("How old is Helen?") == ["How old is my wife?"]
    assert names.readings("Our mom hates snow") == ["Ruth hates snow"]
    assert names.readings("rex ate my shoe") == ["my dog ate my shoe"]
    assert names.readings("Helen and Ruth met") == [
        "my wife and Ruth met",
        "Helen and my mother met",
    ]


@pytest.mark.parametrize(
    "statement",
    [
        *("Helen is my wife", "my mother-in-law is ill", "my ex-wife moved out", "Helena turned 5"),
        *(
            "Helen Smith is my boss",
            "Helen of Troy was Greek",
            "there is another Helen",
            "it rained",
        ),
        *("his wife Helen is nice", "my boss's wife Helen left", "my sister has a dog called rex"),
        *("my mum and dad live in York", "my mother tongue is Danish", "Aunt Ruth is 80"),
    ],
)
def test_a_name_that_may_be_somebody_elses_stands_for_nothing(statement: str) -> None:
    names = Names.of(["Helen is my wife", "my mum is called Ruth", "our dog's name is rex"])
    assert names.readings(statement) == []


def test_a_name_that_two_have_and_one_who_has_two_stand_for_nothing() -> None:
    two = [
        "my sister is called Ida",
        "my sister Astrid sings",
        "Bo is my dog",
        "my boss is called Bo",
    ]
    assert Names.of(two).called == {}
    twice = Names.of(
        ["my wife is called Helen", "my wife Helen sings", "I told my wife I was late"]
    )
    assert twice.called == {"wife": "Helen"}
    longer = Names.of(["my wife is called Helen", "my wife is Helen Smith", "my wife is Head Chef"])
    assert longer.called == {"wife": "Helen"}, "what is plainly a name counts alone"


def test_one_of_several_may_be_another() -> None:
    names = Names.of(["my friend Sue plays golf"])
    assert names.readings("my friend moved to York") == []
    assert names.readings("Sue moved to York") == ["my friend moved to York"]


def test_a_name_that_is_a_word_or_a_place_needs_more() -> None:
    names = Names.of(
        ["my boss is called Will", "our daughter Paris sings", "our cat is called Oreo"]
    )
    for nothing in ("I will move in May", "we flew to Paris", "we love paris", "I ate an oreo"):
        assert names.readings(nothing) == [], nothing
    assert names.readings("Will has moved") == ["my boss has moved"]
    assert names.readings("Paris has moved") == ["my daughter has moved"]


def test_at_most_so_many_readings() -> None:
    ones = ("wife", "son", "dog", "boss", "father")
    names = Names.of(f"my {one} is called N{one}" for one in ones)
    everybody = " and ".join(f"N{one}" for one in ones)
    assert len(names.readings(f"{everybody} met")) == MOST_READINGS


def test_what_is_shared_may_be_persons_alone() -> None:
    alone = [
        ("What is Helen allergic to?", "Helen works at the mill"),
        ("Which team does my mum support?", "my mum lives in York"),
    ]
    for asked, told in alone:
        assert shares_persons_alone(asked, told), asked
    more = [
        ("Where does Helen work?", "Helen works at the mill"),
        ("Who is Helen?", "Helen is my wife"),
        ("What is the gate code?", "Helen works at the mill"),
    ]
    for asked, told in more:
        assert not shares_persons_alone(asked, told), asked


def test_a_message_may_name_one_in_small_letters() -> None:
    names = Names.of(["Helen is my wife", "my boss is called Will"])
    assert names.speaks_of_one("whats helens job") and names.speaks_of_one("Where is Will?")
    for other in ("Who is Helen Mirren?", "When did Helen of Troy live?", "is there another Helen"):
        assert not names.speaks_of_one(other), other
    assert not names.speaks_of_one("will it rain") and not names.speaks_of_one("helena sings")
