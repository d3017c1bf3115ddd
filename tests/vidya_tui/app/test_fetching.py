"""A better model is offered, fetched beside the conversation, and talked to when it is there."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from engine.errors import VidyaError
from learning.evaluate import BookSample
from learning.home import Home
from learning.models.get import GotModel
from learning.models.known import Source
from learning.models.store import ModelInfo
from learning.protocol.events import Event, Failed
from learning.protocol.messages import decode, encode
from learning.protocol.model_events import Fetched, FetchProgress
from tests.downloads import download
from tests.stage import Stage, play
from vidya_tui.settings.file import load
from vidya_tui.worker import fetch as worker_fetch
from vidya_tui.worker.fetcher import Command, Fetcher

NAME = "smollm2-135m"


def as_if(mode: str) -> Command:
    def command(home: Home, name: str) -> Sequence[str]:
        return download(mode, home, name)

    return command


@pytest.mark.slow
def test_the_offer_is_taken_and_the_talk_goes_on_with_the_new_model(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.sees("smollm2-135m (98 MB, Apache-2.0) speaks much better")
        await stage.sees("speaks much better, and takes about 5 s a")
        await stage.press("alt+j")
        await stage.sees("45 % of smollm2-135m")
        await stage.until(lambda: "speaks much better" not in stage.text())
        await stage.say("hello")  # the conversation goes on beside it
        await stage.sees("5 five answers")
        (stage.home.path / "gate").touch()
        await stage.until(lambda: stage.app.chat.need().learning.model == NAME)
        await stage.until(lambda: load(stage.home.settings_path).model == NAME)
        assert stage.journal.questions() == ["hello"]
        await stage.until(lambda: "of smollm2" not in stage.text())

    play(scenario, tmp_path, first=True, fetch=as_if("gated"))


@pytest.mark.slow
def test_nothing_is_broken_off_by_the_new_model(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.say("hello")
        stage.teacher.pump(1)
        await stage.say("/get")
        await stage.sees("smollm2-135m is there")
        assert not stage.teacher.closed
        stage.teacher.finish()
        await stage.until(lambda: load(stage.home.settings_path).model == NAME)

    play(scenario, tmp_path, manual=True, fetch=as_if("good"))


@pytest.mark.slow
def test_a_model_that_knows_few_lines_of_the_book_is_used_and_that_is_said(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.say("/get")
        await stage.sees("! this is smollm2-135m, version 1; smollm2-135m knows 3 of 20 lines")
        assert load(stage.home.settings_path).model == NAME

    play(scenario, tmp_path, fetch=as_if("few"))


def test_no_network_is_one_line_and_not_now_is_remembered(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.sees("speaks much better")
        await stage.press("alt+j")
        await stage.sees("smollm2-135m was not fetched: the network cannot be reached")
        await stage.sees("speaks much better")
        await stage.press("escape")
        await stage.until(lambda: "speaks much better" not in stage.text())

    async def later(stage: Stage) -> None:
        await asyncio.sleep(0.4)
        assert "speaks much better" not in stage.text()

    play(scenario, tmp_path, first=True)
    play(later, tmp_path, first=True)


def test_the_model_screen_lists_fetches_and_stops(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.say("/model")
        await stage.sees("models that can be fetched")
        await stage.sees("    about 5 s a lesson on the benchmark machine")
        await stage.sees("smollm2-360m")
        await stage.press("down", "down", "enter")
        await stage.sees("fetching smollm2-135m: 45 % of 100 MB")
        await stage.press("enter")
        await stage.sees("Enter again stops fetching smollm2-135m.")
        await stage.press("enter")
        await stage.sees("/get smollm2-135m goes on with it")
        assert stage.app.fetcher is not None
        stage.app.fetcher.close()
        assert stage.app.fetcher._process is not None
        assert stage.app.fetcher._process.returncode == 130

    play(scenario, tmp_path, fetch=as_if("waits"))


@pytest.mark.parametrize("typed", ["/get smollm2-360m", "/get stop"])
def test_a_model_that_is_there_and_waits_is_named(tmp_path: Path, typed: str) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.say("hello")  # nothing streams, so that the talk is busy
        await stage.say("/get")
        await stage.sees("smollm2-135m is there")
        await stage.say(typed)
        await stage.sees("smollm2-135m is there already; the talk goes on with it when what runs")

    play(scenario, tmp_path, manual=True, fetch=as_if("good"))


def test_what_is_stopped_while_it_is_prepared_is_there(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.say("/get")
        await stage.sees("preparing smollm2-135m, 50 %")
        await stage.until(lambda: (stage.home.models_path / NAME / "config.json").exists())
        await stage.say("/get stop")
        await stage.sees("smollm2-135m is in the home; /model changes to it")

    play(scenario, tmp_path, fetch=as_if("prepares"))


@pytest.mark.parametrize(
    ("trouble", "source"), [(None, "package"), (RuntimeError("no memory"), "hub")]
)
def test_it_is_prepared_before_it_is_said_to_be_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trouble: Exception | None, source: Source
) -> None:
    told: list[Event] = []
    info = ModelInfo(NAME, tmp_path, 134_515_008, 0, 1, False)

    def got(*_: object, progress: Callable[[int, int], None], **__: object) -> GotModel:
        progress(1, 2)
        progress(2, 2)
        return GotModel(info, source, "its weights are")

    def prepared(*_: object, progress: Callable[[float], None], **__: object) -> None:
        progress(0.5)
        if trouble:
            raise trouble

    monkeypatch.setattr("learning.models.get.get_model", got)
    monkeypatch.setattr("learning.evaluate.ask_book", lambda _: BookSample(15, 20))
    monkeypatch.setattr("learning.lessons.prepare.prepare_model", prepared)
    monkeypatch.setattr(worker_fetch, "TOLD_EVERY", 0.0)
    assert worker_fetch.fetch(Home(tmp_path), NAME, told.append) == 0  # type: ignore[arg-type]
    *_, progress, last = told
    assert progress == FetchProgress(NAME, 2, 2, 0.5)
    assert isinstance(last, Fetched) and last.trouble
    assert "knows: 15 of 20, which is too few" in last.told
    assert last.told.endswith("; its weights are") == (source == "hub")


@pytest.mark.parametrize("trouble", [RuntimeError("no memory"), VidyaError("no book", "mend it")])
def test_a_model_that_cannot_be_asked_is_fetched_all_the_same(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    trouble: Exception,
) -> None:
    told: list[Event] = []
    got = GotModel(ModelInfo(NAME, tmp_path, 134_515_008, 0, 1, False), "hub", "its weights are")

    def unreadable(_: object) -> BookSample:
        raise trouble

    monkeypatch.setattr("learning.models.get.get_model", lambda *_, **__: got)
    monkeypatch.setattr("learning.evaluate.ask_book", unreadable)
    monkeypatch.setattr("learning.lessons.prepare.prepare_model", lambda *_, **__: None)
    assert worker_fetch.fetch(Home(tmp_path), NAME, told.append) == 0  # type: ignore[arg-type]
    assert told == [Fetched(NAME, 134_515_008, "", False)]
    assert f"{NAME} could not be asked its book: {trouble}" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("/get nothing", "no model is known by the name 'nothing'"),
        ("/get stop", "nothing is being fetched"),
    ],
)
def test_what_cannot_be_fetched_is_said(tmp_path: Path, line: str, words: str) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.say(line)
        await stage.sees(words)

    play(scenario, tmp_path)


def test_a_process_that_dies_is_a_failure_and_another_can_begin(tmp_path: Path) -> None:
    heard: list[Event] = []
    mode = ["dies"]
    home = Home(tmp_path)
    fetcher = Fetcher(home, heard.append, lambda h, n: download(mode[0], h, n))
    for expected in (Failed, Fetched):
        fetcher.start(NAME)
        end = time.monotonic() + 20
        while not (heard and isinstance(heard[-1], expected)):
            assert time.monotonic() < end, heard
            time.sleep(0.01)
        mode[0] = "good"
        fetcher._reader.join(5)  # type: ignore[union-attr]
    assert "status 7" in getattr(heard[0], "what", "")
    fetcher.close()


def test_the_events_travel() -> None:
    for event in (FetchProgress(NAME, 1, 2), Fetched(NAME, 3, "few", True)):
        assert decode(encode(event)) == event
