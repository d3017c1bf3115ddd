"""learning.text.kinds.relations: the lists are well formed, and blanks are filled as English wants it."""

from __future__ import annotations

import random
import re
from collections import Counter
from pathlib import Path

import pytest

from learning.text.kinds.articles import with_article
from learning.text.kinds.relations import (
    BLANK,
    FOLDER,
    OWNER,
    Filling,
    QuestionKind,
    SlotValue,
    kinds,
    kinds_of_facts,
    listed_values,
    read_relations,
)

_PEOPLE = {"who", "whose", "whom", "he", "his", "him"}
_ONE_ANSWER = """
relative_name pet_name children_names phone_number own_name lives_in birthday job colour kept
partner_name wifi_password vegetarian_yn age_of capital_of word_meaning
"""
_SEVERAL_ANSWERS = """
hobby allergic drink collects visited hates_food holiday weekend_plan
tell_about tell_joke say_hello how_are_you say_thanks advice_about opinion bot_prefers contents
"""
_FIXED_VERB = re.compile(
    r"\b(do|does|is|are|am|has|have|was) \{who\}(?! and)|\{who\} (is|are|am|has|was|does)\b", re.I
)


@pytest.fixture(scope="module")
def everything() -> tuple[QuestionKind, ...]:
    return kinds()


def test_names_stand_once(everything: tuple[QuestionKind, ...]) -> None:
    heads = Counter(
        line.split()[1]
        for file in FOLDER.glob("*.txt")
        for line in file.read_text("utf-8").splitlines()
        if line.startswith("= ")
    )
    assert [name for name, times in heads.items() if times > 1] == []
    assert set(heads) == {relation.name for relation in everything}


def test_there_are_hundreds_of_kinds_with_many_ways_to_ask(
    everything: tuple[QuestionKind, ...],
) -> None:
    assert len(everything) > 600
    few = [r.name for r in everything if len(r.lines.get("q", ())) + len(r.lines.get("p", ())) < 6]
    assert few == []


def test_blanks_are_those_of_the_kind(everything: tuple[QuestionKind, ...]) -> None:
    faults = []
    for relation in everything:
        assert relation.who in ("me", "any", "none"), relation.name
        for kind in "qpt":
            slots = {*relation.slots, *(relation.told_slots if kind == "t" else ())}
            for line in relation.lines.get(kind, ()):
                found = {blank[2] for blank in BLANK.finditer(line) if blank[2]}
                about = {blank for blank in found if blank.casefold() in _PEOPLE}
                if found - about - slots or (about and relation.who != "any"):
                    faults.append((relation.name, line))
                if re.search(r"[{}<>]", BLANK.sub("", line)) or line != line.strip():
                    faults.append((relation.name, line))
    assert faults == []


def test_verbs_beside_whom_they_are_about_are_blanks(everything: tuple[QuestionKind, ...]) -> None:
    """Else "does my sister" would become "does I"."""
    faults = [
        (relation.name, line)
        for relation in everything
        for kind in "qp"
        for line in relation.lines.get(kind, ())
        if _FIXED_VERB.search(line)
    ]
    assert faults == []


def test_lines_can_be_added_to_a_kind_that_stood_before(tmp_path: Path) -> None:
    first, more = tmp_path / "first.txt", tmp_path / "more.txt"
    first.write_text("# a comment\n= boat me K:* X:first\nq What is my {K}?\np Where?\n", "utf-8")
    more.write_text(
        "+ boat Y:*\nq Which {K} is mine?\nq What is my {K}?\nt It is {Y}.\n= tea none\nq Tea?\n",
        "utf-8",
    )
    boat, tea = read_relations(first, more)
    assert boat.slots == {"K": "*", "X": "first"}
    assert boat.told_slots == {"Y": "*"}, "for lines t alone"
    asked = ("What is my {K}?", "Which {K} is mine?")
    assert boat.lines == {"q": asked, "p": ("Where?",), "t": ("It is {Y}.",)}
    assert (tea.name, tea.who, tea.slots) == ("tea", "none", {})


