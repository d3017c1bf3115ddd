"""What practice is measured against stays from run to run, until the book is trained."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from engine.model import Model
from learning.journal.journal import Journal
from learning.memory.replay import Replay
from learning.models.files import PRACTICE_ANCHOR as ANCHOR
from learning.models.files import PRACTICE_BEST as BEST
from learning.models.home_files import home_files
from learning.practice.checks.yardstick import open_yardstick
from tests.learning.conftest import Place


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal(tmp_path / "j.sqlite3")


def weight(model: Model) -> torch.Tensor:
    return model.blocks[0].ffn.down.weight.detach().clone()


def moved(model: Model) -> torch.Tensor:
    with torch.no_grad():
        model.blocks[0].ffn.down.weight.add_(0.25)
    return weight(model)


def test_it_is_how_the_model_talked_before_the_first_practice(
    tiny_model: Model, replay: Replay, journal: Journal, tmp_path: Path
) -> None:
    before = weight(tiny_model)
    first = open_yardstick(tmp_path, tiny_model, 0, journal, replay.book)
    torch.testing.assert_close(weight(first.model), before, atol=1e-3, rtol=1e-3)
    moved(tiny_model)
    journal.add_publication(1, 0, (), None, "practice: sums, step 10")
    journal.add_publication(2, 1, (), None, "typed")
    second = open_yardstick(tmp_path, tiny_model, 2, journal, replay.book)
    assert torch.equal(weight(second.model), weight(first.model)), "to the last bit"


@pytest.mark.parametrize(
    "note, parent",
    [("book training", 1), ("distillation from large, step 20", 1), ("practice: sums", 0)],
)
def test_a_training_on_purpose_and_weights_from_elsewhere_make_a_new_one(
    tiny_model: Model, replay: Replay, journal: Journal, tmp_path: Path, note: str, parent: int
) -> None:
    journal.add_publication(1, 0, (), None, "practice: sums, step 10")
    open_yardstick(tmp_path, tiny_model, 1, journal, replay.book)
    after = moved(tiny_model)
    journal.add_publication(2, parent, (), None, note)
    found = open_yardstick(tmp_path, tiny_model, 2, journal, replay.book)
    torch.testing.assert_close(weight(found.model), after, atol=1e-3, rtol=1e-3)


def test_losses_of_the_book_do_not_add_up(
    tiny_model: Model, replay: Replay, journal: Journal, tmp_path: Path
) -> None:
    def before(recall: float) -> float:
        return open_yardstick(tmp_path, tiny_model, 0, journal, replay.book).before(recall)

    assert before(0.99) == 0.99
    assert before(1.0) == 1.0
    assert before(0.985) == 1.0, "the best, not what the run before left"
    assert before(0.95) == pytest.approx(0.97), "the weights as they are can be kept"
    other = open_yardstick(tmp_path, tiny_model, 0, journal, replay.book[:1])
    assert other.before(0.5) == 0.5, "another book"


def test_a_damaged_one_is_taken_anew(
    tiny_model: Model, replay: Replay, journal: Journal, tmp_path: Path
) -> None:
    (tmp_path / ANCHOR).write_bytes(b"nonsense")
    (tmp_path / BEST).write_text("[1]")
    assert open_yardstick(tmp_path, tiny_model, 0, journal, replay.book).book == 0.0


def test_it_is_erased_when_something_is_forgotten(tiny_place: Place) -> None:
    home, folder, _ = tiny_place
    for name in (ANCHOR, BEST):
        (folder / name).write_bytes(b"{}")
    roles = {file.path.name: file.role for file in home_files(home)}
    assert roles[ANCHOR] == roles[BEST] == "derived", "learning.lessons.forget removes these"
