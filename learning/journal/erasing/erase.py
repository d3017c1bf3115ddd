"""Erases parts of the journal so that they cannot be recovered from its files.

Deletes the rows and all rows that depend on them, and removes the erased text from rows that stay. Then
overwrites free pages, rebuilds the file, and empties its log. Backups that migrations made are removed. Left
out: which rows (plan.py); weights and book, from which the caller removes the lessons first
(learning.lessons.forget).
"""

from __future__ import annotations

import json

from engine.errors import JournalError
from learning.journal.database import Store, chosen
from learning.journal.erasing.plan import ErasurePlan
from learning.journal.migrations import backups
from learning.journal.rows import turns_to_json
from learning.journal.search import rebuild_index
from learning.text.normalise import fold_spaces


def erase(store: Store, doomed: ErasurePlan) -> int:
    """Deletes the rows and overwrites their contents, also where rows that stay quote them. Returns the
    number of asks, lessons and titles.

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
        for ask in doomed.shortened:
            again = "" if ask.again else ", old = NULL, reason = NULL"
            connection.execute(
                f"UPDATE asks SET history = ?, parent = ?{again} WHERE id = ?",
                (turns_to_json(ask.history), ask.parent, ask.ask),
            )
        connection.executemany(
            "UPDATE lessons SET prompt = ? WHERE id = ?",
            [(turns_to_json(lesson.prompt), lesson.id) for lesson in doomed.changed],
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
    changed = {lesson.id: lesson for lesson in doomed.changed}
    shown: dict[int | None, set[str]] = {}
    for table, rows in (("candidates", doomed.candidates), ("answers", doomed.answers)):
        for ask, text in chosen(store, table, "ask, text", rows):
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
        if number in changed:
            left = left and changed[number].replaces
            kept = [text for text in kept if text in changed[number].rejected]
        if (left, kept) != (replaces, rejected):
            found[number] = (left, kept)
    return found
