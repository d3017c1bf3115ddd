"""Lessons as vectors of the sentence encoder."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import Tensor

from engine.encoder import shipped_encoder
from engine.errors import CheckpointError
from learning.memory import lesson_vectors as module
from learning.memory.lesson_vectors import (
    KnownAnswer,
    VectorFile,
    lesson_vectors,
)

JOB = KnownAnswer("What is my job?", "You are a baker.")
DOG = KnownAnswer("What is my dog called?", "Your dog is called Bruno.")
SISTER = KnownAnswer("Where does my sister live?", "Your sister lives in Tromso.")


def test_a_lesson_lies_between_its_question_and_the_whole() -> None:
    encoder = shipped_encoder()
    found = lesson_vectors(encoder, [JOB, DOG])
    assert torch.allclose(found.norm(dim=-1), torch.ones(2), atol=1e-5)
    question, whole = encoder.encode([DOG.question, DOG.text])
    assert found[1] @ question > question @ whole and found[1] @ whole > question @ whole
    assert lesson_vectors(encoder, []).shape == (0, encoder.size)


def test_questions_in_other_words_are_nearest_to_their_lesson() -> None:
    lessons = [JOB, DOG, SISTER]
    known = lesson_vectors(shipped_encoder(), lessons)
    asked = {
        "how do I earn my money?": JOB,
        "tell me my dog's name": DOG,
        "which town is my sister's home in": SISTER,
        "Who is Bruno?": DOG,
    }
    nearest = (shipped_encoder().encode(list(asked)) @ known.T).argmax(-1)
    assert [lessons[at] for at in nearest.tolist()] == list(asked.values())


def vectors_of(*known: KnownAnswer) -> dict[KnownAnswer, Tensor]:
    return dict(zip(known, lesson_vectors(shipped_encoder(), known), strict=True))


def test_vectors_are_kept_of_each_line_and_of_this_encoder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "vectors.safetensors"
    assert VectorFile(path).read([JOB]) == {}
    vectors = vectors_of(JOB, DOG)
    VectorFile(path).keep(vectors)
    kept = VectorFile(path).read([DOG, SISTER, JOB])
    assert kept.keys() == {DOG, JOB}
    assert all(torch.equal(kept[one], vectors[one]) for one in kept)
    monkeypatch.setattr(module, "shipped_encoder_mark", lambda: "another")
    assert VectorFile(path).read([DOG]) == {}
    monkeypatch.undo()
    VectorFile(path).keep({one: vector[:5] for one, vector in vectors.items()})
    assert VectorFile(path).read([DOG]) == {}, "of another size"
    VectorFile(path).keep({one: vector / 0.0 for one, vector in vectors.items()})
    assert VectorFile(path).read([DOG]) == {}, "not finite"
    for other in (torch.float64, torch.float8_e4m3fn, torch.int64):
        VectorFile(path).keep({one: vector.to(other) for one, vector in vectors.items()})
        assert VectorFile(path).read([DOG]) == {}, other
    VectorFile(tmp_path / "nowhere" / "vectors.safetensors").keep(vectors)  # it cannot be written


def test_a_few_new_vectors_are_not_worth_a_writing_and_a_line_that_is_gone_is(
    tmp_path: Path,
) -> None:
    path = tmp_path / "vectors.safetensors"
    file = VectorFile(path, spare=1)
    file.keep(vectors_of(JOB))
    assert not path.exists(), "one is spare"
    file.keep(vectors_of(JOB, DOG))
    written = path.stat().st_mtime_ns
    file.keep(vectors_of(JOB, DOG, SISTER))
    assert path.stat().st_mtime_ns == written, "one more is spare"
    file.keep(vectors_of(DOG, SISTER))
    assert VectorFile(path).read([JOB, DOG, SISTER]).keys() == {DOG, SISTER}
    again = VectorFile(path, spare=1)
    assert again.read([DOG]).keys() == {DOG}
    again.keep(vectors_of(DOG))
    assert VectorFile(path).read([SISTER]) == {}, "what it holds is known from reading it"
    again.keep({})
    assert not path.exists()
    again.keep(vectors_of(JOB, DOG))
    path.unlink()
    again.keep(vectors_of(JOB, DOG))
    assert path.exists(), "it is written again if it is gone"


def test_what_is_dropped_leaves_the_file_and_the_rest_stays(tmp_path: Path) -> None:
    path = tmp_path / "vectors.safetensors"
    VectorFile(path).drop_all_but([JOB])
    assert not path.exists()
    VectorFile(path).keep(vectors_of(JOB, DOG, SISTER))
    VectorFile(path).drop_all_but([SISTER, JOB])
    assert VectorFile(path).read([JOB, DOG, SISTER]).keys() == {JOB, SISTER}
    written = path.stat().st_mtime_ns
    VectorFile(path).drop_all_but([SISTER, JOB, DOG])
    assert path.stat().st_mtime_ns == written, "nothing is to be dropped"
    VectorFile(path).drop_all_but([])
    assert not path.exists()
    path.write_bytes(b"damaged")
    VectorFile(path).drop_all_but([JOB])
    assert not path.exists(), "nobody knows what is in it"
    path.mkdir()
    (path / "mine.txt").touch()
    VectorFile(path).drop_all_but([JOB])
    assert (path / "mine.txt").exists(), "a folder is not of this program"


def test_a_file_that_cannot_be_written_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "vectors.safetensors"
    VectorFile(path).keep(vectors_of(JOB, DOG))

    def full(*_: object) -> None:
        raise CheckpointError("the disk is full", "make room")

    monkeypatch.setattr(module, "save_tensors", full)
    VectorFile(path).drop_all_but([JOB])
    assert not path.exists()
