from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

import pytest
import torch

from engine import rollout
from engine.config import GREEDY
from engine.errors import DataError
from engine.generate import Finished, generate
from engine.model import Model
from engine.rollout import Answered, Rollout, message_answers
from engine.tokenizers.tokenizer import Tokenizer

TEXTS = (
    "The cat",
    "What do you like to eat? I like warm bread",
    "hello",
    "My name is Vidya, and I",
)


def prompts(tokenizer: Tokenizer) -> list[list[int]]:
    return [[tokenizer.user, *tokenizer.encode(t), tokenizer.assistant] for t in TEXTS]


def short_and_long(tokenizer: Tokenizer) -> list[list[int]]:
    return [[*p, *[p[-2]] * extra] for p, extra in zip(prompts(tokenizer), (0, 40), strict=False)]


def draw(model: Model, tokenizer: Tokenizer, **changes: object) -> list[list[Answered]]:
    options = {
        "ends": tokenizer.not_text(model.config.vocab_size),
        "max_tokens": 12,
        "rows": 5,
        "group": 4,
        **changes,
    }
    group = options.pop("group")
    generator = torch.Generator().manual_seed(3)
    given = options.pop("prompts", None) or prompts(tokenizer)
    return Rollout(model, given, group, generator=generator, **options).answers()  # type: ignore[arg-type]


@torch.no_grad()
def check(model: Model, prompt: list[int], answer: Answered, temperature: float) -> None:
    """The log-probabilities are those of one plain forward pass."""
    ids = torch.tensor([prompt + list(answer.tokens)])
    logits = model(ids)[0, len(prompt) - 1 : -1] / temperature
    now = logits.log_softmax(-1).gather(1, torch.tensor(answer.tokens)[:, None])[:, 0]
    torch.testing.assert_close(now, torch.tensor(answer.logprobs), atol=2e-4, rtol=1e-4)


@pytest.mark.parametrize("rows", [1, 3, 16])
@pytest.mark.parametrize("temperature", [1.0, 0.7])
def test_every_prompt_gets_its_answers_with_exact_probabilities(
    tiny_model: Model, tiny_tokenizer: Tokenizer, rows: int, temperature: float
) -> None:
    found = draw(tiny_model, tiny_tokenizer, rows=rows, temperature=temperature)
    assert [len(answers) for answers in found] == [4, 4, 4, 4]
    for index, (prompt, answers) in enumerate(zip(prompts(tiny_tokenizer), found, strict=True)):
        for answer in answers:
            assert answer.prompt == index
            check(tiny_model, prompt, answer, temperature)


def test_answers_that_outgrow_the_memory_of_the_beginning(
    tiny_model: Model, tiny_tokenizer: Tokenizer
) -> None:
    # some rows begin short, beside long ones, and go on beyond the next two chunks
    starts = short_and_long(tiny_tokenizer)
    found = draw(tiny_model, tiny_tokenizer, prompts=starts, rows=3, max_tokens=60, ends=())
    for prompt, answers in zip(starts, found, strict=True):
        for answer in answers:
            assert answer.ending == "length" and len(answer.tokens) == 60
            check(tiny_model, prompt, answer, 1.0)


def test_answers_to_each_prompt_may_have_a_length_of_their_own(
    tiny_model: Model, tiny_tokenizer: Tokenizer
) -> None:
    found = draw(tiny_model, tiny_tokenizer, rows=3, max_tokens=[3, 20, 1, 7], ends=())
    lengths = [{len(answer.tokens) for answer in answers} for answers in found]
    assert lengths == [{3}, {20}, {1}, {7}]


def test_long_prompts_are_read_in_parts(
    tiny_model: Model,
    tiny_tokenizer: Tokenizer,
    monkeypatch: pytest.MonkeyPatch,
    widths: list[int],
) -> None:
    starts = short_and_long(tiny_tokenizer)
    monkeypatch.setattr(rollout, "PART", 16)
    pauses: list[int] = []
    found = draw(tiny_model, tiny_tokenizer, prompts=starts, pause=lambda: pauses.append(1))
    longest = max(map(len, starts))
    assert max(widths) == 16 and sum(w for w in widths if w > 1) == longest
    assert len(pauses) >= len(widths), "one before each pass"
    for prompt, answers in zip(starts, found, strict=True):
        for answer in answers:
            check(tiny_model, prompt, answer, 1.0)


def test_an_answer_ends_with_a_special_token_or_at_the_limit(
    tiny_model: Model, tiny_tokenizer: Tokenizer
) -> None:
    answers = [a for group in draw(tiny_model, tiny_tokenizer, group=40) for a in group]
    assert {a.ending for a in answers} == {"end", "length"}
    for answer in answers:
        *body, last = answer.tokens
        assert all(token < tiny_tokenizer.user for token in body)
        if answer.ending == "end":
            assert last >= tiny_tokenizer.user
        else:
            assert last < tiny_tokenizer.user and len(answer.tokens) == 12


def test_greedy_says_what_the_other_generator_says(
    tiny_model: Model, tiny_tokenizer: Tokenizer
) -> None:
    found = draw(tiny_model, tiny_tokenizer, group=1, temperature=0.0)
    for prompt, (answer,) in zip(prompts(tiny_tokenizer), found, strict=True):
        sampling = GREEDY.with_(max_tokens=12)
        generator = torch.Generator().manual_seed(0)
        events = generate(tiny_model, tiny_tokenizer, prompt, 1, sampling, generator=generator)
        (other,) = [event for event in events if isinstance(event, Finished)]
        if tiny_tokenizer.user <= answer.tokens[-1] != tiny_tokenizer.end:
            continue  # the other one never draws these
        assert other.tokens == answer.tokens


