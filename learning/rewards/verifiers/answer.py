"""Parses the fields of an answer, `<think>` and `<answer>`; tolerates spaces, any case, missing ends.

Text inside `<think>` is never the answer. Several answer fields with different words count as no
answer, so listing every candidate earns nothing. Parsing takes time linear in the text.
Left out: what the words mean (number.py, string.py, expression.py).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

LONGEST = 1_000_000
"""Characters. A longer text is not parsed and has no answer."""
_TAG = re.compile(r"<\s{0,4}(/?)\s{0,4}(think|answer)\s{0,4}>", re.IGNORECASE)
_LEAD = re.compile(
    r"^(?:so |thus |therefore |hence )?,? ?(?:(?:the|my|our) )?(?:final |correct )?answer"
    r"(?:(?: is| would be| must be):?| ?[:=]) ?(?=\S)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class ParsedAnswer:
    """The parts of an answer."""

    think: str
    """Text of the thinking, stripped."""
    fields: tuple[str, ...]
    """Texts of the answer fields outside the thinking, stripped; an empty field is kept as ""."""
    rest: str
    """Everything outside fields, stripped."""
    form: str
    """The tags in order, each as t, /t, a or /a, with `.` for words outside fields."""

    @property
    def field(self) -> str | None:
        """The answer field; None if there is none, it is empty, or there are several that differ."""
        different = {" ".join(f.split()).casefold() for f in self.fields}
        return self.fields[-1] if len(different) == 1 and self.fields[-1] else None

    @property
    def said(self) -> str | None:
        """The answer field; if there are no fields, the text outside the thinking. None: no answer."""
        if self.fields:
            return self.field
        return self.rest or None


def read_answer(text: str) -> ParsedAnswer:
    """Parses a text. Never raises. A text longer than LONGEST has no answer."""
    if len(text) > LONGEST:
        return ParsedAnswer("", (), "", "")
    last_end = max((m.start() for m in _TAG.finditer(text) if _kind(m) == "/t"), default=-1)
    think, fields, rest, form = [], [], [], []
    inside, since, before = "", 0, 0
    for match in _TAG.finditer(text):
        kind = _kind(match)
        if inside == "t" and kind != "/t" and not (kind == "a" and match.start() > last_end):
            continue  # ignore a tag inside the thinking, unless the thinking is never closed
        piece = text[since : match.start()].strip()
        if inside == "t":
            think.append(piece)
        elif inside == "a":
            if piece or kind != "a":  # `<answer><answer>5`: ignore the first tag
                fields.append(piece)
        elif piece:
            rest.append(piece)
            form.append(".")
        if kind == "/t" and inside != "t":  # `<think>` was in the prompt: all before is thinking
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
    """Removes a leading phrase such as `so the final answer is`."""
    return _LEAD.sub("", line.strip(), count=1)


def format_score(answer: ParsedAnswer) -> float:
    """1 for non-empty thinking, then one non-empty answer field, and nothing else; 0.5 for one non-empty
    answer field in another form; else 0."""
    if answer.field is None or len(answer.fields) > 1:
        return 0.0
    return 1.0 if answer.form == "t /t a /a" and answer.think else 0.5


def length_score(text: str, limit: int) -> float:
    """1 up to `limit` characters (> 0), then linearly down to 0 at twice as many."""
    return min(1.0, max(0.0, 2.0 - len(text) / limit))


def in_format(think: str, answer: str) -> str:
    """Builds a text in the answer format; the answer field alone if `think` is empty."""
    field = f"<answer>{answer}</answer>"
    return f"<think>{think}</think>{field}" if think else field


def _kind(match: re.Match[str]) -> str:
    return match[1] + match[2][0].lower()
