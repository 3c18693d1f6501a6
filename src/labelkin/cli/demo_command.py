"""``labelkin demo``: the paper's systems on the built-in corpus."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def demo(
    documents: Annotated[int, typer.Option(min=2, help="How many documents to make.")] = 3000,
    seed: Annotated[int, typer.Option(help="Of the corpus and the folds.")] = 0,
    out: Annotated[Path, typer.Option(help="Where the report goes.")] = Path("labelkin-demo"),
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress bar.")] = False,
) -> None:
    """Train and compare eighteen systems on the built-in corpus.

    They are the paper's fifteen, and for each of its three content classifiers one that learns what
    the other labels count.

    Example:  labelkin demo --documents 1000
    """
    from labelkin.demo import main

    options = ["--documents", str(documents), "--seed", str(seed), "--out", str(out)]
    raise typer.Exit(main([*options, "--quiet"] if quiet else options))
