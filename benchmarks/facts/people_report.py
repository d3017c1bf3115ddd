"""The report of bench people: what it must show, then a table per model and half."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from benchmarks.common.report import deviation, table, write
from benchmarks.facts.people_arms import ARMS
from benchmarks.facts.people_data import HALVES
from benchmarks.lessons.collapse_pupils import RECIPE

TITLE = "What is taught is known in any words"
UNTAUGHT, UNSEEN = "untaught", HALVES[1]

CRITERION = (
    ("measure", "10M", "49M", "135M"),
    (
        ("efficacy: taught words, right after the lesson", ">= 98 %", ">= 98 %", ">= 98 %"),
        ("generalisation: rewordings, by key", ">= 75 %", ">= 80 %", ">= 90 %"),
        (
            "generalisation: paraphrases without a shared content word, by key",
            ">= 40 %",
            ">= 50 %",
            ">= 65 %",
        ),
        ("portability: yes/no pair, both right; one hop", None, None, ">= 70 %; >= 30 %"),
        (
            "specificity: neighbours unchanged; answers to untaught questions the same to the letter",
            ">= 98 %; told",
            ">= 98 %; told",
            ">= 98 %; >= 90 %",
        ),
        ("unknown: says so; known: wrongly refuses", None, None, ">= 70 %; <= 3 %"),
        ("retention after 200 facts", ">= 95 %", ">= 95 %", ">= 95 %"),
        ("book kept; talk", ">= 98 %; < 2 %", ">= 98 %; < 2 %", ">= 98 %; < 2 %"),
        (
            "seconds a lesson; of pause after it",
            "<= 3; 20",
            "<= 10; 60",
            "<= 10 (bfloat16); 60",
        ),
    ),
)
"""What issue 27 asks of the unseen half, weights alone; written before the first run."""

PLAN = (
    "Written before the first run: the criterion above, on the unseen half, over three seeds (at 135M one of "
    "all facts and two of the first fifty). Seeds shuffle the facts and the learner's replay. The tuning "
    "half is for choices; what it shows decides nothing. Arms are compared at the same facts, order and "
    "start. Settings of the editors that are not their papers' (blocks, rates, λ) were chosen on the first "
    "six facts of the tuning half and of no other."
)
READING = (
    "All answers are greedy and free-running (no right word is ever given; teacher forcing, as most papers "
    "on editing measure, is higher), on the weights alone but for the two arms whose facts stand in the "
    "prompt. *Key*: the answer has the key words that were written with the fact, and none that it must not "
    "have. *Exact*: it is the taught answer. Efficacy (2202.05262): the taught question right after its "
    "lesson. Rewordings and paraphrases: three each per fact, never taught, asked after all lessons; "
    "paraphrases share no content word with the question. One hop: a question that needs the fact "
    "(portability, 2401.01286). Yes/no: both questions of a pair are right. Neighbours (2202.05262) and "
    "controls (50 questions of `data/talk.jsonl`): the answer is to the letter that of the untaught model. "
    "Unknown: of questions about the same subject on which nothing was said, those answered with not "
    "knowing; refused: of the taught questions in all wordings, those answered so. Told the fact: questions "
    "about somebody else, and about the same subject on which nothing was said, that get it, by key. Means "
    "over seeds, ± the standard deviation."
)

PUBLISHED = (
    (
        "what",
        "model",
        "facts",
        "efficacy / generalisation / specificity",
        "cost of a fact",
        "from",
    ),
    (
        ("ROME", "LLaMA-2-7B, zsRE", "1", "92 / 87 / 100 %", None, "EasyEdit's README"),
        (
            "FT-M",
            "LLaMA-2-7B, zsRE",
            "1",
            "100 / - / 90 %; portability 60 %",
            None,
            "EasyEdit's README",
        ),
        ("WISE", "Mistral-7B, zsRE", "1,000", "70 / 67 / 100 %", None, "EasyEdit #515"),
        (
            "MEMIT",
            "LLaMA-3-8B, CounterFact",
            "2,000",
            "66 / 65 / 52 %",
            None,
            "AlphaEdit, 2410.02355",
        ),
        (
            "AlphaEdit",
            "LLaMA-3-8B, CounterFact",
            "2,000",
            "99 / 94 / 68 %",
            None,
            "AlphaEdit, 2410.02355",
        ),
        ("ROME", "Pythia-160M", "10", "every benchmark falls to 0", None, "2410.18785"),
        (
            "several, not teacher-forced",
            "7-8B",
            "1",
            "38.5 % where 96.8 is reported",
            None,
            "2502.11177",
        ),
    ),
)
"""For comparison; read at the sources, not measured here. Costs were not read there."""
NOT_COMPARABLE = (
    "These cannot be compared digit by digit. Theirs are teacher-forced (but for the last), on short answers "
    "and models 7 to 800 times as large; their specificity compares probabilities of a neighbour's answer, "
    "ours the whole answer to the letter. Ours are sentences, asked in six other wordings, of which three "
    "share no content word with the question."
)

HEAD = (
    "arm",
    "seeds",
    "efficacy, key (exact)",
    "after all, key (exact)",
    "rewordings, key (exact)",
    "paraphrases, key (exact)",
    "one hop",
    "yes/no",
    "neighbours",
    "controls",
    "unknown",
    "refused",
    "neighbours told the fact",
    "unknown told the fact",
)
COSTS = (
    "arm",
    "retained after {}",
    "contradicted: new, taught words (rewordings)",
    "old gone",
    "others after that, key",
    "book kept",
    "talk",
    "s per lesson",
    "CPU s",
    "s of pause",
    "CPU s of pause",
    "rolled back",
    "MB",
)


def write_report(out: Path, result: Mapping[str, Any], commands: Sequence[str]) -> None:
    """Writes people.md and people.json. Raises DataError."""
    write(out, "people", TITLE, commands, parts(result), result)


def parts(result: Mapping[str, Any]) -> list[str]:
    """Paragraphs and tables of people.md."""
    found = ["## What it must show", table(*CRITERION), PLAN, "## How to read it", READING]
    rows = result["rows"]
    if rows:
        measured = {row["method"] for row in rows}
        are = [f"*{name}*, {what}" for name, what in ARMS.items() if name in measured]
        found.append("Arms: " + "; ".join(are) + ".")
    else:
        found.append("Nothing is measured yet.")
    if result["quick"]:
        found.append("**--quick: only to see that it works; not to be quoted.**")
    for what in dict.fromkeys(_what(row) for row in rows):
        found += _section([row for row in rows if _what(row) == what], result)
    head, published = PUBLISHED
    beside = table(head, [*_own(rows), *published])
    return [*found, "## Beside published figures", beside, NOT_COMPARABLE]


def _own(rows: Sequence[Mapping[str, Any]]) -> list[list[object]]:
    """The recipe's rows of the unseen half, for the table of published figures."""
    lines: list[list[object]] = []
    own = [row for row in rows if row["method"] == RECIPE and row["half"] == UNSEEN]
    for what in dict.fromkeys(_what(row) for row in own):
        _, model, facts, _ = what
        last = [row for row in own if _what(row) == what and row["at"] == facts]
        if not last:
            continue
        paraphrases = _percent(last, "paraphrases")
        shares = [
            _percent(last, "right_after"),
            f"{_percent(last, 'rewordings')} (paraphrases {paraphrases})",
            f"{_percent(last, 'neighbours')}",
        ]
        seconds, pause = (_mean(last, key) or 0.0 for key in ("cpu_median", "pause_cpu_median"))
        cost = f"{seconds:.1f} CPU s, and {pause:.1f} of pause"
        name, data = f"Vidya's {RECIPE}, free-running", f"{model}, people.jsonl"
        found = " / ".join(map(str, shares))
        lines.append([name, data, str(facts), found, cost, "here, unseen half"])
    return lines


