"""Answers asks from the published weights, in a thread of its own, one ask after another.

Left out: what is learned from the answers (learning.teacher).
"""

from __future__ import annotations

import queue
import secrets
import threading
import time
from collections.abc import Callable

import torch

from engine.chat_format import encode_prompt, left_out
from engine.errors import VidyaError
from engine.generate import Control, Delta, Finished, Restart, generate
from learning.events import (
    AskDone,
    CandidateDone,
    CandidateReset,
    CandidateText,
    Event,
    Failed,
    MessageCut,
)
from learning.learner import Learner
from learning.records import Turns
from learning.requests import Cancel, Generate, Keep
from learning.turnstile import Turnstile


class Answerer:
    """One thread that answers. `close` ends it."""

    def __init__(
        self,
        learner: Learner,
        turnstile: Turnstile,
        emit: Callable[[Event], None],
        heard: Callable[[Turns], None],
        *,
        seed: int | None = None,
    ) -> None:
        """heard: called with the turns of an ask once it is answered, not again where other answers
        are asked for. seed: of asks that name none."""
        self._learner, self._turnstile, self._emit = learner, turnstile, emit
        self._heard, self._seed = heard, seed
        self._controls: dict[int, Control] = {}
        self._asks: queue.Queue[Generate | None] = queue.Queue()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._loop, name="generate", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def send(self, request: Generate | Keep | Cancel) -> None:
        """Hands a request over; returns at once."""
        if isinstance(request, Generate):
            self._controls[request.ask] = Control()
            self._asks.put(request)
        elif control := self._controls.get(request.ask):
            if isinstance(request, Keep):
                control.keep(request.index)
            else:
                control.cancel()

    def close(self) -> None:
        """Stops at the next token."""
        self._stopping.set()
        for control in list(self._controls.values()):
            control.cancel()
        self._asks.put(None)
        if self._thread.is_alive() and self._thread is not threading.current_thread():
            self._thread.join(timeout=30)

    def _loop(self) -> None:
        heard = None
        while (request := self._asks.get()) is not None and not self._stopping.is_set():
            try:
                with self._turnstile.answering():
                    self._answer(request)
                if request.turns != heard:  # not when other answers are asked for
                    heard = request.turns
                    self._heard(heard)
            except VidyaError as error:
                self._emit(Failed("generate", error.what, error.next_step, request.ask))
            except Exception as error:
                what = f"the answer could not be made ({type(error).__name__}: {error})"
                self._emit(Failed("generate", what, "ask again", request.ask))
            finally:
                self._controls.pop(request.ask, None)

    def _answer(self, request: Generate) -> None:
        published, tokenizer = self._learner.published, self._learner.tokenizer
        sampling = request.sampling
        context = published.model.config.context
        turns = [(turn.role, turn.text) for turn in request.turns]
        reserve = min(sampling.max_tokens, context // 2)
        ids = encode_prompt(tokenizer, turns, context, reserve)
        if turns and (lost := left_out(tokenizer, turns[-1][1], context, reserve)):
            self._emit(MessageCut(request.ask, len(turns[-1][1]), lost))
        seed = request.seed if request.seed is not None else self._seed
        generator = torch.Generator().manual_seed(secrets.randbits(63) if seed is None else seed)
        started, first, tokens = time.monotonic(), 0.0, 0
        control = self._controls[request.ask]
        for event in generate(
            published.model,
            tokenizer,
            ids,
            request.n,
            sampling,
            generator=generator,
            control=control,
        ):
            first = first or time.monotonic() - started
            if isinstance(event, Delta):
                if event.text:
                    self._emit(CandidateText(request.ask, event.index, event.text))
            elif isinstance(event, Restart):
                self._emit(CandidateReset(request.ask, event.index))
            elif isinstance(event, Finished):
                tokens += len(event.tokens)
                self._emit(
                    CandidateDone(
                        request.ask,
                        event.index,
                        event.text,
                        tuple(event.tokens),
                        tuple(event.logprobs),
                        event.ending,
                        published.version,
                    )
                )
        seconds = max(1e-6, time.monotonic() - started)
        self._emit(AskDone(request.ask, tokens / seconds, first))
