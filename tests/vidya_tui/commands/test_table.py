"""The table of commands and the parser of typed lines."""

from __future__ import annotations

import pytest
from textual.widgets import TextArea

from vidya_tui.commands.arguments import CommandError, RatingWords, rating_words
from vidya_tui.commands.parse import RunCommand, Say, complete, find, parse
from vidya_tui.commands.situation import Situation
from vidya_tui.commands.table import COMMANDS, KEYS
from vidya_tui.screens.chat.keys import nothing_to_rate


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("hello", "hello"),
        ("  3 apples \n", "3 apples"),
        ("//etc is a folder", "/etc is a folder"),
        ("a/b", "a/b"),
        ("<|assistant|> is text", "<|assistant|> is text"),
    ],
)
def test_messages(typed: str, said: str) -> None:
    assert parse(typed) == Say(said)


@pytest.mark.parametrize(
    ("typed", "name", "argument"),
    [
        ("/pick 3", "pick", 3),
        ("/PICK  3 ", "pick", 3),
        ("  /new", "new", None),
        ("/correct", "correct", None),
        ("/correct  two words", "correct", "two words"),
        ("/correct one\ntwo", "correct", "one\ntwo"),
        ("/correct\none", "correct", "one"),
        ("/train", "train", None),
        ("/train 12", "train", 12),
        ("/undo", "undo", None),
        ("/undo YES", "undo", "yes"),
        ("/rate Good", "rate", "good"),
        ("/rate off", "rate", "off"),
        ("/rate Bad shorter  please", "rate", "bad shorter  please"),
        ("/rate good because it is short", "rate", "good because it is short"),
        ("/rate BAD end", "rate", "bad end"),
        ('/rate bad --from "They are" and so on', "rate", 'bad --from "They are" and so on'),
        ("/again not about cats", "again", "not about cats"),
    ],
)
def test_commands(typed: str, name: str, argument: object) -> None:
    assert parse(typed) == RunCommand(find(name), argument)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("typed", "what"),
    [
        ("/trian", "did you mean /train?"),
        ("/tr", "did you mean /train?"),
        ("/xyzzy", "/help lists the commands"),
        ("/", "a slash alone is no command"),
        ("/pick", "type for example /pick 3"),
        ("/rate off because", "/rate off to withdraw it"),
        ("/rate bad --from", "/rate bad --from needs words of the answer"),
        ('/rate bad --from ""', "/rate bad --from needs words of the answer"),
        ("/rate good --from They", "only what is bad has a part to blame"),
        ("/again", "type for example /again shorter please"),
        ("/pick 0", "type for example /pick 3"),
        ("/pick -1", "type for example /pick 3"),
        ("/pick \u00b2", "type for example /pick 3"),
        ("/pick two", "type for example /pick 3"),
        ("/train 0", "a number from 1 to 1000"),
        ("/train 1e9", "a number from 1 to 1000"),
        ("/rate", "/rate good, /rate bad, or /rate off"),
        ("/rate fine", "/rate good, /rate bad, or /rate off"),
        ("/new now", "/new takes nothing after it"),
        ("/undo 5", "/undo takes back the last lesson, and no other"),
        ("/undo " + "x" * 100, "/undo " + "x" * 39 + "\u2026: /undo takes back"),
        ("/export " + "x" * 100, "/export " + "x" * 39 + "\u2026: not one of its words"),
    ],
)
def test_errors_say_what_to_type(typed: str, what: str) -> None:
    with pytest.raises(CommandError, match=".*") as caught:
        parse(typed)
    assert what in str(caught.value)


@pytest.mark.parametrize("name", ["pick", "train", "compare"])
def test_a_number_of_thousands_of_digits_is_an_error_like_others(name: str) -> None:
    with pytest.raises(CommandError, match="number") as caught:
        parse(f"/{name} {'9' * 5000}")
    assert len(str(caught.value)) < 200


