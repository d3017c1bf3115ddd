"""A whole run of training a sentence encoder, and its command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F

from engine.encoder import SentenceEncoder, load_encoder
from engine.errors import ConfigError
from learning.encoder_training.__main__ import main
from learning.encoder_training.run import new_encoder, placed_texts, train_encoder
from learning.encoder_training.settings import EncoderSettings
from learning.encoder_training.tokens import token_texts, word_tokenizer

SETTINGS = EncoderSettings(steps=3, vocabulary=300, blocks=1, sentences=8, lives=0, save_every=2)


class Teacher:
    """Places texts by their lengths."""

    def __init__(self, size: int = 3) -> None:
        self.size = size

    def encode(self, texts: list[str]) -> torch.Tensor:
        found = torch.tensor([[len(text) % 7, len(text) % 5, 1.0, 1.0] for text in texts])
        return F.normalize(found[:, : self.size], dim=-1)


@pytest.fixture
def text(tmp_path: Path) -> Path:
    rows = [
        {"source": "s", "text": f"The {n}th day was like the {n + 1}th one."} for n in range(60)
    ]
    path = tmp_path / "text.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


@pytest.mark.slow
def test_a_run_writes_an_encoder_and_goes_on_where_it_ended(text: Path, tmp_path: Path) -> None:
    pytest.importorskip("rustbpe")
    out, lines = tmp_path / "out", list[str]()

    def trained() -> object:
        return train_encoder(
            tmp_path,
            [text],
            out,
            SETTINGS,
            lines.append,
            lambda _: Teacher(),  # type: ignore[arg-type, return-value]
        )

    trained()
    assert {path.name for path in out.iterdir()} >= {
        "encoder.safetensors",
        "config.json",
        "log.txt",
    }
    found = load_encoder(out)
    assert found.size == 3 and len(found.model.blocks) == 1
    assert sum("written after step" in line for line in lines) == 2
    assert "the nearest lesson of unseen lives" in lines[-1]
    lines.clear()
    trained()
    assert any("goes on after step 3" in line for line in lines)
    assert not any("the teacher has placed" in line for line in lines), "its vectors are kept"


@pytest.mark.slow
def test_an_encoder_is_trained_further_with_what_people_told(text: Path, tmp_path: Path) -> None:
    pytest.importorskip("rustbpe")
    owners = tmp_path / "owners.jsonl"
    rows = [
        {
            "owner": 1,
            "half": "tune",
            "said": f"the {n}th was red",
            "asked": [f"{way} was the {n}th" for way in ("what", "how", "when", "who", "where")],
            "unknown": [f"why was the {n}th", f"whose was the {n}th"],
            "neighbour": f"what was the {n + 9}th",
        }
        for n in range(4)
    ]
    owners.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    lines = list[str]()

    def trained(out: Path, size: int, begin: Path | None = None) -> SentenceEncoder:
        teacher = Teacher(size)
        return train_encoder(
            tmp_path,
            [text],
            out,
            SETTINGS,
            lines.append,
            lambda _: teacher,  # type: ignore[arg-type, return-value]
            begin,
            None if begin is None else owners,
        )

    first = trained(tmp_path / "first", 3)
    further = trained(tmp_path / "further", 3, tmp_path / "first")
    assert further.tokenizer.encode(" day") == first.tokenizer.encode(" day")
    assert not torch.equal(further.model.embedding.weight, first.model.embedding.weight)
    assert load_encoder(tmp_path / "further").size == 3
    with pytest.raises(ConfigError, match="its vectors have 3 numbers, the teacher's 4"):
        trained(tmp_path / "other", 4, tmp_path / "first")


def test_before_any_step_a_text_lies_where_its_words_do(text: Path) -> None:
    pytest.importorskip("rustbpe")
    texts = placed_texts([text], SETTINGS)
    assert "day" in texts and texts == placed_texts([text], SETTINGS), "words are placed too"
    tokenizer = word_tokenizer(texts, 300)
    tokens = token_texts(tokenizer)
    (day,) = [at for at, text in tokens.items() if text == "day"]
    first = {at: torch.eye(4)[3 if at == day else at % 3] for at in tokens}
    encoder = new_encoder(tokenizer, first, SETTINGS).requires_grad_(False)
    assert encoder.ids("Day") == [day] and encoder.ids("DAY day") == [day, day]
    assert torch.allclose(encoder.encode(["DAY day"])[0], torch.eye(4)[3], atol=1e-2)


def test_bad_input_is_told_in_a_line(
    text: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(ConfigError, match="60 sentences, a step takes 384"):
        train_encoder(tmp_path, [text], tmp_path / "out", EncoderSettings(), lambda _: None)
    always = ["--teacher", str(tmp_path), "--out", str(tmp_path / "out"), "--sentences", "8"]
    for wrong in (
        ["--text", str(tmp_path / "nothing")],
        ["--text", str(text), "--steps", "0"],
        ["--text", str(text), "--vocabulary", "20"],
        ["--text", str(text), "--vocabulary", "300", "--lives", "0"],
        ["--text", str(text), "--owners", str(tmp_path / "none")],
        ["--text", str(text), "--begin", str(tmp_path / "none"), "--lives", "0"],
    ):
        assert main([*always, *wrong]) == 1
        told = capsys.readouterr().err
        assert told.count("\n") == 1 and "Traceback" not in told
