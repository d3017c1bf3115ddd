"""When the taste is trained, when it is used, and what undo, forgetting and crashes leave of it."""

from __future__ import annotations

import copy
import os
import queue
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.crashes.kills_day import Killer
from engine.errors import CheckpointError
from engine.model import Model
from engine.storage.files import is_leftover
from engine.tokenizers.tokenizer import Tokenizer
from learning.home import Home
from learning.journal.journal import Journal
from learning.lessons.forget import forget
from learning.models.home_files import home_files
from learning.protocol.events import Checked, Event, LearnerState
from learning.protocol.model_events import WouldPick
from learning.protocol.requests import Check, Foretell, Learn
from learning.rewards.reward_data import preferences
from learning.rewards.reward_keeper import RewardError, RewardKeeper, usable
from learning.rewards.reward_looks import ShownAnswer, looks, shortened, without_word
from learning.rewards.reward_model import AnswerGroup, load, save
from learning.rewards.reward_report import TASTE, TasteReport, read_report
from learning.rewards.reward_training import trained
from learning.teacher.teacher import Teacher
from tests.learning.conftest import Place
from tests.picks import ask, correct, fill

Make = Callable[..., RewardKeeper]


class Closed(Exception):  # noqa: N818 - as learning.book_training.resume.Stopped
    """The program is closed in the middle of it."""


@pytest.fixture
def make(
    tiny_place: Place,
    tiny_model: Model,
    tiny_tokenizer: Tokenizer,
    monkeypatch: pytest.MonkeyPatch,
) -> Make:
    """Makes a keeper as a new start of the program would; with a rate at which a tiny model learns."""
    monkeypatch.setattr("learning.rewards.reward_training.LEARNING_RATE", 5e-3)
    _, folder, journal = tiny_place

    def keeper(pause: Callable[[], None] = lambda: None) -> RewardKeeper:
        return RewardKeeper(folder, lambda: (3, tiny_model), tiny_tokenizer, journal, pause=pause)

    return keeper


def work(keeper: RewardKeeper) -> int:
    """Does all there is to do; returns the number of pieces."""
    pieces = 0
    while keeper.catch_up():
        pieces += 1
    return pieces


def report_of(folder: Path) -> TasteReport:
    report = read_report(folder)
    assert report is not None
    return report


@pytest.mark.slow
def test_it_is_trained_from_thirty_picks_on_and_again_for_ten_more(
    tiny_place: Place, make: Make
) -> None:
    _, folder, journal = tiny_place
    fill(journal, 29)
    keeper = make()
    assert work(keeper) == 0
    with pytest.raises(RewardError, match="29 of the 30 picks"):
        usable(folder, journal)
    correct(journal, "Hello", ["Yes.", "I am well."], "And you?")
    assert work(keeper) == 2, "batch by batch"
    assert report_of(folder).choices >= 29 and report_of(folder).version == 3
    assert work(keeper) == work(make()) == 0, "nor after a new start"
    fill(journal, 9, seed=1)
    assert work(keeper) == 0
    fill(journal, 1, seed=2)
    assert work(keeper) == 2
    assert report_of(folder).mark == preferences(journal).mark


def test_what_it_likes_is_measured_on_the_answers_themselves(tiny_place: Place, make: Make) -> None:
    _, folder, journal = tiny_place
    fill(journal, 150)
    work(make())
    model, report = usable(folder, journal)
    assert model.size == report.weights and report.looked_at == 100
    assert report.best[0].score > 0 > report.least[0].score
    said = {(one.ask, c.index): c.text for one in report.best for c in journal.candidates(one.ask)}
    assert all(said[one.ask, one.number].endswith("?") for one in report.best)


