"""Shell completion of the names of models and tasks.

    eval "$(_VIDYA_COMPLETE=bash_source vidya)"

click completes options and commands by itself. Completion creates and opens nothing; a home that does
not exist has no models.
"""

from __future__ import annotations

import os
from pathlib import Path

import click
from click.shell_completion import get_completion_class

VARIABLE = "_VIDYA_COMPLETE"
_DONE = ("source", "complete")


def check_instruction() -> None:
    """Raises UsageError for an unknown shell or instruction, which click would ignore."""
    wanted = os.environ.get(VARIABLE)
    shell, _, what = (wanted or "").partition("_")
    if wanted and (get_completion_class(shell) is None or what not in _DONE):
        raise click.UsageError(
            f"{VARIABLE} is {wanted!r}; set it to bash_source, zsh_source or fish_source"
        )


def models(context: click.Context, parameter: click.Parameter, begun: str) -> list[str]:
    """Names of the models in the home and of the shipped ones that start with `begun`."""
    from learning.home import usual_folder
    from learning.models.store import SHIPPED

    folders = ((_home(context) or usual_folder()) / "models", SHIPPED)
    names = {
        path.parent.name
        for folder in folders
        for path in folder.glob("[!.]*/config.json")
        if path.parent.name.startswith(begun)
    }
    return sorted(names)


def tasks(context: click.Context, parameter: click.Parameter, begun: str) -> list[str]:
    """Names of the tasks of `vidya practice` that start with `begun`."""
    from learning.rewards.registry import tasks as known

    return sorted(name for name in known() if name.startswith(begun))


def _home(context: click.Context | None) -> Path | None:
    while context is not None:
        if named := context.params.get("home"):
            return Path(named)
        context = context.parent
    return None
