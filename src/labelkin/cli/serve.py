"""``labelkin serve``: models for browsers and programs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from labelkin.cli import options
from labelkin.cli.options import argument, option
from labelkin.cli.printing import print_message


def serve(
    models: Annotated[
        list[Path] | None, argument("Model files.", metavar="MODEL...", exists=True)
    ] = None,
    review: Annotated[
        Path | None,
        option(
            "Issues to review on the page, as labelkin audit --out issues.jsonl writes them; "
            "needs no model.",
            metavar="ISSUES",
            exists=True,
        ),
    ] = None,
    host: Annotated[str, option("Address.")] = "127.0.0.1",
    port: Annotated[int, option("Port; 0 takes a free one.", min=0, max=65535)] = 8000,
    token: Annotated[
        str | None,
        option(
            "Token that requests must contain. Use the variable to hide it from process lists.",
            envvar="LABELKIN_TOKEN",
            show_envvar=True,
        ),
    ] = None,
    insecure: Annotated[
        bool, option("Accept connections from other machines without a token.", "--insecure")
    ] = False,
    allow_host: Annotated[
        list[str] | None, option("Additional host name, for example of a proxy; may be repeated.")
    ] = None,
    saved_work: Annotated[
        Path | None, option("File of saved documents and answers. [default: beside the model]")
    ] = None,
    trusted: options.Trusted = None,
) -> None:
    """Serve models: a page for indexers, the Annif API, and JSON for programs.

    Example:  labelkin serve news.labelkin --port 8000

    The issues of an audit can be reviewed one by one; the answers are saved work, which
    `labelkin train --saved-work` and `labelkin correct` use:

    Example:  labelkin serve --review issues.jsonl
    """
    models = models or []
    if not models and review is None:
        raise ValueError(
            "There must be a model to serve, or issues to --review, got neither. See labelkin "
            "serve --help."
        )
    from labelkin.curation.saved_work import saved_work_path
    from labelkin.service import serve as run_service

    def announce(address: str) -> None:
        print_message(address)
        if review is not None:
            print_message(f"The review is at {address}review")
        places = models if models or review is None else [review]
        for place in dict.fromkeys(saved_work or saved_work_path(path) for path in places):
            print_message(f"Saved work: {place}")

    run_service(
        models,
        host=host,
        port=port,
        token=token,
        insecure=insecure,
        saved_work=saved_work,
        hosts=allow_host or (),
        announce=announce,
        review=review,
        trusted=trusted or (),
    )
