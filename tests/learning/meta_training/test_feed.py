"""learning.meta_training.feed: batches in order, made beside the steps."""

from __future__ import annotations

import json
from pathlib import Path
from queue import Queue
from typing import Any

import pytest
import torch

from engine.errors import ConfigError, DataError
from engine.tokenizers.tokenizer import Tokenizer
from learning.meta_training.feed import Feed, FeedSource, OuterBatch
from learning.meta_training.kept_rows import KeptRows
from learning.meta_training.settings import MetaSettings

from .conftest import CONFIG, CPU

SMALL = MetaSettings(small=True, workers=0, lessons=2)


def source_of(base: Path, settings: MetaSettings = SMALL) -> FeedSource:
    return FeedSource(base, None, CONFIG.context, settings)


def batches(base: Path, kept: KeptRows, count: int, workers: int = 0) -> list[OuterBatch]:
    settings = MetaSettings(small=True, workers=workers, lessons=2)
    with Feed(source_of(base, settings), kept, CPU) as feed:
        feed.begin()
        return [feed.get() for _ in range(count)]


def same(one: OuterBatch, other: OuterBatch) -> bool:
    packs = [*one.plain, *(pack for lesson in one.lessons for pack in lesson.asked)]
    others = [*other.plain, *(pack for lesson in other.lessons for pack in lesson.asked)]
    return len(packs) == len(others) and all(
        torch.equal(a.ids, b.ids) for a, b in zip(packs, others, strict=True)
    )


def test_the_same_seed_gives_the_same_batches_in_order(
    base: Path, kept: KeptRows, all_kept: KeptRows, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(KeptRows, "of", lambda *_: all_kept)
    first = batches(base, kept, 2)
    assert all(map(same, first, batches(base, kept, 2)))
    assert not same(*first)
    assert len(first[0].lessons) == 2


@pytest.mark.slow
def test_processes_give_the_same_batches(base: Path, kept: KeptRows) -> None:
    found = batches(base, kept, 3, workers=2)
    assert all(map(same, found, batches(base, kept, 3)))


def test_an_error_of_the_making_is_raised_where_batches_are_taken(
    base: Path, kept: KeptRows, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise DataError("the book is bad")

    monkeypatch.setattr(KeptRows, "of", fail)
    with pytest.raises(DataError, match="the book is bad"):
        batches(base, kept, 1)


class Ended:
    """A process that has ended."""

    def is_alive(self) -> bool:
        return False

    terminate = join = is_alive


def test_a_process_that_ends_is_an_error(base: Path, kept: KeptRows) -> None:
    with Feed(source_of(base), kept, CPU) as feed:
        feed._workers, feed._made = [Ended()], [Queue()]  # type: ignore[list-item]
        feed.begin()
        with pytest.raises(ConfigError, match="has ended"):
            feed.get()


def test_peoples_conversations_are_held(base: Path, chat: Tokenizer, tmp_path: Path) -> None:
    said = [f"I like walk {n}." for n in range(40)]
    rows = [{"turns": [turn("user", "And you?"), turn("assistant", text)]} for text in said]
    (tmp_path / "talk.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    kept = KeptRows.of(chat, CONFIG.context, None, conversations=[tmp_path])
    found = [chat.decode([row.ids[i] for i in row.places]) for row in kept.conversations]
    assert 35 < len(found) <= 40 and set(found) <= set(said), "a few documents are held out"
    kept.conversations = [row.held_at(10 * number) for number, row in enumerate(kept.conversations)]
    with Feed(source_of(base), kept, CPU) as feed:
        feed.begin()
        batch = feed.get()
    for packs in (batch.plain, *(lesson.asked for lesson in batch.lessons)):
        references = torch.cat([pack.targets.held_reference for pack in packs])
        assert {int(at) // 10 for at in references} <= set(range(len(found))) and len(references)


def turn(role: str, text: str, weight: int = 1) -> dict[str, Any]:
    return {"role": role, "text": text, "weight": weight}


def test_turns_without_loss_are_context_of_a_conversation(chat: Tokenizer, tmp_path: Path) -> None:
    row = [turn("user", "And you?"), turn("assistant", "I like fish.", 0)]
    row += [turn("user", "And you?"), turn("assistant", "I like walks.")]
    (tmp_path / "talk.jsonl").write_text(f"{json.dumps({'turns': row})}\n")
    (found,) = KeptRows.of(chat, CONFIG.context, None, conversations=[tmp_path]).conversations
    assert chat.decode([found.ids[i] for i in found.places]) == "I like walks."
    assert "I like fish." in chat.decode(list(found.ids))


def test_files_without_conversations_are_refused(chat: Tokenizer, tmp_path: Path) -> None:
    (tmp_path / "story.txt").write_text("Once upon a time.\n")
    with pytest.raises(DataError, match="no conversations"):
        KeptRows.of(chat, CONFIG.context, None, conversations=[tmp_path])
