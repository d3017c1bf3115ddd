"""`vidya bench`: runs the benchmarks of `benchmarks/`. The only module that imports them."""

from __future__ import annotations

from pathlib import Path

import click

from vidya_tui.cli.common import common, print_json, say
from vidya_tui.options import Options


def _complete(context: click.Context, parameter: click.Parameter, begun: str) -> list[str]:
    from benchmarks import BENCHMARKS

    return sorted(name for name in BENCHMARKS if name.startswith(begun))


@click.command()
@click.argument(
    "name",
    required=False,
    shell_complete=_complete,
    help="A benchmark; --list shows their names.",
)
@click.option("--list", "listing", is_flag=True, help="List the benchmarks and what they measure.")
@click.option("--quick", is_flag=True, help="A short run to check that the benchmark works.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="Folder for NAME.md and NAME.json. Most benchmarks of many runs add to the results in it.",
)
@click.option(
    "--seeds",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="Number of runs, with seeds from --seed on.",
)
@common
def bench(
    name: str | None, listing: bool, quick: bool, out: Path | None, seeds: int, options: Options
) -> None:
    """Runs the benchmark NAME and prints one JSON object."""
    from benchmarks import BENCHMARKS, WITHOUT_MODEL, BenchOptions, find

    if listing:
        for known, what in sorted(BENCHMARKS.items()):
            if options.as_json:
                print_json({"name": known, "what": what})
            else:
                click.echo(f"{known:10s} {what}")
        return
    if name is None:
        raise click.UsageError("name a benchmark; --list shows their names")
    run = find(name)
    if options.model is not None and name in WITHOUT_MODEL:
        raise click.UsageError(f"{name} takes no --model; leave it out")
    first = options.seed or 0
    chosen = BenchOptions(
        home=options.home.path,
        model=options.model,
        seeds=tuple(range(first, first + seeds)),
        quick=quick,
        out=out,
        say=say,
    )
    print_json(run(chosen))
