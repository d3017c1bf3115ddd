"""`vidya journal`: what was said and taught."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from engine.errors import VidyaError
from learning.home import write_atomically
from learning.journal import Journal
from vidya_tui.cli_common import Options, common, print_json, say
from vidya_tui.plain import plain


@click.group("journal")
def journal_group() -> None:
    """What was said and taught."""


@contextmanager
def _journal(options: Options) -> Iterator[Journal]:
    journal = Journal(options.home.journal_path)
    try:
        yield journal
    finally:
        journal.close()


@journal_group.command()
@click.option("--limit", type=click.IntRange(1), default=20, show_default=True)
@common
def show(limit: int, options: Options) -> None:
    """The last lessons and what became of them."""
    with _journal(options) as journal:
        for lesson in journal.lessons()[-limit:]:
            prompt = lesson.prompt[-1].text if lesson.prompt else ""
            row = {
                "lesson": lesson.id,
                "kind": lesson.kind,
                "state": lesson.state,
                "prompt": prompt,
                "answer": lesson.answer,
                "rejected": list(lesson.rejected),
            }
            if options.as_json:
                print_json(row)
            else:
                said = f"{plain(prompt)} -> {plain(lesson.answer)}"
                click.echo(f"{lesson.id:5d} {lesson.kind:12s} {lesson.state:14s} {said}")


@journal_group.command()
@click.argument("text")
@common
def search(text: str, options: Options) -> None:
    """Finds TEXT in all that was said."""
    with _journal(options) as journal:
        for hit in journal.search(text):
            row = {k: getattr(hit, k) for k in hit.__dataclass_fields__}
            if options.as_json:
                print_json(row)
            else:
                click.echo("  ".join(plain(str(value)) for value in row.values()))


@journal_group.command()
@click.option(
    "--format", "form", type=click.Choice(["jsonl", "trl"]), default="jsonl", show_default=True
)
@click.option("--out", type=click.Path(path_type=Path), help="A file; standard output if left out.")
@common
def export(form: str, out: Path | None, options: Options) -> None:
    """Writes everything, or prompt/chosen/rejected rows (trl)."""
    with _journal(options) as journal:
        rows = journal.export_trl() if form == "trl" else journal.export_rows()
        lines = [json.dumps(row, ensure_ascii=False) for row in rows]
    if out is None:
        for line in lines:
            click.echo(line)
        return
    try:
        write_atomically(out, "".join(line + "\n" for line in lines))
    except OSError as error:
        raise VidyaError(f"{out}: cannot be written ({error})", "choose another file") from error
    say(f"{len(lines)} rows written to {out}")


@journal_group.command()
@click.option("--lesson", type=int)
@click.option("--ask", "ask_id", type=int)
@click.option("--conversation", type=int)
@click.option("--text", help="Everything that contains it.")
@click.option("--all", "everything", is_flag=True)
@click.option("--yes", is_flag=True, help="Do not ask.")
@common
def forget(
    lesson: int | None,
    ask_id: int | None,
    conversation: int | None,
    text: str | None,
    everything: bool,
    yes: bool,
    options: Options,
) -> None:
    """Really erases from the journal. The weights and the book are not touched: undo first."""
    given = [v for v in (lesson, ask_id, conversation, text) if v is not None]
    if len(given) + everything != 1:
        raise click.UsageError("give one of --lesson, --ask, --conversation, --text or --all")
    home = options.home
    with home.lock(), _journal(options) as journal:
        if not yes:
            click.confirm("This cannot be taken back. Erase?", abort=True, err=True)
        count = journal.forget(
            conversation=conversation, ask=ask_id, lesson=lesson, text=text, all=everything
        )
    if options.as_json:
        print_json({"forgotten": count})
    else:
        click.echo(f"{count} asks and lessons are erased")
