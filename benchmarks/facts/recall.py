"""Measures `recall`: taught facts asked for in other words, with and without the lesson that is recalled.

Teaches facts of people.jsonl, then asks with the app's session and teacher, five answers each, of which the
surest counts; right is what holds the fact's key. Both ways have the same seed, so that an answer for which
nothing was recalled is the same to the letter and is generated once. Also: questions to
which nothing was taught, openings of talk.jsonl, seconds to the first token. VIDYA_PEOPLE_HALF: "tune"
(default) or "unseen", which is for final figures only. VIDYA_PEOPLE_FIRST, VIDYA_PEOPLE_FACTS: so many
facts are skipped, and so many taught. VIDYA_PEOPLE_PAUSE: seconds of a pause
after each lesson (0: none). Left out: the weights alone (people.py, collapse.py), and the fit of what is
recalled (recall_weighing.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from statistics import fmean, median
from typing import Any

from benchmarks import BenchOptions
from benchmarks.common.asked import count_asked, number_asked, one_asked
from benchmarks.common.place import Place
from benchmarks.common.report import machine, table, write
from benchmarks.common.scratch import scratch_home
from benchmarks.facts.people_data import HALVES, PersonFact, read_people
from benchmarks.talking.talk_data import load
from learning.memory.tasks import NOT_KNOWN
from learning.protocol.events import AskDone, CandidateDone
from learning.text.normalise import fold

FACTS, QUICK_FACTS = 20, 1
WORDINGS = 2
"""Rewordings, and paraphrases, of each fact that are asked."""
OPENINGS, QUICK_OPENINGS = 40, 2
TIMED = 20
"""Asks that are timed both ways."""
TITLE = "Taught facts with the recalled lesson in the context"
KINDS = {
    "taught": "in the taught words",
    "rewording": "in other words",
    "paraphrase": "without a shared content word",
    "hop": "one step further",
    "yes": "yes/no, the answer is yes",
    "no": "yes/no, the answer is no",
}
UNTAUGHT = {"neighbour": "about somebody else", "unknown": "on the same subject, never told"}


@dataclass(frozen=True)
class FactQuestion:
    """Something to ask about a fact."""

    kind: str
    prompt: str
    fact: PersonFact

    def right(self, answer: str) -> bool:
        if self.kind in ("hop", "yes", "no"):
            return {"hop": self.fact.hop, "yes": self.fact.yes, "no": self.fact.no}[
                self.kind
            ].right(answer)
        return self.fact.right(answer)


@dataclass(frozen=True)
class Heard:
    """The surest answer of an ask."""

    text: str
    certainty: float
    recalled: int | None
    seconds: float
    """To the first token."""
    texts: tuple[str, ...] = ()
    """Of all cards."""
    offered: bool = False
    """Whether one of them was put there by the program."""


def questions(facts: Sequence[PersonFact]) -> list[FactQuestion]:
    found = []
    for fact in facts:
        asked = [("taught", fact.prompt)]
        asked += [("rewording", text) for text in fact.rewordings[:WORDINGS]]
        asked += [("paraphrase", text) for text in fact.paraphrases[:WORDINGS]]
        asked += [("hop", fact.hop.prompt), ("yes", fact.yes.prompt), ("no", fact.no.prompt)]
        asked += [("neighbour", fact.neighbour), ("unknown", fact.unknown)]
        found += [FactQuestion(kind, text, fact) for kind, text in asked if text]
    return found


class RecallPlace(Place):
    """A home with a teacher that may recall."""

    def heard(
        self, question: str, recall: bool, offers: bool = False, count: int | None = None
    ) -> Heard:
        """count: of answers; None: five."""
        session = self._session()
        session.recall, session.offers = recall, offers
        session.candidates = count or session.candidates
        session.say(question)
        recalled = None
        while True:
            event = self._next()
            session.handle(event)
            if isinstance(event, CandidateDone):
                recalled = event.recalled
            if isinstance(event, AskDone):
                cards = session.cards
                return Heard(
                    cards[0].said,
                    cards[0].confidence or 0.0,
                    recalled,
                    event.seconds_to_first_token,
                    tuple(card.said for card in cards),
                    any(card.offered for card in cards),
                )


Measure = Callable[[RecallPlace, Sequence[PersonFact], BenchOptions], dict[str, Any]]


def run(options: BenchOptions) -> dict[str, Any]:
    """See `vidya bench`."""
    return measured("recall", TITLE, measure, parts, options)


def measured(
    name: str,
    title: str,
    measure: Measure,
    parts: Callable[[dict[str, Any]], list[str]],
    options: BenchOptions,
) -> dict[str, Any]:
    """Teaches the facts of the half that is asked for, measures, and writes what was found. name: of the
    benchmark. parts: the result's text and tables."""
    where, chosen = machine(), FactsAsked.read(options.quick)
    facts = chosen.of_turn(0)
    with taught_place(facts, options.seeds[0], chosen.pause, options) as (place, model):
        found = measure(place, facts, options)
    result = {"benchmark": name, "machine": where, "model": model, **asdict(chosen), **found}
    if options.out is not None:
        command = options.command(name, variables=FACTS_VARIABLES)
        write(options.out, name, title, command, parts(result), result)
    return result


