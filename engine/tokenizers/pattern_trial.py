"""Tries a tokenizer's pattern where it can do no harm: in a process of its own, with a deadline.

A pattern is a program for a backtracking matcher. One that was written to do harm takes time without
end, or all memory, or makes tiktoken panic, on texts that look like any other. What gets through the
sample is not proven sound: `Tokenizer.encode` still expects a panic.
"""

from __future__ import annotations

import resource
import subprocess
import sys

from engine.errors import CheckpointError

PATTERN_LENGTH = 4_000
"""Characters of the longest pattern; those in use have 100 to 300."""
DEADLINE = 20.0
"""Seconds for starting Python, reading the pattern and splitting the sample, which take a half."""
SECONDS = 10
"""Of processor time, in which the sample is split thousands of times by any pattern in use."""
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
    advice = "use a tokenizer with the pattern of a known model"
    if len(pattern) > PATTERN_LENGTH:
        raise CheckpointError(f"its pattern is {len(pattern):,} long", advice)
    own = "from engine.tokenizers.pattern_trial import main; main()"
    code = f"import sys; sys.path[:0] = {sys.path!r}; {own}"
    try:
        done = subprocess.run(
            [*_COMMAND, code],
            input=pattern.encode("utf-8", "replace"),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=DEADLINE,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise CheckpointError(
            f"its pattern takes more than {DEADLINE:.0f} seconds to split a page", advice
        ) from None
    except OSError as error:
        raise CheckpointError(f"its pattern cannot be tried ({error.strerror})", advice) from error
    if done.returncode:
        raise CheckpointError("its pattern fails on ordinary text", advice)


def main() -> None:
    """The trial itself, in the child: the pattern comes from standard input."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
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
