"""``labelkin serve``: models for browsers and programs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from labelkin.cli import options
from labelkin.cli.printing import print_message


def serve(
    models: Annotated[list[Path], typer.Argument(metavar="MODEL...", help="Model files.")],
    host: Annotated[str, typer.Option(help="The address to listen at.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="The port; 0 takes a free one.")
    ] = 8000,
    token: Annotated[
        str | None,
        typer.Option(
            envvar="LABELKIN_TOKEN",
            show_envvar=True,
            help="What a request must bring. Better set LABELKIN_TOKEN: others can see commands.",
        ),
    ] = None,
    insecure: Annotated[
        bool, typer.Option("--insecure", help="Listen beyond this machine without a token.")
    ] = False,
    allow_host: Annotated[
        list[str] | None, typer.Option(help="Another name it is asked by, as behind a proxy.")
    ] = None,
    journal: Annotated[
        Path | None,
        typer.Option(help="Where documents and their labels are written down; beside the model."),
    ] = None,
) -> None:
    """Serve models: a page for indexers, the Annif API, and JSON for programs.

    Example:  labelkin serve news.labelkin --port 8000
    """
    for path in models:
        options.check_model(path)
    from labelkin.service import serve as run_service
    from labelkin.service.journal import default_journal

    def announce(address: str) -> None:
        print_message(address)
        for place in dict.fromkeys(journal or default_journal(model) for model in models):
            print_message(f"What is saved is written to {place}.")

    run_service(
        models,
        host=host,
        port=port,
        token=token,
        insecure=insecure,
        journal=journal,
        hosts=allow_host or (),
        announce=announce,
    )
