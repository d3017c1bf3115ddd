"""detective: three different questions are enough, one that tells nothing new leaves a guess."""

from __future__ import annotations

import itertools
import random

import pytest

from engine.errors import ConfigError
from learning.rewards.dialogue import DialogueTask
from learning.rewards.registry import find_task
from learning.rewards.task import Problem, TaskOptions
from learning.rewards.tasks.detective import NAME_IT, UNCLEAR
from tests.talks import play


def task(**settings: object) -> DialogueTask:
    found = find_task("detective", TaskOptions(difficulty=settings))
    assert isinstance(found, DialogueTask)
    return found


def problems(one: DialogueTask, count: int) -> list[Problem]:
    return list(itertools.islice(one.problems("train", random.Random(0)), count))


def asked(one: DialogueTask, problem: Problem) -> list[str]:
    """The replies of a detective who asks for one word of each pair and believes the answers."""
    partner, named, replies = one.meet(problem, random.Random(0)), [], []
    for word, other in zip(problem.truth["others"], problem.truth["thing"], strict=True):
        first = min(word, other)
        replies.append(f"Is it {first}?")
        yes = partner.hear(replies[-1]).says.startswith("Yes.")
        named.append(first if yes else max(word, other))
    return [*replies, f"It is the {' '.join(named)} one."]


def test_three_questions_find_it() -> None:
    one = task()
    for problem in problems(one, 50):
        assert play(one, problem, asked(one, problem)) == 1.0
        assert play(one, problem, ["It is the big one."] * 5) == 0.0


def test_what_the_partner_says() -> None:
    one = task()
    problem = problems(one, 1)[0]
    size, colour, material = problem.truth["thing"]
    partner = one.meet(problem, random.Random(0))
    replies = [f"Is it {colour}?", f"Is it made of {problem.truth['others'][2]}?", "Why?"]
    assert [partner.hear(reply).says for reply in replies] == ["Yes.", "No.", UNCLEAR]
    assert partner.hear(f"Is it {size} or {colour}?").says == f"{UNCLEAR} {NAME_IT}"
    last = partner.hear("Is it round?")
    assert last.over and last.reward == 0.0
    partner = one.meet(problem, random.Random(0))
    found = partner.hear(f"It is the {size} {colour} {material} one.")
    assert found.over and found.reward == partner.right == 1.0


def test_the_partner_may_say_what_is_true_and_what_was_found_before() -> None:
    for partner, last in (("says", "No. It is {}."), ("reminds", "No. It is {}, made of {}.")):
        one = task(partner=partner)
        problem = problems(one, 1)[0]
        _, colour, material = problem.truth["thing"]
        keeper = one.meet(problem, random.Random(0))
        assert keeper.hear(f"Is it made of {material}?").says == f"Yes. It is made of {material}."
        other = problem.truth["others"][1]
        assert keeper.hear(f"Is it {other}?").says == last.format(colour, material)
        assert keeper.hear("Is it round?").says == UNCLEAR


def test_the_worked_answers_say_what_follows_from_each_answer() -> None:
    one = task()
    for problem in problems(one, 100):
        replies = [text for role, text in one.worked_turns(problem) if role == "assistant"]
        assert len(replies) == 4
        spoken = [reply.rpartition(". ")[2] for reply in replies]
        for question, reply in zip(spoken, replies[1:], strict=False):
            thing, wrong = problem.truth["thing"], problem.truth["others"]
            (kind,) = (k for k in range(3) if thing[k] in question or wrong[k] in question)
            true = f"made of {thing[kind]}" if kind == 2 else thing[kind]
            assert reply.startswith(f"So it is {true}. ")
        for question in spoken[:3]:
            word = question.removeprefix("Is it ").removeprefix("made of ").removesuffix("?")
            assert f"{word} or " in problem.prompt, "the word that is named first"


def test_conclusions_are_passed_over_right_or_wrong() -> None:
    one = task()
    problem = problems(one, 1)[0]
    size, colour, material = problem.truth["thing"]
    wrong = problem.truth["others"][1]
    partner = one.meet(problem, random.Random(0))
    assert partner.hear(f"So it is {wrong}. Is it {colour}?").says == "Yes."
    assert partner.hear(f"So it is {colour}. So it is {size}. Is it {wrong}?").says == "No."
    assert partner.hear(f"So it is {colour}.Is it {colour}? So it is {wrong}.").says == UNCLEAR
    found = partner.hear(f"So it is {wrong}.  It is the {size} {colour} {material} one.")
    assert found.over and found.reward == 1.0
    glued = one.meet(problem, random.Random(0))
    assert glued.hear(f"So it is {wrong}.Is it {colour}?").says == "Yes."
    for reply in (
        f"So it is {colour}.",
        "So it is",
        "So it is. So it is!",
        ".",
        "",
        "So it is the ? one.",
    ):
        assert one.meet(problem, random.Random(0)).hear(reply).says == UNCLEAR


def test_a_question_may_cost() -> None:
    one = task(turn_cost=0.02)
    partner = one.meet(problems(one, 1)[0], random.Random(0))
    assert [partner.hear("Why?").reward for _ in range(4)] == [-0.02] * 4


def test_random_questions_leave_a_guess() -> None:
    one = task()
    found = problems(one, 600)
    right = [play(one, p, (p.worked or "").splitlines()) for p in found]
    assert 0.52 < sum(right) / len(right) < 0.65
    assert all(one.worked_turns(p)[-1][0] == "assistant" for p in found)


def test_settings_out_of_range_are_told() -> None:
    for wrong in ({"questions": 2}, {"turn_cost": 0.2}, {"partner": "shy"}):
        with pytest.raises(ConfigError, match="detective"):
            task(**wrong)
