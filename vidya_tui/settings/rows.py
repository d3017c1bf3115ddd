"""The rows of the settings screen: one per setting, with its texts and its choices.

Pure; the bounds of the values are in settings/file.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from engine.config import Sampling
from learning.rewards.registry import tasks
from vidya_tui.settings.file import EAGER, Settings, SettingsError
from vidya_tui.settings.themes import NAMES
from vidya_tui.text.numbers import counted

Value = int | float | str | bool


@dataclass(frozen=True)
class SettingRow:
    """One setting."""

    key: str
    label: str
    help: str
    choices: tuple[Value, ...] = ()
    """All values, in order; empty: the owner types a number or a text."""
    step: float = 0.0
    """Change per arrow key; 0: the value can only be typed."""
    unit: str = ""
    words: Callable[[Value], str] = str
    """Formats a value."""
    warning: str = ""
    """Shown while the value is not the default."""
    otherwise: float | None = None
    """Of a setting that the model has one of its own for: where arrow keys start from while the owner chose
    none."""

    def shown(self, settings: Settings) -> str:
        """The current value, formatted, with its unit."""
        value = getattr(settings, self.key)
        if value is None:
            return "the model's own"
        return f"{self.words(value)} {self.unit}".rstrip()

    def next(self, settings: Settings, direction: int, *, round_trip: bool = False) -> Value | None:
        """The value after an arrow key (direction: 1 or -1); None at the end. round_trip: continue with the
        first value after the last."""
        value: Value | None = getattr(settings, self.key)
        if value is None:
            value = self.otherwise
        if self.choices:
            at = (self.choices.index(value) if value in self.choices else -1) + direction
            if round_trip:
                at %= len(self.choices)
            return self.choices[at] if 0 <= at < len(self.choices) else None
        if not self.step or value is None or isinstance(value, str):
            return None
        moved = round(value + direction * self.step, 6)
        new: Value = int(moved) if isinstance(value, int) and self.step >= 1 else moved
        return new if self._fits(settings, new) else None

    def typed(self, settings: Settings) -> str:
        """The current value as one types it; empty where the model's own counts."""
        value = getattr(settings, self.key)
        return "" if value is None else str(value)

    def read(self, text: str, settings: Settings) -> Value | None:
        """Parses a typed value; None for nothing, where the model has a value of its own. Raises
        SettingsError if the setting cannot have it."""
        if self.otherwise is not None and not text.strip():
            return None
        old: Value | None = getattr(settings, self.key)
        value: Value = text.strip()
        if not isinstance(old, str):
            for kind in (int, float):
                try:
                    value = kind(text.strip().replace(",", "."))
                    break
                except ValueError:
                    continue
        replace(settings, **{self.key: value})  # type: ignore[arg-type]
        return value

    def _fits(self, settings: Settings, value: Value) -> bool:
        try:
            replace(settings, **{self.key: value})  # type: ignore[arg-type]
        except SettingsError:
            return False
        return True


@dataclass(frozen=True)
class SettingGroup:
    """Rows under a title."""

    title: str
    rows: tuple[SettingRow, ...]


def _switch(value: Value) -> str:
    return "on" if value else "off"


def _minutes(value: Value) -> str:
    return counted(int(value), "minute") if value else "off"


