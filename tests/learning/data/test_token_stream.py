"""learning.data.token_stream: rows without padding or loss, mixtures, shuffling, skipping, sharing."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
import torch

from engine.errors import DataError
from engine.tokenizers.ranks import RankTokenizer
from learning.data.corpus import Document
from learning.data.token_cache import cached_tokens
from learning.data.token_stream import TokenStream
from learning.data.tokens import Corpus, tokenise

T = RankTokenizer({bytes([b]): b for b in range(256)})  # one id per byte


def _documents(count: int, source: str = "a") -> list[Document]:
    return [Document(source, text=f"{source}{i}") for i in range(count)]


def _seen(stream: TokenStream, documents: int) -> list[str]:
    """The texts of the first documents of the stream, in order."""
    ids = itertools.chain.from_iterable(row for row, _ in stream.rows(1))
    texts: list[str] = []
    while len(texts) < documents:
        assert next(ids) == T.end
        texts.append(T.decode(itertools.takewhile(lambda i: i != T.end, ids)))
    return texts


def test_a_pass_holds_every_document_once() -> None:
    stream = TokenStream.of(_documents(30), T, seed=1)
    first, second = (lambda seen: (seen[:30], seen[30:]))(_seen(stream, 60))
    assert sorted(first) == sorted(second) == sorted(d.text for d in _documents(30))
    assert first != second
    assert stream.tokens == sum(len(d.text) + 2 for d in _documents(30))


def test_weights_repeat_and_thin() -> None:
    documents = _documents(10, "a") + _documents(400, "b") + _documents(5, "c")
    order = TokenStream.of(documents, T, weights={"a": 3.0, "b": 0.5, "c": 0.0}).order(0)
    assert all(order.count(i) == 3 for i in range(10))
    assert 150 < sum(10 <= i < 410 for i in order) < 250
    assert not any(i >= 410 for i in order)


def test_rare_documents_come_sooner_or_later() -> None:
    stream = TokenStream.of(_documents(1), T, weights={"a": 0.2})
    assert _seen(stream, 2) == ["a0", "a0"]


@pytest.mark.parametrize("weights", [None, {"a": 0.0}])
def test_nothing_to_train_on_is_an_error(weights: dict[str, float] | None) -> None:
    stream = TokenStream.of(_documents(3) if weights else [], T, weights=weights)
    with pytest.raises(DataError, match="no documents"):
        next(stream.rows(8))


def test_owner_numbers_follow_the_documents() -> None:
    stream = TokenStream.of(_documents(9), T)
    for ids, owners in itertools.islice(stream.rows(16), 6):
        assert len(ids) == len(owners) == 16
        for (a, b), (x, y) in zip(itertools.pairwise(ids), itertools.pairwise(owners), strict=True):
            assert (a == b == T.end) == (x != y)


def test_what_is_not_learned_is_marked_and_held_out_text_is_not() -> None:
    turns = (("user", "ab"), ("assistant", "cd"))
    document = Document("a", turns, unlearned=frozenset({0}))
    ids, _ = next(TokenStream.of([document], T).rows(7))
    assert ids == [T.user, ~ord("a"), ~ord("b"), T.assistant, ord("c"), ord("d"), T.end]
    muted = Document("a", turns, unlearned=frozenset({1}))
    ids, _ = next(TokenStream.of([muted], T).rows(7))
    assert ids == [T.user, ord("a"), ord("b"), T.assistant, ~ord("c"), ~ord("d"), ~T.end]
    corpus = Corpus([tokenise([document, muted], T)])
    for held in corpus.held_out().values():
        assert all(i >= 0 for ids in held for i in ids)


def test_skipping_equals_consuming() -> None:
    stream = TokenStream.of(_documents(9), T, seed=4)
    consumed = list(itertools.islice(stream.batches(2, 16), 6))[4:]
    skipped = list(itertools.islice(stream.batches(2, 16, skip=4), 2))
    for (ids, owners), (other_ids, other_owners) in zip(consumed, skipped, strict=True):
        assert torch.equal(ids, other_ids)
        assert torch.equal(owners, other_owners)


def test_shares_make_up_the_batch() -> None:
    stream = TokenStream.of(_documents(9), T, seed=4)
    whole = list(itertools.islice(stream.batches(6, 16, skip=2), 3))
    shares = [
        list(itertools.islice(stream.batches(6, 16, skip=2, share=(k, 3)), 3)) for k in range(3)
    ]
    for step, (ids, owners) in enumerate(whole):
        assert torch.equal(ids, torch.cat([share[step][0] for share in shares]))
        assert torch.equal(owners, torch.cat([share[step][1] for share in shares]))


def test_a_source_that_does_not_exist_is_named_with_those_that_do() -> None:
    documents = _documents(3, "stories") + _documents(3, "talk")
    with pytest.raises(DataError, match=r"'storys'.*stories, talk"):
        TokenStream.of(documents, T, weights={"storys": 2.0})


def test_what_is_held_out_is_never_trained_on() -> None:
    corpus = Corpus([tokenise(_documents(3000), T), tokenise(_documents(500, "b"), T)])
    assert 5 <= corpus.held.sum() <= 40
    held = {tuple(ids) for source in corpus.held_out().values() for ids in source}
    seen = {tuple(corpus.document(i)) for i in TokenStream(corpus).order(0)}
    assert len(seen) == 3500 - len(held) and not seen & held
    assert corpus.tokens() + corpus.tokens(held=True) == corpus.length.sum()
    assert sum(s["held_out"] for s in corpus.by_source().values()) == len(held)


@pytest.mark.slow
def test_each_document_may_have_a_source_of_its_own() -> None:
    documents = [Document(f"source {i}", text=f"text {i}") for i in range(66_000)]
    corpus = Corpus([tokenise(documents, T)])
    found = corpus.by_source()
    assert found["source 65999"] == {"documents": 1, "tokens": len("text 65999") + 2, "held_out": 0}
    assert {n for n, s in found.items() if s["held_out"]} == set(corpus.held_out())
    assert sum(s["held_out"] for s in found.values()) == corpus.held.sum() > 200


@pytest.mark.parametrize(("count", "held"), [(1, 0), (2, 1), (30, 1)])
def test_a_small_text_holds_out_one_document(count: int, held: int) -> None:
    assert Corpus([tokenise(_documents(count), T)]).held.sum() == held


def test_files_and_memory_give_the_same_rows(tmp_path: Path) -> None:
    texts = [[f"{name}{i}" for i in range(20)] for name in "xy"]
    for name, content in zip("xy", texts, strict=True):
        (tmp_path / f"{name}.txt").write_text("\n\n\n".join(content), "utf-8")
    parts = [cached_tokens(tmp_path / f"{n}.txt", T, tmp_path / "cache") for n in "xy"]
    assert all(isinstance(part.ids, np.memmap) for part in parts)
    documents = [Document(n, text=t) for n, c in zip("xy", texts, strict=True) for t in c]
    stream = TokenStream(Corpus(parts, hold_out=False), seed=1)
    other = TokenStream.of(documents, T, seed=1)
    rows = zip(stream.rows(32), other.rows(32), strict=True)
    assert all(one == two for one, two in itertools.islice(rows, 30))


def test_a_pass_over_some_documents_has_these_alone() -> None:
    corpus = Corpus([tokenise(_documents(500), T)])
    held = np.flatnonzero(corpus.held)
    some = TokenStream(corpus, documents=np.array([4, 7, held[0]]))
    assert sorted(some.order(0)) == sorted([4, 7, int(held[0])])
    assert some.tokens_per_pass == int(corpus.length[[4, 7, held[0]]].sum())
    assert (
        sorted(TokenStream(corpus, weights={"a": 2.0}, documents=held[:1]).order(1))
        == [held[0]] * 2
    )
