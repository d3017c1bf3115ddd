"""Wide, right-to-left and combining text in the screens beside the chat: columns stand, nothing breaks."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from rich.cells import cell_len

from learning.channels import learn_from_book
from learning.protocol.records import Turn
from tests.stage import Stage, play

CHINESE = "\u4f60\u597d\uff0c\u4e16\u754c\u3002" * 12
ARABIC = "\u0645\u0631\u062d\u0628\u0627 \u0628\u0643 " * 12
COMBINING = "e\u0301a\u0308o\u0302 \u0928\u092e\u0938\u094d\u0924\u0947 " * 8
EMOJI = "\U0001f469\u200d\U0001f33e \U0001f1e9\U0001f1ea \U0001f600 " * 8
HEBREW = "\u05e9\u05dc\u05d5\u05dd [b]\x1b[5m \ufeff\u200bx " * 8
PLAIN = "only letters " * 8
SCRIPTS = (CHINESE, ARABIC, COMBINING, EMOJI, HEBREW, PLAIN)
SIZES = [
    (80, 24),
    pytest.param((60, 20), marks=pytest.mark.slow),
    pytest.param((160, 48), marks=pytest.mark.slow),
]


def check(stage: Stage, width: int) -> None:
    """Every line of the screen is as wide as the terminal, and nothing on it is obeyed."""
    strips = stage.strips()
    assert {strip.cell_length for strip in strips} == {width}
    assert {cell_len(strip.text) for strip in strips} == {width}
    assert not any(c in stage.text() for c in "\x1b\u200b\ufeff\u202e")


def columns(stage: Stage, pattern: str) -> set[int]:
    """Cells before what the pattern's first group finds, in every line where it is found."""
    found = [re.match(pattern, line) for line in stage.text().split("\n")]
    return {cell_len(match.string[: match.start(1)]) for match in found if match}


def teach(stage: Stage) -> None:
    stage.journal.add_lessons(
        [
            learn_from_book((Turn("user", f"{number} {text}"),), text)
            for number, text in enumerate(SCRIPTS)
        ]
    )


async def walk(stage: Stage, width: int) -> None:
    """Under the cursor, each in full."""
    for _ in SCRIPTS:
        await stage.pilot.pause(0.15)
        check(stage, width)
        await stage.press("down")


@pytest.mark.parametrize("size", SIZES)
def test_lessons(tmp_path: Path, size: tuple[int, int]) -> None:
    async def scenario(stage: Stage) -> None:
        teach(stage)
        await stage.say("/lessons")
        await stage.until(lambda: stage.text().count("\u2713 ") >= len(SCRIPTS))
        assert len(columns(stage, r".* told +waiting +\u2713 (\d) ")) == 1
        await walk(stage, size[0])
        await stage.press("slash")
        await stage.write("\u4f60\u597d")
        await stage.until(lambda: "lessons \u00b7 1" in stage.text())
        check(stage, size[0])

    play(scenario, tmp_path, size=size)


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
def test_book(tmp_path: Path, size: tuple[int, int]) -> None:
    async def scenario(stage: Stage) -> None:
        lines = [f"<|user|> {n} {t} <|assistant|> {t}\n" for n, t in enumerate(SCRIPTS)]
        stage.home.book_path.write_text("".join(lines))
        await stage.say("/book")
        await stage.sees("yours cannot be read")  # the one with a sequence that terminals obey
        await stage.until(lambda: stage.text().count("\u2713 yours ") == len(SCRIPTS) - 1)
        assert len(columns(stage, r".*\u2713 yours (\d) ")) == 1
        await walk(stage, size[0])
        await stage.press("home", "e")
        await stage.sees("Vidya answers")
        check(stage, size[0])

    play(scenario, tmp_path, size=size)


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
def test_history(tmp_path: Path, size: tuple[int, int]) -> None:
    async def scenario(stage: Stage) -> None:
        for number, text in enumerate(SCRIPTS):
            stage.exchange(f"{number} {text}", number % 5 + 1)
            stage.session.new()
        await stage.say("/history")
        await stage.until(lambda: f"conversations \u00b7 {len(SCRIPTS)}" in stage.text())
        assert len(columns(stage, r" *today \d\d:\d\d +2  (\d) ")) == 1
        await stage.press("tab")
        await walk(stage, size[0])
        await stage.press("r")
        await stage.sees("What is it called?")
        check(stage, size[0])

    play(scenario, tmp_path, size=size, texts=SCRIPTS[:5])


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
def test_before_and_after(tmp_path: Path, size: tuple[int, int]) -> None:
    async def scenario(stage: Stage) -> None:
        teach(stage)
        for lesson in stage.journal.waiting():
            stage.journal.set_lesson_state(lesson.id, "learned")
        stage.teacher.before = SCRIPTS[:4]
        stage.teacher.after = SCRIPTS[1:5]
        stage.app.chat._controller._taught = True  # type: ignore[union-attr]
        for number in (1, 2, 5):
            await stage.say(f"/compare {number}")
            await stage.sees("the likeliest answer is another")
            check(stage, size[0])
            # both sides begin each answer in the same line, and each in one column
            names = [line for line in stage.text().split("\n") if "likeliest" in line]
            assert any(line.count("likeliest") == 2 for line in names), names
            await stage.press("escape")
            await stage.sees("Say something")

    play(scenario, tmp_path, size=size)
