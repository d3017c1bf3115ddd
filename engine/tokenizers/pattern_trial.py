"""Tests the regular expression, or the whole tokenizer, of a foreign model safely: in a separate process with
a deadline.

A pattern is a program for a backtracking matcher. A malicious one takes unlimited time or memory, or makes
tiktoken panic, on ordinary-looking texts. Passing the test proves nothing: `Tokenizer.encode` still handles a
panic.
"""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path

from engine.errors import CheckpointError

PATTERN_LENGTH = 4_000
"""Longest pattern in characters; patterns in use have 100 to 300."""
DEADLINE = 20.0
"""Seconds for starting Python, reading the pattern and splitting the sample; normally 0.5 s."""
SECONDS = 10
"""Limit of processor time in seconds; enough to split the sample thousands of times with a usual pattern."""
PATTERN_ADVICE = "use a tokenizer with the pattern of a known model"
MEMORY = 2 << 30
"""Limit of address space in bytes."""
_COMMAND = [sys.executable, "-I", "-S", "-c"]
_SAMPLE_LENGTH = 2_000


def sample() -> list[str]:
    """Texts that provoke backtracking: words, long runs of one or two alternating kinds of characters, each
    with an end that does not match."""
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
    """Raises CheckpointError if the pattern is too long, fails on the sample, or does not end in time."""
    if len(pattern) > PATTERN_LENGTH:
        raise CheckpointError(f"its pattern is {len(pattern):,} long", PATTERN_ADVICE)
    run_in_child("engine.tokenizers.pattern_trial", "main", pattern, "its pattern", PATTERN_ADVICE)


def try_tokenizer(json: str) -> None:
    """Raises CheckpointError if a tokenizer of the `tokenizers` library fails on the sample or does not end
    in time. json: the text of tokenizer.json."""
    run_in_child(
        "engine.tokenizers.pattern_trial", "encode_sample", json, "its tokenizer", PATTERN_ADVICE
    )


def run_in_child(module: str, function: str, given: str, what: str, advice: str) -> str:
    """Runs `function` of `module` in a child process within DEADLINE, SECONDS and MEMORY, with `given` on
    stdin; returns what it prints. The function must call `limit` first. Raises CheckpointError about
    `what`, with `advice`."""
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
    """Tests a pattern in the child process. Reads the pattern from stdin."""
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
            sys.exit(1)  # the pattern drops text


def encode_sample() -> None:
    """Tests a tokenizer in the child process. Reads its JSON from stdin."""
    limit()
    import tokenizers

    found = tokenizers.Tokenizer.from_str(sys.stdin.buffer.read().decode("utf-8"))
    for text in sample():
        found.encode(text, add_special_tokens=False)
