"""The tasks that make their own problems: right answers, worked answers, splits, settings."""

from __future__ import annotations

import itertools
import random

import pytest

from engine.errors import ConfigError, VidyaError
from learning.rewards.registry import find_task
from learning.rewards.task import Problem, Split, Task, TaskOptions
from learning.rewards.tasks.propositions import new_literals, read_literal
from learning.rewards.tasks.sums import SumNode, join, operations, stated
from learning.rewards.tasks.sums import problem as asked
from learning.rewards.tasks.syllogism import FORMS, follows, reasoning

GENERATED = ["chain_sum", "basic_arithmetic", "syllogism", "propositional_logic"]


def take(task: Task, split: Split, count: int, seed: int = 0) -> list[Problem]:
    return list(itertools.islice(task.problems(split, random.Random(seed)), count))


@pytest.mark.parametrize("name", GENERATED)
def test_every_worked_answer_gets_full_marks_and_is_short(name: str) -> None:
    task = find_task(name)
    for problem in take(task, "train", 300):
        assert problem.worked is not None
        assert len(problem.prompt) < 160 and len(problem.worked) < 200
        [score] = task.score(problem, [problem.worked])
        assert score.components == {"correct": 1.0, "format": 1.0, "length": 1.0}
        assert score.total == 1.0


@pytest.mark.parametrize("name", GENERATED)
def test_no_problem_is_in_both_splits_and_no_held_out_one_comes_twice(name: str) -> None:
    harder = {"max_terms": 4, "max_digits": 2} if name == "chain_sum" else {}
    task = find_task(name, TaskOptions(difficulty=harder))
    train = {p.prompt for p in take(task, "train", 1500)}
    held_out = [p.prompt for p in take(task, "held_out", 300, seed=1)]
    assert len(set(held_out)) == len(held_out) == 300
    assert not train & set(held_out)


def test_where_problems_are_few_the_held_out_ones_end() -> None:
    task = find_task("chain_sum")  # two numbers of one digit: some two hundred different problems
    held_out = [p.prompt for p in take(task, "held_out", 300)]
    assert 30 <= len(set(held_out)) == len(held_out) < 60
    assert not {p.prompt for p in take(task, "train", 1500)} & set(held_out)


@pytest.mark.parametrize("name", GENERATED)
def test_the_same_seed_gives_the_same_problems(name: str) -> None:
    assert take(find_task(name), "train", 50, 7) == take(find_task(name), "train", 50, 7)
    assert take(find_task(name), "train", 50, 7) != take(find_task(name), "train", 50, 8)


@pytest.mark.parametrize("name", GENERATED)
def test_saying_the_same_thing_always_wins_little(name: str) -> None:
    task = find_task(name)
    problems = take(task, "train", 400)
    worked = [str(p.worked).split("<answer>")[1] for p in problems]
    for answer in {*worked[:20], "yes no</answer>", "</answer>", "true</answer>"}:
        right = [task.score(p, [f"<answer>{answer}"])[0].correct for p in problems]
        assert sum(right) / len(right) < 0.62


@pytest.mark.parametrize("name", GENERATED)
def test_repeating_the_question_wins_nothing(name: str) -> None:
    task = find_task(name)
    for problem in take(task, "train", 200):
        for text in (problem.prompt, f"<answer>{problem.prompt}</answer>"):
            assert task.score(problem, [text])[0].total == 0.0


@pytest.mark.parametrize("name", GENERATED)
def test_the_answer_alone_without_its_field_is_not_paid(name: str) -> None:
    task = find_task(name)
    for problem in take(task, "train", 20):
        answer = str(problem.worked).split("<answer>")[1].removesuffix("</answer>")
        assert task.score(problem, [answer])[0].total == 0.0
        assert task.score(problem, [f"< Answer > {answer} ."])[0].correct


def test_a_small_task_ends_where_its_held_out_problems_end() -> None:
    task = find_task("chain_sum", TaskOptions(difficulty={"max_terms": 2, "max_digits": 1}))
    held_out = take(task, "held_out", 1000)
    assert 20 < len(held_out) < 70  # about a fifth of 200 sums
    assert len(take(task, "train", 1000)) == 1000


