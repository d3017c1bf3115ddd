"""What is done in the app until a moment that is worth a look, at a time that a clock says."""

from __future__ import annotations

import json
import math
import os
import shutil
import struct
from dataclasses import asdict

from learning.journal.lesson_list import keep_understanding
from learning.journal.practices import add_practice_step, begin_practice, end_practice
from learning.models.snapshots import SHIPPED
from learning.protocol.events import (
    LearnerState,
    PracticeDone,
    PracticeSample,
    PracticeStage,
    PracticeStep,
    TrainDone,
    TrainProgress,
)
from learning.protocol.model_events import Disputed
from learning.protocol.records import DisputedAnswers, Lesson, Turn, Understanding
from learning.rewards.reward_report import REPORT, TASTE, Look, Rated, TasteReport
from tests.picks import pick
from tests.stage import Stage

DEFAULT_MODEL = "10m"


NOON = 1_781_524_800.0
"""Seconds since the epoch: 15 June 2026, 12:00 UTC."""


ANSWERS = (
    "The sea is blue because it gives the colour of the sky back to whoever looks at it.",
    "Because of the sky.",
    "I do not know, but I would like to. Will you tell me?",
    "Blue, like the sky above it on a clear day.",
    "It is made of water, and water is blue when there is enough of it.",
)


LOOKS = 7
"""Looks for which a scene stays the same: for longer than any part of it waits before it looks again
(practice: a quarter of a second)."""


class StillClock:
    """The time of all scenes: it goes on when a scene says so, and never by itself."""

    def __init__(self) -> None:
        self.now = NOON

    def on(self, seconds: float) -> None:
        self.now += seconds


CLOCK = StillClock()


async def nothing_said(stage: Stage) -> None:
    await stage.sees("book recall")


async def asked(stage: Stage) -> None:
    await stage.say("Why is the sea blue?")


async def answered(stage: Stage) -> None:
    await asked(stage)
    await stage.until(lambda: not stage.app.chat.situation.streaming)
    await stage.until(lambda: "pick" in stage.footer())


async def streaming(stage: Stage) -> None:
    await asked(stage)
    stage.teacher.pump(9)
    await stage.until(lambda: "stop" in stage.footer())


async def taught(stage: Stage) -> None:
    await answered(stage)
    CLOCK.on(30.0)
    await stage.press("4")
    await stage.sees("preferred 4")
    CLOCK.on(30.0)
    await stage.say("And at night?")
    await stage.until(lambda: "pick" in stage.footer())
    await stage.say("/correct At night it is dark, like everything that waits for the sun.")
    await stage.until(lambda: stage.text().count("learned in") >= 2)
    await stage.press("alt+up")
    await stage.sees("rated good")


async def correcting(stage: Stage) -> None:
    await answered(stage)
    await stage.press("4")
    await stage.sees("preferred 4")
    await stage.still(LOOKS)  # the chat's footer is not made anew beneath the editor
    await stage.press("f2")
    await stage.sees("What should the answer have been?")


async def helping(stage: Stage) -> None:
    await stage.press("f1")
    await stage.sees("/correct [TEXT]")


async def settings(stage: Stage) -> None:
    await stage.press("alt+s")
    await stage.sees("answers to choose among")
    await stage.press("down", "right")
    await stage.sees("The default is")


async def models(stage: Stage) -> None:
    await stage.say("/model")
    await stage.sees("10m-base")


def progress(step: int) -> TrainProgress:
    epoch, steps = 1 + step // 13, 325
    loss = 0.05 + 2.4 * math.exp(-step / 40) + 0.12 * math.sin(step * 1.7) * math.exp(-step / 90)
    recall = min(1.0, 0.62 + 0.05 * epoch)
    seconds = step * 1.1
    ended = step % 13 == 0
    left = (steps - step) * 1.1
    return TrainProgress(
        epoch, 25, step, steps, loss, recall if ended else None, seconds, left, 32, ended
    )


async def training(stage: Stage) -> None:
    await stage.say("/train")
    stage.hear(LearnerState("training", book_recall=0.62))
    for step in range(1, 118):
        stage.hear(progress(step))
    await stage.sees("of 25")
    await stage.press("f12")
    await stage.sees("about 4 min left")


