"""Erases parts of the journal so that they cannot be recovered from its files.

Deletes the rows with all rows that depend on them, overwrites free pages, rebuilds the file, empties its log,
and removes the backups that migrations made. Left out: weights and book; the caller removes the lessons
from them first (learning.lessons.forget).
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

from engine.errors import JournalError, NotFound
from learning.journal.database import Row, Store
from learning.journal.migrations import backups
from learning.journal.search import rebuild_index
from learning.text.normalise import fold_spaces


@dataclass(frozen=True)
class ErasurePlan:
    """The ids of the rows to erase."""

    asks: tuple[int, ...]
    """Asks to delete, with their candidates, judgements, answers and lessons."""
    lessons: tuple[int, ...]
    """All lessons to delete, including those of the asks."""
    judgements: tuple[int, ...] = ()
    """Judgements to delete whose asks stay."""
    titles: tuple[int, ...] = ()
    """Conversations that stay and lose their title."""
    practices: tuple[int, ...] = ()
    """Runs of practice to delete, with the answers that were kept of them."""
    candidates: tuple[int, ...] = ()
    """Candidates to delete whose asks stay."""
    answers: tuple[int, ...] = ()
    """Unjudged answers to delete whose asks stay."""


def plan_erasure(
    store: Store,
    *,
    conversation: int | None = None,
    ask: int | None = None,
    lesson: int | None = None,
    text: str | None = None,
    all: bool = False,
) -> ErasurePlan:
    """The rows to erase for one of the arguments, with all rows that quote them.

    conversation: everything in it. ask: the ask, and all later asks that have it in their history. lesson:
    the lesson and its judgement; later asks that have its answer in their history or were asked again for
    its reason; candidates that give its answer; where one of these was an offer, also the answer that was
    left standing, its weak lesson, and the asks after it. What another judgement is about stays. text: every
    ask, lesson and title that contains the text, ignoring case and kinds of white space. all: everything.
    Raises NotFound if nothing matches, and JournalError unless exactly one argument is given.
    """
    given = [conversation is not None, ask is not None, lesson is not None, text is not None, all]
    wanted = fold_spaces(text or "")
    if sum(given) != 1 or (text is not None and not wanted):
        raise JournalError(
            "forget: name one thing", "a conversation, an ask, a lesson, a text, or all"
        )
    judgements: set[int] = set()
    lessons: set[int] = set()
    titles: set[int] = set()
    practices: set[int] = set()
    candidates: set[int] = set()
    answers: set[int] = set()
    if all:
        practices = _numbers(store, "SELECT id FROM practices")
        asks = _numbers(store, "SELECT id FROM asks")
        lessons = _numbers(store, "SELECT id FROM lessons")
    elif conversation is not None:
        _must_exist(store, "conversation", conversation)
        asks = _numbers(store, "SELECT id FROM asks WHERE conversation = ?", conversation)
    elif ask is not None:
        _must_exist(store, "ask", ask)
        asks = _quoting(store, ask)
    elif lesson is not None:
        _must_exist(store, "lesson", lesson)
        lessons = {lesson}
        asks = set()
        row = store.row("SELECT ask, judgement, answer FROM lessons WHERE id = ?", lesson)
        if row and row[1] is not None:
            judgements = {row[1]}
            lessons |= _numbers(store, "SELECT id FROM lessons WHERE judgement = ?", row[1])
            asks |= _numbers(store, _ASKED_AGAIN, row[1])
        if row and row[0] is not None and row[2]:
            asks |= _quoting(store, row[0], row[2])
        if row and row[2]:
            copied = (row[2].strip(), row[1], row[0])
            candidates = _numbers(store, _CANDIDATES, *copied[:2])
            answers = _numbers(store, _ANSWERS, *copied)
            lessons |= _numbers(store, _WEAK, *copied)
            for (number,) in _chosen(store, "candidates", "DISTINCT ask", candidates, "offered"):
                asks |= _quoting(store, number, row[2])
    else:
        practices = _numbers(
            store,
            """SELECT practice FROM practice_samples WHERE contains(problem, ?1) OR contains(text, ?1)
            UNION SELECT id FROM practices WHERE contains(record, ?1) OR contains(outcome, ?1)""",
            wanted,
        )
        asks, lessons, titles = _containing(store, wanted)
        if not asks and not lessons and not titles and not practices:
            raise NotFound("forget: the text is nowhere in the journal", "check it with a search")
    for number in asks:
        lessons |= _numbers(store, "SELECT id FROM lessons WHERE ask = ?", number)
        practices |= _numbers(store, _PRACTISED, number)
    lessons |= _carried_over(store, asks)
    return ErasurePlan(
        *(
            tuple(sorted(some))
            for some in (asks, lessons, judgements, titles, practices, candidates, answers)
        )
    )


def erase(store: Store, doomed: ErasurePlan) -> int:
    """Deletes the rows and overwrites their contents, also where other lessons quote them (`unquoted`).
    Returns the number of asks, lessons and titles.

    The backups are removed first: after a crash in between, the rows can still be found in the journal and
    erased again. Raises JournalError if a backup cannot be removed, or if another program's open
    transaction kept the log from being emptied; in the second case the rows are deleted but traces remain in
    the log, and calling this again removes them.
    """
    for copy in backups(store.path):
        try:
            copy.unlink()
        except OSError as error:
            raise JournalError(
                f"{copy}: this older copy cannot be removed ({error.strerror})",
                "remove it by hand: it still holds what you wanted forgotten",
            ) from error
    with store.writing() as connection:
        connection.executemany(
            "UPDATE lessons SET replaces = ?, rejected = ? WHERE id = ?",
            [
                (replaces, json.dumps(rejected, ensure_ascii=False), number)
                for number, (replaces, rejected) in unquoted(store, doomed).items()
            ],
        )
        for table, numbers in (
            ("asks", doomed.asks),
            ("judgements", doomed.judgements),
            ("lessons", doomed.lessons),
            ("practices", doomed.practices),
            ("candidates", doomed.candidates),
            ("answers", doomed.answers),
        ):
            connection.executemany(
                f"DELETE FROM {table} WHERE id = ?", [(number,) for number in numbers]
            )
        connection.executemany(
            "UPDATE conversations SET title = NULL WHERE id = ?", [(n,) for n in doomed.titles]
        )
        connection.execute(
            "DELETE FROM conversations WHERE id NOT IN (SELECT conversation FROM asks)"
        )
        rebuild_index(connection)
    with store.reading() as connection:
        connection.execute("VACUUM")
        busy = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
    if busy:
        raise JournalError(
            f"{store.path}: forgotten, but another program keeps traces in the journal's log",
            "close it and forget once more, then they are gone too",
        )
    return len(doomed.asks) + len(doomed.lessons) + len(doomed.titles)


def unquoted(store: Store, doomed: ErasurePlan) -> dict[int, tuple[str | None, list[str]]]:
    """Lessons that stay and quote what goes: by id, `replaces` and `rejected` without that.

    A lesson quotes the erased answer that it replaced, and the erased candidates that it was preferred to.
    """
    numbers = set(doomed.lessons)
    shown: dict[int | None, set[str]] = {}
    for table, rows in (("candidates", doomed.candidates), ("answers", doomed.answers)):
        for ask, text in _chosen(store, table, "ask, text", rows):
            shown.setdefault(ask, set()).add(fold_spaces(text))
    gone, said, others = set[tuple[str, str]](), set[tuple[str, str]](), []
    for number, ask, prompt, answer, rejected, replaces in store.rows(
        "SELECT id, ask, prompt, answer, rejected, replaces FROM lessons"
    ):
        question = " ".join(fold_spaces(text) for _, text in json.loads(prompt)[-1:])
        (gone if number in numbers else said).add((question, fold_spaces(answer)))
        if number not in numbers:
            others.append((number, ask, question, json.loads(rejected), replaces))
    found, gone = {}, gone - said
    for number, ask, question, rejected, replaces in others:
        texts = set(shown.get(ask, ()))
        if replaces and (question, fold_spaces(replaces)) in gone:
            texts.add(fold_spaces(replaces))
        left = None if replaces and fold_spaces(replaces) in texts else replaces
        kept = [text for text in rejected if fold_spaces(text) not in texts]
        if (left, kept) != (replaces, rejected):
            found[number] = (left, kept)
    return found


_PRACTISED = """SELECT practice FROM practice_samples
    WHERE problem = (SELECT stripped(message) FROM asks WHERE id = ?)"""
"""Runs that practised on the message of an ask, as `taste` does."""


_ASKED_AGAIN = """SELECT a.id FROM judgements j JOIN asks b ON b.id = j.ask
    JOIN asks a ON a.conversation = b.conversation AND a.reason = j.reason AND a.old = j.answer
    WHERE j.id = ? AND j.kind = 'rating'"""
"""Asks that were asked again for the reason of a rating."""
_UNJUDGED = """NOT EXISTS (SELECT 1 FROM judgements AS other WHERE other.ask = copy.ask AND other.id IS NOT ?2
    AND (stripped(other.answer) = ?1 OR other.kind = 'pick' AND other.number = copy.number))"""
_OFFERED = (
    """(ask IS ?3 OR ask IN (SELECT ask FROM candidates WHERE offered AND stripped(text) = ?1))"""
)
"""The lesson's own ask ?3, and asks with an offer. Elsewhere the model may have said the same text by itself:
"Yes." is the answer to many questions."""
_CANDIDATES, _ANSWERS, _WEAK = (
    f"WITH copy AS ({copies}) SELECT id FROM copy WHERE stripped(text) = ?1 AND {_UNJUDGED}"
    for copies in (
        "SELECT id, ask, number, text FROM candidates",
        f"SELECT id, ask, NULL AS number, text FROM answers WHERE judgement IS NULL AND {_OFFERED}",
        "SELECT id, ask, NULL AS number, answer AS text FROM lessons WHERE kind = 'continuation'"
        f" AND {_OFFERED}",
    )
)
"""Candidates, answers that were left standing and their weak lessons, with the text ?1. Without those that a
judgement is about, other than ?2: they are lessons of their own."""


def _quoting(store: Store, ask: int, answer: str | None = None) -> set[int]:
    """The ask, and all asks of its conversation that have its message in their history.

    answer: only those that also have this answer in their history.
    """
    row = store.row("SELECT conversation FROM asks WHERE id = ?", ask)
    rows = store.rows(
        "SELECT id, history, message, old FROM asks WHERE conversation = ?", row[0] if row else 0
    )
    turns = {
        # the answer that it was asked again for was shown with it
        number: [*json.loads(history), ["user", message], ["assistant", old]]
        for number, history, message, old in rows
    }
    # answers in between may have been corrected since, so only the owner's words are compared
    words = {number: [said for role, said in t if role == "user"] for number, t in turns.items()}
    mine = words[ask]
    found = {number for number, theirs in words.items() if theirs[: len(mine)] == mine}
    if answer is None:
        return found
    return {number for number in found if ["assistant", answer] in turns[number]}


def _carried_over(store: Store, asks: set[int]) -> set[int]:
    """Lessons that pauses made from a reason: they are stored under the ask that was rated, but teach another
    ask's message. Those whose message only these asks have."""
    rows = store.rows(
        """SELECT l.id, json_extract(l.prompt, '$[#-1][1]') AS said FROM lessons l
        JOIN asks a ON a.id = l.ask WHERE l.kind != 'owner_words' AND said IS NOT a.message"""
    )
    if not rows or not asks:
        return set()
    said: dict[str, set[int]] = {}
    for number, message in store.rows("SELECT id, message FROM asks"):
        said.setdefault(message, set()).add(number)
    only = {message for message, numbers in said.items() if numbers <= asks}
    return {number for number, message in rows if message in only}


