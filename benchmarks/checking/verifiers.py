"""Measures speed and accuracy of the verifiers: 10,000 answers in the format of GSM8K, and the others.

Answers are generated in the many forms in which models write them, half of them wrong, so the right verdicts
are known. Left out: programs (see the sandbox benchmark).
"""

from __future__ import annotations

import importlib.util
import itertools
import random
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import Any

from benchmarks import BenchOptions
from benchmarks.common.report import machine, table, write
from learning.rewards.registry import find_task
from learning.rewards.sandbox.pool import Sandbox
from learning.rewards.task import Problem, Task, TaskOptions

ANSWERS = 10_000
LARGE = (
    "9^{9^{9^9}}",
    "(x+1)^{99999}",
    "((9!)!)!",
    "99999999!",
    "\\frac{1}{1+\\frac{1}{1+\\frac{1}{1+\\frac{1}{1+\\frac{1}{1+\\frac{1}{1+x}}}}}}",
    "10^{10^{10}}-10^{10^{10}}",
)
"""Expressions whose evaluation would never end."""
SLOW = (
    "\\ln((\\sqrt[9]{\\log_{7}{x}}+((2+0.5)+e^{e}+x)))+\\cos{\\sqrt[x]{x}}",
    "(\\sin(\\frac{3}{10})+\\sqrt{(\\pi+2)+|i|+x}-\\frac{\\sin(2)+\\sin(\\pi)+x}{\\ln(2)+x})",
    "\\lfloor \\ln(\\tan(x)-1000)+0.5\\rfloor + 7\\cos{7}\\cdot 99",
    "\\frac{\\sqrt[0.5]{x}}{7}-\\arcsin((10)^{i})+\\sqrt[x]{i}+\\log_{\\log_{e}{\\pi}}{x}",
)
"""The slowest expressions of ordinary size found by random search: parsing takes up to a second."""
EACH = 100
"""One answer in this many is replaced by a large or slow one."""
SANDBOXED = 400
"""Number of answers for verifiers that run in the sandbox."""
CORES = 2
_NAMES = ("Ann", "Ben", "Cleo", "Dan", "Eva", "Finn")
_THINGS = ("apples", "clips", "dollars", "eggs", "pages", "miles")

Case = tuple[str, str, bool]
"""(truth, answer, whether it is right)."""


@dataclass(frozen=True)
class Speed:
    """The measurement of one verifier."""

    name: str
    answers: int
    seconds: float
    rightly: float
    """Share of right verdicts, 0 to 1."""
    failed: int


def run(options: BenchOptions) -> dict[str, Any]:
    """See `vidya bench`."""
    found = machine()
    count = 500 if options.quick else ANSWERS
    few = 10 if options.quick else SANDBOXED
    seed = options.seeds[0]
    speeds = [gsm8k(count, seed, 1), gsm8k(count, seed, CORES)]
    speeds.append(_in_process("triviaqa", names(count, seed)))
    for task in ("chain_sum", "syllogism", "propositional_logic"):
        speeds.append(_in_process(task, own(task, count, seed)))
    with Sandbox(workers=CORES) as sandbox:
        speeds.append(_one_task("math, by text alone", "math", sandbox, fractions(count, seed)))
        if importlib.util.find_spec("math_verify"):
            cases = products(few, seed)
            find_task("math", TaskOptions(sandbox=sandbox)).score(
                Problem("", cases[0][0]), [cases[0][1]]
            )  # warm-up, so that starting the sandbox is not measured
            speeds.append(_one_task("math, calculated in the sandbox", "math", sandbox, cases))
            speeds += slowed(sandbox, cases)
        else:
            options.say("math-verify is not installed: calculation is not measured")
    for speed in speeds:
        options.say(f"{speed.name}: {speed.answers / speed.seconds:,.0f} answers/s")
    result = {"benchmark": "verifiers", "machine": found, "seed": seed}
    result["verifiers"] = [vars(speed) for speed in speeds]
    if options.out:
        write(
            options.out,
            "verifiers",
            "How fast answers are verified",
            "vidya bench verifiers",
            [_WORDS, _table(speeds)],
            result,
        )
    return result


_WORDS = (
    "Answers have the forms in which models write them (fields, bare sentences, separators, units,"
    " currency, `####`, boxes). Half of them are wrong: by a digit, a sign, hedging, an empty field, or the"
    " right number in the thinking only. *Judged rightly* is the share of right verdicts; failures of a"
    " verifier are counted separately. Calculations in the sandbox use its two worker processes. The last"
    " three rows are the same answers unchanged; with one in a hundred replaced by one whose calculation"
    " would never end (towers of powers, factorials, nested fractions); and with one in a hundred replaced"
    " by one of the slowest of ordinary size that random search found."
)


