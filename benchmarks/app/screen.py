"""A small terminal emulator: takes an application's output and keeps the characters on the screen.

Supports what Textual uses: text, cursor movement, erasing, the alternate screen. Left out: colours, scrolling
regions and tabs, which do not move characters here.
"""

from __future__ import annotations

import codecs
import re
import unicodedata

# one token: a control sequence, a string (title, query), another escape, an escape sequence that is cut
# short by CAN or by the next one, or a run of text
_TOKEN = re.compile(
    r"\x1b\[([0-?]*)[ -/]*([@-~])|\x1b[\]P_^X][^\x18]*?(?:\x07|\x1b\\|\x18)"
    r"|\x1b[ -/]*[0-OQ-WYZ\\`-~]|\x1b(?:\[[0-?]*)?[ -/]*(?:\x18|(?=\x1b))"
    r"|[^\x00-\x1f\x7f]+|[\x00-\x1a\x1c-\x1f\x7f]",
    re.DOTALL,
)


class TerminalScreen:
    """Rows of characters; (0, 0) is the top left."""

    def __init__(self, columns: int, lines: int) -> None:
        self.columns, self.lines = columns, lines
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self._rest = ""
        self._x = self._y = 0
        self._saved = (0, 0)
        self._clear()

    def feed(self, data: bytes) -> None:
        """Processes output; an incomplete escape sequence waits for its end."""
        text = self._rest + self._decode(data)
        at = 0
        while at < len(text):
            token = _TOKEN.match(text, at)
            if token is None:  # an incomplete escape sequence
                break
            at = token.end()
            if token[2]:
                self._control(token[1], token[2])
            elif token[0][0] != "\x1b":
                self._print(token[0])
        self._rest = text[at:]

    def row(self, y: int) -> str:
        """A line without trailing spaces."""
        return "".join(self._cells[y]).rstrip()

    def text(self) -> str:
        """All lines."""
        return "\n".join(map(self.row, range(self.lines)))

    def _clear(self) -> None:
        self._cells = [[" "] * self.columns for _ in range(self.lines)]

    def _print(self, text: str) -> None:
        if text[0] < " " or text[0] == "\x7f":
            if text == "\n":
                self._newline()
            elif text == "\r":
                self._x = 0
            elif text == "\b":
                self._x = max(0, self._x - 1)
            return
        for letter in text:
            width = 2 if unicodedata.east_asian_width(letter) in "WF" else 1
            if unicodedata.combining(letter):
                continue
            if self._x + width > self.columns:
                self._x = 0
                self._newline()
            self._cells[self._y][self._x] = letter
            if width == 2:
                self._cells[self._y][self._x + 1] = ""
            self._x += width

    def _newline(self) -> None:
        if self._y == self.lines - 1:
            self._cells.append([" "] * self.columns)
            del self._cells[0]
        else:
            self._y += 1

    def _control(self, given: str, kind: str) -> None:
        if given[:1] in ("?", ">", "<", "="):
            if kind in "hl" and given in ("?1049", "?47", "?1047"):
                self._clear()
            return
        if kind not in "HfABCDGdsuJK":
            return
        numbers = [int(part) if part.isdigit() else 0 for part in given.split(";")]
        first = numbers[0]
        step = max(1, first)
        if kind in "Hf":
            column = numbers[1] if len(numbers) > 1 else 1
            self._y, self._x = max(1, first) - 1, max(1, column) - 1
        elif kind == "A":
            self._y -= step
        elif kind == "B":
            self._y += step
        elif kind == "C":
            self._x += step
        elif kind == "D":
            self._x -= step
        elif kind == "G":
            self._x = step - 1
        elif kind == "d":
            self._y = step - 1
        elif kind == "s":
            self._saved = (self._x, self._y)
        elif kind == "u":
            self._x, self._y = self._saved
        elif kind == "J":
            self._erase(first, (self._y, self._x), whole_lines=True)
        elif kind == "K":
            self._erase(first, (self._y, self._x), whole_lines=False)
        self._y = min(max(self._y, 0), self.lines - 1)
        self._x = min(max(self._x, 0), self.columns - 1)

    def _erase(self, what: int, here: tuple[int, int], *, whole_lines: bool) -> None:
        """Erases in the screen or the line. what: 0 from the cursor on, 1 up to it, 2 everything."""
        y, x = here
        for line in range(self.lines) if whole_lines else [y]:
            for column in range(self.columns):
                after, before = (line, column) >= (y, x), (line, column) <= (y, x)
                if what >= 2 or (after if what == 0 else before):
                    self._cells[line][column] = " "
