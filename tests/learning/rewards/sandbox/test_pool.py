"""The sandbox with harmless programs: results of right and wrong ones, and their messages."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from functools import partial

import pytest

from benchmarks.common.processes import descendants
from learning.rewards.sandbox.judge import free_names
from learning.rewards.sandbox.pool import FAILURES, Sandbox

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(workers=2, packages=("learning", "engine", "tests")) as one:
        yield one


def test_right_and_wrong_programs_are_told_apart(sandbox: Sandbox) -> None:
    tests = "assert double(2) == 4\nassert double('ab') == 'abab'"
    right = sandbox.run("def double(x): return x * 2", tests, 20)
    assert right.passed and right.value is True and 0 < right.seconds < 20
    wrong = sandbox.run("def double(x): return x + 2", tests, 20)
    assert (wrong.value, wrong.failure, wrong.passed) == (False, "", False)


def test_what_went_wrong_is_said(sandbox: Sandbox) -> None:
    def detail(program: str) -> str:
        return sandbox.run(program, "assert f(1) == 2, 'one and one'", 20).detail

    assert detail("def f(x): return 3") == "AssertionError: one and one"
    assert detail("def f(x): return x / 0") == "ZeroDivisionError: division by zero"
    assert detail("def f(x) return 2") == "SyntaxError: expected ':' (program, line 1)"
    assert detail("def g(x): return 2") == "NameError: the program defines no f"
    assert detail("class E(Exception): pass\ndef f(x): raise E('no')") == "RuntimeError: E: no"


def test_a_program_is_run_for_what_it_prints(sandbox: Sandbox) -> None:
    def value(program: str, most: int = 300) -> tuple[str, str]:
        outcome = sandbox.execute(program, 20, most=most)
        assert outcome.failure == "" and outcome.seconds > 0
        return outcome.value["out"], outcome.value["error"]

    assert value("print(3 * 4)") == ("12\n", "")
    assert value("x = 3 * 4\nx") == ("12\n", ""), "as in a console"
    assert value("print('a')\n'b'") == ("a\n'b'\n", "")
    assert value("None") == value("") == value("x = 1") == ("", "")
    assert value("print(1)\n1 / 0\nprint(2)") == ("1\n", "ZeroDivisionError: division by zero")
    assert value("1 +")[1].startswith("SyntaxError: ")
    assert value("raise SystemExit(3)") == ("", "SystemExit: 3")
    assert value("for n in range(10 ** 6): print(n)", most=5) == ("0\n1\n2", "")
    assert value(r"print('\x1b[2J\u202e\ud800')") == (" [2J  \n", "")
    assert value("input()")[1].startswith("EOFError")
    assert value("import sys; sys.modules['program'] = 7; __name__") == ("'program'\n", "")


def test_programs_share_nothing(sandbox: Sandbox) -> None:
    programs = ["import math; math.pi = 3", "import math; math.pi"] * 8
    outcomes = sandbox.map([partial(Sandbox.execute, program=p, seconds=20) for p in programs])
    assert [one.value["out"][:4] for one in outcomes] == ["", "3.14"] * 8


def test_what_a_program_says_is_checked_outside_of_it(sandbox: Sandbox) -> None:
    """It holds the link, and may send a message of its own in place of ours."""
    forge = (
        "import json, os, stat, struct\n"
        "def say(body):\n"
        "    for fd in range(64):\n"
        "        try:\n"
        "            if stat.S_ISSOCK(os.fstat(fd).st_mode):\n"
        "                os.write(fd, struct.pack('<I', len(body)) + body)\n"
        "        except OSError: pass\n"
    )
    for body in ('{"out": 7, "error": ["x"]}', "[1]", '"text"', '{"out": "' + "y" * 999 + '"}'):
        outcome = sandbox.execute(f"{forge}say({body.encode()!r})", 20)
        assert outcome.failure == ""
        assert set(outcome.value) == {"out", "error"}
        assert all(type(text) is str and len(text) <= 300 for text in outcome.value.values())
    assert sandbox.execute(f"{forge}say(b'no json')", 20).failure == "crashed"
    assert sandbox.execute("import os; os._exit(0)", 20).failure == "crashed"
    assert sandbox.execute("x" * (2 << 20), 20).failure == "too much output"


def test_what_is_said_can_be_printed(sandbox: Sandbox) -> None:
    program = "def f(x): raise ValueError('\\x1b[2J\\ud800\\nred\\u202e')"
    assert sandbox.run(program, "f(1)", 20).detail == "ValueError:  [2J  red "
    call = sandbox.call("builtins:int", ["\x1b[2J"], 20)
    assert call.failure == "error" and call.detail.isprintable()


KINDS = """
import collections, decimal, fractions
def kinds():
    return [
        None, True, 0, -7, 1 << 200, 0.1, -0.0, 1e308, float("inf"), "", "\\ud800\\x00é", b"\\x00\\xff",
        1 + 2j, (1, [2, (3,)]), {1, "a", (2, 3)}, frozenset({4}), {(1, 2): {"x": [None]}, 3: 4},
        range(2, 9, 3), collections.deque([1, 2]), decimal.Decimal("1.50"), fractions.Fraction(1, 3),
        collections.Counter("aab"), collections.OrderedDict(b=1), bytearray(b"ab"),
        {1: 2}.keys(), {1: 2}.items(),
    ]
