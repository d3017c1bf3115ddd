from __future__ import annotations

import pytest

import learning.distillation.answers
from learning.distillation.answers import TeacherAnswer
from tests.vidya_tui.shell import Shell


@pytest.fixture
def school(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> Shell:
    """The shell with a copy of its model as teacher, which answers as one that talks well."""
    name = shell.rows("model", "list")[0]["name"]
    shell.run("model", "import", str(shell.home.models_path / name), "--name", "big")

    def drawn(*arguments: object) -> list[TeacherAnswer]:
        openings = arguments[2]
        assert isinstance(openings, list)
        return [TeacherAnswer(one, f"I like {one.strip('?')}.", "", 0.9, 12) for one in openings]

    monkeypatch.setattr(learning.distillation.answers, "_drawn", drawn)
    shell.file("asked.txt", "".join(f"thing {i}?\n" for i in range(30)))
    return shell


def _asked(school: Shell) -> str:
    return str(school.home.path / "asked.txt")


@pytest.mark.slow
def test_distil_says_how_far_it_is_and_what_it_came_to(school: Shell) -> None:
    found = school.run("distil", "--from", "big", "--prompts", _asked(school), "--epochs", "1")
    assert "big is asked 30 openings" in found.stderr
    assert "30 openings of 30 answered, 360 tokens drawn" in found.stderr
    assert "30 of 30 answers kept" in found.stderr and "saved: step 1 of 1" in found.stderr
    assert "learned from big" in found.stdout and found.stdout.count("\n") == 1


def test_distil_prints_json(school: Shell) -> None:
    arguments = ("distil", "--from", "big", "--prompts", _asked(school), "--count", "25")
    rows = school.rows(*arguments, "--way", "sequence", "--epochs", "2", "--draws", "2")
    assert rows[0] == {"event": "answers", "openings": 25, "kept": 25, "tokens": 300}
    assert [row["step"] for row in rows[1:-1]] == [0, 2]
    assert rows[1]["loss"] is None and rows[2]["saved"]
    done = rows[-1]
    assert (done["event"], done["ended"], done["steps"]) == ("done", "steps", 2)
    assert done["held_out_after"] < done["held_out_before"]


def test_a_dry_run_shows_the_answers_and_learns_nothing(school: Shell) -> None:
    arguments = ("distil", "--from", "big", "--prompts", _asked(school), "--dry-run")
    assert "thing 3?\n    I like thing 3." in school.run(*arguments).stderr
    rows = school.rows(*arguments)
    assert [row["event"] for row in rows] == ["answer"] * 30 + ["answers"]
    assert not school.journal().lessons()


def test_what_cannot_be_distilled_is_told(school: Shell) -> None:
    assert "cannot teach itself" in school.fails("distil", "--from", "big", "--to", "big")
    assert "does not exist" in school.fails("distil", "--from", "nobody")
    said = school.fails("distil", "--from", "big", "--prompts", "nowhere.txt")
    assert "nowhere.txt: cannot be read" in said
    beta = ("distil", "--from", "big", "--beta", "0.5")
    school.run(*beta, "--way", "sequence", status=2)
    few = school.fails(*beta, "--prompts", _asked(school), "--count", "9")
    assert "neither the book nor a lesson answers: 9" in few, "equal tokenizers"
    few = school.fails("distil", "--from", "big", "--prompts", _asked(school), "--count", "9")
    assert "neither the book nor a lesson answers: 9" in few
