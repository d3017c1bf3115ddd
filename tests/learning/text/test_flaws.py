"""Flaws in the form of an answer are found, and nothing else is taken for one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from learning.text.flaws import Blends, broken, chunks, mended, seams, sentences_of
from personality.book import read_book, shipped_book_path

DATA = Path(__file__).parents[3] / "benchmarks" / "data"
ENTRIES = read_book(shipped_book_path())
ANSWERS = [text for entry in ENTRIES for role, text in entry.turns if role == "assistant"]

GLUED = {
    "YourAna's birthday is in May.": "Your Ana's birthday is in May.",
    "Hello!Hello! I am Vidya.": "Hello! Hello! I am Vidya.",
    "I am sure you will.What is the best part of it?": "I am sure you will. What is the best part of it?",
    "MyMy name is Vidya.": "My My name is Vidya.",
    "Only a line or two.Listen to both sides.": "Only a line or two. Listen to both sides.",
    "Your place is theYogo.": "Your place is the Yogo.",
    "What?No.": "What? No.",
    "It is blueIt is.": "It is blue It is.",
    "woodenWith honey": "wooden With honey",
    "HelloHello": "Hello Hello",
    "Your goldfish is theSome fish.": "Your goldfish is the Some fish.",
    "yourÅsa is here": "your Åsa is here",
    "A map!A map!": "A map! A map!",
    "Good:What is it": "Good: What is it",
}
WELL_WRITTEN = [
    *(
        "iPhone",
        "my iPad's case",
        "eBay",
        "iOS",
        "macOS",
        "JavaScript",
        "GitHub",
        "McDonald's",
        "MacBook",
    ),
    *(
        "YouTube",
        "PowerPoint",
        "WhatsApp",
        "LaTeX",
        "PhD",
        "DeLorean",
        "O'Neill",
        "van der Waals",
        "DiCaprio",
    ),
    *(
        "LinkedIn",
        "MySQL",
        "TikTok",
        "PlayStation",
        "ChatGPT",
        "OpenAI",
        "kWh",
        "mRNA",
        "dB",
        "xAI",
        "HTML5",
    ),
    *(
        "FitzGerald",
        "LeBron",
        "QuickTime",
        "ThinkPad",
        "AirPods",
        "PyTorch",
        "NumPy",
        "TypeScript",
        "TeX",
    ),
    *(
        "e.g. this",
        "i.e. that",
        "U.S.A.",
        "the U.K.",
        "a.m.",
        "3.5",
        "3,5",
        "1,000.50",
        "10:30",
        "5:PM",
        "2!",
    ),
    *(
        "don't",
        "I'd",
        "rock'n'roll",
        "mother-in-law",
        "and/or",
        "yes/no",
        "24/7",
        "A4",
        "R2D2",
        "C#",
        "C++",
    ),
    *(
        "https://example.org/aB?c=Do&e=F",
        "www.Example.Org/ThisIs",
        "me@Example.Com",
        "Node.js",
        "README.md",
    ),
    *(
        "C:\\Users\\Me",
        "/home/Me/myFile.txt",
        "vidya.txt",
        "foo_barBaz",
        "f(x)=Ax",
        "obj.methodName()",
    ),
    *(
        "🙂",
        "well done!🙂",
        "no…yes",
        "Ha! Ha!",
        "What?!",
        "Wait... what?",
        '"Hi!"',
        "(Hi!)",
        "Yahoo! is old",
    ),
    *(
        "Søren",
        "Ülkü",
        "Málaga",
        "Łódź",
        "Nguyễn",
        "Þór",
        "Dvořák",
        "Zoë",
        "naïve",
        "Øyvind Åse",
        "ǅungla",
    ),
    *(
        "日本語です。元気？はい！",
        "Привет! Как дела?",
        "नमस्ते! कैसे हो?",
        "שלום! מה שלומך?",
        "مرحبا! كيف؟",
    ),
    *(
        "東京Tower",
        "Tokyo東京",
        "Grüße aus Köln",
        "CAPITALS",
        "NASA's",
        "The NATO",
        "USAs",
        "DVDs",
        "St.Gallen",
    ),
    *(
        "Dr.Müller",
        "Mr.Bean",
        "No.Five",
        "-5",
        "x2",
        "/train",
        "/undo",
        "@home",
        "#NowPlaying",
        "snake_Case",
    ),
    "A zero-width\u200djoiner 👩‍🚀 and a flag 🇮🇳",
    "two\nlines\tand a tab",
]


@pytest.mark.parametrize("text", GLUED)
def test_glued_words_are_found_and_mended(text: str) -> None:
    assert seams(text)
    assert mended(text) == GLUED[text]
    assert not seams(mended(text))


@pytest.mark.parametrize("text", WELL_WRITTEN)
def test_what_people_write_on_purpose_is_left_alone(text: str) -> None:
    assert not broken(text)
    assert seams(text) == []
    assert mended(text) == text.strip()


def test_what_was_seen_is_right_as_it_is() -> None:
    seen = chunks(['I work at "TheFork!Now", and love HelloFresh.'])
    assert seams("He is at TheFork!Now.", seen) == []
    assert seams("HelloFresh's box", seen) == []
    assert seams("HelloFresh's box"), "unless somebody said it"


def test_bytes_that_are_no_text_are_found_and_left_out() -> None:
    for text in ("Your\ufffd is a cook.", "\ufffd", "a\x00b", "a\x1b[31m", "\x7f"):
        assert broken(text)
        assert not broken(mended(text))
    assert mended("Your\ufffd is a cook.") == "Your is a cook."
    assert not any(map(broken, WELL_WRITTEN))


@pytest.mark.parametrize(
    "text",
    [
        "A paper boat crossed a puddle and told me to pause.",
        "Lantern. You can do more than you think.",
        "I am glad you told me. I hope it goes well. What is the best part of it?",
        "Every word is a small box with a small piece. It asks me to learn.",
        "No, I am a program. I am not sure. I have words for feelings, and perhaps only the words.",
        "You choose. I am too small for big quarrels.",
    ],
)
def test_a_blend_of_two_lines_is_found(text: str) -> None:
    assert Blends(ANSWERS).blended(text)


@pytest.mark.parametrize(
    "text",
    [
        "Your name is Ilse.",
        "I'm glad you told me. I'm sorry you're upset.",
        "I live in this terminal.",
        "My name is Vidya, as you know.",
        "You live in Ghent, in a small house.",
        "I do not know what a heron is.",
        "",
        "日本語です。",
    ],
)
def test_a_piece_of_one_line_and_own_words_are_no_blend(text: str) -> None:
    assert not Blends(ANSWERS).blended(text)


def test_two_lessons_can_be_blended_too() -> None:
    blends = Blends(
        ["Your cat is called Bo. She is grey.", "Your dog sleeps under the old stairs."]
    )
    assert blends.blended("Your cat is called Bo. Your dog sleeps under the old stairs.")
    assert not blends.blended("Your cat is called Mo. She is grey.")


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _texts(one)


def test_no_line_of_the_book_is_refused() -> None:
    blends = Blends(ANSWERS)
    for entry in ENTRIES:
        for _, text in entry.turns:
            assert not broken(text) and not seams(text), entry
        assert not blends.blended(entry.answer), entry


@pytest.mark.parametrize("file", sorted(DATA.glob("*.jsonl")), ids=lambda path: path.name)
def test_no_lesson_is_refused(file: Path) -> None:
    blends = Blends(ANSWERS)
    for line in file.read_text("utf-8").splitlines():
        for text in _texts(json.loads(line)):
            assert not broken(text) and not seams(text), text
            assert not blends.blended(text) or text in ANSWERS, text


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        (" Hi there! How are you?\nI am well ", ["Hi there!", "How are you?", "I am well"]),
        ("Ask Dr. Lee.", ["Ask Dr.", "Lee."]),
        ("It is 3.5 miles... Really?!", ["It is 3.5 miles...", "Really?!"]),
        ("", [""]),
    ],
)
def test_sentences_end_where_a_mark_and_white_space_stand(text: str, pieces: list[str]) -> None:
    assert sentences_of(text) == pieces
