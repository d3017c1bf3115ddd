"""Applies settings to a session and to the learner, in the app and in line mode alike."""

from __future__ import annotations

from engine.config import Sampling
from learning.protocol.records import LessonKind
from learning.protocol.requests import SetLearning
from vidya_tui.session.session import Session
from vidya_tui.settings.file import Settings


def prepare(session: Session, settings: Settings, model: Sampling) -> None:
    """Applies settings to the session, from the next ask on. model: what suits the model in use."""
    session.sampling, session.candidates = settings.sampling_of(model), settings.candidates
    session.owner_words, session.left_standing = settings.owner_words, settings.left_standing
    session.keep_unchosen, session.recall = settings.keep_unchosen, settings.recall
    session.mark_taste, session.offers = settings.mark_taste, settings.offers


def how_to_learn(settings: Settings) -> SetLearning:
    """The request that tells the teacher how to learn."""
    in_pauses = settings.eager == "in pauses"
    return SetLearning(
        settings.learning,
        in_pauses=in_pauses,
        weak=weak_kinds(settings),
        reasons=settings.reasons,
    )


def weak_kinds(settings: Settings) -> tuple[LessonKind, ...]:
    """Kinds of lessons that are learned, with low weight, though the owner did not judge them."""
    kinds: tuple[tuple[bool, LessonKind], ...] = (
        (settings.owner_words, "owner_words"),
        (settings.left_standing, "continuation"),
    )
    return tuple(kind for wanted, kind in kinds if wanted)