"""
EXPECTED = """
import collections, decimal, fractions
wanted = [
    None, True, 0, -7, 1 << 200, 0.1, -0.0, 1e308, float("inf"), "", "\\ud800\\x00é", b"\\x00\\xff",
    1 + 2j, (1, [2, (3,)]), {1, "a", (2, 3)}, frozenset({4}), {(1, 2): {"x": [None]}, 3: 4},
    range(2, 9, 3), collections.deque([1, 2]), decimal.Decimal("1.50"), fractions.Fraction(1, 3),
    {"a": 2, "b": 1}, {"b": 1}, b"ab", {1}, {(1, 2)},
]
got = kinds()
assert len(got) == len(wanted)
for mine, right in zip(got, wanted):
    assert mine == right, (mine, right)
for mine, right in zip(got[:22], wanted[:21]):
    assert type(mine) is type(right), (mine, right)
assert repr(got[6]) == "-0.0"
"""


def test_every_kind_of_plain_data_crosses(sandbox: Sandbox) -> None:
    outcome = sandbox.run(KINDS, EXPECTED, 20)
    assert outcome.passed, outcome
    back = "import math\ndef same(x, *, y): return x == y and type(x) is type(y)"
    tests = (
        "for x in (1, 2.5, 'a', (1,), {1: [2]}, {3}, b'x', 1 << 99, str):\n    assert same(x, y=x)"
    )
    assert sandbox.run(back, tests, 20).passed


def test_iterators_and_callers_exceptions(sandbox: Sandbox) -> None:
    program = "def f(n):\n    if n < 0: raise ValueError('negative')\n    yield from range(n)"
    program += "\ndef g(n): raise KeyError(n)"
    tests = "assert list(f(3)) == [0, 1, 2]\ntry: g('x')\nexcept KeyError: pass\nelse: assert False"
    assert sandbox.run(program, tests, 20).passed


def test_objects_of_the_program_can_be_used_but_equal_nothing(sandbox: Sandbox) -> None:
    program = """
class Node:
    def __init__(self, value): self.value, self.left = value, None
    def __eq__(self, other): return True
    def twice(self): return 2 * self.value
def total(node): return node.value + (total(node.left) if node.left else 0)
"""
    tests = """
root = Node(1)
root.left = Node(2)
root.left.left = Node(3)
assert total(root) == 6
assert root.left.value == 2
assert root.left.twice() == 4
assert not root == 1
assert not root == Node(1)
"""
    outcome = sandbox.run(program, tests, 20)
    assert outcome.passed, outcome
    truth = sandbox.run(program, "assert Node(1)", 20)
    assert "no plain data" in truth.detail


def test_arguments_go_by_value(sandbox: Sandbox) -> None:
    """A program that empties its argument does not change the expected result."""
    program = "def same(xs):\n    xs.clear()\n    return xs"
    assert not sandbox.run(program, "xs = [3, 1]\nassert same(xs) == sorted(xs)", 20).passed


def test_an_exception_does_not_end_the_loop_of_a_test(sandbox: Sandbox) -> None:
    program = "def f(x): raise StopIteration"
    assert not sandbox.run(program, "assert all(map(f, [1, 2]))", 20).passed
    assert not sandbox.run(program, "for a, b in zip(map(f, [1]), [2]): assert a == b", 20).passed


def test_it_can_be_used_again_after_it_was_closed() -> None:
    with Sandbox(workers=1) as one:
        before = descendants(os.getpid())
    assert len(descendants(os.getpid())) == len(before) - 2
    assert one.run("def f(): return 1", "assert f() == 1", 20).passed
    one.__exit__()


def test_builtins_and_helpers_of_the_problem_are_not_the_programs(sandbox: Sandbox) -> None:
    lie = "def solve(n): return n\nabs = sorted = lambda *a: 0\ndef check(x): return 0"
    given = "def check(x): return x * x"
    assert not sandbox.run(lie, "assert abs(solve(1) - 5) < 1", 20).passed
    assert not sandbox.run(lie, "assert check(solve(2)) == 0", 20, given=given).passed
    assert sandbox.run(lie, "assert check(solve(2)) == 4", 20, given=given).passed
    assert sandbox.run(
        "def sum(a, b): return a - b", "assert sum(3, 2) == 1", 20, names=["sum"]
    ).passed


def test_tests_that_end_early_prove_nothing(sandbox: Sandbox) -> None:
    program = "def f(): return 1"
    assert not sandbox.run(program, "import sys\nsys.exit(0)\nassert f() == 2", 20).passed
    assert not sandbox.run(program, "import os\nos._exit(0)\nassert f() == 2", 20).passed
    assert sandbox.run(program, "raise SystemExit", 20).value is False


def test_free_names() -> None:
    tests = """
