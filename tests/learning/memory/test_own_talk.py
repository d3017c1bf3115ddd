"""The model's own talk, which lessons are not to change."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
import torch

from engine.config import CONFIGS
from engine.model import Model
from engine.storage.files import write_atomically
from engine.tokenizers.chat_format import encode_chat
from engine.tokenizers.tokenizer import Tokenizer
from learning.memory.own_talk import (
    FEWEST_ROWS,
    LOOK_BACK,
    LOOK_BACK_LENGTH,
    RENEWED,
    TALK_ROWS,
    generate_talk,
    own_talk,
    recall_talk,
    renewed_talk,
    talk_example,
    talk_rows,
    write_talk,
)
from learning.models.files import TALK


def test_targets_are_what_the_model_says_itself(tiny_tokenizer: Tokenizer) -> None:
    turns = [("user", "Hi"), ("assistant", "Hello."), ("user", "Why?"), ("assistant", "So.")]
    encoded = encode_chat(tiny_tokenizer, turns)
    row = talk_example(tiny_tokenizer, encoded.ids)
    assert row.ids == tuple(encoded.ids)
    assert row.target == tuple(encoded.target)


def test_an_answer_that_was_never_ended_is_no_reason_to_learn_the_owners_words(
    tiny_tokenizer: Tokenizer,
) -> None:
    t = tiny_tokenizer
    row = talk_example(t, [t.user, 5, t.assistant, 6, t.user, 7, t.assistant, 8])
    assert row.target == (False, False, False, True, False, False, False, True)


def test_dreams_begin_with_the_owner_and_are_the_same_for_a_seed(
    tiny_model: Model, tiny_tokenizer: Tokenizer
) -> None:
    first, second = (
        generate_talk(tiny_model, tiny_tokenizer, 4, 16, torch.Generator().manual_seed(3))
        for _ in range(2)
    )
    assert first == second
    assert all(row.ids[0] == tiny_tokenizer.user and len(row.ids) <= 16 for row in first)


def test_conversations_that_look_back_are_whole_where_they_fit(tiny_tokenizer: Tokenizer) -> None:
    rows = recall_talk(tiny_tokenizer, 12, 400)
    assert rows == recall_talk(tiny_tokenizer, 12, 400)
    assert len(rows) == 12 and all(row.targets and len(row.ids) <= 400 for row in rows)
    assert any(row.ids[-1] == tiny_tokenizer.end and row.target[-1] for row in rows)
    assert all(len(row.ids) <= 40 for row in recall_talk(tiny_tokenizer, 12, 40))


def test_own_talk_holds_dreams_and_conversations_that_look_back(
    tiny_model: Model, tiny_tokenizer: Tokenizer, tmp_path: Path
) -> None:
    talk = own_talk(tiny_model, tiny_tokenizer, tmp_path)
    again = own_talk(tiny_model, tiny_tokenizer, tmp_path)
    assert again == talk, "it is kept beside the weights"
    length = min(LOOK_BACK_LENGTH, tiny_model.config.context)
    back = recall_talk(tiny_tokenizer, FEWEST_ROWS // LOOK_BACK, length)
    expected = [e for e in back if e.targets]
    assert talk[-len(expected) :] == expected and len(talk) > len(expected)


def test_a_large_model_dreams_more_than_a_small_one(tiny_model: Model) -> None:
    assert talk_rows(tiny_model) == FEWEST_ROWS
    with torch.device("meta"):
        assert talk_rows(Model(CONFIGS["10m"])) == TALK_ROWS


def test_rows_without_an_answer_anchor_nothing(
    tiny_model: Model, tiny_tokenizer: Tokenizer, tmp_path: Path
) -> None:
    t = tiny_tokenizer
    write_atomically(tmp_path / TALK, f"[[{t.user}, 5, 6], [{t.user}, 5, {t.assistant}, 7]]")
    (row,) = own_talk(tiny_model, t, tmp_path)
    assert row.targets == 1


def test_renewed_talk_has_new_rows_in_place_of_some(
    tiny_model: Model, tiny_tokenizer: Tokenizer, tmp_path: Path
) -> None:
    talk = own_talk(tiny_model, tiny_tokenizer, tmp_path)
    first, second = (
        renewed_talk(tiny_model, tiny_tokenizer, talk, random.Random(5)) for _ in range(2)
    )
    assert first == second, "the same for a seed"
    kept = [e for e in first if e in talk]
    new = RENEWED + RENEWED // LOOK_BACK
    assert len(first) == len(talk) and all(e.targets for e in first)
    assert len(talk) - new <= len(kept) < len(talk)
    other = renewed_talk(tiny_model, tiny_tokenizer, talk, random.Random(6))
    assert {e.ids for e in other} - {e.ids for e in talk} != {e.ids for e in first if e not in kept}


def test_renewing_stops_before_any_token(
    tiny_model: Model, tiny_tokenizer: Tokenizer, tmp_path: Path
) -> None:
    talk, passed = own_talk(tiny_model, tiny_tokenizer, tmp_path), 0

    def pause() -> None:
        nonlocal passed
        passed += 1
        if passed == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        renewed_talk(tiny_model, tiny_tokenizer, talk, random.Random(0), pause=pause)
    assert passed == 3


def test_talk_that_cannot_be_written_is_used_all_the_same(
    tiny_model: Model, tiny_tokenizer: Tokenizer, tmp_path: Path
) -> None:
    (tmp_path / TALK).mkdir()
    talk = own_talk(tiny_model, tiny_tokenizer, tmp_path)
    write_talk(talk, tmp_path)
    assert talk == own_talk(tiny_model, tiny_tokenizer, tmp_path)
