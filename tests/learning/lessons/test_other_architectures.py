"""A lesson is learned, saved and answered by every architecture, with another program's tokenizer."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from made_tokenizers import trained, write

import learning.memory.book_rows
from engine.cache import KeyValueCache
from engine.config import CONFIGS, RopeScaling
from engine.model import Model
from engine.packed import packed
from engine.storage.checkpoint import load_model, save_model
from engine.storage.checkpoint_check import check_model
from engine.storage.weight_files import current_files
from learning.home import Home
from learning.journal.journal import Journal
from learning.lessons.learner import Learner
from learning.memory.tasks import answer_example
from learning.objectives.forward import knowledge
from learning.protocol.records import Lesson, Turn
from tests.short_lessons import LEARNED


@pytest.mark.slow
@pytest.mark.parametrize(
    "changes",
    [
        {"qk_norm": True, "head_size": 32},
        {"tied": False, "rope_scaling": RopeScaling("llama3", 4.0, original=32)},
    ],
    ids=["qwen3", "llama, untied, llama3 rope"],
)
def test_a_lesson(changes: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    book = tmp_path / "book.txt"
    book.write_text("<|user|> hello <|assistant|> Hello, I am well.\n")
    monkeypatch.setattr(learning.memory.book_rows, "shipped_book_path", lambda: book)
    home = Home(tmp_path / "home")
    folder = home.models_path / "other"
    config = replace(CONFIGS["tiny"], vocab_size=640, context=256, **changes)
    save_model(Model(config, generator=torch.Generator().manual_seed(0)), folder)
    write(folder, trained())
    journal = Journal(home.journal_path)
    learner = Learner(home, folder, journal, seed=0, settings=LEARNED)
    before = load_model(folder).state_dict()
    said = Lesson("example", (Turn("user", "What is my cat called?"),), "Biscuit.")
    (taught,) = journal.add_lessons([said])
    assert learner.learn(taught).state == "learned"
    check_model(folder, current_files(folder).newest)
    saved = load_model(folder)
    example = answer_example(learner.tokenizer, taught, config.context)
    assert example is not None and knowledge(saved, [example])[0].known
    moved = {k for k, v in saved.state_dict().items() if not torch.equal(v, before[k])}
    assert moved and not moved & {"embedding.weight", "output.weight", "norm.weight"}
    assert not any("norm" in name for name in moved), "matrices alone are taught"
    ids = torch.tensor([example.ids[:-1]])
    fast = packed(learner.published.model)
    cache = KeyValueCache(config, 1, 256, fast.dtype, fast.device)
    logits = fast.logits(fast.hidden_states(ids, cache=cache))[0].argmax(-1)
    wanted = [i for i, target in enumerate(example.target[1:]) if target]
    assert [int(logits[i]) for i in wanted] == [example.ids[i + 1] for i in wanted]
    journal.close()
