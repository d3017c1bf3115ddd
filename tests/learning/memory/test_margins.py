"""learning.memory.margins: examples that a lesson may have damaged are re-measured; the others age."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import pytest

import learning.memory.margins
from engine.model import Model
from learning.data.examples import Example
from learning.memory.margins import MOST, MOST_OF_LARGE, SAMPLE, MarginTracker
from learning.memory.replay import Replay
from learning.objectives.forward import Knowledge


def _example(number: int) -> Example:
    return Example(
        (1 + number // 350, number % 350, 2, 3), (False, False, True, True), f"question {number}"
    )


class _World:
    """A fake model: given margins by example; counts the measurements."""

    def __init__(self, count: int, monkeypatch: pytest.MonkeyPatch, model: Model) -> None:
        self.memory = [_example(i) for i in range(count)]
        self.margins = {e.ids: 3.0 for e in self.memory}
        self.looked: list[Example] = []
        self.model = model
        self.replay = Replay(model, list(self.memory), [], [])
        monkeypatch.setattr(learning.memory.margins, "knowledge", self._knowledge)

    def _knowledge(self, _: Model, examples: Sequence[Example], **__: object) -> list[Knowledge]:
        self.looked += examples
        return [Knowledge(1.0, 2, self.margins[e.ids]) for e in examples]


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch, tiny_model: Model) -> _World:
    return _World(200, monkeypatch, tiny_model)


def _after(world: _World, tracker: MarginTracker, lesson: Example | None = None) -> list[Example]:
    world.looked.clear()
    lesson = lesson or _example(300)
    prompts = {lesson.prompt}
    return tracker.after_steps(world.model, world.replay, lesson, prompts, random.Random(0))


def test_all_is_looked_at_once_and_only_what_is_new_later(world: _World) -> None:
    tracker = MarginTracker()
    tracker.measure_new(world.model, world.memory)
    assert len(world.looked) == 200
    tracker.measure_new(world.model, world.memory)
    assert len(world.looked) == 200
    assert tracker.recall(world.memory) == 1.0
    assert tracker.recall([]) == 1.0


def test_a_small_fall_needs_no_look_at_the_whole_memory(world: _World) -> None:
    tracker = MarginTracker()
    tracker.measure_new(world.model, world.memory)
    for ids in world.margins:
        world.margins[ids] -= 0.5
    assert _after(world, tracker) == []
    assert len(world.looked) <= 3 * SAMPLE
    unseen = [e for e in world.memory if e not in world.looked]
    assert {tracker.margin(e) for e in unseen} == {2.5}  # aged as the others fell


def test_a_large_fall_is_followed_until_nothing_more_can_be_broken(world: _World) -> None:
    tracker = MarginTracker()
    tracker.measure_new(world.model, world.memory)
    for ids in world.margins:
        world.margins[ids] -= 3.5
    broken = _after(world, tracker)
    assert len(world.looked) == 200
    assert len(broken) == 200
    assert tracker.recall(world.memory) == 0.0


def test_a_deep_fall_beside_the_lesson_says_little_of_what_is_far_from_it(world: _World) -> None:
    tracker = MarginTracker()
    tracker.measure_new(world.model, world.memory)
    lesson = _example(300)
    order = world.replay.nearest(lesson, len(world.memory), {lesson.prompt})
    for place, example in enumerate(order):
        world.margins[example.ids] -= 9.0 if place < 8 else 0.2
    assert set(_after(world, tracker, lesson)) == set(order[:8])
    # up to eight times as far is looked at, and what else the samples hold
    assert {e.ids for e in order[:57]} <= {e.ids for e in world.looked}
    assert len(world.looked) < 160


def test_a_lesson_costs_no_more_where_more_is_known(
    monkeypatch: pytest.MonkeyPatch, tiny_model: Model
) -> None:
    world = _World(1500, monkeypatch, tiny_model)
    tracker = MarginTracker()
    tracker.measure_new(world.model, world.memory)
    for example in world.memory:
        world.margins[example.ids] -= 3.5
    broken = _after(world, tracker)
    assert len(world.looked) == MOST and len(broken) == MOST
    assert len(tracker.overdue(world.memory, 2000)) == 1500 - MOST  # a pause finds the others


def test_the_weak_are_always_looked_at(world: _World) -> None:
    weak = world.memory[17]
    world.margins[weak.ids] = 0.1
    tracker = MarginTracker()
    tracker.measure_new(world.model, world.memory)
    world.margins[weak.ids] = -0.2
    assert _after(world, tracker) == [weak]
    assert tracker.recall(world.memory) == pytest.approx(199 / 200)


def test_nothing_is_called_forgotten_that_was_not_looked_at(world: _World) -> None:
    tracker = MarginTracker()
    tracker.measure_new(world.model, world.memory)
    seen: set[tuple[int, ...]] = set()
    for lesson in range(6):
        for ids in world.margins:
            world.margins[ids] -= 0.9
        _after(world, tracker, _example(300 + lesson))
        seen |= {e.ids for e in world.looked}
        wrong = {e.ids for e in world.memory if tracker.margin(e) <= 0}
        assert wrong <= seen


def test_the_lessons_own_prompt_is_left_out(world: _World) -> None:
    tracker = MarginTracker()
    tracker.measure_new(world.model, world.memory)
    own = world.memory[5]
    world.margins[own.ids] = -5.0
    assert _after(world, tracker, own) == []


def test_what_is_not_remembered_any_more_is_dropped(world: _World) -> None:
    tracker = MarginTracker()
    tracker.measure_new(world.model, world.memory)
    tracker.measure_new(world.model, world.memory[1:])
    with pytest.raises(KeyError):
        tracker.margin(world.memory[0])


def test_overdue_are_those_not_looked_at_for_longest(world: _World) -> None:
    tracker = MarginTracker()
    tracker.measure_new(world.model, world.memory)
    assert tracker.overdue(world.memory, 10) == []
    _after(world, tracker)
    overdue = tracker.overdue(world.memory, 1000)
    assert {e.ids for e in overdue} == {e.ids for e in world.memory} - {e.ids for e in world.looked}
    tracker.measure(world.model, overdue)
    assert tracker.overdue(world.memory, 10) == []


def test_steps_taken_back_restore_the_margins(world: _World) -> None:
    tracker = MarginTracker()
    tracker.measure_new(world.model, world.memory)
    state = tracker.state()
    for ids in world.margins:
        world.margins[ids] = -1.0
    _after(world, tracker)
    tracker.restore(state)
    assert tracker.recall(world.memory) == 1.0


def test_lost_is_what_was_known_once(world: _World) -> None:
    never, once = world.memory[3], world.memory[4]
    world.margins[never.ids] = -1.0
    tracker = MarginTracker()
    tracker.measure_new(world.model, world.memory)
    world.margins[once.ids] = -2.0
    tracker.measure(world.model, [once])
    assert tracker.broken(world.memory) == [once, never]
    assert tracker.lost(world.memory) == [once]


def test_saved_for_one_version_of_the_weights(world: _World, tmp_path: Path) -> None:
    path, tracker = tmp_path / "watch.json", MarginTracker()
    tracker.measure_new(world.model, world.memory)
    tracker.save(path, 7)
    again, other = MarginTracker(), MarginTracker()
    again.load(path, 7, world.memory)
    assert len(again) == 200 and again.recall(world.memory) == 1.0
    assert len(again.overdue(world.memory, 1000)) == 200, "a pause looks at all of it again"
    other.load(path, 8, world.memory)
    assert len(other) == 0
    for text in ("", "[]", '{"version": 7}', '{"version": 7, "seen": [1]}', "\ufffd"):
        path.write_text(text)
        other.load(path, 7, world.memory)
    other.load(tmp_path / "none.json", 7, world.memory)
    assert len(other) == 0


def test_what_earlier_weights_knew_is_lost_if_these_do_not(world: _World, tmp_path: Path) -> None:
    never, lost = world.memory[3], world.memory[4]
    world.margins[never.ids] = -1.0
    path, tracker = tmp_path / "watch.json", MarginTracker()
    tracker.measure_new(world.model, world.memory)
    tracker.save(path, 7)
    world.margins[lost.ids] = -2.0
    for comes_from_it in (True, False):
        later = MarginTracker()
        later.load(path, 9, world.memory, {7: comes_from_it}.__getitem__)
        assert len(later) == 0, "its margins are those of other weights"
        later.measure_new(world.model, world.memory)
        assert later.lost(world.memory) == ([lost] if comes_from_it else [])


def test_what_was_not_known_before_is_not_called_broken_by_the_lesson(world: _World) -> None:
    never, broken = world.memory[3], world.memory[4]
    world.margins[never.ids] = -1.0
    tracker = MarginTracker()
    tracker.measure_new(world.model, world.memory)
    world.margins[broken.ids] = -2.0
    assert _after(world, tracker) == [broken]
    assert tracker.broken(world.memory) == [broken, never]


def test_of_a_large_model_only_the_likeliest_are_looked_at_after_steps(
    world: _World, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked = []
    for large in (1_000_000_000, 0):
        monkeypatch.setattr(learning.memory.margins, "LARGE", large)
        tracker = MarginTracker()
        tracker.measure_new(world.model, world.memory)
        for ids in world.margins:
            world.margins[ids] -= 1e3
        _after(world, tracker)
        for ids in world.margins:
            world.margins[ids] += 1e3
        looked.append(len(world.looked))
    assert looked[0] > MOST_OF_LARGE >= looked[1]
