"""Generates candidates from the published weights in one thread, one ask at a time.

Left out: learning (learning.teacher.jobs).
"""

from __future__ import annotations

import queue
import secrets
import threading
import time
from collections.abc import Callable
from functools import partial

import torch

from engine.errors import PromptTooLong, VidyaError
from engine.freed_memory import return_freed_memory
from engine.generate import Delta, Restart, generate
from engine.selection import Finished, GenerationControl
from engine.storage.generation_file import read_generation
from engine.tokenizers.chat_format import encode_opening, encode_prompt, left_out
from learning.lessons.learner import Learner
from learning.protocol.events import (
    AskDone,
    CandidateDone,
    CandidateReset,
    CandidateTexts,
    Event,
    Failed,
    MessageCut,
)
from learning.protocol.records import Candidate, TextDelta, Turn, Turns
from learning.protocol.requests import Cancel, Generate, Keep
from learning.teacher.answer_check import AnswerCheck, least_room
from learning.teacher.certainty import EXPONENT, least_plausible
from learning.teacher.known import KnownTexts
from learning.teacher.meant import said_otherwise
from learning.teacher.mentions import Mention
from learning.teacher.recall import LessonRecall, Recalled
from learning.teacher.relevance import reads_contexts
from learning.teacher.scheduling import Scheduler
from learning.teacher.seen import Seen
from learning.text.context import in_context
from learning.text.reason import asked_again

REST = 3.0
"""Seconds without an ask after which freed memory is returned to the system."""


