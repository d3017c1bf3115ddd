from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from click.testing import CliRunner

import learning.practice.request
import vidya_tui.cli.practice
from learning.journal.practices import add_practice_step, begin_practice, end_practice
from learning.practice.settings import PracticeSettings, WarmUpSettings
from learning.protocol.events import Event, PracticeSample, PracticeStep
from tests.sums import register
from tests.vidya_tui.shell import Shell
from vidya_tui.cli.main import cli
from vidya_tui.options import Options

WARM_UP = WarmUpSettings(lr=5e-3, measure_every=5, measured=32, enough=0.2, steps=100)
QUICK = PracticeSettings(
    groups=2, group_size=4, max_tokens=6, updates=1, held_out=4, measure_every=2, warm_up=WARM_UP
)
ASKED = {"step", "reward_mean", "reward_std", "dead_groups", "kl", "loss", "accuracy"}
ASKED |= {"tokens", "seconds"}


@pytest.fixture
def gym(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> Shell:
    """The shell, with tasks that a tiny model learns in a second, or never. A practice without a seed has
    seed 0: with one of chance an untrained model is right now and then, and needs no warm-up."""
    register(monkeypatch)
    monkeypatch.setattr("learning.practice.request.PracticeJob._new_seed", lambda _: 0)
    monkeypatch.setattr(learning.practice.request, "PracticeSettings", lambda: QUICK)
    return shell


@pytest.mark.slow
def test_practice_prints_its_steps_and_what_it_came_to(gym: Shell) -> None:
    result = gym.run("practice", "easy", "--warm-up", "--steps", "3", "--group-size", "5", "--json")
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    steps = [row for row in rows if "event" not in row]
    assert [row["step"] for row in steps] == [1, 2, 3]
    assert all(row.keys() >= ASKED for row in steps)
    assert steps[0]["accuracy"] is not None
    assert rows[0]["event"] == "settings" and rows[0]["options"]["lr"] == "5e-05"
    assert rows[1]["event"] == "look" and rows[1]["stage"] == "before"
    assert any(row.get("event") == "warm_up" for row in rows)
    done = rows[-1]
    assert (done["event"], done["ended"], done["steps"]) == ("done", "steps", 3)
    samples = [row for row in rows if row.get("event") == "sample"]
    assert samples[0]["prompt"].endswith("=") and "correct" in samples[0]["components"]


@pytest.mark.slow
def test_practice_says_what_it_does_in_plain_words(gym: Shell) -> None:
    result = gym.run("practice", "easy", "--warm-up", "--steps", "1")
    assert "before: held-out accuracy" in result.stderr
    assert "after warm-up" in result.stderr and "saved" in result.stderr
    assert "step 1 of 1" in result.stderr and "nothing to compare in" in result.stderr
    assert result.stdout.startswith("easy: held-out accuracy")
    assert result.stdout.count("\n") == 1
    report = gym.run("practice", "--report").stdout
    assert report.startswith("easy: 1 step in ")
    assert gym.rows("practice", "--report")[0]["task"] == "easy"
    assert "practice" in gym.run("journal", "show").stdout
    everything = gym.run("journal", "export", "--format", "jsonl").stdout
    assert '"practice"' in everything
    assert gym.rows("model", "snapshots")[0]["version"] == 0


@pytest.mark.slow
def test_what_is_too_hard_ends_with_advice(gym: Shell) -> None:
    said = gym.fails("practice", "hard", "--steps", "9", "--no-warm-up")
    assert said.count("no group has a right answer") == 1
    assert "vidya practice hard --warm-up begins with worked examples" in said


@pytest.mark.slow
def test_a_setting_may_hold_spaces_and_the_advice_can_be_pasted(gym: Shell) -> None:
    words = ("--no-warm-up", "--steps", "9", "--option", "patience=1")
    said = gym.fails("practice", "syllogism", "--set", "forms=all,some not", *words)
    assert "vidya practice syllogism 'forms=all,some not' --warm-up begins with" in said


def test_what_cannot_be_practised_is_told(gym: Shell) -> None:
    assert "did you mean" in gym.fails("practice", "sylogism")
    assert "write it as name=value" in gym.fails("practice", "easy", "--set", "most")
    assert gym.run("practice", status=2).output.count("name a task") == 1
    assert gym.run("practice", "easy", "--group-size", "1", status=2)


@pytest.mark.slow
def test_an_alarm_of_a_step_is_told_once(gym: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("learning.practice.run.MISMATCH", -1.0)
    result = gym.run("practice", "easy", "--no-warm-up", "--steps", "1")
    assert result.stderr.count("alarm: drawn log-probabilities are off by") == 1
    assert "alarm" not in result.stdout


@pytest.mark.slow
def test_several_tasks_by_a_curriculum(gym: Shell) -> None:
    words = ("practice", "easy", "easy", "most=3", "--curriculum", "exp3", "--steps", "1", "--json")
    rows = gym.rows(*words, "--no-warm-up", "--seed", "0")
    assert rows[0]["task"] == "easy × 2" and rows[0]["changed"]["curriculum.method"] == "exp3"
    arms = [["easy", "easy most=3"]] * 2
    assert [list(row["by_arm"]) for row in rows if row.get("event") == "look"][:1] == arms[:1]
    [step] = [row for row in rows if "event" not in row]
    assert [arm["name"] for arm in step["arms"]] == arms[0]
    assert step["arms"][0].keys() >= {"weight", "accuracy", "value", "success", "groups"}
    assert rows[-1]["arms_before"].keys() == rows[-1]["arms_after"].keys() == set(arms[0])


def test_curricula_and_arms_that_cannot_be_meant(gym: Shell) -> None:
    wrong = gym.run("practice", "easy", "--curriculum", "best", status=1)
    assert "uniform, thresholds, sec, exp3, progress" in str(wrong.exception)
    twice = gym.run("practice", "easy", "easy", status=1)
    assert "named twice" in str(twice.exception)
    data = gym.run("practice", "easy", "hard", "--data", "problems.jsonl", status=1)
    assert "--data goes with one task" in str(data.exception)


def test_the_tasks_are_listed(gym: Shell) -> None:
    listed = gym.run("practice", "--list").stdout
    assert "syllogism" in listed and "chain_sum" in listed
    names = {row["name"] for row in gym.rows("practice", "--list")}
    assert {"easy", "syllogism", "basic_arithmetic"} <= names


def test_kept_answers_that_were_cut_off_say_so(gym: Shell) -> None:
    journal = gym.journal()
    run = begin_practice(journal, "easy", {})
    sample = PracticeSample(1, "1+1=", "1+1+", 0.0, {"correct": 0.0}, truncated=True)
    add_practice_step(journal, run, 1, {}, [sample])
    journal.close()
    assert gym.run("practice", "--samples", str(run)).stdout.endswith("1+1+ (cut off)\n")
    assert gym.rows("practice", "--samples", str(run))[0]["truncated"] is True


def test_nothing_was_practised(gym: Shell) -> None:
    assert "nothing was practised" in gym.run("practice", "--report").stdout


def test_the_report_tells_which_rung_is_new(gym: Shell) -> None:
    journal = gym.journal()
    rung = "chain_sum max_terms=3 min_terms=3"
    run = begin_practice(journal, "chain_sum", {"model": "tiny"})
    end_practice(journal, run, {"joined": [rung]})
    begin_practice(journal, "chain_sum", {"model": "tiny"})
    journal.close()
    said = gym.run("practice", "--report").stdout
    assert f"New: {rung}, because chain_sum is solved or nearly so" in said
    assert gym.rows("practice", "--report")[-1] == {"event": "joined", "arms": [rung]}


@pytest.mark.slow
def test_ctrl_c_ends_after_the_step_and_keeps_what_was_gained(
    gym: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    pressed: list[Event] = []
    show = vidya_tui.cli.practice._print

    def pressing(event: Event, options: Options) -> None:
        show(event, options)
        if isinstance(event, PracticeStep) and not pressed:
            pressed.append(event)
            raise KeyboardInterrupt

    monkeypatch.setattr(vidya_tui.cli.practice, "_print", pressing)
    result = CliRunner().invoke(
        cli,
        ["practice", "easy", "--warm-up", "--steps", "5000", "--home", str(gym.home.path)],
    )
    assert result.exit_code == 1 and "Aborted" in result.output  # 130 in `main`
    assert "ctrl+c again drops it" in result.stderr
    assert "stopped; what was gained so far is kept" in result.stdout
    (lesson,) = gym.journal().lessons(kinds=["practice"])
    assert lesson.state == "learned"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--list", "--runs"), "--list and --runs do not go together"),
        (("--samples", "1", "--again", "1"), "--samples and --again do not go together"),
        (("easy", "--samples", "1"), "--samples practises nothing: leave 'easy' out"),
        (("easy", "max_terms=2", "--report"), "--report practises nothing"),
    ],
)
def test_what_would_be_left_undone_is_refused(
    gym: Shell, words: tuple[str, ...], said: str
) -> None:
    assert said in gym.run("practice", *words, status=2).output


def test_a_run_without_answers_is_told(gym: Shell) -> None:
    run = str(begin_practice(gym.journal(), "easy", {}))
    assert gym.run("practice", "--samples", run).stdout == f"no answer was kept of run {run}\n"
    assert "no answer was kept" in gym.run("practice", "--samples", run, "--by", "correct").stdout
    assert gym.rows("practice", "--samples", run) == []


def test_no_runs_are_told(gym: Shell) -> None:
    result = gym.run("practice", "--runs")
    assert (result.stdout, result.stderr) == (
        "",
        "nothing was practised yet; `vidya practice chain_sum` begins\n",
    )
    assert gym.rows("practice", "--runs") == []


def test_what_tasks_are_stands_in_one_column(shell: Shell) -> None:
    told = {row["name"]: row["what"] for row in shell.rows("practice", "--list")}
    lines = shell.run("practice", "--list").stdout.splitlines()
    columns = {line.index(f" {told[line.split()[0]]}") for line in lines}
    assert len(columns) == 1 and len(lines) == len(told)


def test_options_are_told_before_the_model_is_loaded(gym: Shell) -> None:
    said = gym.fails("practice", "easy", "--option", "normalize=by_answer")
    assert "practice has no option 'normalize'" in said and "buffer_size" in said
    said = gym.fails("practice", "easy", "--option", "advantages=best")
    assert "group, dr_grpo, batch" in said
    assert "write it as name=value" in gym.fails("practice", "easy", "--option", "lr")
    assert gym.run("practice", "easy", "--again", "1", status=2)
    assert gym.run("practice", "--again", "1", "--examples", "2", status=2)
    assert gym.run("practice", "--again", "1", "--self-play", status=2)
    seeded = gym.run("practice", "--again", "1", "--seed", "5", status=2)
    assert "settings and seed from that run" in seeded.output
    assert "--examples 16" in gym.fails("practice", "easy", "--order", "random")
    words = ("--examples", "1", "--order", "best")
    assert "none, random, easy_to_hard, hard_to_easy, blocks" in gym.fails(
        "practice", "easy", *words
    )
    assert "of one task" in gym.fails("practice", "easy", "hard", "--examples", "1")
    assert "practice 7 is not in the journal" in gym.fails("practice", "--again", "7")


@pytest.mark.slow
def test_a_run_is_listed_shown_and_repeated(gym: Shell) -> None:
    words = ("--option", "normalise=by_answer", "--option", "max_age=1", "--seed", "3")
    gym.run("practice", "easy", "--warm-up", "--steps", "10", *words)
    (run,) = gym.rows("practice", "--runs")
    assert (run["id"], run["task"], run["record"]["seed"]) == (1, "easy", 3)
    assert run["record"]["options"]["normalise"] == "by_answer"
    assert "1: seed 3: easy: held-out accuracy" in gym.run("practice", "--runs").stdout
    shown = gym.run("practice", "--samples", "1").stdout
    assert shown.startswith("step 1: ") and shown.count("correct") >= 10
    all_of_them = gym.rows("practice", "--samples", "1")
    right = gym.rows("practice", "--samples", "1", "--by", "correct")
    wrong = gym.rows("practice", "--samples", "1", "--by", "correct=0")
    none = gym.run("practice", "--samples", "1", "--by", "correct=0.25").stdout
    assert none == "no answer has correct=0.25\n"
    assert {row["components"]["correct"] for row in right} == {1.0}
    assert len(right) + len(wrong) == len(all_of_them) > len(right) > 0
    assert "choose among: correct" in gym.fails("practice", "--samples", "1", "--by", "calls")
    assert gym.run("practice", "--by", "correct", status=2)
    gym.run("model", "rollback", "0")
    said = gym.run("practice", "--again", "1").stderr
    assert "run 2, seed 3" in said and "differs" not in said
    assert "again: 10 of 10 steps are the same as in run 1, to the last digit" in said
    assert "differs: it began with other weights" in gym.run("practice", "--again", "1").stderr
    gym.run("practice", "easy", "--warm-up", "--steps", "0")
    assert (
        "no step after warm-up to compare with run 4" in gym.run("practice", "--again", "4").stderr
    )


@pytest.mark.slow
def test_one_example_in_json(gym: Shell) -> None:
    words = ("--examples", "1", "--example", "17", "--steps", "2", "--warm-up")
    first, *rows = gym.rows("practice", "easy", *words)
    assert first["changed"]["few.examples"] == "1" and first["changed"]["few.example"] == "17"
    steps = [row for row in rows if "reward_mean" in row]
    assert steps and all([arm["name"] for arm in step["arms"]] == ["example 17"] for step in steps)


@pytest.mark.slow
def test_self_play_in_json_and_in_words(gym: Shell) -> None:
    words = ("--option", "self_play.questions=2", "--option", "self_play.answers=2")
    words = ("--self-play", *words, "--option", "max_tokens=12")
    first, *rows = gym.rows("practice", "asked", *words, "--steps", "2", "--warm-up")
    assert first["changed"]["self_play.questions"] == "2", "a number of your own counts"
    steps = [row for row in rows if "reward_mean" in row]
    assert [step["asking"]["asked"] for step in steps] == [8, 8]
    assert all(step["asking"].keys() >= {"valid", "distinct", "levels"} for step in steps)
    assert rows[-1]["event"] == "done" and "asked_after" in rows[-1]
    said = gym.run("practice", "--again", "1", "--steps", "1").stderr
    assert "questions: 8 asked" in said and "self_play.questions=2" in said
    assert "no program can answer" in gym.fails("practice", "easy", "--self-play")
    assert "does not go with several tasks" in gym.fails("practice", "asked", "easy", "--self-play")
    plain = gym.rows("practice", "asked", "--steps", "1", "--no-warm-up")
    assert all(row["asking"] is None for row in plain if "reward_mean" in row)


@pytest.mark.slow
def test_options_of_every_practice_are_in_the_settings(gym: Shell) -> None:
    gym.home.settings_path.write_text('practice_options = "held_out=3 lr=1e-5"\n')
    rows = gym.rows("practice", "easy", "--steps", "0", "--option", "lr=2e-5", "--no-warm-up")
    assert rows[0]["changed"]["held_out"] == "3" and rows[0]["changed"]["lr"] == "2e-05"


@pytest.mark.slow
def test_processes_of_torchrun_practise_together_in_one_home(shell: Shell) -> None:
    """The first one alone speaks and saves; the others work in copies of the home, which are removed."""
    command = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2"]
    command += ["-m", "vidya_tui", "practice", "chain_sum", "--no-warm-up", "--json"]
    for option in ("steps=1", "held_out=5", "groups=3", "max_tokens=4"):
        command += ["--option", option]
    folder = shell.home.path.parent
    done = subprocess.run(
        [*command, "--home", str(shell.home.path)],
        env={**os.environ, "OMP_NUM_THREADS": "1", "TMPDIR": str(folder)},
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr
    events = [json.loads(line).get("event") for line in done.stdout.splitlines()]
    assert events[0] == "settings" and (events.count("done"), events.count(None)) == (1, 1)
    (run,) = shell.rows("practice", "--runs")
    assert run["record"]["processes"] == 2
    assert not list(folder.glob("vidya-process-*"))
