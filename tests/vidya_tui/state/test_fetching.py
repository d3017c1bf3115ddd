"""What a model that can be fetched costs, in words."""

from __future__ import annotations

from dataclasses import replace

from learning.models.known import KNOWN, OFFERED
from learning.protocol.events import Ready
from learning.protocol.model_events import Fetched
from tests.vidya_tui.state.test_learner import DONE
from vidya_tui.state import fetching, learner, presence
from vidya_tui.state.learner import RECENT, Learning
from vidya_tui.state.presence import ModelPresence

MODEL = KNOWN[OFFERED]
HERE, ELSEWHERE = "on this machine", "on the benchmark machine"


def ready(model: str) -> Ready:
    return Ready(model, 3, 10, "cpu")


def test_the_offer_says_size_licence_gain_and_seconds() -> None:
    assert fetching.offer(MODEL, f"about 5 s a lesson {HERE}", "alt+j") == (
        "smollm2-135m (98 MB, Apache-2.0) speaks much better, and takes about 5 s a lesson on this machine; "
        "alt+j fetches it while you talk."
    )
    assert "speaks much better; alt+j" in fetching.offer(MODEL, "", "alt+j")


def test_the_seconds_come_from_lessons_of_the_shipped_model_here() -> None:
    # the 10M took 1.1 s in the benchmark, the 135M 4.5 s: a machine half as fast takes 9 s
    assert fetching.lesson(MODEL, "10m", [30.0, 2.2, 2.0, 2.2, 2.3]) == f"about 9 s a lesson {HERE}"
    assert fetching.lesson(MODEL, "10m", [0.01] * 3) == f"about 1 s a lesson {HERE}"


def test_where_nothing_is_known_they_are_those_of_the_benchmark() -> None:
    for used, took in (("10m", []), ("10m", [2.2, 2.2]), ("49m", [9.0] * 9)):
        assert fetching.lesson(MODEL, used, took) == f"about 5 s a lesson {ELSEWHERE}"
    assert fetching.lesson(KNOWN["qwen3-0.6b"], "10m", [2.2] * 9) == ""


def test_the_seconds_of_learned_lessons_are_kept_for_the_model_in_use() -> None:
    now = learner.after(Learning(), ready("10m"))
    for event in (
        replace(DONE, seconds=2.0),
        replace(DONE, seconds=3.0, rolled_back=True),
        replace(DONE, seconds=4.0, steps=0),
        replace(DONE, seconds=5.0),
    ):
        now = learner.after(now, event)
    assert now.took == (2.0, 5.0)
    now = learner.after(now, ready("10m"))
    assert now.took == (2.0, 5.0), "its process was started again"
    for _ in range(RECENT):
        now = learner.after(now, replace(DONE, seconds=6.0))
    assert now.took == (6.0,) * RECENT
    assert learner.after(now, ready("49m")).took == ()


def test_what_was_found_of_a_fetched_model_is_told_when_it_is_in_use() -> None:
    now = presence.after(ModelPresence(changing=True), Fetched("big", 1, "big knows little", True))
    other, big = ready("other"), ready("big")
    told = presence.told(now, other, training=False)
    assert told is not None and told.text == "this is other, version 3" and not told.trouble
    told = presence.told(now, big, training=False)
    assert told is not None and told.text == "this is big, version 3; big knows little"
    assert told.trouble and told.stay
    assert presence.after(now, other).fetched and presence.after(now, big).fetched is None
