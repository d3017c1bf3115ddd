"""Forgetting in several models at once: all of them, or none."""

from __future__ import annotations

import json
import os
import shutil
import time
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from engine.config import Sampling
from engine.errors import NotFound
from engine.storage.checkpoint import load_tensors, load_weights, save_tensors
from engine.storage.checkpoint_files import WEIGHTS
from engine.storage.files import is_leftover, temporary_name
from engine.storage.weight_files import BASE, current_files, current_version, files_at
from learning.home import Home, HomeError
from learning.journal.erasing.plan import ErasurePlan
from learning.lessons.forget import forget
from learning.models.import_export import export_model, import_model
from learning.models.store import ModelStore
from learning.pretraining.checkpoint import run_folder
from learning.protocol.records import Candidate, Lesson, Pick, Turn
from tests.learning.conftest import Place
from tests.learning.lessons.test_learner import lesson, open_learner, place  # noqa: F401
from tests.learning.lessons.test_undo import publish, written  # noqa: F401

pytestmark = pytest.mark.usefixtures("written")


def test_where_one_model_cannot_go_back_none_does(place: Place) -> None:  # noqa: F811
    home, folder, journal = place
    learner = open_learner(place)
    secret = publish(learner, lesson("What is my password?", "Swordfish."))
    grown = folder.with_name("zlarge")  # its first weights know it already
    shutil.copytree(folder, grown, ignore=shutil.ignore_patterns("snapshots"))
    before = [current_files(one).newest.read_bytes() for one in (folder, grown)]
    doomed = journal.to_forget(lesson=secret.id)
    said = "zlarge: no weights without lesson 1 .* nothing was erased.*vidya model remove zlarge"
    with pytest.raises(NotFound, match=said):
        forget(home, journal, doomed, [folder])
    assert [current_files(one).newest.read_bytes() for one in (folder, grown)] == before
    assert journal.lesson(secret.id).state == "learned"

    ModelStore(home).remove("zlarge")
    done = forget(home, journal, doomed, [folder])
    assert (done.models, done.records) == (("tiny",), 1)
    assert journal.lessons() == []


def test_what_is_erased_is_replayed_no_more_where_the_weights_stay(place: Place) -> None:  # noqa: F811
    home, _, journal = place
    learner = open_learner(place)
    secret = publish(learner, lesson("What is my password?", "Swordfish."))
    learner.forget_memory()
    assert [e.prompt for e in learner.replay.taught] == ["what is my password"]
    done = forget(home, journal, journal.to_forget(lesson=secret.id), learner=learner)
    assert (done.models, done.records) == ((), 1)
    assert learner.replay.taught == []


SECRET = "The word is swordfish."


def innocent(home: Home, states: list[dict[str, torch.Tensor]]) -> None:
    """Opens every file of the home: each that holds tensors has one of these states, bit for bit; no
    other holds the secret, and none is a leftover."""
    for path in (path for path in home.path.rglob("*") if path.is_file()):
        assert not is_leftover(path), path
        data = path.read_bytes()
        assert b"swordfish" not in data.lower(), path
        if path.suffix == ".safetensors" or b"data_offsets" in data[:300]:
            tensors, record = load_tensors(path)
            assert any(
                (
                    tensors.keys() == state.keys()
                    or (BASE in record and tensors.keys() < state.keys())
                )
                and all(torch.equal(tensors[key], state[key]) for key in tensors)
                for state in states
            ), f"{path} knows more than it should"


def on_disk(folder: Path) -> dict[str, torch.Tensor]:
    return load_weights(current_files(folder))


def backdate(folder: Path) -> None:
    """As if its files had been written a minute ago."""
    for path in folder.rglob("*"):
        os.utime(path, (time.time() - 60,) * 2)