@pytest.mark.parametrize(
    ("name", "settings", "words"),
    [
        ("chain_sum", {"terms": 3}, "min_terms"),
        ("chain_sum", {"min_terms": 5, "max_terms": 2}, "within"),
        ("chain_sum", {"max_digits": "two"}, "max_digits is 'two'"),
        ("chain_sum", {"max_digits": 1.5}, "max_digits is 1.5"),
        ("chain_sum", {"max_digits": 99}, "within"),
        ("basic_arithmetic", {"operators": "+,^"}, r"operators is '\+,\^'"),
        (
            "basic_arithmetic",
            {"operators": [["+"]]},
            r"operators is \[\['\+'\]\]; .*like \('\+', '-'",
        ),
        ("basic_arithmetic", {"max_digits": 4}, "max_value"),
        ("chain_sum", {"worked": "guessed"}, "worked is 'guessed'"),
        ("basic_arithmetic", {"worked": ""}, "worked is ''"),
        ("syllogism", {"forms": ("all",)}, "forms is 'all'"),
        ("syllogism", {"forms": [["all"], ["no"]]}, "forms is .*like .*'some not'"),
        ("syllogism", {"valid_share": 2}, "share"),
        ("syllogism", {"terms": 2}, "terms"),
        ("propositional_logic", {"max_steps": 9}, "steps"),
        ("propositional_logic", {"rules": "guess,if"}, "rules is 'guess,if'"),
        ("tool_sums", {"digits": 0}, "digits"),
        ("tool_sums", {"operators": "-,+"}, r"operators is '-,\+'"),
        ("tool_gsm8k", {"calls": 0}, "calls"),
        ("umbrella_talk", {"weathers": 1}, "1 weathers"),
        ("detective", {"questions": 1}, "1 questions"),
        ("propositional_logic", {"rules": [["if"]]}, "rules is .*like .*'unless'"),
    ],
)
def test_settings_that_cannot_be_are_named(
    name: str, settings: dict[str, object], words: str
) -> None:
    with pytest.raises(ConfigError, match=words) as caught:
        find_task(name, TaskOptions(difficulty=settings))
    assert caught.value.what.startswith(f"task {name}: "), "several tasks may be practised at once"


def test_settings_may_come_as_texts() -> None:
    settings = {"max_terms": "3", "min_terms": "3", "allow_negation": "yes"}
    for problem in take(find_task("chain_sum", TaskOptions(difficulty=settings)), "train", 30):
        assert len(steps_of(problem)) == 2


def steps_of(problem: Problem) -> list[str]:
    return str(problem.worked).removeprefix("<think>").split("</think>")[0].split(", ")


def test_sums_are_counted_or_stated() -> None:
    settings: dict[str, object] = {"min_terms": 3, "max_terms": 3}
    for worked, text in [
        ("counted", "9-4=8-3=7-2=6-1=5, 5+2=6+1=7"),
        ("stated", "9 - 4 = 5, 5 + 2 = 7"),
    ]:
        task = find_task("chain_sum", TaskOptions(difficulty={**settings, "worked": worked}))
        found = {p.prompt: p.worked for p in take(task, "train", 3000)}
        assert found["What is 9 - 4 + 2?"] == f"<think>{text}</think><answer>7</answer>"
    product = asked(join("+", join("*", SumNode(3), SumNode(4)), SumNode(2)), "basic_arithmetic")
    assert product.worked == "<think>3*4=12, 12+2=13+1=14</think><answer>14</answer>"


@pytest.mark.parametrize(
    ("terms", "digits", "counted"),
    [(9, 1, True), (4, 2, True), (2, 4, True)]
    + [(10, 1, False), (5, 2, False), (3, 3, False), (2, 5, False), (20, 1, False)],
)
def test_sums_of_one_size_are_all_counted_or_all_stated(
    terms: int, digits: int, counted: bool
) -> None:
    settings = {"min_terms": terms, "max_terms": terms, "min_digits": digits, "max_digits": digits}
    task = find_task("chain_sum", TaskOptions(difficulty=settings))
    for problem in take(task, "train", 200):
        assert problem.worked is not None
        stated = " + " in problem.worked or " - " in problem.worked
        assert stated is not counted
        assert stated or len(problem.worked) < 500
        [score] = task.score(problem, [problem.worked])
        assert score.total == 1.0


def test_settings_without_a_problem_to_train_on_are_an_error() -> None:
    settings = {"min_terms": 2, "max_terms": 2, "operators": "/", "max_digits": 1}
    task = find_task("basic_arithmetic", TaskOptions(difficulty=settings))
    assert take(task, "train", 20)
    task = find_task(
        "syllogism",
        TaskOptions(difficulty={"forms": "some,some not", "valid_share": 1.0, "turned_share": 0.0}),
    )
    with pytest.raises(VidyaError, match="no problem to train on"):
        take(task, "train", 1)


def test_sums_are_those_of_school() -> None:
    # 2 * (7 - 3) - 8 / 4 = 6
    left = join("*", SumNode(2), join("-", SumNode(7), SumNode(3)))
    whole = join("-", left, join("/", SumNode(8), SumNode(4)))
    assert whole.text() == "2 * (7 - 3) - 8 / 4"
    assert whole.value == 6
    done = list(map(stated, operations(whole)))
    assert done == ["7 - 3 = 4", "2 * 4 = 8", "8 / 4 = 2", "8 - 2 = 6"]
    assert join("-", SumNode(5), join("-", SumNode(3), SumNode(1))).text() == "5 - (3 - 1)"
    assert join("*", SumNode(5), join("/", SumNode(6), SumNode(2))).text() == "5 * (6 / 2)"


