"""The shell commands in this process, on a home with a tiny model and a short book."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from engine.errors import VidyaError
from learning.home import Home
from learning.journal.journal import Journal
from vidya_tui.cli.main import cli

BOOK = """<|user|> hello <|assistant|> Hello, I am well.
<|user|> What is your name? <|assistant|> My name is Vidya.
"""


@dataclass(frozen=True)
class Shell:
    """`run` a command as a person would; `rows` reads what it printed with --json."""

    home: Home

    def run(self, *arguments: str, stdin: str | None = None, status: int = 0) -> Result:
        """Runs it and checks the exit status (1 for any VidyaError, as `main` has it)."""
        result = CliRunner().invoke(cli, [*arguments, "--home", str(self.home.path)], input=stdin)
        got = 1 if isinstance(result.exception, VidyaError) else result.exit_code
        said = f"{arguments}: {result.output} {result.exception!r}"
        assert got == status, said
        if result.exception and not isinstance(result.exception, VidyaError | SystemExit):
            raise result.exception
        return result

    def rows(self, *arguments: str, stdin: str | None = None) -> list[dict[str, Any]]:
        output = self.run(*arguments, "--json", stdin=stdin).stdout
        return [json.loads(line) for line in output.splitlines()]

    def fails(self, *arguments: str, stdin: str | None = None) -> str:
        """The one-line error message of a command that failed."""
        result = self.run(*arguments, stdin=stdin, status=1)
        assert isinstance(result.exception, VidyaError)
        assert "\n" not in result.exception.what
        return str(result.exception)

    def journal(self) -> Journal:
        return Journal(self.home.journal_path)

    def file(self, name: str, text: str) -> Path:
        path = self.home.path / name
        path.write_text(text, "utf-8")
        return path
