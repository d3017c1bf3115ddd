"""`vidya reward train|show|rate`."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from learning.rewards.reward_data import preferences
from learning.text.comfort import CRISIS
from tests.picks import fill
from tests.vidya_tui.shell import Shell


@pytest.fixture
def taught(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> Shell:
    """With 150 picks of an owner who likes being asked back, and a rate at which a tiny model learns."""
    monkeypatch.setattr("learning.rewards.reward_training.LEARNING_RATE", 5e-3)
    journal = shell.journal()
    fill(journal, 150)
    journal.close()
    return shell


@pytest.fixture(scope="module")
def kept() -> Iterator[Path]:
    """A folder for what the first test that needs a taste has trained."""
    with TemporaryDirectory() as folder:
        yield Path(folder) / "home"


@pytest.fixture
def tasted(shell: Shell, kept: Path, request: pytest.FixtureRequest) -> Shell:
    """With a taste that was learned from these picks."""
    if kept.exists():
        shutil.copytree(kept, shell.home.path, dirs_exist_ok=True)
    else:
        request.getfixturevalue("taught").run("reward", "train")
        shutil.copytree(shell.home.path, kept)
    return shell


def test_below_thirty_picks_every_command_says_so(shell: Shell) -> None:
    journal = shell.journal()
    fill(journal, 4)
    journal.close()
    assert "4 of the 30 picks that it needs" in shell.fails("reward", "train")
    asked = str(shell.file("asked.txt", "hello\n"))
    assert "has no taste yet: 4 of the 30" in shell.fails("reward", "rate", "--prompts", asked)
    assert "it needs 30 picks and has 4" in shell.run("reward", "show").stdout
    (row,) = shell.rows("reward", "show")
    assert (row["picks"], row["used"]) == (4, False) and "report" not in row


def test_it_is_trained_shown_and_used(taught: Shell) -> None:
    (row,) = taught.rows("reward", "train")
    assert row["why_not"] == "" and row["picks_right"] > row["chance"]
    assert {"held_out", "pairs_right", "ceiling", "calibration_error", "seconds"} <= row.keys()
    shown = taught.run("reward", "show").stdout
    assert "how well it foretells you" in shown and "is it used\n  yes" in shown
    (row,) = taught.rows("reward", "show")
    assert row["used"] and row["new"] == 0 and row["report"]["trained_on"] > 100
    lines = [
        {"prompt": "Tell me of the sea.", "answers": ["What is it?", "Yes."]},
        {"prompt": "Tell me of the moon.", "answer": "And you?"},
    ]
    file = taught.file("rated.jsonl", "\n".join(map(json.dumps, lines)))
    rated = taught.rows("reward", "rate", "--prompts", str(file))
    assert [one["answer"] for one in rated] == ["What is it?", "Yes.", "And you?"]
    assert rated[0]["score"] > rated[1]["score"]
    assert "a minute" in taught.run("reward", "rate", "--prompts", str(file)).stderr


def test_messages_without_answers_get_some_of_the_model(tasted: Shell) -> None:
    file = tasted.file("asked.txt", "hello\n\nWhat is the sea?\n")
    rated = tasted.rows("reward", "rate", "--prompts", str(file), "-n", "3")
    assert [one["prompt"] for one in rated] == ["hello"] * 3 + ["What is the sea?"] * 3


def test_no_better_than_chance_is_not_used(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    journal = shell.journal()
    fill(journal, 30)
    fill(journal, 30, flipped=True, seed=1)
    journal.close()
    said = shell.run("reward", "train").stdout
    assert "it is not used" in said and "no better than chance" in said
    file = shell.file("asked.txt", "hello\n")
    assert "no better than chance" in shell.fails("reward", "rate", "--prompts", str(file))


@pytest.mark.slow
def test_it_is_written_for_transformers(taught: Shell) -> None:
    target = taught.home.path.parent / "classifier"
    taught.run("reward", "train", "--export", str(target))
    assert {"config.json", "model.safetensors"} <= {path.name for path in target.iterdir()}


def test_without_a_taste_there_is_no_best(shell: Shell) -> None:
    assert "has no taste yet" in shell.fails("ask", "hello", "--best-of", "12")
    assert "has no taste yet" in shell.fails("reward", "ask")


def test_the_best_of_many_is_printed(tasted: Shell) -> None:
    *candidates, done = tasted.rows("ask", "hello", "--best-of", "12")
    assert len(candidates) == 12 and 1 <= done["best"] <= 12
    said = tasted.run("ask", "hello", "--best-of", "3")
    assert "of 3: vidya teach --ask" in said.stderr
    tasted.run("ask", "hello", "--best-of", "3", "--raw", status=2)
    *candidates, done = tasted.rows("ask", "I want to kill myself", "--best-of", "3")
    [best] = [one for one in candidates if one["index"] == done["best"]]
    assert best["text"] == CRISIS, "taste does not choose here"


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "nothing in it to rate"),
        ('{"answer": "Hi."}', "asked.txt:1: has no prompt"),
        ('{"prompt": "a", "answers": [1]}', "answers that are no text"),
        ('{"prompt": "a"}\n{nonsense', "asked.txt:2: is no JSON"),
    ],
)
def test_a_wrong_file_says_where(shell: Shell, text: str, what: str) -> None:
    file = shell.file("asked.txt", text)
    assert what in shell.fails("reward", "rate", "--prompts", str(file))
    assert "cannot be read" in shell.fails("reward", "rate", "--prompts", str(file) + "x")


@pytest.mark.slow
def test_it_asks_where_its_heads_disagree_most(
    tasted: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("learning.practice.disputed.MESSAGES", 60)
    monkeypatch.setattr("learning.rewards.tasks.taste.ANSWERS", 16)
    journal = tasted.journal()
    before = len(preferences(journal).choices)
    said = tasted.run("reward", "ask", "-n", "3", stdin="9\n1\n\n2\n")
    assert "1 of 3: " in said.stdout and "3 of 3: " in said.stdout
    assert "2 picks; 2 lessons wait" in said.stderr
    assert len(preferences(journal).choices) == before + 2
    assert "nothing was picked" in tasted.run("reward", "ask", "-n", "2", stdin="q\n").stderr
    assert "nothing was picked" in tasted.run("reward", "ask", "-n", "2", stdin="").stderr
    rows = tasted.rows("reward", "ask", "-n", "4")
    journal.close()
    apart = [row["disagreement"] for row in rows]
    assert len(rows) == 4 and apart == sorted(apart, reverse=True) and apart[-1] > 0.0
    assert all(2 <= len(row["answers"]) <= 5 for row in rows)
    tasted.run("teach", "--ask", str(rows[0]["ask"]), "--pick", "2", "--no-wait")