def test_after_forgetting_no_file_of_the_home_holds_it(place: Place) -> None:  # noqa: F811
    home, folder, journal = place
    backdate(folder)
    learner = open_learner(place)
    publish(learner, lesson("What is first?", "A first one."))
    paths = [*folder.glob("snapshots/*"), current_files(folder).newest]
    before = [load_weights(files_at(folder, path)) for path in paths]
    secret = publish(learner, lesson("What is the word?", SECRET))
    after = current_files(folder).newest.read_bytes()
    publish(learner, lesson("What is last?", "A last one."))
    # what crashes of this program and of earlier ones leave behind
    (folder / ".tmpMetlbs").write_bytes(after)
    (folder / ".model.safetensors.0123456789abcdef0123456789abcdef").write_bytes(after)
    (folder / "snapshots" / "00000002.new").write_bytes(after)
    half = temporary_name(folder / WEIGHTS)
    half.mkdir()
    (half / ".tmpAbCdEf").write_bytes(after[:4000])
    (folder / "snapshots" / "00000009.safetensors").write_bytes(after[:5000])
    shutil.copytree(folder, home.models_path / ".copy.4711")
    (folder / "training.safetensors").write_bytes(after)
    (folder / "talk.json").write_text("[[5, 6, 7]]")
    home.lesson_vectors_path.write_bytes(after)
    (home.path / ".book.txt.0123456789abcdef0123456789abcdef").write_text(SECRET)
    (home.path / "journal.sqlite3.before-2").write_text(SECRET)
    home.book_path.write_text(f"<|user|> What is the word? <|assistant|> {SECRET}\n")
    home.log_path.write_text(f"ValueError: {SECRET}")
    home.unsent_path.write_text("was it  Swordfish?\nThe word is\n SWORDFISH.")
    home.exports_path.mkdir()
    (home.exports_path / "conversation-1.json").write_text(json.dumps({"text": SECRET}))
    kept = home.exports_path / "conversation-2.md"
    kept.write_text("Of other things.")
    gone = home.models_path / "gone"  # somebody removed its weights, and nothing else
    shutil.copytree(folder / "snapshots", gone / "snapshots")

    done = forget(home, journal, journal.to_forget(lesson=secret.id), [folder])
    journal.close()
    innocent(home, before)
    assert kept.exists() and [path.name for path in done.removed] == [
        "conversation-1.json",
        "unsent.txt",
    ]
    assert done.unvouched == {} and done.left == ()


def test_an_export_of_a_judged_answer_goes_with_its_lesson(place: Place) -> None:  # noqa: F811
    home, _, journal = place
    turns = (Turn("user", "What is the word?"),)
    ask = journal.add_ask(journal.new_conversation(), turns, Sampling())
    journal.add_candidates([Candidate(ask.id, 1, SECRET, (1,), (-1.0,), "end", 0)])
    pick = Pick(ask.id, 1)
    number = journal.judge(pick, SECRET, [Lesson("pick", turns, SECRET)])
    home.exports_path.mkdir()
    copy = home.exports_path / "conversation-1.md"
    copy.write_text(f"**Vidya**\n\n> {SECRET}\n")
    (secret,) = journal.lessons_of(number)
    done = forget(home, journal, journal.to_forget(lesson=secret.id))
    assert done.removed == (copy,) and journal.ask(ask.id) == ask


def test_a_weak_lesson_keeps_no_line_of_the_book(place: Place) -> None:  # noqa: F811
    """Left standing elsewhere, the answer is a weak lesson, which writes nothing into the book."""
    home, _, journal = place
    taught = lesson("What is the word?", SECRET)
    secret, _ = journal.add_lessons([taught, replace(taught, kind="continuation")])
    home.book_path.write_text(f"<|user|> What is the word? <|assistant|> {SECRET}\n")
    done = forget(home, journal, journal.to_forget(lesson=secret.id))
    assert (done.book_lines, home.book_path.read_text()) == (1, "")


def test_an_export_that_is_older_than_the_journal_goes_for_its_text(place: Place) -> None:  # noqa: F811
    home, _, journal = place
    home.exports_path.mkdir()
    copy, other = (home.exports_path / f"conversation-{n}.md" for n in (1, 2))
    copy.write_text(SECRET)
    other.write_text("Of other things.")
    backdate(home.exports_path)
    (secret,) = journal.add_lessons([lesson("What is the word?", SECRET)])
    done = forget(home, journal, journal.to_forget(text="swordfish"), text="swordfish")
    assert done.removed == (copy,) and other.exists()
    assert journal.lessons() == [] and secret.id == 1


def test_a_text_of_signs_that_files_add_takes_no_file_along(place: Place) -> None:  # noqa: F811
    home, folder, journal = place
    home.exports_path.mkdir()
    kept = home.exports_path / "conversation-1.md"
    kept.write_text("Of other things.")
    for text in ("\\", ">"):
        assert forget(home, journal, ErasurePlan((), ()), [folder], text=text).removed == ()
    assert kept.exists()


@pytest.mark.parametrize(
    "name",
    ["notes.txt", "models/tiny/other.safetensors", "models/tiny/snapshots/mine.safetensors"],
)
def test_what_is_none_of_vidyas_files_is_refused(place: Place, name: str) -> None:  # noqa: F811
    home, folder, journal = place
    learner = open_learner(place)
    secret = publish(learner, lesson("What is the word?", SECRET))
    stray = home.path / name
    stray.write_bytes(
        b"swordfish \xff" if name == "notes.txt" else current_files(folder).newest.read_bytes()
    )
    doomed = journal.to_forget(lesson=secret.id)
    with pytest.raises(HomeError, match=f"{name}: this is none of vidya's") as caught:
        forget(home, journal, doomed, [folder])
    assert "--leave-unknown" in caught.value.next_step
    assert journal.lesson(secret.id).state == "learned", "nothing was erased"
    done = forget(home, journal, doomed, [folder], leave_unknown=True)
    assert done.left == (stray,) and stray.exists() and journal.lessons() == []


