"""The screens beside the chat for the line mode: what they show, as lines of plain text.

Only what can be read out is here; changing a lesson or an entry takes the screens.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

from learning.book_check import read_books, select
from learning.events import Checked, CompareBegan, CompareDone, ComparedText
from learning.history import conversations, listing
from learning.journal import Journal
from learning.journal_search import excerpt, read_query
from learning.progress import read_progress, summary
from learning.requests import Check, Compare
from learning.taught import taught, taught_ids
from personality.book import shipped_book_path
from vidya_tui import lesson_words as words
from vidya_tui.plain import one_line
from vidya_tui.revising import lesson_to_compare

LISTED = 20
"""Lines of a list; the rest is found by its words."""


def lessons(journal: Journal, search: str) -> Iterator[str]:
    """The newest lessons, or those with the words in them."""
    ids, now = taught_ids(journal, search), time.time()
    for one in taught(journal, ids[:LISTED]):
        head = f"lesson {one.lesson.id}, {words.when(one.created, now).strip()}"
        yield f"{head}, {words.state(one)}: {words.short(one.lesson)}"
    nothing = "nothing was found" if search else "nothing was taught yet"
    yield from _more(len(ids), "lessons", "/lessons WORDS finds them", nothing)


def check_of(journal: Journal, search: str, key: int) -> Check | None:
    """What to ask the model about the lessons that `lessons` lists."""
    listed = taught(journal, taught_ids(journal, search)[:LISTED])
    probes = tuple(one.probe for one in listed if words.due(one))
    return Check(key, probes) if probes else None


def known(event: Checked) -> str:
    """What came of it, in a sentence."""
    if event.trouble:
        return event.trouble
    return f"of these {sum(event.known)} of {len(event.known)} are known now"


def book(own: Path | None, search: str) -> Iterator[str]:
    """Entries with the words in them, the owner's first; what is wrong with the book."""
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
    """Conversations by number, to be reopened with /history #N."""
    wanted, now = listing(journal, search), time.time()
    pieces = read_query(search).words
    for talk in conversations(journal, wanted, wanted.ids[:LISTED]):
        found = f": {one_line(excerpt(talk.found, pieces, 80))}" if talk.found else ""
        when = words.when(talk.last, now).strip()
        title = one_line(talk.title, 80)
        yield f"#{talk.id}, {when}, {talk.turns} turns, {title}{found}"
    nothing = "nothing was found" if search else "there is none yet"
    yield from _more(len(wanted.ids), "conversations", "/history WORDS finds them", nothing)


def progress(journal: Journal) -> Iterator[str]:
    """Every measure in a sentence."""
    return map(summary, read_progress(journal))


def _more(count: int, what: str, how: str, nothing: str) -> Iterator[str]:
    if not count:
        yield nothing
    elif count > LISTED:
        yield f"{LISTED} of {count} {what}; {how}"


class Comparison:
    """Collects what earlier weights and those of now answer, to be read out at the end."""

    def __init__(self, journal: Journal, number: int | None, max_tokens: int) -> None:
        """number: of a lesson; None: the last one. Raises VidyaError where there is none."""
        lesson = lesson_to_compare(journal, number)
        self.request = Compare(
            time.monotonic_ns(), lesson.prompt, 2, lesson.id, max_tokens=max_tokens
        )
        self._lesson = lesson.id
        self._began: CompareBegan | None = None
        self._texts: dict[tuple[str, int], str] = {}

    def heard(self, event: CompareBegan | ComparedText | CompareDone) -> list[str]:
        """What to say of an event."""
        if event.key != self.request.key:
            return []
        if isinstance(event, CompareBegan):
            self._began = event
            return [f"asking lesson {self._lesson}'s message again, before and now"]
        if isinstance(event, ComparedText):
            place = event.side, event.index
            self._texts[place] = self._texts.get(place, "") + event.delta
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
