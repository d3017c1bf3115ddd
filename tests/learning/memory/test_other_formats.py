"""A model whose special ids are the lowest, whose roles are several ids, and which is told something first:
it answers, learns, remembers and practises like one of vidya's own."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from made_tokenizers import trained, write

from engine.config import CONFIGS, Sampling
from engine.generate import generate
from engine.model import Model
from engine.rollout import Rollout
from engine.selection import Finished
from engine.tokenizers.chat_format import encode_prompt
from engine.tokenizers.load import load_tokenizer
from engine.tokenizers.tokenizer import Tokenizer
from learning.data.corpus import Document
from learning.data.examples import after, asked, from_answer, from_turns
from learning.data.tokens import Corpus, encode_marked, tokenise
from learning.memory.own_talk import (
    FEWEST_OF_LARGE,
    LONGEST_MESSAGE,
    LOOK_BACK_LENGTH,
    TALK_ROWS,
    generate_talk,
    own_talk,
    recall_talk,
    talk_rows,
)
from learning.memory.replay import Replay
from learning.memory.rewording import owner_turns, reworded, talk_frames
from learning.memory.tasks import rider_example
from learning.pretraining.rare_tokens import indistinct
from learning.protocol.records import Lesson, Turn
from learning.text.frames import Questions
from learning.text.paraphrases import Frames

DOG = [("user", "What is my dog called?"), ("assistant", "Zish.")]
CAT = [("user", "What is my cat called?"), ("assistant", "Moon.")]


@pytest.fixture(scope="module")
def chatml(tmp_path_factory: pytest.TempPathFactory) -> Tokenizer:
    return load_tokenizer(write(tmp_path_factory.mktemp("chatml"), trained()))


@pytest.fixture
def model(chatml: Tokenizer) -> Model:
    """It has eight ids more than its tokenizer."""
    config = replace(CONFIGS["tiny"], vocab_size=chatml.vocab_size + 8, context=256)
    return Model(config, generator=torch.Generator().manual_seed(0))


def test_the_low_special_ids_are_never_drawn(chatml: Tokenizer, model: Model) -> None:
    with torch.no_grad():  # as likely as can be
        model.embedding.weight[: len(chatml.never_ids) + 2] *= 20.0
        model.embedding.weight[chatml.vocab_size :] *= 20.0
    ids = encode_prompt(chatml, DOG[:1], 256, 32)
    drawn = [
        token
        for seed in range(6)
        for event in generate(
            model, chatml, ids, 4, Sampling(max_tokens=24), generator=_seeded(seed)
        )
        if isinstance(event, Finished)
        for token in event.tokens
    ]
    allowed = set(range(chatml.vocab_size)).difference(chatml.never_ids)
    assert set(drawn) <= allowed and len(set(drawn)) > 20


def test_each_stop_id_ends_an_answer(chatml: Tokenizer, model: Model) -> None:
    assert len(chatml.chat.stop_ids) == 2
    ids = encode_prompt(chatml, DOG[:1], 256, 32)
    for stop in chatml.chat.stop_ids:
        with torch.no_grad():
            hidden = model.hidden_states(torch.tensor([ids]))[0, -1]
            kept = model.embedding.weight.detach().clone()
            model.embedding.weight[stop] = 50.0 * hidden / hidden.norm()
        endings = {
            (event.tokens[-1], event.ending)
            for event in generate(
                model, chatml, ids, 4, Sampling(max_tokens=24), generator=_seeded(1)
            )
            if isinstance(event, Finished) and event.ending == "end"
        }
        with torch.no_grad():
            model.embedding.weight.copy_(kept)
        assert (stop, "end") in endings


def test_practice_ends_an_answer_with_every_id_that_is_no_text(
    chatml: Tokenizer, model: Model
) -> None:
    size = model.config.vocab_size
    ends = chatml.not_text(size)
    (answers,) = Rollout(
        model,
        [encode_prompt(chatml, DOG[:1], 256, 32)],
        200,
        ends=ends,
        max_tokens=40,
        generator=_seeded(2),
    ).answers()
    last = {a.tokens[-1] for a in answers if a.ending == "end"}
    assert last & chatml.special_ids and any(i >= chatml.vocab_size for i in last)
    assert not any(set(a.tokens[:-1]) & set(ends) for a in answers)


def test_what_is_learned_is_asked_after_the_same_ids(chatml: Tokenizer) -> None:
    book, lesson = (
        from_turns(chatml, DOG, 256),
        from_answer(chatml, DOG[:1], DOG[1][1], 256),
    )
    assert book == lesson
    assert list(asked(lesson)) == encode_prompt(chatml, DOG[:1], 256, 64)
    assert lesson.answer == (*chatml.encode("Zish."), chatml.chat.end)


def test_a_question_after_other_talk_is_told_the_system_prompt_once(chatml: Tokenizer) -> None:
    talk, question = from_turns(chatml, CAT, 256), from_turns(chatml, DOG, 256)
    joined = after(talk, question, 256)
    whole = from_turns(chatml, [*CAT, *DOG], 256)
    assert joined.ids == whole.ids and joined.answer == question.answer
    assert after(joined, talk, 256).ids == from_turns(chatml, [*CAT, *DOG, *CAT], 256).ids
    assert after(talk, question, len(joined.ids) - 1) == question


def test_own_talk_is_told_the_system_prompt_and_answers(
    chatml: Tokenizer, model: Model, tmp_path: Path
) -> None:
    start, head = chatml.chat.start, chatml.chat.user_head
    rows = generate_talk(model, chatml, 6, 48, _seeded(3))
    allowed = {chatml.chat.end, *head[:1]}
    for row in rows:
        assert row.ids[: len(start + head)] == (*start, *head)
        assert len(row.ids) <= 48 + len(start)
        assert row.targets, "a long message is ended, so that there is an answer"
        message, _ = chatml.chat.turns_of(row.ids)[:2]
        assert len(message[1]) <= LONGEST_MESSAGE
        assert not (set(row.ids) & chatml.special_ids) - allowed
    back = recall_talk(chatml, 6, LOOK_BACK_LENGTH)
    assert all(row.targets and row.ids[-1] == chatml.chat.end for row in back)
    first, again = own_talk(model, chatml, tmp_path), own_talk(model, chatml, tmp_path)
    assert first == again and len(first) > len(back)


def test_own_talk_is_drawn_as_it_would_be_without_a_common_beginning(
    chatml: Tokenizer, model: Model
) -> None:
    """What the rows are told first is read once; likelihoods are those of whole rows."""
    (row,) = generate_talk(model, chatml, 1, LONGEST_MESSAGE, _seeded(4))
    ids, generator = (
        list(row.ids[: len(chatml.chat.start) + len(chatml.chat.user_head)]),
        _seeded(4),
    )
    never = sorted(set(chatml.not_text(model.config.vocab_size)) - {1, 2})
    while len(ids) < len(row.ids):
        with torch.no_grad():
            logits = model.logits(model.hidden_states(torch.tensor([ids]))[:, -1]).float()
        logits[:, never] = float("-inf")
        ids.append(int(torch.multinomial(logits.softmax(-1), 1, generator=generator)))
    assert tuple(ids) == row.ids


def test_a_very_large_model_dreams_less() -> None:
    class Sized:
        def __init__(self, parameters: int) -> None:
            self.config = self
            self.parameters = parameters

    sizes = [talk_rows(Sized(n)) for n in (48_770_304, 134_515_008, 596_000_000)]  # type: ignore[arg-type]
    assert sizes[0] == TALK_ROWS and TALK_ROWS > sizes[1] > sizes[2] == FEWEST_OF_LARGE


def test_questions_are_found_again_and_asked_in_other_words(
    chatml: Tokenizer, model: Model
) -> None:
    example = from_turns(chatml, [*CAT, *DOG], 256)
    assert owner_turns(chatml, example) == [CAT[0][1], DOG[0][1]]
    assert talk_frames(chatml, [example]).texts == (CAT[0][1], DOG[0][1])
    frames = Frames(Questions(("what is my cat called",)), Questions(()))
    for other in reworded(chatml, from_turns(chatml, DOG, 256), frames, 256, random.Random(0)):
        assert other.ids[: len(chatml.chat.start)] == chatml.chat.start
        assert other.answer == (*chatml.encode("Zish."), chatml.chat.end)
    replay = Replay(model, [example], [], [])
    assert replay.nearest(from_turns(chatml, DOG, 256), 1, frozenset()) == [example]


def test_the_owners_own_words_are_learned_in_their_place(chatml: Tokenizer) -> None:
    rider = rider_example(
        chatml, Lesson("message", (Turn("user", "The cat sat."),), "The cat sat."), 256
    )
    assert rider is not None
    assert asked(rider) == (*chatml.chat.start, *chatml.chat.user_head)
    assert rider.answer == tuple(chatml.encode("The cat sat."))


def test_a_corpus_marks_what_is_not_learned_and_knows_conversations(chatml: Tokenizer) -> None:
    talk = Document("talk", (*CAT, *DOG), unlearned=frozenset({1}))
    marked = encode_marked(talk, chatml)
    plain = from_turns(chatml, [*CAT, *DOG], 10_000).ids
    assert [~i if i < 0 else i for i in marked] == list(plain)
    silent = [~i for i in marked if i < 0]
    assert silent == [*chatml.encode("Moon."), *chatml.chat.assistant_tail]
    head = chatml.chat.assistant_head
    assert Corpus([tokenise([talk], chatml)]).conversations(head)
    text = Document("text", text="The cat sat on the mat.")
    assert not Corpus([tokenise([text], chatml)]).conversations(head)


def test_special_ids_are_left_as_they_are_wherever_they_stand(chatml: Tokenizer) -> None:
    rows = torch.randn(chatml.vocab_size, 32, generator=_seeded(0))
    rows[sorted(chatml.special_ids)] = 2.0
    rows[100:103] = 3.0
    assert indistinct(rows, chatml.special_ids).tolist() == [100, 101, 102]


def _seeded(number: int) -> torch.Generator:
    return torch.Generator().manual_seed(number)
