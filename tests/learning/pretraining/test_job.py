"""learning.pretraining.job: the folder of the new model; existing files are not damaged."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from engine.config import CONFIGS
from engine.errors import ConfigError
from engine.storage.checkpoint import save_model
from engine.storage.checkpoint_files import WEIGHTS
from engine.tokenizers.load import load_tokenizer
from engine.tokenizers.ranks import RankTokenizer
from learning.objectives.processes import ProcessGroup
from learning.pretraining.checkpoint import TRAINING
from learning.pretraining.job import Job, check_out, default_out, micro_rows, prepare
from learning.pretraining.loop import PretrainSettings, fresh_model, pretrain

BYTES = {bytes([b]): b for b in range(256)}
OWN, OTHER = RankTokenizer(BYTES), RankTokenizer({**BYTES, b"th": 256, b"er": 257})
CONFIG = replace(CONFIGS["tiny"], vocab_size=OWN.vocab_size)
SETTINGS = PretrainSettings(tokens=64, row=16, rows=2, micro_rows=2)


@pytest.fixture
def job(tmp_path: Path) -> Job:
    """A run that has ended, with a tokenizer of its own."""
    data = tmp_path / "stories.txt"
    data.write_text("\n\n\n".join(f"There were {i} cats." for i in range(20)))
    job = Job((data,), tmp_path / "out", "tiny")
    job.out.mkdir()
    OWN.save(job.out)
    (job.out / TRAINING).touch()  # it is a run: its tokenizer is used
    ready = prepare(job, "cpu")
    (job.out / TRAINING).unlink()
    pretrain(ready.model, ready.stream, SETTINGS, folder=job.out)
    return job


def test_a_model_is_named_after_its_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tales").mkdir()
    monkeypatch.chdir(tmp_path / "tales")
    named = {"a/my_stories.txt": "my_stories", "talk.jsonl.zst": "talk", ".": "tales", "b/": "b"}
    for data, name in named.items():
        assert default_out(Path("models"), Path(data)) == Path("models") / name


@pytest.mark.parametrize("data", ["10m.txt", "x/10m-base.jsonl", ".txt", "/"])
def test_no_name_of_a_model_that_comes_with_vidya(data: str) -> None:
    with pytest.raises(ConfigError, match="--out"):
        default_out(Path("models"), Path(data))


def test_a_model_that_was_taught_since_is_not_written_over(job: Job) -> None:
    check_out(job.out)
    save_model(fresh_model(CONFIG, 1), job.out, metadata={"version": "3"})
    with pytest.raises(ConfigError, match="taught"):
        check_out(job.out)
    (job.out / "model.safetensors").write_bytes(b"cut short")
    check_out(job.out)  # it can be made again


def test_a_model_that_is_taught_while_the_run_goes_on_is_not_written_over(job: Job) -> None:
    ready = prepare(job, "cpu")
    save_model(fresh_model(CONFIG, 1), job.out, metadata={"version": "3"})
    taught = (job.out / WEIGHTS).read_bytes()
    with pytest.raises(ConfigError, match="taught"):
        pretrain(ready.model, ready.stream, replace(SETTINGS, tokens=128), folder=job.out)
    assert (job.out / WEIGHTS).read_bytes() == taught
    (job.out / WEIGHTS).unlink()
    check_out(job.out)
    whole = pretrain(ready.model, ready.stream, replace(SETTINGS, tokens=128), folder=job.out)
    assert whole.tokens == 128


def test_a_run_keeps_its_tokenizer_whatever_is_asked_for(job: Job, tmp_path: Path) -> None:
    start = tmp_path / "start"
    save_model(fresh_model(replace(CONFIG, vocab_size=OTHER.vocab_size), 0), start)
    OTHER.save(start)
    ready = prepare(replace(job, start=start), "cpu")
    assert load_tokenizer(job.out).ranks == ready.tokenizer.ranks == OWN.ranks
    with pytest.raises(ConfigError, match="another shape"):
        pretrain(ready.model, ready.stream, SETTINGS, folder=job.out)


def test_a_micro_batch_divides_the_share_of_a_process() -> None:
    assert [micro_rows(rows, ProcessGroup(0, 2), "cpu") for rows in (2, 12, 32)] == [1, 6, 8]
    with pytest.raises(ConfigError, match="33 rows do not divide among 2 processes"):
        micro_rows(33, ProcessGroup(0, 2), "cpu")


def test_a_new_tokenizer_is_made_though_an_attempt_left_one(job: Job) -> None:
    pytest.importorskip("rustbpe")
    (job.out / TRAINING).unlink()
    tokenizer = prepare(replace(job, new_tokenizer=True), "cpu").tokenizer
    assert tokenizer.ranks != OWN.ranks
    assert load_tokenizer(job.out).ranks == tokenizer.ranks
