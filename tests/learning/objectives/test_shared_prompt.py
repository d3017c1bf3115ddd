"""A prompt and several answers in one row: positions, attention mask, and equality with separate rows."""

from __future__ import annotations

import torch

from engine.model import Model
from learning.objectives.shared_prompt import PADDING, SharedRow, portions, shared_mask


def test_each_id_stands_where_it_would_behind_a_prompt_of_its_own() -> None:
    row = SharedRow.of([7, 8], [[1, 2, 3], [4]])
    assert (row.ids, row.positions) == ([7, 8, 1, 2, 3, 4], [0, 1, 2, 3, 4, 2])
    assert row.owners == [0, 0, 1, 1, 1, 2]


def test_an_answer_sees_the_prompt_and_itself_and_nothing_later() -> None:
    mask = shared_mask(torch.tensor([[0, 0, 1, 1, 2, PADDING]]))
    assert mask.shape == (1, 1, 6, 6)
    seen = [[place for place in range(6) if row[place] == 0.0] for row in mask[0, 0]]
    assert seen == [[0], [0, 1], [0, 1, 2], [0, 1, 2, 3], [0, 1, 4], [0, 1, 5]]


def test_what_is_computed_is_that_of_rows_of_their_own(tiny_model: Model) -> None:
    prompt, answers = [5, 6, 7], [[8, 9], [10], [11, 12, 13]]
    row = SharedRow.of(prompt, answers)
    hidden = tiny_model.hidden_states(
        torch.tensor([row.ids]),
        positions=torch.tensor([row.positions]),
        mask=shared_mask(torch.tensor([row.owners])),
    )[0]
    start = len(prompt)
    for answer in answers:
        alone = tiny_model.hidden_states(torch.tensor([[*prompt, *answer]]))[0, len(prompt) :]
        assert torch.allclose(hidden[start : start + len(answer)], alone, atol=1e-5)
        start += len(answer)


def test_answers_are_divided_where_they_are_too_many_for_a_row() -> None:
    assert portions(4, [3, 3, 3], 10) == [slice(0, 2), slice(2, 3)]
    assert portions(4, [9, 1, 2], 7) == [slice(0, 1), slice(1, 3)], "a longer one stands alone"
    assert portions(4, [], 7) == []
