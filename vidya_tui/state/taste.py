"""What is known about the owner's taste, as sections of plain sentences: for /taste, the line mode and the
shell.

Reads the report in the head of the reward model's file and the journal; loads no model. Left out: training
(learning.rewards.reward_keeper).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.errors import CheckpointError, NotFound
from learning.journal.journal import Journal
from learning.rewards.reward_data import Preferences, preferences
from learning.rewards.reward_report import FEWEST, Look, Rated, TasteReport, read_report
from vidya_tui.text.numbers import counted, percent
from vidya_tui.text.sanitise import one_line

LONGEST = 200
"""Characters of an answer in a list."""


@dataclass(frozen=True)
class TasteView:
    """The taste of one model, with the answers that it names."""

    found: Preferences
    """What there is to learn from."""
    report: TasteReport | None
    """Of the last training; None if there was none."""
    trouble: str = ""
    """Why the report cannot be read."""
    best: tuple[tuple[float, str, str], ...] = ()
    """(score, message, answer), the best liked first."""
    least: tuple[tuple[float, str, str], ...] = ()

    @property
    def new(self) -> int:
        """Number of judgements that came since the last training."""
        mine = self.report.judgements if self.report else ()
        return len(self.found.judgements.difference(mine))

    @property
    def why_not(self) -> str:
        """Why the taste is not used; "" if it is."""
        if self.report is None:
            return self.trouble or _nothing_yet(self.found)
        if self.report.stale(self.found.judgements):
            return "it learned from something that you took back since; it will be trained anew"
        return self.report.why_not


def read_taste(folder: Path, journal: Journal) -> TasteView:
    """Reads what is known. folder: of the model. Raises JournalError."""
    found = preferences(journal)
    try:
        report = read_report(folder)
    except CheckpointError as error:
        return TasteView(found, None, str(error))
    if report is None:
        return TasteView(found, None)
    best, least = (tuple(_texts(journal, some)) for some in (report.best, report.least))
    return TasteView(found, report, "", best, least)


def _texts(journal: Journal, rated: Sequence[Rated]) -> Iterator[tuple[float, str, str]]:
    """Looks up the texts in the journal; one that was forgotten is left out."""
    for one in rated:
        try:
            message = journal.ask(one.ask).turns[-1].text
        except NotFound:
            continue
        for candidate in journal.candidates(one.ask):
            if candidate.index == one.number:
                yield one.score, message, candidate.text


def sections(view: TasteView) -> list[tuple[str, list[str]]]:
    """(heading, sentences) to show, from top to bottom."""
    report = view.report
    out = [("what it has seen", list(_seen(view)))]
    if report is None:
        return [*out, ("is it used", [f"not yet: {view.why_not}"])]
    out.append(("how well it foretells you", list(_foretells(report))))
    out.append(("is it used", [f"no: {view.why_not}" if view.why_not else "yes"]))
    out.append(("reading order", [_order(report)]))
    if not view.why_not:
        out.append(("what it looks for", [look_words(one) for one in report.looks] or [_NOTHING]))
        last = f"of the last {counted(report.looked_at, 'answer')}"
        out.append((f"best liked {last}", [_rated(*one) for one in view.best]))
        out.append((f"least liked {last}", [_rated(*one) for one in view.least]))
    return out


_NOTHING = "nothing that could be measured: five answers must have a property"


def _seen(view: TasteView) -> Iterator[str]:
    found = view.found
    yield (
        f"you preferred an answer {counted(len(found.choices), 'time')} and rated "
        f"{counted(len(found.opinions), 'answer')}"
    )
    if found.alone:
        yield (
            f"{counted(found.alone, 'pick')} cannot be used: the other answers were not kept "
            "(/settings, keep answers not chosen)"
        )
    report = view.report
    if report is not None:
        yield (
            f"it was trained on {report.trained_on} of these and measured on "
            f"{counted(report.held_out, 'other')}, "
            f"in {report.seconds:.0f} s; it has {report.weights / 1e6:.1f}M weights"
        )
        if view.new:
            yield f"{counted(view.new, 'judgement')} came since; pauses train it again"


def _foretells(report: TasteReport) -> Iterator[str]:
    yield (
        f"picks it had not seen: {percent(report.picks_right)} foretold (guessing "
        f"{percent(report.chance)}; about {percent(report.ceiling)} would be the most, if its own odds "
        "are right)"
    )
    error = f" \u00b1 {percent(report.pairs_error)}" if report.pairs_error is not None else ""
    yield f"pairs of answers: {percent(report.pairs_right)}{error} ordered as you did (guessing 50 %)"
    if report.no_more_than_length:
        yield length_warning(report)
    yield f"its odds are off by {percent(report.calibration_error)} on average"


def length_warning(report: TasteReport) -> str:
    """That the taste may be nothing but a length."""
    return (
        f"the length of answers alone orders {percent(report.length_right)}: it may have learned the length "
        "and nothing else"
    )


def _order(report: TasteReport) -> str:
    share = f"{percent(report.first)} of your picks stood first on the screen"
    if report.read_in_order:
        return f"{share}: so many that reading order would pass for taste; it was taken out"
    return f"{share} (guessing {percent(report.chance)}): it is not being learned"


def look_words(one: Look) -> str:
    """A property of answers in a line."""
    way = "liked" if one.change > 0 else "disliked"
    if not one.sure:
        way = "hardly matters"
    how = f"{one.change:+.2f} \u00b1 {one.error:.2f}"
    return f"{one.what}: {way} ({how} standard deviations, {counted(one.count, 'answer')})"


def _rated(score: float, message: str, answer: str) -> str:
    return f"{score:+.1f}  {one_line(message, 60)} \u2192 {one_line(answer, LONGEST)}"


def _nothing_yet(found: Preferences) -> str:
    count = len(found.choices)
    if count < FEWEST:
        return f"it needs {FEWEST} picks and has {count}"
    return "the next pause trains it"