@pytest.mark.parametrize("way", ["undo", "forget"])
def test_what_is_taken_back_leaves_no_trace(tiny_place: Place, make: Make, way: str) -> None:
    home, folder, journal = tiny_place
    numbers = fill(journal, 60)
    keeper = make()
    work(keeper)
    assert numbers[7] in report_of(folder).judgements
    if way == "undo":
        journal.withdraw(numbers[7])
        with pytest.raises(RewardError, match="you took back since"):
            usable(folder, journal)
    else:
        forget(home, journal, journal.to_forget(ask=8), [folder])
        assert not (folder / TASTE).exists()
    work(keeper)
    assert numbers[7] not in report_of(folder).judgements
    assert report_of(folder).mark == preferences(journal).mark


def test_with_too_few_picks_left_the_file_goes(tiny_place: Place, make: Make) -> None:
    _, folder, journal = tiny_place
    numbers = fill(journal, 30)
    keeper = make()
    work(keeper)
    journal.withdraw(numbers[0])
    work(keeper)
    assert not (folder / TASTE).exists()


@pytest.mark.slow
def test_what_is_taken_back_while_it_is_trained_is_not_in_it(tiny_place: Place, make: Make) -> None:
    _, folder, journal = tiny_place
    numbers = fill(journal, 60)
    keeper = make()
    keeper.catch_up()
    assert keeper.busy
    journal.withdraw(numbers[3])
    work(keeper)
    assert numbers[3] not in report_of(folder).judgements


@pytest.mark.parametrize("passes", [3, *(pytest.param(n, marks=pytest.mark.slow) for n in (0, 8))])
def test_closed_in_the_middle_it_leaves_nothing_and_begins_again(
    tiny_place: Place, make: Make, passes: int
) -> None:
    home, folder, journal = tiny_place
    fill(journal, 60)
    left = passes

    def pause() -> None:
        nonlocal left
        left -= 1
        if left < 0:
            raise Closed

    with pytest.raises(Closed):
        work(make(pause))
    assert not (folder / TASTE).exists()
    assert not any(is_leftover(file.path) for file in home_files(home))
    assert work(make()) > 2 and report_of(folder).choices >= 55