def groups(themes: Sequence[str]) -> tuple[SettingGroup, ...]:
    """All rows, in groups. themes: names of Textual's themes."""
    looks = ("", *NAMES, *sorted(set(themes) - set(NAMES.values()) - set(NAMES)))
    return (
        SettingGroup(
            "answers",
            (
                SettingRow(
                    "candidates",
                    "answers to choose among",
                    "How many are written at once, 1 to 9. With 1 it is plain chat: rate the answer "
                    "or correct it.",
                    step=1,
                ),
                SettingRow(
                    "temperature",
                    "temperature",
                    "How freely words are drawn, 0 to 10. At 0 the first answer is the likeliest; "
                    "above 1 it begins to dream. Empty: what suits the model.",
                    step=0.1,
                    otherwise=Sampling.temperature,
                ),
                SettingRow(
                    "top_p",
                    "top-p",
                    "Only the likeliest words that together have this probability, above 0 and at "
                    "most 1. Empty: what suits the model.",
                    step=0.05,
                    otherwise=Sampling.top_p,
                ),
                SettingRow(
                    "max_tokens",
                    "longest answer",
                    "Where an answer is cut off, 1 to 4096. A word is one to three tokens.",
                    step=16,
                    unit="tokens",
                ),
                SettingRow(
                    "recall",
                    "recall lessons",
                    "On: where you ask for something taught in other words, the lesson helps to answer, "
                    "and the card says which. An answer may say back what you said in an earlier "
                    "conversation, if you probably ask for it.",
                    choices=(True, False),
                    words=_switch,
                ),
                SettingRow(
                    "offers",
                    "offer lessons",
                    "On: if a message may ask for a lesson in other words, one of the answers is that "
                    "lesson's; where Vidya knows no answer, up to three are those of the nearest lessons. "
                    "They have no certainty and stand last. If nothing was taught, an answer may say back "
                    "what you perhaps ask for of what you said in an earlier conversation.",
                    choices=(True, False),
                    words=_switch,
                ),
            ),
        ),
        SettingGroup(
            "learning",
            (
                SettingRow(
                    "learning",
                    "learning",
                    "Off: what you teach waits in the journal until it is on again.",
                    choices=(True, False),
                    words=_switch,
                ),
                SettingRow(
                    "eager",
                    "when",
                    "At once: each lesson as it comes, beside your typing. In pauses: when you have "
                    "typed nothing for ten seconds.",
                    choices=EAGER,
                ),
                SettingRow(
                    "left_standing",
                    "answers I leave standing",
                    "On: learn a little from them. An answer that you go on with unpicked counts a tenth of "
                    "one that you pick: up to twice that if you rate a later answer good, less if you rate "
                    "one bad, correct one or leave. /lessons lists it.",
                    choices=(True, False),
                    words=_switch,
                ),
                SettingRow(
                    "owner_words",
                    "from my own words too",
                    "What you say is learned as well, fifty times weaker than a correction, so that "
                    "Vidya gets used to how you talk.",
                    choices=(True, False),
                    words=_switch,
                ),
                SettingRow(
                    "reasons",
                    "reasons, elsewhere too",
                    "Why you liked an answer or not (/again shorter please) is carried over to a few "
                    "other messages, in pauses. Small models then often miss the point.",
                    choices=(True, False),
                    words=_switch,
                ),
                SettingRow(
                    "mark_taste",
                    "say what it had expected",
                    "On: after you have picked, the note says which answer Vidya, from your earlier picks, "
                    "thought you would pick. Never before, so that it does not lead you.",
                    choices=(True, False),
                    words=_switch,
                ),
                SettingRow(
                    "idle_practice",
                    "practice while I am away",
                    "Minutes without a key after which Vidya practises alone until you are back. 0 "
                    "is off, at most 240.",
                    step=5,
                    words=_minutes,
                ),
                SettingRow(
                    "practice_task",
                    "what is practised then",
                    "Problems that Vidya makes and checks by itself. Without settings of yours they get "
                    "harder once they are solved. Taste, few examples and self-play are practised "
                    "first, without other tasks.",
                    choices=tuple(tasks()),
                    words=lambda value: f"{value}: {tasks().get(str(value), '')}",
                ),
                SettingRow(
                    "practice_others",
                    "what is practised besides",
                    "Other tasks, each followed by its settings. Yours has half of the problems; a "
                    "curriculum divides the rest. Empty: yours alone.",
                    words=lambda value: str(value) or "nothing",
                ),
                SettingRow(
                    "practice_settings",
                    "how hard it is",
                    "Settings of that task: NAME=VALUE, with spaces between; in quotes where a value has "
                    "spaces. Empty: its own.",
                    words=lambda value: str(value) or "as usual",
                ),
                SettingRow(
                    "practice_options",
                    "how it is practised",
                    "Options of every practice: NAME=VALUE, with spaces between. A wrong name lists all.",
                    words=lambda value: str(value) or "as usual",
                ),
            ),
        ),
        SettingGroup(
            "privacy",
            (
                SettingRow(
                    "keep_unchosen",
                    "keep answers not chosen",
                    "Off: they are erased from the journal as soon as the talk goes on and what was "
                    "chosen is learned.",
                    choices=(True, False),
                    words=_switch,
                ),
            ),
        ),
        SettingGroup(
            "screen",
            (
                SettingRow(
                    "theme",
                    "theme",
                    "Empty follows the terminal; \u201cterminal\u201d uses its own colours.",
                    choices=looks,
                    words=lambda value: str(value) or "follows the terminal",
                ),
                SettingRow(
                    "motion",
                    "motion",
                    "Off: nothing glides or fades; what changes is there at once.",
                    choices=(True, False),
                    words=_switch,
                ),
            ),
        ),
        SettingGroup(
            "model",
            (
                SettingRow(
                    "model",
                    "model",
                    "Enter lists the models, their earlier weights, and what can grow.",
                ),
            ),
        ),
    )
