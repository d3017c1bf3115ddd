"""benchmarks.facts.people: how answers are judged, how the arms are asked, and a short run of the learner."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch

from benchmarks import RESULTS, BenchOptions
from benchmarks.baselines.bag_of_words import WordIndex
from benchmarks.facts import people
from benchmarks.facts.people import PeopleSettings, recipe_step
from benchmarks.facts.people_answers import Asker, alone, judge_facts, judge_later, unchanged
from benchmarks.facts.people_arms import ARMS, HEARD, Confused, Reader, open_arm
from benchmarks.facts.people_data import Asked, PersonFact, Told
from benchmarks.facts.people_report import CRITERION, parts
from benchmarks.lessons.collapse_rows import Rows
from engine.errors import DataError, NotFound
from engine.generate import greedy
from engine.model import Model
from engine.storage.checkpoint import save_model
from engine.tokenizers.chat_format import encode_prompt
from engine.tokenizers.tokenizer import Tokenizer
from learning.home import Home
from learning.protocol.records import Lesson
from tests.short_lessons import SHORT
from tests.spies import decoded

CAT = PersonFact(
    "the cat is called Mo",
    "What is my cat called?",
    "Your cat is called Mo.",
    (("Mo",),),
    owner="a",
    half="tune",
    rewordings=("name of my cat?", "how is the cat called", "my cat's name?"),
    paraphrases=("who purrs at home?", "whom do I feed?", "which name does puss hear?"),
    hop=Asked("Who wants milk?", (("Mo",),)),
    yes=Asked("Is my cat called Mo?", (("yes",),), (("no",),)),
    no=Asked("Is my cat called Jo?", (("no",),), (("yes",),)),
    neighbour="What is your cat called?",
    unknown="How old is my cat?",
    later=Told("she is Bo now", "What is my cat called?", "Bo.", (("Bo",),), (("Mo",),)),
)
TOWN = PersonFact(
    "I moved to Ulm",
    "Where do I live?",
    "You live in Ulm.",
    (("Ulm",),),
    rewordings=("my town?", "where is my home", "I live where?"),
    paraphrases=("which place?", "what is on my post?", "how is it called?"),
    hop=Asked("Whose minster do I see?", (("Ulm",),)),
    yes=Asked("Do I live in Ulm?", (("yes",),), (("no",),)),
    no=Asked("Do I live in Bonn?", (("no",),), (("yes",),)),
    neighbour="Where do you live?",
    unknown="Who lives next door?",
)
QUESTIONS = 12
"""Of one fact."""


class Scripted(Asker):
    """Says what is written for a question, else nothing."""

    def __init__(self, said: Mapping[str, str]) -> None:
        self._said, self.asked = said, list[str]()

    def ask(self, questions: Sequence[str]) -> list[str]:
        self.asked += questions
        return [self._said.get(question, "") for question in questions]

    ask_alone = ask


# ---------------------------------------------------------------- answers


def test_shares_of_two_facts_worked_out_by_hand() -> None:
    asker = Scripted(
        {
            "What is my cat called?": "your cat is called mo .",  # exact once folded
            "name of my cat?": "Mo, I think.",  # the content alone
            "how is the cat called": "I do not know that yet. Will you teach me?",
            "who purrs at home?": "Mo",
            "Who wants milk?": "Mo does.",
            "Is my cat called Mo?": "Yes.",
            "Is my cat called Jo?": "Yes, it is.",
            "How old is my cat?": "I don't know.",
            "Where do I live?": "You live in Bonn.",
            "Do I live in Ulm?": "Yes, in Ulm.",
            "Do I live in Bonn?": "No, in Ulm.",
            "Who lives next door?": "Ulm does.",
            CAT.neighbour: "It is called Jo.",
            TOWN.neighbour: "In Ulm too.",
        }
    )
    found = judge_facts(asker, [CAT, TOWN], [True, True])
    assert len(asker.asked) == 2 * QUESTIONS
    assert found == {
        "taught": 1 / 2,
        "taught_exact": 1 / 2,
        "rewordings": 1 / 6,
        "rewordings_exact": 0.0,
        "paraphrases": 1 / 6,
        "paraphrases_exact": 0.0,
        "hop": 1 / 2,
        "yes_no": 1 / 2,
        "unknown": 1 / 2,
        "refused": 1 / 14,
        "unknown_told": 1 / 2,
        "neighbours_leaked": 1 / 2,
        "retained": 1 / 2,
    }
    assert judge_facts(asker, [CAT, TOWN], [True, False])["retained"] == 1.0
    assert judge_facts(asker, [CAT, TOWN], [])["retained"] is None, "nothing was taught yet"


def test_a_contradiction_holds_only_where_the_old_is_gone() -> None:
    both = judge_later(Scripted({"What is my cat called?": "Mo or Bo."}), [CAT, TOWN])
    assert both == {"later": 0.0, "later_rewordings": 0.0, "old_gone": 0.0}
    new = {"What is my cat called?": "She is Bo.", "my cat's name?": "Bo"}
    assert judge_later(Scripted(new), [CAT, TOWN]) == {
        "later": 1.0,
        "later_rewordings": 1 / 3,
        "old_gone": 1.0,
    }


def test_unchanged_means_to_the_letter() -> None:
    asker = Scripted({"a": "Yes.", "b": "No."})
    assert unchanged(asker, {"a": "Yes.", "b": "no."}) == 0.5
    assert unchanged(asker, {}) is None


def test_a_batch_says_what_the_app_says(tiny_model: Model, tiny_tokenizer: Tokenizer) -> None:
    tiny_model.requires_grad_(False)
    asker = Asker(tiny_model, tiny_tokenizer)
    questions = ["hello", "What is your name?", "Where do you live, and why?"]
    assert asker.ask(questions) == asker.ask_alone(questions)
    ids = asker._ids(alone("hello"))
    assert asker.ask_alone(["hello"]) == [greedy(tiny_model, tiny_tokenizer, ids).text.strip()]


def test_no_answer_in_a_batch_has_an_id_that_chat_never_says(
    tiny_model: Model, tiny_tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even if it is the likeliest of all: nothing has to be asked again alone."""
    tiny_model.requires_grad_(False)
    (never, *_) = tiny_tokenizer.unsaid(tiny_model.config.vocab_size)
    mean = tiny_model.embedding.weight.mean(0)
    ids = encode_prompt(tiny_tokenizer, alone("hello"), tiny_model.config.context, 8)
    hidden = tiny_model.hidden_states(torch.tensor([ids]))[0, -1]
    tiny_model.embedding.weight[never] = mean + 50.0 * hidden
    assert int(tiny_model(torch.tensor([ids]))[0, -1].argmax()) == never
    asker = Asker(tiny_model, tiny_tokenizer)
    alone_too = asker.ask_alone(["hello"])
    monkeypatch.setattr(asker, "one", lambda turns: "asked again")
    read = decoded(tiny_tokenizer, monkeypatch)
    assert asker.ask(["hello"]) == alone_too
    assert read and read.isdisjoint(tiny_tokenizer.unsaid(tiny_model.config.vocab_size))