@pytest.mark.slow
def test_what_cannot_be_written_keeps_the_old_one_and_is_not_tried_for_ever(
    tiny_place: Place, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, folder, journal = tiny_place
    fill(journal, 40)
    keeper = make()
    work(keeper)
    before = (folder / TASTE).read_bytes()
    fill(journal, 20, seed=1)
    with monkeypatch.context() as patch:

        def full(*_: object) -> None:
            raise CheckpointError("the disk is full", "free some space")

        patch.setattr("learning.rewards.reward_keeper.save", full)
        with pytest.raises(CheckpointError):
            work(keeper)
        assert work(keeper) == 0
    assert (folder / TASTE).read_bytes() == before
    fill(journal, 1, seed=2)
    assert work(keeper) > 2 and (folder / TASTE).read_bytes() != before


@pytest.mark.slow
def test_killed_anywhere_in_a_save_the_old_one_or_the_new_one_is_whole(
    tiny_place: Place, tiny_model: Model, tiny_tokenizer: Tokenizer, make: Make
) -> None:
    """`kill -9` before each change of a file, and with half of the weights written."""
    _, folder, journal = tiny_place
    fill(journal, 40)
    work(make())
    fill(journal, 20, seed=1)
    other = copy.deepcopy(tiny_model)
    other.embedding.weight.data.mul_(1.5)
    new, report = trained(other, tiny_tokenizer, preferences(journal), 4)
    file, row = folder / TASTE, [AnswerGroup((5, 6), ((7,),))]
    whole = {report_of(folder).version: rewards_of(folder, row), 4: new.rewards(row).tolist()}
    old, found, status, at = file.read_bytes(), list[int](), -1, 0
    while status != 0:
        at += 1
        file.write_bytes(old)
        if os.fork() == 0:
            Killer(folder, at).tracker()
            save(new, report, folder)
            os._exit(0)
        status = os.wait()[1]
        version = report_of(folder).version
        found.append(version)
        assert rewards_of(folder, row) == [pytest.approx(one, abs=0.02) for one in whole[version]]
        assert usable(folder, journal)[1].version == version, "weights and report fit each other"
    assert at > 3 and found[0] == 3 and found[-1] == 4
    assert found == sorted(found), "once the new one is there it stays"


def rewards_of(folder: Path, row: list[AnswerGroup]) -> list[list[float]]:
    found: list[list[float]] = load(folder).rewards(row).tolist()
    return found


@pytest.mark.slow
def test_one_of_an_older_version_is_trained_anew(tiny_place: Place, make: Make) -> None:
    _, folder, journal = tiny_place
    fill(journal, 60)
    work(make())
    save(load(folder), replace(report_of(folder), pairs_error=None), folder)
    with pytest.raises(RewardError, match="an older version trained it"):
        usable(folder, journal)
    assert work(make()) > 1
    assert usable(folder, journal)[1].pairs_error is not None


def test_its_file_has_a_role(tiny_place: Place, make: Make) -> None:
    home, folder, journal = tiny_place
    fill(journal, 30)
    work(make())
    roles = {file.path: file.role for file in home_files(home)}
    assert roles[folder / TASTE] == "derived"


def test_the_teacher_trains_it_in_a_pause(
    tiny_place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, folder, journal = tiny_place
    assert isinstance(home, Home) and isinstance(journal, Journal)
    home.book_path.write_text("")
    fill(journal, 30)
    events: queue.Queue[Event] = queue.Queue()
    monkeypatch.setattr("learning.lessons.learner.Learner.catch_up", lambda _: False)
    teacher = Teacher(home, folder, journal, device="cpu", seed=0, on_event=events.put)
    try:
        teacher.send(Learn())
        end = time.monotonic() + 60
        while not (folder / TASTE).exists():
            assert time.monotonic() < end
            time.sleep(0.05)
    finally:
        teacher.close()
    assert LearnerState("taste") in list(events.queue)


def test_the_teacher_says_what_would_have_been_picked(
    tiny_place: Place, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, folder, journal = tiny_place
    fill(journal, 150)
    last = ask(journal, "Tell me of the sea.", ["Yes.", "I am well.", "And you?"])
    events: queue.Queue[Event] = queue.Queue()
    teacher = Teacher(home, folder, journal, device="cpu", seed=0, on_event=events.put)
    try:
        teacher.send(Foretell(last))  # there is no taste yet: nothing is said
        teacher.send(Check(1, ()))
        while not isinstance(event := events.get(timeout=60), Checked):
            assert not isinstance(event, WouldPick)
        work(make())
        teacher.send(Foretell(last))
        while not isinstance(event := events.get(timeout=60), WouldPick):
            pass
    finally:
        teacher.close()
    assert event == WouldPick(last, 3)


# ---------------------------------------------------------------- what it looks for


def test_a_property_is_taken_away_and_the_answer_rated_again() -> None:
    asked = ((("user", "Hello")),)
    texts = ["I am well. And you?", "I am well. I like tea.", "I like tea very much."] * 5
    shown = [ShownAnswer(1, n, asked, text) for n, text in enumerate(texts)]  # type: ignore[arg-type]

    def rate(_: object, answers: list[str]) -> list[float]:
        return [2.0 * answer.endswith("?") - 1.0 * ("tea" in answer) for answer in answers]

    found = {
        one.what: one
        for one in looks(shown, rate(None, texts), rate)  # type: ignore[arg-type]
    }
    assert found["a question back"].change == found["a question mark"].change == 2.0
    assert found["a question back"].sure
    assert found["one more sentence"].change == -1.0
    assert found["\u201ctea\u201d"].change == -1.0 and found["\u201ctea\u201d"].count == 10
    assert "\u201cam\u201d" not in found, "it changes nothing"


def test_what_is_taken_away() -> None:
    assert shortened("One sentence only.") == []
    assert shortened("And you?") == [("a question mark", "And you.")]
    assert shortened("Hi there. And you?")[1] == ("a question back", "Hi there.")
    assert shortened("Hi. Ho. Hu.") == [("one more sentence", "Hi. Ho.")]
    assert without_word("tea teapot", "tea") == "teapot"
    assert without_word("Tea.", "tea") == ""
