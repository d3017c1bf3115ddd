from __future__ import annotations

import pytest
import torch

from engine.model import Model
from engine.tokenizers.tokenizer import Tokenizer
from learning.data.examples import from_answer
from learning.distillation.answers import TeacherAnswer
from learning.distillation.targets import KEPT, Matching, hard_targets, soft_targets
from learning.objectives.forward import target_logits

ROWS = [
    TeacherAnswer("What?", "The river runs to the sea, naïve 日本.", "", 1.0, 9),
    TeacherAnswer("Who is there?", "Vidya.", "", 1.0, 9),
]


def test_hard_targets_are_the_tokens_themselves(tiny_tokenizer: Tokenizer) -> None:
    for row, found in zip(ROWS, hard_targets(tiny_tokenizer, ROWS, 128), strict=True):
        assert found.example == from_answer(
            tiny_tokenizer, [("user", row.opening)], row.answer, 128
        )
        assert tuple(found.ids[:, 0].tolist()) == found.example.answer
        assert bool((found.probabilities == 1.0).all())


def test_tokens_are_matched_by_their_bytes(
    teacher_tokenizer: Tokenizer, tiny_tokenizer: Tokenizer
) -> None:
    matching = Matching(teacher_tokenizer, tiny_tokenizer)
    for theirs, ours in enumerate(matching.ids.tolist()):
        if ours < 0:
            continue
        if theirs == teacher_tokenizer.chat.end:
            assert ours == tiny_tokenizer.chat.end
        else:
            assert tiny_tokenizer.decode_bytes([ours]) == teacher_tokenizer.decode_bytes([theirs])
    text = "the sea and the river"
    one, other = teacher_tokenizer.encode(text), tiny_tokenizer.encode(text)
    pairs = matching.pairs(one, other)
    assert pairs
    assert all(
        teacher_tokenizer.decode_bytes([one[i]]) == tiny_tokenizer.decode_bytes([other[j]])
        for i, j in pairs
    )


def test_with_one_tokenizer_every_place_has_the_teachers_distribution(
    teacher: Model, teacher_tokenizer: Tokenizer
) -> None:
    found = soft_targets(teacher, teacher_tokenizer, teacher_tokenizer, ROWS, 128)
    logits, _, rows = target_logits(teacher, [item.example for item in found])
    for place, item in enumerate(found):
        top = logits[rows == place].softmax(-1).topk(KEPT)
        words = item.ids >= 0  # the others are special ids
        assert bool(words.any()) and torch.equal(item.ids[words], top.indices[words])
        torch.testing.assert_close(item.probabilities[words], top.values[words])


def test_across_tokenizers_matched_places_are_soft_and_others_hard(
    teacher: Model, teacher_tokenizer: Tokenizer, tiny_tokenizer: Tokenizer
) -> None:
    found = soft_targets(teacher, teacher_tokenizer, tiny_tokenizer, ROWS, 128)
    soft = 0
    for item in found:
        assert item.ids.shape == item.probabilities.shape == (item.example.targets, KEPT)
        assert bool((item.probabilities.sum(-1) <= 1.0 + 1e-5).all())
        assert bool((item.probabilities[item.ids < 0] == 0.0).all())
        for label, ids, likely in zip(
            item.example.answer, item.ids, item.probabilities, strict=True
        ):
            if float(likely[0]) == 1.0:
                assert int(ids[0]) == label
            else:
                soft += 1
    assert soft
    last = found[0].probabilities[-1]
    assert float(last.max()) < 1.0  # the end of an answer is matched


def test_an_answer_that_one_of_them_cannot_hold_whole_is_hard(
    teacher: Model, teacher_tokenizer: Tokenizer, tiny_tokenizer: Tokenizer
) -> None:
    long = [TeacherAnswer("Go on.", "sea " * 80 + "sea.", "", 1.0, 9)]
    (found,) = soft_targets(teacher, teacher_tokenizer, tiny_tokenizer, long, 64)
    assert bool((found.probabilities[:, 0] == 1.0).all())


@pytest.mark.parametrize("temperature", [0.5, 2.0])
def test_a_higher_temperature_is_less_sure(
    teacher: Model, teacher_tokenizer: Tokenizer, temperature: float
) -> None:
    (usual,) = soft_targets(teacher, teacher_tokenizer, teacher_tokenizer, ROWS[:1], 128)
    (other,) = soft_targets(
        teacher, teacher_tokenizer, teacher_tokenizer, ROWS[:1], 128, temperature=temperature
    )
    less = float(other.probabilities[:, 0].mean()) < float(usual.probabilities[:, 0].mean())
    assert less == (temperature > 1.0)