import math
def check(candidate):
    inner = [candidate(x) for x in range(3)]
    return helper(inner), math.pi
class Local: pass
check(solve); Local()
"""
    assert free_names(tests, set()) == {"helper", "solve"}
    assert free_names(tests, {"helper"}) == {"solve"}
    assert free_names("def check(solve): solve(1)\ncheck(solve)", set()) == {"solve"}


def test_many_threads_share_few_workers(sandbox: Sandbox) -> None:
    before = descendants(os.getpid())
    outcomes = sandbox.map(
        lambda pool, n=n: pool.run(f"def f(): return {n}", f"assert f() == {n % 5}", 60)
        for n in range(20)
    )
    assert [o.value for o in outcomes] == [n == n % 5 for n in range(20)]
    assert len(descendants(os.getpid()) - before) <= 4


def test_a_hung_job_does_not_hold_up_the_others(sandbox: Sandbox) -> None:
    sleep = "import time\ntime.sleep(1000)"
    hung = threading.Thread(target=sandbox.run, args=(sleep, "", 6.0))
    hung.start()
    assert sandbox.run("def f(): return 1", "assert f() == 1", 20).passed
    assert hung.is_alive()
    hung.join()


def test_trusted_functions_are_called(sandbox: Sandbox) -> None:
    assert sandbox.call("math:hypot", [3, 4], 20).value == 5.0
    assert (
        sandbox.call("learning.rewards.sandbox.judge:free_names", ["f(x)", 1], 20).failure
        == "error"
    )
    assert sandbox.call("json:loads", ["[1, null, {}]"], 20).value == [1, None, {}]


@pytest.mark.parametrize(
    ("target", "arguments", "failure"),
    [
        ("builtins:eval", ["9**9**9"], "timeout"),
        ("time:sleep", [100], "timeout"),
        ("builtins:eval", ["__import__('os')._exit(0)"], "crashed"),
        ("builtins:eval", ["__import__('sys').exit(0)"], "error"),
        ("builtins:eval", ["__import__('ctypes').string_at(8)"], "crashed"),
        ("builtins:eval", ["bytearray(1 << 45)"], "memory"),
        ("builtins:eval", ["'x' * (1 << 21)"], "too much output"),
        ("builtins:eval", ["float('nan')"], "error"),
        ("builtins:eval", ["object()"], "error"),
        ("builtins:eval", ["(" * 1000], "error"),
        ("builtins:eval", ["[" * 90 + "]" * 90], ""),
        ("builtins:eval", ["__import__('os').fork()"], "error"),
        ("builtins:eval", ["__import__('os').system('true')"], ""),
        ("builtins:eval", ["open('left', 'w').write('x')"], ""),
        ("builtins:eval", ["open('left').read()"], "error"),
        ("builtins:eval", ["__import__('socket').socket()"], "error"),
        ("builtins:exec", ["import learning.protocol.records"], ""),
        ("learning.rewards.sandbox.pool:Sandbox", [], "error"),
        ("no.such:thing", [], "error"),
        ("math:nothing", [], "error"),
    ],
)
def test_text_that_is_evaluated_does_no_harm(
    sandbox: Sandbox, target: str, arguments: list[object], failure: str
) -> None:
    before = descendants(os.getpid())
    outcome = sandbox.call(target, arguments, 0.5 if failure == "timeout" else 20)
    assert outcome.failure == failure, outcome
    assert outcome.failure in ("", *FAILURES)
    assert len(descendants(os.getpid()) - before) <= 4
    assert sandbox.call("math:sqrt", [4], 20).value == 2.0


def test_how_much_processor_time_a_call_took_is_told(sandbox: Sandbox) -> None:
    waited = sandbox.call("time:sleep", [100], 0.5)
    assert waited.failure == "timeout" and waited.busy < 0.4
    worked = sandbox.call("builtins:exec", ["while True: pass"], 3.0)
    assert worked.failure == "timeout" and worked.busy > waited.busy


def test_one_call_does_not_change_the_next(sandbox: Sandbox) -> None:
    lie = "__import__('math').__dict__.update(sqrt=lambda x: 42)"
    for _ in range(3):
        sandbox.call("builtins:eval", [lie], 20)
        assert sandbox.call("math:sqrt", [4], 20).value == 2.0


def test_arguments_that_are_no_data_are_refused(sandbox: Sandbox) -> None:
    with pytest.raises(TypeError):
        sandbox.call("math:sqrt", [object()], 20)
    assert sandbox.call("math:sqrt", [4], 20).value == 2.0
