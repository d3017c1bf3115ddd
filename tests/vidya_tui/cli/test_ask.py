"""`vidya ask`, and options that all commands have, with a tiny model."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from engine.errors import VidyaError
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
    assert [row.get("recalled") for row in rows[:2]] == [1, 1], "the setting is on at first"
    assert "Bo." in [row["text"] for row in rows[:2]]
    rows = shell.rows("ask", "What is my dog called", "-n", "2", "--no-recall")
    assert all("recalled" not in row for row in rows)
    with shell.home.settings_path.open("a") as file:
        file.write("recall = false\n")
    rows = shell.rows("ask", "What is my dog called", "-n", "2")
    assert all("recalled" not in row for row in rows), "the setting is off"
    said = shell.run("ask", "What is my dog called", "-n", "2", "--recall")
    assert "recalled from lesson 1" in said.stderr
    assert "1 lesson waits" in said.stderr


def test_an_answer_waits_for_many_new_lessons_and_says_so(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    shell.run("teach", "--say", "Your dog is called Bo.", "--no-wait", "--ask", _asked(shell))
    monkeypatch.setattr("learning.teacher.recall.MOST_AT_ONCE", 0)
    said = shell.run("ask", "my dog is called what?", "-n", "2", "--json")
    assert "1 new lesson cannot be recalled yet; this answer waits for that, about" in said.stderr
    assert all(line.startswith("{") for line in said.stdout.splitlines())


def test_what_was_only_said_is_said_back(shell: Shell) -> None:
    shell.run("ask", "my dog is called Bo", "-n", "1", "--no-recall")
    said, asked = "Your dog is called Bo.", ("ask", "What is my dog called?", "--max-tokens", "40")
    for count in ("1", "2", "5"):
        *rows, done = shell.rows(*asked, "-n", count)
        (back,) = [row for row in rows if "said_at" in row]
        assert back["text"] == said and back["offered"] and back["said_at"] > 1.7e9
        assert done["surest"] == back["index"] and "recalled" not in back
    assert not [row for row in shell.rows(*asked, "--no-recall") if "said_at" in row]
    lines = shell.run(*asked, "-n", "3").stderr.splitlines()
    assert [line for line in lines if ": what you said (today" in line][0][0] in "123"
    pick = shell.rows("teach", "--pick", str(back["index"]), "--ask", str(done["ask"]))
    assert pick[0]["lesson"] == 1, "a pick teaches it"


def _asked(shell: Shell) -> str:
    """The number of an ask."""
    return str(shell.rows("ask", "What is my dog called?", "-n", "2")[-1]["ask"])


def test_plain_words_without_json(shell: Shell) -> None:
    lines = shell.run("ask", "hello", "-n", "2", "--seed", "1").stdout.splitlines()
    assert sorted(line[:3] for line in lines if line[:2] in ("1.", "2.")) == ["1. ", "2. "]
    assert lines[-1] in ("surest: 1", "surest: 2")


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


def test_asking_again_needs_a_reason(shell: Shell) -> None:
    shell.run("ask", "hello", "-n", "1")
    for reason in ("", " "):  # such as an unset variable of a script
        shell.run("ask", "--again", reason, "-n", "1", status=2)
    assert len(shell.rows("journal", "search", "hello")) == 1
