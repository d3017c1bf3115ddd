"""Book training keeps the talk: the heavier the anchor, the less of it moves."""

from __future__ import annotations

import copy
import random
from dataclasses import replace

import torch

from engine.model import Model
from engine.tokenizer import Tokenizer
from learning.book import BookSettings, train_book
from learning.examples import from_turns
from learning.forward import knowledge, share_known, target_logits
from learning.maths.kl import kl_divergence

SETTINGS = BookSettings(epochs=40, batch=2, lr=5e-3, warm_up=2, talk=4, others=0, until_known=False)


def moved(model: Model, tokenizer: Tokenizer, weight: float) -> tuple[float, float]:
    """How much of the book is known after training, and the talk's KL from before."""
    student = copy.deepcopy(model)
    book = [
        from_turns(tokenizer, [("user", question), ("assistant", answer)], 64)
        for question, answer in (("Who are you?", "A friend."), ("Is it red?", "Blue, I think."))
    ]
    talk = [
        from_turns(tokenizer, [("user", f"hello {n}"), ("assistant", f"good day {n}")], 64)
        for n in range(8)
    ]
    train_book(student, book, talk, replace(SETTINGS, talk_weight=weight), random.Random(0))
    with torch.no_grad():
        before, _, _ = target_logits(model, talk)
        now, _, _ = target_logits(student, talk)
    return share_known(knowledge(student, book)), float(kl_divergence(before, now).mean())


def test_a_heavier_anchor_holds_the_talk(tiny_model: Model, tiny_tokenizer: Tokenizer) -> None:
    known, loose = moved(tiny_model, tiny_tokenizer, 0.1)
    _, held = moved(tiny_model, tiny_tokenizer, 5.0)
    assert known == 1.0, (known, loose, held)
    assert held < 0.5 * loose
