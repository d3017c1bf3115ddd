"""The reward model: its inputs, its training and its file."""

from __future__ import annotations

import contextlib
import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from engine.config import CONFIGS, ModelConfig
from engine.errors import CheckpointError
from engine.model import Model
from engine.storage.checkpoint import save_config
from engine.tokenizers.tokenizer import Tokenizer
from learning.journal.journal import Journal
from learning.protocol.records import Turn
from learning.rewards.reward_data import Choice, Preferences, preferences, split
from learning.rewards.reward_model import (
    HEADS,
    AnswerGroup,
    RewardModel,
    blocks_of,
    build,
    export,
    load,
    read,
    save,
)
from learning.rewards.reward_report import TASTE, TasteReport, read_report
from learning.rewards.reward_training import (
    RewardTraining,
    length_compared,
    measured,
    standard_error,
    trained,
)
from tests.last_block import positions_of
from tests.picks import fill

Place = tuple[object, Path, Journal]
SMOL = ModelConfig(49152, 576, 30, 9, 3, 1536, 2048)


def alone(ids: list[int]) -> AnswerGroup:
    """An answer without a prompt."""
    return AnswerGroup((), (tuple(ids),))


@pytest.fixture
def scorer(tiny_model: Model) -> RewardModel:
    return build(tiny_model, torch.Generator().manual_seed(0))


def test_its_size_at_10m() -> None:
    with torch.device("meta"):
        trunk = Model(replace(CONFIGS["10m"], layers=2))
    assert RewardModel(trunk, torch.zeros(HEADS, 384)).size == 5_506_944 + 3 * 384


@pytest.mark.parametrize(
    ("config", "blocks"), [(CONFIGS["10m"], 2), (CONFIGS["49m"], 1), (SMOL, 2)]
)
def test_large_models_lend_at_most_15_percent_in_blocks(config: ModelConfig, blocks: int) -> None:
    assert blocks_of(config) == blocks
    if config.parameters > 20_000_000:
        assert blocks * config.block_parameters <= 0.15 * config.parameters


def test_padding_and_company_change_no_reward(scorer: RewardModel) -> None:
    groups = [alone([5, 6, 7]), alone([5, 6, 7, 8, 9, 10, 11]), alone([4])]
    together = scorer(groups)
    for group, reward in zip(groups, together, strict=True):
        assert torch.allclose(scorer([group])[0], reward, atol=1e-5)
    assert torch.allclose(scorer.rewards(groups), together, atol=1e-5)


def test_the_last_block_computes_the_ends_of_answers_alone(scorer: RewardModel) -> None:
    computed = positions_of(scorer.trunk)
    scorer([alone([5, 6, 7]), AnswerGroup((5, 6), ((7, 8), (9,)))])
    assert computed == [3, 3]