FACTS_VARIABLES = [f"VIDYA_PEOPLE_{name}" for name in ("HALF", "FACTS", "FIRST", "PAUSE")]
"""The variables that FactsAsked reads."""


@dataclass(frozen=True)
class FactsAsked:
    """What the environment asks for."""

    half: str
    facts: int
    """Facts that are taught together."""
    first: int
    """Facts of the half that are skipped."""
    pause: float
    """Seconds of a pause after each lesson."""

    @classmethod
    def read(cls, quick: bool) -> FactsAsked:
        """From the environment. Raises NotFound for a half, DataError for no number."""
        count = count_asked("VIDYA_PEOPLE_FACTS", FACTS, least=1)
        return cls(
            one_asked("VIDYA_PEOPLE_HALF", HALVES),
            QUICK_FACTS if quick else count,
            count_asked("VIDYA_PEOPLE_FIRST", 0),
            number_asked("VIDYA_PEOPLE_PAUSE") or 0.0,
        )

    def of_turn(self, turn: int) -> list[PersonFact]:
        """The facts of a turn, the first of which is 0; each turn has others."""
        return read_people(self.half)[self.first + turn * self.facts :][: self.facts]


@contextmanager
def taught_place(
    facts: Sequence[PersonFact], seed: int, pause: float, options: BenchOptions
) -> Iterator[tuple[RecallPlace, str]]:
    """(a place where these facts were taught, with so many seconds of a pause after each; its model)."""
    with scratch_home(options) as (home, model):
        place = RecallPlace(home, model, seed)
        try:
            for fact in facts:
                place.teach([(fact.prompt, fact.answer)])
                place.rest(pause)
            options.say(f"seed {seed}: {len(facts)} facts taught")
            yield place, model
        finally:
            place.close()


