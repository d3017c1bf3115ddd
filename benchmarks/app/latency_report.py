"""Bounds, texts and tables of the latency benchmark. Imports no torch."""

from __future__ import annotations

from typing import Any

from benchmarks.common.report import table

LARGE = "49m"
"""The larger model beside the shipped one."""
FRAME_BOUND, TRAIN_BOUND, LARGE_BOUND = 0.4, 0.040, 0.030
"""Bounds in seconds: start to first frame; p99 of a key while the 10M and the 49M model train on the book."""
TITLE = "How quickly the app answers"
_STARTS = (
    ("first frame, prompt visible", "first_frame"),
    ("letter typed as soon as the first frame is visible", "first_letter"),
    ("the app's own first frame", "own_first_frame"),
    ("processor time of the app until its own first frame", "own_first_frame_cpu"),
    ("model ready", "model_awake"),
)


def bounds(starts: dict[str, Any], conditions: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Each bound with the measured value and whether it is met."""
    rows = [
        ("start to first frame, median", FRAME_BOUND, starts["first_frame"]["p50"]),
        (
            "start to the app's own first frame, median",
            FRAME_BOUND,
            starts["own_first_frame"]["p50"],
        ),
    ]
    for name, limit in (("training", TRAIN_BOUND), (f"training {LARGE}", LARGE_BOUND)):
        rows += [
            (f"key while {name}, p99", limit, c["keys"]["p99"])
            for c in conditions
            if c["name"] == name
        ]
    return [
        {"what": what, "limit": limit, "measured": measured, "met": measured <= limit}
        for what, limit, measured in rows
    ]


def parts(result: dict[str, Any]) -> list[str]:
    """Text and tables of latency.md."""
    start, memory = result["start"], result["memory"]
    ways = ("p50", "p95", "p99", "max")
    keys = [
        [
            c["name"],
            c["keys"]["count"],
            *(_ms(c["keys"].get(way)) for way in ways),
            c["keys_that_met_the_worker"]["count"],
            _ms(c["keys_that_met_the_worker"].get("p99")),
            c["worker_cores"],
            c["load_average"],
        ]
        for c in result["conditions"]
    ]
    return [
        "The real app in a pseudo-terminal of 100x30 with its worker process beside it.",
        "## From the start of the process",
        table(
            ["seconds", "median", "max", "starts"],
            [
                *(
                    [what, start[name]["p50"], start[name]["max"], start[name]["count"]]
                    for what, name in _STARTS
                ),
                ["first start in a new home", start["first_ever"], start["first_ever"], 1],
            ],
        ),
        "The first frame is the one saved by the previous start. It is shown while the app loads; keys "
        "typed meanwhile reach the prompt after that. *The app's own* is the time without a saved frame, "
        "as after an update or in a terminal of another size.",
        "## From a key to its letter, milliseconds",
        table(
            ["while", "keys", *ways, "met the worker", "p99 of those", "worker's cores", "load"],
            keys,
        ),
        "Keys come about 8 times a second by the clock, with letters mistyped and deleted, and rests of 0.4 "
        "to 1.2 s. The learner pauses during typing and resumes in the rests: *met the worker* counts the "
        "keys pressed while a thread of the worker was running. *Worker's cores* is its processor time "
        "divided by the time of typing. A check afterwards makes sure that the training still runs: its "
        "progress and the worker's processor time must rise. *Load* is the load average of the machine at "
        "the end; above 2, other processes were running too.",
        *(
            f"While {c['name']} and nobody types, the screen is drawn "
            f"{c['frames_per_second']:.1f} times a second."
            for c in result["conditions"]
            if c.get("frames_per_second")
        ),
        "## Memory, MB resident",
        table(
            ["process", "idle", f"after {memory['after']['exchanges']} exchanges"],
            [
                [name, _mb(memory["idle"][name]), _mb(memory["after"][name])]
                for name in memory["idle"]
            ],
        ),
        "## Bounds",
        table(
            ["what", "at most, seconds where nothing else is said", "measured", "met"],
            [[b["what"], b["limit"], b["measured"], b["met"]] for b in result["bounds"]],
        ),
        *(f"Left out: {words}." for words in result["skipped"]),
    ]


def _ms(seconds: float | None) -> float | None:
    return None if seconds is None else seconds * 1e3


def _mb(size: int | None) -> float | None:
    return None if size is None else size / 1e6
