"""What a shell offers when Tab is pressed: names of models and tasks.

    eval "$(_VIDYA_COMPLETE=bash_source vidya)"

Options and commands click completes by itself. Nothing is made or opened for it: a home that is not
there holds no models.
"""

from __future__ import annotations

import os
from pathlib import Path

import click
from click.shell_completion import get_completion_class

VARIABLE = "_VIDYA_COMPLETE"
_DONE = ("source", "complete")


def check_instruction() -> None:
    """Raises UsageError if a shell asks for something that is not known, which click passes over."""
    wanted = os.environ.get(VARIABLE)
    shell, _, what = (wanted or "").partition("_")
    if wanted and (get_completion_class(shell) is None or what not in _DONE):
        raise click.UsageError(
            f"{VARIABLE} is {wanted!r}; set it to bash_source, zsh_source or fish_source"
        )


def models(context: click.Context, parameter: click.Parameter, begun: str) -> list[str]:
    """Models of the home and those that come with vidya."""
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
    """Tasks of `vidya practice`."""
    from learning.rewards.registry import tasks as known

    return sorted(name for name in known() if name.startswith(begun))


def _home(context: click.Context | None) -> Path | None:
    while context is not None:
        if named := context.params.get("home"):
            return Path(named)
        context = context.parent
    return None
