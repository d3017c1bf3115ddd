"""A language model as a policy: turns in, replies out, many at a time; and features of a turn for a critic.

A world shows texts (learning.envs.question) or ids (learning.envs.dialogue); a PromptForm says how these
become prompts, and replies the world's actions. Ids are continued and never encoded anew.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic

import torch
import torch.nn.functional as F
from torch import Generator, Tensor

from engine.errors import ConfigError
from engine.model import Model
from engine.precision import autocast
from engine.rollout import Rollout
from engine.sampling import NEVER
from engine.tokenizers.chat_format import encode_whole
from engine.tokenizers.tokenizer import Tokenizer
from learning.agents.interface import Action, Decision, DrawnTokens, Obs
from learning.agents.value import reply_states, token_states

Ids = tuple[int, ...]


@dataclass(frozen=True)
class PromptForm(Generic[Obs, Action]):
    """How a world's observations become prompts, and replies its actions."""

    read: Callable[[Obs], Ids]
    """Observation -> prompt."""
    say: Callable[[Ids], Action]
    """Reply, with the id that ended it -> action."""


def texts(tokenizer: Tokenizer, context: int) -> PromptForm[str, str]:
    """A text is the only message of a conversation, a reply is its text. context: of the model, in ids;
    `read` raises DataError for a text that does not fit."""
    return PromptForm(
        lambda text: tuple(encode_whole(tokenizer, text, context)),
        lambda reply: tokenizer.decode(reply).strip(),
    )


IDS: PromptForm[Ids, Ids] = PromptForm(lambda prompt: prompt, lambda reply: reply)
"""Prompts and replies are ids as they are."""


class LanguagePolicy(Generic[Obs, Action]):
    """π(reply|turn) = Π π(token|turn, tokens before it) at one temperature: a Policy and an Actor. A decision
    is a whole reply and carries its tokens. Ids that chat never says have probability 0
    (Tokenizer.unsaid)."""

    def __init__(
        self,
        model: Model,
        tokenizer: Tokenizer,
        form: PromptForm[Obs, Action],
        *,
        max_tokens: int,
        generator: Generator,
        temperature: float = 1.0,
        trained: Sequence[Tensor] | None = None,
    ) -> None:
        """max_tokens: of a reply. generator: all chance. temperature: > 0, of drawing and of the gradient.
        trained: those of the model's parameters that learn, None: all; gradients are enabled for them. Raises
        ConfigError for a temperature that is not above 0."""
        if not temperature > 0:
            raise ConfigError(
                f"temperature is {temperature}, more than 0 is needed",
                "ask for greedy replies instead",
            )
        self._model, self._form, self._max_tokens = model, form, max_tokens
        size = model.config.vocab_size
        self._ends, self._never = tokenizer.reply_ends(size), tokenizer.unsaid(size)
        self._generator, self._temperature = generator, temperature
        self._trained = list(model.parameters()) if trained is None else list(trained)
        for tensor in self._trained:
            tensor.requires_grad_(True)

    def act(self, observations: Sequence[Obs], *, greedy: bool = False) -> list[Decision[Action]]:
        """See Policy; one batch. greedy: log-probabilities are 0, since nothing is drawn. Raises DataError
        for a turn that leaves no room for a reply."""
        prompts = [self._form.read(observation) for observation in observations]
        answers = Rollout(
            self._model,
            prompts,
            1,
            ends=self._ends,
            never=self._never,
            max_tokens=self._max_tokens,
            temperature=0.0 if greedy else self._temperature,
            generator=self._generator,
        ).answers()
        found = []
        for prompt, (one,) in zip(prompts, answers, strict=True):
            own = (True,) * len(one.tokens)
            drawn = DrawnTokens(prompt, one.tokens, one.logprobs, own, one.ending)
            found.append(Decision(self._form.say(one.tokens), drawn))
        return found

    @property
    def parameters(self) -> list[Tensor]:
        """What learning changes in place: the trained tensors, without gradient."""
        return [tensor.detach() for tensor in self._trained]

    def log_probabilities(self, decision: Decision[Action]) -> Tensor:
        """log π of each token by the weights of now, [tokens], in nats, with gradient; at the temperature of
        DrawnTokens.logprobs and, like those, 0 where a token is not its own."""
        drawn = decision.drawn
        assert drawn is not None, "a table's decision has no tokens"
        device = self._model.device
        own = torch.tensor(drawn.own, dtype=torch.bool, device=device)
        labels = torch.tensor(drawn.tokens, device=device)[own]
        with autocast(device):
            logits = self._model.logits(reply_states(self._model, drawn)[:-1][own])
            shaped = logits.float() / self._temperature
            never = torch.tensor(self._never, dtype=torch.long, device=device)
            shaped = shaped.index_fill(1, never, NEVER)
            found = -F.cross_entropy(shaped, labels, reduction="none")
            return found.new_zeros(len(own)).masked_scatter(own, found)

    def score(
        self, observation: Obs, decision: Decision[Action], weights: Tensor | None = None
    ) -> list[Tensor]:
        """See Actor; one backward pass. The observation is not read: the decision has its prompt."""
        with torch.enable_grad():
            found = self.log_probabilities(decision)
            total = (found if weights is None else found * weights.to(found)).sum()
            return list(torch.autograd.grad(total, self._trained, materialize_grads=True))


def turn_features(model: Model, form: PromptForm[Obs, Action]) -> Callable[[Obs], Tensor]:
    """Features of a turn for LinearValue: the hidden state before its reply and a 1, [D + 1], brought to
    length 1, as those of a table are.

    The features of two turns are alike, so traces grow long and rates must be smaller than a table's: with
    λ 0.9 a critic of conversations of seven replies diverged at 0.5, and settled at 0.2 and 0.05. Bounded
    steps (`ActorCritic`) settle too.

    The model is only read. A frozen copy of the policy's model has features that stay, and the value can
    settle. The policy's own model needs no copy, but its states move with every step of the policy.
    """

    def features(observation: Obs) -> Tensor:
        (state,) = token_states(model, DrawnTokens(form.read(observation), (), (), ()))
        return F.normalize(F.pad(state / len(state) ** 0.5, (0, 1), value=1.0), dim=0)

    return features
