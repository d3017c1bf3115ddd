"""Tries what a foreign folder brings to be run, where it can do no harm: in a process of its own, with a
deadline.

A pattern is a program for a backtracking matcher. One that was written to do harm takes time without
end, or all memory, or makes tiktoken panic, on texts that look like any other. What gets through the
sample is not proven sound: `Tokenizer.encode` still expects a panic.
"""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path

from engine.errors import CheckpointError

PATTERN_LENGTH = 4_000
"""Characters of the longest pattern; those in use have 100 to 300."""
DEADLINE = 20.0
"""Seconds for starting Python, reading the pattern and splitting the sample, which take a half."""
SECONDS = 10
"""Of processor time, in which the sample is split thousands of times by any pattern in use."""
PATTERN_ADVICE = "use a tokenizer with the pattern of a known model"
MEMORY = 2 << 30
"""Bytes of address space."""
_COMMAND = [sys.executable, "-I", "-S", "-c"]
_SAMPLE_LENGTH = 2_000


def sample() -> list[str]:
    """Texts on which patterns that backtrack do so: words, long runs of one kind and of two by turns,
    each with an end that does not fit."""
    prose = (
        "My name is Vidya, and I don't know 12,345 words yet; it's late. What's new? \n\n  - one\n"
        "Gr\u00fc\u00dfe aus K\u00f6ln: na\u00efve caf\u00e9, \u65e5\u672c\u8a9e \u0939\u093f \U0001f642\n"
        "def f(x): return x**2 # \t!\r\n"
    )
    runs = [*"aA0 \n\t._\u00e9\u4e2d", "ab", "a ", " a", "a0", "aA", "a.", " \n", "'s"]
    ends = ["", "!", "\0", "\u00fc"]
    return [prose, prose * 20] + [
        run * (_SAMPLE_LENGTH // len(run)) + end for run in runs for end in ends
    ]


def try_pattern(pattern: str) -> None:
    """Raises CheckpointError for a pattern that fails on the sample, or does not end in time."""
    if len(pattern) > PATTERN_LENGTH:
        raise CheckpointError(f"its pattern is {len(pattern):,} long", PATTERN_ADVICE)
    run_in_child("engine.tokenizers.pattern_trial", "main", pattern, "its pattern", PATTERN_ADVICE)


def try_tokenizer(json: str) -> None:
    """Raises CheckpointError for a tokenizer of the `tokenizers` library that fails on the sample, or
    does not get to its end in time."""
    run_in_child(
        "engine.tokenizers.pattern_trial", "encode_sample", json, "its tokenizer", PATTERN_ADVICE
    )


def run_in_child(module: str, function: str, given: str, what: str, advice: str) -> str:
    """What a function prints in a process of its own, which has DEADLINE, SECONDS and MEMORY and finds
    `given` on its standard input. It calls `limit` first. Raises CheckpointError, which names `what`."""
    paths = [*sys.path, str(Path(__file__).parents[2])]
    code = f"import sys; sys.path[:0] = {paths!r}; from {module} import {function} as f; f()"
    try:
        done = subprocess.run(
            [*_COMMAND, code],
            input=given.encode("utf-8", "replace"),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=DEADLINE,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise CheckpointError(f"{what} takes more than {DEADLINE:.0f} seconds", advice) from None
    except OSError as error:
        raise CheckpointError(f"{what} cannot be tried ({error.strerror})", advice) from error
    if done.returncode:
        raise CheckpointError(f"{what} fails on ordinary text", advice)
    return done.stdout.decode("utf-8", "replace")


def limit() -> None:
    """Bounds this process's time and memory."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def main() -> None:
    """The trial itself, in the child: the pattern comes from standard input."""
    limit()
    import tiktoken

    ranks = {bytes([byte]): byte for byte in range(256)}
    encoding = tiktoken.Encoding(
        "trial",
        pat_str=sys.stdin.buffer.read().decode("utf-8"),
        mergeable_ranks=ranks,
        special_tokens={},
    )
    for text in sample():
        if encoding.decode(encoding.encode_ordinary(text)) != text:
            sys.exit(1)  # it leaves words out


def encode_sample() -> None:
    """The trial of a whole tokenizer, in the child: its JSON comes from standard input."""
    limit()
    import tokenizers

    found = tokenizers.Tokenizer.from_str(sys.stdin.buffer.read().decode("utf-8"))
    for text in sample():
        found.encode(text, add_special_tokens=False)
