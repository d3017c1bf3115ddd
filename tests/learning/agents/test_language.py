"""learning.agents.language: what is drawn, the gradient of its log-probability, features of a turn."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from engine.errors import ConfigError, DataError
from engine.model import Model
from engine.tokenizers.chat_format import encode_prompt
from engine.tokenizers.tokenizer import Tokenizer
from learning.agents.interface import Decision, DrawnTokens
from learning.agents.language import IDS, Ids, LanguagePolicy, texts, turn_features
from learning.agents.linear import LinearValue

PAGE = Path(__file__).parents[3] / "docs" / "architecture.md"
HALF = DrawnTokens((1, 2, 3), (7, 8, 9, 10), (0.0,) * 4, (True, False, False, True))
"""The two tokens in the middle are the world's."""


def policy_of_ids(model: Model, tokenizer: Tokenizer, **more: object) -> LanguagePolicy[Ids, Ids]:
    generator = torch.Generator().manual_seed(1)
    return LanguagePolicy(model, tokenizer, IDS, max_tokens=6, generator=generator, **more)  # type: ignore[arg-type]


def log_probabilities_by_hand(
    model: Model, drawn: DrawnTokens, temperature: float, never: Sequence[int]
) -> Tensor:
    """Of all tokens, own or not, where those that are never said have probability 0."""
    whole = torch.tensor([[*drawn.prompt, *drawn.tokens]])
    logits = model(whole)[0, len(drawn.prompt) - 1 : -1] / temperature
    allowed = torch.ones(logits.shape[-1], dtype=torch.bool)
    allowed[list(never)] = False
    logits = logits.masked_fill(~allowed, -torch.inf)
    return logits.log_softmax(-1)[torch.arange(len(drawn.tokens)), torch.tensor(drawn.tokens)]


@pytest.mark.parametrize("temperature", [1.0, 0.5, 1.7])
def test_log_probabilities_are_those_of_drawing(
    tiny_model: Model, tiny_tokenizer: Tokenizer, temperature: float
) -> None:
    policy = policy_of_ids(tiny_model, tiny_tokenizer, temperature=temperature)
    never = tiny_tokenizer.unsaid(tiny_model.config.vocab_size)
    assert never
    for decision in policy.act([(1, 2, 3), (5, 6), (1, 2, 3)]):
        assert decision.drawn
        found = policy.log_probabilities(decision).detach()
        drawn = torch.tensor(decision.drawn.logprobs)
        torch.testing.assert_close(found, drawn, atol=2e-2, rtol=1e-2)  # drawn in half precision
        hand = log_probabilities_by_hand(tiny_model, decision.drawn, temperature, never).detach()
        torch.testing.assert_close(found, hand, atol=2e-2, rtol=1e-2)


def test_it_says_nothing_that_chat_never_says(tiny_model: Model, tiny_tokenizer: Tokenizer) -> None:
    """However likely: at a high temperature a model that knows nothing draws every other id."""
    policy = policy_of_ids(tiny_model, tiny_tokenizer, temperature=2.0)
    said = {id for one in policy.act([(1, 2, 3)] * 800) for id in one.action}
    special = said & set(tiny_tokenizer.not_text(tiny_model.config.vocab_size))
    assert special == set(tiny_tokenizer.chat.stop_ids)


def test_a_text_is_a_message_and_a_reply_a_text(
    tiny_model: Model, tiny_tokenizer: Tokenizer
) -> None:
    form = texts(tiny_tokenizer, tiny_model.config.context)
    policy = LanguagePolicy(
        tiny_model, tiny_tokenizer, form, max_tokens=6, generator=torch.Generator()
    )
    (decision,) = policy.act(["What is 4 + 3?"])
    assert decision.drawn
    prompt = encode_prompt(tiny_tokenizer, [("user", "What is 4 + 3?")], 128, 1)
    assert decision.drawn.prompt == tuple(prompt)
    assert decision.action == tiny_tokenizer.decode(decision.drawn.tokens).strip()
    with pytest.raises(
        DataError, match="a message of 403 tokens does not fit into a context of 128"
    ):
        policy.act(["why? " * 100])


