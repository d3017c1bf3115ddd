"""Practice with a tool: an answer may call programs in the sandbox and go on with what they print.

A call is a section `<tool>program</tool>` at which the answer stops. What the program prints is put behind it
as `<result>...</result>`, and the answer goes on, up to a few calls. Its words and its calls are kept apart,
so that nothing a program prints can be taken for an answer: only own words are scored for correctness and
form.
Left out: how answers are generated (learning.practice.sampling.tools). Loads no torch.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from learning.rewards.registry import tasks
from learning.rewards.sandbox.pool import MOST_PRINTED, NoSandbox, Sandbox, SandboxOutcome
from learning.rewards.task import COUNT, Problem, RewardWeights, Score, Split
from learning.rewards.verifiers.answer import read_answer
from learning.rewards.verifiers.verified import Lent, VerifiedTask, too_much

CALLS = 5
"""Most calls of one answer."""
SECONDS = 2.0
"""Time limit of a call."""
REFUSALS = 2
"""Calls beyond the limit that are answered, so that the answer can come to its end; the next one ends it."""
NO_MORE = "no more calls"
"""The result of a call beyond the limit."""
NOTHING = "nothing printed"
PYTHON_COUNT = f"python{COUNT}"
"""Number of calls whose program ended without an error."""
TOOL_WEIGHTS = RewardWeights(format=0.2, more={"tool_execution": 0.2, PYTHON_COUNT: 0.0})
"""The names and weights of the tool rubric of PrimeIntellect-ai/verifiers."""
# no possessive groups, as in engine.tokenizers.tags
_CALL = re.compile(r"<tool>((?:(?!</?tool>).)*)</tool>\s*\Z", re.DOTALL)
_SECTION = re.compile(r"<(tool|result)>((?:(?!</?\1>).)*)</\1>", re.DOTALL)


@dataclass(frozen=True)
class ToolCall:
    """One call and its result."""

    program: str
    result: str
    """What the answer goes on with, at most MOST_PRINTED characters."""
    done: bool = False
    """Whether the program ran and ended without an error."""
    failed: str = ""
    """Why the sandbox itself could not run it, which says nothing about the program; else empty."""


@dataclass(frozen=True)
class ToolAnswer:
    """An answer with its calls."""

    said: str
    """Its own words without programs, tags as text."""
    calls: tuple[ToolCall, ...] = ()


@dataclass
class ToolTask:
    """Implements learning.rewards.task.Task. If an answer is one text, `score` runs its programs and ignores
    the results that the text contains."""

    plain: VerifiedTask
    """Problems, and what is right about own words."""
    weights: RewardWeights = TOOL_WEIGHTS
    limit: int = CALLS
    """Most calls of one answer, >= 0."""
    lent: Lent = field(default_factory=lambda: Lent(None))

    @property
    def name(self) -> str:
        """See Task."""
        return self.plain.name

    def describe(self) -> str:
        """See Task."""
        return tasks()[self.name]

    def problems(self, split: Split, rng: random.Random) -> Iterator[Problem]:
        """See Task."""
        return self.plain.problems(split, rng)

    def score(self, problem: Problem, answers: Sequence[str]) -> list[Score]:
        """See Task."""
        try:
            return self.judge(problem, [self._played(text) for text in answers])
        except NoSandbox as error:
            return [Score.failure(str(error)) for _ in answers]

    def close(self) -> None:
        """See Task."""
        self.lent.close()
        self.plain.close()

    def judge(self, problem: Problem, answers: Sequence[ToolAnswer]) -> list[Score]:
        """One score per answer, in order. Never raises."""
        scores = self.plain.score(problem, [answer.said for answer in answers])
        return [self._score(score, answer) for score, answer in zip(scores, answers, strict=True)]

    def open(self) -> None:
        """Starts the sandbox if there may be calls. Raises NoSandbox."""
        if self.limit:
            self.lent.get()

    def execute(self, programs: Sequence[str]) -> list[ToolCall]:
        """Runs programs side by side. Raises NoSandbox if there is none here."""
        if not programs:
            return []
        sandbox = self.lent.get()
        jobs = [partial(Sandbox.execute, program=one, seconds=SECONDS) for one in programs]
        outcomes = sandbox.map(jobs)
        return [_call(program, one) for program, one in zip(programs, outcomes, strict=True)]

    def answered(self, calls: Sequence[ToolCall]) -> bool:
        """Whether one more call after these still gets a result."""
        return len(calls) < self.limit + REFUSALS

    def refused(self, calls: Sequence[ToolCall]) -> bool:
        """Whether the result of one more call is NO_MORE."""
        return len(calls) >= self.limit

    def _score(self, score: Score, answer: ToolAnswer) -> Score:
        failed = next((call.failed for call in answer.calls if call.failed), "")
        if failed or score.failed is not None:
            return Score.failure(failed or score.failed or "")
        done = sum(call.done for call in answer.calls)
        own = {
            "format": tool_format(answer.said),
            "tool_execution": done / max(1, len(answer.calls)),
            PYTHON_COUNT: float(done),
        }
        return Score.of({**score.components, **own}, self.weights)

    def _played(self, text: str) -> ToolAnswer:
        programs = [m[2] for m in _SECTION.finditer(text) if m[1] == "tool"]
        allowed = programs[: self.limit]
        calls = [*self.execute(allowed), *(refusal(one) for one in programs[len(allowed) :])]
        return ToolAnswer(_SECTION.sub("", text), tuple(calls))


def call_of(reply: str) -> tuple[str, str] | None:
    """(what is said before, program) of a reply that stops at a call; None if it does not."""
    match = _CALL.search(reply)
    return (reply[: match.start()], match[1].strip()) if match else None


def refusal(program: str) -> ToolCall:
    """A call beyond the limit."""
    return ToolCall(program, NO_MORE)


def tool_format(said: str) -> float:
    """1 for one non-empty answer field with nothing but thoughts before it; 0.5 for one in another form; else
    0. Thoughts may stand before each call."""
    answer = read_answer(said)
    if answer.field is None or len(answer.fields) > 1:
        return 0.0
    return 1.0 if re.fullmatch(r"(t /t )*a /a", answer.form) else 0.5


def with_calls(pieces: Sequence[tuple[str, str, str]], answer: str, last: str = "") -> str:
    """A worked answer: for each call what is thought before it (may be empty), program and result; last:
    what is thought before the answer itself."""
    found = [
        f"{f'<think>{think}</think>' if think else ''}<tool>{program}</tool><result>{result}</result>"
        for think, program, result in pieces
    ]
    return "".join([*found, f"<think>{last}</think>" if last else "", f"<answer>{answer}</answer>"])


def own_and_given(worked: str) -> list[tuple[str, str | None]]:
    """A worked answer as (own words up to a stop, the result that is given then). The last has none."""
    found, start = [], 0
    for match in _SECTION.finditer(worked):
        if match[1] == "result":
            found.append((worked[start : match.start()], match[2]))
            start = match.end()
    return [*found, (worked[start:], None)]


def _call(program: str, outcome: SandboxOutcome) -> ToolCall:
    if not outcome.failure:
        out, error = outcome.value["out"].strip(), outcome.value["error"]
        said = "\n".join(filter(None, (out, f"error: {error}" if error else "")))
        return ToolCall(program, (said or NOTHING)[:MOST_PRINTED], done=not error)
    call = ToolCall(program, f"error: {outcome.failure}")
    if too_much(outcome, SECONDS):
        return call
    return replace(call, failed=f"{outcome.failure}: {outcome.detail}"[:MOST_PRINTED])
