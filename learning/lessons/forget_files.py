"""Finds files that contain texts that are to be forgotten.

Ignores case and spacing, and also finds a text as JSON, Markdown or a traceback escape it. Left out: binary
files, whose contents cannot be searched.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from learning.journal.erasing.erase import unquoted
from learning.journal.erasing.plan import TELLING, ErasurePlan
from learning.journal.journal import Journal
from learning.text.normalise import fold_spaces

LARGEST = 64_000_000
"""Largest size in bytes of a file that is searched."""
_ESCAPED = re.compile(r"\\u([0-9a-fA-F]{4})|\\([ntr])")
_QUOTED = re.compile(r"^[ \t>]+", re.MULTILINE)
"""What Markdown puts before each line of a quotation."""


Texts = frozenset[tuple[str, ...]]
"""Texts in the form that `plain` returns. A file contains an item if it contains all texts of the tuple."""


def going(journal: Journal, doomed: ErasurePlan) -> Texts:
    """The texts that are no longer in the journal once `doomed` is erased. Texts shorter than TELLING come
    together with their question."""
    gone, stays, pairs = set[str](), set[str](), set[tuple[str, ...]]()

    def sort(doomed_too: bool, *texts: str | None) -> None:
        (gone if doomed_too else stays).update(plain(text) for text in texts if text)

    asks, lessons, judgements = set(doomed.asks), set(doomed.lessons), set(doomed.judgements)
    not_again = {ask.ask for ask in doomed.shortened if not ask.again}
    for number, message, *again in journal.rows("SELECT id, message, old, reason FROM asks"):
        sort(number in asks, message)
        sort(number in asks or number in not_again, *again)
    candidates = set(doomed.candidates)
    for number, ask, text in journal.rows("SELECT id, ask, text FROM candidates"):
        sort(ask in asks or number in candidates, text)
    answers = set(doomed.answers)
    for number, ask, judgement, text in journal.rows(
        "SELECT id, ask, judgement, text FROM answers"
    ):
        sort(ask in asks or judgement in judgements or number in answers, text)
    for number, ask, *texts in journal.rows("SELECT id, ask, text, answer, reason FROM judgements"):
        sort(ask in asks or number in judgements, *texts)
    left = unquoted(journal, doomed)
    for number, prompt, answer, old, rejected in journal.rows(
        "SELECT id, prompt, answer, replaces, rejected FROM lessons"
    ):
        said = [text for _, text in json.loads(prompt)[-1:]]
        replaces, others = left.get(number, (old, json.loads(rejected)))
        sort(number in lessons, *said, answer, replaces, *others)
        if number in lessons and said and answer:
            pairs.add((plain(said[0]), plain(answer)))
    for number, title in journal.rows("SELECT id, title FROM conversations"):
        sort(number in doomed.titles, title)
    gone -= stays
    alone = {(text,) for text in gone if len(text) >= TELLING}
    pairs = {pair for pair in pairs if gone & set(pair) and len("".join(pair)) >= TELLING}
    return frozenset(alone | pairs)


def holds(path: Path, texts: Texts) -> bool | None:
    """Whether a file contains one of the texts; None if it is binary, too large or unreadable."""
    try:
        if path.is_symlink() or not path.is_file() or path.stat().st_size > LARGEST:
            return None
        whole = path.read_bytes().decode("utf-8")
    except (OSError, ValueError):
        return None
    if "\0" in whole:
        return None
    said = plain(whole)
    return any(all(part in said for part in text) for text in texts)


def plain(text: str) -> str:
    """A text in lower case, on one line, without escape characters and the signs of a quotation."""
    text = _ESCAPED.sub(lambda m: chr(int(m[1], 16)) if m[1] else "\n", text)
    text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")  # halves to one sign
    return fold_spaces(_QUOTED.sub("", text.replace("\\", "")))
