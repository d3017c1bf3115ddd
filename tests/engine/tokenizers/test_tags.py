"""engine.tokenizers.tags: an answer with single ids for its tags reads as the text it was made of."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.tokenizers.ranks import RankTokenizer
from engine.tokenizers.tags import TAGS, sections, tagged_ids
from engine.tokenizers.tokenizer import StreamDecoder

BYTES = RankTokenizer({bytes([b]): b for b in range(256)})
THINK, ANSWER, TOOL, RESULT = (BYTES.tags[tag] for tag in TAGS)
TEXT = st.text(st.characters(exclude_categories=["Cs"])).filter(lambda text: "<" not in text)


def test_an_answer_is_its_sections_each_behind_one_id() -> None:
    ids = BYTES.encode_tagged("<think>6 - 5 = 1</think><answer>1</answer>")
    assert ids == [THINK, *b" 6 - 5 = 1", ANSWER, *b" 1"]
    assert (THINK, ANSWER, TOOL, RESULT) == (259, 260, 261, 262), "the first reserved ids"


@given(st.lists(st.tuples(st.sampled_from(TAGS), TEXT), min_size=1))
def test_any_answer_made_of_sections_reads_as_it_was_written(parts: list[tuple[str, str]]) -> None:
    text = "".join(f"<{tag}>{said}</{tag}>" for tag, said in parts)
    ids = BYTES.encode_tagged(text)
    assert sum(i >= BYTES.user for i in ids) == len(parts)
    assert BYTES.decode([*ids, BYTES.end]) == text
    stream = StreamDecoder(BYTES)
    assert "".join(map(stream.push, ids)) + stream.finish(ended=True) == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "It is 5.",
        "<answer>5</answer> I think",
        "So: <answer>5</answer>",
        "<answer>5",
        "<think>a<answer>5</answer></think>",
        "<think>a</answer>",
        "<Answer>5</Answer>",
    ],
)
def test_what_is_not_made_of_sections_alone_stays_ordinary_text(text: str) -> None:
    assert sections(text) is None
    assert BYTES.encode_tagged(text) == BYTES.encode(text)


def test_without_tags_an_answer_is_ordinary_text() -> None:
    text = "<think>a</think><answer>5</answer>"
    assert tagged_ids(text, BYTES.encode, None) == list(text.encode())


@given(st.text(st.sampled_from("<|/>thinkaswer ")))
def test_typed_tags_never_become_their_ids(around: str) -> None:
    for text in (f"{around}<answer>5</answer>", f"<|think|>{around}<|answer|>5"):
        assert max(BYTES.with_tags().encode(text)) < BYTES.user


def test_what_was_cut_off_is_not_closed() -> None:
    ids = BYTES.encode_tagged("<think>a</think><answer>12</answer>")
    assert BYTES.decode(ids[:-1]) == "<think>a</think><answer>1"
    stream = StreamDecoder(BYTES)
    assert "".join(map(stream.push, ids)) + stream.finish() == "<think>a</think><answer>12"


def test_only_the_space_that_was_added_is_taken_away() -> None:
    assert BYTES.decode([ANSWER, *b"5 6"]) == "<answer>5 6", "the model may leave it out"
    assert BYTES.decode([ANSWER, *b"  5"]) == "<answer> 5"
    assert BYTES.decode([THINK, ANSWER, BYTES.end]) == "<think></think><answer></answer>"


def test_chat_says_tags_once_they_are_learned_but_never_a_result() -> None:
    named = BYTES.with_tags()
    assert {THINK, ANSWER, TOOL} < set(BYTES.never_ids) and BYTES.answer_width == BYTES.end + 1
    assert not {THINK, ANSWER, TOOL} & set(named.never_ids) and RESULT in named.never_ids
    assert named.answer_width == TOOL + 1 and named.forbidden == [BYTES.user, BYTES.assistant]
    assert named.encode("<answer>") == BYTES.encode("<answer>")


def test_a_tag_ends_a_sampled_reply_until_it_is_learned() -> None:
    size = BYTES.vocab_size + 2
    said = RankTokenizer(BYTES.ranks, says_tags=True)
    for ends, learned in (
        (BYTES.reply_ends(size), False),
        (said.reply_ends(size), True),
        (BYTES.reply_ends(size, says_tags=True), True),
        (said.reply_ends(size, says_tags=False), False),
    ):
        assert {BYTES.end, RESULT, size - 1} <= set(ends)
        assert ord("a") not in ends
        assert [tag in ends for tag in (THINK, ANSWER, TOOL)] == [not learned] * 3
