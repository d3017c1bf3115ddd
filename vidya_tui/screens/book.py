"""The book screen: browses and searches both books, shows what the model knows, edits the owner's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import ClassVar, get_args

from textual.binding import Binding, BindingType
from textual.content import Content

from learning.book.check import BookLine, Show, read_books, select
from learning.protocol.requests import Probe
from personality.book import shipped_book_path
from vidya_tui.controller.context import ScreenContext
from vidya_tui.controller.drafts import About
from vidya_tui.screens.book_entry import EntryScreen, Typed
from vidya_tui.screens.list_screen import ListRoom
from vidya_tui.state import lessons as words
from vidya_tui.state.transcript import NAMES
from vidya_tui.text.numbers import counted
from vidya_tui.text.sanitise import one_line, plain

SHOWS: tuple[Show, ...] = get_args(Show)
"""The filters that `f` cycles through."""
SHOW_WORDS: dict[Show, str] = {
    "all": "",
    "own": "yours",
    "shipped": "Vidya's",
    "twice": "said twice",
    "contradictions": "contradictions",
    "bad": "cannot be read",
}
NONE: dict[Show, str] = {
    "twice": "Nothing is said twice.",
    "contradictions": "Nothing contradicts.",
    "bad": "All lines can be read.",
}
"""Shown in place of the rows if a filter finds none."""


class BookScreen(ListRoom[None, BookLine]):
    """`/book`. Each change is a lesson."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("a,insert", "add", "add", key_display="a"),
        Binding("e,enter", "edit", "edit", key_display="e"),
        Binding("d,delete", "remove", "remove", key_display="d"),
        Binding("f", "filter", "filter"),
    ]
    LETTERS = frozenset({"find", "add", "edit", "remove", "filter"})
    PLACEHOLDER = "find an entry by its words"
    EMPTY = "Nothing here. Press a to write an entry, or pick answers in the chat."

    def __init__(self, place: ScreenContext, search: str = "") -> None:
        super().__init__(place, search)
        self.shows: Show = "all"
        self._lines: list[BookLine] = []
        self._shown: list[BookLine] = []
        self._places: dict[tuple[bool, int], int] = {}
        """(owner's book, line number) -> key of the row: its index in the order of the files."""

    # ------------------------------------------------------------ what is shown

    def find_keys(self, search: str) -> Sequence[int]:
        lines = read_books(shipped_book_path(), self.place.home.book_path)
        if lines != self._lines:
            self._known.clear()
            self._asked.clear()
        self._lines = lines
        self._places = {(line.own, line.line): place for place, line in enumerate(lines)}
        shown = select(lines, search, self.shows)
        if self.shows in ("all", "own") and not search:
            shown = sorted(shown, key=lambda line: (not line.own, -line.line if line.own else 0))
        return [self._key(line) for line in shown]

    def fetch(self, keys: Sequence[int]) -> dict[int, BookLine]:
        return {key: self._lines[key] for key in keys if key < len(self._lines)}

    def empty(self) -> str:
        return NONE.get(self.shows, self.EMPTY)

    def parts(self) -> Sequence[str]:
        own = sum(line.own for line in self._lines)
        clash = sum(line.contradicted for line in self._lines)
        twice = sum(line.twice for line in self._lines)
        bad = sum(bool(line.problem) for line in self._lines)
        flags = [(clash, "contradict"), (twice, "said twice"), (bad, "cannot be read")]
        return (
            "book",
            SHOW_WORDS[self.shows] and f"only {SHOW_WORDS[self.shows]}",
            counted(len(self.rows.keys), "entry", "entries"),
            f"{own:,} yours",
            *(f"{count} {name}" for count, name in flags if count),
        )

    def line(self, row: BookLine, width: int) -> Content:
        key = self._key(row)
        mark = words.mark(self.known(key), row.probe is not None)
        whose = "yours " if row.own else "Vidya "
        flags = "".join(f"{flag} " for flag in self._flags(row))
        text = row.text if row.problem else f"{row.question} \u2192 {row.answer}"
        return Content.assemble(
            (f"{mark} ", "$success" if mark == "\u2713" else "$warning"),
            (whose, "$secondary" if row.own else "$foreground 60%"),
            (flags, "$warning"),
            (one_line(text), "dim" if row.replaced else ""),
        )

    def detail(self, row: BookLine) -> Content:
        whose = f"your book, line {row.line}" if row.own else "Vidya's book"
        known = words.known_words(self.known(self._key(row)), row.probe is not None)
        parts = [whose, *self._flags(row), *([] if row.problem else [known])]
        head = Content.styled(" \u00b7 ".join(parts), "$foreground 60%")
        if row.problem:
            return Content.assemble(
                head, "\n", (plain(row.problem), "$warning"), "\n", plain(row.text)
            )
        said = [
            Content.assemble((f"{NAMES[role]}:".ljust(7), "$foreground 60%"), plain(text))
            for role, text in row.turns
        ]
        return Content("\n").join([head, *said])

    @staticmethod
    def _flags(row: BookLine) -> list[str]:
        flags = [
            (row.problem, "cannot be read"),
            (row.contradicted, "contradicts"),
            (row.twice, "twice"),
            (row.replaced, "replaced"),
        ]
        return [name for flag, name in flags if flag]

    def probe(self, row: BookLine) -> Probe | None:
        return row.probe

    def _key(self, row: BookLine) -> int:
        return self._places[row.own, row.line]

    # ------------------------------------------------------------ keys

    def allows(self, action: str) -> bool:
        if action in ("edit", "remove"):
            row = self.rows.row if self.is_mounted else None
            return row is not None and (action == "edit" or row.own)
        return True

    def action_filter(self) -> None:
        self.shows = SHOWS[(SHOWS.index(self.shows) + 1) % len(SHOWS)]
        self.question.say("")
        self.reload()

    def action_open(self) -> None:
        self.action_edit()

    def action_add(self) -> None:
        def add(typed: Typed) -> str:
            return self.place.revising.add_entry(typed.question, typed.answer, self._lines)

        self._type("A new entry of your book", ("entry",), ("", ""), add, "a")

    def action_edit(self) -> None:
        if not (row := self.current()):
            return
        title = f"Line {row.line} of your book" if row.own else "Your own answer instead of Vidya's"
        before = " \u00b7 ".join(f"{role}: {text}" for role, text in row.turns[:-2])

        def edit(typed: Typed) -> str:
            return self.place.revising.edit_entry(row, typed.question, typed.answer)

        self._type(title, ("entry", row.own, row.text), row.begun, edit, "e", before)

    def _type(
        self,
        title: str,
        about: About,
        texts: tuple[str, str],
        work: Callable[[Typed], str],
        key: str,
        before: str = "",
    ) -> None:
        """Opens the two fields. Text that is not saved is kept as a draft for the next time."""

        def closed(typed: Typed | None) -> None:
            if typed is not None:
                said = (typed.question, typed.answer)
                save = partial(self._change, partial(work, typed), typed.question)
                self.typed(about, said, texts, save if typed.saved else None, key)

        question, answer = self.place.controller.drafts.get(about, *texts)
        self.app.push_screen(EntryScreen(title, question, answer, before), closed)

    def action_remove(self) -> None:
        if row := self.current():
            text = row.text if row.problem else f"{row.question} \u2192 {row.answer}"

            def remove() -> None:
                self._change(lambda: self.place.revising.remove_entry(row, self._lines))

            self.question.ask(f"Take {words.quote(text)} out of your book?", remove)

    def _change(self, work: Callable[[], str], question: str = "") -> bool:
        done = self.attempt(work)
        self.reload()
        if done and question:
            at = [key for key, line in enumerate(self._lines) if line.question == question]
            if at and at[-1] in self.rows.keys:
                self.rows.cursor = self.rows.keys.index(at[-1])
        return done
