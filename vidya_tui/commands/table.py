"""The slash commands: one table for the prompt, the palette, the keys, the footer and /help.

To add a command, add a row here and its action in controller/controller.py, or in
screens/chat/commands.py if it opens a screen. Left out: parsing (parse.py) and the owner's keys (keymap.py).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from vidya_tui.commands.arguments import (
    Argument,
    CommandError,
    candidate,
    epochs,
    free_text,
    last_lesson,
    lesson,
    no_argument,
    one_of,
    rating,
    reason,
)
from vidya_tui.commands.situation import Situation


def _always(_: Situation) -> bool:
    return True


def _tasks() -> Mapping[str, str]:
    """Name -> description of every practice task, and `runs`; imported on first use."""
    from learning.rewards.registry import tasks

    return {**tasks(), "runs": "the earlier runs, and the answers that were kept of them"}


def _fetchable() -> Mapping[str, str]:
    """Name -> size and licence of every model that can be fetched, and `stop`."""
    from learning.models.known import KNOWN

    models = {
        name: f"{one.download_bytes / 1e6:.0f} MB, {one.licence}" for name, one in KNOWN.items()
    }
    return {**models, "stop": "end the download; it goes on with the next one"}


@dataclass(frozen=True)
class Command:
    """A row of the table."""

    name: str
    help: str
    """One line: what it does for the owner."""
    hint: str = ""
    """Usage of its argument."""
    keys: str = ""
    """Default keys in Textual's notation, the first one is shown; empty: none."""
    label: str = ""
    """Label in the footer."""
    values: tuple[str, ...] = ()
    """Arguments for completion."""
    offers: Callable[[], Mapping[str, str]] | None = None
    """Returns argument -> description for completion, in place of `values`."""
    read: Callable[[str, str], Argument] = no_argument
    """Parses the argument: (name, text after it) -> argument; raises CommandError."""
    when: Callable[[Situation], bool] = _always
    """Whether the command is available."""
    footer: Callable[[Situation], bool] | None = None
    """Whether the footer shows its key; None: whenever available."""
    screen: Literal["", "chat", "app"] = ""
    """Whose screen it opens: the chat's (screens/registry.py), or the app's, because more than the
    conversation changes on it; empty: none, or one that belongs to something else it does."""
    plain: bool = True
    """Whether it works in the line mode (`vidya --plain`)."""
    plain_help: str = ""
    """What it does there, if that is less than `help` says."""
    plain_hint: str = ""
    """Usage of its argument there, if that is not `hint`."""
    aliases: tuple[str, ...] = ()
    """Other names, as used by other programs."""

    @property
    def usage(self) -> str:
        return f"/{self.name} {self.hint}".rstrip()

    @property
    def plain_usage(self) -> str:
        """What /help says of it in the line mode."""
        usage = f"/{self.name} {self.plain_hint or self.hint}".rstrip()
        return f"{usage}: {self.plain_help or self.help}"

    @property
    def bare(self) -> bool:
        """True if the command works without an argument."""
        try:
            self.read(self.name, "")
        except CommandError:
            return False
        return True


