"""`vidya teach`, with a tiny model that is really taught."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from learning.protocol.events import LessonDone
from learning.protocol.records import Again, Understanding
from tests.vidya_tui.shell import Shell
from vidya_tui.cli.teach import _print_lesson
from vidya_tui.options import Options


@pytest.mark.slow
def test_pick_say_and_rate_are_learned_before_they_return(shell: Shell) -> None:
    shell.rows("ask", "hello", "-n", "2", "--seed", "1")
    fields = "lesson kind known_before known_after steps batch loss book_recall seconds rolled_back"
    (picked,) = shell.rows("teach", "--pick", "2")
    assert list(picked) == fields.split() and picked["kind"] == "pick"
    (said,) = shell.rows("teach", "--say", "Hello to you.", "--ask", "1")
    assert said["kind"] == "correction"
    (rated,) = shell.rows("teach", "--rate", "good")
    assert rated["kind"] == "rating"
    assert all(row["state"] != "waiting" for row in shell.rows("journal", "show")[1:])
    lines = shell.home.book_path.read_text().splitlines()
    assert lines[-1] == "<|user|> hello <|assistant|> Hello to you." and len(lines) == 2


@pytest.mark.slow
def test_a_reason_is_given_in_the_shell(shell: Shell) -> None:
    assert "nothing was asked yet" in shell.fails("ask", "--again", "shorter please")
    shell.rows("ask", "hello", "-n", "2", "--seed", "1")
    shell.rows("teach", "--rate", "good", "--reason", "because it is short")
    (row,) = shell.rows("journal", "show")
    assert (row["kind"], row["reason"]) == ("rating", "because it is short")
    assert "(reason: because it is short)" in shell.run("journal", "show").stdout
    *candidates, done = shell.rows("ask", "--again", "shorter please", "-n", "3")
    assert len(candidates) == 3 and done["ask"] == 2
    shell.rows("teach", "--pick", "2", "--no-wait")
    journal = shell.journal()
    again = journal.ask(2).again
    assert again == Again(journal.answer(1) or "", "shorter please")
    assert journal.ask(2).turns == journal.ask(1).turns
    journal.close()
    *_, picked = shell.rows("journal", "show")
    assert (picked["kind"], picked["reason"]) == ("pick", "shorter please")
    assert picked["rejected"] == ([again.old] if again.old != picked["answer"] else [])
    exported = [json.loads(line) for line in shell.run("journal", "export").stdout.splitlines()]
    given = [row["reason"] for row in exported if row["table"] == "judgements"]
    assert given == ["because it is short", "shorter please"]
    shell.run("ask", "hello", "--again", "shorter", status=2)
    shell.run("teach", "--pick", "2", "--reason", "shorter", status=2)


def test_a_judgement_that_stands_already_is_told(shell: Shell) -> None:
    shell.rows("ask", "hello", "-n", "2")
    for judgement in (["--pick", "2"], ["--rate", "good"], ["--say", "Hello to you."]):
        assert "already" not in shell.run("teach", *judgement, "--no-wait").stderr
        result = shell.run("teach", *judgement, "--no-wait")
        assert "ask 1 was judged so already: there is nothing new" in result.stderr


def test_where_learning_is_off_a_lesson_waits(shell: Shell) -> None:
    shell.rows("ask", "hello", "-n", "2")
    shell.home.settings_path.write_text("learning = false\n", "utf-8")
    result = shell.run("teach", "--pick", "2")
    assert "1 lesson waits; learning is switched off" in result.stderr and not result.stdout
    assert shell.rows("teach", "--rate", "good") == [{"event": "journaled", "waiting": 2}]
    assert {row["state"] for row in shell.rows("journal", "show")} == {"waiting"}


@pytest.mark.slow
def test_an_answer_that_is_too_long_is_told(shell: Shell) -> None:
    shell.rows("ask", "hello", "-n", "1")
    (said,) = shell.rows("teach", "--say", "the cat " * 60)
    assert said["known_after"] is False and "too long for this model" in said["why"]
    lessons = shell.home.path / "long.jsonl"
    lessons.write_text(json.dumps({"prompt": "Who?", "answer": "the cat " * 60}) + "\n")
    printed = shell.run("teach", "--file", str(lessons)).stdout
    assert "not learned: the answer is too long" in printed


def test_teach_without_waiting_needs_no_model(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    shell.rows("ask", "hello", "-n", "2")
    monkeypatch.setattr("learning.teacher.teacher.open_teacher", None)  # calling it would fail
    assert shell.rows("teach", "--say", "Hi.", "--no-wait") == [
        {"event": "journaled", "waiting": 1}
    ]
    file = shell.file("more.jsonl", '{"prompt": "a b", "answer": "c d"}\n')
    result = shell.run("teach", "--file", str(file), "--no-wait")
    assert "2 lessons wait" in result.stderr and result.stdout == ""
    assert "<|user|> a b <|assistant|> c d" in shell.home.book_path.read_text()
    monkeypatch.undo()


@pytest.mark.slow
def test_what_waited_is_learned_first(shell: Shell) -> None:
    first, second = (
        shell.file(f"{n}.jsonl", f'{{"prompt": "q {n}", "answer": "a {n}"}}\n') for n in (1, 2)
    )
    shell.run("teach", "--file", str(first), "--no-wait")
    rows = shell.rows("teach", "--file", str(second))
    assert [row["lesson"] for row in rows] == [1, 2]


@pytest.mark.slow
def test_teach_a_file_of_every_form(shell: Shell) -> None:
    file = shell.file(
        "lessons.jsonl",
        '{"prompt": "who", "answer": "me", "id": 5}\n'
        '{"prompt": "what", "chosen": "this", "rejected": ["that", "those"]}\n'
        '{"prompt": "when", "answer": "now", "rating": "bad"}\n\n'
        '{"turns": [{"role": "user", "text": "a"}, {"role": "assistant", "text": "b"}]}\n',
    )
    rows = shell.rows("teach", "--file", str(file))
    assert [row["kind"] for row in rows] == ["example", "pick", "rating", "example"]
    assert [row["lesson"] for row in rows] == [1, 2, 3, 4]
    book = shell.home.book_path.read_text()
    assert "who <|assistant|> me" in book and "now" not in book
    row = '{"prompt": "from a pipe", "answer": "yes\u2028and no"}\n'
    assert shell.rows("teach", "--file", "-", stdin=row)[0]["lesson"] == 5


def test_a_file_taught_twice_or_with_other_answers_leaves_one_line_of_the_book(
    shell: Shell,
) -> None:
    rows = [
        {"prompt": "who", "answer": "me"},
        {"prompt": "what", "answer": "a\nb"},
        {"prompt": "who", "answer": "you"},
        {"prompt": "who", "answer": "we"},
    ]
    file = shell.file("lessons.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    for _ in range(2):
        shell.run("teach", "--file", str(file), "--no-wait")
        lines = [x for x in shell.home.book_path.read_text().splitlines() if x[:1] != "#"]
        assert sorted(lines) == [
            "<|user|> what <|assistant|> a b",
            "<|user|> who <|assistant|> we",
        ]


def test_what_vidyas_book_says_is_not_written_into_the_owners(shell: Shell) -> None:
    file = shell.file("l.jsonl", '{"prompt": "hello", "answer": "Hello, I am  well."}\n')
    shell.run("teach", "--file", str(file), "--no-wait")
    assert not shell.home.book_path.exists()
    assert len(shell.rows("journal", "show")) == 1


def test_lessons_of_a_pipe_are_read_as_those_of_a_file(shell: Shell) -> None:
    row = '{"prompt": "from a pipe", "answer": "yes"}\r\n'
    command = ("teach", "--file", "-", "--no-wait")
    assert shell.rows(*command, stdin="\ufeff" + row)[0]["waiting"] == 1
    result = shell.run(*command, stdin=row.encode("utf-16"), status=1)  # type: ignore[arg-type]
    assert "standard input: cannot be read" in str(result.exception)
    assert len(shell.rows("journal", "show")) == 1


def test_teach_says_what_cannot_be(shell: Shell) -> None:
    assert "nothing was asked yet" in shell.fails("teach", "--pick", "1")
    shell.rows("ask", "hello", "-n", "1")
    assert "ask 1 has no candidate 3; there are: 1" in shell.fails("teach", "--pick", "3")
    assert "ask 9 is not in the journal" in shell.fails("teach", "--ask", "9", "--pick", "1")
    assert "empty" in shell.fails("teach", "--say", "  ")
    shell.run("teach", "--pick", "1", "--say", "x", status=2)
    shell.run("teach", "--file", "x", "--ask", "1", status=2)


def test_a_part_of_an_answer_is_blamed_in_the_shell(shell: Shell) -> None:
    shell.rows("ask", "hello", "-n", "1", "--seed", "1")
    shell.rows("teach", "--say", "Cats purr. They are fish.", "--no-wait")
    assert "does not have the words" in shell.fails("teach", "--rate", "bad", "--from", "dogs")
    shell.rows("teach", "--rate", "bad", "--from", "They", "--no-wait")
    *_, rated = shell.rows("journal", "show")
    assert (rated["kind"], rated["blamed"]) == ("rating", "They are fish.")
    assert "(not: They are fish.)" in shell.run("journal", "show").stdout
    shell.rows("teach", "--rate", "good", "--no-wait")
    shell.rows("teach", "--rate", "bad", "--end", "--no-wait")
    *_, rated = shell.rows("journal", "show")
    assert rated["blamed"] == "They are fish."
    shell.run("teach", "--rate", "good", "--end", status=2)
    shell.run("teach", "--rate", "bad", "--end", "--from", "They", status=2)


@pytest.mark.parametrize(
    "found",
    [
        {},
        {"ways_known": 4, "ways_asked": 5},
        {"ways_known": 4, "ways_asked": 5, "neighbours_leaked": 0, "neighbours_asked": 3},
    ],
)
def test_how_well_it_was_understood_is_printed_where_it_was_asked(
    found: dict[str, int], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    done = LessonDone(
        *(7, "example", False, True, 3, 40, 0.1, 1.0, 2.0, False, 4),
        understanding=Understanding(**found),
    )
    _print_lesson(done, Options(tmp_path, as_json=True))
    row = json.loads(capsys.readouterr().out)
    assert {k: v for k, v in row.items() if k.split("_")[0] in ("ways", "neighbours")} == found
    assert list(row)[-len(found) - 1 :] == ["rolled_back", *found], "flat, and in this order"