# ---------------------------------------------------------------- arms


def test_a_reader_is_told_what_shares_the_rarest_words(
    tmp_path: Path, tiny_model: Model, tiny_tokenizer: Tokenizer
) -> None:
    save_model(tiny_model, tmp_path)
    with open_arm("retrieval", tmp_path, [CAT, TOWN], 0, None) as arm:
        assert arm.asking("Where do I live?") == [("user", "Where do I live?")]
        for fact in (CAT, TOWN):
            arm.pupil.learn(fact.lesson())
        assert isinstance(arm.pupil, Reader)
    told = {("a", "1"): "the red car", ("b", "2"): "a blue car", ("c", "3"): "my green boat"}
    reader = Reader(tmp_path, told, 2)
    for question, answer in told:
        reader.learn(Told("", question, answer, (("x",),)).lesson())
    turns = reader.asked("Which car is red?")
    assert turns == [
        ("user", "the red car"),
        ("assistant", HEARD),
        ("user", "a blue car"),
        ("assistant", HEARD),
        ("user", "Which car is red?"),
    ]
    whole = Reader(tmp_path, told, None)
    for question, answer in told:
        whole.learn(Told("", question, answer, (("x",),)).lesson())
    assert [text for role, text in whole.asked("?") if role == "user"] == [*told.values(), "?"]


def test_the_nearest_texts_come_first() -> None:
    index = WordIndex(["a red car", "a blue car", "my green boat"])
    assert index.nearest("blue cars", 2) == [1, 0]
    assert index.nearest("boat", 1) == [2] and WordIndex([]).nearest("boat", 1) == []


