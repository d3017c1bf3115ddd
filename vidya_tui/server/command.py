"""`vidya serve`."""

from __future__ import annotations

import importlib.util
from contextlib import closing
from dataclasses import replace

import click

from engine.errors import ConfigError
from learning.models.plain_text import ADVICE
from learning.models.store import ModelStore
from vidya_tui.cli.common import common, local_teacher, say
from vidya_tui.options import Options
from vidya_tui.server.guard import is_loopback

NEEDED = ("starlette", "uvicorn")


@click.command()
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    metavar="ADDRESS",
    help="Loopback address to listen on.",
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8765,
    show_default=True,
    help="Port to listen on; 0 takes a free one.",
)
@click.option(
    "--key",
    envvar="VIDYA_SERVE_KEY",
    metavar="TEXT",
    help="Key that clients must send. Default: VIDYA_SERVE_KEY, or none.",
)
@click.option(
    "--recall/--no-recall",
    default=None,
    help="Whether a lesson may help when a message asks for it in other words; default: the setting.",
)
@common
def serve(host: str, port: int, key: str | None, recall: bool | None, options: Options) -> None:
    """Answers programs on this machine as OpenAI's API does, and learns from their feedback.

    Base address: http://127.0.0.1:8765/v1. Each request is an ask in the journal, and POST /v1/feedback
    judges it. Ctrl+C ends the server.
    """
    if key is not None and not key.strip():
        raise click.UsageError("--key is empty; give a text, or leave it out")
    if not is_loopback(host):
        raise ConfigError(
            f"--host {host} is not a loopback address, and the server has no accounts",
            "leave it out; from another machine: ssh -L 8765:127.0.0.1:8765 THIS-MACHINE",
        )
    if missing := [name for name in NEEDED if importlib.util.find_spec(name) is None]:
        what = f"vidya serve needs {' and '.join(missing)}"
        raise ConfigError(what, "in the folder of vidya: pip install '.[serve]'")
    from vidya_tui.server.dispatcher import Dispatcher
    from vidya_tui.server.running import Serving, bind

    settings = options.settings
    if recall is not None:
        settings = replace(settings, recall=recall)
    drawn = ModelStore(options.home).generation(options.chosen_model).sampling
    serving = Serving(as_json=options.as_json, debug=options.debug)
    with closing(bind(host, port)) as taken, local_teacher(options) as place:
        dispatcher = Dispatcher(place, settings, drawn, seed=options.seed, tell=serving.tell)
        if dispatcher.ready.continues_only:
            say(f"{dispatcher.model} was trained on plain text only: {ADVICE}")
        serving.run(dispatcher, taken, key)
