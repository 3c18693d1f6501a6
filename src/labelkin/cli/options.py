"""Options and arguments that several commands share."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from labelkin.corpora import Corpus
    from labelkin.prediction import FittedModel


def _checked_encoding(name: str | None) -> str | None:
    if name is not None:
        try:
            codecs.lookup(name)
        except LookupError:
            raise typer.BadParameter(f"Python knows no encoding {name!r}.") from None
    return name


Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but results and errors.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]
Encoding = Annotated[
    str | None,
    typer.Option(help="Of the text files; UTF-8 if not named.", callback=_checked_encoding),
]
ModelFile = Annotated[
    Path, typer.Argument(metavar="MODEL", help="A model file, as labelkin train writes it.")
]
CorpusName = Annotated[
    str,
    typer.Argument(
        metavar="CORPUS", help="A known corpus (labelkin corpus list), or the path of one."
    ),
]


def load_model(path: Path) -> FittedModel:
    """Load a model that gives log-odds of label sets."""
    from labelkin.prediction import fitted_model
    from labelkin.storage import load

    return fitted_model(load(path), str(path))


def load_corpus(name: str, encoding: str | None = None) -> Corpus:
    """Load a corpus by name or path; an encoding only where its format has one."""
    from labelkin import corpora

    options: dict[str, Any] = {} if encoding is None else {"encoding": encoding}
    try:
        with naming_the_option():
            return corpora.load(name, **options)
    except TypeError as error:
        if "unexpected keyword" not in str(error):
            raise
        raise ValueError(f"--encoding is for text files, and {name} has its own.") from None


@contextmanager
def naming_the_option() -> Iterator[None]:
    """Call the encoding of a text that cannot be read what it is called here."""
    try:
        yield
    except ValueError as error:
        raise ValueError(str(error).replace("encoding='latin-1'", "--encoding latin-1")) from None
