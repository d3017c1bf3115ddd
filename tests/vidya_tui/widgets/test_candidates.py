"""The cards: what stands on them, in every width and script, and the way of a pick."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from rich.cells import cell_len
from textual.content import Content

from learning.protocol.events import CandidateDone, CandidateTexts, Event
from learning.protocol.records import Candidate, Ending, TextDelta
from tests.stage import Stage, play
from vidya_tui.app.app import FRAMES
from vidya_tui.session.candidate import Card
from vidya_tui.widgets.candidates import CandidatePanel, CardView
from vidya_tui.widgets.fly_in import Flight


def done(text: str, ending: Ending, certainty: float | None, lesson: int | None = None) -> Card:
    card = Card(1)
    offered = lesson is not None and certainty is None
    candidate = Candidate(1, 1, text, (1, 2), (-0.1, -0.1), ending, 1, certainty, offered)
    card.finish(CandidateDone(candidate, lesson))
    return card


@pytest.mark.parametrize(
    ("card", "facts"),
    [
        (Card(1), "\u2026"),
        (Card(1, "two words", "streaming"), "2 words \u00b7 \u2026"),
        (done("one", "end", 0.61), "1 word \u00b7 61 % sure \u00b7 \u2713"),
        (done("a b c", "length", 1.0), "3 words \u00b7 100 % sure \u00b7 cut off"),
        (done("a b c", "cancelled", 0.9), "3 words \u00b7 stopped"),
        (done("a", "end", 0.999), "1 word \u00b7 99 % sure \u00b7 \u2713"),  # only all is 100 %
        (done("", "end", 0.0001), "1 % sure \u00b7 \u2713"),
        (done("a b", "end", None), "2 words \u00b7 \u2713"),  # from before it was measured
    ],
)
def test_facts(card: Card, facts: str) -> None:
    assert card.facts() == facts


def test_where_there_is_little_room_the_ending_stays() -> None:
    card = done("a b c", "length", 1.0)
    assert card.facts(30) == "3 words \u00b7 100 % sure \u00b7 cut off"
    assert card.facts(29) == "100 % sure \u00b7 cut off"
    assert card.facts(19) == "100 % \u00b7 cut off"
    assert card.facts(10) == card.facts(1) == "cut off"


def test_a_card_says_from_which_lesson_it_comes() -> None:
    recalled, offered = done("a b c", "end", 0.82, 12), done("a b c", "end", None, 12)
    assert (
        recalled.facts() == "3 words \u00b7 recalled from lesson 12 \u00b7 82 % sure \u00b7 \u2713"
    )
    assert recalled.facts(39) == "recalled from lesson 12 \u00b7 82 % sure \u00b7 \u2713"
    assert recalled.facts(38) == "lesson 12 \u00b7 82 % sure \u00b7 \u2713"
    assert recalled.facts(24) == recalled.facts(20) == "lesson 12 \u00b7 82 % \u00b7 \u2713"
    assert recalled.facts(19) == recalled.facts(13) == "lesson 12 \u00b7 \u2713"
    assert recalled.facts(12) == "\u2713"
    assert offered.facts() == "3 words \u00b7 offered from lesson 12 \u00b7 \u2713"
    assert offered.facts(27) == "offered from lesson 12 \u00b7 \u2713"
    assert offered.facts(20) == "lesson 12 \u00b7 \u2713"


def test_a_card_says_when_the_owner_said_what_it_quotes() -> None:
    card, then = Card(1), time.mktime((2026, 11, 12, 9, 30, 0, 0, 0, -1))
    candidate = Candidate(1, 1, "a b c", (1, 2), (-0.1, -0.1), "end", 1, None, True)
    card.finish(CandidateDone(candidate, said_at=then))
    assert card.facts() == "3 words \u00b7 what you said (2026-11-12) \u00b7 \u2713"
    assert card.facts(20) == "you said 11-12 \u00b7 \u2713"
    card.finish(CandidateDone(candidate))
    assert card.facts() == "3 words \u00b7 offered \u00b7 \u2713", "in a conversation of earlier"


def test_what_comes_from_a_lesson_is_seen(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.say("hello")
        await stage.press("escape")
        await stage.until(lambda: not stage.session.streaming)
        for index, offered in ((1, False), (2, True)):
            made = Candidate(
                1,
                index,
                "so it is",
                (1, 2),
                (-0.2, -0.2),
                "end",
                1,
                None if offered else 0.82,
                offered,
            )
            stage.hear(CandidateDone(made, 12))
        await stage.sees("lesson 12 \u00b7 82 % sure")
        await stage.sees("offered from lesson 12")

    play(scenario, tmp_path, manual=True)


@pytest.mark.parametrize(("size", "seen"), [((80, 24), True), ((50, 20), False), ((150, 40), True)])
def test_every_ending_is_marked(tmp_path: Path, size: tuple[int, int], seen: bool) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.say("hello")
        stage.teacher.pump(2)
        await stage.press("escape")
        await stage.until(lambda: not stage.session.streaming)
        for index, ending in ((1, "end"), (2, "length")):
            done = Candidate(1, index, "so it is", (1, 2), (-0.2, -0.2), ending, 1, 0.82)  # type: ignore[arg-type]
            stage.hear(CandidateDone(done))
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


@pytest.mark.slow
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


@pytest.mark.parametrize(
    "size",
    [(80, 24), *(pytest.param(size, marks=pytest.mark.slow) for size in ((60, 20), (160, 48)))],
)
def test_every_script_stays_in_its_place(tmp_path: Path, size: tuple[int, int]) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.say("\u4f60 e\u0301 \U0001f469\u200d\U0001f33e \u05e9\u05dc\u05d5\u05dd")
        await stage.until(lambda: not stage.app.chat.situation.streaming)
        await stage.pilot.pause(0.2)
        for key in ("", "tab", "down", "3"):
            await stage.press(*([key] if key else []))
            await stage.pilot.pause(0.1)
            strips = stage.strips()
            assert {strip.cell_length for strip in strips} == {size[0]}
            assert all(cell_len(strip.text) == size[0] for strip in strips)
            assert not any(c in stage.text() for c in "\x1b\u200b\ufeff")
        await stage.until(lambda: not stage.session.waiting)
        assert stage.session.turns[-1].text == SCRIPTS[2].strip()

    play(scenario, tmp_path, size=size, texts=SCRIPTS)


@pytest.mark.slow
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
        await stage.press("4", "enter", "o", "n")
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


def test_cards_that_come_back_all_at_once_have_their_own_heights(tmp_path: Path) -> None:
    """They were hidden while their texts changed, as on the way to a branch that still waits."""

    async def scenario(stage: Stage) -> None:
        panel = stage.app.chat.query_one(CandidatePanel)

        def show(*long: int) -> None:
            texts = ["many words " * 12 if number in long else "few" for number in (1, 2, 3)]
            cards = [Card(n, text, "done") for n, text in enumerate(texts, 1)]
            panel.show(cards if long else [], 2, False)

        def heights() -> list[int]:
            return [view.size.height for view in panel._views[:3]]

        for long, high in ((2, [1, 2, 1]), (3, [1, 1, 2]), (1, [2, 1, 1])):
            show(long)
            await stage.until(lambda high=high: heights() == high)  # type: ignore[misc]
            show()
            await stage.until(lambda: not panel.display)

    play(scenario, tmp_path)


BOXED = {(width, count) for width in (120, 160, 197, 200) for count in (1, 2, 5)} | {(200, 9)}
"""(columns, cards) of those below where each card has at least 22 columns, and the screen is wide."""


@pytest.mark.parametrize(
    "count", [2, *(pytest.param(n, marks=pytest.mark.slow) for n in (1, 5, 9))]
)
def test_boxes_only_where_their_texts_have_room(tmp_path: Path, count: int) -> None:
    async def scenario(stage: Stage) -> None:
        assert stage.app.chat._controller is not None
        stage.session.candidates = count
        await stage.say("hello")
        await stage.until(lambda: stage.session.waiting and not stage.session.streaming)
        panel = stage.app.chat.query_one(CandidatePanel)
        for width in (200, 197, 160, 120, 119, 80, 60):
            await stage.pilot.resize_terminal(width, 30)
            await stage.until(lambda width=width: stage.app.size.width == width)  # type: ignore[misc]
            await stage.still(2)
            boxed = (width, count) in BOXED
            shown = [view for view in stage.app.chat.query(CardView) if view.display]
            assert panel.has_class("-boxed") is boxed and len(shown) == count, width
            assert len({view.region.y for view in shown}) == (1 if boxed else count)
            for view in shown:
                assert panel.region.contains_region(view.region), width
                assert view.content_size.width >= (18 if boxed else 50), width
            assert stage.text().count("answer") >= count
        await stage.press(str(count))
        await stage.sees(f"preferred {count}")

    play(scenario, tmp_path, size=(120, 30), texts=("a long answer " * 4,) * 1)


@pytest.mark.slow
def test_cards_change_their_shape_with_the_terminal(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        stage.session.candidates = 9
        await stage.say("hello")
        panel = stage.app.chat.query_one(CandidatePanel)
        for width, boxed in ((200, True), (150, False), (80, False), (198, True)):
            await stage.pilot.resize_terminal(width, 40)
            await stage.until(lambda boxed=boxed: panel.has_class("-boxed") is boxed)  # type: ignore[misc]

    play(scenario, tmp_path, size=(120, 40))


@pytest.mark.slow
def test_thousands_of_deltas_are_drawn_a_dozen_times_a_second(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.say("hello")
        for number in range(1000):  # until they have their height: a card that grows is drawn twice
            stage.hear(CandidateTexts(1, (TextDelta(number % 5 + 1, f"w{number} "),)))
        await stage.until(
            lambda: [card.text.count("w") for card in stage.session.cards] == [200] * 5
        )
        views = stage.app.query(CardView)
        await stage.until(lambda: [v.card.text.count("w") for v in views][:5] == [200] * 5)
        await stage.pilot.pause(0.2)
        taken: list[int] = []
        drawn: list[int] = []
        take, render = stage.app.chat.take, CardView.render

        def counted_take(arrived: Sequence[Event]) -> None:
            taken.append(len(arrived))
            take(arrived)

        def counted_render(view: CardView) -> Content:
            drawn.append(view.number)
            return render(view)

        stage.app.chat.take = counted_take  # type: ignore[method-assign]
        CardView.render = counted_render  # type: ignore[method-assign]
        try:
            began = time.monotonic()
            for number in range(2000):
                stage.hear(CandidateTexts(1, (TextDelta(number % 5 + 1, f"w{number} "),)))
                if number % 20 == 0:
                    await stage.pilot.pause(0.005)
            await stage.until(lambda: sum(taken) == 2000)
            await stage.pilot.pause(0.2)
            took = time.monotonic() - began
        finally:
            CardView.render = render  # type: ignore[method-assign]
        assert [card.text.count("w") for card in stage.session.cards] == [600] * 5
        frames = took * FRAMES + 2
        assert len(taken) <= frames, (len(taken), took)
        # once for what is taken together; three drawings more at the beginning and the end
        assert 5 <= len(drawn) <= 5 * (len(taken) + 4), (len(drawn), len(taken))

    play(scenario, tmp_path, size=(160, 48), manual=True)
