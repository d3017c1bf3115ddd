"""The fields of an answer: `<think>` and `<answer>`, whatever the spaces, the case, or a missing end.

What stands in the thinking is never the answer, and an answer field that was given twice with
different words is none at all, so that naming everything wins nothing. Reading takes time linear in
the text. Left out: what the words mean (number.py, string.py, expression.py).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

LONGEST = 1_000_000
"""Characters; a longer text is no answer, and nothing of it is read."""
_TAG = re.compile(r"<\s{0,4}(/?)\s{0,4}(think|answer)\s{0,4}>", re.IGNORECASE)
_LEAD = re.compile(
    r"^(?:so |thus |therefore |hence )?,? ?(?:(?:the|my|our) )?(?:final |correct )?answer"
    r"(?:(?: is| would be| must be):?| ?[:=]) ?(?=\S)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class ParsedAnswer:
    """A text taken apart."""

    think: str
    """What stands in the thinking, stripped."""
    fields: tuple[str, ...]
    """Contents of the answer fields outside of the thinking, stripped; those without any words are
    kept as empty texts."""
    rest: str
    """Everything outside of fields, stripped."""
    form: str
    """The tags in order, each as t, /t, a or /a, with `.` for words outside of fields."""

    @property
    def field(self) -> str | None:
        """The answer field; None where there is none, an empty one, or several that differ."""
        different = {" ".join(f.split()).casefold() for f in self.fields}
        return self.fields[-1] if len(different) == 1 and self.fields[-1] else None

    @property
    def said(self) -> str | None:
        """The field; without any field what stands outside of the thinking. None: no answer."""
        if self.fields:
            return self.field
        return self.rest or None


def read_answer(text: str) -> ParsedAnswer:
    """Takes a text apart. Never raises. A text longer than LONGEST has no answer."""
    if len(text) > LONGEST:
        return ParsedAnswer("", (), "", "")
    last_end = max((m.start() for m in _TAG.finditer(text) if _kind(m) == "/t"), default=-1)
    think, fields, rest, form = [], [], [], []
    inside, since, before = "", 0, 0
    for match in _TAG.finditer(text):
        kind = _kind(match)
        if inside == "t" and kind != "/t" and not (kind == "a" and match.start() > last_end):
            continue  # a tag in the thinking is a thought; unless the thinking has no end
        piece = text[since : match.start()].strip()
        if inside == "t":
            think.append(piece)
        elif inside == "a":
            if piece or kind != "a":  # `<answer><answer>5`: the first is a slip
                fields.append(piece)
        elif piece:
            rest.append(piece)
            form.append(".")
        if kind == "/t" and inside != "t":  # the thinking began before the text
            think, fields, rest, form, before = [], [], [], [], match.start()
        form.append(kind)
        inside, since = (kind if kind in ("t", "a") else ""), match.end()
    piece = text[since:].strip()
    if inside == "a":
        fields.append(piece)
    elif inside == "t":
        think.append(piece)
    elif piece:
        rest.append(piece)
        form.append(".")
    think = [text[:before].strip(), *think]
    return ParsedAnswer("\n".join(think).strip(), tuple(fields), "\n".join(rest), " ".join(form))


def without_lead(line: str) -> str:
    """A line without `so the final answer is` at its beginning."""
    return _LEAD.sub("", line.strip(), count=1)


def format_score(answer: ParsedAnswer) -> float:
    """1 for thinking and then one answer, both with words, nothing around them; 0.5 for one answer
    field with words in another form; else 0."""
    if answer.field is None or len(answer.fields) > 1:
        return 0.0
    return 1.0 if answer.form == "t /t a /a" and answer.think else 0.5


def length_score(text: str, limit: int) -> float:
    """1 up to `limit` characters (> 0), falling evenly to 0 at twice as many."""
    return min(1.0, max(0.0, 2.0 - len(text) / limit))


def in_format(think: str, answer: str) -> str:
    """A text in the answer format; without thinking the answer field alone."""
    field = f"<answer>{answer}</answer>"
    return f"<think>{think}</think>{field}" if think else field


def _kind(match: re.Match[str]) -> str:
    return match[1] + match[2][0].lower()
