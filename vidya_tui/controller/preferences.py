"""What settings mean for a session and for the learner, in the app and in the line mode alike."""

from __future__ import annotations

from learning.protocol.records import LessonKind
from learning.protocol.requests import SetLearning
from vidya_tui.session.session import Session
from vidya_tui.settings.file import Settings


def prepare(session: Session, settings: Settings) -> None:
    """From the next ask on."""
    session.sampling, session.candidates = settings.sampling, settings.candidates
    session.owner_words, session.left_standing = settings.owner_words, settings.left_standing
    session.keep_unchosen = settings.keep_unchosen


def how_to_learn(settings: Settings) -> SetLearning:
    """For the teacher."""
    in_pauses = settings.eager == "in pauses"
    return SetLearning(settings.learning, in_pauses=in_pauses, weak=weak_kinds(settings))


def weak_kinds(settings: Settings) -> tuple[LessonKind, ...]:
    """What is learned, weakly, though the owner did not judge it."""
    kinds: tuple[tuple[bool, LessonKind], ...] = (
        (settings.owner_words, "owner_words"),
        (settings.left_standing, "continuation"),
    )
    return tuple(kind for wanted, kind in kinds if wanted)