def test_an_unknown_command_tells_how_to_say_it() -> None:
    with pytest.raises(CommandError, match="type it twice"):
        parse("/home/me is a folder")


def labels(typed: str) -> list[str]:
    return [item.text for item in complete(typed)]


def test_completions() -> None:
    assert len(labels("/")) == len(COMMANDS)
    assert labels("/re") == ["/regenerate"]
    assert labels("/tr") == ["/train "]
    assert labels("/rate ") == ["/rate good", "/rate bad", "/rate off"]
    assert labels("/rate b") == ["/rate bad"]
    assert labels("/rate bad") == []
    assert labels("/story") == ["/history "] or labels("/story") == []
    assert labels("hello") == labels("//etc") == labels("/a\nb") == labels("/xyzzy") == []


def test_names_and_keys_are_given_once() -> None:
    names = [command.name for command in COMMANDS]
    assert len(set(names)) == len(names)
    keys = [key for c in COMMANDS for key in c.keys.split(",") if key]
    keys += ["alt+up", "alt+down", "ctrl+end", "ctrl+p"]
    assert len(set(keys)) == len(keys)
    for command in COMMANDS:
        assert command.help and len(command.help) < 70
        assert command.label or not command.keys


def test_no_key_is_taken_from_the_text_field() -> None:
    """Nor one that terminals and tmux keep for themselves."""
    taken = {key for b in TextArea.BINDINGS for key in b.key.split(",")}  # type: ignore[union-attr]
    taken |= {"ctrl+b", "ctrl+c", "ctrl+i", "ctrl+m", "ctrl+h", "ctrl+j", "ctrl+z", "f10", "f11"}
    ours = {key for c in COMMANDS for key in c.keys.split(",") if key}
    ours |= {"alt+up", "alt+down", "ctrl+end"}
    assert not ours & taken


def test_every_key_of_a_rating_is_in_the_help() -> None:
    listed = " ".join(key.keys for key in KEYS)
    assert all(key in listed for key in ("alt+up", "alt+down", "ctrl+end", "ctrl+j"))


def works(**facts: object) -> set[str]:
    now = Situation(**facts)  # type: ignore[arg-type]
    return {command.name for command in COMMANDS if command.when(now)}


def test_what_works_when() -> None:
    nothing = works()
    assert nothing == {
        *("train", "practice", "undo", "new", "history", "help", "quit", "editor"),
        *("curve", "model", "get", "settings", "lessons", "book", "progress", "taste"),
    }
    waiting = works(waiting=True, asked=True, cards=(1, 2))
    assert {"pick", "correct", "regenerate"} <= waiting and "rate" not in waiting
    answered = works(asked=True, answered=True, ratable=True)
    assert {"rate", "correct", "pick"} <= answered and "cancel" not in answered
    assert "cancel" in works(streaming=True) and "cancel" in works(training=True)
    assert "cancel" in works(practising=True)
    assert "train" not in works(training=True)


@pytest.mark.parametrize(
    ("argument", "read"),
    [
        ("bad", RatingWords("bad")),
        ("good end", RatingWords("good", "end")),
        ("bad end", RatingWords("bad", end=True)),
        ("bad end with a question", RatingWords("bad", "end with a question")),
        ("bad --from They are fish", RatingWords("bad", words="They are fish")),
        ('bad --from "They are" not true', RatingWords("bad", "not true", words="They are")),
        ("bad --from \u201cThey are\u201d", RatingWords("bad", words="They are")),
    ],
)
def test_a_rating_is_taken_apart(argument: str, read: RatingWords) -> None:
    assert rating_words(argument) == read


def test_the_cards_that_can_be_picked_are_named_from_the_least_on() -> None:
    now = Situation(cards=(4, 1, 5, 3, 2))  # the surest first
    told = nothing_to_rate("bad", now, {"bad": "alt+down"})
    assert told == "no answer to rate yet: press 1 to 5 to pick one, then alt+down rates it"