@pytest.mark.parametrize("brackets", [True, False])
def test_what_python_makes_of_a_sum_is_its_answer(brackets: bool) -> None:
    settings = {"max_terms": 5, "max_digits": 2, "allow_parentheses": brackets}
    settings["allow_negation"] = True
    for problem in take(
        find_task("basic_arithmetic", TaskOptions(difficulty=settings)), "train", 500
    ):
        asked = problem.prompt.removeprefix("What is ").removesuffix("?")
        assert set(asked) <= set("0123456789+-*/() ")
        assert eval(asked) == int(problem.truth)
        assert brackets or "(" not in asked


@pytest.mark.parametrize(
    ("first", "second", "asked", "valid"),
    [
        ("all", "all", "all", True),  # Barbara
        ("all", "no", "no", True),  # Celarent
        ("all", "no", "some not", True),  # with members in every kind
        ("some", "all", "some", True),  # Darii
        ("some", "no", "some not", True),  # Ferio
        ("all", "some", "some", False),  # the middle is nowhere distributed
        ("all", "some not", "some not", False),
        ("no", "all", "no", False),
        ("some", "some", "some", False),
        ("no", "no", "some not", False),
    ],
)
def test_syllogisms_of_the_books(first: str, second: str, asked: str, valid: bool) -> None:
    assert follows(((first, 0, 1), (second, 1, 2)), (asked, 0, 2)) is valid


@pytest.mark.parametrize(
    ("first", "asked", "valid"),
    [("no", "no", True), ("all", "some", True), ("all", "all", False), ("some", "some", True)]
    + [("some not", form, False) for form in FORMS],
)
def test_statements_turned_round(first: str, asked: str, valid: bool) -> None:
    assert follows(((first, 0, 1), ("some", 1, 2)), (asked, 1, 0)) is valid


def test_the_reasoning_ends_in_what_is_true_for_every_pair() -> None:
    for one, two, end in itertools.product(FORMS, FORMS, FORMS):
        for subject, predicate in ((0, 2), (1, 0), (2, 1)):
            premises, asked = ((one, 0, 1), (two, 1, 2)), (end, subject, predicate)
            said = reasoning(*premises, asked)
            assert said.endswith(" yes." if follows(premises, asked) else " no."), said


def test_what_is_new_follows_from_all_and_from_none_alone() -> None:
    p, q, r = ("P", True), ("Q", True), ("R", True)
    rules = [("fact", p, p), ("if", p, q), ("or", ("Q", False), r)]
    assert new_literals(rules) == [q, r]
    assert new_literals([("fact", p, p), ("fact", q, q)]) == []
    assert new_literals([("if", p, q), ("fact", ("Q", False), ("Q", False))]) == [("P", False)]


@pytest.mark.parametrize(
    ("text", "literal"),
    [
        ("Q", ("Q", True)),
        (" not q. ", ("Q", False)),
        ("¬Q", ("Q", False)),
        ("~Q", ("Q", False)),
        ("!(Q)", ("Q", False)),
        ("Q is true", ("Q", True)),
        ("Q is false", ("Q", False)),
        ("not Q is false", ("Q", True)),
        ("so not Q", ("Q", False)),
        ("Q or R", None),
        ("Q not Q", None),
        ("", None),
        ("not", None),
        ("not not Q", None),
    ],
)
def test_letters_are_read(text: str, literal: tuple[str, bool] | None) -> None:
    assert read_literal(text) == literal


@pytest.mark.parametrize("name", ["chain_sum", "basic_arithmetic"])
def test_the_mirror_of_a_problem_is_on_the_same_side(name: str) -> None:
    sides: dict[str, set[str]] = {}
    for problem in take(find_task(name), "train", 1500) + take(find_task(name), "held_out", 60):
        sides.setdefault(problem.key, set()).add(problem.split)
    assert all(len(found) == 1 for found in sides.values())


def sum_of(text: str) -> SumNode:
    first, *rest = text.split()
    node = SumNode(int(first))
    for operator, number in zip(rest[::2], rest[1::2], strict=True):
        node = join(operator, node, SumNode(int(number)))
    return node


def test_orders_of_one_sum_have_one_key() -> None:
    def key(text: str) -> str:
        return asked(sum_of(text), "").key

    assert key("4 + 9") == key("9 + 4") != key("4 - 9")
    assert key("7 - 2 + 1") == key("1 + 7 - 2") != key("7 - 1 + 2")
    assert key("4 * 9") == key("9 * 4") != key("4 + 9")
    assert key("8 / 4") != key("8 * 4")
    nested = join("+", SumNode(2), join("*", SumNode(3), SumNode(4)))
    turned = join("+", join("*", SumNode(4), SumNode(3)), SumNode(2))
    assert asked(nested, "").key == asked(turned, "").key
