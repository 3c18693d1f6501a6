"""Options and arguments that several commands share."""

from __future__ import annotations

import codecs
import re
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


def _checked_delimiter(text: str | None) -> str | None:
    """Take one character, and a tab also as it is typed."""
    delimiter = "\t" if text == "\\t" else text
    if delimiter is not None and len(delimiter) != 1:
        raise typer.BadParameter(f"It must be one character, or \\t for a tab, got {text!r}.")
    return delimiter


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
TextColumn = Annotated[
    str | None, typer.Option(help="Column of the texts in CSV and TSV; text if not named.")
]
LabelsColumn = Annotated[
    str | None, typer.Option(help="Column of the labels in CSV and TSV; labels if not named.")
]
IdColumn = Annotated[
    str | None, typer.Option(help="Column of the ids in CSV and TSV; id if not named.")
]
LabelSeparator = Annotated[
    str | None,
    typer.Option(help="Between the labels of a document in CSV and TSV; ';' if not named."),
]
Delimiter = Annotated[
    str | None,
    typer.Option(
        help="Between the columns; comma in .csv and tab in .tsv if not named.",
        callback=_checked_delimiter,
    ),
]
#: Options of reading as the readers call them; those of columns go together.
_READING = {"encoding": "encoding", "label_separator": "separator", "delimiter": "delimiter"}


def load_model(path: Path) -> FittedModel:
    """Load a model that gives log-odds of label sets."""
    from labelkin.prediction import fitted_model
    from labelkin.storage import load

    return fitted_model(load(path), str(path))


def load_corpus(name: str, path: Path | None = None, **options: str | None) -> Corpus:
    """Load a corpus by name or path.

    Parameters
    ----------
    name
        Of a known corpus, or where one is.
    path
        Where a known corpus is, if it is not where it is looked for.
    **options
        Those of ``_READING`` that the user has named; they are refused where the format has no use
        for them. ``None``: not named.
    """
    from labelkin import corpora

    named = {key: value for key, value in options.items() if value is not None}
    try:
        return corpora.load(name, path, **_for_reader(named))
    except TypeError as error:
        unused = re.search(r"unexpected keyword argument '(\w+)'", str(error))
        if unused is None:
            raise
        raise ValueError(_no_use(unused[1], named, name)) from None


def _for_reader(named: dict[str, str]) -> dict[str, Any]:
    """Return options as the readers of corpora call them."""
    columns = {
        key.removesuffix("_column"): value
        for key, value in named.items()
        if key.endswith("_column")
    }
    plain = {_READING[key]: value for key, value in named.items() if key in _READING}
    return {**plain, "columns": columns} if columns else plain


def _no_use(keyword: str, named: dict[str, str], name: str) -> str:
    if keyword == "encoding":
        return f"--encoding is for text files, and {name} has its own."
    wanted = [key for key in named if _READING.get(key, "columns") == keyword]
    options = ", ".join(f"--{key.replace('_', '-')}" for key in wanted)
    return f"{options} must be of a table (.csv, .tsv) with a header, and {name} is none."
