"""Practice with low-rank adapters: drawn with them, saved with them, and undone to the bit."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import torch

import learning.practice.trainer
from engine.model import Model
from engine.packed import packed
from engine.storage.checkpoint import load_model
from engine.tokenizers.tokenizer import Tokenizer
from learning.memory.replay import Replay
from learning.memory.retention import MENDING_RATE, ROUNDS, STEPS
from learning.objectives.stepper import Stepper
from learning.practice.sampling.rollouts import RolloutSampler
from learning.practice.settings import AdapterSettings, WarmUpSettings
from learning.practice.tags import as_text, as_tokens
from learning.practice.trained import AddedSavePoints, LowRank, WholeModel, trained_weights
from learning.practice.trainer import GrpoTrainer
from learning.protocol.events import PracticeStage, UndoDone
from learning.protocol.requests import Undo
from tests.learning.practice.test_trainer import TINY
from tests.practice_room import Room, same
from tests.sums import Sums

SMALL = AdapterSettings(at=0, rank=2, alpha=4.0)
LOW_RANK = ("adapter.at=0", "adapter.rank=8", "adapter.alpha=16")


@contextmanager
def attached(model: Model) -> Iterator[LowRank]:
    trained = LowRank(model, SMALL, 0)
    with trained.training():
        yield trained


def moved(trained: LowRank) -> None:
    """Gives all adapters values, as training would."""
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for tensor in trained.tensors():
            tensor.copy_(torch.randn(tensor.shape, generator=generator) * 0.1)


def test_large_models_are_trained_through_adapters_and_small_ones_whole(tiny_model: Model) -> None:
    assert isinstance(trained_weights(tiny_model, AdapterSettings(), 0), WholeModel)
    size = tiny_model.config.parameters
    assert isinstance(trained_weights(tiny_model, AdapterSettings(at=size), 0), LowRank)


def test_only_adapters_are_trained(tiny_model: Model) -> None:
    with attached(tiny_model) as trained:
        tensors = trained.tensors()
        assert sum(t.numel() for t in tensors) < tiny_model.config.parameters / 5
        assert all(t.requires_grad for t in tensors)
        assert not any(p.requires_grad for p in tiny_model.parameters())
    assert all(p.requires_grad for p in tiny_model.parameters())


def test_weights_are_the_sums_within_and_at_the_end(tiny_model: Model) -> None:
    ids = torch.tensor([[1, 2, 3]])
    before = {k: v.clone() for k, v in tiny_model.state_dict().items()}
    with attached(tiny_model) as trained:
        moved(trained)
        with trained.added():
            added = {k: v.clone() for k, v in tiny_model.state_dict().items()}
            drawn_from = packed(tiny_model)
        assert same(tiny_model.state_dict(), before), "outside they are as they were"
        assert tiny_model.packed is None and packed(tiny_model) is not drawn_from
        through = tiny_model(ids)
    assert not same(added, before)
    assert same(tiny_model.state_dict(), added), "to the bit what was drawn from and published"
    assert torch.allclose(tiny_model(ids), through, atol=1e-4)


def test_nothing_is_added_where_the_run_fails(tiny_model: Model) -> None:
    before = {k: v.clone() for k, v in tiny_model.state_dict().items()}
    trained = LowRank(tiny_model, SMALL, 0)
    with pytest.raises(KeyError), trained.training():
        moved(trained)
        raise KeyError
    assert same(tiny_model.state_dict(), before)
    assert all(p.requires_grad for p in tiny_model.parameters())
    with trained.training():
        assert trained.tensors(), "and adapters can be attached again"


def test_save_points_save_the_sums_and_restoring_drops_adapters(tiny_model: Model) -> None:
    saved: list[dict[str, torch.Tensor]] = []

    class Points:
        def save(self, note: str) -> None:
            saved.append({k: v.clone() for k, v in tiny_model.state_dict().items()})

        def restore(self) -> None:
            tiny_model.load_state_dict(saved[-1])

    with attached(tiny_model) as trained:
        points = AddedSavePoints(Points(), trained)
        moved(trained)
        points.save("step 1")
        with torch.no_grad():
            trained.tensors()[0].add_(1.0)
        points.restore()
    assert same(tiny_model.state_dict(), saved[0])


def test_answers_are_drawn_from_the_sums(
    tiny_model: Model, tiny_tokenizer: Tokenizer, replay: Replay
) -> None:
    """So the ratios of the first update are 1 up to rounding, and the divergence from the start is 0."""
    with attached(tiny_model) as trained:
        moved(trained)
        session = GrpoTrainer(tiny_model, tiny_tokenizer, Sums(9), replay, TINY, trained=trained)
        problems = session._held_out[:4]
        drawn = session.roller.draw(tiny_model, problems, 2, torch.Generator().manual_seed(0))
        plain = RolloutSampler(tiny_tokenizer, Sums(9), max_tokens=10)
        base = plain.draw(tiny_model, problems, 2, torch.Generator().manual_seed(0))
        report = session.step()
        with trained.added():
            sums = plain.draw(tiny_model, problems, 2, torch.Generator().manual_seed(0))
    answers = [s.answer.tokens for s in drawn.samples]
    assert answers != [s.answer.tokens for s in base.samples]
    assert len(answers) == len(sums.samples)
    assert report.mismatch < 0.01 and report.kl == pytest.approx(0.0, abs=1e-3)


def test_warm_up_of_adapters_has_a_higher_rate_and_teaches_no_new_ids(
    tiny_model: Model,
    tiny_tokenizer: Tokenizer,
    replay: Replay,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[WarmUpSettings] = []

    def heard(*given: object, **_: object) -> None:
        asked.extend(one for one in given if isinstance(one, WarmUpSettings))

    monkeypatch.setattr(learning.practice.trainer, "warm_up", heard)
    with attached(tiny_model) as low:
        for trained in (low, WholeModel(tiny_model)):
            own = GrpoTrainer(tiny_model, tiny_tokenizer, Sums(9), replay, TINY, trained=trained)
            own.warm_up(lambda _: None, lambda: True)
    rates = [one.lr / TINY.warm_up.lr for one in asked]
    assert rates == pytest.approx([SMALL.rate, 1.0])
    assert [one.tags for one in asked] == [as_text, as_tokens]


def test_mending_has_a_share_of_the_rate_of_warm_up_not_that_of_practice(
    tiny_model: Model, tiny_tokenizer: Tokenizer, replay: Replay, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At the rate of practice, which is that of whole models, mending of adapters changed nothing."""
    rates: list[float] = []
    stepped = Stepper.step

    def spied(self: Stepper, *given: float) -> float:
        rates.append(self.lr)
        return stepped(self, *given)

    monkeypatch.setattr(Stepper, "step", spied)
    with attached(tiny_model) as low:
        for trained in (low, WholeModel(tiny_model)):
            session = GrpoTrainer(
                tiny_model, tiny_tokenizer, Sums(9), replay, TINY, trained=trained
            )
            rates.clear()
            session.mend(lambda: False)
            assert session.updates == len(rates) == ROUNDS * STEPS
            assert rates == pytest.approx(
                len(rates) * [MENDING_RATE * TINY.warm_up.lr * trained.rate]
            )


@pytest.mark.slow
def test_a_run_with_adapters_learns_is_published_and_undone(room: Room) -> None:
    """On a model that was warmed up whole: adapters do not teach an untrained one to speak."""
    room.practise(warm_up=True, steps=0)
    before = room.weights
    done, got = room.practise(warm_up=False, steps=8, options=LOW_RANK)
    assert (done.ended, done.steps) == ("steps", 8), done.why
    assert [e for e in got if isinstance(e, PracticeStage) and e.saved]
    model = room.teacher._learner.transaction.weights.model
    assert same(dict(load_model(room.folder).state_dict()), dict(model.state_dict()))
    assert not same(room.weights, before)
    assert same(
        {k: v for k, v in room.weights.items() if "embed" in k or "norm" in k},
        {k: v for k, v in before.items() if "embed" in k or "norm" in k},
    ), "adapters do not move these"
    room.teacher.send(Undo())
    room.until(UndoDone)
    assert same(room.weights, before)
