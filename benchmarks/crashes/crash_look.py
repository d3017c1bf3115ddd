"""Checks a home after a kill (crash.py): right after it, after the program has caught up, and after
everything was forgotten.
"""

from __future__ import annotations

import contextlib
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from benchmarks import ROOT
from engine.storage.weight_files import INDEX, current_files, current_version
from learning.home import Home
from learning.journal.journal import Journal
from learning.models.home_files import home_files
from learning.protocol.records import Lesson, Rating
from learning.text.normalise import fold_prompt
from personality.book import BookError, LineError, format_line, read_book


def look(home: Home, model: str, confirmed: dict[int, tuple[int, str]]) -> list[str]:
    """Faults of the home right after a kill."""
    wrong = []
    connection = sqlite3.connect(home.journal_path)
    checked = connection.execute("PRAGMA integrity_check").fetchone()[0]
    connection.close()
    if checked != "ok":
        wrong.append(f"the journal is damaged: {checked}")
    journal = Journal(home.journal_path)
    try:
        rows = journal.rows("SELECT id, ask, answer FROM judgements")
        kept = {number: (ask, answer) for number, ask, answer in rows}
        wrong += [
            f"judgement {number} was confirmed and is not in the journal"
            for number, said in confirmed.items()
            if kept.get(number) != said
        ]
        if (whole := journal.integrity()) != "ok":
            wrong.append(f"the journal: {whole}")
    finally:
        journal.close()
    wrong += _look_at_model(home.models_path / model)
    lines = book_lines(home)
    wrong += [f"the book says {n} times {line}" for line, n in Counter(lines).items() if n > 1]
    if home.book_path.exists():
        try:
            read_book(home.book_path)
        except BookError as error:
            if error.problems[0][0]:
                wrong.append(str(error))
    return wrong


def whole_copy(folder: Path, path: Path) -> Path:
    """Writes the folder's current weights, a base and its delta merged, to one file; returns its path."""
    from engine.storage.checkpoint import load_weights, save_tensors

    save_tensors(load_weights(current_files(folder)), path)
    return path


def _look_at_model(folder: Path) -> list[str]:
    from engine.errors import VidyaError
    from engine.storage.checkpoint import load_model

    try:
        load_model(folder)
    except VidyaError as error:
        return [str(error)]
    return []


def book_lines(home: Home) -> list[str]:
    if not home.book_path.exists():
        return []
    return [x for x in home.book_path.read_text("utf-8").splitlines() if x and x[0] != "#"]


def settled(home: Home, model: str) -> list[str]:
    """Faults of the home after the program has caught up."""
    wrong = []
    journal = Journal(home.journal_path)
    try:
        saved = current_version(home.models_path / model)
        if saved != journal.saved_version():
            wrong.append(f"the file is version {saved}, the journal says {journal.saved_version()}")
        inside = journal.lessons_in(saved)
        for lesson in journal.lessons(kinds=("pick", "correction", "rating", "example")):
            if lesson.state == "learned" and lesson.id not in inside:
                wrong.append(f"lesson {lesson.id} is called learned and is not in the weights")
            if lesson.state == "waiting":
                wrong.append(f"lesson {lesson.id} still waits")
        wrong += [f"judgement {j.id} has no lesson" for j in journal.judgements_without_lessons()]
        wanted, found = Counter(_wanted(journal)), Counter(book_lines(home))
        wrong += [f"the book lacks {line}" for line in wanted - found]
        wrong += [f"the book should not have {line}" for line in found - wanted]
    finally:
        journal.close()
    return wrong


def _wanted(journal: Journal) -> list[str]:
    """The lines that the owner's book must have: picked or typed answers that are not rated bad."""
    lines = []
    for (number,) in journal.rows("SELECT id FROM asks"):
        standing = [judged for judged in journal.judgements(number) if judged.stands]
        answer = journal.answer(number)
        bad = any(
            isinstance(j.judgement, Rating) and j.judgement.value == "bad" and j.answer == answer
            for j in standing[-1:]
        )
        if answer is None or bad or all(isinstance(j.judgement, Rating) for j in standing):
            continue
        with contextlib.suppress(LineError):
            message = journal.ask(number).turns[-1].text
            lines.append(format_line((("user", message), ("assistant", answer))))
    return lines


