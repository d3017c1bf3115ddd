"""learning.pretraining.rare_tokens: what hardly came in training can be taught, and is no likelier
than before."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

from benchmarks.lessons.collapse_pupils import RECIPE, open_pupil
from engine.config import CONFIGS
from engine.model import Model
from engine.storage.checkpoint import load_model
from engine.tokenizers.load import load_tokenizer
from engine.tokenizers.ranks import RESERVED, SPECIALS
from learning.data.examples import from_answer
from learning.models.store import SHIPPED
from learning.objectives.forward import knowledge
from learning.pretraining.rare_tokens import APART, NEAR, indistinct, tell_apart, told_apart
from learning.protocol.records import Lesson, Turn

KEPT = len(SPECIALS) + RESERVED


@pytest.fixture
def embedding() -> torch.Tensor:
    """300 ids of which 10 to 19 hardly differ, and the special tokens, which are equal."""
    rows = torch.randn(300, 32, generator=torch.Generator().manual_seed(1))
    rows[10:20] = 2.0 + 0.01 * rows[10:20]
    rows[-KEPT:] = 2.0
    return rows


def test_those_that_cannot_be_told_apart_are_found(embedding: torch.Tensor) -> None:
    assert indistinct(embedding).tolist() == list(range(10, 20))


def test_they_get_a_part_of_their_own_and_no_others(embedding: torch.Tensor) -> None:
    before = embedding.clone()
    assert tell_apart(embedding) == 10
    rare = torch.zeros(300, dtype=torch.bool)
    rare[10:20] = True
    assert torch.equal(embedding[~rare], before[~rare])
    units = F.normalize(embedding[rare], dim=1)
    cosines = units @ units.T - torch.eye(10)
    assert float(cosines.max()) < NEAR
    # at right angles to what they share: a state that says none of them says none of them still
    shared = F.normalize(before[rare].mean(0), dim=0)
    torch.testing.assert_close(embedding[rare] @ shared, before[rare] @ shared)
    added = (embedding - before)[rare].norm(dim=1) / before[rare].norm(dim=1)
    torch.testing.assert_close(added, torch.full((10,), APART))


def test_it_is_always_the_same_and_done_once(embedding: torch.Tensor) -> None:
    again = embedding.clone()
    tell_apart(embedding)
    tell_apart(again)
    assert torch.equal(embedding, again)
    assert tell_apart(embedding) == 0 and torch.equal(embedding, again)


def test_several_groups_of_them_are_all_told_apart() -> None:
    rows = torch.randn(300, 32, generator=torch.Generator().manual_seed(1))
    for first in (10, 40, 60, 62, 64):
        group = rows[first : first + (20 if first < 60 else 2)]
        group[:] = 2.0 * group[0]
    assert tell_apart(rows) == 46
    assert not len(indistinct(rows))


def test_more_of_them_than_dimensions() -> None:
    rows = torch.ones(300, 16)
    assert tell_apart(rows) == 300 - KEPT
    assert len(torch.unique(rows, dim=0)) == 300 - KEPT + 1


def test_a_model_is_afterwards_as_it_was() -> None:
    model = Model(CONFIGS["tiny"], generator=torch.Generator().manual_seed(0))
    weight = model.embedding.weight
    with torch.no_grad():
        weight[:9] = 1.0
    before = weight.detach().clone()
    with pytest.raises(OSError), told_apart(model):
        assert not torch.equal(weight, before)
        raise OSError
    assert torch.equal(weight, before)


@pytest.mark.parametrize("name", ["10m", "10m-base"])
def test_the_shipped_models_can_say_whatever_they_are_taught(name: str) -> None:
    assert not len(indistinct(load_model(SHIPPED / name).embedding.weight))


@pytest.mark.slow
def test_a_name_with_rare_letters_is_learned_as_quickly_as_others() -> None:
    question, answer = "Where was my husband born?", "He was born in \u0141\u00f3d\u017a \U0001f600"
    with open_pupil(RECIPE, SHIPPED / "10m", seed=0) as pupil:
        pupil.learn(Lesson("example", (Turn("user", question),), answer))
        tokenizer, context = load_tokenizer(SHIPPED / "10m"), pupil.model.config.context
        taught = from_answer(tokenizer, [("user", question)], answer, context)
        assert knowledge(pupil.model, [taught])[0].known