def _containing(store: Store, wanted: str) -> tuple[set[int], set[int], set[int]]:
    """(asks, lessons, conversations) that contain the text: asks and lessons in any field, conversations in
    the title. wanted: folded (fold_spaces)."""
    titles = _numbers(store, "SELECT id FROM conversations WHERE contains(title, ?)", wanted)
    asks = _numbers(
        store,
        """SELECT ask FROM candidates WHERE contains(text, ?1)
        UNION SELECT ask FROM answers WHERE contains(text, ?1)
        UNION SELECT ask FROM judgements
            WHERE contains(text, ?1) OR contains(answer, ?1) OR contains(reason, ?1)
        UNION SELECT id FROM asks WHERE contains(old, ?1) OR contains(reason, ?1)""",
        wanted,
    )
    for number, history, message in store.rows("SELECT id, history, message FROM asks"):
        # JSON escapes quotes and newlines, so texts are compared after parsing
        if _any([message, *(said for _, said in json.loads(history))], wanted):
            asks.add(number)
    lessons = {
        number
        for number, prompt, answer, rejected, replaces in store.rows(
            "SELECT id, prompt, answer, rejected, replaces FROM lessons"
        )
        if _any(
            [*(said for _, said in json.loads(prompt)), answer, *json.loads(rejected), replaces],
            wanted,
        )
    }
    return asks, lessons, titles


def _any(texts: Iterable[str | None], wanted: str) -> bool:
    return any(text is not None and wanted in fold_spaces(text) for text in texts)


_LISTED = {
    "lesson": "`vidya journal show` lists them",
    "ask": "`vidya journal show --asks` lists them",
    "conversation": "`vidya journal search WORDS` names the conversations it finds",
}


def _must_exist(store: Store, name: str, number: int) -> None:
    if store.row(f"SELECT 1 FROM {name}s WHERE id = ?", number) is None:
        raise NotFound(f"{name} {number} is not in the journal", _LISTED[name])


def _chosen(
    store: Store, table: str, columns: str, numbers: Collection[int], where: str = "1"
) -> list[Row]:
    """Columns of the rows with these numbers for which `where` is true."""
    sql = f"SELECT {columns} FROM {table} WHERE id IN (SELECT value FROM json_each(?)) AND {where}"
    return store.rows(sql, json.dumps([*numbers]))


def _numbers(store: Store, sql: str, *values: Any) -> set[int]:
    return {int(row[0]) for row in store.rows(sql, *values)}