def test_a_note_that_cannot_hold_it_is_no_reason_to_refuse(place: Place) -> None:  # noqa: F811
    home, folder, journal = place
    old = home.path / "old.bin"
    old.write_bytes(b"\xff\0")
    os.utime(old, (time.time() - 100,) * 2)
    secret = publish(open_learner(place), lesson("What is the word?", SECRET))
    (home.path / "notes.txt").write_text("of other things")
    assert forget(home, journal, journal.to_forget(lesson=secret.id), [folder]).left == ()


def test_models_that_cannot_be_vouched_for_are_named(place: Place) -> None:  # noqa: F811
    home, folder, journal = place
    backdate(folder)
    store = ModelStore(home)
    backdate(import_model(store, folder, "earlier").path)
    learner = open_learner(place)
    secret = publish(learner, lesson("What is the word?", SECRET))
    export_model(store, "tiny", home.path.with_name("out"))
    import_model(store, home.path.with_name("out"), "copy")
    elsewhere = shutil.copytree(folder, home.path.with_name("elsewhere"))
    other = open_learner((home, elsewhere, journal))
    publish(other, lesson("What else?", "Nothing."))
    with journal.writing() as connection:
        connection.execute(
            "INSERT INTO publication_lessons VALUES (?, ?)", (other.version, secret.id)
        )
    done = forget(home, journal, journal.to_forget(lesson=secret.id), [folder])
    assert done.models == ("tiny",)
    assert done.unvouched == {
        "copy": "it came from elsewhere, or was made from files, after this was first said",
        str(elsewhere): "it learned this, and lies outside of the home",
    }


def test_a_grown_model_is_vouched_for_by_the_one_it_came_from(place: Place) -> None:  # noqa: F811
    home, folder, journal = place
    backdate(folder)
    publish(open_learner(place), lesson("What is first?", "A first one."))
    grown = shutil.copytree(
        folder, folder.with_name("grown"), ignore=shutil.ignore_patterns("snapshots")
    )
    secret = publish(open_learner((home, grown, journal)), lesson("What is the word?", SECRET))
    done = forget(home, journal, journal.to_forget(lesson=secret.id), [folder])
    assert (done.models, done.unvouched) == (("grown",), {})


def test_what_could_not_be_learned_may_be_known_from_the_book(place: Place) -> None:  # noqa: F811
    """Its line stands in the book, which later lessons rehearse."""
    home, folder, journal = place
    learner = open_learner(place)
    before = on_disk(folder)
    (secret,) = journal.add_lessons([lesson("What is the word?", SECRET)])
    journal.set_lesson_state(secret.id, "needs_practice")
    publish(learner, lesson("What is last?", "A last one."))
    done = forget(home, journal, journal.to_forget(lesson=secret.id), [folder])
    journal.close()
    assert done.models == ("tiny",)
    innocent(home, [before])


def test_what_was_taken_back_costs_later_lessons_nothing(place: Place) -> None:  # noqa: F811
    home, folder, journal = place
    learner = open_learner(place)
    secret = publish(learner, lesson("What is the word?", SECRET))
    learner.undo(journal.lesson(secret.id))
    publish(learner, lesson("What is last?", "A last one."))
    version = learner.version
    done = forget(home, journal, journal.to_forget(lesson=secret.id), [folder])
    assert done.models == () and current_version(folder) == version


def test_a_line_that_only_the_book_had_is_in_whatever_was_taught(place: Place) -> None:  # noqa: F811
    home, folder, journal = place
    home.book_path.write_text(f"<|user|> What is the word? <|assistant|> {SECRET}\n")
    publish(open_learner(place), lesson("What is last?", "A last one."))
    done = forget(home, journal, ErasurePlan((), ()), [folder], text="swordfish")
    assert done.book_lines == 1 and list(done.unvouched) == ["tiny"]


def test_a_pretraining_keeps_what_it_goes_on_from(place: Place) -> None:  # noqa: F811
    home, folder, journal = place
    backdate(folder)
    secret = publish(open_learner(place), lesson("What is the word?", SECRET))
    run = home.models_path / "run"
    with run_folder(run):
        pass
    save_tensors({"x": torch.ones(2)}, run / "training.safetensors", {"identity": "{}"})
    (run / "cache").mkdir()
    (run / "cache" / "data-1.tokens").write_bytes(b"vidya tokens\n\xff")
    done = forget(home, journal, journal.to_forget(lesson=secret.id), [folder])
    assert (run / "training.safetensors").exists()
    assert done.unvouched == {"run": "what `vidya pretrain` made of its data is kept there"}
