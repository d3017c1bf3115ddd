"""`vidya journal`: shows, searches, exports and imports what was said and taught."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from engine.errors import DataError, VidyaError
from learning.data.json_lines import parse
from learning.journal.journal import Journal
from learning.journal.lesson_list import taught
from learning.journal.search import read_query
from learning.protocol.records import Understanding
from vidya_tui.cli.common import common, lessons_wait, open_journal, print_json, print_line, say
from vidya_tui.cli.forget import forget
from vidya_tui.cli.help import Group
from vidya_tui.cli.progress import progress
from vidya_tui.cli.stdin import read_file
from vidya_tui.controller.export import check_free, write_export
from vidya_tui.options import Options
from vidya_tui.state.learner import understanding_words
from vidya_tui.state.lessons import avoided
from vidya_tui.text.dates import when
from vidya_tui.text.numbers import counted
from vidya_tui.text.sanitise import one_line

LONGEST = 300
"""Characters of a message or answer in a row of `show`; with --json it is whole."""


@click.group("journal", cls=Group)
def journal_group() -> None:
    """Shows, searches, copies and erases what was said and taught."""


journal_group.add_command(forget)
journal_group.add_command(progress)


@journal_group.command()
@click.option(
    "--limit", type=click.IntRange(1), default=20, show_default=True, help="Most rows to show."
)
@click.option("--asks", is_flag=True, help="Show messages and their answers instead of lessons.")
@common
def show(limit: int, asks: bool, options: Options) -> None:
    """Shows the last lessons and their states, or (--asks) the last messages and answers."""
    with open_journal(options) as journal:
        rows = list(_said(journal) if asks else _lessons(journal, limit))[-limit:]
        if not rows:
            say("nothing was said yet" if asks else "nothing was taught yet")
        for row in rows:
            if options.as_json:
                print_json(row)
            elif asks:
                answer = "-" if row["answer"] is None else row["answer"]
                click.echo(
                    f"{row['ask']:5d} {one_line(row['message'], LONGEST)} -> {one_line(answer, LONGEST)}"
                )
            else:
                words = f"{one_line(row['prompt'], LONGEST)} -> {one_line(row['answer'], LONGEST)}"
                wrong = "" if row["answer"] else next(iter(row["rejected"]), "")
                if wrong := row.get("blamed", wrong):
                    words += f"(not: {one_line(wrong, LONGEST)})"
                if "reason" in row:
                    words += f" (reason: {one_line(row['reason'], LONGEST)})"
                if "measured" in row:
                    names = vars(Understanding())
                    found = Understanding(**{name: row.get(name, 0) for name in names})
                    well = understanding_words(found, none_too=True)
                    words += f" ({well}, measured {when(row['measured'], time.time()).strip()})"
                state = "replaced" if "replaced_by" in row else row["state"]
                click.echo(f"{row['lesson']:5d} {row['kind']:12s} {state:14s} {words}")


def _lessons(journal: Journal, limit: int) -> Iterator[dict[str, Any]]:
    reasons, numbers = journal.reasons_given(), [lesson.id for lesson in journal.lessons()]
    for one in taught(journal, numbers[-limit:]):
        lesson, found, when = one.lesson, one.understanding, one.measured
        reason = reasons.get(lesson.judgement or 0)
        yield {
            "lesson": lesson.id,
            "kind": lesson.kind,
            "state": lesson.state,
            "prompt": lesson.prompt[-1].text if lesson.prompt else "",
            "answer": lesson.answer,
            "rejected": list(lesson.rejected),
            **({"reason": reason} if reason else {}),
            **({"blamed": avoided(lesson)} if lesson.blame and lesson.rejected else {}),
            **({"replaced_by": one.replaced_by} if one.replaced_by else {}),
            **found.figures,
            **({"measured": when} if when is not None else {}),
        }


def _said(journal: Journal) -> Iterator[dict[str, Any]]:
    talks = reversed(journal.conversations(limit=1_000_000))
    rows = [(talk.id, *pair) for talk in talks for pair in journal.conversation(talk.id)]
    for talk, ask, answer in sorted(rows, key=lambda row: row[1].id):
        yield {
            "ask": ask.id,
            "conversation": talk,
            "message": ask.turns[-1].text,
            "answer": answer,
            "candidates": [candidate.text for candidate in journal.candidates(ask.id)],
        }


@journal_group.command()
@click.argument("text", help="Words, or beginnings of words.")
@common
def search(text: str, options: Options) -> None:
    """Finds TEXT in all conversations, and in lessons that came from a file or from the book, newest first.
    Words match by their beginning; "words in quotes" must stand side by side."""
    if not read_query(text).words:
        raise VidyaError("there is no word to look for", "give words: vidya journal search hello")
    with open_journal(options) as journal:
        hits = journal.search(text)
        if not hits:
            say(f"nothing was said or taught with {text!r} in it")
        for hit in hits:
            row = {k: getattr(hit, k) for k in hit.__dataclass_fields__}
            if options.as_json:
                print_json(row)
            else:
                talk = f"conversation {hit.conversation}, ask {hit.ask}, {hit.place}"
                where = talk if hit.lesson is None else f"lesson {hit.lesson}"
                click.echo(f"{where}: {one_line(hit.text)}")


@journal_group.command()
@click.option(
    "--format",
    "form",
    type=click.Choice(["jsonl", "trl"]),
    default="jsonl",
    show_default=True,
    help="jsonl: everything; trl: preferences for other programs.",
)
@click.option("--out", type=click.Path(), help="A file. Default, and -: standard output.")
@click.option("--force", is_flag=True, help="Overwrite an existing file.")
@common
def export(form: str, out: str | None, force: bool, options: Options) -> None:
    """Writes the whole journal (jsonl, for `import`), or prompt/chosen/rejected rows (trl)."""
    target = None if out in (None, "-") else Path(out)
    check_free(target, force=force)
    with open_journal(options) as journal:
        rows = journal.export_trl() if form == "trl" else journal.export_rows()
        lines = [json.dumps(row, ensure_ascii=False) for row in rows]
    if form == "trl" and not lines:
        say("there are no preferences yet: pick an answer, or correct one")
    if target is None:
        for line in lines:
            print_line(line)
        return
    write_export(target, "".join(line + "\n" for line in lines))
    say(f"{counted(len(lines), 'row')} written to {out}")


@journal_group.command("import")
@click.argument("file", type=click.Path(), help="A file from `journal export`; `-` is stdin.")
@common
def import_journal(file: str, options: Options) -> None:
    """Adds what is new in FILE, written by `journal export`: conversations and lessons, and what was said,
    judged or undone since then in those that exist here."""
    rows, name = _rows(file)
    home = options.home
    with home.lock(), open_journal(options) as journal:
        added, waiting = journal.import_rows(rows, f"{name}:"), journal.waiting_count()
    if options.as_json:
        print_json({"added": added, "waiting": waiting})
        return
    what = counted(added, "conversation or lesson", "conversations and lessons")
    click.echo(f"{what} added or brought up to date")
    if waiting:
        say(lessons_wait(waiting, options))


def _rows(file: str) -> tuple[list[dict[str, Any]], str]:
    """The rows of an export, each with its line number, and the file's name. Raises DataError with file and
    line."""
    advice = "give a file that `vidya journal export` wrote; nothing was added"
    data, name = read_file(file, advice)
    rows = []
    for number, row in parse(data, name, advice):
        if "prompt" in row and "chosen" in row and "table" not in row:
            raise DataError(
                f"{name}:{number}: is of the trl format, which has only the preferences",
                "`vidya teach --file` learns it; import takes what `vidya journal export` wrote",
            )
        if "table" not in row:
            raise DataError(
                f"{name}:{number}: is no row of a journal's export, which names its table",
                "`vidya teach --file` learns a file of lessons; import takes what `vidya journal export` "
                "wrote; nothing was added",
            )
        rows.append(row | {"line": number})
    return rows, name
