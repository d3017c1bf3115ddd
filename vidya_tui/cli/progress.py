"""`vidya journal progress`: measurements over time, as text, a CSV table or an SVG plot."""

from __future__ import annotations

from pathlib import Path

import click

from engine.storage.files import absolute
from learning.journal.progress import as_csv, as_svg, read_progress, summary
from learning.models.store import ModelStore
from vidya_tui.cli.common import common, open_journal, print_json, say
from vidya_tui.controller.export import check_free, write_export
from vidya_tui.options import Options


@click.command()
@click.option("--csv", "csv_path", type=click.Path(path_type=Path), help="Write a CSV table here.")
@click.option("--svg", "svg_path", type=click.Path(path_type=Path), help="Write an SVG plot here.")
@click.option("--force", is_flag=True, help="Overwrite an existing file.")
@common
def progress(csv_path: Path | None, svg_path: Path | None, force: bool, options: Options) -> None:
    """Shows how the model does over time: recall, loss, reward, ratings, picks, your words.

    Ratings and picks are of all models, the rest is of the chosen one; --model chooses another."""
    for path in (csv_path, svg_path):
        check_free(path, force=force)
    with open_journal(options) as journal:
        model = absolute(options.chosen_model).name
        if options.model and model not in journal.measured_models():  # it may be removed since
            ModelStore(options.home).info(options.model)
        found = read_progress(journal, model)
    for path, text in ((csv_path, as_csv), (svg_path, as_svg)):
        if path is not None:
            write_export(path, text(found))
            say(f"written to {path}")
    if options.as_json:
        for one in found:
            for point in one.points:
                print_json(
                    {
                        "model": model,
                        "measure": one.measure.name,
                        "time": point.start,
                        "step": one.step,
                        "mean": point.mean,
                        "least": point.least,
                        "most": point.most,
                        "last": point.last,
                        "count": point.count,
                    }
                )
    elif csv_path is None and svg_path is None:
        click.echo(f"progress of {model}")
        for one in found:
            click.echo(summary(one))