async def trained(stage: Stage) -> None:
    await training(stage)
    for step in range(118, 170):
        stage.hear(progress(step))
    stage.hear(TrainDone(13, 169, 0.08, 0.62, 1.0, 186.0, False, False, 42, 458))
    await stage.sees("trained after 13 epochs")


async def first(stage: Stage) -> None:
    await stage.sees("welcome 1/4")


async def fetching(stage: Stage) -> None:
    await stage.sees("welcome 1/4")
    await stage.press("alt+j")
    await stage.sees("45 % of smollm2-135m")


async def next_step(stage: Stage) -> None:
    await answered(stage)
    await stage.sees("next 2/4")


async def practising(stage: Stage) -> None:
    await stage.say("/practice syllogism")
    problem = "All cats are animals. No animals are stones. Is it true that no cats are stones?"
    stage.hear(PracticeStage("syllogism", "before", accuracy=0.3, book_recall=1.0))
    for step in range(1, 25):
        right = 0.3 + 0.012 * step
        numbers = (step, right, 0.25, right, 20, 4, 0.012, -0.01, 0.4, 0.01, 38.2, 0.02)
        parts = {"correct": right}
        drawn = (0, 4000, 1300.0, 12.0, parts)
        stage.hear(PracticeStep(*numbers, *drawn, task="syllogism", steps=100))
        reward, said = (0.95, "Yes") if step % 3 else (0.05, "No")
        scores = {"correct": float(step % 3 > 0), "format": 1.0}
        stage.hear(PracticeSample(step, problem, f"<answer>{said}</answer>", reward, scores))
    stage.hear(PracticeStage("syllogism", "during", 20, accuracy=0.58, book_recall=0.99))
    await stage.sees("after step 20")


async def practice_runs(stage: Stage) -> None:
    problem = "All cats are animals. No animals are stones. Is it true that no cats are stones?"
    runs = (
        ("syllogism", (), 100, (0.3, 0.62), "steps", ""),
        (
            "chain_sum",
            ("max_terms=3",),
            40,
            (0.11, 0.34),
            "stopped",
            "stopped; what was gained is kept",
        ),
        ("tool_sums", (), 12, (0.05, 0.04), "rolled_back", "the book was forgotten"),
        ("chain_sum", ("max_terms=4",), 3, None, "", ""),
    )
    for task, settings, steps, accuracy, ended, why in runs:
        record = {"seed": 5, "settings": settings, "model": "10m", "options": {}}
        run = begin_practice(stage.journal, task, record)
        CLOCK.on(60.0)
        for step in range(1, steps + 1):
            scores = {"correct": float(step % 3 > 0), "format": 1.0}
            sample = PracticeSample(step, problem, "<answer>Yes</answer>", 0.95, scores)
            add_practice_step(stage.journal, run, step, {}, [sample])
        if accuracy and ended != "rolled_back":
            lesson = Lesson("practice", (Turn("user", task),), "", state="learned")
            stage.journal.add_lessons([lesson])
        if accuracy:
            measured = accuracy[0], None, accuracy[1], 1.0, 0.99
            done = PracticeDone(task, ended, why, steps, 0, *measured, 1800.0, "", 10, 100, 7)
            end_practice(stage.journal, run, asdict(done))
        CLOCK.on(7200.0)
    await stage.say("/practice runs")
    await stage.sees("runs of practice")
    await stage.press("down", "down", "down")
    await stage.sees("30 % \u2192 62 %")


async def kept_answers(stage: Stage) -> None:
    await practice_runs(stage)
    await stage.press("enter")
    await stage.sees("100 answers kept")


async def lessons(stage: Stage) -> None:
    await taught(stage)
    lesson = stage.journal.last_lesson()
    assert lesson is not None
    keep_understanding(stage.journal, lesson.id, Understanding(4, 5, 1, 3))
    await stage.say("/lessons")
    await stage.sees("At night it is dark")


async def book(stage: Stage) -> None:
    await stage.say("/book")
    await stage.sees("You:   hi")


async def history(stage: Stage) -> None:
    await taught(stage)
    await stage.say("/history")
    await stage.sees("conversations \u00b7 1")


