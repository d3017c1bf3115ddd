"""Sentences about runs of practice in the journal, for the list of runs, line mode and the shell.

Pure functions. Texts of people and models go through `one_line`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from learning.journal.practices import KeptAnswers, PracticeEntry, PracticeListed
from learning.practice.options import practice_options
from learning.practice.supply.arms import arm_name
from learning.protocol.events import PracticeDone
from vidya_tui.state import practice as practice_state
from vidya_tui.text.dates import when
from vidya_tui.text.numbers import counted, percent
from vidya_tui.text.sanitise import one_line

RUNS_WORD = "runs"
"""What follows `/practice` in the command that lists the runs."""
EMPTY = "No run yet: b on the practice screen, or /practice chain_sum, begins one."
NONE_SAID = "nothing was practised yet; /practice chain_sum begins"
"""The same in line mode."""
NO_END = "still running, or the program was closed or killed"
"""What is said of a run without a result; the journal does not tell which."""
ENDINGS = {
    "steps": "all steps",
    "solved": "solved",
    "stopped": "stopped",
    "time": "time over",
    "rolled_back": "put back",
    "too_hard": "too hard",
    "too_few": "too few",
    "alarm": "alarm",
}
"""How a run ended, in at most nine characters."""


@dataclass(frozen=True)
class RunsAsked:
    """What the owner typed after `/practice` to see earlier runs."""

    run: int | None = None
    """The run whose answers are asked for; None: the list of runs."""
    words: str = ""
    """Of a run: the component of the reward to choose by. Of the list: words to search for."""


def asked(typed: str) -> RunsAsked | None:
    """Reads `runs [WORDS]` or `#RUN [COMPONENT]`; None where a task is named."""
    first, _, words = typed.strip().partition(" ")
    if first == RUNS_WORD:
        return RunsAsked(words=words.strip())
    if re.fullmatch(r"#[0-9]{1,18}", first):
        return RunsAsked(int(first[1:]), words.strip())
    return None


def name(entry: PracticeEntry) -> str:
    """What was practised: the task with its settings; of several, all."""
    record = entry.record
    arms = record.get("arms") or [arm_name(entry.task, record.get("settings", ()))]
    return one_line(", ".join(arms))


def gain(entry: PracticeEntry) -> str:
    """Held-out accuracy before and after, at most thirteen characters."""
    before, after = (_of(entry, f"accuracy_{side}") for side in ("before", "after"))
    if before is None or after is None:
        return "not measured"
    return f"{percent(before)} \u2192 {percent(after)}"


def ending(entry: PracticeEntry) -> str:
    """How the run ended, at most nine characters."""
    if entry.outcome is None:
        return "no end"
    return ENDINGS.get(entry.outcome["ended"], one_line(entry.outcome["ended"], 9))


def lessons(run: PracticeListed) -> str:
    """The lessons that /undo takes back, and whether they are in effect."""
    said = [f"lesson {n}{'' if holds else ', no longer in effect'}" for n, holds in run.lessons]
    saves = (run.entry.outcome or {}).get("saves", 0)
    return ", ".join(said) or f"no lesson: {'it was erased' if saves else 'nothing was saved'}"


def lesson_short(run: PracticeListed) -> str:
    """The newest lesson, in brackets where it is no longer in effect; empty where nothing was saved."""
    if not run.lessons:
        return ""
    number, holds = run.lessons[-1]
    return f"lesson {number}" if holds else f"({number})"


def entry_line(entry: PracticeEntry) -> str:
    """One run of the journal on a line, for the shell."""
    seed, outcome = entry.record["seed"], entry.outcome
    if outcome is None:
        return f"{entry.id}: {name(entry)}, seed {seed}: {NO_END}"
    done = replace(PracticeDone(**outcome), task=name(entry))
    return f"{entry.id}: seed {seed}: {practice_state.done(done)}"


def line(run: PracticeListed, now: float) -> str:
    """One run on a line, for line mode."""
    entry = run.entry
    parts = [
        f"#{entry.id}, {when(entry.created, now).strip()}, {name(entry)}: {counted(run.steps, 'step')}",
        gain(entry),
        ending(entry),
        lessons(run),
        f"{counted(run.samples, 'answer')} kept",
    ]
    return ", ".join(parts)


def facts(run: PracticeListed, now: float) -> list[str]:
    """The lines that the screen shows below the name of a run: time, result, practised lesson and options."""
    entry = run.entry
    away = ", while you were away" if _of(entry, "idle") else ""
    parts = [f"run {entry.id}", f"begun {when(entry.created, now).strip()}{away}"]
    if _of(entry, "accuracy_after") is None:  # else the result says it
        parts.append(counted(run.steps, "step"))
    lines = [" \u00b7 ".join([*parts, lessons(run)])]
    if entry.outcome is None:
        lines.append(NO_END)
    else:
        lines.append(one_line(practice_state.done(PracticeDone(**entry.outcome))))
        if (alarm := entry.outcome.get("alarm")) and alarm not in lines[-1]:
            lines.append(f"alarm: {one_line(alarm)}")
    if changed := _changed(entry):
        lines.append(f"options: {changed}")
    return lines


def shown(kept: KeptAnswers, now: float) -> str:
    """The first lines above the answers of a run: its name, how many there are, what is known of it."""
    return "\n".join([f"{name(kept.run.entry)} \u00b7 {answers(kept)}", *facts(kept.run, now)[:2]])


def answers(kept: KeptAnswers) -> str:
    """How many answers there are; where these are not all, how to see the others."""
    number, total = len(kept.samples), kept.run.samples
    if not total:
        return "no answer was kept of it"
    if not left_out(kept):
        return f"{counted(total, 'answer')} kept, the newest first"
    return f"the newest {number:,} of {counted(total, 'answer')} kept; {shell_hint(kept)}"


def left_out(kept: KeptAnswers) -> int:
    """How many of the answers that were kept of the run are not among these."""
    return kept.run.samples - len(kept.samples)


def shell_hint(kept: KeptAnswers) -> str:
    """How one sees all answers of the run."""
    return f"`vidya practice --samples {kept.run.entry.id}` shows all"


def by_hint(kept: KeptAnswers, names: Sequence[str]) -> str:
    """How one sees answers by a component; names: of the components."""
    number = kept.run.entry.id
    return f"/practice #{number} NAME shows those with most of one of these: {', '.join(names)}"


def _changed(entry: PracticeEntry) -> str:
    """Options that were not the defaults, as one types them."""
    usual = {option.name: option.usual for option in practice_options()}
    given = entry.record.get("options", {})
    changed = [f"{name}={value}" for name, value in given.items() if usual.get(name) != value]
    return one_line(" ".join(changed))


def _of(entry: PracticeEntry, field: str) -> Any:
    return (entry.outcome or {}).get(field)
