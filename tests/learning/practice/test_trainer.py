"""Practice makes a tiny model better at a tiny task, and it still says hello."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest
import torch

import learning.practice.trainer
from engine.errors import ConfigError, DataError
from engine.model import Model
from engine.rollout import Answered
from engine.tokenizers.tokenizer import Tokenizer
from learning.maths.policy import batch_advantages
from learning.memory.replay import Replay
from learning.objectives.grpo import GrpoReport, grpo_gradients
from learning.practice.rereading import Reader
from learning.practice.sampling.buffer import scored_group
from learning.practice.sampling.rollouts import Drawn, Sample
from learning.practice.settings import PracticeSettings, WarmUpSettings
from learning.practice.trainer import GrpoTrainer
from learning.practice.warm_up import WarmUpReport
from learning.rewards.task import Problem, Score, Split
from tests.sums import Sums

TINY = PracticeSettings(
    lr=2e-3,
    groups=8,
    group_size=8,
    max_tokens=10,
    updates=2,
    held_out=20,
    warm_up=WarmUpSettings(lr=5e-3, measure_every=5, measured=64, enough=0.1, steps=300),
)


class One(Sums):
    """One sum, the same for ever; warm-up teaches sums in general."""

    def problems(self, split: Split, rng: random.Random) -> Iterator[Problem]:
        if split == "held_out":
            yield self._problem(3, 4)
            return
        for number in itertools.count():
            warm = number < 400
            yield (
                self._problem(rng.randint(0, 9), rng.randint(0, 9)) if warm else self._problem(3, 4)
            )


def quiet(_: object) -> None:
    pass


def never() -> bool:
    return False


@pytest.mark.slow
def test_warm_up_ends_where_trying_begins_to_pay_and_practice_does_the_rest(
    tiny_model: Model, tiny_tokenizer: Tokenizer, replay: Replay
) -> None:
    session = GrpoTrainer(tiny_model, tiny_tokenizer, One(), replay, TINY, seed=1)
    told: list[WarmUpReport] = []
    last = session.warm_up(told.append, never)
    assert told[0].step == 0 and told[0].success == pytest.approx(0.0, abs=0.1)
    assert last.success is not None and 0.1 <= last.success <= 0.6
    assert session.accuracy() == 0.0, "greedy decoding says another number"
    assert all((r.success is None) == (r.step % 5 != 0) for r in told)
    reports = [session.step()]
    assert reports[0].success < 0.6
    # the last bits of sums, which differ between machines, decide which of the two comes first
    while reports[-1].success <= 0.85 or session.accuracy() < 1.0:
        reports.append(session.step())
        assert len(reports) < 24
    assert reports[0].kl == pytest.approx(0.0, abs=1e-3) and reports[-1].kl > 0.1
    assert reports[-1].entropy < reports[0].entropy
    assert session.keeper.measure(tiny_model) == 1.0, "the book was in every batch"


class Rigged(GrpoTrainer):
    """A session whose draws are given."""

    def rig(self, rewards: Sequence[Sequence[float | None]]) -> None:
        """Per group the rewards; None: the verifier failed."""
        self.rewards = [list(group) for group in rewards]

        def draw(
            model: Model, problems: list[Problem], size: int, generator: torch.Generator
        ) -> Drawn:
            given, self.rewards = self.rewards[: len(problems)], self.rewards[len(problems) :]
            groups = tuple(
                tuple(self.sample(problem, value) for value in values)
                for problem, values in zip(problems, given, strict=True)
            )
            return Drawn(tuple((1, 2, 3) for _ in problems), groups, 10, 0.1)

        self.roller.draw = draw  # type: ignore[assignment, method-assign]

    def sample(self, problem: Problem, value: float | None) -> Sample:
        score = Score.failure("out of time") if value is None else Score({"correct": value}, value)
        return Sample(problem, Answered(0, (5, 6), (-5.9, -5.9), "end"), "It is 3.", score)


def rigged(
    model: Model,
    tokenizer: Tokenizer,
    replay: Replay,
    rewards: list[list[float | None]],
    **changes: int,
) -> Rigged:
    settings = replace(TINY, groups=2, group_size=2, updates=1, **changes)  # type: ignore[arg-type]
    session = Rigged(model, tokenizer, Sums(9), replay, settings)
    session.rig(rewards)
    return session


def test_dead_groups_are_counted_and_drawn_again(
    tiny_model: Model, tiny_tokenizer: Tokenizer, replay: Replay
) -> None:
    rewards: list[list[float | None]] = [[1.0, 1.0], [0.0, 1.0], [0.0, 0.0], [1.0, 0.0]]
    session = rigged(tiny_model, tiny_tokenizer, replay, rewards, redraws=1)
    report = session.step()
    assert (report.groups, report.dead_groups) == (4, 2)
    assert session.rewards == [], "one was missing, and every second had been dead"
    assert report.reward_mean == pytest.approx(0.5)
    assert report.reward_std == pytest.approx((0.0 + 0.5**0.5 + 0.0 + 0.5**0.5) / 4)
    assert report.loss == pytest.approx(0.0, abs=0.05)


def test_where_few_groups_are_live_so_many_are_drawn_that_an_update_is_reached(
    tiny_model: Model, tiny_tokenizer: Tokenizer, replay: Replay
) -> None:
    dead, live = [0.0, 0.0], [0.0, 1.0]
    rewards: list[list[float | None]] = [live, dead, dead, dead, live, dead, dead, dead] * 2
    session = Rigged(
        tiny_model,
        tiny_tokenizer,
        Sums(9),
        replay,
        replace(TINY, groups=4, group_size=2, updates=1, redraws=1, max_age=1),
    )
    session.rig(rewards)
    first, second = session.step(), session.step()
    assert (first.updates, first.waiting, first.groups) == (0, 2, 8), "three missing, four drawn"
    assert (second.updates, second.groups) == (1, 8), (
        "two were missing; as many again would be dead"
    )


def test_groups_wait_as_long_as_the_weights_are_those_that_drew_them(
    tiny_model: Model, tiny_tokenizer: Tokenizer, replay: Replay
) -> None:
    live, dead = [0.0, 1.0], [1.0, 1.0]
    settings = replace(TINY, groups=4, group_size=2, updates=1, redraws=0, max_age=0)
    session = Rigged(tiny_model, tiny_tokenizer, Sums(9), replay, settings)
    session.rig([live, dead, dead, dead] * 5)
    steps = [session.step() for _ in range(5)]
    assert [step.updates for step in steps] == [0, 0, 0, 1, 0]
    assert [step.waiting for step in steps] == [1, 2, 3, 0, 1]
    assert all(step.dropped == 0 for step in steps) and steps[3].age == 0.0


def test_redrawing_has_an_end(tiny_model: Model, tiny_tokenizer: Tokenizer, replay: Replay) -> None:
    session = rigged(tiny_model, tiny_tokenizer, replay, [[0.0, 0.0]] * 6, redraws=2)
    report = session.step()
    assert (report.groups, report.dead_groups, report.success) == (6, 6, 0.0)
    assert report.kl > 0.0, "dead groups are measured too"
    assert report.updates == 0 and session.updates == 0


def test_what_the_verifier_could_not_judge_takes_no_part(
    tiny_model: Model, tiny_tokenizer: Tokenizer, replay: Replay
) -> None:
    rewards: list[list[float | None]] = [[1.0, None, None], [1.0, 0.0, None]]
    session = rigged(tiny_model, tiny_tokenizer, replay, rewards, redraws=0)
    report = session.step()
    assert report.failed == 3
    told = (report.groups, report.dead_groups, report.unjudged_groups)
    assert told == (2, 0, 1), "one alone has nothing to compare with, but is not alike"
    assert report.success == pytest.approx(2 / 3), "of those that were judged"


def test_a_verifier_that_fails_is_not_a_wrong_answer(
    tiny_model: Model, tiny_tokenizer: Tokenizer, replay: Replay
) -> None:
    session = rigged(tiny_model, tiny_tokenizer, replay, [])
    problem = Problem("p", 1)
    samples = tuple(session.sample(problem, value) for value in (1.0, 0.0, None))
    (group,) = session._with_advantages([scored_group((1, 2), samples)])
    assert [answer.advantage > 0 for answer in group.answers] == [True, False]


def test_what_was_cut_off_is_compared_but_gives_no_gradient(
    tiny_model: Model, tiny_tokenizer: Tokenizer, replay: Replay
) -> None:
    session = rigged(tiny_model, tiny_tokenizer, replay, [])
    right, wrong = (session.sample(Problem("p", 1), value) for value in (1.0, 0.0))
    cut = replace(wrong, answer=replace(wrong.answer, ending="length"))
    (group,) = session._with_advantages([scored_group((1, 2), (right, cut))])
    assert [answer.active for answer in group.answers] == [True, False]
    assert group.answers[0].advantage > 0 and group.tokens == 2


def test_the_divergence_is_from_the_weights_before_the_first_step(
    tiny_model: Model,
    tiny_tokenizer: Tokenizer,
    replay: Replay,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = {name: value.clone() for name, value in tiny_model.state_dict().items()}
    references: list[Model | None] = []

    def gradients(*given: object, reference: Model | None, **more: object) -> GrpoReport:
        references.append(reference)
        return grpo_gradients(*given, reference=reference, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(learning.practice.trainer, "grpo_gradients", gradients)
    live: list[list[float | None]] = [[0.0, 1.0], [1.0, 0.0]]
    session = rigged(tiny_model, tiny_tokenizer, replay, live * 2, redraws=0)
    session.step()
    assert references == [None], "off"
    objective = replace(session.settings.objective, kl_weight=0.1)
    session.settings = replace(session.settings, objective=objective)
    session.step()
    assert references[1] is not None and references[1] is not tiny_model
    kept = references[1].state_dict()
    assert all(torch.equal(kept[name], value) for name, value in before.items())


def test_settings_that_cannot_work_are_told() -> None:
    with pytest.raises(ConfigError, match="group_size is 1"):
        PracticeSettings(group_size=1)
    with pytest.raises(ConfigError, match="updates is 9"):
        PracticeSettings(groups=8, updates=9)


def test_a_task_without_worked_answers_cannot_be_warmed_up(
    tiny_model: Model, tiny_tokenizer: Tokenizer, replay: Replay
) -> None:
    task = Sums(9)
    make = task._problem
    task._problem = lambda a, b: replace(make(a, b), worked=None)  # type: ignore[method-assign]
    session = GrpoTrainer(tiny_model, tiny_tokenizer, task, replay, TINY)
    with pytest.raises(DataError, match="no worked answers"):
        session.warm_up(quiet, never)


def test_warm_up_that_is_stopped_between_two_looks_counts_its_steps(
    tiny_model: Model, tiny_tokenizer: Tokenizer, replay: Replay
) -> None:
    session = GrpoTrainer(tiny_model, tiny_tokenizer, Sums(9), replay, TINY)
    told: list[WarmUpReport] = []
    last = session.warm_up(told.append, lambda: len(told) > 3)
    assert last.step == session.updates == 3, "its weights are to be looked at and saved"


def test_problems_that_do_not_fit_are_passed_over(
    tiny_model: Model, tiny_tokenizer: Tokenizer, replay: Replay
) -> None:
    class Long(Sums):
        """Every second problem is too long, or all."""

        every = 2

        def problems(self, split: Split, rng: random.Random) -> Iterator[Problem]:
            for number, problem in enumerate(super().problems(split, rng)):
                long = number % self.every == 0
                yield replace(problem, prompt="why? " * 100) if long else problem

    session = GrpoTrainer(tiny_model, tiny_tokenizer, Long(9), replay, TINY)
    chosen = [*session._held_out, *session._source.take(20)]
    assert all(session.roller.fits(tiny_model, problem) for problem in chosen)
    Long.every = 1
    with pytest.raises(DataError, match="no problem is held out that fits"):
        GrpoTrainer(tiny_model, tiny_tokenizer, Long(9), replay, TINY)


def test_a_problem_longer_than_the_context_is_told(
    tiny_model: Model, tiny_tokenizer: Tokenizer, replay: Replay
) -> None:
    session = GrpoTrainer(tiny_model, tiny_tokenizer, Sums(9), replay, TINY)
    problem = Problem("why? " * 100, 1)
    with pytest.raises(DataError, match="does not fit into a context of 128"):
        session.roller.prompt(tiny_model, problem)


def test_no_step_is_taken_on_fewer_live_groups_than_asked_for(
    tiny_model: Model, tiny_tokenizer: Tokenizer, replay: Replay
) -> None:
    live: list[float | None] = [0.0, 1.0]
    dead: list[float | None] = [0.0, 0.0]
    session = rigged(tiny_model, tiny_tokenizer, replay, [live, dead, live, dead], redraws=0)
    before = {name: value.clone() for name, value in tiny_model.state_dict().items()}
    first = session.step()
    assert (first.updates, first.waiting, first.needed) == (0, 1, 2)
    assert all(torch.equal(before[name], value) for name, value in tiny_model.state_dict().items())
    second = session.step()
    assert session.rewards == [], "drawn was what is missing, and as many dead ones as before"
    assert (second.updates, second.waiting, second.age) == (1, 0, 0.0)
    assert session.updates == 1 and second.ratio == pytest.approx(1.0, abs=1e-5)


def test_groups_that_the_model_has_moved_away_from_are_dropped(
    tiny_model: Model, tiny_tokenizer: Tokenizer, replay: Replay
) -> None:
    rewards: list[list[float | None]] = [[0.0, 1.0], [0.0, 0.0], [0.0, 0.0], [0.0, 0.0]]
    session = rigged(tiny_model, tiny_tokenizer, replay, rewards, redraws=0)
    session.step()
    with torch.no_grad():
        tiny_model.embedding.weight[5].mul_(30.0)  # the answers' first id
    session._moved += 1
    assert session.step().dropped == 1


def test_a_larger_buffer_waits_for_several_steps(
    tiny_model: Model, tiny_tokenizer: Tokenizer, replay: Replay
) -> None:
    live: list[list[float | None]] = [[0.0, 1.0]] * 4
    session = rigged(tiny_model, tiny_tokenizer, replay, live, redraws=0, buffer_size=4)
    assert [session.step().updates for _ in range(2)] == [0, 1]


def test_the_divergence_in_the_reward_is_taken_off_before_advantages(
    tiny_model: Model, tiny_tokenizer: Tokenizer, replay: Replay, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = replace(TINY, groups=2, group_size=2, updates=1, kl_reward=0.1)
    session = Rigged(tiny_model, tiny_tokenizer, Sums(9), replay, settings)
    found = torch.tensor([-6.9, -6.9]), torch.tensor([-6.4, -6.4])
    monkeypatch.setattr(Reader, "read", lambda *_: [list(found)])
    samples = tuple(session.sample(Problem("p", 1), value) for value in (1.0, 0.0))
    groups = [scored_group((1, 2), samples)]
    (group,) = Reader(settings.objective).penalised(tiny_model, groups, settings.kl_reward)
    # drawn at -5.9 a token: 2 and 1 nats over two tokens
    assert [end for (end,) in group.rewards] == pytest.approx([0.8, -0.1])


def test_the_deviation_of_the_batch_is_over_all_its_groups(
    tiny_model: Model, tiny_tokenizer: Tokenizer, replay: Replay
) -> None:
    settings = replace(TINY, advantages=batch_advantages)
    session = Rigged(tiny_model, tiny_tokenizer, Sums(9), replay, settings)
    far, near, short = (
        scored_group((1,), tuple(session.sample(Problem("p", 1), v) for v in values))
        for values in ((1.0, 0.0, 0.5), (0.6, 0.4, 0.5), (1.0, 0.0))
    )
    groups = session._with_advantages([far, near, short])
    assert [len(group.answers) for group in groups] == [3, 3, 2]
    tops = [group.answers[0].advantage for group in groups]
    assert tops[0] == pytest.approx(tops[2]) and tops[1] == pytest.approx(tops[0] / 5)
