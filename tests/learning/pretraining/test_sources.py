"""learning.pretraining.sources: rows by what sources are worth, exact resumption."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from engine.config import CONFIGS
from engine.errors import ConfigError
from engine.tokenizers.ranks import RankTokenizer
from learning.curriculum.interface import Visit
from learning.curriculum.methods import ArmChoice
from learning.data.corpus import Document
from learning.data.token_stream import TokenStream
from learning.data.tokens import Corpus, tokenise
from learning.pretraining.checkpoint import read_record
from learning.pretraining.loop import fresh_model, pretrain
from learning.pretraining.settings import PretrainReport, PretrainSettings, Progress
from learning.pretraining.sources import SourceCurriculum

T = RankTokenizer({bytes([b]): b for b in range(256)})
CONFIG = replace(CONFIGS["tiny"], vocab_size=T.vocab_size)
SETTINGS = PretrainSettings(
    tokens=24 * 256, row=64, rows=4, micro_rows=2, fp32=True, curriculum="sec", curriculum_rows=1
)
STEPS = 3
"""Of a block with these settings and two sources: 2 / (3 x 0.08 x 4), rounded up."""
EASY, HARD, SMALL = "abcabc", "qzxjkv", "m"


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    """Tiny products on two threads wait for each other longer than they compute."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def held_by(letters: str, want: bool) -> Iterator[str]:
    """Texts of these letters that are held out, or are not."""
    for number in itertools.count():
        text = f"{letters}{number} " * 4
        if Document("", text=text).held_out == want:
            yield text


def documents(source: str, letters: str, seen: int = 12, held: int = 3) -> list[Document]:
    texts = [*itertools.islice(held_by(letters, False), seen)]
    texts += itertools.islice(held_by(letters, True), held)
    return [Document(source, text=text) for text in texts]


def stream(*more: Document, seed: int = 3) -> TokenStream:
    found = [*documents("easy", EASY), *documents("hard", HARD), *more]
    return TokenStream(Corpus([tokenise(found, T)]), seed=seed)


def sources_of(batch: tuple[Tensor, Tensor]) -> list[str]:
    """The source of each row, by its letters; "" for one of SMALL."""
    texts = [T.decode([i for i in row if i < 256]) for row in batch[0].tolist()]
    return ["easy" if EASY in text else "hard" if HARD in text else "" for text in texts]


class Scripted:
    """Losses that fall by so much of a source from one measurement of it to the next."""

    def __init__(self, **falls: float) -> None:
        self.falls, self.losses, self.calls = falls, dict.fromkeys(falls, 5.0), list[str]()

    def __call__(self, ids: Tensor, owners: Tensor) -> float:
        [name, *others] = set(sources_of((ids, owners)))
        assert not others
        self.calls.append(name)
        self.losses[name] -= self.falls[name]
        return self.losses[name] * len(ids)


def made(losses: Callable[[Tensor, Tensor], float], **changes: Any) -> SourceCurriculum:
    return SourceCurriculum(stream(), replace(SETTINGS, **changes), losses, T.vocab_size)


def test_rows_of_a_step_are_of_both_sources_and_have_no_held_out_text() -> None:
    chosen = made(Scripted(easy=0.1, hard=0.1))
    held = [doc.text for doc in [*documents("", EASY), *documents("", HARD)] if doc.held_out]
    drawn = list[str]()
    for step in range(40):
        batch = chosen.batch(step)
        assert batch[0].shape == batch[1].shape == (4, 64)
        drawn += sources_of(batch)
        text = T.decode([i for i in batch[0].flatten().tolist() if i < 256])
        assert len(held) == 6 and not [one for one in held if one.split()[0] in text.split()]
    assert 50 < drawn.count("easy") < 110 and drawn.count("easy") + drawn.count("hard") == 160


def test_rows_of_a_source_come_one_after_the_other() -> None:
    """None is passed over, and none comes twice."""
    chosen = made(Scripted(easy=0.1, hard=0.1))
    found: dict[str, list[list[int]]] = {"easy": [], "hard": []}
    for step in range(20):
        batch = chosen.batch(step)
        for name, row in zip(sources_of(batch), batch[0].tolist(), strict=True):
            found[name].append(row)
    corpus = stream().corpus
    for name, rows in found.items():
        own = np.flatnonzero(~corpus.held & (corpus.source == corpus.names.index(name)))
        alone = TokenStream(corpus, seed=3, documents=own).rows(64)
        assert rows == [row for row, _ in itertools.islice(alone, len(rows))]


@pytest.mark.parametrize("method", ["sec", "exp3"])
def test_the_source_whose_loss_falls_most_gets_most_tokens_and_the_other_a_floor(
    method: str,
) -> None:
    chosen = made(Scripted(easy=0.004, hard=0.02), curriculum=method)
    for step in range(300):
        chosen.batch(step)
    easy, hard = (Figures(**one) for one in chosen.figures().values())
    assert hard.share > 0.6 > 0.4 > easy.share > 0.025
    assert hard.tokens + easy.tokens == 300 * 256
    assert hard.value > easy.value
    assert hard.weight + easy.weight == pytest.approx(1.0, abs=1e-3)