def test_one_right_answer_is_the_last_word_of_a_header(tmp_path: Path) -> None:
    file = tmp_path / "kinds.txt"
    file.write_text(
        "= home any X:town T:beside one\nq Where?\n= tea none one\n= hobby me X:hobby\n"
    )
    home, tea, hobby = read_relations(file)
    assert (home.one, tea.one, hobby.one) == (True, True, False)
    assert (home.slots, tea.slots) == ({"X": "town", "T": "beside"}, {})


def test_some_questions_of_a_kind_with_one_answer_may_have_another(tmp_path: Path) -> None:
    file = tmp_path / "kinds.txt"
    file.write_text("= me none one\nq My name?\nQ Who am I?\n= tea none\nq Tea?\n")
    name, tea = read_relations(file)
    assert name.lines["q"] == ("My name?", "Who am I?")
    assert [name.one_for(line) for line in name.lines["q"]] == [True, False]
    assert not tea.one_for("Tea?")


def test_only_kinds_with_one_answer_have_such_questions(
    everything: tuple[QuestionKind, ...],
) -> None:
    loose = {relation.name: relation.lines["Q"] for relation in everything if "Q" in relation.lines}
    named = {relation.name: relation for relation in everything}
    assert [name for name in loose if not named[name].one] == []
    assert [n for n, lines in loose.items() if len(named[n].lines["q"]) - len(lines) < 2] == []


@pytest.mark.parametrize(
    "header",
    [
        "home",
        "home all",
        "home any X:town oen",
        "home any one X:town",
        "home any X",
        "home any one one",
    ],
)
def test_a_malformed_header_is_refused(tmp_path: Path, header: str) -> None:
    file = tmp_path / "kinds.txt"
    file.write_text(f"# a comment\n= {header}\nq Where?\n", "utf-8")
    with pytest.raises(ValueError, match=f'kinds.txt, line 2: "= {header}" is no header'):
        list(read_relations(file))


def test_kinds_have_one_right_answer_or_several(everything: tuple[QuestionKind, ...]) -> None:
    named = {relation.name: relation for relation in everything}
    assert [name for name in _ONE_ANSWER.split() if not named[name].one] == []
    assert [name for name in _SEVERAL_ANSWERS.split() if named[name].one] == []


def test_one_right_answer_is_said_of_kinds_of_the_lists_alone(
    everything: tuple[QuestionKind, ...],
) -> None:
    marked = [
        line.split()[1]
        for name in ("frames.txt", "personal.txt", "general.txt")
        for line in FOLDER.joinpath(name).read_text("utf-8").splitlines()
        if line.startswith("= ") and line.endswith(" one")
    ]
    assert [relation.name for relation in everything if relation.one] == marked
    assert len(everything) == 883


def test_lives_are_made_of_the_first_list_alone() -> None:
    lines = FOLDER.joinpath("frames.txt").read_text("utf-8").splitlines()
    assert len(kinds_of_facts()) == sum(line.startswith("= ") for line in lines)
    assert all("X" in relation.slots for relation in kinds_of_facts())


def test_relatives_are_women_and_men() -> None:
    listed = listed_values()
    assert listed["kin"] == listed["kin_f"] + listed["kin_m"]


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (SlotValue("umbrella"), "an umbrella"),
        (SlotValue("uncle"), "an uncle"),
        (SlotValue("university"), "a university"),
        (SlotValue("hour"), "an hour"),
        (SlotValue("hotel", article="an"), "an hotel"),
    ],
)
def test_a_blank_gets_the_article_of_its_sound_or_the_owners(value: SlotValue, said: str) -> None:
    relation = next(r for r in kinds_of_facts() if r.name == "painted")
    filling = Filling(relation, OWNER, {"K": value}, random.Random(0))
    assert filling.say("I have {a K}.") == f"I have {said}."


def test_written_articles_are_those_of_the_sound(everything: tuple[QuestionKind, ...]) -> None:
    """Those of lines and values. Before a blank stands none: the line would have "{a X}" there."""
    texts = [value.text for values in listed_values().values() for value in values]
    lines = [line for r in everything for written in r.lines.values() for line in written]
    assert [line for line in lines if re.search(r"\b[Aa]n? \{", line)] == []
    assert not [
        (text, article, word)
        for text in (*texts, *(BLANK.sub("", line) for line in lines))
        for article, word in re.findall(r"\b([Aa]n?) ([\w'-]+)", text)
        if with_article(word) != f"{article.lower()} {word}"
    ]