COMMANDS: tuple[Command, ...] = (
    Command(
        "pick",
        "take this candidate as the answer; again, to change your mind",
        hint="N",
        label="pick",
        read=candidate,
        when=lambda s: s.waiting or s.asked,
    ),
    Command(
        "correct",
        "retype the answer as it should have been",
        hint="[TEXT]",
        keys="f2",
        label="correct",
        read=free_text,
        when=lambda s: s.waiting or s.answered,
        plain_hint="TEXT",
    ),
    Command(
        "rate",
        "say how good the last answer was, and why; off withdraws it",
        hint="good|bad|off [end|--from WORDS] [REASON]",
        values=("good", "bad", "off"),
        read=rating,
        when=lambda s: s.ratable,
    ),
    Command(
        "again",
        "ask for the answer otherwise: shorter please, not about cats",
        hint="REASON",
        read=reason,
        when=lambda s: s.asked,
    ),
    Command(
        "regenerate",
        "ask for other candidates",
        keys="ctrl+r",
        label="others",
        when=lambda s: s.asked,
    ),
    Command(
        "edit",
        "say an earlier message in other words; both are kept",
        hint="[TEXT]",
        keys="f3",
        label="edit",
        read=free_text,
        when=lambda s: s.asked,
        footer=lambda s: s.answered,
        plain_help="say your last message in other words; both are kept",
        plain_hint="TEXT",
    ),
    Command(
        "branch",
        "the other way in which a message was asked, with what followed it",
        hint="[previous|next]",
        keys="alt+y",
        label="branch",
        values=("previous", "next"),
        read=one_of("previous", "next"),
        when=lambda s: s.branched,
        footer=lambda s: not s.waiting,
    ),
    Command(
        "copy",
        "copy the last answer; all: everything that was said",
        hint="[all]",
        keys="f9",
        label="copy",
        values=("all",),
        read=one_of("all"),
        when=lambda s: s.asked,
        footer=lambda s: s.answered,
        plain=False,
    ),
    Command(
        "find",
        "find words in this conversation",
        hint="[WORDS]",
        keys="ctrl+f",
        label="find",
        read=free_text,
        when=lambda s: s.asked,
        footer=lambda s: s.answered,
        plain=False,
    ),
    Command(
        "export",
        "write this conversation into a file: md to read, json for programs",
        hint="[md|json]",
        keys="alt+w",
        label="export",
        values=("md", "json"),
        read=one_of("md", "json"),
        when=lambda s: s.asked,
        footer=lambda s: False,
    ),
    Command(
        "editor",
        "write the message in your own editor ($VISUAL or $EDITOR)",
        keys="f4",
        label="editor",
        footer=lambda s: False,
        plain=False,
    ),
    Command(
        "cancel",
        "stop what is being written, the training, or the practice",
        keys="escape",
        label="stop",
        when=lambda s: s.streaming or s.training or s.practising,
    ),
    Command(
        "train",
        "learn the whole book again, while you go on chatting",
        hint="[EPOCHS]",
        keys="f5",
        label="train",
        read=epochs,
        when=lambda s: not s.training,
        footer=lambda s: not s.waiting and not s.answered,
    ),
    Command(
        "practice",
        "practise a task alone; no name: the progress; runs: the earlier runs",
        hint="[TASK \u2026|runs|#RUN]",
        keys="alt+r",
        label="practice",
        values=("chain_sum", "basic_arithmetic", "syllogism", "propositional_logic"),
        offers=_tasks,
        read=free_text,
        footer=lambda s: False,
    ),
    Command(
        "curve",
        "how the training goes, or went: time left, loss, recall",
        keys="f12",
        screen="app",
        label="curve",
        footer=lambda s: s.training,
    ),
    Command(
        "undo",
        "take the last lesson out of the model; the journal notes that",
        read=last_lesson,
        keys="f8",
        label="undo",
        footer=lambda s: s.taught and not s.waiting,
    ),
    Command(
        "new",
        "start a new conversation",
        keys="ctrl+n",
        label="new",
        footer=lambda s: s.answered,
    ),
    Command(
        "lessons",
        "everything that was taught; teach again, change, take back",
        hint="[WORDS]",
        keys="alt+l",
        screen="chat",
        label="lessons",
        read=free_text,
        footer=lambda s: s.taught and not s.waiting,
        plain_help="everything that was taught, and how much of it is known",
    ),
    Command(
        "compare",
        "a lesson's message, answered as before the lesson and as now",
        hint="[LESSON]",
        keys="alt+c",
        screen="chat",
        label="before/after",
        read=lesson,
        when=lambda s: s.taught,
        footer=lambda s: s.answered,
    ),
    Command(
        "book",
        "read, search and change what is known by heart",
        hint="[WORDS]",
        keys="alt+o",
        screen="chat",
        label="book",
        read=free_text,
        footer=lambda s: not s.waiting and not s.answered,
        plain_help="read and search what is known by heart",
    ),
    Command(
        "progress",
        "how the model does over time",
        keys="alt+g",
        screen="chat",
        label="progress",
        footer=lambda s: not s.waiting and not s.answered,
    ),
    Command(
        "taste",
        "what it has learned of what you like, and how well it foretells you",
        keys="alt+t",
        screen="app",
        label="taste",
        footer=lambda s: False,
    ),
    Command(
        "history",
        "find, reopen, rename, copy or erase an earlier conversation",
        hint="[WORDS]",
        read=free_text,
        keys="ctrl+o",
        screen="chat",
        label="history",
        footer=lambda s: not s.waiting and not s.answered,
        plain_help="find an earlier conversation; #N reopens it",
        plain_hint="[WORDS|#N]",
    ),
    Command(
        "model",
        "other models, earlier weights, a larger model of this one",
        keys="alt+m",
        screen="app",
        label="model",
        footer=lambda s: False,
        plain_help="the models, those that can be fetched, and earlier weights",
    ),
    Command(
        "get",
        "fetch a model that speaks better, and go on with it; stop ends that",
        hint="[NAME|stop]",
        keys="alt+j",
        label="fetch",
        offers=_fetchable,
        read=free_text,
        footer=lambda s: False,
    ),
    Command(
        "settings",
        "answers, learning, privacy, looks",
        keys="alt+s",
        screen="app",
        label="settings",
        footer=lambda s: not s.waiting and not s.answered,
        plain_help="the settings, and the file in which to change them",
    ),
    Command("help", "keys and commands", keys="f1", label="help", plain_help="this list"),
    Command(
        "quit",
        "save and leave; so do /exit, /q and /bye",
        keys="ctrl+q",
        label="quit",
        aliases=("exit", "q", "bye"),
    ),
)


@dataclass(frozen=True)
class Key:
    """A key for something that is not a command."""

    name: str
    """Its name in `[keys]`; empty: the key cannot be changed."""
    keys: str
    help: str


KEYS: tuple[Key, ...] = (
    Key("", "enter", "send"),
    Key("newline", "ctrl+j,shift+enter,alt+enter", "a new line (the first works in any terminal)"),
    Key("", "ctrl+s", "save a correction (f2) or an entry of the book"),
    Key(
        "",
        "1 \u2026 9",
        "pick that candidate, while candidates wait and the prompt is empty; where more is typed "
        "within 0.3 s, it is text",
    ),
    Key("", "click", "choose a candidate; a second click, or enter, picks it"),
    Key("", "tab", "complete a command; move to the candidates (arrows, then enter)"),
    Key("", "shift+tab", "move to the conversation: choose a message to copy or to edit"),
    Key("", "up / down", "earlier messages of yours, at the first and the last line"),
    Key("good", "alt+up", "the last answer was good; again withdraws it"),
    Key("bad", "alt+down", "the last answer was bad; again withdraws it"),
    Key("back", "pageup", "read back"),
    Key("on", "pagedown", "read on"),
    Key("jump", "ctrl+end", "jump to the end"),
    Key("", "ctrl+c", "copy what is selected with the mouse or with shift and arrows"),
    Key("", "ctrl+p", "all commands in a palette"),
)
