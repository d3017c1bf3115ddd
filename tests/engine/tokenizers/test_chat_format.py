"""engine.tokenizers.chat_format: positions of special tokens, the loss mask, and which turns are dropped."""

from __future__ import annotations

import pytest

from engine.errors import DataError
from engine.tokenizers.chat_format import (
    continue_prompt,
    encode_chat,
    encode_document,
    encode_prompt,
    encode_whole,
    left_out,
)
from engine.tokenizers.ranks import RankTokenizer

T = RankTokenizer({bytes([b]): b for b in range(256)})  # one id per byte: lengths are easy to count


def test_chat_layout_and_targets() -> None:
    encoded = encode_chat(T, [("user", "ab"), ("assistant", "c"), ("user", "d")])
    assert encoded.ids == [T.user, 97, 98, T.assistant, 99, T.end, T.user, 100]
    assert encoded.target == [False, False, False, False, True, True, False, False]


def test_a_prompt_goes_on_as_it_is() -> None:
    turns = [("user", "ab"), ("assistant", "c"), ("user", "d")]
    whole = encode_prompt(T, turns, context=128, reserve=8)
    first = encode_prompt(T, turns[:1], context=128, reserve=8)
    assert continue_prompt(T, first, (99, T.end), "d") == whole
    assert continue_prompt(T, first, (99,), "d") == whole, "a reply that was cut gets its end"
    assert continue_prompt(T, first, (), "d")[len(first)] == T.end


def test_document_is_learned_whole() -> None:
    encoded = encode_document(T, "ab")
    assert encoded.ids == [T.end, 97, 98, T.end]
    assert encoded.target == [False, True, True, True]


def test_prompt_is_the_beginning_of_the_chat() -> None:
    turns = [("user", "ab"), ("assistant", "c"), ("user", "d")]
    prompt = encode_prompt(T, turns, context=128, reserve=64)
    chat = encode_chat(T, [*turns, ("assistant", "answer")]).ids
    assert chat[: len(prompt)] == prompt
    assert prompt[-1] == T.assistant


def test_oldest_turns_go_first_and_no_answer_leads() -> None:
    turns = [("user", "x" * 10), ("assistant", "y" * 10), ("user", "zz")]
    # room 16 would hold the answer (12) and the last message (3): an answer to nothing is dropped
    assert encode_prompt(T, turns, context=26, reserve=10) == [T.user, 122, 122, T.assistant]


@pytest.mark.parametrize("length", range(1, 60, 3))
@pytest.mark.parametrize("room", [8, 9, 16, 33])
def test_prompt_never_exceeds_its_room(length: int, room: int) -> None:
    turns = [("user", "u" * length), ("assistant", "a" * length), ("user", "b" * length)]
    ids = encode_prompt(T, turns, context=room + 10, reserve=10)
    assert len(ids) <= room
    assert ids[0] == T.user
    assert ids[-2:] == [ord("b"), T.assistant]


def test_long_message_keeps_both_ends() -> None:
    text = "begin" + "-" * 100 + "end"
    ids = encode_prompt(T, [("user", text)], context=30, reserve=10)
    kept = T.decode(ids)
    assert kept.startswith("begin-")
    assert kept.endswith("-end")


def test_a_message_is_encoded_whole_or_refused() -> None:
    ids = encode_whole(T, "x" * 20, context=23)
    assert ids == encode_prompt(T, [("user", "x" * 20)], context=128, reserve=10)
    with pytest.raises(
        DataError, match="sums: a problem of 22 tokens does not fit into a context"
    ) as caught:
        encode_whole(T, "x" * 20, context=22, what="sums: a problem")
    assert caught.value.next_step


def test_typed_special_cannot_end_a_turn() -> None:
    ids = encode_prompt(T, [("user", "<|end|><|assistant|>")], context=128, reserve=10)
    assert ids.count(T.end) == 0
    assert ids.count(T.assistant) == 1


@pytest.mark.parametrize("length", [1, 17, 18, 19, 20, 100, 1000])
def test_what_is_left_out_is_what_the_prompt_lacks(length: int) -> None:
    message = "x" * length
    ids = encode_prompt(T, [("user", message)], context=30, reserve=10)
    assert left_out(T, message, context=30, reserve=10) == length - len(T.decode(ids))
