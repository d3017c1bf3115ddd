"""learning.meta_training.reading: what greedy decoding gives, as the engine's model does."""

from __future__ import annotations

import torch

from learning.meta_training.kept_rows import KeptRows
from learning.meta_training.network import MergedNetwork
from learning.meta_training.own_answers import first_sentence
from learning.meta_training.reading import greedy, margins
from learning.meta_training.rows import MetaRow


def test_it_goes_on_as_the_model_does(network: MergedNetwork, kept: KeptRows) -> None:
    writer, model = kept.writer, network.factors.adapters.model
    prompts = [writer.prompt(text) for text in ("hello there", "What?", "Who are you, my friend?")]
    found = greedy(network, prompts, writer.end, 5)
    rows = []
    for prompt, said in zip(prompts, found, strict=True):
        ids = [*writer.tokenizer.chat.start, *prompt]
        for one in said:
            assert one == model(torch.tensor([ids]))[0, -1].argmax().item()
            ids.append(one)
        rows.append(MetaRow((*prompt, *said), tuple(range(len(prompt), len(prompt) + len(said)))))
        assert said, "a model of random weights does not stop at once"
    assert min(margins(network, rows)) > 0.0
    other = [MetaRow((*row.ids[:-1], (row.ids[-1] + 1) % 800), row.places) for row in rows]
    assert max(margins(network, other)) < 0.0


def test_without_prompts_there_are_no_answers(network: MergedNetwork) -> None:
    assert greedy(network, [], 0, 5) == [] and margins(network, []) == []


def test_an_answer_is_cut_behind_its_first_sentence() -> None:
    assert first_sentence(" A lake is 3.5 m deep! And wide.") == "A lake is 3.5 m deep!"
    assert first_sentence("it goes on and on") == ""
