"""The reward model: copies of the policy's lowest blocks, and three heads at the answer's last token.

Three heads see different samples of the same choices; where they disagree, nobody knows (2312.09244). Of a
large model's embedding only a frozen copy is used. Left out: training (reward_training), what the numbers
mean (reward_report).

Notation: B answers, T tokens, D dim, H heads.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, groupby
from pathlib import Path

import torch
from torch import Tensor, nn

from engine.config import ModelConfig
from engine.errors import CheckpointError
from engine.model import Model
from engine.precision import autocast
from engine.storage.checkpoint import (
    compact,
    from_huggingface,
    load_config,
    load_tensors,
    save_tensors,
    to_huggingface,
)
from engine.storage.checkpoint_files import WEIGHTS
from engine.storage.disk import unwritable
from engine.storage.files import make_private_folder, write_atomically
from engine.tokenizers.chat_format import encode_prompt
from engine.tokenizers.tokenizer import Tokenizer
from learning.objectives.shared_prompt import PADDING, SharedRow, portions, shared_mask
from learning.rewards.reward_report import REPORT, TASTE, TasteReport

HEADS = 3
BLOCKS = 2
"""Blocks of the policy that are copied. In a pilot with 200 picks the lowest two of five foretold .81 of
pairs, a head on all five without further training .71."""
SHARE = 0.15
"""Most of a large policy's weights in the blocks that are trained; else there is one block fewer."""
SMALL = 20_000_000
"""Weights up to which the embedding is trained too, and SHARE does not count: two blocks of five are more
than that, and one is too few."""
MESSAGES = 3
"""Last turns of the conversation that it reads."""
PROMPT, ANSWER = 96, 96
"""Most ids that it reads of these and of the answer. Of a longer answer it reads the beginning."""
TOKENS = 4096
"""Padded ids of one forward pass without gradients."""
ROW = 512
"""Most ids of a prompt and the answers behind it in a pass without gradients; attention costs as the
square."""
_LAYERS, _HEADS = "layers", "score.weight"


def blocks_of(config: ModelConfig) -> int:
    """Number of the policy's blocks that its reward model has."""
    both = BLOCKS * config.block_parameters
    small = config.parameters <= SMALL
    return min(config.layers, BLOCKS if small or both <= SHARE * config.parameters else 1)


@dataclass(frozen=True)
class AnswerGroup:
    """Answers to one prompt as ids, at least one; the prompt is read once for all."""

    prompt: tuple[int, ...]
    answers: tuple[tuple[int, ...], ...]
    """Each with its end token."""

    @property
    def size(self) -> int:
        """Ids together."""
        return len(self.prompt) + sum(map(len, self.answers))

    @property
    def ends(self) -> list[int]:
        """Place of each answer's last id behind the prompt and the answers before it."""
        return [len(self.prompt) + end - 1 for end in accumulate(map(len, self.answers))]

    def parts(self) -> list[AnswerGroup]:
        """Divides the answers into groups of at most ROW ids each. An answer that is too long for that gets a
        group of its own."""
        parts = portions(len(self.prompt), list(map(len, self.answers)), ROW)
        return [AnswerGroup(self.prompt, self.answers[part]) for part in parts]


class RewardModel(nn.Module):
    """Rewards of answers, in units of the owner's log-odds times the temperature of the report."""

    def __init__(self, trunk: Model, heads: Tensor) -> None:
        """trunk: a model of few blocks; heads: [H, D]."""
        super().__init__()
        self.trunk = trunk
        self.heads = nn.Parameter(heads)

    @property
    def device(self) -> torch.device:
        return self.heads.device

    @property
    def size(self) -> int:
        """Number of weights."""
        return sum(weight.numel() for weight in self.parameters())

    def trained(self) -> list[Tensor]:
        """The tensors that are trained; all others are frozen from now on."""
        self.requires_grad_(True)
        if self.size > SMALL:
            self.trunk.embedding.weight.requires_grad_(False)
        return [weight for weight in self.parameters() if weight.requires_grad]

    def forward(self, groups: Sequence[AnswerGroup]) -> Tensor:
        """Rewards [B, H] in float32 of all answers, in order."""
        rows = [SharedRow.of(group.prompt, group.answers) for group in groups]
        width = max(len(row.ids) for row in rows)
        ids, positions, owners = (torch.zeros(len(rows), width, dtype=torch.long) for _ in range(3))
        owners += PADDING
        for place, row in enumerate(rows):
            size = len(row.ids)
            ids[place, :size] = torch.tensor(row.ids)
            positions[place, :size] = torch.tensor(row.positions)
            owners[place, :size] = torch.tensor(row.owners)
        ends = [place * width + end for place, group in enumerate(groups) for end in group.ends]
        with autocast(self.device):
            hidden = self.trunk.hidden_states(
                ids.to(self.device),
                positions=positions.to(self.device),
                mask=shared_mask(owners.to(self.device)),
                wanted=torch.tensor(ends, dtype=torch.long, device=self.device),
            )
        return hidden.float() @ self.heads.T  # (B, D) @ (D, H)

    @torch.no_grad()
    def rewards(
        self, groups: Sequence[AnswerGroup], *, pause: Callable[[], None] = lambda: None
    ) -> Tensor:
        """Rewards [B, H] of all answers, in order, in forward passes of at most TOKENS padded ids."""
        parts = [part for group in groups for part in group.parts()]
        out = [torch.zeros(0, HEADS)] * len(parts)
        for places in passes([part.size for part in parts], TOKENS):
            pause()
            mine = [parts[place] for place in places]
            found = self(mine).cpu().split([len(part.answers) for part in mine])
            for place, rewards in zip(places, found, strict=True):
                out[place] = rewards
        return torch.cat(out) if out else torch.zeros(0, HEADS)


