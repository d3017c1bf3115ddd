"""Which taught answers are told apart, counted without a model's answers."""

from __future__ import annotations

import pytest

from benchmarks.facts import told_apart_count as module
from benchmarks.facts.told_apart_count import (
    NEAREST,
    Refused,
    Wording,
    counted,
    main,
    report,
    without_kinds,
    wordings,
)
from learning.protocol.records import Lesson, Turn
from learning.teacher.known import Known
from learning.text.normalise import fold


def lesson(question: str, answer: str) -> Lesson:
    return Lesson("example", (Turn("user", question),), answer)


BIRTHDAY = lesson("When is your birthday?", "My birthday is the first of April.")
WEDDING = lesson("When is my wedding anniversary?", "You married on the tenth of June.")
ASKED = [
    Wording("rewording", "on which day is our wedding anniversary", WEDDING),
    Wording("unknown", "When is my wedding anniversary?", BIRTHDAY),
    Wording("unknown", "When is my name day?", BIRTHDAY),
]


def test_own_answers_and_those_of_others_are_counted_with_and_without_kinds() -> None:
    own, nearest, known, unknown = counted(ASKED)
    assert (own.kind, own.question, own.before, own.now) == (
        "rewording",
        WEDDING.prompt[-1].text,
        False,
        False,
    )
    assert nearest == Refused(NEAREST, ASKED[0].text, "When is your birthday?", False, True)
    assert (known.before, known.now) == (False, False), "a question that was taught"
    assert unknown.message == "When is my name day?"
    assert report([own, nearest, nearest]) == [["rewording", 1, 0, 0, 0], [NEAREST, 2, 0, 2, 0]]


def test_without_kinds_the_rule_and_its_reverse_are_off() -> None:
    known = Known.of((), (BIRTHDAY,))
    asked = (WEDDING.prompt[-1].text, BIRTHDAY.answer, {fold(BIRTHDAY.answer): 0.1})
    again = ("when's your birthday", BIRTHDAY.answer)
    assert known.of_other_kind(*asked) and known.of_same_kind(*again)
    with without_kinds():
        assert not known.of_other_kind(*asked) and not known.of_same_kind(*again)


def test_each_file_and_owner_has_its_wordings() -> None:
    found = wordings("tune")
    assert [name for name in found if "people" not in name] == [
        "lessons_tune.jsonl",
        "lessons_tune2.jsonl",
    ]
    assert len(found) == 2 + 5
    assert len(found["lessons_tune.jsonl"]) == 60 * 4
    assert len(found["people.jsonl, mira"]) == 20 * 8


def test_the_command_prints_a_table_and_the_questions_that_changed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(module, "wordings", lambda half: {f"people.jsonl, {half}": ASKED})
    changed = Refused("rewording", "whats my weight", "How much do I weigh?", True, False)
    monkeypatch.setattr(module, "counted", lambda asked: [changed] if asked is ASKED else [])
    main(["tune"])
    printed = capsys.readouterr().out
    assert "| rewording | 1 | 1 | 0 | 1 |" in printed
    assert "- given now: 'whats my weight' for 'How much do I weigh?'" in printed
    with pytest.raises(SystemExit):
        main(["all"])
    assert "invalid choice: 'all'" in capsys.readouterr().err