async def over_time(stage: Stage) -> None:
    for step in range(40):
        stage.journal.add_measure("book_recall", min(1.0, 0.7 + 0.01 * step))
        CLOCK.on(10.0)
    await stage.say("/progress")
    await stage.sees("recall")


async def liked(stage: Stage) -> None:
    numbers = [pick(stage.journal, f"Why is the sea blue, {n}?", ANSWERS, 3) for n in range(1, 45)]
    best = (Rated(1, 3, 1.9), Rated(2, 3, 1.7), Rated(3, 4, 1.1))
    least = (Rated(5, 2, -1.8), Rated(4, 2, -1.6), Rated(6, 1, -1.2))
    looks = (
        Look("a question back", 1.12, 0.08, 44),
        Look("one more sentence", 0.05, 0.06, 88),
        Look("\u201cblue\u201d", -0.4, 0.07, 132),
    )
    report = TasteReport(
        *(7, "mark", tuple(numbers[:40]), 32, 3, 8, 0.625, 0.81, 0.2, 0.7, 1.1, 0.06),
        *(0.25, False, 0.0, 1.0, 12.0, 5_508_096, 10_229_760, looks, best, least, 100),
        pairs_error=0.05,
    )
    folder = stage.home.models_path / DEFAULT_MODEL
    shutil.copytree(SHIPPED / DEFAULT_MODEL, folder, copy_function=os.symlink)
    header = {"__metadata__": {REPORT: report.to_json()}}
    raw = json.dumps(header).encode()
    (folder / TASTE).write_bytes(struct.pack("<Q", len(raw)) + raw)
    await stage.say("/taste")
    await stage.sees("how well it foretells you")


async def in_dispute(stage: Stage) -> None:
    await stage.say("/taste")
    await stage.sees("What you like")
    await stage.press("a")
    await stage.sees("looking for answers")
    ids, odds = ((5,),) * 3, ((-1.0,),) * 3
    first = DisputedAnswers("what shall we do this evening", ANSWERS[1:4], 0.6, ids, odds, 0)
    stage.hear(Disputed((first, first, first)))
    await stage.sees(ANSWERS[3])


async def compared(stage: Stage) -> None:
    await taught(stage)
    night = "At night it is dark, like everything that waits for the sun."
    stage.teacher.before = (ANSWERS[1], ANSWERS[0], ANSWERS[2], ANSWERS[3])
    stage.teacher.after = (night, night, ANSWERS[2], night)
    await stage.say("/compare")
    await stage.sees("the likeliest answer is another")


async def entering(stage: Stage) -> None:
    await book(stage)
    await stage.press("a")
    await stage.sees("Vidya answers")
    await stage.write("What is my dog called?")
    await stage.press("tab")
    await stage.write("Rufus, and he is asleep under the table.")
    await stage.sees("under the table")


async def on_a_conversation(stage: Stage) -> None:
    await history(stage)
    await stage.press("tab")
    await stage.until(lambda: "r rename" in stage.footer())


async def titling(stage: Stage) -> None:
    await on_a_conversation(stage)
    await stage.press("r")
    await stage.sees("What is it called?")


async def choosing_a_command(stage: Stage) -> None:
    await answered(stage)
    await stage.press("ctrl+p")
    await stage.sees("/correct")


async def completing(stage: Stage) -> None:
    await answered(stage)
    await stage.write("/c")
    await stage.sees("/correct [TEXT]")


async def branched(stage: Stage) -> None:
    await answered(stage)
    await stage.press("4")
    await stage.sees("preferred 4")
    await stage.say("/edit Why is the sea blue, and not green?")
    await stage.sees("2 of 2")
    await stage.until(lambda: "pick" in stage.footer())
    await stage.press("1")
    await stage.sees("preferred 1")
    await stage.press("f3")
    await stage.until(lambda: "variant before" in stage.footer())


async def asking(stage: Stage) -> None:
    await on_a_conversation(stage)
    await stage.press("d")
    await stage.sees("y yes")


async def troubled(stage: Stage) -> None:
    await answered(stage)
    await stage.say("/trian 3")
    await stage.sees("did you mean /train?")