def test_messages_are_answered_as_they_are_alone(
    tiny_model: Model, tiny_tokenizer: Tokenizer
) -> None:
    messages = ["hello", "What is my dog called?"]
    drawn = message_answers(tiny_model, tiny_tokenizer, messages, 3, max_tokens=5)
    assert [len(answers) for answers in drawn] == [3, 3]
    assert all(text == tiny_tokenizer.decode(a.tokens).strip() for row in drawn for text, a in row)
    greedy = partial(
        message_answers, tiny_model, tiny_tokenizer, group=1, max_tokens=5, temperature=0.0
    )
    both = [found[0][1].tokens for found in greedy(messages)]
    assert both == [greedy([message])[0][0][1].tokens for message in messages]
    assert message_answers(tiny_model, tiny_tokenizer, [], 3, max_tokens=5) == []


def test_the_batch_stays_full(tiny_model: Model, tiny_tokenizer: Tokenizer) -> None:
    """With one row fewer passes would need more; with all rows busy each pass gives `rows` tokens."""
    passes = 0

    def count() -> None:
        nonlocal passes
        passes += 1

    found = draw(tiny_model, tiny_tokenizer, group=20, rows=8, pause=count)
    tokens = sum(len(a.tokens) for group in found for a in group)
    assert passes <= math.ceil(tokens / 8) + 12 + len(TEXTS)


def test_drawn_from_the_model(tiny_model: Model, tiny_tokenizer: Tokenizer) -> None:
    """The first tokens of many answers are as frequent as they are likely."""
    prompt = prompts(tiny_tokenizer)[0]
    with torch.no_grad():
        tiny_model.embedding.weight[7] += (
            3.0 * tiny_model.hidden_states(torch.tensor([prompt]))[0, -1] / 64.0
        )
        expected = tiny_model(torch.tensor([prompt]))[0, -1].softmax(-1)
    found = draw(tiny_model, tiny_tokenizer, prompts=[prompt], group=600, max_tokens=1, rows=200)
    drawn = sum(a.tokens[0] == 7 for a in found[0]) / 600
    assert expected[7] > 0.02
    assert drawn == pytest.approx(float(expected[7]), abs=4 * math.sqrt(float(expected[7]) / 600))


def test_a_prompt_that_fills_the_context_is_told(
    tiny_model: Model, tiny_tokenizer: Tokenizer
) -> None:
    with pytest.raises(DataError, match="fills the model's context of 128"):
        draw(tiny_model, tiny_tokenizer, prompts=[[1] * 128])
    (answers,) = draw(tiny_model, tiny_tokenizer, prompts=[[1] * 127], group=2)
    assert [len(a.tokens) for a in answers] == [1, 1]


def test_nothing_asked_nothing_answered(tiny_model: Model, tiny_tokenizer: Tokenizer) -> None:
    options = {"ends": (1,), "max_tokens": 3, "generator": torch.Generator()}
    assert Rollout(tiny_model, [], 4, **options).answers() == []  # type: ignore[arg-type]


@torch.no_grad()
def test_a_world_answers_in_the_same_row(tiny_model: Model, tiny_tokenizer: Tokenizer) -> None:
    """Three replies an answer; what the world says between is read as it is, and every own token has the
    probability that one plain pass over all ids gives it."""
    said: dict[int, list[tuple[int, ...]]] = {}
    words = tuple(tiny_tokenizer.encode("The cat sat on the mat"))

    together = list[int]()

    def world(replies: Sequence[tuple[int, tuple[int, ...]]]) -> list[tuple[int, ...]]:
        together.append(len(replies))
        for number, reply in replies:
            said.setdefault(number, []).append(reply)
        return [words[: n + 1] if len(said[n]) < 3 else () for n, _ in replies]

    found = draw(tiny_model, tiny_tokenizer, world=world, max_tokens=5, group=2, rows=3)
    assert [len(replies) for replies in said.values()] == [3] * 8
    assert sum(together) == 24 and max(together) > 1, (
        "those that end in one step are asked for at once"
    )
    for prompt, answers in zip(prompts(tiny_tokenizer), found, strict=True):
        for answer in answers:
            assert answer.own is not None and len(answer.own) == len(answer.tokens)
            first, second, third = said[answer.number]
            between = words[: answer.number + 1]
            assert answer.tokens == (*first, *between, *second, *between, *third)
            assert answer.drawn == len(answer.logprobs) == len(first) + len(second) + len(third)
            ids = torch.tensor([prompt + list(answer.tokens)])
            logprobs = tiny_model(ids)[0, len(prompt) - 1 : -1].log_softmax(-1)
            now = logprobs.gather(1, torch.tensor(answer.tokens)[:, None])[:, 0]
            torch.testing.assert_close(
                now[torch.tensor(answer.own)], torch.tensor(answer.logprobs), atol=2e-4, rtol=1e-4
            )


def test_a_world_that_says_more_than_fits_is_told(
    tiny_model: Model, tiny_tokenizer: Tokenizer
) -> None:
    with pytest.raises(DataError, match="the world said 200 tokens where"):
        draw(tiny_model, tiny_tokenizer, world=lambda replies: [(5,) * 200 for _ in replies])
