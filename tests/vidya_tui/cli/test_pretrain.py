"""`vidya pretrain` as a person runs it: a file of stories in, a model to talk to out."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import torch

from engine.storage.checkpoint import save_tensors
from learning.pretraining.checkpoint import TRAINING
from tests.signals import heed_signals
from vidya_tui.__main__ import main

if TYPE_CHECKING:
    from engine.model import Model
    from engine.tokenizers.tokenizer import Tokenizer

ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1"}
"""Tiny products on two threads wait for each other longer than they compute."""
TINY = ["--config", "tiny", "--rows", "4", "--row", "32"]


Inside = Callable[..., subprocess.CompletedProcess[str]]


def command(home: Path, *arguments: str) -> list[str]:
    return [sys.executable, "-m", "vidya_tui", *arguments, "--home", str(home)]


def run(home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(home, *arguments),
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )


@pytest.fixture
def inside(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Inside]:
    """Runs a command as `run` does, in this process: for what ends before anything is trained."""
    before = signal.getsignal(signal.SIGTERM)

    def command_here(home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
        line = ["vidya", *arguments, "--home", str(home)]
        monkeypatch.setattr(sys, "argv", line)
        monkeypatch.setattr(sys, "stdin", io.StringIO())
        with pytest.raises(SystemExit) as stop:
            main()
        out, err = capsys.readouterr()
        return subprocess.CompletedProcess(line, int(str(stop.value.code)), out, err)

    yield command_here
    signal.signal(signal.SIGTERM, before)


@pytest.fixture
def stories(tmp_path: Path) -> Path:
    file = tmp_path / "my_stories.txt"
    file.write_text("\n\n\n".join(f"Once there were {i} cats. They slept." for i in range(60)))
    return file


@pytest.mark.slow
def test_a_file_of_stories_becomes_a_model_in_the_home(tmp_path: Path, stories: Path) -> None:
    home = tmp_path / "home"
    made = run(home, "pretrain", str(stories), *TINY, "--tokens", "2560")
    assert made.returncode == 0, made.stderr
    assert 'vidya ask --raw "Once" --model my_stories' in made.stdout
    assert "talk to it" not in made.stdout and "100.0%" in made.stderr
    folder = home / "models" / "my_stories"
    record = json.loads((folder / "record.json").read_text("utf-8"))
    held = record["held_out_bits_per_byte"]
    assert 0 < held["after"]["my_stories"] < held["before"]["my_stories"]
    assert record["data"]["sources"]["my_stories"]["held_out"] >= 1
    assert len(record["curve"]) == 2

    again = run(home, "pretrain", str(stories), *TINY, "--tokens", "2560", "--json")
    assert again.returncode == 0, again.stderr
    assert json.loads(again.stdout)["tokens"] == 2560  # nothing was left to do

    said = run(
        home, "ask", "hello", "-n", "1", "--max-tokens", "4", "--model", "my_stories", "--json"
    )
    assert said.returncode == 0, said.stderr
    assert "plain text only" in said.stderr and "ask --raw" in said.stderr
    asked = json.loads(said.stdout.splitlines()[-1])["ask"]
    raw = run(
        home,
        "ask",
        "Once",
        "--raw",
        "-n",
        "2",
        "--max-tokens",
        "4",
        "--model",
        "my_stories",
        "--json",
    )
    assert raw.returncode == 0 and "plain text" not in raw.stderr, raw.stderr
    *texts, end = [json.loads(line) for line in raw.stdout.splitlines()]
    assert sorted(row["index"] for row in texts) == [1, 2] and end["ask"] is None
    journal = run(home, "journal", "show", "--asks", "--json")
    assert len(journal.stdout.splitlines()) == asked == 1, "what is gone on with is kept nowhere"

    other = run(home, "pretrain", str(stories), *TINY, "--tokens", "5120", "--seed", "7")
    assert other.returncode == 1 and "seed" in other.stderr


@pytest.mark.slow
def test_ctrl_c_saves_and_the_same_command_goes_on(tmp_path: Path, stories: Path) -> None:
    home = tmp_path / "home"
    arguments = ("pretrain", str(stories), *TINY, "--tokens", "1000000", "--json")
    with subprocess.Popen(
        command(home, *arguments),
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=heed_signals,
    ) as process:
        assert process.stdout and process.stderr
        first = json.loads(process.stdout.readline())
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=120)
    assert process.returncode == 130, errors
    assert "goes on from here" in errors and "Traceback" not in errors
    record = json.loads((home / "models" / "my_stories" / "record.json").read_text("utf-8"))
    assert first["tokens"] <= record["tokens"] < 1_000_000
    goes_on = run(home, *arguments[:-3], "--tokens", str(record["tokens"] + 1), "--json")
    assert goes_on.returncode == 0, goes_on.stderr
    assert json.loads(goes_on.stdout.splitlines()[-1])["tokens"] == record["tokens"] + 128


@pytest.mark.parametrize(
    ("name", "content", "extra", "message"),
    [
        ("a.jsonl", '{"text": "good"}\n{"texts": "bad"}\n', [], "a.jsonl:2: "),
        ("a.txt", "", [], "too little text"),
        ("a.txt", "Some text.", ["--config", "huge"], "choose one of: tiny, 10m, 49m"),
        ("a.txt", "Some text.", ["--mixture", "MIX"], "its sources are: a"),
        ("a.txt", "Some text.", ["--from", "99m"], "'99m' does not exist"),
        ("a.txt", "Some text.", ["--row", "4096"], "context"),
        ("a.txt", "Some text.", ["--out", "BASE"], "there is a model already"),
        ("a.txt", "Some text.", ["--device", "banana"], "choose cpu or cuda"),
        ("10m.txt", "Some text.", [], "'10m' is a model that comes with vidya"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(
    tmp_path: Path, inside: Inside, name: str, content: str, extra: list[str], message: str
) -> None:
    (tmp_path / name).write_text(content)
    (tmp_path / "mix.json").write_text('{"storys": 2}')
    base = tmp_path / "base"
    base.mkdir()
    (base / "model.safetensors").write_text("")
    places = {"MIX": str(tmp_path / "mix.json"), "BASE": str(base)}
    options = ["--config", "tiny", *(places.get(word, word) for word in extra)]
    result = inside(tmp_path / "home", "pretrain", str(tmp_path / name), *options)
    assert result.returncode == 1 and result.stdout == ""
    assert message in result.stderr and "Traceback" not in result.stderr


@pytest.mark.parametrize(
    ("mixture", "message"),
    [
        ("[1]", "it must be an object"),
        ('{"a": "twice"}', "the weight of 'a' is 'twice', no number"),
        ('{"a": null}', "the weight of 'a' is None, no number"),
        ('{"a": true}', "the weight of 'a' is True, no number"),
    ],
)
def test_a_mixture_of_the_wrong_kind_is_told_in_words(
    tmp_path: Path, inside: Inside, mixture: str, message: str
) -> None:
    (tmp_path / "a.txt").write_text("Some text.")
    file = tmp_path / "mix.json"
    file.write_text(mixture)
    result = inside(tmp_path, "pretrain", str(tmp_path / "a.txt"), "--mixture", str(file))
    assert result.returncode == 1 and f"{file}: is no mixture ({message})" in result.stderr


@pytest.mark.slow
def test_a_mistyped_file_leaves_no_model_behind(tmp_path: Path) -> None:
    home = tmp_path / "home"
    failed = run(home, "pretrain", str(tmp_path / "storis.txt"), *TINY)
    assert failed.returncode == 1 and "storis.txt" in failed.stderr
    assert not (home / "models").exists()
    (home / "models" / "storis").mkdir(parents=True)
    (home / "models" / "storis" / ".lock").touch()  # as it was left by earlier versions
    asked = run(home, "ask", "hello", "--model", "storis")
    assert "has saved nothing yet" in asked.stderr and "vidya pretrain" in asked.stderr
    run(home, "pretrain", str(tmp_path / "storis.txt"), *TINY)
    asked = run(home, "ask", "hello", "--model", "storis")
    assert "'storis' does not exist" in asked.stderr


@pytest.mark.slow
def test_what_was_trained_on_conversations_talks(tmp_path: Path) -> None:
    turns = [{"role": "user", "text": "What is a?"}, {"role": "assistant", "text": "It is b."}]
    rows = "\n".join(json.dumps({"turns": turns, "n": n}) for n in range(30))
    (tmp_path / "talk.jsonl").write_text(rows)
    made = run(
        tmp_path / "home", "pretrain", str(tmp_path / "talk.jsonl"), *TINY, "--tokens", "256"
    )
    assert made.returncode == 0 and "talk to it: vidya --model talk" in made.stdout, made.stderr


@pytest.mark.slow
def test_bad_rows_are_passed_over_when_asked(tmp_path: Path) -> None:
    rows = ['{"text": "a good row of text"}', "{", '{"text": "and one more of them"}']
    (tmp_path / "a.jsonl").write_text("\n".join(rows))
    data = str(tmp_path / "a.jsonl")
    result = run(tmp_path / "home", "pretrain", data, *TINY, "--tokens", "128", "--skip-bad")
    assert result.returncode == 0, result.stderr
    assert "passed over" in result.stderr and "a.jsonl:2" in result.stderr


@pytest.mark.slow
def test_a_new_tokenizer_only_when_asked_for(tmp_path: Path, stories: Path) -> None:
    pytest.importorskip("rustbpe")
    out = tmp_path / "out"
    result = run(
        tmp_path / "home",
        *("pretrain", str(stories), *TINY, "--tokens", "128"),
        *("--new-tokenizer", "--out", str(out)),
    )
    assert result.returncode == 0, result.stderr
    assert f'vidya ask --raw "Once" --model {out}' in result.stdout
    assert json.loads((out / "config.json").read_text("utf-8"))["vocab_size"] <= 512


@pytest.fixture
def three_sources(tmp_path: Path) -> Path:
    """Three sources: one with an escape sequence in its name, one with too little text to hold any out."""
    rows = [
        {"text": f"{number**3} {words} {number}", "source": source}
        for source, words in (("talk", "good day to you"), ("\x1b[31mred", "one two three"))
        for number in range(600)
    ]
    rows.append({"text": "a line by itself", "source": "small"})
    file = tmp_path / "mixed.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)))
    return file


@pytest.mark.slow
def test_a_curriculum_divides_the_tokens_and_tells_how(tmp_path: Path, three_sources: Path) -> None:
    home = tmp_path / "home"
    line = ("pretrain", str(three_sources), *TINY, "--tokens", "2560", "--curriculum", "sec")
    made = run(home, *line)
    assert made.returncode == 0, made.stderr
    assert "curriculum sec; measuring took" in made.stdout and "\x1b" not in made.stdout
    assert "of the tokens, value" in made.stdout and "bits per byte, \u241b[31mred" in made.stdout
    assert "without held-out text to measure, small" in made.stdout
    record = json.loads((home / "models" / "mixed" / "record.json").read_text("utf-8"))
    sources = record["curriculum"]["sources"]
    rest = record["curriculum"]["not_measured"]
    assert set(sources) == {"talk", "\x1b[31mred"} and rest["sources"] == ["small"]
    assert sum(one["tokens"] for one in sources.values()) + rest["tokens"] == 2560

    told = run(home, *line, "--json", "--out", str(tmp_path / "again"))
    *steps, done = [json.loads(row) for row in told.stdout.splitlines()]
    assert set(steps[-1]["sources"]["talk"]) == {"tokens", "share", "weight", "value", "fall"}
    assert done["curriculum"]["sources"] == sources, "the same seed draws the same rows"

    other = run(home, *line[:-1], "exp3")
    assert other.returncode == 1 and "other curriculum" in other.stderr
    plain = run(home, *line[:-2], "--json", "--out", str(tmp_path / "plain"))
    *steps, done = [json.loads(row) for row in plain.stdout.splitlines()]
    assert "sources" not in steps[-1] and "curriculum" not in done


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (["--curriculum", "best"], 1, "no curriculum 'best'; choose among: uniform, sec, exp3"),
        (["--curriculum", "thresholds"], 1, "right answers, which text does not have"),
        (["--curriculum", "sec"], 1, "1 of 1 in the data has text both to train on and held out"),
        (["--curriculum", "sec", "--mixture", "MIX"], 2, "leave --mixture out"),
        (["--curriculum-cost", "0.1"], 2, "is for --curriculum"),
        (["--curriculum", "sec", "--curriculum-cost", "2"], 1, "at most 0.5"),
    ],
)
def test_a_curriculum_that_cannot_be_is_refused(
    tmp_path: Path, stories: Path, inside: Inside, words: list[str], status: int, message: str
) -> None:
    (tmp_path / "MIX").write_text('{"my_stories": 2}')
    words = [str(tmp_path / word) if word == "MIX" else word for word in words]
    result = inside(tmp_path / "home", "pretrain", str(stories), *TINY, "--tokens", "256", *words)
    assert result.returncode == status, result.stderr
    assert message in " ".join(result.stderr.split())


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--curriculum", "sec", "--curriculum-cost", "2"], "at most 0.5"),
        (["--rows", "0"], "rows is too small"),
        (["--row", "0"], "row is too small"),
        (["--micro-rows", "0"], "micro_rows is too small"),
        (["--micro-rows", "3"], "do not divide into micro-batches of 3"),
        (["--row", "4096"], "longer than the model's context"),
        (["--decay", "2"], "decay"),
        (["--rows", "3"], "none.txt"),  # odd ones are right: the data is read, and missing
        (["--minutes", "1"], "none.txt"),
    ],
)
def test_wrong_numbers_and_only_these_are_told_before_the_data_is_read(
    tmp_path: Path, inside: Inside, words: list[str], message: str
) -> None:
    result = inside(tmp_path / "home", "pretrain", str(tmp_path / "none.txt"), *TINY, *words)
    assert result.returncode == 1 and message in result.stderr, result.stderr
    assert not (tmp_path / "home" / "models" / "none").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--rows", "8"], "begun with other rows;"),
        (["--row", "16", "--seed", "1"], "begun with other shuffling seed, row size;"),
        ([], "none.txt"),  # the same: the data is read, and missing
    ],
)
def test_what_a_run_was_begun_with_is_told_before_the_data_is_read(
    tmp_path: Path, inside: Inside, words: list[str], message: str
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    begun = {"data": "x", "mixture": {}, "shuffling seed": 0, "row size": 32, "rows": 4}
    save_tensors({"x": torch.zeros(1)}, out / TRAINING, {"identity": json.dumps(begun)})
    line = ("pretrain", str(tmp_path / "none.txt"), *TINY, "--out", str(out), *words)
    result = inside(tmp_path / "home", *line)
    assert result.returncode == 1 and message in " ".join(result.stderr.split()), result.stderr


def test_too_few_sources_are_told_before_the_model_is_measured(
    tmp_path: Path, stories: Path, inside: Inside, monkeypatch: pytest.MonkeyPatch
) -> None:
    def measured(_: object) -> dict[str, float]:
        raise AssertionError("this takes minutes with much held-out text")

    monkeypatch.setattr("learning.pretraining.job.PreparedRun.measure", measured)
    line = ("pretrain", str(stories), *TINY, "--tokens", "256", "--curriculum", "sec")
    result = inside(tmp_path / "home", *line)
    assert result.returncode == 1 and "leave --curriculum out" in result.stderr, result.stderr


def test_two_limits_are_wrong_usage(tmp_path: Path, stories: Path, inside: Inside) -> None:
    both = ["--tokens", "5", "--minutes", "1"]
    assert inside(tmp_path / "home", "pretrain", str(stories), *both).returncode == 2


def test_a_model_to_go_on_from_has_its_tokenizer(
    tmp_path: Path, stories: Path, inside: Inside
) -> None:
    both = ["--from", "10m-base", "--new-tokenizer"]
    assert inside(tmp_path / "home", "pretrain", str(stories), *both).returncode == 2


def test_lives_need_a_model_that_talks(tmp_path: Path, stories: Path, inside: Inside) -> None:
    result = inside(tmp_path / "home", "pretrain", str(stories), "--lives")
    assert result.returncode == 2
    assert "name it with --from" in result.stderr


@pytest.mark.slow
def test_a_model_learns_to_be_taught(
    tmp_path: Path, tiny_model: Model, tiny_tokenizer: Tokenizer
) -> None:
    from engine.storage.checkpoint import save_model

    home = tmp_path / "home"
    save_model(tiny_model, home / "models" / "small")
    tiny_tokenizer.save(home / "models" / "small")
    turns = [{"role": "user", "text": "What is a?"}, {"role": "assistant", "text": "It is b."}]
    rows = "\n".join(json.dumps({"turns": turns, "n": n}) for n in range(30))
    (tmp_path / "talk.jsonl").write_text(rows)
    line = ("pretrain", str(tmp_path / "talk.jsonl"), "--from", "small", "--lives", "--rows", "2")
    made = run(home, *line, "--row", "32", "--tokens", "256")
    assert made.returncode == 0 and "talk to it: vidya --model talk" in made.stdout, made.stderr
    record = json.loads((home / "models" / "talk" / "record.json").read_text("utf-8"))
    assert record["settings"]["lives"] is True
    assert record["settings"]["adam_lr"] == 0.0004