def test_a_prompt_that_is_read_once_changes_no_reward(
    scorer: RewardModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    prompt, answers = (5, 6, 7, 8), ((9, 10, 1), (11, 1), (9, 12, 13, 14, 1))
    apart = scorer([AnswerGroup((*prompt, *answer[:-1]), (answer[-1:],)) for answer in answers])
    shared, other = AnswerGroup(prompt, answers), alone([3, 4])
    assert torch.allclose(scorer([shared, other])[:3], apart, atol=1e-5)
    monkeypatch.setattr("learning.rewards.reward_model.ROW", 8)
    assert [len(part.answers) for part in shared.parts()] == [1, 1, 1]
    found = scorer.rewards([other, shared])
    assert torch.allclose(found[1:], apart, atol=1e-5), "in parts too, in the order of the answers"
    assert scorer.rewards([]).shape == (0, HEADS)


def test_neighbours_with_the_same_turns_share_them(tiny_tokenizer: Tokenizer) -> None:
    hello, bye = [("user", "Hello")], [("user", "Goodbye")]
    rows = [(hello, "Hi."), (hello, "Well met."), (bye, "Bye."), (hello, "Hi.")]
    groups = read(tiny_tokenizer, rows, 128)
    assert [len(group.answers) for group in groups] == [2, 1, 1]
    assert groups[0].prompt == groups[2].prompt != groups[1].prompt
    assert groups[0].answers[0] == groups[2].answers[0]
    assert [groups[0].size - 1, *groups[2].ends] == [groups[0].ends[1], groups[2].size - 1]


def test_in_a_small_context_what_is_read_of_an_answer_does_not_depend_on_its_neighbour(
    tiny_tokenizer: Tokenizer,
) -> None:
    asked = [("user", "What? " * 200)]
    long, short = (asked, "bread and butter " * 100), (asked, "Hi.")
    together = read(tiny_tokenizer, [short, long], 128)
    assert together == read(tiny_tokenizer, [short], 128) + read(tiny_tokenizer, [long], 128)


def test_it_reads_the_end_token_even_of_a_cut_answer(tiny_tokenizer: Tokenizer) -> None:
    asked = [("user", "Hello"), ("assistant", "Hi."), ("user", "What? " * 200)]
    (group,) = read(tiny_tokenizer, [(asked, "bread and butter " * 100)], 128)
    assert group.answers[0][-1] == tiny_tokenizer.chat.end and group.size <= 128
    (group,) = read(tiny_tokenizer, [(asked[:1], "Hi.")], 128)
    assert group.answers[0][-1] == tiny_tokenizer.chat.end


def test_the_policy_stays_as_it_is(tiny_model: Model, scorer: RewardModel) -> None:
    before = {name: weight.clone() for name, weight in tiny_model.named_parameters()}
    with torch.no_grad():
        for weight in scorer.parameters():
            weight.add_(1.0)
    assert all(torch.equal(before[name], w) for name, w in tiny_model.named_parameters())


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """A rate at which the tiny random model learns within a second."""
    monkeypatch.setattr("learning.rewards.reward_training.LEARNING_RATE", 5e-3)


@pytest.mark.slow
def test_it_learns_what_its_owner_likes_and_the_contrary(
    tiny_model: Model, tiny_tokenizer: Tokenizer, tmp_path: Path, quick: None
) -> None:
    right = []
    for flipped in (False, True):
        journal = Journal(tmp_path / f"{flipped}.sqlite3")
        fill(journal, 200, flipped=flipped)
        model, report = trained(tiny_model, tiny_tokenizer, preferences(journal), 3)
        assert report.version == 3 and report.choices == 200 and not report.why_not
        assert report.picks_right > 0.8 and report.chance == pytest.approx(1 / 3)
        assert 0.0 <= report.calibration_error < 0.3
        asked = (Turn("user", "Tell me of the sea."),)
        texts = ("What do you like?", "I am well.")
        rewards = model.rewards(read(tiny_tokenizer, [(asked, text) for text in texts], 128)).mean(
            1
        )
        right.append(bool(rewards[0] > rewards[1]))
        journal.close()
    assert right == [True, False]


def test_picks_without_taste_are_not_used(
    tiny_model: Model, tiny_tokenizer: Tokenizer, tmp_path: Path, quick: None
) -> None:
    journal = Journal(tmp_path / "journal.sqlite3")
    fill(journal, 60)
    fill(journal, 60, flipped=True, seed=1)
    _, report = trained(tiny_model, tiny_tokenizer, preferences(journal), 1)
    journal.close()
    assert not report.better_than_chance and "no better than chance" in report.why_not


def test_labels_flipped_turn_the_accuracy_round() -> None:
    rewards = [torch.tensor([1.0, 0.0]), torch.tensor([0.5, 0.7]), torch.tensor([2.0, 1.0])]
    one, other = measured(rewards, [0, 0, 0]), measured(rewards, [1, 1, 1])
    assert one.pairs_right == pytest.approx(2 / 3) and one.picks_right == pytest.approx(2 / 3)
    assert other.pairs_right == pytest.approx(1 - one.pairs_right)
    tied = measured([torch.zeros(4)], [2])
    assert tied.picks_right == 0.25 and tied.pairs_right == 0.5


def lengths(*, flipped: bool) -> Preferences:
    """Choices of the longest of three answers; flipped: of the shortest."""
    texts = ("Yes.", "I am well.", "The sea is warm.")
    prompts = [(Turn("user", f"Tell me {number}"),) for number in range(20)]
    return Preferences(
        tuple(Choice(p, texts, 0 if flipped else 2, True, n, n) for n, p in enumerate(prompts))
    )


@pytest.mark.parametrize("flipped", [False, True])
def test_length_alone_is_compared_pair_by_pair(flipped: bool) -> None:
    data = split(lengths(flipped=flipped))
    count = len(data.held_out.choices)
    assert length_compared(data, [1.0] * count).right == 1.0
    found = length_compared(data, [0.5] * count)
    assert (found.beyond, found.beyond_error) == (-0.5, 0.0)
    assert length_compared(data, []).error == 1.0


def test_standard_error_is_over_choices() -> None:
    assert standard_error([1.0, 0.0, 1.0, 0.0]) == pytest.approx(0.5774 / 2, abs=1e-4)
    assert standard_error([1.0]) == 1.0


def test_a_taste_that_length_foretells_as_well_says_so() -> None:
    report = TasteReport(
        *(7, "mark", (1,), 90, 0, 40, 0.6, 0.7, 0.2, 0.8, 1.1, 0.06, 0.3, False, 0.0, 1.0, 9.0),
        pairs_error=0.04,
        length_right=0.69,
        length_error=0.05,
        beyond_length=0.01,
        beyond_error=0.02,
    )
    assert report.better_than_chance and not report.why_not
    assert report.no_more_than_length
    assert not replace(report, beyond_length=0.05).no_more_than_length
    assert not replace(report, length_right=0.55).no_more_than_length, "length foretells nothing"
    by_chance = replace(report, pairs_right=0.57)
    assert "57%" in by_chance.why_not and "no better than chance" in by_chance.why_not


def test_identical_answers_teach_nothing_but_the_level(
    tiny_model: Model, tiny_tokenizer: Tokenizer
) -> None:
    from learning.rewards.reward_data import Choice, Preferences

    asked = (Turn("user", "Hello"),)
    found = Preferences((Choice(asked, ("Hi.", "Hi."), 0, True, 1, 1),))
    training = RewardTraining(tiny_model, tiny_tokenizer, found)
    rewards = training.rewards(found.choices)[0]
    assert rewards[0] == rewards[1]


def test_in_a_small_context_long_answers_and_short_ones_are_learned_together(
    tiny_model: Model, tiny_tokenizer: Tokenizer
) -> None:
    asked = (Turn("user", "What? " * 200),)
    found = Preferences((Choice(asked, ("Hi.", "bread and butter " * 100, "No."), 0, True, 1, 1),))
    training = RewardTraining(tiny_model, tiny_tokenizer, found)
    assert not training.step() and training.done == 1
    assert [len(rewards) for rewards in training.rewards(found.choices)] == [3]


def test_it_is_kept_with_its_report_and_comes_back(
    tiny_place: Place, tiny_model: Model, tiny_tokenizer: Tokenizer
) -> None:
    _, folder, journal = tiny_place
    fill(journal, 40)
    model, report = trained(tiny_model, tiny_tokenizer, preferences(journal), 7)
    save(model, report, folder)
    assert read_report(folder) == report
    again = load(folder)
    groups = [alone([5, 6, 7]), alone([8, 9])]
    assert torch.allclose(again.rewards(groups), model.rewards(groups), atol=1e-6)


def test_a_large_model_lends_one_block_and_its_embedding_stays(
    tiny_model: Model, tiny_tokenizer: Tokenizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("learning.rewards.reward_model.SMALL", 0)
    journal = Journal(tmp_path / "journal.sqlite3")
    fill(journal, 40)
    model, _ = trained(tiny_model, tiny_tokenizer, preferences(journal), 1)
    journal.close()
    assert len(model.trunk.blocks) == 1
    assert torch.equal(model.trunk.embedding.weight, tiny_model.embedding.weight)
    mine, theirs = (m.blocks[0].ffn.down.weight for m in (model.trunk, tiny_model))
    assert not torch.equal(mine, theirs)


def test_other_architectures_have_a_taste_too(
    tiny_model: Model, tiny_tokenizer: Tokenizer, tmp_path: Path
) -> None:
    config = replace(tiny_model.config, qk_norm=True, tied=False, head_size=32, layers=3)
    policy = Model(config, generator=torch.Generator().manual_seed(0))
    save_config(config, tmp_path)
    journal = Journal(tmp_path / "journal.sqlite3")
    fill(journal, 30)
    model, report = trained(policy, tiny_tokenizer, preferences(journal), 1)
    journal.close()
    save(model, report, tmp_path)
    groups = [alone([5, 6, 7]), alone([8, 9])]
    assert len(model.trunk.blocks) == 2
    assert torch.allclose(load(tmp_path).rewards(groups), model.rewards(groups), atol=1e-6)


def test_a_damaged_file_is_told(tiny_place: Place) -> None:
    folder = tiny_place[1]
    assert read_report(folder) is None
    (folder / TASTE).write_bytes(b"nothing")
    with pytest.raises(CheckpointError):
        read_report(folder)
    with pytest.raises(CheckpointError):
        load(folder)


@pytest.mark.slow
def test_transformers_rates_the_same(
    scorer: RewardModel,
    tiny_tokenizer: Tokenizer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    transformers = pytest.importorskip("transformers")
    plain = contextlib.nullcontext()
    monkeypatch.setattr("learning.rewards.reward_model.autocast", lambda _: plain)
    export(scorer, tiny_tokenizer, tmp_path)
    assert json.loads((tmp_path / "config.json").read_text())["architectures"] == [
        "LlamaForSequenceClassification"
    ]
    theirs = transformers.AutoModelForSequenceClassification.from_pretrained(tmp_path).eval()
    row = [5, 6, 7, 8]
    with torch.no_grad():
        reward = theirs(torch.tensor([row])).logits
    assert reward.shape == (1, 1)
    assert torch.allclose(reward[0, 0], scorer([alone(row)]).mean(), atol=1e-4)
