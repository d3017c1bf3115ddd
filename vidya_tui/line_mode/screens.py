"""The app's other screens as lines of plain text, for the line mode.

Left out: changing lessons and entries, which needs the screens.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

from learning.book.check import read_books, select
from learning.home import Home
from learning.journal.conversations import conversations, listing
from learning.journal.journal import Journal
from learning.journal.lesson_list import taught, taught_ids
from learning.journal.practices import kept_answers, listed_practices, practice_ids
from learning.journal.progress import read_progress, summary
from learning.journal.search import excerpt, read_query
from learning.models.store import ModelStore
from learning.protocol.compare_events import CompareBegan, CompareDone, ComparedText
from learning.protocol.events import Checked
from learning.protocol.requests import Check, Compare
from personality.book import shipped_book_path
from vidya_tui.controller.edits import lesson_to_compare
from vidya_tui.controller.fetching import FetchDesk
from vidya_tui.settings.file import Settings
from vidya_tui.settings.rows import groups
from vidya_tui.state import lessons as words
from vidya_tui.state import practice_runs
from vidya_tui.state.practice import sampled
from vidya_tui.state.samples import by_component, components, none_has
from vidya_tui.state.taste import TasteView, sections
from vidya_tui.state.training import TrainingLog
from vidya_tui.text.dates import when
from vidya_tui.text.numbers import counted
from vidya_tui.text.sanitise import one_line

LISTED = 20
"""Most rows of a list; a search finds the others."""


def lessons(journal: Journal, search: str) -> Iterator[str]:
    """The newest lessons, or those that match the search, with their states."""
    ids, now = taught_ids(journal, search), time.time()
    for one in taught(journal, ids[:LISTED]):
        head = f"lesson {one.lesson.id}, {when(one.created, now).strip()}"
        kind = words.LONG_KINDS[one.lesson.kind]
        more = "".join(f" ({x})" for x in (words.measured(one, now), words.led_to(one)) if x)
        yield f"{head}, {kind}, {words.state(one)}: {words.short(one.lesson)}{more}"
    nothing = "nothing was found" if search else "nothing was taught yet"
    yield from _more(len(ids), "lessons", "/lessons WORDS finds them", nothing)


def check_of(journal: Journal, search: str, key: int) -> Check | None:
    """A request to check whether the model knows the lessons that `lessons` lists; None if there are none."""
    listed = taught(journal, taught_ids(journal, search)[:LISTED])
    probes = tuple(one.probe for one in listed if words.due(one))
    return Check(key, probes) if probes else None


def known(event: Checked) -> str:
    """The result of the check in a sentence."""
    if event.trouble:
        return event.trouble
    return f"of these {sum(event.known)} of {len(event.known)} are known now"


def book(own: Path | None, search: str) -> Iterator[str]:
    """Entries of the books that match the search, the owner's first, with their faults."""
    lines = read_books(shipped_book_path(), own)
    found = sorted(select(lines, search), key=lambda line: not line.own)
    for line in found[:LISTED]:
        flags = "".join(
            f" ({name})"
            for flag, name in (
                (line.contradicted, "contradicts"),
                (line.twice, "twice"),
                (line.replaced, "replaced"),
                (line.problem, "cannot be read"),
            )
            if flag
        )
        whose = f"yours, line {line.line}" if line.own else "Vidya's"
        text = line.text if line.problem else f"{line.question} \u2192 {line.answer}"
        yield f"{whose}{flags}: {one_line(text)}"
    yield from _more(len(found), "entries", "/book WORDS finds them", "nothing was found")


def history(journal: Journal, search: str) -> Iterator[str]:
    """Conversations with their numbers, for /history #N."""
    wanted, now = listing(journal, search), time.time()
    pieces = read_query(search).words
    for talk in conversations(journal, wanted, wanted.ids[:LISTED]):
        found = f": {one_line(excerpt(talk.found, pieces, 80))}" if talk.found else ""
        at = when(talk.last, now).strip()
        title = one_line(talk.title, 80)
        yield f"#{talk.id}, {at}, {counted(talk.turns, 'turn')}, {title}{found}"
    nothing = "nothing was found" if search else "there is none yet"
    yield from _more(len(wanted.ids), "conversations", "/history WORDS finds them", nothing)


def progress(journal: Journal, model: str) -> Iterator[str]:
    """Each measure of a model in a sentence; "": of all models."""
    return map(summary, read_progress(journal, model or None))


