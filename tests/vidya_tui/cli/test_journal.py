"""`vidya journal`: looking and copying. Erasing: test_forget.py."""

from __future__ import annotations

import json
import os
import re
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from learning.journal.lesson_list import keep_understanding
from learning.protocol.records import Lesson, Turn, Understanding
from tests.vidya_tui.shell import Shell


def teach(shell: Shell, **lessons: str) -> None:
    rows = [json.dumps({"prompt": q, "answer": a}) for q, a in lessons.items()]
    file = shell.file("lessons.jsonl", "\n".join(rows))
    shell.rows("teach", "--file", str(file))
    file.unlink()


def shared(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Those that another home has too: what a home's own weights did stays with it."""
    return [row for row in rows if row["table"] not in ("saves", "lesson_events", "measures")]


def traces(shell: Shell, text: str) -> list[str]:
    files = [file for file in shell.home.path.rglob("*") if file.is_file()]
    return [file.name for file in files if text.encode() in file.read_bytes()]


def test_show_search_and_limits(shell: Shell) -> None:
    shell.rows("ask", "hello there", "-n", "2")
    shell.rows("teach", "--say", "Good day.", "--no-wait")
    row = shell.rows("journal", "show")[-1]
    assert (row["kind"], row["state"], row["prompt"]) == ("correction", "waiting", "hello there")
    assert len(shell.rows("journal", "show", "--limit", "1")) == 1
    assert "hello there -> Good day." in shell.run("journal", "show", "--asks").stdout
    (hit,) = shell.rows("journal", "search", "GOOD DAY")
    assert hit["place"] == "answer" and hit["ask"] == 1
    assert "ask 1, answer: Good day." in shell.run("journal", "search", "good day").stdout


def test_lessons_of_a_file_are_found_too(shell: Shell) -> None:
    lessons = shell.file("l.jsonl", '{"prompt": "My cat\'s name?", "answer": "Her name is Zoë."}\n')
    shell.run("teach", "--file", str(lessons), "--no-wait")
    (hit,) = shell.rows("journal", "search", "ZOE cat")
    assert (hit["place"], hit["lesson"], hit["ask"], hit["conversation"]) == (
        "lesson",
        1,
        None,
        None,
    )
    line = "lesson 1: My cat's name? -> Her name is Zoë.\n"
    assert shell.run("journal", "search", '"name is" zo').stdout == line
    assert shell.rows("journal", "search", '"is name"') == []
    shell.run("journal", "forget", "--lesson", "1", "--yes", "--keep-weights")
    assert shell.rows("journal", "search", "zoe") == []


def test_preferences_that_were_written_can_be_taught_elsewhere(
    shell: Shell, tmp_path: Path
) -> None:
    shell.rows("ask", "hello", "-n", "2")
    shell.rows("teach", "--say", "Good day.", "--no-wait")
    out = tmp_path / "pairs.jsonl"
    shell.run("journal", "export", "--format", "trl", "--out", str(out))
    shell.run("journal", "forget", "--all", "--yes", "--keep-weights")
    assert shell.rows("teach", "--file", str(out), "--no-wait")[0]["waiting"] == 2
    lessons = shell.rows("journal", "show")
    assert [(row["kind"], row["prompt"], row["answer"]) for row in lessons] == [
        ("pick", "hello", "Good day.")
    ] * 2
    assert all(len(row["rejected"]) == 1 for row in lessons)
    (measured,) = shell.rows("evaluate", "--lessons", str(out))
    assert measured["lessons"]["recall"] is not None


def test_what_was_exported_is_not_written_over(shell: Shell, tmp_path: Path) -> None:
    shell.rows("ask", "hello", "-n", "1")
    for command, option in (
        (("journal", "export"), "--out"),
        (("journal", "progress"), "--csv"),
        (("journal", "progress"), "--svg"),
    ):
        out = tmp_path / f"out{option}"
        out.write_text("mine")
        message = shell.fails(*command, option, str(out))
        assert str(out) in message and "--force" in message
        assert out.read_text() == "mine"
        shell.run(*command, option, str(out), "--force")
        assert out.read_text() != "mine"
    assert "rows written" in shell.run("journal", "export", "--out", os.devnull).stderr


def test_what_is_empty_is_told(shell: Shell) -> None:
    for nothing in ("", " ", '"'):
        assert "no word to look for" in shell.fails("journal", "search", nothing)
    for command, words in {
        ("journal", "show"): "nothing was taught yet",
        ("journal", "show", "--asks"): "nothing was said yet",
        ("journal", "search", "swordfish"): "nothing was said or taught with 'swordfish' in it",
        ("journal", "export", "--format", "trl"): "there are no preferences yet",
        ("model", "snapshots"): "has no earlier weights",
    }.items():
        result = shell.run(*command, "--json")
        assert result.stdout == "" and words in result.stderr, command
        assert words in shell.run(*command).output


def test_export_and_import_are_lossless_and_idempotent(shell: Shell, tmp_path: Path) -> None:
    shell.rows("ask", "hello", "-n", "2")
    shell.rows("teach", "--say", "Good day.", "--no-wait")
    out = tmp_path / "out.jsonl"
    assert "rows written" in shell.run("journal", "export", "--out", str(out)).stderr
    assert shell.run("journal", "export").stdout == out.read_text()
    assert shell.run("journal", "export", "--out", "-").stdout == out.read_text()
    pairs = shell.rows("journal", "export", "--format", "trl")
    assert len(pairs) == 2, "what was typed is preferred to both answers that were shown"
    assert all(set(pair) == {"prompt", "chosen", "rejected"} for pair in pairs)
    other = Shell(type(shell.home)(tmp_path / "other"))
    assert other.rows("journal", "import", str(out)) == [{"added": 1, "waiting": 1}]
    assert other.rows("journal", "import", str(out)) == [{"added": 0, "waiting": 1}]
    assert other.rows("journal", "import", "-", stdin=out.read_text())[0]["added"] == 0
    bad = other.run("journal", "import", "-", stdin="no row\n", status=1)
    assert "standard input:1: is no JSON" in str(bad.exception)
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert shared(other.rows("journal", "export")) == shared(rows)
    shell.rows("teach", "--say", "Good night.", "--no-wait")  # of the same answer: the newer holds
    shell.run("journal", "export", "--out", str(out), "--force")
    assert other.rows("journal", "import", str(out))[0]["added"] == 1
    assert "Good night." in other.run("journal", "show").stdout
    assert "0 conversations" in other.run("journal", "import", str(out)).stdout


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("{", "is no JSON"),
        ("[1]", "is no object"),
        ('{"table": "spoons"}', "not from a journal's export"),
        ('{"prompt": "a", "chosen": "b", "rejected": "c"}', "trl"),
    ],
)
def test_bad_rows_are_named_by_line(shell: Shell, row: str, said: str) -> None:
    good = '{"table": "conversations", "id": 1, "created": 1.5}'
    file = shell.file("bad.jsonl", f"{good}\n\n{row}\n")
    message = shell.fails("journal", "import", str(file))
    assert f"{file}:3:" in message and said in message
    assert shell.rows("journal", "import", str(shell.file("good.jsonl", good)))[0]["added"] == 1
    assert "cannot be read" in shell.fails("journal", "import", str(shell.home.path / "none"))


