"""engine.generate: several different answers at once, streamed, stopped on demand."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
import torch

from engine.branches import text_key
from engine.config import GREEDY, Sampling
from engine.errors import PromptTooLong
from engine.generate import Delta, Event, Finished, GenerationControl, Restart, generate
from engine.model import Model
from engine.tokenizers.chat_format import encode_prompt
from engine.tokenizers.tokenizer import Tokenizer


def _seed(number: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(number)


def _prompt(tokenizer: Tokenizer, text: str = "Hello!") -> list[int]:
    return encode_prompt(tokenizer, [("user", text)], 128, 32)


def _finished(events: Iterable[Event]) -> dict[int, Finished]:
    done = [e for e in events if isinstance(e, Finished)]
    assert len({e.index for e in done}) == len(done), "an index finished twice"
    return {e.index: e for e in done}


def _teach(model: Model, tokenizer: Tokenizer, answer: str) -> None:
    """Trains the model until it says this and nothing else: a peaked distribution."""
    prompt = _prompt(tokenizer)
    ids = torch.tensor([[*prompt, *tokenizer.encode(answer), tokenizer.end]])
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    for _ in range(40):
        logits = model(ids)[0, len(prompt) - 1 : -1]
        loss = torch.nn.functional.cross_entropy(logits, ids[0, len(prompt) :])
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if loss.item() < 0.02:
            break


@torch.no_grad()
def _greedy_by_hand(model: Model, tokenizer: Tokenizer, prompt: list[int], most: int) -> list[int]:
    ids = list(prompt)
    while len(ids) < len(prompt) + most and (len(ids) == len(prompt) or ids[-1] != tokenizer.end):
        logits = model(torch.tensor([ids]))[0, -1]
        logits[tokenizer.end + 1 :] = -torch.inf
        logits[[tokenizer.user, tokenizer.assistant]] = -torch.inf
        if len(ids) == len(prompt):
            logits[tokenizer.end] = -torch.inf
        ids.append(int(logits.argmax()))
    return ids[len(prompt) :]


def test_greedy_batched_equals_single_and_uncached(
    tiny_model: Model, tiny_tokenizer: Tokenizer
) -> None:
    prompt, sampling = _prompt(tiny_tokenizer), GREEDY.with_(max_tokens=12)
    expected = _greedy_by_hand(tiny_model, tiny_tokenizer, prompt, 12)
    for n in (1, 4):
        done = _finished(
            generate(tiny_model, tiny_tokenizer, prompt, n, sampling, generator=_seed())
        )
        assert list(done[1].tokens) == expected
        assert done[1].logprobs == (0.0,) * len(expected)


def test_taught_answer_ends_with_the_end_token(
    tiny_model: Model, tiny_tokenizer: Tokenizer
) -> None:
    _teach(tiny_model, tiny_tokenizer, "I am well.")
    events = list(
        generate(tiny_model, tiny_tokenizer, _prompt(tiny_tokenizer), 1, GREEDY, generator=_seed())
    )
    last = events[-1]
    assert isinstance(last, Finished)
    assert (last.text, last.ending) == ("I am well.", "end")
    assert last.tokens == (*tiny_tokenizer.encode("I am well."), tiny_tokenizer.end)
    assert (
        "".join(text for e in events if isinstance(e, Delta) for _, text in e.texts) == "I am well."
    )


@pytest.mark.parametrize("temperature", [0.0, 0.8])
def test_five_different_answers_of_a_peaked_model(
    tiny_model: Model, tiny_tokenizer: Tokenizer, temperature: float
) -> None:
    _teach(tiny_model, tiny_tokenizer, "I am well.")
    sampling = Sampling(temperature=temperature, max_tokens=12)
    events = list(
        generate(
            tiny_model, tiny_tokenizer, _prompt(tiny_tokenizer), 5, sampling, generator=_seed()
        )
    )
    done = _finished(events)
    assert sorted(done) == [1, 2, 3, 4, 5]
    assert len({text_key(e.text) for e in done.values()}) == 5
    assert any(e.text == "I am well." for e in done.values())
    assert any(isinstance(e, Restart) for e in events)


def test_what_is_drawn_again_shares_a_batch(tiny_model: Model, tiny_tokenizer: Tokenizer) -> None:
    _teach(tiny_model, tiny_tokenizer, "I am well.")
    prompt, sampling = _prompt(tiny_tokenizer), Sampling(temperature=0.1, max_tokens=12)
    waves: list[list[Event]] = [[]]
    going = {1, 2, 3, 4, 5}
    for event in generate(tiny_model, tiny_tokenizer, prompt, 5, sampling, generator=_seed()):
        if isinstance(event, Delta):
            assert {index for index, _ in event.texts} <= going, "not before the others have ended"
        if isinstance(event, Restart | Finished):
            waves[-1].append(event)
            going.discard(event.index)
        if not going:
            going = {one.index for one in waves[-1] if isinstance(one, Restart)}
            waves.append([])
    again = [[one for one in wave if isinstance(one, Restart)] for wave in waves]
    assert len(again[0]) == 4 and len(waves[1]) == 4, "all four that said the same, at once"


def test_the_first_of_several_is_the_likeliest(
    tiny_model: Model, tiny_tokenizer: Tokenizer
) -> None:
    prompt = _prompt(tiny_tokenizer)
    sampling = Sampling(temperature=1.5, top_p=1.0, repetition_penalty=1.5, max_tokens=8)
    expected = _greedy_by_hand(tiny_model, tiny_tokenizer, prompt, 8)
    for seed in range(3):
        done = _finished(
            generate(tiny_model, tiny_tokenizer, prompt, 3, sampling, generator=_seed(seed))
        )
        assert list(done[1].tokens) == expected
        assert all(logprob < 0.0 for logprob in done[1].logprobs), "as if it had been drawn"
        alone = generate(tiny_model, tiny_tokenizer, prompt, 1, sampling, generator=_seed(seed))
        assert list(_finished(alone)[1].tokens) != expected, "one alone is drawn"


def test_duplicates_stay_where_they_are_wanted(
    tiny_model: Model, tiny_tokenizer: Tokenizer
) -> None:
    _teach(tiny_model, tiny_tokenizer, "I am well.")
    events = list(
        generate(
            tiny_model,
            tiny_tokenizer,
            _prompt(tiny_tokenizer),
            3,
            Sampling(temperature=0.2, max_tokens=12),
            generator=_seed(),
            distinct=False,
        )
    )
    assert not any(isinstance(e, Restart) for e in events)
    assert [e.text for e in _finished(events).values()] == ["I am well."] * 3


@pytest.mark.slow
def test_deltas_after_the_last_restart_make_the_text(
    tiny_model: Model, tiny_tokenizer: Tokenizer
) -> None:
    _teach(tiny_model, tiny_tokenizer, "Grüße 🙂 日本語")
    seen = dict.fromkeys(range(1, 5), "")
    sampling = Sampling(max_tokens=40)
    for event in generate(
        tiny_model, tiny_tokenizer, _prompt(tiny_tokenizer), 4, sampling, generator=_seed(1)
    ):
        if isinstance(event, Delta):
            for index, text in event.texts:
                seen[index] += text
        elif isinstance(event, Restart):
            seen[event.index] = ""
        else:
            # only an unfinished character at the very end may be missing from the stream
            assert event.text.rstrip("\ufffd").strip() == seen[event.index].rstrip("\ufffd").strip()
            assert event.text == tiny_tokenizer.decode(event.tokens).strip()


def test_no_special_token_but_a_late_end(tiny_model: Model, tiny_tokenizer: Tokenizer) -> None:
    t = tiny_tokenizer
    with torch.no_grad():  # make the special ids by far the likeliest
        tiny_model.embedding.weight[t.user :] *= 40.0
    sampling = Sampling(temperature=2.0, top_p=1.0, max_tokens=8)
    done = _finished(generate(tiny_model, t, _prompt(t), 8, sampling, generator=_seed()))
    for answer in done.values():
        assert answer.tokens[0] != t.end
        assert all(i < t.user or i == t.end for i in answer.tokens)
        assert t.end not in answer.tokens[:-1]
        assert (answer.tokens[-1] == t.end) == (answer.ending == "end")


def test_max_tokens_and_context_bound_the_length(
    tiny_model: Model, tiny_tokenizer: Tokenizer
) -> None:
    t = tiny_tokenizer
    sampling = Sampling(temperature=5.0, top_p=1.0, max_tokens=5)
    done = _finished(generate(tiny_model, t, _prompt(t), 3, sampling, generator=_seed()))
    assert all(len(e.tokens) == 5 for e in done.values() if e.ending == "length")
    assert any(e.ending == "length" for e in done.values())
    context = tiny_model.config.context
    full = [t.user, *([65] * (context - 4)), t.assistant]
    done = _finished(
        generate(tiny_model, t, full, 2, sampling.with_(max_tokens=64), generator=_seed())
    )
    assert all(len(e.tokens) <= 2 for e in done.values())
    with pytest.raises(PromptTooLong, match="fills the model's context"):
        list(generate(tiny_model, t, [65] * context, 1, sampling, generator=_seed()))


def test_cancel_ends_all_with_what_was_said(tiny_model: Model, tiny_tokenizer: Tokenizer) -> None:
    control, said = GenerationControl(), 0
    events: list[Event] = []
    sampling = Sampling(temperature=3.0, max_tokens=60)
    for event in generate(
        tiny_model,
        tiny_tokenizer,
        _prompt(tiny_tokenizer),
        3,
        sampling,
        generator=_seed(),
        control=control,
    ):
        events.append(event)
        said += len(event.texts) if isinstance(event, Delta) else 0
        if said >= 6:
            control.cancel()
    done = _finished(events)
    assert sorted(done) == [1, 2, 3]
    cancelled = [e for e in done.values() if e.ending == "cancelled"]
    assert cancelled
    assert all(0 < len(e.tokens) < 10 for e in cancelled)


def test_keep_leaves_one_going_unchanged(tiny_model: Model, tiny_tokenizer: Tokenizer) -> None:
    control = GenerationControl()
    events: list[Event] = []
    sampling = GREEDY.with_(max_tokens=20)
    prompt = _prompt(tiny_tokenizer)
    for event in generate(
        tiny_model,
        tiny_tokenizer,
        prompt,
        3,
        sampling,
        generator=_seed(),
        control=control,
        distinct=False,
    ):
        events.append(event)
        if len(events) == 4:
            control.keep(1)
    done = _finished(events)
    assert done[2].ending == done[3].ending == "cancelled"
    assert list(done[1].tokens) == _greedy_by_hand(tiny_model, tiny_tokenizer, prompt, 20)


def test_logprobs_are_those_of_the_model(tiny_model: Model, tiny_tokenizer: Tokenizer) -> None:
    t, prompt = tiny_tokenizer, _prompt(tiny_tokenizer)
    sampling = Sampling(temperature=1.0, top_p=1.0, repetition_penalty=1.0, max_tokens=6)
    answer = _finished(generate(tiny_model, t, prompt, 1, sampling, generator=_seed()))[1]
    with torch.no_grad():
        logits = tiny_model(torch.tensor([[*prompt, *answer.tokens]]))[0, len(prompt) - 1 : -1]
    logits[:, t.end + 1 :] = -torch.inf
    logits[:, [t.user, t.assistant]] = -torch.inf
    logits[0, t.end] = -torch.inf
    expected = logits.log_softmax(-1)[range(len(answer.tokens)), answer.tokens]
    torch.testing.assert_close(torch.tensor(answer.logprobs), expected, atol=1e-4, rtol=1e-4)


def test_greedy_heeds_the_repetition_penalty(tiny_model: Model, tiny_tokenizer: Tokenizer) -> None:
    prompt = _prompt(tiny_tokenizer)
    _teach(tiny_model, tiny_tokenizer, " the the the the the the")
    plain, penalised = (
        _finished(
            generate(
                tiny_model,
                tiny_tokenizer,
                prompt,
                1,
                GREEDY.with_(max_tokens=6, repetition_penalty=penalty),
                generator=_seed(),
            )
        )[1]
        for penalty in (1.0, 10.0)
    )
    assert len(set(plain.tokens)) == 1
    assert len(set(penalised.tokens)) > 1


def test_same_seed_same_answers_in_bfloat16(tiny_model: Model, tiny_tokenizer: Tokenizer) -> None:
    tiny_model.to(torch.bfloat16)
    sampling = Sampling(max_tokens=8)
    runs = [
        list(
            generate(
                tiny_model,
                tiny_tokenizer,
                _prompt(tiny_tokenizer),
                3,
                sampling,
                generator=_seed(seed),
            )
        )
        for seed in (5, 5, 6)
    ]
    assert runs[0] == runs[1] != runs[2]


def test_training_goes_on_between_two_steps(tiny_model: Model, tiny_tokenizer: Tokenizer) -> None:
    stream = generate(
        tiny_model, tiny_tokenizer, _prompt(tiny_tokenizer), 1, Sampling(), generator=_seed()
    )
    next(iter(stream))
    assert torch.is_grad_enabled()
    tiny_model(torch.tensor([[1, 2]])).sum().backward()
    assert tiny_model.embedding.weight.grad is not None


@pytest.mark.parametrize("answer", ["I am well.", "Hi", "  Yes  yes", "日本語", "a"])
@pytest.mark.parametrize(
    "temperature", [1.0, *(pytest.param(t, marks=pytest.mark.slow) for t in (0.0, 0.1))]
)
def test_a_model_that_knows_one_answer_only_still_gives_nine(
    tiny_model: Model, tiny_tokenizer: Tokenizer, answer: str, temperature: float
) -> None:
    _teach(tiny_model, tiny_tokenizer, answer)
    with torch.no_grad():  # as peaked as can be
        tiny_model.norm.weight.mul_(30.0)
    sampling = Sampling(temperature=temperature, repetition_penalty=1.0, max_tokens=12)
    greedy = _greedy_by_hand(tiny_model, tiny_tokenizer, _prompt(tiny_tokenizer), 12)
    for seed in range(5):
        stream = generate(
            tiny_model, tiny_tokenizer, _prompt(tiny_tokenizer), 9, sampling, generator=_seed(seed)
        )
        done = _finished(stream)
        assert len({text_key(e.text) for e in done.values()}) == 9
        assert all(e.text for e in done.values())
        if temperature == 0.0:
            assert list(done[1].tokens) == greedy


def test_greedy_answer_stays_greedy_where_another_says_the_same_sooner(
    tiny_model: Model, tiny_tokenizer: Tokenizer
) -> None:
    prompt, sampling = _prompt(tiny_tokenizer), GREEDY.with_(max_tokens=3)
    expected = _greedy_by_hand(tiny_model, tiny_tokenizer, prompt, 3)
    for seed in range(20):
        done = _finished(
            generate(tiny_model, tiny_tokenizer, prompt, 5, sampling, generator=_seed(seed))
        )
        assert list(done[1].tokens) == expected


@pytest.mark.parametrize(("many", "cores"), [(100_000_000, 1), (1, 3)])
def test_a_small_model_answers_on_one_core_and_gives_the_others_back(
    tiny_model: Model,
    tiny_tokenizer: Tokenizer,
    monkeypatch: pytest.MonkeyPatch,
    many: int,
    cores: int,
) -> None:
    monkeypatch.setattr("engine.generate.MANY", many)
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    try:
        ids = _prompt(tiny_tokenizer)
        events = generate(tiny_model, tiny_tokenizer, ids, 2, Sampling(), generator=_seed())
        next(events)
        assert torch.get_num_threads() == cores
        events.close()  # type: ignore[attr-defined]
        assert torch.get_num_threads() == 3
    finally:
        torch.set_num_threads(before)


@pytest.mark.parametrize("n", [1, 4])
def test_an_answer_ends_before_the_first_stop(
    tiny_model: Model, tiny_tokenizer: Tokenizer, n: int
) -> None:
    t, answer = tiny_tokenizer, "I am well."
    _teach(tiny_model, t, answer)
    sampling = GREEDY.with_(max_tokens=40)

    def drawn(*stops: str) -> dict[int, Finished]:
        ids = _prompt(t)
        return _finished(generate(tiny_model, t, ids, n, sampling, generator=_seed(), stops=stops))

    whole, cut = drawn()[1], drawn("ll", "never said", " we")
    assert (whole.text, cut[1].text, cut[1].ending) == (answer, "I am", "end")
    assert cut[1].tokens == whole.tokens[: len(cut[1].tokens)] != whole.tokens
    assert not any(stop in done.text for done in cut.values() for stop in ("ll", " we"))
    assert len({text_key(done.text) for done in cut.values()}) == n, "as cut they differ"
