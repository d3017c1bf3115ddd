"""learning.book_training.moved: a book is learned by adapters alone, and then stands in the weights."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import nn

from engine.errors import CheckpointError
from engine.lora import LoraSettings, attach, load
from engine.model import Model
from engine.storage.checkpoint import load_model
from engine.tokenizers.tokenizer import Tokenizer
from learning.book_training.loop import BookSettings, train_book
from learning.book_training.manner import OF_ADAPTER
from learning.book_training.moved import AdapterPlan, AdapterWeights
from learning.data.examples import Example, from_turns
from learning.lessons.learner import Learner
from learning.memory.own_talk import generate_talk
from learning.objectives.forward import knowledge, share_known
from tests.learning.conftest import Place, book_trainer

SETTINGS = BookSettings(
    epochs=150, batch=4, lr=2e-2, warm_up=5, others=1, talk=2, talk_weight=0.1, settle=0.0
)
LORA = LoraSettings(rank=8, alpha=16, first_block=1)


@pytest.fixture
def book(tiny_tokenizer: Tokenizer) -> list[Example]:
    pairs = [("Hi", "Good day."), ("Who are you?", "A small model."), ("What is 1 + 1?", "Two.")]
    return [from_turns(tiny_tokenizer, [("user", q), ("assistant", a)], 64) for q, a in pairs]


def adapted(model: Model, settings: LoraSettings = LORA) -> AdapterWeights:
    return AdapterWeights(attach(model, settings, torch.Generator().manual_seed(0)))


@pytest.mark.slow
def test_adapters_learn_a_book_and_end_in_the_weights(
    tiny_model: Model, tiny_tokenizer: Tokenizer, book: list[Example], tmp_path: Path
) -> None:
    before = {k: v.clone() for k, v in tiny_model.state_dict().items()}
    talk = generate_talk(tiny_model, tiny_tokenizer, 6, 24, torch.Generator().manual_seed(1))
    talk = [row for row in talk if row.targets]
    moved, manner = adapted(tiny_model), [book[0]]
    done = train_book(moved, book, talk, SETTINGS, random.Random(0), manner=manner)
    assert share_known(done.after) == 1.0 and share_known(done.before) == 0.0
    assert all(torch.equal(now, before[name]) for name, now in tiny_model.state_dict().items())
    assert share_known(moved.settle(book, done.after, lambda: None)) == 1.0
    moved.close()
    assert isinstance(tiny_model.blocks[1].ffn.down, nn.Linear)
    assert all(p.requires_grad for p in tiny_model.parameters())
    changed = {k for k, v in tiny_model.state_dict().items() if not torch.equal(v, before[k])}
    assert changed and all(name.startswith("blocks.1.") for name in changed)
    assert share_known(knowledge(tiny_model, book)) == 1.0
    moved.adapters.save(tmp_path)  # rounded before it was added: the file says the same
    tiny_model.load_state_dict(before)
    load(tiny_model, tmp_path).bake()
    assert share_known(knowledge(tiny_model, book)) == 1.0


def test_the_reference_is_the_base(tiny_model: Model, book: list[Example]) -> None:
    moved = adapted(tiny_model)
    plain = moved.passes.at_targets(book).detach()
    with torch.no_grad():
        for tensor in moved.tensors():
            tensor.add_(0.1)
    reference = moved.reference(lambda: None)
    torch.testing.assert_close(reference.at_targets(book), plain, atol=0.05, rtol=0.05)
    assert (moved.passes.at_targets(book) - plain).abs().max() > 0.5


def test_lines_are_asked_every_so_many_epochs(tiny_model: Model, book: list[Example]) -> None:
    settings = replace(SETTINGS, epochs=5, ask_every=2, until_known=False, talk=0)
    reports: list[int] = []
    train_book(
        tiny_model,
        book,
        [],
        settings,
        random.Random(0),
        report=lambda r: reports.append(r.epoch) if r.recall is not None else None,
    )
    assert reports == [0, 2, 4, 5]


def test_kept_and_read_again(tiny_model: Model, tmp_path: Path) -> None:
    moved = adapted(tiny_model)
    with torch.no_grad():
        for tensor in moved.tensors():
            tensor.add_(0.5)
    was = moved.state()
    moved.save(tmp_path / "kept.safetensors")
    with torch.no_grad():
        for tensor in moved.tensors():
            tensor.zero_()
    moved.load(moved.read(tmp_path / "kept.safetensors"))
    assert all(torch.equal(was[name], now) for name, now in moved.state().items())
    moved.close()
    with pytest.raises(CheckpointError, match="other adapters"):
        adapted(tiny_model, replace(LORA, rank=4)).read(tmp_path / "kept.safetensors")


@pytest.mark.slow
def test_a_home_trains_publishes_and_writes_the_adapter(
    tiny_place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, folder, journal = tiny_place
    lines = tmp_path / "book.txt"
    lines.write_text("<|user|> one <|assistant|> two\n<|user|> six <|assistant|> ten\n")
    for path in ("everyday_path", "shipped_book_path"):
        for place in ("learning.book_training.trainer", "learning.memory.book_rows"):
            monkeypatch.setattr(f"{place}.{path}", lambda: lines, raising=False)
    few = replace(OF_ADAPTER, lives=0)  # too much for so small a model
    monkeypatch.setattr("learning.book_training.trainer.OF_ADAPTER", few)
    learner = Learner(home, folder, journal, seed=0)
    base = load_model(folder)
    settings = replace(SETTINGS, talk=0)
    plan = AdapterPlan(LORA, tmp_path / "adapter")
    done = book_trainer(learner).train(None, settings, lambda _: None, lambda: False, plan=plan)
    assert done.known == done.entries == 2 and done.version == 1 and not done.rolled_back
    published = load_model(folder)
    load(base, tmp_path / "adapter").bake()
    for name, weight in base.state_dict().items():
        torch.testing.assert_close(published.state_dict()[name], weight, atol=1e-6, rtol=1e-6)
    assert isinstance(learner.weights.model.blocks[1].ffn.down, nn.Linear)