def _table(speeds: Sequence[Speed]) -> str:
    head = ("verifier", "answers", "seconds", "answers/s", "judged rightly", "failed")
    return table(
        head,
        [
            (
                s.name,
                f"{s.answers:,}",
                s.seconds,
                s.answers / s.seconds,
                f"{s.rightly:.2%}",
                s.failed,
            )
            for s in speeds
        ],
    )


def gsm8k(count: int, seed: int, cores: int) -> Speed:
    """Answers in the format of GSM8K, in one process or several."""
    cases = sums(count, seed)
    parts = [cases[start::cores] for start in range(cores)]
    if cores == 1:
        began = time.perf_counter()
        judged = [judge("gsm8k", parts[0])]
    else:
        with ProcessPoolExecutor(cores) as pool:
            list(pool.map(judge, ["gsm8k"] * cores, [cases[:1]] * cores))  # warm-up
            began = time.perf_counter()
            judged = list(pool.map(judge, ["gsm8k"] * cores, parts))
    seconds = time.perf_counter() - began
    rightly = sum(j[0] for j in judged) / count
    what = f"gsm8k, {cores} process{'es' if cores > 1 else ''}"
    return Speed(what, count, seconds, rightly, sum(j[1] for j in judged))


def judge(name: str, cases: Sequence[Case]) -> tuple[int, int]:
    """(number of right verdicts, number of failures)."""
    return _judge(find_task(name), [(Problem("", t), a, r) for t, a, r in cases])


def _judge(task: Task, cases: Sequence[tuple[Problem, str, bool]]) -> tuple[int, int]:
    rightly = failed = 0
    for problem, answer, right in cases:
        [score] = task.score(problem, [answer])
        rightly += score.correct == right and score.failed is None
        failed += score.failed is not None
    return rightly, failed


def _in_process(name: str, cases: Sequence[tuple[Problem, str, bool]]) -> Speed:
    task = find_task(name)
    began = time.perf_counter()
    rightly, failed = _judge(task, cases)
    return Speed(name, len(cases), time.perf_counter() - began, rightly / len(cases), failed)


def _one_task(what: str, name: str, sandbox: Sandbox, cases: Sequence[Case]) -> Speed:
    """Scores all answers to one truth in one call, like a group in practice."""
    task = find_task(name, TaskOptions(sandbox=sandbox))
    began = time.perf_counter()
    rightly = failed = 0
    for truth, group in itertools.groupby(cases, key=lambda case: case[0]):
        mine = list(group)
        scores = task.score(Problem("", truth), [answer for _, answer, _ in mine])
        rightly += sum(
            s.correct == right and not s.failed
            for s, (_, _, right) in zip(scores, mine, strict=True)
        )
        failed += sum(s.failed is not None for s in scores)
    return Speed(what, len(cases), time.perf_counter() - began, rightly / len(cases), failed)


def slowed(sandbox: Sandbox, cases: Sequence[Case]) -> list[Speed]:
    """Measures the cases unchanged, with one in EACH made large, and with one in EACH made slow. The three
    variants of each part are measured right after each other, under the same load."""
    kinds: dict[str, Sequence[str]] = {"": (), "too large": LARGE, "slow": SLOW}
    parts: dict[str, list[Speed]] = {kind: [] for kind in kinds}
    for number, start in enumerate(range(0, len(cases), EACH)):
        for kind, bad in kinds.items():
            part = list(cases[start : start + EACH])
            if bad:
                truth = part[-1][0]
                part[-1] = (truth, f"\\boxed{{{bad[number % len(bad)]}}}", False)
            parts[kind].append(_one_task("", "math", sandbox, part))
    return [
        Speed(
            f"math, calculated, one in {EACH} {kind}"
            if kind
            else "math, calculated, unchanged again",
            sum(part.answers for part in found),
            sum(part.seconds for part in found),
            sum(part.rightly * part.answers for part in found)
            / sum(part.answers for part in found),
            sum(part.failed for part in found),
        )
        for kind, found in parts.items()
    ]


