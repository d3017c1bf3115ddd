"""`vidya journal forget`: erases from the journal, the owner's book and the weights."""

from __future__ import annotations

from typing import Any

import click

from engine.errors import NotFound, VidyaError
from learning.book.owner_book import OwnerBook
from learning.home import Home
from learning.journal.erasing.plan import ErasurePlan
from learning.journal.journal import Journal
from learning.lessons.forget import finish
from learning.lessons.forget import forget as forget_everywhere
from learning.protocol.events import Event, LessonDone
from learning.text.normalise import writable
from vidya_tui.cli.common import common, local_teacher, print_json, say, show, sure
from vidya_tui.options import Options
from vidya_tui.state.lessons import named
from vidya_tui.terminal.saved_prompt import Unsent
from vidya_tui.text.numbers import counted

SHOWN = 20
"""Most lessons that are named before the owner confirms."""


@click.command()
@click.option("--lesson", type=int, help="Number of a lesson.")
@click.option("--ask", type=int, help="Number of an ask, and what was said after it.")
@click.option("--conversation", type=int, help="Number of a conversation.")
@click.option("--text", help="Erase everything that contains this text.")
@click.option(
    "--all", "everything", is_flag=True, help="The whole journal, and any text not sent yet."
)
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@click.option(
    "--keep-weights",
    is_flag=True,
    help="Erase from journal and book only; the model keeps what it learned.",
)
@click.option(
    "--leave-unknown", is_flag=True, help="Keep files in the home that vidya did not make."
)
@click.option(
    "--no-relearn",
    is_flag=True,
    help="Do not learn later lessons again now, but at the next start.",
)
@common
def forget(
    lesson: int | None,
    ask: int | None,
    conversation: int | None,
    text: str | None,
    everything: bool,
    yes: bool,
    keep_weights: bool,
    leave_unknown: bool,
    no_relearn: bool,
    options: Options,
) -> None:
    """Erases for good: from the journal, your book, the weights and their snapshots.

    What was said later in the same conversation contains what was said before. What you taught there stays,
    without what is erased; the rest is erased too, and everything that was said after an --ask. Without
    --yes the lessons are named first. The weights go back to those before the erased lessons; later lessons
    are then learned again. What you wrote into the book yourself stays, unless it contains the --text.
    """
    given = [v for v in (lesson, ask, conversation, text) if v is not None]
    if len(given) + everything != 1:
        raise click.UsageError("give one of --lesson, --ask, --conversation, --text or --all")
    if text is not None and not text.strip():
        raise VidyaError("--text is empty", "give the text to erase, or --all")
    # the journal has ? in its place, which many texts contain
    if text is not None and text != writable(text):
        raise VidyaError(
            "--text is not UTF-8 text", "give it as `vidya journal search` shows it, with ?"
        )
    home = options.home
    with home.lock(), home.learning():
        journal = Journal(home.journal_path)
        try:
            doomed = _doomed(home, journal, lesson, ask, conversation, text, everything)
            if not yes and not _sure(journal, doomed):
                raise VidyaError("nothing was erased", "add --yes to erase without a question")
            done = _forget(options, home, journal, doomed, text, keep_weights, leave_unknown)
            waiting = journal.waiting_count()
            if everything:
                Unsent(home).remove()
        finally:
            journal.close()
    relearned = 0
    if done["models"] and waiting and not no_relearn:
        say(counted(waiting, "later lesson is learned again", "later lessons are learned again"))
        relearned = _learn(options)
    if options.as_json:
        print_json({**done, "relearned": relearned, "waiting": waiting - relearned})
        return
    lines = f"{counted(done['book_lines'], 'line')} of your book" if done["book_lines"] else ""
    show(f"erased: {', '.join(filter(None, (_going(doomed), lines))) or 'nothing'}")
    if done["shortened"]:
        show(_staying(done["shortened"], "stayed", "stayed"))
    if keep_weights:
        show("the weights were kept: they may still say what they learned from it")
    for name in done["models"]:
        show(f"{name}: its weights went back to those before the erased lessons")
    for path in done["removed"]:
        show(f"removed, because it contained what you erased: {path}")
    for name, why in done["unvouched"].items():
        show(f"{name} may still know it: {why}; `vidya model remove {name}` removes it")
    for path in done["left"]:
        show(f"left in place, and may still contain it: {path}")
    if done["training_lost"]:
        show("book training since then is lost too; run `vidya train` to repeat it")
    if lost := done["practice_lost"]:
        numbers = ", ".join(map(str, lost))
        show(f"practice since then is lost too (lesson {numbers}); practise again to repeat it")


def _doomed(
    home: Home,
    journal: Journal,
    lesson: int | None,
    ask: int | None,
    conversation: int | None,
    text: str | None,
    everything: bool,
) -> ErasurePlan:
    try:
        return journal.to_forget(
            conversation=conversation, ask=ask, lesson=lesson, text=text, all=everything
        )
    except NotFound:
        if text and (OwnerBook(home.book_path).holds(text) or Unsent(home).holds(text)):
            return ErasurePlan((), ())  # only in the book, or in a message not sent yet
        finish(home, journal)  # an interrupted erasure may have removed it already
        raise


def _sure(journal: Journal, doomed: ErasurePlan) -> bool:
    """Names the lessons that are erased, and asks for a confirmation."""
    for number in doomed.lessons[:SHOWN]:
        say(f"lesson {number}: {named(journal.lesson(number))}")
    if (rest := len(doomed.lessons) - SHOWN) > 0:
        say(f"and {counted(rest, 'other lesson')}")
    if doomed.shortened_lessons:
        say(_staying(doomed.shortened_lessons, "stays", "stay"))
    return sure(f"Erase {_going(doomed) or 'nothing of the journal'}? This cannot be taken back.")


def _going(doomed: ErasurePlan) -> str:
    """What is erased from the journal, in words; empty for nothing."""
    counts = ((doomed.asks, "ask"), (doomed.lessons, "lesson"), (doomed.titles, "title"))
    return ", ".join(counted(len(rows), name) for rows, name in counts if rows)


def _staying(lessons: int, one: str, several: str) -> str:
    many = counted(lessons, f"other lesson {one}", f"other lessons {several}")
    return f"{many}, without what is erased"


def _forget(
    options: Options,
    home: Home,
    journal: Journal,
    doomed: ErasurePlan,
    text: str | None,
    keep_weights: bool,
    leave_unknown: bool,
) -> dict[str, Any]:
    from learning.models.store import ModelStore

    folders = []
    if not keep_weights:  # forget_everywhere adds the home's other models and takes this one last
        folders = [ModelStore(home).info(options.chosen_model).path]
    done = forget_everywhere(
        home,
        journal,
        doomed,
        folders,
        text=text,
        device=options.chosen_device,
        leave_unknown=leave_unknown or keep_weights,
    )
    return {
        "forgotten": done.records,
        "book_lines": done.book_lines,
        "models": list(done.models),
        "training_lost": done.training_lost,
        "practice_lost": list(done.practice_lost),
        "removed": [str(path) for path in done.removed],
        "unvouched": done.unvouched,
        "left": [str(path) for path in done.left],
        "shortened": done.shortened,
    }


def _learn(options: Options) -> int:
    """Learns all waiting lessons; returns their number."""
    learned = 0
    with local_teacher(options) as place:

        def count(event: Event) -> None:
            nonlocal learned
            learned += isinstance(event, LessonDone)

        place.learn(count)
    return learned
