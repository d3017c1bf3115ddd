"""Runs of practice in the journal: what repeats them, the figures of their steps, some of their answers.

Functions of a store. What a record contains is decided in learning.practice.record.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from engine.errors import NotFound
from learning.journal.database import Store, insert_row
from learning.journal.standing import stands
from learning.protocol.events import PracticeSample

TIMED = ("seconds", "tokens_per_second")
"""Figures of a step that differ between two runs that are the same."""

RECENT = 50
"""Runs among which an interrupted warm-up is looked for."""
LOADED = 300
"""Answers of a run that are read for a screen. A run may have kept tens of thousands."""


@dataclass(frozen=True)
class PracticeEntry:
    """A run in the journal."""

    id: int
    task: str
    record: dict[str, Any]
    """See learning.practice.record.PracticeRecord."""
    outcome: dict[str, Any] | None
    """See learning.protocol.events.PracticeDone; None: it has not ended, or was killed."""
    created: float
    """Unix time in seconds."""


@dataclass(frozen=True)
class PracticeListed:
    """One row of the list of runs."""

    entry: PracticeEntry
    steps: int
    """Steps that it took, without those of warm-up."""
    samples: int
    """Answers that were kept of it."""
    lessons: tuple[tuple[int, bool], ...] = ()
    """The lessons under which its weights were saved, in order: id, and whether it is in effect."""


@dataclass(frozen=True)
class KeptAnswers:
    """A run and the last of the answers that were kept of it."""

    run: PracticeListed
    samples: tuple[PracticeSample, ...]
    """The newest first, as on the practice screen."""


@dataclass(frozen=True)
class KeptCurriculum:
    """What a curriculum had learned at the end of a run."""

    arms: tuple[str, ...]
    """Of the run, in the order of the state."""
    state: dict[str, Any]
    """See learning.curriculum.interface.Curriculum."""


def begin_practice(store: Store, task: str, record: Mapping[str, Any]) -> int:
    """Records a run that begins; returns its id."""
    with store.writing() as connection:
        return insert_row(
            connection,
            "practices",
            task=task,
            record=json.dumps(record),
            outcome=None,
            created=time.time(),
        )


def add_practice_step(
    store: Store, run: int, step: int, figures: Mapping[str, Any], samples: Iterable[PracticeSample]
) -> None:
    """Records the figures of a step and some of its answers."""
    now = time.time()
    with store.writing() as connection:
        insert_row(
            connection,
            "practice_steps",
            practice=run,
            step=step,
            figures=json.dumps(figures),
            created=now,
        )
        for sample in samples:
            insert_row(
                connection,
                "practice_samples",
                practice=run,
                step=step,
                problem=sample.prompt,
                text=sample.text,
                reward=sample.reward,
                components=json.dumps(sample.components),
                truncated=sample.truncated,
                failed=sample.failed,
                created=now,
            )


def end_practice(store: Store, run: int, outcome: Mapping[str, Any]) -> None:
    """Records how a run ended."""
    with store.writing() as connection:
        connection.execute(
            "UPDATE practices SET outcome = ? WHERE id = ?", (json.dumps(outcome), run)
        )


def practice_entry(store: Store, run: int) -> PracticeEntry:
    """The run with that id. Raises NotFound."""
    row = store.row("SELECT id, task, record, outcome, created FROM practices WHERE id = ?", run)
    if row is None:
        raise NotFound(
            f"practice {run} is not in the journal",
            "`vidya practice --runs` lists them, and in the app /practice runs",
        )
    return _entry(row)


def practice_entries(store: Store, limit: int = 50) -> list[PracticeEntry]:
    """The last `limit` runs, the newest first."""
    sql = "SELECT id, task, record, outcome, created FROM practices ORDER BY id DESC LIMIT ?"
    return [_entry(row) for row in store.rows(sql, limit)]


def practice_ids(store: Store, search: str = "") -> list[int]:
    """Ids of all runs whose tasks, settings or model contain every word of `search`, the newest first."""
    where, values = ["1"], list[object]()
    parts = [
        "task",
        *(f"json_extract(record, '$.{name}')" for name in ("settings", "arms", "model")),
    ]
    for word in search.casefold().split():
        where.append(f"({' OR '.join(f'contains({part}, ?)' for part in parts)})")
        # settings and arms are JSON, so the word is escaped in the same way
        values += [word, *[json.dumps(word, ensure_ascii=False)[1:-1]] * 2, word]
    rows = store.rows(
        f"SELECT id FROM practices WHERE {' AND '.join(where)} ORDER BY id DESC", *values
    )
    return [int(number) for (number,) in rows]


def listed_practices(store: Store, ids: Sequence[int]) -> list[PracticeListed]:
    """The rows for some ids, in the order of `ids`. Runs that were erased are left out."""
    chosen = json.dumps(list(ids))
    rows = store.rows(
        """SELECT id, task, record, outcome, created,
            (SELECT count(*) FROM practice_steps s WHERE s.practice = p.id),
            (SELECT count(*) FROM practice_samples s WHERE s.practice = p.id)
        FROM practices p WHERE id IN (SELECT value FROM json_each(?))""",
        chosen,
    )
    # a lesson of practice names its task alone: it belongs to the last run of that task before it
    saved = store.rows(
        f"""WITH both AS (
            SELECT id AS run, NULL AS lesson, NULL AS holds, task, created FROM practices UNION ALL
            SELECT NULL, id, state = 'learned' AND {stands()}, json_extract(prompt, '$[0][1]'), created
            FROM lessons WHERE kind = 'practice'),
        placed AS (
            SELECT lesson, holds, max(run) OVER (PARTITION BY task ORDER BY created, lesson) AS run
            FROM both)
        SELECT run, lesson, holds FROM placed WHERE lesson IS NOT NULL
            AND run IN (SELECT value FROM json_each(?)) ORDER BY lesson""",
        chosen,
    )
    lessons: dict[int, list[tuple[int, bool]]] = {}
    for run, lesson, holds in saved:
        lessons.setdefault(run, []).append((lesson, bool(holds)))
    made = dict[int, PracticeListed]()
    for number, task, record, outcome, created, steps, samples in rows:
        entry = _entry((number, task, record, outcome, created))
        made[number] = PracticeListed(entry, steps, samples, tuple(lessons.get(number, ())))
    return [made[number] for number in ids if number in made]


def practice_steps(store: Store, run: int) -> list[dict[str, Any]]:
    """The figures of all steps of a run, in order."""
    sql = "SELECT figures FROM practice_steps WHERE practice = ? ORDER BY step, rowid"
    return [json.loads(figures) for (figures,) in store.rows(sql, run)]


def kept_curriculum(
    store: Store, arms: Sequence[str], method: str, model: str
) -> KeptCurriculum | None:
    """What the curriculum `method` had learned at the end of an earlier run of this model. The run that has
    most of `arms` is taken, and among equals the newest; None if no run has one of them. model: name of
    its folder."""
    runs = store.rows(
        """SELECT id, record, (SELECT count(DISTINCT value) FROM json_each(record, '$.arms')
            WHERE value IN (SELECT value FROM json_each(?))) AS shared
        FROM practices WHERE shared AND json_extract(record, '$.model') = ?
            AND json_extract(record, '$.options."curriculum.method"') = ?
        ORDER BY shared DESC, id DESC""",
        json.dumps(list(arms)),
        model,
        method,
    )
    sql = """SELECT figures FROM practice_steps WHERE practice = ?
        ORDER BY step DESC, rowid DESC LIMIT 1"""
    for run, record, _ in runs:
        row = store.row(sql, run)
        if row and (state := json.loads(row[0]).get("curriculum")):
            return KeptCurriculum(tuple(json.loads(record)["arms"]), state)
    return None


SAME = ("model", "settings", "arms", "data_mark")
"""Parts of a record that are equal in runs of the same problems with the same model."""


def warm_up_interrupted(store: Store, task: str, record: Mapping[str, Any]) -> bool:
    """Whether earlier runs of the same ended within a warm-up that they had not taken to its last step, and
    what they saved is in effect. Runs of which nothing is in effect do not count. record: of the new run."""
    wanted = json.loads(json.dumps(record))
    sql = "SELECT id FROM practices WHERE task = ? ORDER BY id DESC LIMIT ?"
    ids = [run for (run,) in store.rows(sql, task, RECENT)]
    taken = 0
    for run in listed_practices(store, ids):
        found, ended = run.entry.record, run.entry.outcome or {}
        other = any(found.get(name) != wanted[name] for name in SAME) or _asks(found) != _asks(
            wanted
        )
        if other or not (run.steps or any(holds for _, holds in run.lessons)):
            continue
        if run.steps or ended.get("ended", "stopped") not in ("stopped", "time"):
            break
        taken += max(1, ended.get("warm_up_steps", 0))
    return 0 < taken < int(wanted["options"]["warm_up.steps"])


def _asks(record: Mapping[str, Any]) -> bool:
    """Whether the model asks the questions itself."""
    return record.get("options", {}).get("self_play.questions", "0") != "0"


def joined_rungs(store: Store, model: str, since: float = 0.0) -> tuple[str, ...]:
    """The rungs that have joined in practice of this model (learning.practice.supply.ladder), in order. Not
    those of runs whose lessons were all taken back. model: name of its folder; "": any. since: Unix time in
    seconds."""
    sql = """SELECT id FROM practices
        WHERE created >= ? AND outcome LIKE '%"joined": ["%' ORDER BY id"""
    found = listed_practices(store, [number for (number,) in store.rows(sql, since)])
    outcomes = [
        run.entry.outcome or {}
        for run in found
        if model in ("", run.entry.record["model"])
        and (not run.lessons or any(holds for _, holds in run.lessons))
    ]
    return tuple(dict.fromkeys(rung for outcome in outcomes for rung in outcome["joined"]))


def practice_samples(store: Store, run: int, limit: int | None = None) -> list[PracticeSample]:
    """The answers that were kept of a run, in order. limit: only the last so many; None: all."""
    sql = """SELECT step, problem, text, reward, components, truncated, failed FROM practice_samples
        WHERE practice = ? ORDER BY step DESC, rowid DESC LIMIT ?"""
    rows = store.rows(sql, run, -1 if limit is None else limit)
    return [
        PracticeSample(step, prompt, text, reward, json.loads(components), bool(truncated), failed)
        for step, prompt, text, reward, components, truncated, failed in reversed(rows)
    ]


def kept_answers(store: Store, run: int, limit: int = LOADED) -> KeptAnswers:
    """A run and the last `limit` of its answers. Raises NotFound."""
    practice_entry(store, run)
    samples = practice_samples(store, run, limit)
    return KeptAnswers(listed_practices(store, [run])[0], tuple(reversed(samples)))


def same_steps(store: Store, run: int, other: int) -> tuple[int, int]:
    """(steps whose figures are the same to the last bit, steps that both runs took). Times do not count."""

    def figures(of: int) -> list[dict[str, Any]]:
        return [
            {name: value for name, value in step.items() if name not in TIMED}
            for step in practice_steps(store, of)
        ]

    pairs = list(zip(figures(run), figures(other), strict=False))
    return sum(one == two for one, two in pairs), len(pairs)


def _entry(row: tuple[Any, ...]) -> PracticeEntry:
    number, task, record, outcome, created = row
    return PracticeEntry(
        number, task, json.loads(record), json.loads(outcome) if outcome else None, created
    )