def passes(lengths: Sequence[int], tokens: int) -> list[list[int]]:
    """Groups indices of similar length, so that a padded group has at most `tokens` ids."""
    groups = list[list[int]]()
    for index in sorted(range(len(lengths)), key=lambda i: lengths[i]):
        if groups and (len(groups[-1]) + 1) * lengths[index] <= tokens:
            groups[-1].append(index)
        else:
            groups.append([index])
    return groups


def answer_ids(tokenizer: Tokenizer, answer: str, context: int) -> list[int]:
    """The ids that are read of an answer, its end token included. context: of the policy, in ids."""
    return [*tokenizer.encode(answer)[: min(ANSWER, context // 2)], tokenizer.chat.end]


def prompt_ids(
    tokenizer: Tokenizer, prompt: Sequence[tuple[str, str]], longest: int, context: int
) -> list[int]:
    """The ids that are read before answers of at most `longest` ids: the last turns."""
    room = min(context, PROMPT + longest + len(tokenizer.chat.start))
    return encode_prompt(tokenizer, prompt[-MESSAGES:], room, longest)


def read(
    tokenizer: Tokenizer, rows: Iterable[tuple[Sequence[tuple[str, str]], str]], context: int
) -> list[AnswerGroup]:
    """What is read of answers: (turns before the answer, its text). Neighbours of which the same turns are
    read share them; in a small context fewer are read before a long answer. context: of the policy."""
    found = list[tuple[tuple[int, ...], tuple[int, ...]]]()
    for turns, text in rows:
        answer = answer_ids(tokenizer, text, context)
        found.append((tuple(prompt_ids(tokenizer, turns, len(answer), context)), tuple(answer)))
    return [
        AnswerGroup(prompt, tuple(answer for _, answer in own))
        for prompt, own in groupby(found, key=lambda row: row[0])
    ]


def build(policy: Model, generator: torch.Generator) -> RewardModel:
    """A reward model of the policy's lowest blocks with random heads, N(0, 1/(D + 1)). The policy stays as
    it is."""
    config = replace(policy.config, layers=blocks_of(policy.config), tied=True)
    with torch.device("meta"):
        trunk = Model(config)
    wanted = set(trunk.state_dict())
    state = {
        name: tensor.detach().to("cpu", torch.float32, copy=True)
        for name, tensor in policy.state_dict().items()
        if name in wanted
    }
    return RewardModel(
        _filled(trunk, state),
        torch.randn(HEADS, config.dim, generator=generator) / (config.dim + 1) ** 0.5,
    )


def _filled(trunk: Model, state: dict[str, Tensor]) -> Model:
    trunk.load_state_dict(state, assign=True)
    trunk.rope_cos, trunk.rope_sin = trunk.rope_cos.cpu(), trunk.rope_sin.cpu()
    return trunk


def save(model: RewardModel, report: TasteReport, folder: Path) -> None:
    """Writes the reward model of a model's folder, whole or not at all. Raises CheckpointError."""
    state = {name: compact(tensor.detach().cpu()) for name, tensor in _state(model).items()}
    metadata = {REPORT: report.to_json(), "version": str(report.version)}
    save_tensors(state, folder / TASTE, metadata | {_LAYERS: str(model.trunk.config.layers)})


def load(folder: Path) -> RewardModel:
    """The reward model of a model's folder. Raises CheckpointError."""
    path = folder / TASTE
    tensors, record = load_tensors(path)
    try:
        heads = tensors.pop(_HEADS).float()
        config = replace(load_config(folder), layers=int(record[_LAYERS]), tied=True)
        with torch.device("meta"):
            trunk = Model(config)
        state = from_huggingface({k: v.float() for k, v in tensors.items()}, config)
        model = RewardModel(_filled(trunk, state), heads)
        if heads.shape != (HEADS, config.dim):
            raise ValueError(f"its heads have the shape {tuple(heads.shape)}")
    except (KeyError, ValueError, RuntimeError) as error:
        raise CheckpointError(
            f"{path}: does not fit the model ({str(error).splitlines()[0]})",
            "`vidya reward train` writes it anew",
        ) from error
    if not all(bool(torch.isfinite(weight).all()) for weight in model.parameters()):
        raise CheckpointError(
            f"{path}: holds numbers that are not finite", "`vidya reward train` writes it anew"
        )
    return model.requires_grad_(False).eval()


def export(model: RewardModel, tokenizer: Tokenizer, folder: Path) -> None:
    """Writes the mean of the heads as a sequence classifier of transformers with one label, and the
    tokenizer beside it. Raises CheckpointError."""
    config = model.trunk.config
    raw = config.to_huggingface()
    raw["architectures"] = [raw["architectures"][0].replace("CausalLM", "SequenceClassification")]
    raw |= {"num_labels": 1, "id2label": {"0": "reward"}, "label2id": {"reward": 0}}
    raw |= {"pad_token_id": next(iter(tokenizer.never_ids), 0), "problem_type": "regression"}
    try:
        make_private_folder(folder)
        write_atomically(folder / "config.json", json.dumps(raw, indent=1) + "\n")
        tokenizer.save(folder)
    except OSError as error:
        raise CheckpointError(*unwritable(folder, error, "choose another folder")) from error
    state = _state(model) | {_HEADS: model.heads.detach().mean(0, keepdim=True)}
    save_tensors({k: v.cpu() for k, v in state.items()}, folder / WEIGHTS)


def _state(model: RewardModel) -> dict[str, Tensor]:
    """All tensors under transformers' names."""
    trunk = {name: tensor.detach() for name, tensor in model.trunk.named_parameters()}
    return to_huggingface(trunk, model.trunk.config) | {_HEADS: model.heads.detach()}
