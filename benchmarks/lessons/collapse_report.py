"""Summarises the rows of the collapse benchmark: means over seeds, tables, a plot."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.common.report import deviation, table, write
from benchmarks.lessons.collapse_pupils import METHODS
from engine.errors import DataError
from engine.storage.files import write_atomically
from learning.journal.line_chart import Axis, Layout, Line, Panel, chart

TITLE = "Does teaching destroy what was known?"
PICTURE = Layout(width=608, height=250)
CURVES = ("book", "known", "rewordings", "paraphrases", "talk_nll")


def summary(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """{model: {method: {"what", "lessons", "picks", "curves"}}}.

    lessons, picks: the last row of each seed as {"seeds", measure: {"mean", "spread"}}. "book_kept": book
    recall relative to the first row; "talk_rise": relative rise of the talk loss.
    curves: {measure: [[lessons taught, mean over seeds], ...]}.
    """
    models: dict[str, Any] = {}
    for name in dict.fromkeys(row["model"] for row in rows):
        of_model = [row for row in rows if row["model"] == name]
        found = {row["method"] for row in of_model}
        models[name] = {
            method: {
                "what": METHODS[method],
                **_of_method([row for row in of_model if row["method"] == method]),
            }
            for method in METHODS
            if method in found
        }
    return models


def _of_method(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for part in ("lessons", "picks"):
        of_part = [row for row in rows if row["part"] == part]
        seeds = sorted({row["seed"] for row in of_part})
        if seeds:
            ends = [_end([row for row in of_part if row["seed"] == seed]) for seed in seeds]
            result[part] = {"seeds": seeds, **_means(ends)}
        if part == "lessons":
            result["curves"] = {name: _curve(of_part, name) for name in CURVES}
    return result


def _end(rows: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """The last row of one seed, with figures relative to the first."""
    first, last = rows[0], rows[-1]
    skipped = ("model", "start", "quick", "method", "seed", "part", "at", "command")
    end = {k: float(v) for k, v in last.items() if k not in skipped and v is not None}
    end["book_before"] = first["book"]
    end["book_kept"] = last["book"] / first["book"] if first["book"] else 1.0
    end["talk_rise"] = last["talk_nll"] / first["talk_nll"] - 1.0
    if "win" in first:
        end["win_before"] = first["win"]
    return end


def _means(ends: Sequence[Mapping[str, float]]) -> dict[str, dict[str, float | None]]:
    names = [name for name in ends[0] if all(name in end for end in ends)]
    return {
        name: {
            "mean": statistics.fmean(end[name] for end in ends),
            "spread": deviation([end[name] for end in ends]),
        }
        for name in names
    }


def _curve(rows: Sequence[Mapping[str, Any]], name: str) -> list[list[float]]:
    points = sorted({row["at"] for row in rows})
    curve = []
    for at in points:
        values = [row[name] for row in rows if row["at"] == at and row.get(name) is not None]
        if values:
            curve.append([at, statistics.fmean(values)])
    return curve


# ---------------------------------------------------------------- tables


def write_report(out: Path, result: Mapping[str, Any], commands: Sequence[str]) -> None:
    """Writes collapse.md, collapse.json and a plot per model: collapse.svg for 10m, else
    collapse-NAME.svg. Raises DataError."""
    write(out, "collapse", TITLE, commands, parts(result), result)
    for name, methods in result["models"].items():
        try:
            write_atomically(out / svg_name(name), picture_of(name, methods))
        except OSError as error:
            raise DataError(
                f"{out}: the picture cannot be written ({error.strerror})",
                "name another folder: --out",
            ) from error


def svg_name(model: str) -> str:
    return "collapse.svg" if model == "10m" else f"collapse-{model}.svg"


def parts(result: Mapping[str, Any]) -> list[str]:
    """Paragraphs and tables of collapse.md."""
    count = result["lessons"]
    pauses = ", ".join(f"{seconds:g} s ({m})" for m, seconds in result["pause_seconds"].items())
    found = [
        f"{count} lessons one after another (`data/lessons100.jsonl`, never used for tuning; seeds "
        "shuffle them and the replay), measured on the weights alone. Known: every token of the answer "
        "is the likeliest. Rewordings: three per lesson, as people ask again on another day. "
        "Paraphrases: one per lesson, with few words in common. By key: the greedy, free-running answer "
        "holds the words that the lesson's key asks for, whatever else it says; after all lessons. Book: the "
        "entries that no lesson contradicts, relative to those known before. "
        f"Talk: rise of the loss per token on {result['talk']}. Means over seeds, "
        "± the standard deviation. After each lesson the learner gets a pause of "
        f"{pauses} to re-measure, repair and rehearse what it knows; it starts nothing new after that. "
        f"The seconds of pauses are counted separately. Seconds are medians over all lessons "
        "(*conversation* works only after every fifth lesson, so its median is that of a lesson without "
        f"work: see the longest), on {result['threads']} thread(s); "
        "other load on the machine does not inflate processor time. Memory is that of the whole process, "
        "including the measurements. For comparison: a bag of words without a model (the question that "
        "shares the rarest words, among all lessons and the book) finds the right question for "
        f"{result['words_alone']['rewordings']:.0%} of the rewordings and "
        f"{result['words_alone']['paraphrases']:.0%} of the paraphrases."
    ]
    if result["quick"]:
        found.append("**--quick: only to see that it works; not to be quoted.**")
    for name, methods in result["models"].items():
        found += [f"## {name}", f"![Recall over lessons]({svg_name(name)})"]
        found.append(table(LESSON_HEAD, [_lesson_row(m, v) for m, v in methods.items()]))
        picks = [_pick_row(m, v) for m, v in methods.items() if "picks" in v]
        if picks:
            found.append(
                f"{result['picks']} picks by a hidden preference, {result['preference']}, from the "
                "same start: the first of five sampled candidates that satisfies it is picked, the "
                "others are not. Win rate: first candidates that satisfy it, on prompts without picks."
            )
            found.append(table(PICK_HEAD, picks))
    named = {name for methods in result["models"].values() for name in methods}
    are = [f"*{name}*, {what}" for name, what in METHODS.items() if name in named]
    found.append("What they are: " + "; ".join(are) + ".")
    return found


LESSON_HEAD = (
    "method",
    "seeds",
    "known right after",
    "known after all",
    "rewordings",
    "paraphrases",
    "known by key",
    "rewordings by key",
    "paraphrases by key",
    "contradicted",
    "book kept",
    "talk",
    "s per lesson",
    "longest",
    "CPU s",
    "s of pause",
    "longest pause",
    "rolled back",
    "MB",
)
PICK_HEAD = ("method", "seeds", "wins before", "wins after", "book kept", "talk", "s per pick")


def _lesson_row(name: str, method: Mapping[str, Any]) -> list[object]:
    part = method.get("lessons", {"seeds": []})
    return [
        name,
        len(part["seeds"]),
        _percent(part, "right_after"),
        _percent(part, "known"),
        _percent(part, "rewordings"),
        _percent(part, "paraphrases"),
        _percent(part, "known_key"),
        _percent(part, "rewordings_key"),
        _percent(part, "paraphrases_key"),
        _percent(part, "contradictions"),
        _percent(part, "book_kept"),
        _percent(part, "talk_rise", sign=True),
        _mean(part, "seconds_median"),
        _mean(part, "seconds_max"),
        _mean(part, "cpu_median"),
        _mean(part, "pause_median"),
        _mean(part, "pause_max"),
        _mean(part, "rolled_back"),
        _mean(part, "memory_mb"),
    ]


def _pick_row(name: str, method: Mapping[str, Any]) -> list[object]:
    part = method["picks"]
    return [
        name,
        len(part["seeds"]),
        _percent(part, "win_before"),
        _percent(part, "win"),
        _percent(part, "book_kept"),
        _percent(part, "talk_rise", sign=True),
        _mean(part, "seconds_median"),
    ]


def _percent(part: Mapping[str, Any], name: str, *, sign: bool = False) -> str | None:
    if name not in part:
        return None
    mean, spread = part[name]["mean"] * 100, part[name]["spread"]
    text = f"{mean:+.1f}" if sign else f"{mean:.1f}"
    return f"{text} ± {spread * 100:.1f} %" if spread is not None else f"{text} %"


def _mean(part: Mapping[str, Any], name: str) -> float | None:
    return part[name]["mean"] if name in part else None


# ---------------------------------------------------------------- the picture


def picture_of(model: str, methods: Mapping[str, Any]) -> str:
    """A plot of the recall of the book, and of the lessons so far, over the lessons taught."""
    panels = [
        ("Book: entries still known", "book"),
        ("Lessons: of those taught so far, known now", "known"),
    ]
    lines = [
        (
            title,
            [
                Line(name, [(x, y) for x, y in method["curves"][measure]])
                for name, method in methods.items()
                if method.get("curves", {}).get(measure)
            ],
        )
        for title, measure in panels
    ]
    return picture(f"One lesson after another, {model}", lines)


def picture(title: str, panels: Sequence[tuple[str, Sequence[Line]]]) -> str:
    """An SVG chart: one panel below another, each a share in [0, 1] against the lessons taught.
    panels: (heading, lines)."""
    end = (
        max((x for _, lines in panels for line in lines for x, _ in line.points), default=1.0)
        or 1.0
    )
    x = Axis(
        0.0, end, [(end * part / 5, f"{end * part / 5:g}") for part in range(6)], "lessons taught"
    )
    y = Axis(0.0, 1.0, [(percent / 100, f"{percent} %") for percent in (0, 25, 50, 75, 100)])
    return chart(title, [Panel(head, lines, x, y) for head, lines in panels], PICTURE)