def _what(row: Mapping[str, Any]) -> tuple[Any, ...]:
    return row["half"], row["model"], row["facts"], row["pause"]


def _section(rows: Sequence[Mapping[str, Any]], result: Mapping[str, Any]) -> list[str]:
    """The tables of one model, half and number of facts."""
    half, model, facts, pause = _what(rows[0])
    arms = [name for name in ARMS if any(row["method"] == name for row in rows)]
    points = sorted({row["at"] for row in rows if 0 < row["at"] <= facts})
    first = [row for row in rows if row["at"] == 0][:1]
    lines = [_line(UNTAUGHT, first)]
    costs = []
    for name in arms:
        of_arm = [row for row in rows if row["method"] == name]
        lines.append(_line(name, [row for row in of_arm if row["at"] == facts]))
        costs.append(_cost(name, of_arm, facts, points))
    head = list(COSTS)
    head[1] = head[1].format(", ".join(map(str, points)))
    intro = (
        f"{facts} facts, pauses of at most {pause:g} processor seconds after each lesson (a piece of work "
        f"that has begun is finished), {result['threads']} thread(s); talk: the loss per token on "
        f"{result['talk']}."
    )
    return [
        f"## {model}, {half} half, {facts} facts",
        intro,
        table(HEAD, lines),
        table(head, costs),
    ]