@dataclass(frozen=True)
class Figures:
    tokens: int
    share: float
    weight: float
    value: float
    fall: float


def test_a_fall_is_that_of_the_loss_divided_by_the_sources_own_tokens() -> None:
    chosen = made(Scripted(easy=0.4, hard=0.3))
    drawn = list[str]()
    for step in range(STEPS):
        assert chosen.figures()["easy"]["fall"] is None
        drawn += sources_of(chosen.batch(step))
    chosen.batch(STEPS)
    tokens = {name: 64 * drawn.count(name) for name in ("easy", "hard")}
    assert min(tokens.values()) >= 64 * 3, "or they count as a quarter of the twelve rows"
    found = {name: one["fall"] for name, one in chosen.figures().items()}
    assert found["easy"] == pytest.approx(1e6 * 0.4 / tokens["easy"], rel=1e-4)
    assert found["hard"] == pytest.approx(1e6 * 0.3 / tokens["hard"], rel=1e-4)


def test_a_curriculum_hears_of_every_source_in_units_of_the_usual_fall(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Every source counts as visited, whatever was drawn from it."""
    heard = list[tuple[list[Visit], Tensor]]()
    monkeypatch.setattr(ArmChoice, "learn", lambda _, visits, drawn: heard.append((visits, drawn)))
    chosen = made(Scripted(easy=0.4, hard=0.3))
    for step in range(2 * STEPS + 1):
        chosen.batch(step)
    (first, drawn_with), (second, _) = heard
    assert drawn_with.tolist() == [0.5, 0.5]
    assert [visit.arm for visit in first] == [0, 1]
    assert sum(visit.gain for visit in first) == pytest.approx(2.0), "the mean is one unit"
    # measured after falls of 0.8 and 0.6, then of 1.2 and 0.9, from 5
    found = [visit.success for visit in [*first, *second]]
    losses = (4.2, 4.4, 3.8, 4.1)
    assert found == pytest.approx([1 - loss / math.log(T.vocab_size) for loss in losses])


def test_a_source_of_which_hardly_anything_was_drawn_is_not_worth_much_by_chance() -> None:
    """Nothing of it was drawn, so its fall is the work of others; it is divided by half an equal share."""
    chosen = made(Scripted(easy=0.3, hard=0.3))
    state = chosen.state() | {"before": [5.0, 5.0], "taken": [12, 0], "begun": [0, 0]}
    chosen.load(state)
    chosen.batch(0)
    found = {name: one["fall"] for name, one in chosen.figures().items()}
    assert found == {
        "easy": pytest.approx(1e6 * 0.3 / (12 * 64), rel=1e-4),
        "hard": pytest.approx(1e6 * 0.3 / (3 * 64), rel=1e-4),
    }


@pytest.mark.parametrize(
    ("changes", "steps", "rows"),
    [
        ({}, STEPS, 1),
        ({"curriculum_rows": 4}, 9, 4),  # 8 / 0.96
        ({"curriculum_rows": 4, "rows": 32}, 2, 4),  # 8 / 7.68
        ({"curriculum_rows": 4, "curriculum_cost": 0.5}, 2, 4),  # 8 / 6
        ({"curriculum_rows": 4000, "rows": 64, "curriculum_cost": 0.5}, 1, None),
    ],
)
def test_a_block_is_as_long_as_the_cost_of_measuring_wants(
    changes: dict[str, Any], steps: int, rows: int | None
) -> None:
    """All sources are measured at the beginning of each, on at most as many rows as their text fills."""
    sizes = list[int]()

    def losses(ids: Tensor, _: Tensor) -> float:
        sizes.append(len(ids))
        return 1.0

    texts = [*documents("easy", EASY, 12, 12), *documents("hard", HARD, 12, 12)]
    corpus = Corpus([tokenise(texts, T)])
    chosen = SourceCurriculum(
        TokenStream(corpus), replace(SETTINGS, **changes), losses, T.vocab_size
    )
    assert chosen.steps == steps
    for step in range(2 * steps):
        chosen.batch(step)
    full = [
        int(corpus.length[corpus.held & (corpus.source == place)].sum()) // 64 for place in (0, 1)
    ]
    assert min(full) >= 4
    assert sizes == ([rows] * 4 if rows else full * 2)


def test_uniform_measures_nothing() -> None:
    losses = Scripted(easy=0.1, hard=0.9)
    chosen = made(losses, curriculum="uniform")
    drawn = [name for step in range(100) for name in sources_of(chosen.batch(step))]
    assert losses.calls == []
    assert 170 < drawn.count("easy") < 230


def test_sources_without_held_out_text_keep_their_share_together() -> None:
    rare = documents("rare", SMALL, 12, 0) + documents("other", SMALL + "n", 6, 0)
    with_rest = stream(*rare)
    losses = Scripted(easy=0.03, hard=0.001)
    chosen = SourceCurriculum(with_rest, SETTINGS, losses, T.vocab_size)
    assert chosen.names == ("easy", "hard") and chosen.unmeasured == ("other", "rare")
    own = with_rest.corpus.by_source()
    share = sum(own[name]["tokens"] for name in ("rare", "other")) / with_rest.tokens
    drawn = [name for step in range(150) for name in sources_of(chosen.batch(step))]
    assert drawn.count("") / 600 == pytest.approx(share, abs=0.06)
    told = chosen.told()
    assert told["not_measured"] == {"sources": ["other", "rare"], "tokens": 64 * drawn.count("")}
    weights = sum(one["weight"] for one in told["sources"].values())
    assert weights == pytest.approx(1 - share, abs=0.03)


def test_one_source_is_nothing_to_choose_among() -> None:
    alone = TokenStream(Corpus([tokenise(documents("easy", EASY), T)]))
    with pytest.raises(ConfigError, match="1 of 1.*leave --curriculum out"):
        pretrain(fresh_model(CONFIG, 0), alone, SETTINGS)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"curriculum": "thresholds"}, "right answers, which text does not have.*uniform, sec"),
        ({"curriculum": "best"}, "no curriculum 'best'.*uniform, sec, exp3, progress"),
        ({"curriculum_rows": 0}, "curriculum_rows is too small"),
        ({"curriculum_cost": 0.0}, "above 0"),
        ({"curriculum_cost": 0.6}, "at most 0.5"),
    ],
)
def test_what_does_not_fit_text_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        replace(SETTINGS, **changes)


def stop_after(steps: int) -> Callable[[], bool]:
    calls = iter(range(10_000))
    return lambda: next(calls) >= steps


@pytest.mark.parametrize("method", ["sec", "exp3", "progress", "uniform"])
@pytest.mark.parametrize("stopped_at", [2 * STEPS + 1, 4 * STEPS])
def test_resumed_equals_uninterrupted_bit_for_bit(
    tmp_path: Path, method: str, stopped_at: int
) -> None:
    """Within a block, and between two."""
    settings = replace(SETTINGS, curriculum=method)
    text = stream(*documents("rare", SMALL, 12, 0))
    whole = fresh_model(CONFIG, 0)
    expected = pretrain(whole, text, settings)
    first = fresh_model(CONFIG, 0)
    pretrain(first, text, settings, folder=tmp_path, stop=stop_after(stopped_at))
    second = fresh_model(CONFIG, 99)
    resumed = pretrain(second, text, settings, folder=tmp_path)
    assert resumed.step == expected.step == 24
    assert [entry[:3] for entry in resumed.curve] == [entry[:3] for entry in expected.curve]
    for one, other in zip(whole.parameters(), second.parameters(), strict=True):
        assert torch.equal(one, other)
    assert timeless(resumed.curriculum_state) == timeless(expected.curriculum_state)


def timeless(state: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in state.items() if name != "seconds"}


@pytest.mark.parametrize(
    "changes", [{"curriculum": None}, {"curriculum": "exp3"}, {"curriculum_rows": 2}]
)
def test_a_run_goes_on_only_with_its_curriculum(tmp_path: Path, changes: dict[str, Any]) -> None:
    pretrain(fresh_model(CONFIG, 0), stream(), SETTINGS, folder=tmp_path, stop=stop_after(1))
    with pytest.raises(ConfigError, match="with other curriculum"):
        pretrain(fresh_model(CONFIG, 0), stream(), replace(SETTINGS, **changes), folder=tmp_path)


def test_the_record_and_the_reports_tell_shares_and_values(tmp_path: Path) -> None:
    reports: list[PretrainReport] = []
    progress: Progress = pretrain(
        fresh_model(CONFIG, 0), stream(), SETTINGS, folder=tmp_path, report=reports.append
    )
    told = read_record(tmp_path)["curriculum"]
    assert told == progress.curriculum
    assert told["method"] == "sec" and told["steps_of_a_block"] == STEPS
    assert set(told["sources"]) == {"easy", "hard"} == set(reports[-1].sources)
    assert sum(one["tokens"] for one in told["sources"].values()) == progress.tokens
    assert sum(one["share"] for one in told["sources"].values()) == pytest.approx(1.0, abs=1e-3)
    assert any(one["value"] for one in told["sources"].values())
    assert 0.0 <= progress.curriculum_state["seconds"] <= progress.seconds
    assert "curriculum" not in read_record_without(tmp_path / "plain")


def read_record_without(folder: Path) -> dict[str, Any]:
    plain = replace(SETTINGS, curriculum=None, tokens=256)
    assert pretrain(fresh_model(CONFIG, 0), stream(), plain, folder=folder).curriculum == {}
    return read_record(folder)
