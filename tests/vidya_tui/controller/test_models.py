"""Settings and models while the app goes on: at once, in the file, and without losing the talk."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from engine.config import Sampling
from engine.errors import VidyaError
from engine.storage.generation_file import Generation, write_generation
from learning.home import Home
from learning.journal.journal import Journal
from learning.models.unfinished_training import Unfinished, write_unfinished
from learning.protocol.events import Event, Failed, ModelChanging, Ready
from learning.protocol.requests import Generate, Grow, OwnerActive, SetLearning, Train
from tests.fakes import ScriptedTeacher
from vidya_tui.controller.controller import Controller
from vidya_tui.controller.models import ModelControl
from vidya_tui.session.session import Session
from vidya_tui.settings.file import Settings, SettingsError, load
from vidya_tui.worker.switching import SwitchingTeacher


@dataclass
class House:
    """A controller with a teacher that can be exchanged; each made is kept."""

    home: Home
    journal: Journal
    made: list[tuple[str | None, ScriptedTeacher]] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    broken: set[str] = field(default_factory=set)
    looks: list[Settings] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.teacher = SwitchingTeacher(self.make, self.hear)
        session = Session(self.journal, self.teacher, book_path=self.home.book_path)
        self.controller = Controller(self.journal, session, self.teacher)
        self.control = ModelControl(
            self.home,
            load(self.home.settings_path),
            self.controller,
            self.teacher,
            self.looks.append,
        )
        self.controller.begin()

    def make(
        self, on_event: Callable[[Event], None], model: str | None = None, /
    ) -> ScriptedTeacher:
        if model in self.broken:
            raise VidyaError(f"{model} is damaged", "restore it")
        teacher = ScriptedTeacher(["one", "two"], on_event, manual=True, journal=self.journal)
        self.made.append((model, teacher))
        return teacher

    def hear(self, event: Event) -> None:
        self.events.append(event)
        self.controller.hear([event])

    @property
    def now(self) -> ScriptedTeacher:
        return self.made[-1][1]

    def settle(self) -> None:
        end = time.monotonic() + 5
        while self.teacher.changing:
            assert time.monotonic() < end
            time.sleep(0.005)


@pytest.fixture
def house(tmp_path: Path) -> House:
    home = Home(tmp_path)
    return House(home, Journal(home.journal_path))


# ---------------------------------------------------------------- settings


def test_a_change_counts_at_once_and_is_in_the_file(house: House) -> None:
    house.control.set("temperature", 0.3)
    house.control.set("candidates", 3)
    house.control.set("owner_words", False)
    session = house.controller.session
    session.say("hello")
    (asked,) = house.now.sent(Generate)
    assert isinstance(asked, Generate) and asked.n == 3 and asked.sampling.temperature == 0.3
    assert house.journal.lessons() == []
    assert load(house.home.settings_path) == Settings(
        temperature=0.3, candidates=3, owner_words=False
    )
    assert house.looks[-1].candidates == 3


def test_how_lessons_are_learned_reaches_the_teacher_once(house: House) -> None:
    house.control.set("eager", "in pauses")
    house.control.set("temperature", 1.0)
    house.control.set("learning", False)
    assert house.now.sent(SetLearning) == [
        SetLearning(True),
        SetLearning(True, in_pauses=True),
        SetLearning(False, in_pauses=True),
    ]


def test_settings_of_idle_practice_may_hold_spaces(house: House) -> None:
    house.control.set("practice_task", "syllogism")
    house.control.set("practice_settings", "'forms=all,some not' terms=5")
    house.control.set("practice_others", 'basic_arithmetic operators=["+", "-"], chain_sum')
    house.control.set("idle_practice", 10)
    assert house.controller.practice._idle.plan().arms == (
        'syllogism "forms=all,some not" terms=5',
        'basic_arithmetic operators=["+", "-"]',
        "chain_sum",
    )


def test_a_wrong_value_and_a_file_that_cannot_be_read_change_nothing(house: House) -> None:
    with pytest.raises(SettingsError, match="whole number, 1 to 9"):
        house.control.set("candidates", 12)
    assert not house.home.settings_path.exists()
    house.home.settings_path.write_text("candidates = many\n")
    with pytest.raises(SettingsError, match="not TOML"):
        house.control.set("candidates", 2)
    assert house.control.settings.candidates == 5
    assert house.home.settings_path.read_text() == "candidates = many\n"


def test_what_the_owner_edits_meanwhile_stays(house: House) -> None:
    house.home.settings_path.write_text("top_p = 0.5 # by hand\n")
    house.control.set("candidates", 2)
    assert house.home.settings_path.read_text() == "top_p = 0.5 # by hand\ncandidates = 2\n"


# ---------------------------------------------------------------- models


def test_answers_are_drawn_as_suits_the_model_unless_the_owner_chose(house: House) -> None:
    folder = house.home.models_path / "other"
    folder.mkdir(parents=True)
    (folder / "model.safetensors").write_bytes(b"")
    write_generation(Generation(Sampling(temperature=0.2, min_p=0.3)), folder)
    house.control.settings = replace(house.control.settings, model="other")
    house.control.set("candidates", 3)
    session = house.controller.session
    assert (session.sampling.temperature, session.sampling.min_p) == (0.2, 0.3)
    house.control.set("temperature", 1.5)
    assert (session.sampling.temperature, session.sampling.min_p) == (1.5, 0.3)
    house.control.set("temperature", None)
    assert session.sampling.temperature == 0.2
    assert "temperature" not in house.home.settings_path.read_text()


def test_another_model_takes_the_talk_over(house: House) -> None:
    session = house.controller.session
    ask = session.say("hello")
    house.now.pump(1)
    house.control.set("learning", False)
    first = house.now
    house.control.use("10m-base")
    house.settle()
    assert first.closed and [model for model, _ in house.made] == [None, "10m-base"]
    assert ModelChanging("10m-base") in house.events
    assert SetLearning(False) in house.now.requests
    assert [g.ask for g in house.now.sent(Generate)] == [ask.id], "what broke off is asked again"
    house.now.finish()
    assert session.cards[0].text == "one"
    house.hear(Ready("10m-base", 3, 1, "cpu"))
    assert house.controller.learning.model == "10m-base" and house.controller.learning.loaded
    assert load(house.home.settings_path).model == "10m-base"


def test_a_training_that_a_change_broke_off_is_told_when_its_model_comes_back(house: House) -> None:
    folder = house.home.models_path / "10m"
    folder.mkdir(parents=True)
    write_unfinished(folder, Unfinished(Train(), 41, (), 2, 117))
    for model in ("10m-base", "10m"):
        house.control.use(model)
        house.settle()
        assert house.control.go_on() is None, "it is not there yet"
        house.hear(Ready(model, 3, 1, "cpu"))
    told = house.control.go_on()
    assert told and told.text == "book training was interrupted in epoch 3; f5 continues it"
    assert house.control.go_on() is None, "it is told once"


def test_a_model_that_does_not_exist_is_refused(house: House) -> None:
    with pytest.raises(VidyaError, match="does not exist"):
        house.control.use("20m")
    assert len(house.made) == 1 and house.control.model == "10m"


def test_requests_wait_while_it_changes(house: House) -> None:
    gate = threading.Event()
    house.teacher.change("10m", lambda: gate.wait(5))
    house.teacher.send(Generate(1, (), 1, Settings().sampling))
    house.teacher.send(OwnerActive())
    with pytest.raises(VidyaError, match="being changed already"):
        house.control.use("10m-base")
    gate.set()
    house.settle()
    assert sorted(type(r).__name__ for r in house.now.requests) == ["Generate", "SetLearning"]


def test_a_model_that_cannot_begin_leaves_a_way_on(house: House) -> None:
    house.broken.add("10m-base")
    house.control.use("10m-base")
    house.settle()
    assert Failed("load", "10m-base is damaged", "restore it") in house.events
    house.controller.session.say("are you there")
    house.control.use("10m")
    house.settle()
    assert sorted(type(r).__name__ for r in house.now.requests) == ["Generate", "SetLearning"]


def test_work_that_fails_brings_the_old_model_back(house: House) -> None:
    def work() -> None:
        raise VidyaError("the disk is full", "make room")

    house.teacher.change("10m", work)
    house.settle()
    assert Failed("model", "the disk is full", "make room") in house.events
    assert [model for model, _ in house.made] == [None, None]


def test_a_change_that_fails_as_nobody_expected_ends_too(house: House) -> None:
    def work() -> None:
        raise OSError("the device is gone")

    house.teacher.change("10m", work)
    house.settle()
    assert not house.teacher.changing, "the next change is not refused"
    failed = [event for event in house.events if isinstance(event, Failed)]
    assert ["the device is gone" in one.what for one in failed] == [True]
    assert [model for model, _ in house.made] == [None, None]


def test_rolling_back_goes_through_the_store(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(VidyaError, match="no snapshot 3"):
        house.control.rollback(3)
    from learning.models.store import Snapshot

    done: list[tuple[object, ...]] = []
    store = house.control._store
    shot = Snapshot(3, Path("x"), 0.0, "lesson 2", 10)
    monkeypatch.setattr(ModelControl, "snapshots", lambda _: [shot])
    monkeypatch.setattr(store, "rollback", lambda *a: done.append((*a, house.now.closed)))
    house.control.rollback(3)
    house.settle()
    assert done == [("10m", 3, house.journal, True)], "with no teacher on the weights"
    assert len(house.made) == 2


def test_growing_is_for_the_teacher(house: House) -> None:
    assert "49m" in house.control.larger() and "10m" not in house.control.larger()
    assert house.control.grow("49m") == "49m"
    assert house.now.sent(Grow) == [Grow("49m", "49m")]
    with pytest.raises(VidyaError, match="not larger"):
        house.control.grow("10m")


def test_closing_while_it_changes_closes_what_comes_too(house: House) -> None:
    gate = threading.Event()
    house.teacher.change("10m", lambda: gate.wait(5))
    threading.Timer(0.05, gate.set).start()
    house.teacher.close()
    assert not house.teacher.changing and all(teacher.closed for _, teacher in house.made)