def sums(count: int, seed: int) -> list[Case]:
    """Cases in the format of GSM8K: some sentences of reasoning, then the number."""
    rng = random.Random(seed)
    cases = []
    for index in range(count):
        a, b = rng.randint(2, 2_000), rng.randint(2, 99)
        truth, thing = a * b, rng.choice(_THINGS)
        name = rng.choice(_NAMES)
        way = (
            f"{name} has {a} boxes with {b} {thing} in each. That makes {a} * {b} {thing}."
            f" First {a} * {b // 2 + 1} = {a * (b // 2 + 1)}, and the rest is"
            f" {a * (b - b // 2 - 1)}."
        )
        right = index % 2 == 0
        ways = _right_ways(truth, thing) if right else _wrong_ways(truth, thing, rng)
        cases.append((str(truth), rng.choice(ways)(way), right))
    return cases


Way = Callable[[str], str]


def _right_ways(truth: int, thing: str) -> list[Way]:
    ends = [
        f"<answer>{truth}</answer>",
        f"<answer> {truth:,} {thing}. </answer>",
        f"< Answer >${truth:,}.00</ANSWER>",
        f"<answer>\\boxed{{{truth}}}",
        f"So the answer is {truth}.",
        f"#### {truth:,}",
        f"In all \\boxed{{{truth}}} {thing}",
    ]
    return [lambda way, end=end: f"<think>{way}</think>\n{end}" for end in ends] + [  # type: ignore[misc]
        lambda way: f"{way}\n#### {truth}"
    ]


def _wrong_ways(truth: int, thing: str, rng: random.Random) -> list[Way]:
    near = truth + rng.choice((-10, -1, 1, 10))
    ends = [
        f"<answer>{near}</answer>",
        f"<answer>-{truth}</answer>",
        f"<answer>{near} or {truth}</answer>",
        f"<answer>{near}</answer><answer>{truth}</answer>",
        "<answer></answer>",
        f"<answer>{truth}{rng.randint(0, 9)}</answer>",
        f"The answer is {near} {thing}.",
        "",
        f"#### {near:,}",
    ]
    return [lambda way, end=end: f"<think>{way} = {truth}</think>\n{end}" for end in ends]  # type: ignore[misc]


def names(count: int, seed: int) -> list[tuple[Problem, str, bool]]:
    """Cases with names of persons, several of which are right."""
    rng = random.Random(seed)
    cases = []
    for index in range(count):
        first, last = rng.choice(_NAMES), f"{rng.choice(_THINGS).capitalize()}on{index}"
        problem = Problem("", [f"{first} {last}", last, f"Dr. {first} {last}", ""])
        right = index % 2 == 0
        ways = (
            [f"the {last.upper()}!", f" {first}  {last}. "]
            if right
            else ["", "the", first, last[:4]]
        )
        cases.append((problem, f"<answer>{rng.choice(ways)}</answer>", right))
    return cases


def own(name: str, count: int, seed: int) -> list[tuple[Problem, str, bool]]:
    """Worked answers to generated problems, and answers with the thinking only."""
    problems = itertools.islice(find_task(name).problems("train", random.Random(seed)), count)
    cases = []
    for index, problem in enumerate(problems):
        text = str(problem.worked)
        cases.append(
            (problem, text if index % 2 == 0 else text.split("<answer>")[0], index % 2 == 0)
        )
    return cases


def fractions(count: int, seed: int) -> list[Case]:
    """Cases with fractions in LaTeX that need no symbolic calculation."""
    rng = random.Random(seed)
    cases = []
    for index in range(count):
        a, b = 2 * rng.randint(0, 49) + 1, rng.choice((2, 4, 8, 16))
        right = index % 2 == 0
        said = rng.choice(
            (f"\\dfrac{{{a}}}{{{b}}}", f"{a}/{b}", f"{a / b}", f" \\frac {{{a}}} {{{b}}}")
        )
        wrong = f"\\frac{{{a + 1}}}{{{b}}}"
        cases.append((f"\\frac{{{a}}}{{{b}}}", f"So \\boxed{{{said if right else wrong}}}.", right))
    return cases


def products(count: int, seed: int) -> list[Case]:
    """Cases with polynomials that need symbolic calculation, eight answers per truth."""
    rng = random.Random(seed)
    cases = []
    for index in range(count):
        if index % 8 == 0:
            a, b = rng.randint(2, 99), rng.randint(2, 99)
        right = index % 2 == 0
        one, two = (a, b) if right else (a + index % 8, b)
        truth = f"x^2+{a + b}x+{a * b}"
        cases.append(
            (truth, f"\\boxed{{(x+{one})({'x+' + str(two) + '+0' * (index % 8)})}}", right)
        )
    return cases