def test_ids_are_prompts_and_actions_as_they_are(
    tiny_model: Model, tiny_tokenizer: Tokenizer
) -> None:
    (decision,) = policy_of_ids(tiny_model, tiny_tokenizer).act([(9, 8, 7)])
    assert decision.drawn
    assert decision.drawn.prompt == (9, 8, 7)
    assert decision.action == decision.drawn.tokens
    ended = decision.action[-1] in tiny_tokenizer.reply_ends(tiny_model.config.vocab_size)
    assert decision.drawn.ending == ("end" if ended else "length")


@pytest.mark.parametrize("weights", [None, (0.5, 3.0, -2.0, -1.5)])
def test_a_score_is_the_gradient_of_a_masked_loss(
    tiny_model: Model, tiny_tokenizer: Tokenizer, weights: tuple[float, ...] | None
) -> None:
    policy = policy_of_ids(tiny_model, tiny_tokenizer, temperature=0.8)
    given = None if weights is None else torch.tensor(weights, dtype=torch.float64)
    with torch.no_grad():
        found = policy.score(HALF.prompt, Decision(HALF.tokens, HALF), given)
    mask = torch.tensor(HALF.own).float() * torch.tensor(weights or (1.0,) * 4)
    never = tiny_tokenizer.unsaid(tiny_model.config.vocab_size)
    (log_probabilities_by_hand(tiny_model, HALF, 0.8, never) * mask).sum().backward()  # type: ignore[no-untyped-call]
    for one, parameter in zip(found, tiny_model.parameters(), strict=True):
        assert parameter.grad is not None
        far = float((one - parameter.grad).norm() / parameter.grad.norm())
        assert far < 0.05, "as far as bfloat16 goes, where that is used"


def test_tokens_of_the_world_alone_give_no_gradient(
    tiny_model: Model, tiny_tokenizer: Tokenizer
) -> None:
    policy = policy_of_ids(tiny_model, tiny_tokenizer)
    put = replace(HALF, own=(False,) * 4)
    assert not policy.log_probabilities(Decision(put.tokens, put)).any()
    score = policy.score(put.prompt, Decision(put.tokens, put))
    assert not any(bool(part.any()) for part in score)


def test_a_temperature_of_zero_is_refused(tiny_model: Model, tiny_tokenizer: Tokenizer) -> None:
    with pytest.raises(ConfigError, match="temperature is 0") as caught:
        policy_of_ids(tiny_model, tiny_tokenizer, temperature=0)
    assert caught.value.next_step


def test_only_what_is_trained_has_a_gradient(tiny_model: Model, tiny_tokenizer: Tokenizer) -> None:
    tiny_model.requires_grad_(False)
    norm = tiny_model.norm.weight
    policy = policy_of_ids(tiny_model, tiny_tokenizer, trained=[norm])
    (part,) = policy.score(HALF.prompt, Decision(HALF.tokens, HALF))
    assert part.shape == norm.shape and part.any()
    before = policy.act([(1, 2, 3)], greedy=True)
    policy.parameters[0].add_(torch.linspace(-5, 5, len(norm)))
    assert not policy.parameters[0].requires_grad
    assert policy.act([(1, 2, 3)], greedy=True) != before, "it draws from the weights of now"


def test_features_of_a_turn(tiny_model: Model) -> None:
    features = turn_features(tiny_model, IDS)
    one, other = features((1, 2, 3)), features((1, 2, 4))
    assert one.shape == (tiny_model.config.dim + 1,)
    assert float(one.norm()) == pytest.approx(1.0)
    assert not torch.allclose(one, other, atol=1e-3)
    assert not one.requires_grad
    hidden = tiny_model.hidden_states(torch.tensor([[1, 2, 3]]))[0, -1].detach()
    assert float(F.cosine_similarity(one[:-1], hidden, dim=0)) > 0.99
    value: LinearValue[Ids] = LinearValue(features, len(one))
    for _ in range(200):
        for ids, wanted in (((1, 2, 3), 1.0), ((1, 2, 4), -1.0)):
            value.weights.add_(value.gradient(ids)[0], alpha=wanted - value(ids))
    assert (value((1, 2, 3)), value((1, 2, 4))) == pytest.approx((1.0, -1.0), abs=0.1)


def test_the_example_of_the_page_runs(tiny_model: Model, tiny_tokenizer: Tokenizer) -> None:
    (block,) = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    names = {"model": tiny_model, "tokenizer": tiny_tokenizer}
    random.seed(0)
    exec(block, names)