def test_the_shuffled_learner_gets_no_right_answer() -> None:
    learned: list[str] = []

    class Noting:
        def learn(self, lesson: Lesson) -> bool:
            learned.append(lesson.answer)
            return True

    confused = Confused(Noting(), [CAT, TOWN])  # type: ignore[arg-type]
    assert CAT.later is not None
    for one in (CAT, TOWN, CAT.later):
        confused.learn(one.lesson())
    assert learned == ["You live in Ulm.", "Your cat is called Mo.", "You live in Ulm."]


def test_a_random_step_needs_the_recipes(tmp_path: Path) -> None:
    start = {"model": "10m", "start": "x", "quick": False, "half": "tune", "facts": 2, "pause": 1.0}
    rows = Rows(None, start)
    assert recipe_step(rows.finished(), start) is None
    with (
        pytest.raises(NotFound, match="recipe first"),
        open_arm("random-step", tmp_path, [CAT], 0, None),
    ):
        pass
    for seed, step in ((0, 2.0), (1, 4.0)):
        rows.add("recipe", seed, "facts", {"at": 0})
        rows.add("recipe", seed, "facts", {"at": 2, "step": step})
        rows.finish("recipe", seed, "facts")
    assert recipe_step(rows.finished(), start) == 3.0
    assert recipe_step(rows.finished(), {**start, "half": "unseen"}) is None


# ---------------------------------------------------------------- settings and report


