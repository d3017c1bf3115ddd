"""Lessons as vectors of the sentence encoder."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from engine.encoder import shipped_encoder
from learning.memory import lesson_vectors as module
from learning.memory.lesson_vectors import (
    KnownAnswer,
    keep_vectors,
    kept_vectors,
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


def test_vectors_are_kept_of_each_line_and_of_this_encoder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "vectors.safetensors"
    assert kept_vectors(path, [JOB]) == {}
    vectors = dict(zip((JOB, DOG), lesson_vectors(shipped_encoder(), [JOB, DOG]), strict=True))
    keep_vectors(path, vectors)
    kept = kept_vectors(path, [DOG, SISTER, JOB])
    assert kept.keys() == {DOG, JOB}
    assert all(torch.equal(kept[one], vectors[one]) for one in kept)
    monkeypatch.setattr(module, "shipped_encoder_mark", lambda: "another")
    assert kept_vectors(path, [DOG]) == {}
    monkeypatch.undo()
    keep_vectors(path, {one: vector[:5] for one, vector in vectors.items()})
    assert kept_vectors(path, [DOG]) == {}, "of another size"
    keep_vectors(path, {one: vector / 0.0 for one, vector in vectors.items()})
    assert kept_vectors(path, [DOG]) == {}, "not finite"
    keep_vectors(tmp_path / "nowhere" / "vectors.safetensors", vectors)  # it cannot be written
