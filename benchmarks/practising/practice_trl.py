"""Compares TRL's GRPOTrainer with ours: its loss term by term, and its step on the same work.

Needs the `bench` extra; TRL is imported only inside functions.
"""

from __future__ import annotations

import random
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor

from engine.errors import ConfigError
from engine.tokenizers.tokenizer import Tokenizer
from learning.maths.kl import k3
from learning.maths.policy import clipped, clipped_surrogate, standardised_advantages, token_mean
from learning.rewards.task import Problem, Task

LOW, HIGH, BETA = 0.2, 0.28, 0.07


def grpo_trainer() -> Any:
    """TRL's GRPOTrainer class. Raises ConfigError if it is not installed."""
    try:
        from trl.trainer.grpo_trainer import GRPOTrainer
    except ImportError as error:
        raise ConfigError(
            f"TRL cannot be imported ({error})", "in the folder of vidya: pip install '.[bench]'"
        ) from error
    return GRPOTrainer


# ---------------------------------------------------------------- the loss


def compare_losses(seed: int) -> dict[str, float]:
    """Largest absolute difference of each term between TRL's `_compute_loss` and ours, on the same
    random log-probabilities, rewards and lengths; "gradient" is that of the loss."""
    noise = torch.Generator().manual_seed(seed)
    groups, size, longest = 3, 4, 9
    rows = groups * size
    lengths = torch.randint(1, longest + 1, (rows,), generator=noise)
    mask = (torch.arange(longest) < lengths[:, None]).int()
    behaviour = -3.0 * torch.rand(rows, longest, generator=noise) - 0.05
    shift = 0.4 * torch.randn(rows, longest, generator=noise)
    reference = behaviour + 0.3 * torch.randn(rows, longest, generator=noise)
    rewards = torch.rand(groups, size, generator=noise)
    advantages = standardised_advantages(rewards).flatten()

    theirs = (behaviour + shift).requires_grad_()
    found = _their_loss(theirs, behaviour, reference, advantages, mask)
    found["advantages"] = float((_their_advantages(rewards) - advantages).abs().max())

    ours = (behaviour + shift).requires_grad_()
    active = mask.bool()
    now, was, anchor = ours[active], behaviour[active], reference[active]
    weights = advantages[:, None].expand_as(ours)[active]
    tokens = int(active.sum())
    apart = k3(now, anchor)
    loss = token_mean(clipped_surrogate(now, was, weights, LOW, HIGH), tokens)
    loss = loss + BETA * token_mean(apart, tokens)
    loss.backward()  # type: ignore[no-untyped-call]
    assert ours.grad is not None
    return {
        "advantages": found["advantages"],
        "loss": abs(found["loss"] - loss.item()),
        "kl": abs(found["kl"] - float(apart.detach().mean())),
        "clipped": abs(
            found["clipped"] - float(clipped(now, was, weights, LOW, HIGH).float().mean())
        ),
        "gradient": float((found["gradient"] - ours.grad).abs().max()),
    }


def _their_advantages(rewards: Tensor) -> Tensor:
    """Advantages as computed in GRPOTrainer._generate_and_score_completions, with its nanstd."""
    from trl.trainer.utils import nanstd

    std = nanstd(rewards, dim=1).repeat_interleave(rewards.shape[1])
    mean = torch.nanmean(rewards, dim=1).repeat_interleave(rewards.shape[1])
    return (rewards.flatten() - mean) / (std + 1e-4)


def _their_loss(
    now: Tensor, behaviour: Tensor, reference: Tensor, advantages: Tensor, mask: Tensor
) -> dict[str, Any]:
    """Calls GRPOTrainer._compute_loss on a trainer object that has only settings."""
    rows, longest = now.shape
    accelerator = SimpleNamespace(
        num_processes=1, gather=lambda x: x, reduce=lambda x, reduction="sum": x
    )
    trainer = SimpleNamespace(
        _get_per_token_logps_and_entropies=lambda *_, **__: (now, torch.zeros_like(now), None),
        aux_loss_enabled=False,
        top_entropy_quantile=1.0,
        off_policy_mask_threshold=None,
        importance_sampling_level="token",
        beta=BETA,
        loss_type="dapo",
        epsilon_low=LOW,
        epsilon_high=HIGH,
        args=SimpleNamespace(use_bias_correction_kl=False, delta=None, steps_per_generation=1),
        use_vllm=False,
        vllm_importance_sampling_correction=False,
        current_gradient_accumulation_steps=1,
        accelerator=accelerator,
        model=SimpleNamespace(training=True),
        _entropy_bonus_enabled=False,
        _metrics={"train": defaultdict(list)},
    )
    inputs = {
        "prompt_ids": torch.ones(rows, 2, dtype=torch.long),
        "prompt_mask": torch.ones(rows, 2, dtype=torch.long),
        "completion_ids": torch.ones(rows, longest, dtype=torch.long),
        "completion_mask": mask,
        "advantages": advantages,
        "old_per_token_logps": behaviour,
        "ref_per_token_logps": reference,
        "num_items_in_batch": mask.sum(),
    }
    loss = grpo_trainer()._compute_loss(trainer, None, inputs)
    loss.backward()
    told = trainer._metrics["train"]
    return {
        "loss": loss.item(),
        "kl": told["kl"][0],
        "clipped": told["clip_ratio/region_mean"][0],
        "gradient": now.grad,
    }


