"""Candidates that the caller refuses are drawn again, a bounded number of times, and what comes then."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
import torch

from engine.branches import text_key
from engine.config import GREEDY, Sampling
from engine.generate import Delta, Event, Restart, generate
from engine.model import Model
from engine.selection import MAX_REFUSALS, MAX_RETRIES, Finished, GenerationControl, Standards
from engine.tokenizers.chat_format import encode_prompt
from engine.tokenizers.tokenizer import Tokenizer

SAMPLING = Sampling(max_tokens=8)


def _draw(
    model: Model, tokenizer: Tokenizer, n: int, standards: Standards, sampling: Sampling = SAMPLING
) -> tuple[list[Event], dict[int, Finished]]:
    prompt = encode_prompt(tokenizer, [("user", "Hello!")], 128, 32)
    generator = torch.Generator().manual_seed(0)
    events = list(
        generate(model, tokenizer, prompt, n, sampling, generator=generator, standards=standards)
    )
    done = [event for event in events if isinstance(event, Finished)]
    assert sorted(event.index for event in done) == list(range(1, n + 1)), "each ends once"
    return events, {event.index: event for event in done}


def _fallback(tokenizer: Tokenizer, text: str = "I am not.") -> tuple[int, ...]:
    return (*tokenizer.encode(text), tokenizer.end)


@pytest.mark.parametrize("n", [1, 5])
def test_a_refused_candidate_is_replaced_and_its_card_begins_anew(
    tiny_model: Model, tiny_tokenizer: Tokenizer, n: int
) -> None:
    _, before = _draw(tiny_model, tiny_tokenizer, n, Standards(lambda _: True))
    unwanted = before[1].text
    events, done = _draw(
        tiny_model, tiny_tokenizer, n, Standards(lambda answer: answer.text != unwanted)
    )
    assert all(answer.text != unwanted for answer in done.values())
    for index, answer in done.items():
        restarts = [i for i, e in enumerate(events) if isinstance(e, Restart) and e.index == index]
        after = events[restarts[-1] if restarts else 0 :]
        deltas = [delta for e in after if isinstance(e, Delta) for delta in e.texts]
        text = "".join(text for number, text in deltas if number == index)
        assert text.strip() == answer.text or answer.text.startswith(text.strip())
    assert any(isinstance(e, Restart) and e.index == 1 for e in events)


@pytest.mark.parametrize("n", [1, 3])
def test_what_was_seen_is_not_said_again(
    tiny_model: Model, tiny_tokenizer: Tokenizer, n: int
) -> None:
    prompt, seen = encode_prompt(tiny_tokenizer, [("user", "Hello!")], 128, 32), list[str]()
    sure = Sampling(temperature=0.01, max_tokens=8)
    for _ in range(3):
        dice = torch.Generator().manual_seed(0)  # the same each time
        events = generate(tiny_model, tiny_tokenizer, prompt, n, sure, generator=dice, seen=seen)
        texts = [event.text for event in events if isinstance(event, Finished)]
        assert not {*map(text_key, texts)} & {*map(text_key, seen)}
        seen += texts
    assert len(set(map(text_key, seen))) == 3 * n


@pytest.mark.parametrize("n", [1, 5])
def test_redraws_are_bounded_and_one_falls_back(
    tiny_model: Model, tiny_tokenizer: Tokenizer, n: int
) -> None:
    standards = Standards(lambda _: False, lambda _: _fallback(tiny_tokenizer))
    events, done = _draw(tiny_model, tiny_tokenizer, n, standards)
    texts = [answer.text for answer in done.values()]
    assert texts.count("I am not.") == 1
    assert len(set(map(text_key, texts))) == n
    assert sum(isinstance(e, Restart) for e in events) <= n * (MAX_RETRIES + MAX_REFUSALS + 1)
    if n == 1:
        assert sum(isinstance(e, Restart) for e in events) == MAX_REFUSALS + 1


@pytest.mark.parametrize("n", [1, 5])
def test_the_likeliest_answer_stays_where_it_is_asked_for(
    tiny_model: Model, tiny_tokenizer: Tokenizer, n: int
) -> None:
    greedy = GREEDY.with_(max_tokens=8)
    _, before = _draw(tiny_model, tiny_tokenizer, n, Standards(lambda _: True), greedy)
    standards = Standards(lambda _: False, lambda _: _fallback(tiny_tokenizer), lambda _: True)
    _, done = _draw(tiny_model, tiny_tokenizer, n, standards, greedy)
    assert done[1] == before[1]
    assert sum(answer.text == "I am not." for answer in done.values()) == (n > 1)


def test_a_greedy_answer_alone_gives_way_where_the_fallback_must_come(
    tiny_model: Model, tiny_tokenizer: Tokenizer
) -> None:
    greedy, said = GREEDY.with_(max_tokens=8), _fallback(tiny_tokenizer)
    for lost in (True, False):
        standards = Standards(
            lambda _: False, lambda _: said, lambda _, lost=lost: lost, alone=True, even_greedy=True
        )
        _, done = _draw(tiny_model, tiny_tokenizer, 1, standards, greedy)
        assert (done[1].text == "I am not.") == lost


def test_without_a_fallback_the_last_draft_stays(
    tiny_model: Model, tiny_tokenizer: Tokenizer
) -> None:
    events, done = _draw(tiny_model, tiny_tokenizer, 1, Standards(lambda _: False))
    assert done[1].text
    assert sum(isinstance(e, Restart) for e in events) == MAX_REFUSALS


def test_at_a_loss_the_last_one_says_the_fallback(
    tiny_model: Model, tiny_tokenizer: Tokenizer
) -> None:
    asked = list[Sequence[Finished]]()

    def at_a_loss(answers: Sequence[Finished]) -> bool:
        asked.append(answers)
        return True

    fallback = _fallback(tiny_tokenizer)
    events, done = _draw(
        tiny_model, tiny_tokenizer, 5, Standards(lambda _: True, lambda _: fallback, at_a_loss)
    )
    assert [sorted(answer.index for answer in answers) for answers in asked] == [[1, 2, 3, 4, 5]]
    last = [event for event in events if isinstance(event, Finished)][-1]
    assert (last.text, last.tokens, last.ending) == ("I am not.", fallback, "end")
    assert all(len(last.tokens) == len(p) for p in (last.logprobs, last.own_logprobs))
    assert sum(answer.text == "I am not." for answer in done.values()) == 1


@pytest.mark.parametrize("n", [3, 5])
def test_an_offer_takes_the_place_of_the_last_but_one_drawn(
    tiny_model: Model, tiny_tokenizer: Tokenizer, n: int
) -> None:
    asked = list[Sequence[Finished]]()

    def offer(answers: Sequence[Finished]) -> tuple[int, ...]:
        asked.append(answers)
        return _fallback(tiny_tokenizer, "It may be.")

    said = _fallback(tiny_tokenizer)
    standards = Standards(lambda _: True, lambda _: said, lambda _: True, offer=offer)
    _, before = _draw(tiny_model, tiny_tokenizer, n, Standards(lambda _: True))
    _, done = _draw(tiny_model, tiny_tokenizer, n, standards)
    texts = [answer.text for answer in done.values()]
    assert (texts.count("It may be."), texts.count("I am not.")) == (1, 1)
    assert done[1] == before[1], "never the likeliest one"
    assert len(asked) == 1 and len(asked[0]) in (n - 1, n)
    assert len(set(map(text_key, texts))) == n


def test_texts_stand_in_place_of_guesses_once_the_likeliest_is_there(
    tiny_model: Model, tiny_tokenizer: Tokenizer
) -> None:
    asked, lost = list[Sequence[Finished]](), list[Sequence[Finished]]()
    left = ["It may be.", "Or so.", "Nor that."]

    def instead(answers: Sequence[Finished]) -> tuple[int, ...]:
        asked.append(answers)
        return _fallback(tiny_tokenizer, left.pop(0)) if left else ()

    def at_a_loss(answers: Sequence[Finished]) -> bool:
        lost.append(answers)
        return True

    fallback = _fallback(tiny_tokenizer)
    standards = Standards(lambda _: True, lambda _: fallback, at_a_loss, instead=instead)
    _, before = _draw(tiny_model, tiny_tokenizer, 5, Standards(lambda _: True))
    _, done = _draw(tiny_model, tiny_tokenizer, 5, standards)
    texts = [answer.text for answer in done.values()]
    assert done[1] == before[1] and all(
        1 in [answer.index for answer in answers] for answers in asked
    )
    assert {"It may be.", "Or so.", "Nor that.", "I am not."} <= set(texts)
    assert len(set(texts)) == 5
    given = {"It may be.", "Or so.", "Nor that."}
    (told,) = lost
    assert not given & {answer.text for answer in told}, "only what the model wrote is judged"


def test_there_is_no_offer_among_two_or_without_need_of_different_ones(
    tiny_model: Model, tiny_tokenizer: Tokenizer
) -> None:
    said = _fallback(tiny_tokenizer)
    standards = Standards(lambda _: True, offer=lambda _: said, instead=lambda _: said)
    for n in (1, 2):
        _, done = _draw(tiny_model, tiny_tokenizer, n, standards)
        assert "I am not." not in [answer.text for answer in done.values()]


def test_what_was_chosen_while_it_streams_is_neither_refused_nor_replaced(
    tiny_model: Model, tiny_tokenizer: Tokenizer
) -> None:
    prompt, control = (
        encode_prompt(tiny_tokenizer, [("user", "Hello!")], 128, 32),
        GenerationControl(),
    )
    standards = Standards(lambda _: False, lambda _: _fallback(tiny_tokenizer), lambda _: True)
    events = list[Event]()
    for event in generate(
        tiny_model,
        tiny_tokenizer,
        prompt,
        5,
        SAMPLING,
        generator=torch.Generator().manual_seed(0),
        control=control,
        standards=standards,
    ):
        events.append(event)
        if len(events) == 5:
            control.keep(2)
    assert not any(isinstance(event, Restart) for event in events)
    (chosen,) = [e for e in events if isinstance(e, Finished) and e.ending != "cancelled"]
    assert chosen.index == 2 and chosen.text != "I am not."


def test_one_answer_alone_is_never_at_a_loss(tiny_model: Model, tiny_tokenizer: Tokenizer) -> None:
    standards = Standards(lambda _: True, lambda _: _fallback(tiny_tokenizer), lambda _: True)
    _, done = _draw(tiny_model, tiny_tokenizer, 1, standards)
    assert done[1].text != "I am not."


@torch.no_grad()
@pytest.mark.parametrize("sampling", [SAMPLING, SAMPLING.with_(temperature=0.0), GREEDY])
def test_own_log_probabilities_are_the_models_however_it_was_drawn(
    tiny_model: Model, tiny_tokenizer: Tokenizer, sampling: Sampling
) -> None:
    prompt = encode_prompt(tiny_tokenizer, [("user", "Hello!")], 128, 32)
    _, done = _draw(
        tiny_model, tiny_tokenizer, 3, Standards(lambda _: True), sampling.with_(max_tokens=8)
    )
    for answer in done.values():
        logits = tiny_model(torch.tensor([[*prompt, *answer.tokens]]))[0, len(prompt) - 1 : -1]
        logits = logits[:, : tiny_tokenizer.end + 1]
        logits[:, [tiny_tokenizer.user, tiny_tokenizer.assistant]] = -torch.inf
        logits[0, tiny_tokenizer.end] = -torch.inf
        own = logits.log_softmax(-1).gather(1, torch.tensor(answer.tokens)[:, None])[:, 0]
        torch.testing.assert_close(torch.tensor(answer.own_logprobs), own, atol=1e-4, rtol=1e-4)


def test_a_given_text_is_not_cut_by_a_stop(tiny_model: Model, tiny_tokenizer: Tokenizer) -> None:
    given = _fallback(tiny_tokenizer, "Please call. Now.")
    standards = Standards(
        lambda _: True, lambda _: given, lambda _: True, alone=True, even_greedy=True
    )
    prompt = encode_prompt(tiny_tokenizer, [("user", "Hello!")], 128, 32)
    for sampling in (SAMPLING.with_(max_tokens=30), GREEDY.with_(max_tokens=30)):
        events = generate(
            tiny_model,
            tiny_tokenizer,
            prompt,
            1,
            sampling,
            generator=torch.Generator().manual_seed(0),
            standards=standards,
            stops=(".", "e"),
        )
        (done,) = [event for event in events if isinstance(event, Finished)]
        assert done.text == "Please call. Now."
