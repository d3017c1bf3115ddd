"""One step of self-play with given questions and answers; and a tiny model that asks and answers."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import pytest
import torch

import learning.practice.trainer
from engine.errors import ConfigError
from engine.model import Model
from engine.rollout import Answered
from engine.tokenizers.tokenizer import Tokenizer
from learning.maths.alarm import Signs, alarms
from learning.maths.learnability import adversarial
from learning.memory.replay import Replay
from learning.objectives.grpo import GrpoGroup, GrpoReport, grpo_gradients
from learning.practice.sampling.rollouts import Drawn, HeldOut, Sample
from learning.practice.self_play.asking import AskingTask
from learning.practice.self_play.trainer import BothSource, SelfPlayTrainer
from learning.practice.settings import PracticeSettings, SelfPlaySettings
from learning.practice.supply.mixture import TaskMixture
from learning.rewards.task import Problem, Score
from tests.learning.rewards.test_asked import asked
from tests.sums import Sums

SETTINGS = PracticeSettings(
    groups=2,
    group_size=2,
    max_tokens=8,
    updates=1,
    held_out=4,
    self_play=SelfPlaySettings(questions=2, answers=2, kl_reward=0.0),
)
COLD = HeldOut((False,), {})
WARM = HeldOut((True,), {})


@dataclass
class Script:
    """Stands for what is drawn: questions by group, and of answers how many of each question are right."""

    questions: Sequence[Sequence[str]]
    right: dict[str, int]
    asked: list[str] = field(default_factory=list)
    """Questions that were answered."""

    def ask(self, trainer: SelfPlayTrainer) -> Callable[..., Drawn]:
        def draw(_: Model, problems: Sequence[Problem], *__: object) -> Drawn:
            groups = tuple(
                tuple(self._sample(trainer, problem, text) for text in group)
                for problem, group in zip(problems, self.questions, strict=True)
            )
            return Drawn(((1, 2, 3),) * len(groups), groups, 10, 0.1)

        return draw

    def answer(self, trainer: SelfPlayTrainer) -> Callable[..., Drawn]:
        def draw(_: Model, problems: Sequence[Problem], count: int, __: object) -> Drawn:
            self.asked += [problem.prompt for problem in problems]
            texts = [
                [
                    f"<answer>{p.truth if n < self.right[p.prompt] else 'no'}</answer>"
                    for n in range(count)
                ]
                for p in problems
            ]
            groups = tuple(
                tuple(
                    Sample(p, Answered(0, (5, 6), (-5.9, -5.9), "end"), text, score)
                    for text, score in zip(own, trainer.task.score(p, own), strict=True)
                )
                for p, own in zip(problems, texts, strict=True)
            )
            return Drawn(((4, 5),) * len(groups), groups, 20, 0.1)

        return draw

    def _sample(self, trainer: SelfPlayTrainer, problem: Problem, text: str) -> Sample:
        (score,) = trainer._asking.score(problem, [text])
        return Sample(problem, Answered(0, (7, 8), (-5.9, -5.9), "end"), text, score)


Make = Callable[..., SelfPlayTrainer]


@pytest.fixture
def scripted(tiny_model: Model, tiny_tokenizer: Tokenizer, replay: Replay) -> Make:
    def make(script: Script, **own: object) -> SelfPlayTrainer:
        settings = replace(SETTINGS, self_play=replace(SETTINGS.self_play, **own))
        trainer = SelfPlayTrainer(
            tiny_model, tiny_tokenizer, asked(worked="stated"), replay, settings
        )
        trainer._asker.draw = script.ask(trainer)  # type: ignore[method-assign]
        trainer.roller.draw = script.answer(trainer)  # type: ignore[method-assign]
        return trainer

    return make


def questions(trainer: SelfPlayTrainer) -> list[float]:
    return [sample.reward for group in trainer._asked.groups for sample in group]


HARD, EVEN, EASY = "What is 12 + 9 - 41?", "What is 3 + 4?", "What is 6 + 6?"


def test_a_question_is_worth_what_its_answers_say(scripted: Make) -> None:
    script = Script(
        [(EVEN, "hello"), ("What is 4 + 3?", HARD), ("What is 5 + 0?", EASY)],
        {EVEN: 1, HARD: 0, EASY: 2},
    )
    trainer = scripted(script, questions=3)
    report = trainer.step()
    assert script.asked == [EVEN, HARD, EASY], "the same sum in another order is answered once"
    share = 2 / 6
    assert questions(trainer) == [
        pytest.approx(value) for value in (1 - share, -1, 1 - share, 0 - 1 / 6, -1, 0 - 1 / 6)
    ]
    asking = report.asking
    assert asking is not None
    assert (asking.asked, asking.valid, asking.distinct) == (6, 4, 3)
    assert asking.success == pytest.approx(0.5) and asking.variety == 0.75
    assert asking.levels == {"2x1": 3, "3x2": 1} and asking.dead_groups == 0
    assert asking.reward_mean == pytest.approx((2 * (1 - share) - 2 - 2 / 6) / 6)
    assert (report.groups, report.dead_groups) == (3, 2), "of answers"
    shown = [s for s in report.samples if s.problem.prompt == "Ask me a sum."]
    assert [s.text for s in shown] == [EVEN, "What is 5 + 0?"], "the best and the worst"
    assert shown[0].score.components == {"valid": 1.0, "right": 0.5}


def test_the_adversarial_questioner_is_paid_for_what_nobody_can_answer(scripted: Make) -> None:
    script = Script([(EVEN, HARD), (EASY, "hello")], {EVEN: 1, HARD: 0, EASY: 2})
    trainer = scripted(script, reward=adversarial)
    trainer.step()
    assert questions(trainer) == [0.25, 0.75, -0.25, -1.0]


def test_both_learn_in_one_update_with_normalisers_of_their_own(
    scripted: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    learned: list[list[tuple[int, ...]]] = []

    def gradients(
        model: Model, groups: Sequence[GrpoGroup], *given: object, **more: object
    ) -> object:
        learned.append([group.prompt for group in groups])
        return grpo_gradients(model, groups, *given, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(learning.practice.trainer, "grpo_gradients", gradients)
    script = Script([(EVEN, HARD), (EASY, "hello")], {EVEN: 1, HARD: 0, EASY: 1})
    trainer = scripted(script)
    report = trainer.step()
    assert learned == [[(4, 5)] * 2, [(1, 2, 3)] * 2], "a call, and so a normaliser, for each kind"
    assert report.updates == trainer.updates == 1


def test_where_no_answers_differ_the_questions_are_learned_from_alone(scripted: Make) -> None:
    script = Script([(EVEN, HARD), (EASY, "hello")], {EVEN: 2, HARD: 0, EASY: 2})
    trainer = scripted(script)
    report = trainer.step()
    assert (report.groups, report.dead_groups, report.updates) == (3, 3, 1)


def test_without_one_valid_question_nothing_is_answered_or_learned(scripted: Make) -> None:
    trainer = scripted(Script([("hello", ""), ("What is 1?", "?")], {}))
    before = [value.clone() for value in trainer.model.parameters()]
    report = trainer.step()
    assert (report.groups, report.updates, report.success, report.tokens) == (0, 0, 0.0, 0)
    assert report.asking is not None and report.asking.reward_mean == -1.0
    assert report.asking.dead_groups == 2 and report.asking.levels == {}
    after = list(trainer.model.parameters())
    assert all(torch.equal(a, b) for a, b in zip(before, after, strict=True))


def test_held_out_questions_have_no_answer(scripted: Make) -> None:
    task = asked(worked="stated")
    sums = (f"What is {a} + {b}?" for a in range(10) for b in range(10))
    held_out = next(q for q in sums if (p := task.read(q)) and p.split == "held_out")
    script = Script([(held_out, EVEN), (held_out, EASY)], {EVEN: 1, EASY: 1})
    trainer = scripted(script)
    trainer.step()
    assert script.asked == [EVEN, EASY] and questions(trainer)[0] == -1.0


def test_questions_stay_near_what_they_were(scripted: Make) -> None:
    script = Script([(EVEN, HARD), (EASY, "hello")], {EVEN: 1, HARD: 0, EASY: 1})
    plain, near = scripted(script), scripted(script, kl_reward=0.5)
    for trainer in (plain, near):
        _ = trainer.start
        with torch.no_grad():
            trainer.model.embedding.weight.mul_(1.2)
        trainer._draw()
    for free, held in zip(plain._questions._kept, near._questions._kept, strict=True):
        [before] = near._reader.read(near.start, [held.group])
        for (paid,), (less,), answer, odds in zip(
            free.group.rewards, held.group.rewards, held.group.answers, before, strict=True
        ):
            apart = sum(answer.logprobs) - float(odds.sum())
            assert less == pytest.approx(paid - 0.5 * apart, abs=1e-5) and abs(apart) > 0.01
    assert [one.group.rewards for one in plain._buffer._kept] == [
        one.group.rewards for one in near._buffer._kept
    ], "answers may go where they like"


def test_an_alarm_rises_where_the_questions_are_all_the_same(scripted: Make) -> None:
    same = Script([(EVEN, EVEN), (EVEN, "What is 4 + 3?")], {EVEN: 1})
    trainer = scripted(same)
    assert trainer.signs(WARM) == Signs(), "nothing was asked yet"
    trainer.step()
    (found,) = alarms(Signs(), trainer.signs(WARM))
    assert (found.name, found.hard) == ("same question", True) and "25%" in found.words
    different = scripted(Script([(EVEN, HARD), (EASY, EVEN)], {EVEN: 1, HARD: 0, EASY: 1}))
    different.step()
    assert alarms(Signs(), different.signs(WARM)) == []


def test_it_begins_with_warm_up_where_it_cannot_ask_or_answer(scripted: Make) -> None:
    able = scripted(Script([(EVEN, ""), ("", "")], {}))
    mute = scripted(Script([("hello", ""), ("", "")], {}))
    assert not able.is_cold(WARM) and able.is_cold(COLD)
    assert mute.is_cold(WARM)


def test_only_questions_that_a_program_can_answer(
    tiny_model: Model, tiny_tokenizer: Tokenizer, replay: Replay
) -> None:
    with pytest.raises(ConfigError, match="no program can answer"):
        SelfPlayTrainer(tiny_model, tiny_tokenizer, Sums(), replay, SETTINGS)


def test_a_report_is_of_an_update(scripted: Make) -> None:
    trainer = scripted(Script([(EVEN, HARD), (EASY, "hello")], {EVEN: 1, HARD: 0, EASY: 1}))
    (report,) = trainer._learn([[], []]) or [GrpoReport()]
    assert report.tokens == 0, "nothing to learn from is no update"


@pytest.mark.parametrize(
    ("answers", "questions", "success"), [(6, 5, 0.6), (9, 5, 0.9), (9, 1, 0.1), (2, 0, 0.0)]
)
def test_warm_up_needs_a_fifth_of_the_questions(
    answers: int, questions: int, success: float
) -> None:
    def some(arm: str, right: int) -> list[Sample]:
        problem = Problem("x", {}, arm=arm)
        answer = Answered(0, (1,), (0.0,), "end")
        scores = [Score({"correct": float(n < right)}, float(n < right)) for n in range(10)]
        return [Sample(problem, answer, "", score) for score in scores]

    task = asked(worked="counted")
    both = TaskMixture({"answers": task, "questions": AskingTask(task, 4, random.Random(0))})
    source = BothSource(both, random.Random(0), lambda _: True)
    samples = [*some("answers", answers), *some("questions", questions)]
    assert source.warmed(samples, 0.8) == success
