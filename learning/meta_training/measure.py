"""The measure: the same questions at the start and at the end of a run.

Facts of lives, of trained kinds and of kinds that are held out, are taught in groups of eight. Those of the
held-out kinds are taught once more with pauses (learning.meta_training.plans), as in real use. All are asked
in other words, for yes and no, about neighbours, and with the lesson before the message. Only the exact
answer counts. Besides: the book, and how many general questions are answered by not knowing. A file of
lessons can be measured too: JSON lines with "question", "answer", and lists "rewordings" and "paraphrases".
Left out: answers that say the same in other words, which the benchmarks judge by keys.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.errors import DataError, reason
from learning.data.json_lines import parse
from learning.meta_training.kept_rows import KeptRows
from learning.meta_training.kinds import held_out_kinds, trained_kinds
from learning.meta_training.lesson import teach
from learning.meta_training.network import MergedNetwork
from learning.meta_training.packing import Packer, shipped
from learning.meta_training.plans import plan_lesson
from learning.meta_training.reading import margins
from learning.text.context import in_context
from learning.text.lives import NOT_KNOWN, InventedLife, LifeFact, lives
from learning.text.openings import openings

GROUP = 8
"""Facts that are taught together."""
GENERAL = 150
"""General questions: the last of learning.text.openings, which is why they are not the base's own rows."""
WITH_PAUSES = "unseen kinds, with pauses"
"""The group of questions whose lessons have pauses."""
_FORM = 'a line is {"question": ..., "answer": ..., "rewordings": [...], "paraphrases": [...]}'


@dataclass(frozen=True)
class ExamGroup:
    """Facts that are taught together, and their life."""

    facts: Sequence[LifeFact]
    life: InventedLife


class Exam:
    """The questions."""

    def __init__(self, kept: KeptRows, facts: int, file: Path | None = None) -> None:
        """facts: least number of either kind. file: lessons to measure too. Raises DataError."""
        self._kept = kept
        self.groups = {
            "seen kinds": list(_groups_of_lives(facts, unseen=False)),
            "unseen kinds": list(_groups_of_lives(facts, unseen=True)),
        }
        self.groups[WITH_PAUSES] = self.groups["unseen kinds"]
        if file:
            self.groups[file.name] = list(_groups_of_file(file))
        self._general = openings()[-GENERAL:]

    def measure(self, network: MergedNetwork) -> dict[str, dict[str, tuple[int, int]]]:
        """Group of questions -> kind -> (how many answers are right, of how many)."""
        row = self._kept.writer.row
        general = margins(network, [row(text, NOT_KNOWN) for text in self._general])
        found = {
            "book": {"exact": _share(margins(network, self._kept.book))},
            "general questions": {"answered by not knowing": _share(general)},
        }
        for name, groups in self.groups.items():
            counts = found[name] = dict[str, tuple[int, int]]()
            style = "paused" if name == WITH_PAUSES else "few"
            for number, group in enumerate(groups):
                self._ask(network, group, number, style, counts)
        return found

    def _ask(
        self,
        network: MergedNetwork,
        group: ExamGroup,
        number: int,
        style: str,
        counts: dict[str, tuple[int, int]],
    ) -> None:
        """Teaches a group, asks, and adds to the counts."""
        kept = self._kept
        taught = [(fact.question, fact.answer) for fact in group.facts]
        rng = random.Random(f"measure {number}")
        plan = plan_lesson(taught, style, kept, Packer(network.prefix), rng)
        upper = teach(network, shipped(plan, network.device))
        asked = [one for fact in group.facts for one in _asked(fact)]
        asked += [("untold not known", text, NOT_KNOWN) for text in group.life.unknown]
        rows = [kept.writer.row(question, answer) for _, question, answer in asked]
        for (kind, _, _), margin in zip(asked, margins(network, rows, upper), strict=True):
            right, all_of = counts.get(kind, (0, 0))
            counts[kind] = right + (margin > 0.0), all_of + 1


def report(measured: dict[str, dict[str, tuple[int, int]]]) -> Iterator[str]:
    """A line for each group of questions, with shares in percent."""
    for name, counts in measured.items():
        shares = (f"{kind} {100 * a / n:.1f} % of {n}" for kind, (a, n) in counts.items())
        yield f"{name}: {', '.join(shares)}"


def _asked(fact: LifeFact) -> Iterator[tuple[str, str, str]]:
    """(kind, message, right answer). "refused" counts questions that are wrongly not known."""
    yield "taught", fact.question, fact.answer
    for name, texts in (("rewordings", fact.rewordings), ("paraphrases", fact.paraphrases)):
        for text in texts:
            yield name, text, fact.answer
            yield f"refused {name}", text, NOT_KNOWN
    for one in (*fact.right, *fact.wrong):
        yield "yes/no", one.question, one.answer
    for text in fact.neighbours:
        yield "neighbours not known", text, NOT_KNOWN

    def shown(message: str) -> str:
        return in_context(fact.question, fact.answer, message)

    for text in (*fact.paraphrases[:3], fact.question):
        yield "recalled", shown(text), fact.answer
    for one in (*fact.right[:1], *fact.wrong[:1]):
        yield "recalled yes/no", shown(one.question), one.answer
    for text in fact.neighbours[:2]:
        yield "recalled neighbours not known", shown(text), NOT_KNOWN


def _share(found: Sequence[float]) -> tuple[int, int]:
    return sum(margin > 0.0 for margin in found), len(found)


def _groups_of_lives(facts: int, *, unseen: bool) -> Iterator[ExamGroup]:
    """At least that many facts, always the same; of the held-out kinds alone where `unseen`."""
    rng, count = random.Random(f"exam {unseen}"), 0
    held_out = held_out_kinds()
    kinds = held_out if unseen else trained_kinds()
    while count < facts:
        (life,) = lives(1, rng, kinds)
        usable = [fact for fact in life.facts if not unseen or fact.relation in held_out]
        chosen = rng.sample(usable, min(GROUP, len(usable)))
        count += len(chosen)
        yield ExamGroup(chosen, life)


def _groups_of_file(file: Path) -> Iterator[ExamGroup]:
    try:
        data = file.read_bytes()
    except OSError as error:
        raise DataError(f"{file}: cannot be read ({reason(error)})", "check the path") from error
    facts = [_fact(row, f"{file}:{number}") for number, row in parse(data, str(file), _FORM)]
    if not facts:
        raise DataError(f"{file}: holds no lesson", _FORM)
    for start in range(0, len(facts), GROUP):
        group = facts[start : start + GROUP]
        yield ExamGroup(group, InventedLife(tuple(group), ()))


def _fact(row: dict[str, Any], place: str) -> LifeFact:
    texts = [row.get(name) for name in ("question", "answer")]
    lists = [row.get(name, []) for name in ("rewordings", "paraphrases")]
    question, answer = (text if isinstance(text, str) and text.strip() else "" for text in texts)
    good = all(isinstance(one, list) and all(isinstance(t, str) for t in one) for one in lists)
    if not (question and answer and good):
        raise DataError(f"{place}: is no lesson", _FORM)
    near, far = (tuple(one) for one in lists)
    return LifeFact("", (), question, answer, "", near, far, (), (), (), ())