def practice(journal: Journal, asked: practice_runs.RunsAsked) -> Iterator[str]:
    """The newest runs of practice, or those that match a search; of one run what came of it, and the newest
    answers or those with most of a component. Raises NotFound, ConfigError."""
    now = time.time()
    if asked.run is None:
        ids = practice_ids(journal, asked.words)
        for run in listed_practices(journal, ids[:LISTED]):
            yield practice_runs.line(run, now)
        nothing = "nothing was found" if asked.words else practice_runs.NONE_SAID
        yield from _more(len(ids), "runs", "/practice runs WORDS finds them", nothing)
        if ids:
            yield "/practice #RUN shows the answers that were kept of a run"
        return
    kept = kept_answers(journal, asked.run)
    found = by_component(kept.samples, asked.words)
    yield practice_runs.shown(kept, now)
    for sample in found[:LISTED]:
        yield f"step {sample.step}: {sampled(sample)}"
    if asked.words and not found:
        yield none_has(asked.words)
    if len(found) > LISTED:
        how = "" if practice_runs.left_out(kept) else f"; {practice_runs.shell_hint(kept)}"
        yield f"{LISTED} of {counted(len(found), 'answer')}{how}"
    if names := components(kept.samples):
        yield practice_runs.by_hint(kept, names)


def taste(view: TasteView) -> Iterator[str]:
    """Each heading, then its sentences."""
    for heading, lines in sections(view):
        yield f"{heading}:"
        yield from lines


def settings(now: Settings, path: Path) -> Iterator[str]:
    """Each setting: label, value, and its line in settings.toml."""
    for row in (row for group in groups(()) for row in group.rows):
        value = getattr(now, row.key)
        line = ", not set" if value is None else f" = {json.dumps(value, ensure_ascii=False)}"
        yield f"{row.label}: {row.shown(now)}. {row.key}{line}"
    yield f"to change one, write such a line into {path}; it counts from the next start"


def models(home: Home, used: str, fetches: FetchDesk) -> Iterator[str]:
    """The models, those that can be fetched, and the snapshots of the one in use."""
    store = ModelStore(home)
    mine = None
    found, broken = store.readable()
    for info in found:
        use = ", in use" if info.is_called(used) else ""
        state = "comes with vidya" if info.shipped else f"version {info.version}"
        yield f"{info.name}{use}: {info.parameters / 1e6:.1f}M weights, {state}"
        mine = info if use else mine
    yield from map(str, broken.values())
    if mine and not mine.shipped and (shots := store.snapshots(used)):
        versions = ", ".join(str(shot.version) for shot in reversed(shots))
        yield f"earlier weights of {mine.name}: version {versions}"
    for known in fetches.missing():
        yield f"{known.name} can be fetched, {fetches.facts(known)}: /get {known.name}"
    yield "in the shell, `vidya model use NAME` changes to another, `vidya model rollback N` goes back"


def curve(log: TrainingLog) -> Iterator[str]:
    """State and figures of the current or last book training."""
    if log.result is None and not log.failure and not log.running:
        yield "nothing was trained since the start; /train trains the whole book"
        return
    yield log.state()
    facts = [*log.facts(), *([("book recall", log.recall())] if log.recall() else [])]
    if facts:
        yield ", ".join(f"{name} {value}" for name, value in facts)


def _more(count: int, what: str, how: str, nothing: str) -> Iterator[str]:
    if not count:
        yield nothing
    elif count > LISTED:
        yield f"{LISTED} of {count} {what}; {how}"


class Comparison:
    """Collects the answers of earlier and present weights, to print them at the end."""

    def __init__(self, journal: Journal, number: int | None, max_tokens: int) -> None:
        """number: id of a lesson; None: the last one. Raises VidyaError if there is none."""
        lesson = lesson_to_compare(journal, number)
        self.request = Compare(
            time.monotonic_ns(), lesson.prompt, 2, lesson.id, max_tokens=max_tokens
        )
        self._lesson = lesson.id
        self._began: CompareBegan | None = None
        self._texts: dict[tuple[str, int], str] = {}

    def heard(self, event: CompareBegan | ComparedText | CompareDone) -> list[str]:
        """The lines to print for an event."""
        if event.key != self.request.key:
            return []
        if isinstance(event, CompareBegan):
            self._began = event
            return [f"asking lesson {self._lesson}'s message again, before and now"]
        if isinstance(event, ComparedText):
            for delta in event.deltas:
                place = event.side, delta.index
                self._texts[place] = self._texts.get(place, "") + delta.text
            return []
        if event.trouble:
            return [f"{event.trouble}; {event.next_step}" if event.next_step else event.trouble]
        began = self._began
        if began is None:
            return []
        before = f"version {began.before}" if began.before else "as the model came"
        names = {"before": f"before ({before})", "after": f"now (version {began.after})"}
        return [
            f"{names[side]}, {kind}: {self._texts.get((side, index), '').strip() or 'nothing'}"
            for index, kind in ((1, "likeliest"), (2, "drawn"))
            for side in ("before", "after")
        ]