def test_the_environment_chooses(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HALF", "ARMS", "FACTS", "PAUSE"):
        monkeypatch.delenv(f"VIDYA_PEOPLE_{name}", raising=False)
    usual = PeopleSettings.read(False)
    assert usual == PeopleSettings("tune", tuple(ARMS), None, None), "never the unseen half"
    assert PeopleSettings.read(True).facts == people.QUICK_FACTS
    monkeypatch.setenv("VIDYA_PEOPLE_HALF", "unseen")
    monkeypatch.setenv("VIDYA_PEOPLE_ARMS", "rome, recipe")
    monkeypatch.setenv("VIDYA_PEOPLE_FACTS", "50")
    monkeypatch.setenv("VIDYA_PEOPLE_PAUSE", "2.5")
    chosen = PeopleSettings.read(False)
    assert chosen == PeopleSettings("unseen", ("rome", "recipe"), 50, 2.5)
    monkeypatch.setenv("VIDYA_PEOPLE_FACTS", "many")
    with pytest.raises(DataError, match="VIDYA_PEOPLE_FACTS=many"):
        PeopleSettings.read(False)
    monkeypatch.setenv("VIDYA_PEOPLE_HALF", "whole")
    with pytest.raises(NotFound, match=r"'whole' does not exist .VIDYA_PEOPLE_HALF."):
        PeopleSettings.read(False)


def rows_of(half: str, taught: float) -> list[dict[str, Any]]:
    base = {"model": "10m", "start": "x", "quick": False, "half": half, "facts": 2, "pause": 1.0}
    named = {**base, "method": "recipe", "part": "facts"}
    rows = []
    for seed in (0, 1):
        first = {"at": 0, "taught": 0.0, "taught_exact": 0.0, "book": 0.5, "talk_nll": 2.0}
        last = {"at": 2, "taught": taught, "taught_exact": 0.5, "retained": 1.0}
        last |= {"book": 0.25, "talk_nll": 2.02, "seconds_median": 1.5, "cpu_median": 1.0}
        after = {"at": 3, "later": 1.0, "later_rewordings": 0.5, "old_gone": 0.0, "taught": 0.0}
        rows += [{**named, "seed": seed, **row} for row in (first, last, after)]
    rows[4]["taught"] = taught - 0.5
    return rows


def test_the_report_has_the_criterion_and_a_table_for_each_half() -> None:
    rows = [*rows_of("tune", 1.0), *rows_of("unseen", 0.5)]
    found = parts({"rows": rows, "quick": False, "threads": 1, "talk": "own talk"})
    text = "\n\n".join(found)
    assert all(line[0] in text for line in CRITERION[1])
    assert "## 10m, tune half, 2 facts" in text and "## 10m, unseen half, 2 facts" in text
    assert "| untaught | 1 | – | 0.0 % (0.0 %) |" in text
    assert "| recipe | 2 | – | 75.0 ± 35.4 % (50.0 ± 0.0 %) |" in text
    assert "| 100 ± 0 % | 100.0 ± 0.0 % (50.0 ± 0.0 %) | 0.0 ± 0.0 % | 0.0 ± 0.0 % | 50.0" in text
    assert "| +1.0 ± 0.0 % | 1.5 | 1 |" in text
    assert "Arms: *recipe*, Vidya's learner, with pauses; weights alone.\n" in text
    assert text.count("| Vidya's recipe, free-running |") == 1, "of the unseen half alone"


def test_arms_are_explained_that_have_rows() -> None:
    rows = [*rows_of("tune", 1.0), {**rows_of("tune", 1.0)[0], "method": "rome"}]
    text = "\n".join(parts({"rows": rows, "quick": False, "threads": 1, "talk": "own talk"}))
    assert "*recipe*" in text and "*rome*" in text and "*memit*" not in text


def test_own_figures_stand_beside_published_ones() -> None:
    shares = {"right_after": 1.0, "rewordings": 0.75, "paraphrases": 0.01, "neighbours": 0.06}
    rows = [{**row, **shares, "pause_cpu_median": 4.25} for row in rows_of("unseen", 1.0)]
    text = "\n".join(parts({"rows": rows, "quick": False, "threads": 1, "talk": "own talk"}))
    figures = "100.0 ± 0.0 % / 75.0 ± 0.0 % (paraphrases 1.0 ± 0.0 %) / 6.0 ± 0.0 %"
    assert f"| 10m, people.jsonl | 2 | {figures} | 1.0 CPU s, and 4.2 of pause |" in text
    assert text.index("Vidya's recipe, free-running") < text.index("| ROME | LLaMA-2-7B")


def test_the_stored_report_is_what_the_code_writes_and_a_part_by_hand() -> None:
    text = (RESULTS / "people.md").read_text("utf-8")
    at = -1
    for part in parts(json.loads((RESULTS / "people.json").read_text("utf-8"))):
        assert (at := text.find(part, at + 1)) >= 0, part
    assert "by hand" in text


def test_before_the_first_run_the_report_says_so() -> None:
    found = parts({"rows": [], "quick": False, "threads": 1, "talk": ""})
    assert "Nothing is measured yet." in found


# ---------------------------------------------------------------- a run


@pytest.mark.slow
def test_a_short_run_resumes(
    tmp_path: Path, tiny_model: Model, tiny_tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = Home(tmp_path / "home").models_path / "tiny"
    save_model(tiny_model, folder)
    tiny_tokenizer.save(folder)
    monkeypatch.delenv("VIDYA_CORPUS", raising=False)
    monkeypatch.setenv("VIDYA_PEOPLE_HALF", "tune")
    monkeypatch.setenv("VIDYA_PEOPLE_ARMS", "recipe,rome,random-step,all-in-prompt")
    monkeypatch.setattr(people, "read_people", lambda half: [CAT, TOWN])
    monkeypatch.setattr("learning.lessons.learner.TeachSettings", lambda: SHORT)
    out = tmp_path / "out"
    options = BenchOptions(tmp_path / "home", model="tiny", quick=True, out=out)
    rows = people.run(options)["rows"]
    arms = ("recipe", "rome", "random-step", "all-in-prompt")
    assert [(r["method"], r["at"]) for r in rows] == [(a, n) for a in arms for n in (0, 2, 3)]
    assert all(row["neighbours"] == row["controls"] == 1.0 for row in rows if row["at"] == 0)
    recipe = rows[1]
    assert recipe["step"] > 0.0 and recipe["pause_cpu_median"] > 0.0 and recipe["memory_mb"] > 0
    assert {"later", "later_rewordings", "old_gone", "taught"} <= set(rows[2])
    assert json.loads((out / "people.json").read_text())["rows"] == rows
    text = (out / "people.md").read_text()
    assert (
        "VIDYA_PEOPLE_HALF=tune VIDYA_PEOPLE_ARMS=recipe,rome,random" in text
        and "## tiny, tune half, 2 facts" in text
    )

    def never(*_: object) -> None:
        raise AssertionError("measured twice")

    monkeypatch.setattr(people.Exam, "teach", never)
    assert people.run(options)["rows"] == rows
