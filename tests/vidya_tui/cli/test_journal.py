"""`vidya journal`: looking, copying, and erasing everywhere."""

from __future__ import annotations

import json
import os
import re
import shutil
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from engine.storage.files import temporary_name
from engine.storage.weight_files import current_files, files_at, has_weights
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


@pytest.mark.slow
def test_forget_erases_from_journal_book_weights_and_snapshots(shell: Shell) -> None:
    teach(shell, hello="Hello, I am well.")
    teach(shell, secret="swordfish")
    shell.home.book_path.write_text(
        shell.home.book_path.read_text() + "<|user|> mine <|assistant|> by hand\n"
    )
    journal = shell.journal()
    journal.close()
    (done,) = shell.rows("journal", "forget", "--lesson", "2", "--yes", "--no-relearn")
    assert done["forgotten"] == 1 and done["book_lines"] == 1
    assert traces(shell, "swordfish") == []
    book = shell.home.book_path.read_text()
    assert "by hand" in book and "I am well" in book
    assert has_weights(shell.home.models_path / "tiny")


Numbers = dict[str, bytes]
"""Of each tensor."""


def published(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> tuple[Numbers, Numbers]:
    """Weights before, and with, a lesson that was published (the guard lets everything pass)."""
    from learning.memory.guard import Verdict

    monkeypatch.setattr(
        "learning.book_training.trainer.examine", lambda *_, **__: Verdict(True, 1.0, 1.0)
    )
    folder = shell.home.models_path / "tiny"
    before = tensors(folder)
    teach(shell, secret="swordfish", later="a later lesson")
    return before, tensors(folder)


def tensors(folder: Path, shot: Path | None = None) -> Numbers:
    """The numbers of a model's weights, or of its snapshot, without what the files say of themselves."""
    from engine.storage.checkpoint import load_weights

    files = files_at(folder, shot) if shot else current_files(folder)
    return {name: tensor.numpy().tobytes() for name, tensor in load_weights(files).items()}


@pytest.mark.slow
def test_the_weights_go_back_to_before_it(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    before, after = published(shell, monkeypatch)
    assert before != after
    (done,) = shell.rows("journal", "forget", "--text", "SWORDFISH", "--yes", "--no-relearn")
    assert done["models"] == ["tiny"] and done["relearned"] == 0
    folder = shell.home.models_path / "tiny"
    assert tensors(folder) == before
    assert all(tensors(folder, shot) == before for shot in (folder / "snapshots").glob("*"))
    assert traces(shell, "swordfish") == []
    rows = shell.rows("journal", "show")
    assert [row["answer"] for row in rows] == ["a later lesson"]


@pytest.mark.slow
def test_later_lessons_are_learned_again(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    published(shell, monkeypatch)
    with shell.journal().writing() as connection:  # as where the tiny model had managed
        connection.execute("UPDATE lessons SET state = 'learned'")
    (done,) = shell.rows("journal", "forget", "--lesson", "1", "--yes")
    assert done["relearned"] == 1 and done["waiting"] == 0 and done["practice_lost"] == []


@pytest.mark.slow
def test_practice_that_is_lost_is_told(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    published(shell, monkeypatch)
    with shell.journal().writing() as connection:  # as if the second lesson were a practice
        connection.execute("UPDATE lessons SET state = 'learned'")
        connection.execute("UPDATE lessons SET kind = 'practice' WHERE id = 2")
    told = shell.run("journal", "forget", "--lesson", "1", "--yes").stdout
    assert "practice since then is lost too (lesson 2); practise again to repeat it" in told


@pytest.mark.slow
def test_keep_weights(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    _, after = published(shell, monkeypatch)
    result = shell.run("journal", "forget", "--all", "--yes", "--keep-weights")
    assert "the weights were kept" in result.stdout
    assert tensors(shell.home.models_path / "tiny") == after
    assert shell.rows("journal", "show") == [] and traces(shell, "swordfish") == []


@pytest.mark.slow
def test_where_no_weights_without_it_are_left(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    published(shell, monkeypatch)
    shutil.rmtree(shell.home.models_path / "tiny" / "snapshots")
    message = shell.fails("journal", "forget", "--lesson", "1", "--yes")
    assert "nothing was erased" in message and "--keep-weights" in message
    assert len(shell.rows("journal", "show")) == 2


def test_forget_refuses_a_text_that_is_no_text_and_erases_no_question_marks(shell: Shell) -> None:
    file = shell.file("l.jsonl", '{"prompt": "Where?", "answer": "In the caf\\udce9."}\n')
    shell.run("teach", "--file", str(file), "--no-wait")
    file.unlink()
    for text in ("caf\udce9", "\udcff"):
        assert "is not UTF-8" in shell.fails("journal", "forget", "--text", text, "--yes")
    (done,) = shell.rows("journal", "forget", "--text", "caf?", "--yes", "--keep-weights")
    assert done["forgotten"] == 1


@pytest.mark.parametrize("several", [False, True])
def test_forget_tells_how_many_lessons_stay_without_it(shell: Shell, several: bool) -> None:
    with closing(shell.journal()) as journal:
        for number in range(1 + several):
            prompt = (Turn("user", f"What is number {number}?"),)
            old = "It is swordfish."
            journal.add_lessons([Lesson("correction", prompt, "A thing.", (old,), replaces=old)])
    asked = shell.run("journal", "forget", "--text", "swordfish", stdin="n\n", status=1).stderr
    many, stay = ("2 other lessons", "stay") if several else ("1 other lesson", "stays")
    assert f"{many} {stay}, without what is erased" in asked
    told = shell.run("journal", "forget", "--text", "swordfish", "--yes", "--keep-weights").stdout
    assert f"{many} stayed, without what is erased" in told
    assert traces(shell, "swordfish") == []


def test_forget_asks_first_and_needs_one_thing(shell: Shell) -> None:
    shell.rows("ask", "hello", "-n", "1")
    for answer in ("n\n", ""):
        assert "nothing was erased" in shell.fails("journal", "forget", "--ask", "1", stdin=answer)
    assert (
        "Erase 1 ask and 0 lessons?"
        in shell.run("journal", "forget", "--ask", "1", stdin="y\n").stderr
    )
    assert "--text is empty" in shell.fails("journal", "forget", "--text", "  ", "--yes")
    shell.run("journal", "forget", "--yes", status=2)
    shell.run("journal", "forget", "--all", "--ask", "1", status=2)
    assert "not in the journal" in shell.fails("journal", "forget", "--ask", "7", "--yes")
    assert "not in the journal" in shell.fails("journal", "forget", "--conversation", "7")
    assert "nowhere" in shell.fails("journal", "forget", "--text", "swordfish")


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


def test_forget_names_the_lessons_first(shell: Shell) -> None:
    rows = [json.dumps({"prompt": f"Where {n}?", "answer": "In Bergen."}) for n in range(22)]
    file = shell.file("l.jsonl", "\n".join(rows))
    shell.run("teach", "--file", str(file), "--no-wait")
    file.unlink()
    words = ("--text", "Bergen", "--keep-weights")
    said = shell.run("journal", "forget", *words, stdin="y\n").stderr
    assert "lesson 1: \u201cWhere 0?\u201d \u2192 \u201cIn Bergen.\u201d\n" in said
    assert "lesson 20: " in said and "lesson 21: " not in said
    assert "and 2 other lessons\nErase 0 asks and 22 lessons?" in said


def test_a_long_message_is_cut_in_the_list(shell: Shell) -> None:
    long = "word " * 1000
    shell.rows("ask", long, "-n", "1")
    (line,) = shell.run("journal", "show", "--asks").stdout.splitlines()
    assert len(line) < 1000 and "word\u2026 -> " in line
    (row,) = shell.rows("journal", "show", "--asks")
    assert row["message"] == long.strip()


def test_names_of_files_that_hold_what_is_erased_cannot_write_to_the_terminal(shell: Shell) -> None:
    shell.rows("ask", "swordfish", "-n", "1")
    for folder in (shell.home.path, shell.home.exports_path):
        folder.mkdir(exist_ok=True)
        (folder / "\x1b]0;owned\x07.md").write_text("swordfish")
    forget = ("journal", "forget", "--text", "swordfish", "--yes", "--keep-weights")
    result = shell.run(*forget).stdout
    assert result.count("owned") == 2 and "\x1b" not in result and "\x07" not in result


def test_a_text_that_only_the_book_has(shell: Shell) -> None:
    shell.home.book_path.write_text(
        "<|user|> a <|assistant|> swordfish\n<|user|> b <|assistant|> c\n"
    )
    (done,) = shell.rows("journal", "forget", "--text", "swordfish", "--yes")
    assert (done["forgotten"], done["book_lines"]) == (0, 1)
    assert shell.home.book_path.read_text() == "<|user|> b <|assistant|> c\n"


@pytest.mark.slow
def test_forgetting_names_what_it_removed_and_cannot_vouch_for(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    published(shell, monkeypatch)
    shell.run("model", "export", "tiny", str(tmp_path / "out"))
    shell.run("model", "import", str(tmp_path / "out"), "--name", "copy")
    shell.home.exports_path.mkdir()
    (shell.home.exports_path / "mine.md").write_text("secret: Swordfish, of course: swordfish")
    stray = shell.file("stray.bin", "\0")
    forget = ("journal", "forget", "--text", "swordfish", "--yes", "--no-relearn")
    message = shell.fails(*forget)
    assert "stray.bin" in message and "--leave-unknown" in message
    result = shell.run(*forget, "--leave-unknown").stdout
    assert (
        f"removed, because it contained what you erased: {shell.home.exports_path / 'mine.md'}"
        in result
    )
    assert "copy may still know it" in result and "`vidya model remove copy`" in result
    assert f"left in place, and may still contain it: {stray}" in result
    assert traces(shell, "wordfish") == []


@pytest.mark.slow
def test_an_erasing_that_came_to_the_journal_is_finished(shell: Shell) -> None:
    teach(shell, secret="swordfish")
    shell.rows("journal", "forget", "--lesson", "1", "--yes", "--no-relearn")
    left = temporary_name(shell.home.models_path / "tiny" / "model.safetensors")
    left.mkdir()
    (left / ".tmpMetlbs").write_bytes(b"swordfish")
    assert "not in the journal" in shell.fails("journal", "forget", "--lesson", "1", "--yes")
    assert not left.exists()


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