def test_an_answer_that_another_replaced_is_said_to_be(shell: Shell) -> None:
    prompt = (Turn("user", "What is my dog called?"),)
    with closing(shell.journal()) as journal:
        journal.add_lessons([Lesson("correction", prompt, text) for text in ("Rex.", "Bello.")])
    first, second = shell.run("journal", "show").stdout.splitlines()
    assert first.split()[:3] == ["1", "correction", "replaced"]
    assert second.split()[:3] == ["2", "correction", "waiting"]
    rows = shell.rows("journal", "show")
    assert [row.get("replaced_by") for row in rows] == [2, None]
    assert [row["state"] for row in rows] == ["waiting", "waiting"]


def test_a_long_message_is_cut_in_the_list(shell: Shell) -> None:
    long = "word " * 1000
    shell.rows("ask", long, "-n", "1")
    (line,) = shell.run("journal", "show", "--asks").stdout.splitlines()
    assert len(line) < 1000 and "word\u2026 -> " in line
    (row,) = shell.rows("journal", "show", "--asks")
    assert row["message"] == long.strip()


def test_how_well_lessons_were_understood_is_shown(shell: Shell) -> None:
    lessons = {"What is my dog called?": "Your dog is called Bo.", "Why?": "Because."}
    with closing(shell.journal()) as journal:
        for question, answer in lessons.items():
            (one,) = journal.add_lessons([Lesson("example", (Turn("user", question),), answer)])
            journal.set_lesson_state(one.id, "learned")
        keep_understanding(journal, 1, Understanding(4, 5, 0, 3))
    dog, why = shell.rows("journal", "show")
    assert dog.pop("measured") > 1e9
    figures = {"ways_known": 4, "ways_asked": 5, "neighbours_leaked": 0, "neighbours_asked": 3}
    assert dog.items() >= figures.items()
    assert not why.keys() & {*figures, "measured"}
    first, second = shell.run("journal", "show").stdout.splitlines()
    said = "(known in 4 of 5 ways, given to none of 3 other questions, measured "
    assert f"Your dog is called Bo. {said}" in first
    assert re.search(r"measured (today \d\d:\d\d|\d{4}-\d\d-\d\d)\)$", first)
    assert second.endswith("Because.")
    with closing(shell.journal()) as journal:
        journal.set_lesson_state(1, "waiting")  # the weights were changed for others
    assert "known in" not in shell.run("journal", "show").stdout
