"""Text in, score out: answers that can be checked without a person, and the sandbox to do it in."""
