"""The options that every command takes, output helpers, and the teacher inside a shell command."""

from __future__ import annotations

import functools
import json
import math
import queue
import re
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import click

from engine.errors import VidyaError
from learning.home import Home
from learning.journal.journal import Journal
from learning.protocol.events import Event, Failed, LessonDone, UndoDone
from learning.protocol.messages import TeacherPort
from learning.protocol.model_events import FetchProgress
from learning.protocol.requests import Learn
from vidya_tui.cli import complete
from vidya_tui.cli.help import WholeNumber
from vidya_tui.options import Options
from vidya_tui.text.numbers import counted
from vidya_tui.text.sanitise import plain
from vidya_tui.worker.fetch import Reporter

Function = TypeVar("Function", bound=Callable[..., Any])
Found = TypeVar("Found", bound=Event)


_C1 = re.compile("[\x7f-\x9f]")
"""Control characters that JSON does not escape, although some terminals obey them."""
_SEEDS = WholeNumber(-(2**63), 2**63 - 1)
"""The range of integers that the journal can store."""


def _folder(context: click.Context, option: click.Parameter, name: str | None) -> Path | None:
    if name == "":  # probably an unset variable of a script; must not mean the current folder
        raise click.BadParameter("is empty; name a folder, or leave it out")
    return None if name is None else Path(name)


def common(function: Function) -> Function:
    """Adds the common options and passes them as `options`."""

    @click.option(
        "--home",
        type=click.Path(),
        callback=_folder,
        help="The home folder. Default: VIDYA_HOME, or the platform's data folder.",
    )
    @click.option(
        "--model",
        shell_complete=complete.models,
        help="Name or folder of a model. Default: the one chosen with `vidya model use`.",
    )
    @click.option("--device", help="cpu or cuda.")
    @click.option("--seed", type=_SEEDS, help="Random seed, for repeatable results.")
    @click.option("--json", "as_json", is_flag=True, help="Print one JSON object per line.")
    @click.option("--debug", is_flag=True, help="Show tracebacks.")
    @functools.wraps(function)
    def wrapper(
        *args: Any,
        home: Path | None,
        model: str | None,
        device: str | None,
        seed: int | None,
        as_json: bool,
        debug: bool,
        **kwargs: Any,
    ) -> Any:
        context = click.get_current_context()
        outer = context.find_object(Options) or Options()
        options = Options(
            home or outer.home_path,
            model or outer.model,
            device or outer.device,
            seed if seed is not None else outer.seed,
            as_json or outer.as_json,
            debug or outer.debug,
        )
        context.obj = options
        return function(*args, options=options, **kwargs)

    return wrapper  # type: ignore[return-value]


def print_json(value: dict[str, Any]) -> None:
    """Prints one JSON object on one line. NaN and infinity become null."""
    print_line(json.dumps(finite(value), ensure_ascii=False))


def print_line(text: str) -> None:
    """Prints a line of JSON in UTF-8, whatever the locale (RFC 8259, section 8.1)."""
    safe = _C1.sub(lambda found: f"\\u{ord(found[0]):04x}", text)  # means the same in JSON
    click.echo(safe.encode("utf-8", errors="backslashreplace"))  # a lone surrogate: \ud83d


