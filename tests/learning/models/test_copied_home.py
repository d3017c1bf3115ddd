from __future__ import annotations

from pathlib import Path

import pytest

from engine.errors import NotFound
from learning.home import Home
from learning.journal.journal import Journal
from learning.models.copied_home import copied_home
from tests.learning.conftest import Place


def test_a_copy_has_what_a_model_is_practised_with_and_is_removed(tiny_place: Place) -> None:
    home, folder, journal = tiny_place
    journal.add_measure("owner_nll", 1.5)
    home.book_path.write_text("<|user|> hello <|assistant|> Hello.\n", "utf-8")
    (folder / "snapshots").mkdir(exist_ok=True)
    with copied_home(home, folder.name) as (copy, name):
        assert copy.path != home.path and name == folder.name
        assert copy.book_path.read_text("utf-8") == home.book_path.read_text("utf-8")
        copied = Journal(copy.journal_path)
        assert [value for _, value in copied.measures("owner_nll")] == [1.5]
        copied.add_measure("owner_nll", 9.0)
        copied.close()
        weights = copy.models_path / name / "model.safetensors"
        assert weights.read_bytes() == (folder / "model.safetensors").read_bytes()
        assert not (copy.models_path / name / "snapshots").exists()
        weights.unlink()
    assert not copy.path.exists()
    assert (folder / "model.safetensors").exists()
    assert len(journal.measures("owner_nll")) == 1


def test_a_model_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="nowhere"), copied_home(Home(tmp_path), "nowhere"):
        raise AssertionError
