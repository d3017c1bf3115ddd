"""The journal: every message, candidate, judgement and lesson, durable when the method that writes it
returns.

Rows are appended. Only titles and the state of a lesson are updated; only `forget` deletes rows, and
`drop_unchosen` if the owner does not want to keep candidates. The current answer of an ask is not stored: it
is the newest row of `answers` whose judgement is in effect, so withdrawing a judgement restores the answer
before.

Thread-safe, and several processes may have the file open. Imports no torch.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from engine.config import Sampling
from engine.errors import JournalError, NotFound
from learning.journal import conversations
from learning.journal.conversations import Conversation
from learning.journal.database import insert_row, must_exist
from learning.journal.erasing.erase import erase
from learning.journal.erasing.plan import ErasurePlan, plan_erasure
from learning.journal.export import export_rows, export_trl
from learning.journal.importing import import_rows
from learning.journal.judgements import JudgementJournal
from learning.journal.lessons import insert_lesson
from learning.journal.rows import (
    ASK_COLUMNS,
    BRANCHES,
    CANDIDATE_COLUMNS,
    NEWEST_SHORTER,
    ask_from_row,
    candidate_from_row,
    candidate_values,
    turns_to_json,
)
from learning.journal.search import Hit, search
from learning.journal.standing import ANSWERS
from learning.journal.tree import ConversationTree
from learning.protocol.records import Again, Ask, Candidate, Lesson, Turn, Turns
from learning.text.normalise import writable

_OF = "(?1 IS NULL OR model IS NULL OR model = ?1)"
"""Condition: the row is of the model that is given first; see `Journal.measures`."""


class Journal(JudgementJournal):
    """The owner's journal at a path. Every method may raise JournalError."""

    # ------------------------------------------------------------ conversations and asks

    def new_conversation(self) -> int:
        """Begins a conversation, and returns its id."""
        with self.writing() as connection:
            return insert_row(connection, "conversations", created=time.time())

    def conversations(self, limit: int = 50, search: str | None = None) -> list[Conversation]:
        """The `limit` last used conversations with at least one ask, the last used first.

        search: only those whose title, messages or answers match (see learning.journal.search).
        """
        wanted = conversations.listing(self, search)
        return conversations.conversations(self, wanted, wanted.ids[:limit])

    def messages(self, limit: int) -> list[tuple[str, float]]:
        """The owner's last `limit` messages, newest first, each with its time in seconds since the epoch. Of
        a message that was edited only the newest wording."""
        sql = """SELECT message, created FROM asks AS a WHERE NOT EXISTS (SELECT 1 FROM asks AS b
            WHERE b.conversation = a.conversation AND b.id > a.id AND b.parent IS a.parent
            AND b.message != a.message) ORDER BY id DESC LIMIT ?"""
        return [(str(text), float(when)) for text, when in self.rows(sql, limit)]

    def messages_mark(self) -> tuple[int, ...]:
        """A value that changes whenever `messages` may return something else."""
        row = self.row("SELECT coalesce(max(id), 0), count(*) FROM asks")
        return tuple(row or ())

    def rename(self, conversation: int, title: str) -> None:
        """Sets a conversation's title; an empty one removes it. Raises NotFound."""
        conversations.rename(self, conversation, title)

    def branches(self, conversation: int) -> ConversationTree:
        """The tree of a conversation's asks. Raises NotFound."""
        if self.row("SELECT 1 FROM conversations WHERE id = ?", conversation) is None:
            raise NotFound(
                f"conversation {conversation} is not in the journal", "find it with /history"
            )
        return ConversationTree(self.rows(BRANCHES, conversation))

    def conversation(
        self, conversation: int, ask: int | None = None
    ) -> list[tuple[Ask, str | None]]:
        """(ask, its current answer) for each ask on the path from the beginning to `ask` (None: the newest).

        An ask without a current answer has the one that the next ask's history contains, or None. Raises
        NotFound.
        """
        branches = self.branches(conversation)
        path = branches.path(ask or branches.newest() or 0)
        answers = self._answers(conversation)
        asks = [self.ask(node.ask) for node in path]
        pairs: list[tuple[Ask, str | None]] = []
        for place, one in enumerate(asks):
            said = None
            if place + 1 < len(asks):
                # the conversation continued with this answer, even if it was taken back later
                went_on = asks[place + 1].turns[len(one.turns)]
                said = went_on.text if went_on.role == "assistant" else None
            pairs.append((one, answers.get(one.id, said)))
        return pairs

    def turns(
        self, conversation: int, ask: int | None = None, branches: ConversationTree | None = None
    ) -> Turns:
        """All turns up to an ask (None: the newest) and its answer, with the current answers.

        branches: the conversation's tree, if the caller has it already. Raises NotFound.
        """
        branches = branches or self.branches(conversation)
        path = branches.path(ask or branches.newest() or 0)
        if not path:
            return ()
        turns = list(self.ask(path[-1].ask).turns)
        answers = self._answers(conversation)
        for node in path:
            answer = answers.get(node.ask)
            if answer is not None and node.turns < len(turns):
                if turns[node.turns].role == "assistant":
                    turns[node.turns] = Turn("assistant", answer)
            elif answer is not None:
                turns.append(Turn("assistant", answer))
        return tuple(turns)

    def _answers(self, conversation: int) -> dict[int, str]:
        """Ask -> its current answer, for all asks that have one."""
        sql = f"""SELECT a.ask, a.text {ANSWERS}
            AND a.ask IN (SELECT id FROM asks WHERE conversation = ?) ORDER BY a.id"""
        return dict(self.rows(sql, conversation))

    def own_answers(self, ask: int) -> dict[int, int | None]:
        """The answers in an ask's history: index among its turns -> id of the newest lesson from the owner's
        picking, typing or rating it good (0: there is no lesson yet); None if the owner did not judge it.

        Raises NotFound.
        """
        conversation = self.ask(ask).conversation
        judged = self.judged_good(conversation)
        path = self.branches(conversation).path(ask)
        return {node.turns: judged.get(node.ask) for node in path[:-1]}

    def add_ask(
        self,
        conversation: int,
        turns: Turns,
        sampling: Sampling,
        seed: int | None = None,
        lessons: Sequence[Lesson] = (),
        parent: int | None = None,
        again: Again | None = None,
    ) -> Ask:
        """Records the owner's message, with the turns before it, and weak lessons that come with it.

        turns: the last one must be the owner's message. parent: the ask whose answer it follows; None: the
        newest ask of the conversation that is two turns shorter, if there are earlier turns. again: why the
        message is answered again. Raises JournalError and NotFound.
        """
        turns = tuple(Turn(turn.role, writable(turn.text)) for turn in turns)
        if not turns or turns[-1].role != "user":
            raise JournalError("an ask must end with the owner's message", "say something first")
        if again:
            again = Again(writable(again.old), writable(again.reason))
        now = time.time()
        with self.writing() as connection:
            must_exist(connection, "conversations", conversation, "conversation")
            if parent is None and len(turns) > 1:
                shorter = connection.execute(NEWEST_SHORTER, (conversation, len(turns)))
                parent = shorter.fetchone()[0]
            number = insert_row(
                connection,
                "asks",
                conversation=conversation,
                history=turns_to_json(turns[:-1]),
                message=turns[-1].text,
                sampling=json.dumps(sampling.to_dict()),
                seed=seed,
                created=now,
                parent=parent,
                old=again.old if again else None,
                reason=again.reason if again else None,
            )
            for lesson in lessons:
                insert_lesson(connection, lesson, ask=number)
        return Ask(number, conversation, turns, sampling, seed, now, parent, again)

    def ask(self, ask: int) -> Ask:
        """The ask with that id. Raises NotFound."""
        row = self.row(f"SELECT {ASK_COLUMNS} FROM asks WHERE id = ?", ask)
        if row is None:
            raise NotFound(
                f"ask {ask} is not in the journal", "`vidya journal show --asks` lists them"
            )
        return ask_from_row(row)

    def latest_ask(self) -> Ask | None:
        """The newest ask of all conversations; None if there is none."""
        row = self.row(f"SELECT {ASK_COLUMNS} FROM asks ORDER BY id DESC LIMIT 1")
        return ask_from_row(row) if row else None

    def questions(self, limit: int = 50) -> list[str]:
        """The owner's last `limit` messages of all conversations, oldest first."""
        rows = self.rows("SELECT message FROM asks ORDER BY id DESC LIMIT ?", limit)
        return [str(message) for (message,) in reversed(rows)]

    # ------------------------------------------------------------ candidates

    def add_candidates(self, candidates: Iterable[Candidate]) -> None:
        """Appends candidates. One that equals the newest of its ask and number is skipped. Raises
        NotFound."""
        with self.writing() as connection:
            for candidate in candidates:
                must_exist(connection, "asks", candidate.ask, "ask")
                values = candidate_values(candidate)
                newest = connection.execute(
                    f"SELECT {CANDIDATE_COLUMNS} FROM candidates WHERE ask = ? AND number = ?"
                    " ORDER BY id DESC LIMIT 1",
                    (candidate.ask, candidate.index),
                ).fetchone()
                if newest != tuple(values.values()):
                    insert_row(connection, "candidates", **values, created=time.time())

    def candidates(self, ask: int) -> list[Candidate]:
        """The candidates of an ask, by number. If a number was generated several times, only the newest."""
        rows = self.rows(
            f"""SELECT {CANDIDATE_COLUMNS} FROM candidates WHERE ask = ?1 AND id IN
            (SELECT max(id) FROM candidates WHERE ask = ?1 GROUP BY number) ORDER BY number""",
            ask,
        )
        return [candidate_from_row(row) for row in rows]

    def drop_unchosen(self, ask: int | None = None) -> None:
        """Deletes all candidates that are not their ask's current answer, and the rejected texts of picks and
        corrections that are no longer waiting. ask: keeps this ask's, because it can still be judged."""
        with self.writing() as connection:
            connection.execute(
                f"""DELETE FROM candidates WHERE ask IS NOT ?1
                AND stripped(text) IS NOT (SELECT a.text {ANSWERS}
                    AND a.ask = candidates.ask ORDER BY a.id DESC LIMIT 1)""",
                (ask,),
            )
            connection.execute(
                """UPDATE lessons SET rejected = CASE WHEN replaces IS NULL THEN '[]'
                    ELSE json_array(replaces) END
                WHERE kind IN ('pick', 'correction') AND state != 'waiting'
                AND rejected != '[]' AND ask IS NOT ?1""",
                (ask,),
            )

    # ------------------------------------------------------------ progress over time

    def add_step(
        self,
        lesson_ids: Iterable[int],
        loss: float,
        batch: int,
        seconds: float,
        kind: str,
        model: str | None = None,
    ) -> int:
        """Records one optimizer step of a lesson, or one step of practice. Returns the row's id.

        lesson_ids: lessons that were trained on. loss: NULL is stored if it is not finite, as of a step of
        practice without an update. batch: examples in a full batch; of practice, answers that were drawn.
        seconds: that the step took. kind: the lesson's kind, or "practice". model: that took it.
        """
        with self.writing() as connection:
            step = connection.execute(
                "INSERT INTO steps (kind, loss, batch, seconds, model, created)"
                " VALUES (?, ?, ?, ?, ?, ?)",
                (kind, loss if math.isfinite(loss) else None, batch, seconds, model, time.time()),
            ).lastrowid
            connection.executemany(  # lessons that were erased in the meantime are left out
                "INSERT OR IGNORE INTO step_lessons SELECT ?, id FROM lessons WHERE id = ?",
                [(step, lesson) for lesson in lesson_ids],
            )
            return step or 0

    def add_measure(self, name: str, value: float, model: str | None = None) -> None:
        """Records a value to be plotted over time, such as "book_recall", and the model that has it. A value
        that is not finite is ignored."""
        if math.isfinite(value):
            with self.writing() as connection:
                connection.execute(
                    "INSERT INTO measures (name, value, model, created) VALUES (?, ?, ?, ?)",
                    (name, value, model, time.time()),
                )

    def measures(self, name: str, model: str | None = None) -> list[tuple[float, float]]:
        """All (seconds since the epoch, value) of a measure, oldest first. "loss" is the loss of all
        recorded steps except those of practice. model: only its values, and those from before the
        journal kept the model."""
        if name == "loss":
            sql = f"SELECT created, loss FROM steps WHERE loss IS NOT NULL AND kind != 'practice' AND {_OF}"
            return [*self.rows(f"{sql} ORDER BY id", model)]
        sql = f"SELECT created, value FROM measures WHERE name = ?2 AND {_OF} ORDER BY id"
        return [*self.rows(sql, model, name)]

    def measured_models(self) -> set[str]:
        """Names of the models that were measured or took steps."""
        rows = self.rows("SELECT model FROM measures UNION SELECT model FROM steps")
        return {name for (name,) in rows if name}

    def rewards(self, model: str | None = None) -> list[tuple[float, float]]:
        """(seconds since the epoch, mean reward) of every step of practice on any task, oldest first. model:
        see `measures`."""
        sql = f"SELECT created, value FROM measures WHERE name LIKE 'practice/%/reward' AND {_OF} ORDER BY id"
        return [*self.rows(sql, model)]

    # ------------------------------------------------------------ finding, copying, erasing

    def search(self, text: str, limit: int = 200) -> list[Hit]:
        """What matches a query (see learning.journal.search), newest first."""
        return search(self, text, limit)

    def export_rows(self) -> Iterator[dict[str, Any]]:
        """All rows of the journal; `import_rows` reads them back."""
        return export_rows(self)

    def export_trl(self) -> Iterator[dict[str, Any]]:
        """Preference pairs in TRL's conversational format."""
        return export_trl(self)

    def import_rows(self, rows: Iterable[dict[str, Any]], name: str = "row ") -> int:
        """Adds the new rows of another journal's export. Returns the number of conversations and lessons
        added or changed. Raises DataError for a row that is not from an export; `name` then names the
        source."""
        return import_rows(self, rows, name)

    def to_forget(
        self,
        *,
        conversation: int | None = None,
        ask: int | None = None,
        lesson: int | None = None,
        text: str | None = None,
        all: bool = False,
    ) -> ErasurePlan:
        """What `forget` would erase with the same arguments. Raises NotFound."""
        return plan_erasure(
            self, conversation=conversation, ask=ask, lesson=lesson, text=text, all=all
        )

    def forget(
        self,
        *,
        conversation: int | None = None,
        ask: int | None = None,
        lesson: int | None = None,
        text: str | None = None,
        all: bool = False,
    ) -> int:
        """Erases rows beyond recovery (see learning.journal.erasing). Returns the number of asks, lessons and
        titles. Does not change weights or book (see learning.lessons.forget). Raises NotFound.
        """
        doomed = self.to_forget(
            conversation=conversation, ask=ask, lesson=lesson, text=text, all=all
        )
        return erase(self, doomed)