# ---------------------------------------------------------------- the step


def their_steps(
    folder: Path,
    tokenizer: Tokenizer,
    task: Task,
    problems: Sequence[Problem],
    prompt: Callable[[Problem], Sequence[int]],
    *,
    groups: int,
    group_size: int,
    max_tokens: int,
    lr: float,
    steps: int,
    scratch: Path,
) -> list[dict[str, float]]:
    """Seconds and tokens of each step of GRPOTrainer on the model in the folder (Hugging Face's layout),
    with the same problems, prompts, rewards and settings. Ids in decimal stand for words, so that
    tokenisation costs hardly count."""
    from datasets import Dataset
    from transformers import AutoModelForCausalLM, PrinterCallback, TrainerCallback
    from trl.trainer.grpo_config import GRPOConfig

    by_prompt = {" ".join(map(str, prompt(p))): p for p in problems}
    rows: list[dict[str, float]] = []
    seen: list[int] = []

    def reward(prompts: list[str], completion_ids: list[list[int]], **_: Any) -> list[float]:
        texts = [tokenizer.decode(ids).strip() for ids in completion_ids]
        seen.append(sum(map(len, completion_ids)))
        return [
            task.score(by_prompt[prompt], [text])[0].total
            for prompt, text in zip(prompts, texts, strict=True)
        ]

    started = [0.0]
    trainer_class = grpo_trainer()

    class Timed(trainer_class):  # type: ignore[misc, valid-type]
        def training_step(self, *given: Any, **more: Any) -> Any:
            started[0] = time.monotonic()
            return super().training_step(*given, **more)

    class End(TrainerCallback):  # type: ignore[misc]
        def on_step_end(self, *_: Any, **__: Any) -> None:
            rows.append({"seconds": time.monotonic() - started[0], "tokens": float(seen[-1])})

    order = random.Random(0).sample(list(by_prompt), len(by_prompt))
    config = GRPOConfig(
        output_dir=str(scratch / "trl"),
        per_device_train_batch_size=groups * group_size,
        gradient_accumulation_steps=1,
        steps_per_generation=1,
        num_generations=group_size,
        max_completion_length=max_tokens,
        temperature=1.0,
        top_k=0,
        learning_rate=lr,
        lr_scheduler_type="constant",
        beta=0.0,
        epsilon=LOW,
        epsilon_high=HIGH,
        loss_type="dapo",
        mask_truncated_completions=True,
        max_steps=steps,
        max_grad_norm=1.0,
        optim="adamw_torch_fused",
        use_cpu=True,
        bf16=False,
        gradient_checkpointing=False,
        save_strategy="no",
        report_to=[],
        disable_tqdm=True,
        logging_steps=1000,
        seed=0,
    )
    trainer = Timed(
        model=AutoModelForCausalLM.from_pretrained(str(folder)),
        reward_funcs=reward,
        args=config,
        train_dataset=Dataset.from_list([{"prompt": text} for text in order]),
        processing_class=_ids_as_words(tokenizer),
        callbacks=[End()],
    )
    trainer.remove_callback(PrinterCallback)  # standard output is for the result
    trainer.train()
    return rows


def _ids_as_words(tokenizer: Tokenizer) -> Any:
    """A transformers tokenizer whose words are our ids in decimal."""
    from tokenizers import Tokenizer as Words
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import WhitespaceSplit
    from transformers import PreTrainedTokenizerFast

    words = Words(
        WordLevel(
            {str(i): i for i in range(tokenizer.vocab_size)}, unk_token=str(tokenizer.chat.end)
        )
    )
    words.pre_tokenizer = WhitespaceSplit()
    end, pad = str(tokenizer.chat.end), str(tokenizer.chat.end + 1)
    return PreTrainedTokenizerFast(
        tokenizer_object=words, eos_token=end, pad_token=pad, unk_token=end, padding_side="left"
    )
