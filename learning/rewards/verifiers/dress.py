"""Strips markup from a text: bold, code quotes, HTML, headings, LaTeX wrappers and spacing; converts
digits and signs to ASCII.

Struck-out text is removed, because it is not asserted. `**` between two operands is a power; around one
it is emphasis. Takes time linear in the text (fields and tails are short anyway).
"""

from __future__ import annotations

import html
import re
import unicodedata

_STRUCK = re.compile(
    r"~~[^~]{0,500}+~~|<(s|del|strike)>.{0,500}?</\1>|\\[bx]?(?:cancel|sout)\s{0,2}\{[^{}]*+\}",
    re.IGNORECASE | re.DOTALL,
)
_TAG = re.compile(
    r"</?(?:(b|strong|i|em|u|span|code|font|mark|small|big|ins|kbd|tt|sub|mn|mrow)"
    r"|p|br|hr|div|pre|h[1-6]|li|ul|ol|center|t[dhr]|table|tbody|math)(?:\s[^<>]{0,200})?/?>",
    re.IGNORECASE,
)
"""Inline tags are in a group: they vanish; the others become line breaks."""
_RAISED = re.compile(r"<sup>([^<>]{0,20})</sup>", re.IGNORECASE)
_FENCE = re.compile(r"```[a-z0-9]{0,10}(?=\n)|`++", re.IGNORECASE)
_EMPHASIS = re.compile(
    r"(?<![\w*)\]}^\\])(\*{1,3}+|_{1,3}+)(?=[^\s*_])([^*\n]{1,300}?)(?<=\S)\1(?![\w*(\[{])"
)
_LOOSE = re.compile(r"^[ \t]*\*{2,3}(?=[^\s*])|(?<=[^\s*^\\])\*{1,3}$|^#{1,6}[ \t]", re.MULTILINE)
"""Unclosed emphasis, and heading marks."""
_WRAPPED = re.compile(
    r"\\(?:text(?:bf|it|rm|tt|sf)?|math(?:bf|rm|it|sf|tt)|mbox|emph|bm|boldsymbol|operatorname)"
    r"\s{0,2}\{([^{}]*+)\}"
)
_QUOTES = re.compile("[\"“”„«»]|(?<![0-9A-Za-z])['‘’‚]|['‘’](?![0-9A-Za-z])")
_BRACKETS = re.compile(
    r"(?:(?<=[\s=:$(\[{+*/<>≤≥≠≈~±¬-])|^)[(\[{]\s?([-+]?[$€£¥₹]?[0-9][0-9.,]{0,40}%?)\s?[)\]}]"
)
"""Brackets around a single number."""
_BLANKS = re.compile(" {2,}")
_POWER = re.compile("(?<=[0-9])[⁺⁻]?[⁰¹²³⁴-⁹]++")
_VULGAR = re.compile(" ?[¼-¾⅐-⅞]")
_PLAIN = str.maketrans(
    dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212\u207b\u208b\ufe58\ufe63\uff0d", "-")
    | {
        "＋": "+",
        "٬": ",",
        "，": ",",
        "٫": ".",
        "．": ".",
        "：": ":",
        "％": "%",
        "＄": "$",
        "⁄": "/",
    }
    | {"＝": "=", "？": "?", "！": "!", "ʼ": "'"}
)
"""Maps hyphens, dashes, minus signs, and full-width and Arabic punctuation to ASCII."""
_LATEX = (
    ("\\,", ""), ("\\!", ""), ("\\;", ""), ("{,}", ","), ("\\%", "%"), ("\\$", "$"),
    ("\\left", ""), ("\\right", ""), ("\\displaystyle", ""), ("^\\circ", "°"), ("^{\\circ}", "°"),
)  # fmt: skip
_SPACES = tuple(f"\\{mark}" for mark in "()[] ")
_SIGNS = {
    "neq": "≠", "ne": "≠", "geq": "≥", "ge": "≥", "gt": ">", "leq": "≤", "le": "≤", "lt": "<",
    "approx": "≈", "sim": "≈", "simeq": "≈", "pm": "±", "mp": "±", "times": "×", "cdot": "·",
    "div": "÷", "neg": "¬", "lnot": "¬", "geqslant": "≥", "leqslant": "≤",
}  # fmt: skip
_COMMAND = re.compile(r"\\([a-z]+)(?![a-z])")


def is_struck(text: str) -> bool:
    """True if a part of the text is struck out."""
    return _STRUCK.search(text) is not None


def unmarked(text: str) -> str:
    """Removes Markdown, HTML and struck-out text. Keeps LaTeX."""
    if "~" in text or "<" in text or "\\" in text:
        text = _STRUCK.sub(" ", text)
    if "<" in text:
        text = _TAG.sub(lambda m: "" if m[1] else "\n", _RAISED.sub(r"^{\1}", text))
    if "&" in text:
        text = html.unescape(text)
    if "`" in text:
        text = _FENCE.sub("", text)
    if "*" in text or "_" in text or "#" in text:
        for _ in range(3):  # emphasis inside emphasis
            text = _EMPHASIS.sub(r"\2", text)
        text = _LOOSE.sub("", text)
    return text


def undressed(text: str) -> str:
    """Removes all markup; writes powers as `^` and vulgar fractions as ` 1/2`."""
    text = unmarked(text)
    if not text.isascii():
        text = _POWER.sub(lambda m: "^" + unicodedata.normalize("NFKC", m[0]), text)
        text = _VULGAR.sub(
            lambda m: " " + unicodedata.normalize("NFKC", m[0].strip()).replace("⁄", "/"), text
        )
        text = text.replace("n’t", "n't").translate(_PLAIN)
        # convert only decimal digits of other scripts: a superscript is not a digit of the number
        text = "".join(str(unicodedata.decimal(c)) if c.isdecimal() else c for c in text)
    if "\\" in text or "{" in text:
        for old, new in _LATEX:
            text = text.replace(old, new)
        for space in _SPACES:
            text = text.replace(space, " ")
        text = re.sub(r"(?<=[0-9])~(?=[A-Za-z\\])", " ", text)
        text = _WRAPPED.sub(r" \1 ", _WRAPPED.sub(r" \1 ", text))
        text = _COMMAND.sub(lambda m: _SIGNS[m[1]] if m[1] in _SIGNS else m[0], text)
    text = _BRACKETS.sub(r" \1 ", _BRACKETS.sub(r" \1 ", _QUOTES.sub("", text)))
    text = _BLANKS.sub(" ", text)
    return text