def finite(value: Any) -> Any:
    """A value for JSON, which has no NaN and no infinity: they become null."""
    if isinstance(value, dict):
        return {key: finite(one) for key, one in value.items()}
    if isinstance(value, list):
        return [finite(one) for one in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def say(text: str) -> None:
    """Prints a message for people on stderr, without control characters. Results go to stdout."""
    click.echo(plain(text), err=True)


def show(text: str) -> None:
    """Prints a result for people on stdout, without control characters."""
    click.echo(plain(text))


@contextmanager
def download_progress(name: str, options: Options) -> Iterator[Reporter]:
    """Yields what hears how far the download and the preparation of a model are. With --json it prints
    progress objects, a few a second; otherwise it draws a bar on standard error, if that is a terminal."""

    def print_progress(now: FetchProgress) -> None:
        row = {"event": "progress", "bytes": now.done, "total": now.total, "prepared": now.prepared}
        print_json(row)

    if options.as_json:
        yield Reporter(name, print_progress)
        return
    if not sys.stderr.isatty():  # click would print an empty line
        yield Reporter(name, lambda now: None)
        return
    with click.progressbar(length=1, file=sys.stderr, show_pos=False, width=30) as bar:

        def draw(now: FetchProgress) -> None:
            bar.length = max(1, now.total)
            bar.update(now.done - bar.pos)

        yield Reporter(name, draw)


def sure(question: str) -> bool:
    """Asks on stderr for a confirmation. False if there is no input to read."""
    try:
        return click.confirm(question, err=True)
    except click.Abort as stop:
        if isinstance(stop.__context__, KeyboardInterrupt):
            raise
        click.echo(err=True)
        return False


def input_line(question: str) -> str | None:
    """Asks on stderr for a line. None if there is no input to read."""
    try:
        return str(
            click.prompt(question, default="", show_default=False, prompt_suffix="", err=True)
        ).strip()
    except click.Abort as stop:
        if isinstance(stop.__context__, KeyboardInterrupt):
            raise
        click.echo(err=True)
        return None


def learning_on(options: Options) -> bool:
    """Whether the owner's settings let the model learn."""
    from vidya_tui.settings.file import load

    return load(options.home.settings_path).learning


def lessons_wait(count: int, options: Options) -> str:
    """A message about lessons that are in the journal but not learned yet."""
    wait, them = counted(count, "lesson waits", "lessons wait"), "it" if count == 1 else "them"
    on = True
    with suppress(VidyaError):  # settings with a fault are reported by what reads them to learn
        on = learning_on(options)
    if not on:
        return (
            f"{wait}; learning is switched off: set `learning` to on in /settings to learn {them}"
        )
    return f"{wait}; the next `vidya` learns {them}"


@dataclass
class LocalTeacher:
    """A teacher in this process, its journal and the queue of its events."""

    home: Home
    journal: Journal
    events: queue.Queue[Event] = field(default_factory=queue.Queue)
    teacher: TeacherPort | None = None

    def next(self, on_event: Callable[[Event], None], until: type[Found]) -> Found:
        """Passes events to `on_event` until one of type `until`; returns that. Raises VidyaError for a
        Failed event, except that of an undo, which is only printed."""
        while True:
            event = self._get(on_event)
            if isinstance(event, Failed) and event.where == "undo":
                say(f"{event.what}; {event.next_step}")
            elif isinstance(event, Failed):
                raise VidyaError(event.what, event.next_step)
            if isinstance(event, until):
                return event

    def learn(self, on_event: Callable[[Event], None]) -> None:
        """Learns all waiting lessons, undoes withdrawn ones, and returns when both are done.

        Does nothing without a teacher. Raises VidyaError for a failure.
        """
        while self.teacher and (due := self._due()):
            self.teacher.send(Learn())
            while due:
                event = self._get(on_event)
                if isinstance(event, Failed):
                    raise VidyaError(event.what, event.next_step)
                if isinstance(event, LessonDone | UndoDone):
                    due.discard(event.lesson)

    def _get(self, on_event: Callable[[Event], None]) -> Event:
        event = self.events.get()
        on_event(event)
        if isinstance(event, UndoDone):
            say(event.what)
        return event

    def _due(self) -> set[int | None]:
        return {lesson.id for lesson in (*self.journal.waiting(), *self.journal.to_undo())}


def open_journal(options: Options) -> closing[Journal]:
    """The home's journal; `with` closes it. Raises JournalError."""
    return closing(Journal(options.home.journal_path))


@contextmanager
def local_teacher(options: Options, *, patient: bool = False) -> Iterator[LocalTeacher]:
    """Locks the home, opens its journal and starts the teacher; closes all of them at the end. patient: see
    `open_teacher`."""
    home, model, device = options.home, options.chosen_model, options.chosen_device
    with home.lock():
        from learning.teacher.teacher import open_teacher
        from vidya_tui.controller.preferences import weak_kinds
        from vidya_tui.settings.file import load

        journal = Journal(home.journal_path)
        place = LocalTeacher(home, journal)
        try:
            _mend_book(home, journal)
            place.teacher = open_teacher(
                home,
                model=model,
                device=device,
                seed=options.seed,
                on_event=place.events.put,
                journal=journal,
                weak=weak_kinds(load(home.settings_path)),
                patient=patient,
            )
            try:
                yield place
            finally:
                place.teacher.close()
        finally:
            journal.close()


def _mend_book(home: Home, journal: Journal) -> None:
    """Updates the book after a crash between journal and book. Only reports a book that cannot be written."""
    from engine.errors import DataError
    from learning.book.owner_book import OwnerBook
    from learning.book.repair import mend_book

    try:
        mend_book(OwnerBook(home.book_path), journal)
    except DataError as error:
        say(f"vidya: {error}")


@contextmanager
def interruptible(tell: Callable[[str], None]) -> Iterator[threading.Event]:
    """Yields an event that the first SIGINT or SIGTERM sets; the second one stops at once. A signal that was
    ignored stays ignored, as SIGINT is in what a shell starts in the background."""
    asked = threading.Event()

    def ask(number: int, _: object) -> None:
        signal.signal(number, signal.default_int_handler)
        asked.set()
        tell("\nsaving after this step; press again to stop at once")

    before = {
        number: signal.signal(number, ask)
        for number in (signal.SIGINT, signal.SIGTERM)
        if signal.getsignal(number) is not signal.SIG_IGN
    }
    try:
        yield asked
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