def states(home: Home) -> dict[str, int]:
    journal = Journal(home.journal_path)
    try:
        lessons = journal.lessons(kinds=("pick", "correction", "rating", "example"))
        return dict(Counter(lesson.state for lesson in lessons))
    finally:
        journal.close()


def answers_wanted(lessons: Iterable[Lesson]) -> tuple[list[Lesson], list[Lesson]]:
    """(lessons whose answer the owner wants now, lessons against an answer that he does not want now).

    lessons: those in effect, oldest first. Of several on one question the newest counts: it replaces the
    answers before it, and one without an answer of its own, a bad rating, takes back the answer that it
    rejects.
    """
    wanted, unwanted = dict[str, Lesson](), dict[str, Lesson]()
    for lesson in lessons:
        question = fold_prompt(lesson.prompt)
        if lesson.answer:
            wanted[question] = lesson
            unwanted.pop(question, None)
        else:
            unwanted[question] = lesson
            if question in wanted and wanted[question].answer in lesson.rejected:
                del wanted[question]
    return list(wanted.values()), list(unwanted.values())


def known(home: Home, model: str) -> dict[str, Any]:
    """What the saved weights say where a lesson is called learned.

    learned: number of learned lessons whose answer is wanted now. said_word_for_word: of these, how many
    answers greedy decoding gives. missing: of the others question, answer, and what is said in its place.
    rejected: number of answers whose bad rating is learned. said_all_the_same: of these, how many it gives.
    """
    from engine.storage.checkpoint import load_model
    from engine.tokenizers.load import load_tokenizer
    from learning.data.examples import from_answer
    from learning.lessons.avoid import said_now
    from learning.memory.tasks import answer_example
    from learning.objectives.forward import knowledge

    folder = home.models_path / model
    weights, tokenizer = load_model(folder), load_tokenizer(folder)
    context = weights.config.context
    journal = Journal(home.journal_path)
    try:
        taught, against = answers_wanted(journal.standing())
    finally:
        journal.close()
    asked = [lesson for lesson in taught if lesson.state == "learned"]
    examples = [found for lesson in asked if (found := answer_example(tokenizer, lesson, context))]
    rejected = [
        from_answer(tokenizer, lesson.prompt, text, context)
        for lesson in against
        if lesson.state == "learned"
        for text in lesson.rejected
    ]
    missing = [
        {
            "lesson": lesson.id,
            "question": lesson.prompt[-1].text,
            "answer": lesson.answer,
            "said": said_now(weights, tokenizer, example).said,
        }
        for lesson, example, found in zip(
            asked, examples, knowledge(weights, examples), strict=True
        )
        if not found.known
    ]
    return {
        "learned": len(asked),
        "said_word_for_word": len(asked) - len(missing),
        "missing": missing,
        "rejected": len(rejected),
        "said_all_the_same": sum(found.known for found in knowledge(weights, rejected)),
    }


def forgotten(home: Home, model: str, first: Path) -> list[str]:
    """Files that still contain something after `forget --all`. first: the initial weights."""
    from engine.errors import VidyaError
    from engine.storage.checkpoint import load_model

    command = [sys.executable, "-m", "vidya_tui", "journal", "forget", "--all", "--yes"]
    command += ["--no-relearn", "--home", str(home.path), "--model", model]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    wrong = [f"forget: {done.stderr.strip()}"] if done.returncode else []
    folder = home.models_path / model
    before = load_model(folder, weights=first).state_dict()
    for file in home_files(home):
        if file.role in ("unknown", "leftover", "training"):
            wrong.append(f"{file.path}: {file.role}")
        elif b" of day " in (data := file.path.read_bytes()) or b", on day " in data:
            wrong.append(f"{file.path} says what was taught")
        if file.role in ("weights", "snapshot") and file.path.name != INDEX:
            try:
                now = load_model(folder, weights=file.path).state_dict()
            except VidyaError as error:
                wrong.append(str(error))
                continue
            if any(not before[name].equal(weights) for name, weights in now.items()):
                wrong.append(f"{file.path} knows more than at the beginning")
    return wrong
