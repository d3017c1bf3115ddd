"""`vidya journal forget`: what is erased, from where, and what is told about it."""

from __future__ import annotations

import json
import shutil
from contextlib import closing
from pathlib import Path

import pytest

from engine.storage.files import temporary_name
from engine.storage.weight_files import current_files, files_at, has_weights
from learning.protocol.records import Lesson, Turn
from tests.vidya_tui.cli.test_journal import teach, traces
from tests.vidya_tui.shell import Shell


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
    assert "Erase 1 ask?" in shell.run("journal", "forget", "--ask", "1", stdin="y\n").stderr
    assert "--text is empty" in shell.fails("journal", "forget", "--text", "  ", "--yes")
    shell.run("journal", "forget", "--yes", status=2)
    shell.run("journal", "forget", "--all", "--ask", "1", status=2)
    assert "not in the journal" in shell.fails("journal", "forget", "--ask", "7", "--yes")
    assert "not in the journal" in shell.fails("journal", "forget", "--conversation", "7")
    assert "nowhere" in shell.fails("journal", "forget", "--text", "swordfish")


def test_forget_names_the_lessons_first(shell: Shell) -> None:
    rows = [json.dumps({"prompt": f"Where {n}?", "answer": "In Bergen."}) for n in range(22)]
    file = shell.file("l.jsonl", "\n".join(rows))
    shell.run("teach", "--file", str(file), "--no-wait")
    file.unlink()
    words = ("--text", "Bergen", "--keep-weights")
    said = shell.run("journal", "forget", *words, stdin="y\n").stderr
    assert "lesson 1: \u201cWhere 0?\u201d \u2192 \u201cIn Bergen.\u201d\n" in said
    assert "lesson 20: " in said and "lesson 21: " not in said
    assert "and 2 other lessons\nErase 22 lessons?" in said


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