def _line(name: str, rows: Sequence[Mapping[str, Any]]) -> list[object]:
    return [
        name,
        len(rows),
        *(_both(rows, kind) for kind in ("right_after", "taught", "rewordings", "paraphrases")),
        *(_percent(rows, kind) for kind in ("hop", "yes_no", "neighbours", "controls")),
        *(
            _percent(rows, kind)
            for kind in ("unknown", "refused", "neighbours_leaked", "unknown_told")
        ),
    ]


def _cost(
    name: str, rows: Sequence[Mapping[str, Any]], facts: int, points: Sequence[int]
) -> list[object]:
    first = {row["seed"]: row for row in rows if row["at"] == 0}
    last = [row for row in rows if row["at"] == facts]
    after = [row for row in rows if "later" in row]
    seconds = [row for row in last if "seconds_median" in row]
    kept = [
        {
            "book_kept": row["book"] / first[row["seed"]]["book"] if row["book"] else 0.0,
            "talk_rise": row["talk_nll"] / first[row["seed"]]["talk_nll"] - 1.0,
        }
        for row in last
    ]
    retained = [_percent([r for r in rows if r["at"] == at], "retained", digits=0) for at in points]
    fresh = _percent(after, "later"), _percent(after, "later_rewordings")
    return [
        name,
        ", ".join(str(share) for share in retained),
        f"{fresh[0]} ({fresh[1]})" if after else None,
        _percent(after, "old_gone"),
        _percent(after, "taught"),
        _percent(kept, "book_kept"),
        _percent(kept, "talk_rise", sign=True),
        *(_mean(seconds, k) for k in ("seconds_median", "cpu_median", "pause_median")),
        *(_mean(seconds, k) for k in ("pause_cpu_median", "rolled_back", "memory_mb")),
    ]


def _both(rows: Sequence[Mapping[str, Any]], kind: str) -> str | None:
    """By key, and exact in brackets."""
    by_key = _percent(rows, kind)
    return None if by_key is None else f"{by_key} ({_percent(rows, f'{kind}_exact')})"


def _percent(
    rows: Sequence[Mapping[str, Any]], kind: str, *, sign: bool = False, digits: int = 1
) -> str | None:
    values = [100 * row[kind] for row in rows if row.get(kind) is not None]
    if not values:
        return None
    spread = deviation(values)
    text = f"{fmean(values):{'+' if sign else ''}.{digits}f}"
    return f"{text} ± {spread:.{digits}f} %" if spread is not None else f"{text} %"


def _mean(rows: Sequence[Mapping[str, Any]], kind: str) -> float | None:
    values = [row[kind] for row in rows if row.get(kind) is not None]
    return fmean(values) if values else None
