"""A Jinja chat template, rendered once with placeholders, as fixed texts before, between and after turns.

Rendered in a process of its own, in Jinja's sandbox, with limits: whoever made the template may mean harm.
What people type never comes near it. Left out: tools, images, thinking; templates that write a turn
otherwise by its place or by what it says, which are refused.
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
"""Characters of the longest template; Qwen 3's has 4,000."""
_TURNS = ("user", "assistant", "user", "assistant", "user")
_SYSTEM = "zqSYSTEMqz"
_TEXT_ENDS = ("<|endoftext|>", "<|end_of_text|>")
_ADVICE = "choose a model with a plainer chat template, or write its chat.json by hand"

CHATML = (
    "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\n' + message['content'] "
    "+ '<|im_end|>\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
"""For models that have its markers and no template."""


def find_pieces(
    template: object, config: Mapping[str, Any], markers: Mapping[str, int]
) -> ChatPieces:
    """The pieces of a template, of ChatML where there is none and the markers are known.

    config: of the tokenizer, for `bos_token` and `eos_token`. Raises CheckpointError.
    """
    if isinstance(template, list):  # several, of which one is the usual
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
    """A token of a config is its text, or an object that has it."""
    found = token.get("content") if isinstance(token, dict) else token
    return found if isinstance(found, str) else ""


def _placeholders(count: int) -> list[str]:
    return [f"zq{role.upper()}{place}qz" for place, role in enumerate(_TURNS[:count])]


def _render(template: str, tokens: Mapping[str, str]) -> dict[str, str | None]:
    """Name of a conversation -> its text; None where the template refuses to write it."""
    given = json.dumps({"template": template, **tokens})
    out = run_in_child("engine.tokenizers.rendering", "main", given, "its chat template", _ADVICE)
    return dict(json.loads(out))


def _conversations() -> dict[str, tuple[list[dict[str, str]], bool]]:
    """Name -> (messages, with the head of an answer to come)."""
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
    """Raises CheckpointError where turns are not written alike."""
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
            "its chat template writes a turn otherwise by its place in the conversation", _ADVICE
        )
    first = first.removesuffix(user_head) if user_head else first
    opening = before if told == "told" else first
    begins = opening.startswith(bos) and bos not in user_head  # else it is what opens any turn
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
    """What stands before, between and after the marks, each of which is there once and in order."""
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
    """Plain texts stand between the tokens that the model's training had between them."""
    chat = "".join((pieces.user_head, pieces.user_tail, pieces.assistant_head))
    bos, eos = tokens["bos_token"], tokens["eos_token"]
    ends = [mark for mark in markers if pieces.assistant_tail.startswith(mark)]
    usable = [t for t in (*_TEXT_ENDS, eos) if t in markers and t not in chat]
    tail = usable[0] if usable else max(ends, key=len, default="")
    head = bos if bos in markers and bos not in chat else tail
    return replace(pieces, document_head=head, document_tail=tail)


def main() -> None:
    """The rendering itself, in the child: template and tokens come from standard input."""
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
        except Exception:  # whatever a template runs into
            texts[name] = None
    print(json.dumps(texts))
