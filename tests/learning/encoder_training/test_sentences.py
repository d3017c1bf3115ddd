"""Sentences out of a corpus."""

from __future__ import annotations

import json
import random
from pathlib import Path

from learning.data.corpus import Document
from learning.encoder_training.sentences import MOST_CHARACTERS, of_lives, sentences, words


def written(path: Path, *rows: dict[str, object]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def talk(*texts: str, source: str = "s") -> dict[str, object]:
    roles = ("user", "assistant")
    turns = [{"role": roles[at % 2], "text": text} for at, text in enumerate(texts)]
    return {"source": source, "turns": turns}


def test_short_sentences_are_taken_once_with_messages_of_two_and_answers(tmp_path: Path) -> None:
    long = "word " * 40
    path = written(
        tmp_path / "a.jsonl",
        talk("I have a dog. He is old! Is he?", "He is  old. Yes."),
        talk("Who is it?", long, "He is old!"),
        talk("Who came?", "Ann."),
        {"source": "t", "text": "It rained. Nobody came.\nHello"},
    )
    assert sorted(sentences([path], 100, random.Random(0))) == sorted(
        {
            "I have a dog.",
            "He is old!",
            "Is he?",
            "He is old.",
            "He is old. Yes.",
            "Who came?",
            "Who came? Ann.",
            "Who is it?",
            "It rained.",
            "Nobody came.",
        }
    )


def test_at_most_so_many_of_a_source_the_same_for_the_same_seed(tmp_path: Path) -> None:
    rows = [talk(f"number {n} is here", f"and {n} there") for n in range(50)]
    path = written(tmp_path / "a.jsonl", *rows, talk("one of another source", source="z"))
    found = sentences([path], 10, random.Random(0))
    assert len(found) == 11 and "one of another source" in found
    assert found == sentences([path], 10, random.Random(0))
    assert found != sentences([path], 10, random.Random(1))


def test_what_is_held_out_is_left_out(tmp_path: Path) -> None:
    rows = [talk(f"message {n} to nobody", f"reply {n} to it") for n in range(600)]
    kept = sentences([written(tmp_path / "a.jsonl", *rows)], 10_000, random.Random(0))
    held = 0
    for n in range(600):
        turns = (("user", f"message {n} to nobody"), ("assistant", f"reply {n} to it"))
        if Document("s", turns).held_out:
            held += 1
            assert f"message {n} to nobody" not in kept
    assert held > 0 and all(len(text) <= MOST_CHARACTERS for text in kept)


def test_words_come_alone_if_they_are_not_rare() -> None:
    assert words(["My dog, DOG dog don\u2019t", "dog don't don't don't. My my"]) == ["dog", "don't"]


def test_what_is_said_and_asked_about_lives() -> None:
    found = of_lives(3, 50, random.Random(0))
    assert len(set(found)) == 50 and found == of_lives(3, 50, random.Random(0))
    assert any(text.endswith("?") for text in found) and any(text.endswith(".") for text in found)