def openings(options: BenchOptions) -> list[str]:
    """Messages that have nothing to do with a fact."""
    found = [q.turns[0][1] for q in load()][:: 200 // OPENINGS]
    return found[: QUICK_OPENINGS if options.quick else OPENINGS]


def measure(
    place: RecallPlace, facts: Sequence[PersonFact], options: BenchOptions
) -> dict[str, Any]:
    """Shares, 0 to 1, of each kind of question both ways; seconds; and each answer that recall changed."""
    place.heard("Hello.", True)  # the states of what is known are computed
    rows: list[tuple[FactQuestion, Heard, Heard]] = []
    for question in questions(facts):
        on = place.heard(question.prompt, True)
        off = on if on.recalled is None else place.heard(question.prompt, False)
        rows.append((question, off, on))
        if on != off:
            options.say(f"{question.kind}: {question.prompt} -> {off.text} | {on.text}")
    talk = [place.heard(text, True) for text in openings(options)]
    untold = [place.heard(text, True) for text in untold_yes_or_no(facts)]
    timed = [q.prompt for q, _, on in rows if on.recalled is not None][:TIMED]
    found: dict[str, Any] = {}
    for kind in (*KINDS, *UNTAUGHT):
        some = [row for row in rows if row[0].kind == kind]
        found[kind] = {
            "asked": len(some),
            "recalled": fmean(on.recalled is not None for _, _, on in some),
            "off": shares(kind, [(question, off) for question, off, _ in some]),
            "on": shares(kind, [(question, on) for question, _, on in some]),
        }
    return {
        "kinds": found,
        "talk": {
            "asked": len(talk),
            "recalled": fmean(one.recalled is not None for one in talk),
        },
        "untold": {
            "asked": len(untold),
            "recalled": fmean(one.recalled is not None for one in untold) if untold else 0.0,
        },
        "pairs": {
            "off": pairs([(question, off) for question, off, _ in rows]),
            "on": pairs([(question, on) for question, _, on in rows]),
        },
        "seconds": {
            "off": median(place.heard(text, False).seconds for text in timed) if timed else None,
            "on": median(place.heard(text, True).seconds for text in timed) if timed else None,
        },
        "changed": [
            [q.kind, q.prompt, off.text, on.text, round(on.certainty, 2)]
            for q, off, on in rows
            if off.text != on.text
        ],
    }


def untold_yes_or_no(facts: Sequence[PersonFact]) -> list[str]:
    """Questions for a yes or no about as many facts of the same half that were not taught."""
    rest = [fact for fact in read_people(facts[0].half) if fact not in facts][: len(facts)]
    return [one.prompt for fact in rest for one in (fact.yes, fact.no)]


def pairs(rows: Sequence[tuple[FactQuestion, Heard]]) -> float:
    """Share, 0 to 1, of the facts of which both questions for a yes or no got the right answer."""
    right: dict[str, list[bool]] = {}
    for question, heard in rows:
        if question.kind in ("yes", "no"):
            right.setdefault(question.fact.prompt, []).append(question.right(heard.text))
    return fmean(all(both) for both in right.values())


def shares(kind: str, rows: Sequence[tuple[FactQuestion, Heard]]) -> dict[str, float]:
    """Of what was taught: right. Of all: says that it does not know, and gives the fact's key."""
    unknown = fmean(fold(one.text) == fold(NOT_KNOWN) for _, one in rows)
    if kind in UNTAUGHT:
        return {"unknown": unknown, "leaks": fmean(q.fact.right(one.text) for q, one in rows)}
    return {"unknown": unknown, "right": fmean(q.right(one.text) for q, one in rows)}


def parts(result: dict[str, Any]) -> list[str]:
    """Text and tables of recall.md."""
    kinds, share = result["kinds"], lambda value: f"{100 * value:.0f}"
    known = [
        [
            words,
            kinds[kind]["asked"],
            share(kinds[kind]["recalled"]),
            share(kinds[kind]["off"]["right"]),
            share(kinds[kind]["on"]["right"]),
            share(kinds[kind]["off"]["unknown"]),
            share(kinds[kind]["on"]["unknown"]),
        ]
        for kind, words in KINDS.items()
    ]
    untaught = [
        [
            words,
            kinds[kind]["asked"],
            share(kinds[kind]["recalled"]),
            share(kinds[kind]["off"]["unknown"]),
            share(kinds[kind]["on"]["unknown"]),
            share(kinds[kind]["off"]["leaks"]),
            share(kinds[kind]["on"]["leaks"]),
        ]
        for kind, words in UNTAUGHT.items()
    ]
    seconds = result["seconds"]
    times = [f"{seconds[way]:.3f}" for way in ("off", "on")] if seconds["on"] else ["-", "-"]
    return [
        f"{result['model']}, {result['facts']} facts of the half {result['half']!r} of `data/people.jsonl`; "
        "the surest of five answers; right is what holds the key. In percent.",
        table(
            ("asked", "asks", "recalled", "right off", "right on", "not known off", "not known on"),
            known,
        ),
        "Questions to which nothing was taught:",
        table(
            (
                "asked",
                "asks",
                "recalled",
                "not known off",
                "not known on",
                "gives the fact off",
                "gives the fact on",
            ),
            untaught,
        ),
        f"Both of the yes/no pair right: {share(result['pairs']['off'])} % off, "
        f"{share(result['pairs']['on'])} % on. Of {result['untold']['asked']} questions for a yes or no "
        f"about facts that were not taught, {share(result['untold']['recalled'])} % had a lesson recalled.",
        f"Of {result['talk']['asked']} openings of `data/talk.jsonl`, {share(result['talk']['recalled'])} % "
        f"had a lesson recalled. Median seconds to the first token where a lesson was recalled: {times[0]} "
        f"without, {times[1]} with.",
    ]
