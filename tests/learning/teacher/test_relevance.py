"""What the model says of a question and a lesson."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from made_tokenizers import trained, write

from engine.config import CONFIGS
from engine.generate import prefill
from engine.model import Model
from engine.packed import packed
from engine.tokenizers.chat_format import encode_prompt
from engine.tokenizers.load import load_tokenizer
from engine.tokenizers.tokenizer import Tokenizer
from learning.teacher.relevance import (
    Evidence,
    Weighing,
    answer_logprobs,
    reads_contexts,
)

DOG = "What is my dog called?"


def test_likelihood_grows_with_the_evidence() -> None:
    weighing = Weighing(bias=0.5, near=1.0, ahead=2.0, answer=0.5, token=1.0)
    assert weighing.likely(Evidence(0.5, 0.0, -2.0, 0.0)) == 0.5
    assert weighing.likely(Evidence(0.5, 1.0, -2.0, -0.5)) == pytest.approx(0.81757, abs=1e-5)
    assert weighing.likely(Evidence(0.0, -9.0, -900.0, -9.0)) < 1e-9


@pytest.fixture(scope="module")
def chatml(tmp_path_factory: pytest.TempPathFactory) -> Tokenizer:
    return load_tokenizer(write(tmp_path_factory.mktemp("chatml"), trained()))


@pytest.fixture(scope="module")
def imported(chatml: Tokenizer) -> Model:
    config = replace(CONFIGS["tiny"], vocab_size=chatml.vocab_size, context=256)
    return Model(config, generator=torch.Generator().manual_seed(0)).requires_grad_(False)


def test_only_a_model_with_a_system_turn_reads_contexts(
    chatml: Tokenizer, tiny_tokenizer: Tokenizer
) -> None:
    assert reads_contexts(chatml) and not reads_contexts(tiny_tokenizer)


def logprob(model: Model, ids: list[int], token: int) -> float:
    _, logits = prefill(packed(model), ids, 1)
    return float(logits.log_softmax(-1)[0, token])


@pytest.mark.parametrize("own", [True, False])
def test_answers_are_scored_as_the_model_would_say_them(
    own: bool, imported: Model, chatml: Tokenizer, tiny_model: Model, tiny_tokenizer: Tokenizer
) -> None:
    model, tokenizer = (tiny_model, tiny_tokenizer) if own else (imported, chatml)
    texts = ["Bo.", "Your dog is called Bruno."]
    found = answer_logprobs(model, tokenizer, DOG, texts)
    for text, logprobs in zip(texts, found, strict=True):
        body = [*tokenizer.encode(text), tokenizer.chat.end]
        ids = encode_prompt(tokenizer, [("user", DOG)], model.config.context, 32)
        for place, token in enumerate(body):
            alone = logprob(model, [*ids, *body[:place]], token)
            assert logprobs[place] == pytest.approx(alone, abs=0.02)