class Answerer:
    """The thread that answers asks. `close` ends it."""

    def __init__(
        self,
        learner: Learner,
        turnstile: Scheduler,
        emit: Callable[[Event], None],
        heard: Callable[[Turns], None],
        known: KnownTexts,
        recall: LessonRecall,
        *,
        seed: int | None = None,
    ) -> None:
        """heard: called with the turns of an ask after it is answered, but not when the same turns are
        answered again. known: the texts of books and lessons, for AnswerCheck. recall: finds lessons for asks
        that want it. seed: for asks without a seed; None: a random one."""
        self._learner, self._turnstile, self._emit = learner, turnstile, emit
        self._heard, self._known, self._seed = heard, known, seed
        self._recall = recall
        self._seen = Seen(learner.journal)
        fitted = read_generation(learner.folder).certainty_exponent
        self._exponent = EXPONENT if fitted is None else fitted
        self._answered: tuple[Turns, int] = ((), -1)
        """What was answered last, and the version of the weights that answered."""
        self._shown: set[str] = set()
        """The model's answers to it."""
        self._controls: dict[int, GenerationControl] = {}
        """Of the newest request of each ask that waits or is answered."""
        self._asks: queue.Queue[tuple[Generate, GenerationControl] | None] = queue.Queue()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._loop, name="generate", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def send(self, request: Generate | Keep | Cancel) -> None:
        """Queues an ask, or ends the candidates of a running one. Returns at once."""
        if isinstance(request, Generate):
            control = self._controls[request.ask] = GenerationControl()
            self._asks.put((request, control))
        elif running := self._controls.get(request.ask):
            if isinstance(request, Keep):
                running.keep(request.index)
            else:
                running.cancel()

    def close(self) -> None:
        """Stops at the next token, and waits up to 30 seconds for the thread to end."""
        self._stopping.set()
        for control in list(self._controls.values()):
            control.cancel()
        self._asks.put(None)
        if self._thread.is_alive() and self._thread is not threading.current_thread():
            self._thread.join(timeout=30)

    def _next(self) -> tuple[Generate, GenerationControl] | None:
        """Waits for the next ask; where none comes for a while, returns the memory that answers needed."""
        try:
            return self._asks.get(timeout=REST)
        except queue.Empty:
            return_freed_memory()
            return self._asks.get()

    def _loop(self) -> None:
        heard = None
        while (asked := self._next()) is not None and not self._stopping.is_set():
            request, control = asked
            try:
                with self._turnstile.answering():
                    self._answer(request, control)
                if (
                    request.turns != heard and not request.raw
                ):  # not when other answers are asked for
                    heard = request.turns
                    self._heard(heard)
            except VidyaError as error:
                refused = isinstance(error, PromptTooLong)
                self._emit(Failed("generate", error.what, error.next_step, request.ask, refused))
            except Exception as error:
                what = f"the answer could not be made ({type(error).__name__}: {error})"
                self._emit(Failed("generate", what, "ask again", request.ask))
            finally:
                if self._controls.get(request.ask) is control:  # it was not asked once more
                    del self._controls[request.ask]

    def _answer(self, request: Generate, control: GenerationControl) -> None:
        published, tokenizer = self._learner.published, self._learner.tokenizer
        context, sampling = published.model.config.context, request.sampling
        if not request.raw:
            least = least_room(tokenizer, request.turns[-1].text)
            sampling = sampling.with_(max_tokens=max(sampling.max_tokens, least))
        started, first, tokens = time.monotonic(), 0.0, 0
        ids, recalled = self._prompt(request, context, min(sampling.max_tokens, context // 2))
        seed = request.seed if request.seed is not None else self._seed
        generator = torch.Generator().manual_seed(secrets.randbits(63) if seed is None else seed)
        answering = (request.turns, published.version)
        seen_likeliest = request.others and answering == self._answered
        self._answered = answering
        if not seen_likeliest:
            self._shown = set()
        check, standards = None, None
        if not request.raw:  # a text that is gone on with is whatever it is
            check = self._check(request, recalled, published.model.config.parameters)
            if seen_likeliest:
                # they were offered with the answers that the owner has seen
                check.nearest, check.mentioned, check.again = None, None, True
            standards = check.standards(tokenizer, min(sampling.max_tokens, context - len(ids)))
        for event in generate(
            published.model,
            tokenizer,
            ids,
            request.n,
            sampling,
            generator=generator,
            control=control,
            likeliest=not seen_likeliest,
            standards=standards,
            stops=request.stops,
            seen=tuple(self._shown),
        ):
            first = first or time.monotonic() - started
            if isinstance(event, Delta):
                deltas = tuple(TextDelta(index, text) for index, text in event.texts)
                self._emit(CandidateTexts(request.ask, deltas))
            elif isinstance(event, Restart):
                self._emit(CandidateReset(request.ask, event.index))
            elif isinstance(event, Finished):
                tokens += len(event.tokens)
                self._shown.add(event.text)
                self._emit(_done(request, event, check, recalled, published.version))
        seconds = max(1e-6, time.monotonic() - started)
        self._emit(AskDone(request.ask, tokens / seconds, first, len(ids)))

    def _prompt(
        self, request: Generate, context: int, room: int
    ) -> tuple[list[int], Recalled | None]:
        """The ids that the answers follow, with at least `room` of the context left for them, and the lesson
        that was recalled for them."""
        tokenizer = self._learner.tokenizer
        if request.raw:
            return encode_opening(tokenizer, request.turns[-1].text, context, room), None
        seen = self._seen.turns(request.ask, request.turns)
        again, recalled = request.again, None
        if request.recall and seen and again is None:
            recalled = _unless_said_otherwise(self._recall.find, seen[-1].text, request.turns)
        shown = with_recalled(seen, recalled, reads_contexts(tokenizer))
        prompt = asked_again(shown, again.old, again.reason) if again else shown
        size = (context, room, request.system)
        ids = encode_prompt(tokenizer, prompt, *size)
        if seen and (lost := left_out(tokenizer, seen[-1].text, *size)):
            self._emit(MessageCut(request.ask, len(seen[-1].text), lost))
        return ids, recalled

    def _check(self, request: Generate, recalled: Recalled | None, weights: int) -> AnswerCheck:
        """The check of the answers. weights: number of the model's."""
        message = request.turns[-1].text
        check = AnswerCheck(
            request.turns,
            self._known.now(),
            request.n > 1,
            exponent=self._exponent,
            least=least_plausible(weights, request.sampling.temperature),
            recalled=recalled,
            near=partial(self._recall.answers_near, message),
        )
        if request.again is not None:
            return check
        if request.offers or request.recall:
            check.changed = partial(self._recall.changed, message)
        if recalled is not None:
            return check
        check.offers = request.offers
        if request.offers:
            find = partial(_unless_said_otherwise, self._recall.offer, message, request.turns)
            check.find, check.nearest = find, partial(self._recall.nearest, message)
        if request.offers or request.recall:
            said = _said_before(request.turns)
            check.mentioned = partial(self._recall.mentioned, message, said)
        return check


def _done(
    request: Generate,
    event: Finished,
    check: AnswerCheck | None,
    recalled: Recalled | None,
    version: int,
) -> CandidateDone:
    """A finished candidate as it is shown. version: of the weights."""
    text, sure = check.shown(event, request.n) if check else (event.text, None)
    offered = check.origin(text) if check else None
    candidate = Candidate(
        request.ask,
        event.index,
        text,
        event.tokens,
        event.logprobs,
        event.ending,
        version,
        sure,
        offered is not None,
    )
    if isinstance(offered, Mention):
        return CandidateDone(candidate, said_at=offered.when)
    lesson = offered or (recalled.lesson if recalled else None)
    return CandidateDone(candidate, lesson.id if lesson else None)


def _unless_said_otherwise(
    find: Callable[[str], Recalled | None], message: str, turns: Turns
) -> Recalled | None:
    """What `find` gives for the message, unless the owner said otherwise earlier in this talk."""
    found = find(message)
    return None if found and said_otherwise(found.lesson, _said_before(turns)) else found


def _said_before(turns: Turns) -> list[str]:
    """The owner's messages before the last one."""
    return [turn.text for turn in turns[:-1] if turn.role == "user"]


def with_recalled(turns: Turns, recalled: Recalled | None, reads: bool = False) -> Turns:
    """The turns with the recalled lesson. reads: the model reads contexts, so that the lesson stands in the
    last message (learning.text.context); else it stands before the turns, as if it had just been said, and is
    the first to be dropped where the context is short. Left out where the conversation already has that
    answer."""
    if recalled is None or any(turn.text == recalled.lesson.answer for turn in turns):
        return turns
    question, answer = recalled.lesson.prompt[-1], recalled.lesson.answer
    if reads:
        *before, last = turns
        return (*before, Turn("user", in_context(question.text, answer, last.text)))
    return (question, Turn("assistant", answer), *turns)
