"""`vidya ask`, `teach`, `train` and `evaluate`, with a tiny model that is really taught."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from engine.errors import VidyaError
from learning.protocol.records import Again
from tests.vidya_tui.shell import Shell
from vidya_tui.cli.common import Options
from vidya_tui.cli.main import cli


def test_ask_prints_each_candidate_and_then_done(shell: Shell) -> None:
    *candidates, done = shell.rows("ask", "hello", "-n", "3", "--seed", "1")
    assert sorted(row["index"] for row in candidates) == [1, 2, 3]
    assert len({row["text"] for row in candidates}) == 3
    assert all(row["tokens"] <= 8 and row["logprob"] < 0 for row in candidates)
    assert done["event"] == "done" and done["ask"] == 1
    assert done["tokens_per_second"] > 0 and done["seconds_to_first_token"] > 0
    surest = max(candidates, key=lambda row: row["logprob"] / row["tokens"])
    assert done["surest"] == surest["index"]


@pytest.mark.slow
def test_the_same_seed_says_the_same(shell: Shell) -> None:
    def said(*more: str) -> list[tuple[int, str, float]]:
        rows = shell.rows("ask", "hello", "-n", "3", *more)[:-1]
        return [(row["index"], row["text"], row["logprob"]) for row in rows]

    once = said("--seed", "7")
    assert said("--seed", "7") == once
    assert said("--seed", "8") != once
    assert said() != said()


def test_sampling_options(shell: Shell) -> None:
    greedy = [shell.rows("ask", "hello", "-n", "1", "--temperature", "0")[0] for _ in range(2)]
    assert greedy[0]["text"] == greedy[1]["text"] and greedy[0]["logprob"] == 0.0
    (row, _) = shell.rows("ask", "hello", "-n", "1", "--max-tokens", "2", "--top-p", "0.5")
    assert row["tokens"] <= 2
    for bad in (["-n", "0"], ["--temperature", "-1"], ["--top-p", "0"], ["--max-tokens", "0"]):
        shell.run("ask", "hello", *bad, status=2)


def test_ask_reads_standard_input(shell: Shell) -> None:
    shell.run("ask", "-", "-n", "1", stdin="hello\nyou\n")
    (row,) = shell.rows("journal", "show", "--asks")
    assert row["message"] == "hello\nyou" and len(row["candidates"]) == 1
    shell.run("ask", "-", "-n", "1", stdin="\ufeffhello\n")
    assert shell.rows("journal", "show", "--asks")[-1]["message"] == "hello"
    assert "empty" in shell.fails("ask", "-", stdin="  \n")


def test_a_question_in_quotes_is_asked(shell: Shell) -> None:
    (row, _) = shell.rows("Who are you?", "-n", "1")
    assert row["index"] == 1
    (row,) = shell.rows("journal", "show", "--asks")
    assert row["message"] == "Who are you?"


def test_what_is_piped_in_follows_the_message(shell: Shell) -> None:
    shell.run("ask", "What is this?", "-n", "1", stdin="a b\nc\n")
    shell.run("ask", "What is this?", "-n", "1", stdin=" \n")
    shell.run("What is that?", "-n", "1", stdin="d")
    shell.run("ask", "-n", "1", stdin="e")
    said = [row["message"] for row in shell.rows("journal", "show", "--asks")]
    assert said == ["What is this?\na b\nc", "What is this?", "What is that?\nd", "e"]


def test_answers_come_in_their_order_with_the_number_that_teach_wants(shell: Shell) -> None:
    for number in (1, 2):
        result = shell.run("ask", "hello", "-n", "4")
        assert [line[:3] for line in result.stdout.splitlines() if line[1:2] == "."] == [
            "1. ",
            "2. ",
            "3. ",
            "4. ",
        ]
        assert f"vidya teach --ask {number} --pick" in result.stderr
    alone = shell.run("ask", "hello", "-n", "1")
    assert alone.stdout.strip() and not alone.stdout.startswith("1. ")
    assert "--ask 3" in alone.stderr and "--pick" not in alone.stderr


def test_settings_say_what_is_kept_of_an_ask(shell: Shell) -> None:
    with shell.home.settings_path.open("a") as file:
        file.write("keep_unchosen = false\n")
    shell.rows("ask", "hello", "-n", "2")
    shell.rows("ask", "you", "-n", "2")
    assert shell.rows("journal", "show") == []
    first, second = shell.rows("journal", "show", "--asks")
    assert first["candidates"] == [] and len(second["candidates"]) == 2


@pytest.mark.slow
def test_a_recalled_lesson_is_named(shell: Shell) -> None:
    shell.run("teach", "--say", "Bo.", "--no-wait", "--ask", _asked(shell))
    rows = shell.rows("ask", "What is my dog called", "-n", "2")
    assert all("recalled" not in row for row in rows), "the setting is off"
    with shell.home.settings_path.open("a") as file:
        file.write("recall = true\n")
    rows = shell.rows("ask", "What is my dog called", "-n", "2")
    assert [row.get("recalled") for row in rows[:2]] == [1, 1]
    assert "Bo." in [row["text"] for row in rows[:2]]
    rows = shell.rows("ask", "What is my dog called", "-n", "2", "--no-recall")
    assert all("recalled" not in row for row in rows)
    said = shell.run("ask", "What is my dog called", "-n", "2", "--recall")
    assert "recalled from lesson 1" in said.stderr


def _asked(shell: Shell) -> str:
    """The number of an ask."""
    return str(shell.rows("ask", "What is my dog called?", "-n", "2")[-1]["ask"])


def test_plain_words_without_json(shell: Shell) -> None:
    lines = shell.run("ask", "hello", "-n", "2", "--seed", "1").stdout.splitlines()
    assert sorted(line[:3] for line in lines if line[:2] in ("1.", "2.")) == ["1. ", "2. "]
    assert lines[-1] in ("surest: 1", "surest: 2")


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
    assert "there are: 1" in shell.fails("teach", "--pick", "3")
    assert "ask 9 is not in the journal" in shell.fails("teach", "--ask", "9", "--pick", "1")
    assert "empty" in shell.fails("teach", "--say", "  ")
    shell.run("teach", "--pick", "1", "--say", "x", status=2)
    shell.run("teach", "--file", "x", "--ask", "1", status=2)


@pytest.mark.slow
def test_train_reports_epochs_and_the_end(shell: Shell) -> None:
    *epochs, done = shell.rows("train", "--epochs", "2", "--batch-size", "1")
    assert [row["epoch"] for row in epochs] == [1, 2]
    assert set(epochs[0]) == {"epoch", "steps", "examples", "loss", "recall", "seconds"}
    assert epochs[0]["steps"] == 2, "two lines, one a step"
    assert done["event"] == "done" and done["epochs"] == 2 and done["entries"] == 2
    again = shell.rows("train", "--epochs", "1")
    assert again[0]["steps"] == 1, "both lines in one step"


@pytest.mark.slow
def test_train_lora_writes_an_adapter_and_export_writes_what_was_taught(shell: Shell) -> None:
    folder, out = shell.home.path / "adapter", shell.home.path / "out"
    options = ("--lora", "--rank", "4", "--blocks", "1", "--adapter", str(folder))
    *_, done = shell.rows("train", *options, "--epochs", "2")
    assert done["event"] == "done" and done["epochs"] == 2
    assert {file.name for file in folder.iterdir()} == {
        "adapter_config.json",
        "adapter_model.safetensors",
    }
    config = json.loads((folder / "adapter_config.json").read_text())
    assert config["r"] == 4 and config["layers_to_transform"] == [1]
    (made,) = shell.rows("model", "export", "tiny", str(out), "--adapter", "--rank", "4")
    assert made["rank"] == 4 and 0.0 <= made["error"] < 0.01
    assert (out / "adapter_model.safetensors").exists()
    assert "not empty" in shell.fails("train", *options)
    assert "same as" in shell.fails(
        "model", "export", "tiny", str(out / "x"), "--adapter", "--base", "tiny"
    )
    shell.run("train", "--rank", "4", status=2)


@pytest.mark.slow
def test_training_a_book_says_how_much_of_it_is_known(shell: Shell) -> None:
    book = shell.file("b.txt", "<|user|> one <|assistant|> two\n<|user|> six <|assistant|> ten\n")
    result = shell.run("train", str(book), "--epochs", "2")
    said = [line for line in result.stderr.splitlines() if line.startswith("epoch")]
    assert len(said) == 2 and "asking every line first" in result.stderr
    for line in said:
        assert re.search(r"your book: [012] of 2 known, [0-9.]+% of all else, loss", line)
    assert re.match(r"[012] of 2 known, recall [0-9.]+% -> ", result.stdout)
    ours = shell.run("train", "--epochs", "1").stderr
    assert re.search(r"epoch 1: lines: [012] of 2 known, loss", ours)


@pytest.mark.slow
def test_bad_lines_of_a_book_stop_or_are_skipped(shell: Shell) -> None:
    book = shell.file("b.txt", "<|user|> one <|assistant|> two\nnonsense\n")
    assert f"{book}:2:" in shell.fails("train", str(book))
    result = shell.run("train", str(book), "--skip-bad", "--epochs", "1", "--json")
    assert '"entries": 1' in result.stdout and f"{book}:2:" in result.stderr
    assert f"add them to your book: {shell.home.book_path}" in result.stderr
    bad = shell.file("bad.txt", "nonsense\n")
    assert f"{bad}: no line of it is right" in shell.fails("train", str(bad), "--skip-bad")
    shell.home.book_path.write_text("<|user|> one <|assistant|> two\nnonsense\n")
    assert "book.txt:2:" in shell.fails("train")
    assert shell.rows("train", "--skip-bad", "--epochs", "1")[-1]["entries"] == 3
    shell.home.book_path.write_text("<|user|> one <|assistant|> two\n")
    for own in ([], [str(shell.home.book_path)]):
        assert "put them" not in shell.run("train", *own, "--epochs", "1").stderr


@pytest.mark.slow
def test_evaluate_every_part(shell: Shell) -> None:
    (result,) = shell.rows("evaluate")
    assert set(result["book"]) == {"pairs", "recall", "nll"} and result["book"]["pairs"] == 2
    lessons = shell.file(
        "lessons.jsonl",
        '{"prompt": "a", "answer": "b", "paraphrase": "aa"}\n'
        '{"prompt": "a", "answer": "b", "rating": "bad"}\n'
        '{"turns": [{"role": "user", "text": "c"}, {"role": "assistant", "text": "d"}]}\n',
    )
    long = "The river runs to the sea. " * 40  # far longer than the context
    text = shell.file(
        "text.jsonl",
        f'{{"text": "{long}"}}\n'
        '{"turns": [{"role": "user", "text": "c"}, {"role": "assistant", "text": "d"}]}\n',
    )
    (result,) = shell.rows("evaluate", "--lessons", str(lessons), "--text", str(text))
    assert set(result) == {"lessons", "text"}
    assert set(result["lessons"]) == {"recall", "paraphrase_recall", "nll"}
    # a random model spreads over its 384 ids: the log of 384 nats a token
    assert math.isclose(result["text"]["nll"], math.log(384), rel_tol=0.05)
    assert 1 < result["text"]["bits_per_byte"] < 9
    plain = shell.file("plain.jsonl", '{"prompt": "a", "answer": "b"}\n')
    words = shell.run("evaluate", "--lessons", str(plain)).stdout
    assert (
        words.startswith("lessons: recall ") and "None" not in words and "paraphrase" not in words
    )
    bad = shell.file("bad.jsonl", '{"prompt": "a", "answer": "b", "rating": "bad"}\n')
    assert "nothing to measure" in shell.run("evaluate", "--lessons", str(bad)).stdout
    words = shell.run("evaluate", "--book", str(shell.home.path.parent / "shipped.txt")).stdout
    assert words.startswith("book: pairs 2, recall ")


@pytest.mark.slow
def test_evaluate_by_key(shell: Shell) -> None:
    row = '{"prompt": "a", "answer": "b", "key": ["b"], "rewordings": ["aa", "ab"], "paraphrase": "c"}\n'
    file = shell.file("keyed.jsonl", row)
    (result,) = shell.rows("evaluate", "--lessons", str(file))
    found = result["lessons"]["by_key"]
    assert {kind: part["asked"] for kind, part in found.items()} == {
        "recall": 1,
        "rewordings": 2,
        "paraphrases": 1,
    }
    words = shell.run("evaluate", "--lessons", str(file)).stdout.splitlines()
    assert [line.split(":")[0] for line in words] == [
        "lessons",
        "lessons, recall by key",
        "lessons, rewordings by key",
        "lessons, paraphrases by key",
    ]
    assert re.fullmatch(r"lessons, rewordings by key: asked 2, exact [01.]+, key [01.]+", words[2])
    file.write_text(row + row.replace('["b"]', '"b"'))
    assert f"{file}:2: key must be a list" in shell.fails("evaluate", "--lessons", str(file))


def test_evaluate_asks_as_teach_would_have_taught(shell: Shell) -> None:
    def measured(row: str) -> object:
        return shell.rows("evaluate", "--lessons", str(shell.file("l.jsonl", row)))[0]["lessons"]

    clean = measured('{"prompt": "a b", "answer": "c", "paraphrase": "b a"}')
    assert measured('{"prompt": " a b\\n", "answer": "c ", "paraphrase": " b a"}') == clean
    nothing = {"recall": None, "paraphrase_recall": None, "nll": None}
    assert measured('{"prompt": "a", "answer": "b", "rating": "bad"}') == nothing


@pytest.mark.parametrize(
    "row", ['{"text": ""}', '{"text": 5}', '{"turns": []}', '{"turns": [{"role": "x"}]}', "{}"]
)
def test_rows_of_text_that_are_none(shell: Shell, row: str) -> None:
    file = shell.file("text.jsonl", f'{{"text": "fine"}}\n{row}\n')
    assert f"{file}:2:" in shell.fails("evaluate", "--text", str(file))


def test_a_device_that_is_not_there(shell: Shell) -> None:
    assert "choose cpu or cuda" in shell.fails("ask", "hello", "--device", "abacus")


def test_options_that_no_journal_or_home_could_take_are_wrong_usage(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.iterdir())
    shell.run("ask", "hello", "--seed", str(2**63), status=2)
    assert shell.rows("journal", "show", "--asks") == []
    result = CliRunner().invoke(cli, ["journal", "show", "--home", ""])
    assert result.exit_code == 2 and "name a folder" in result.stderr
    assert sorted(tmp_path.iterdir()) == before, "not the folder one happens to be in"


def test_options_before_the_command_count_too(tmp_path: Path, monkeypatch: object) -> None:
    environment = {"VIDYA_HOME": str(tmp_path / "other")}
    result = CliRunner(env=environment).invoke(
        cli, ["--home", str(tmp_path / "mine"), "journal", "show"]
    )
    assert result.exit_code == 0
    assert (tmp_path / "mine").exists() and not (tmp_path / "other").exists()


def test_a_setting_of_another_version_is_told_once_and_stops_nothing(shell: Shell) -> None:
    with shell.home.settings_path.open("a") as file:
        file.write("colour = 1\n")
    result = shell.run("ask", "hello", "-n", "1", "--json")
    assert result.stderr.count("settings.toml:3: colour: no such setting") == 1
    assert "no such setting" in shell.run("model", "list").stderr
    assert "no such setting" not in shell.run("journal", "show").stderr


def test_a_damaged_settings_file_is_named(shell: Shell) -> None:
    shell.home.settings_path.write_text("model = ")
    with pytest.raises(VidyaError, match="settings.toml"):
        _ = Options(home_path=shell.home.path).chosen_model


def test_a_message_longer_than_the_context_is_told(shell: Shell) -> None:
    message = "the cat sat on the mat " * 2_000
    result = shell.run("ask", message, "-n", "1", "--json")
    assert "of its 45,999 characters it reads" in result.stderr
    assert "too long" not in result.stdout
    assert "too long" not in shell.run("ask", "hello", "-n", "1").stderr


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
