"""Converts a Jinja chat template to fixed texts before, between and after turns.

The template is rendered once, with placeholders as the messages, and the result is cut at the placeholders.
Rendering runs in a separate process, in Jinja's sandbox and with resource limits, because a template may be
malicious. It never receives what people type. Left out: tools, images, thinking. Refused: templates that
write a turn differently depending on its position or content.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from engine.errors import CheckpointError
from engine.tokenizers.chat_pieces import ChatPieces
from engine.tokenizers.pattern_trial import limit, run_in_child

TEMPLATE_FILE = "chat_template.jinja"
TEMPLATE_LENGTH = 100_000
"""Longest template in characters. Qwen 3's has 4,000."""
_TURNS = ("user", "assistant", "user", "assistant", "user")
_SYSTEM = "zqSYSTEMqz"
_TEXT_ENDS = ("<|endoftext|>", "<|end_of_text|>")
_ADVICE = "choose a model with a plainer chat template, or write its chat.json by hand"

CHATML = (
    "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\n' + message['content'] "
    "+ '<|im_end|>\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
"""The template of models that have ChatML's markers but no template of their own."""


def find_pieces(
    template: object, config: Mapping[str, Any], markers: Mapping[str, int]
) -> ChatPieces:
    """The fixed texts of a template. Without a template, those of ChatML if the tokenizer has its markers.

    template: as in the tokenizer's config: a text, a list of named templates, or None. config: the
    tokenizer's config, read for `bos_token` and `eos_token`. markers: special token -> id. Raises
    CheckpointError.
    """
    if isinstance(template, list):  # several named templates
        named = {one["name"]: one["template"] for one in template}
        template = named.get("default")
    if template is None and {"<|im_start|>", "<|im_end|>"} <= markers.keys():
        template = CHATML
    if not isinstance(template, str):
        raise CheckpointError("it has no chat template", "choose a model that was trained to chat")
    if len(template) > TEMPLATE_LENGTH:
        raise CheckpointError(f"its chat template is {len(template):,} long", _ADVICE)
    tokens = {name: _text_of(config.get(name)) for name in ("bos_token", "eos_token")}
    texts = _render(template, tokens)
    pieces = _cut(texts, tokens["bos_token"])
    return _with_documents(pieces, tokens, markers)


def _text_of(token: object) -> str:
    """The text of a token in a config, which is a string or an object with `content`; else ""."""
    found = token.get("content") if isinstance(token, dict) else token
    return found if isinstance(found, str) else ""


def _placeholders(count: int) -> list[str]:
    return [f"zq{role.upper()}{place}qz" for place, role in enumerate(_TURNS[:count])]


def _render(template: str, tokens: Mapping[str, str]) -> dict[str, str | None]:
    """Name of a conversation (see `_conversations`) -> its text, or None if the template raised an error."""
    given = json.dumps({"template": template, **tokens})
    out = run_in_child("engine.tokenizers.rendering", "main", given, "its chat template", _ADVICE)
    return dict(json.loads(out))


def _conversations() -> dict[str, tuple[list[dict[str, str]], bool]]:
    """The conversations to render: name -> (messages, whether the head of the next answer is added). "told"
    means with a system prompt."""
    said = _placeholders(len(_TURNS))
    turns = [{"role": r, "content": t} for r, t in zip(_TURNS, said, strict=True)]
    first = [{"role": "system", "content": _SYSTEM}]
    return {
        "told": ([*first, *turns], True),
        "plain": (turns, True),
        "message": (turns[:1], False),
        "answer": (turns[:2], False),
        "told message": ([*first, *turns[:1]], False),
        "told answer": ([*first, *turns[:2]], False),
    }


def _cut(texts: Mapping[str, str | None], bos: str) -> ChatPieces:
    """The pieces, cut from the rendered conversations at the placeholders. bos: the token that begins a
    sequence, or "". Raises CheckpointError if turns of a role are not all written in the same way."""
    told = "told" if texts["told"] and _SYSTEM in str(texts["told"]) else "plain"
    whole, prefix = texts[told], "told " if told == "told" else ""
    message, answer = texts[f"{prefix}message"], texts[f"{prefix}answer"]
    if whole is None or message is None or answer is None:
        raise CheckpointError("its chat template refuses a plain conversation", _ADVICE)
    said = _placeholders(len(_TURNS))
    marks = ([_SYSTEM] if told == "told" else []) + said
    before, *between, generation = _split(whole, marks)
    start, between = (between[0], between[1:]) if told == "told" else ("", between)
    user_tail, assistant_tail = message.partition(said[0])[2], answer.partition(said[1])[2]
    user_head = between[1].removeprefix(assistant_tail)
    assistant_head = between[0].removeprefix(user_tail)
    answer_head = generation.removeprefix(user_tail)
    first = start if told == "told" else before
    alike = (
        between == [user_tail + assistant_head, assistant_tail + user_head] * 2
        and generation == user_tail + answer_head
        and answer_head.startswith(assistant_head)
        and first.endswith(user_head)
    )
    if not alike:
        raise CheckpointError(
            "its chat template writes a turn differently depending on its place", _ADVICE
        )
    first = first.removesuffix(user_head) if user_head else first
    opening = before if told == "told" else first
    begins = opening.startswith(bos) and bos not in user_head  # otherwise bos opens every turn
    opening, system_head = (bos, opening.removeprefix(bos)) if begins else ("", opening)
    if told == "plain":
        opening, system_head = opening + system_head, ""
    return ChatPieces(
        user_head=user_head,
        user_tail=user_tail,
        assistant_head=answer_head,
        assistant_tail=assistant_tail,
        document_head="",
        document_tail="",
        opening=opening,
        system_head=system_head,
        system_tail=first if told == "told" else "",
    )


def _split(text: str, marks: Sequence[str]) -> list[str]:
    """The texts before, between and after the marks. Raises CheckpointError unless each mark occurs exactly
    once, in order."""
    parts = []
    for mark in marks:
        if text.count(mark) != 1:
            raise CheckpointError("its chat template leaves out or repeats what is said", _ADVICE)
        part, _, text = text.partition(mark)
        parts.append(part)
    return [*parts, text]


def _with_documents(
    pieces: ChatPieces, tokens: Mapping[str, str], markers: Mapping[str, int]
) -> ChatPieces:
    """Adds the pieces around a plain document: the tokens that separated documents when the model was
    trained."""
    chat = "".join((pieces.user_head, pieces.user_tail, pieces.assistant_head))
    bos, eos = tokens["bos_token"], tokens["eos_token"]
    ends = [mark for mark in markers if pieces.assistant_tail.startswith(mark)]
    usable = [t for t in (*_TEXT_ENDS, eos) if t in markers and t not in chat]
    tail = usable[0] if usable else max(ends, key=len, default="")
    head = bos if bos in markers and bos not in chat else tail
    return replace(pieces, document_head=head, document_tail=tail)


def main() -> None:
    """Entry point of the child process: reads template and tokens as JSON from standard input, prints the
    rendered conversations as JSON."""
    limit()
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    given = json.loads(sys.stdin.read())

    def refuse(message: str) -> None:
        raise ValueError(message)

    environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)
    environment.globals["raise_exception"] = refuse
    environment.globals["strftime_now"] = lambda _format: "1 January 2026"
    environment.policies["json.dumps_kwargs"] = {"ensure_ascii": False}
    template = environment.from_string(given["template"])
    texts: dict[str, str | None] = {}
    for name, (messages, generation) in _conversations().items():
        try:
            texts[name] = template.render(
                messages=messages,
                add_generation_prompt=generation,
                bos_token=given["bos_token"],
                eos_token=given["eos_token"],
                tools=None,
                enable_thinking=False,
            )
        except Exception:  # a template can raise anything
            texts[name] = None
    print(json.dumps(texts))
