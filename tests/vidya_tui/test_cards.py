"""The cards: what stands on them, in every width and script, and the way of a pick."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.cells import cell_len

from learning.events import CandidateDone
from learning.records import Candidate, Ending
from tests.stage import Stage, play
from vidya_tui.card import Card
from vidya_tui.widgets.candidates import CandidatePanel
from vidya_tui.widgets.flight import Flight


def done(text: str, ending: Ending, *logprobs: float) -> Card:
    card = Card(1)
    card.finish(Candidate(1, 1, text, tuple(range(len(logprobs))), logprobs, ending, 1))
    return card


@pytest.mark.parametrize(
    ("card", "facts"),
    [
        (Card(1), "\u2026"),
        (Card(1, "two words", "streaming"), "2 words \u00b7 \u2026"),
        (done("one", "end", -0.5, -0.5), "1 word \u00b7 61 % sure \u00b7 \u2713"),
        (done("a b c", "length", 0.0), "3 words \u00b7 100 % sure \u00b7 cut off"),
        (done("a b c", "cancelled", -0.1), "3 words \u00b7 stopped"),
        (done("a", "end", -0.001), "1 word \u00b7 99 % sure \u00b7 \u2713"),  # only all is 100 %
        (done("", "end", -9.0), "1 % sure \u00b7 \u2713"),
    ],
)
def test_facts(card: Card, facts: str) -> None:
    assert card.facts() == facts


def test_where_there_is_little_room_the_ending_stays() -> None:
    card = done("a b c", "length", 0.0)
    assert card.facts(30) == "3 words \u00b7 100 % sure \u00b7 cut off"
    assert card.facts(29) == "100 % sure \u00b7 cut off"
    assert card.facts(10) == card.facts(1) == "cut off"


@pytest.mark.parametrize(("size", "seen"), [((80, 24), True), ((50, 20), False), ((150, 40), True)])
def test_every_ending_is_marked(tmp_path: Path, size: tuple[int, int], seen: bool) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.say("hello")
        stage.teacher.pump(2)
        await stage.press("escape")
        await stage.until(lambda: not stage.session.streaming)
        for index, ending in ((1, "end"), (2, "length")):
            stage.hear(CandidateDone(1, index, "so it is", (1, 2), (-0.2, -0.2), ending, 1))  # type: ignore[arg-type]
        await stage.sees("so it is")
        for words in (
            "3 words \u00b7 82 % sure \u00b7 \u2713",
            "82 % sure \u00b7 cut off",
            "stopped",
        ):
            if seen:
                await stage.sees(words)
            else:
                assert words not in stage.text()

    play(scenario, tmp_path, size=size, manual=True)


def test_what_streams_between_two_sizes_is_all_seen_at_the_first(tmp_path: Path) -> None:
    """What was arranged is kept for each size: a card that grew at one must not have its old height
    at the other."""
    words = "one two three four five six seven eight nine ten eleven twelve"

    async def scenario(stage: Stage) -> None:
        await stage.say("hello")
        stage.teacher.pump(5)
        await stage.until(lambda: stage.text().count("four") == 5)
        await stage.pilot.resize_terminal(100, 30)
        stage.teacher.pump(8)
        await stage.until(lambda: stage.text().count("nine") == 5)
        await stage.pilot.resize_terminal(60, 30)
        await stage.until(lambda: stage.text().count("nine") == 5)

    play(scenario, tmp_path, size=(60, 30), manual=True, texts=(words,) * 5)


SCRIPTS = (
    "\u4f60\u597d\uff0c\u4e16\u754c\u3002" * 20,
    "\u0645\u0631\u062d\u0628\u0627 \u0628\u0643 " * 20,
    "e\u0301a\u0308o\u0302 \u0928\u092e\u0938\u094d\u0924\u0947 " * 12,
    "\U0001f469\u200d\U0001f33e \U0001f1e9\U0001f1ea \U0001f600 " * 15,
    "\u05e9\u05dc\u05d5\u05dd [b]\x1b[5m \ufeff\u200bx " * 10,
)


@pytest.mark.parametrize("size", [(60, 20), (80, 24), (160, 48)])
def test_every_script_stays_in_its_place(tmp_path: Path, size: tuple[int, int]) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.say("\u4f60 e\u0301 \U0001f469\u200d\U0001f33e \u05e9\u05dc\u05d5\u05dd")
        await stage.until(lambda: not stage.app.chat.situation.streaming)
        await stage.pilot.pause(0.2)
        for key in ("", "tab", "down", "3"):
            await stage.press(*([key] if key else []))
            await stage.pilot.pause(0.1)
            strips = stage.app.screen._compositor.render_strips()
            assert {strip.cell_length for strip in strips} == {size[0]}
            assert all(cell_len(strip.text) == size[0] for strip in strips)
            assert not any(c in stage.text() for c in "\x1b\u200b\ufeff")
        await stage.until(lambda: not stage.session.waiting)
        assert stage.session.turns[-1].text == SCRIPTS[2].strip()

    play(scenario, tmp_path, size=size, texts=SCRIPTS)


def test_a_pick_flies_a_moment_and_is_not_waited_for(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        flight = stage.app.chat.query_one(Flight)
        await stage.say("hello")
        await stage.sees("5 five answers")
        start = stage.app.chat.candidates.place(4)
        assert start is not None and start[0] == "four answers"
        flown: list[tuple[str, int, int]] = []
        fly = flight.fly
        flight.fly = lambda text, a, b: (flown.append((text, a.y, b.y)), fly(text, a, b))[1]  # type: ignore[method-assign]
        await stage.press("4", "o", "n")
        await stage.until(lambda: bool(flown))
        text, above, below = flown[0]
        assert text == "four answers" and above == start[1].y > below
        assert stage.prompt == "on"
        await stage.until(lambda: not flight.display)
        stage.app.animation_level = "none"
        await stage.press("ctrl+u")
        await stage.say("more")
        await stage.sees("5 five answers")
        await stage.press("1")
        await stage.until(lambda: not stage.session.waiting)
        await stage.pilot.pause(0.1)
        assert len(flown) == 1 and not flight.display

    play(scenario, tmp_path)


def test_a_card_that_is_not_shown_has_no_place(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        panel = stage.app.chat.query_one(CandidatePanel)
        assert panel.place(1) is None and panel.highlighted_text() is None

    play(scenario, tmp_path)
