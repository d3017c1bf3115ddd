"""Judging any ask of the journal, for `vidya teach` and `vidya serve`."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from learning.journal.journal import Journal
from learning.protocol.records import Pick
from tests.fakes import ScriptedTeacher
from vidya_tui.session.session import Session
from vidya_tui.session.teaching import AskVerdict, judge


def test_only_a_new_judgement_returns(tmp_path: Path) -> None:
    with closing(Journal(tmp_path / "journal.db")) as journal:
        teacher = ScriptedTeacher(("one", "two"))
        session = Session(journal, teacher, candidates=2)
        teacher.on_event = session.handle
        ask = session.say("hello")
        told: list[str] = []
        for number, index in enumerate((1, 2), 1):
            (judged,) = judge(session, ask, AskVerdict(pick=index), told.append)
            assert (judged.id, judged.judgement) == (number, Pick(ask.id, index))
            assert judge(session, ask, AskVerdict(pick=index), told.append) == []
        assert told == []
