"""Options that several commands share, and checks of paths and names.

Paths and names are checked before scikit-learn is loaded.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from inspect import Parameter, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, get_type_hints

import typer

from labelkin.cli.printing import counted, listed, print_message
from labelkin.corpora.tables import find_spellings, placeholders
from labelkin.files import check_ordinary
from labelkin.registry import SHORT, Kind, check_name, names

if TYPE_CHECKING:
    from labelkin.corpora import Corpus
    from labelkin.prediction import FittedModel
    from labelkin.scaling.blocks import Engine
    from labelkin.vocabulary import LabelNames

#: How a model file begins; labelkin.storage, which defines it, loads scikit-learn.
MODEL_START = b"\x89LABELKIN"
#: Titles of groups of options.
MODEL, WORDS, FILES = "Model", "Words of the texts", "How files are read"
ASSIGNED, NAMES = "Assigned labels", "Names of labels"


def _known_encoding(name: str | None) -> str | None:
    if name is not None:
        try:
            codecs.lookup(name)
        except LookupError:
            raise typer.BadParameter(f"Python knows no encoding {name!r}.") from None
    return name


def _one_character(text: str | None) -> str | None:
    """Return one character; a tab may be typed as backslash and t."""
    delimiter = "\t" if text == "\\t" else text
    if delimiter is not None and len(delimiter) != 1:
        raise typer.BadParameter(f"It must be one character, or \\t for a tab, got {text!r}.")
    return delimiter


def _part(kind: Kind, about: str, several: bool = False) -> Any:
    """Return an option that checks and completes names of parts; ``several``: with commas."""

    def checked(text: str | None) -> str | None:
        if text is None:
            return None
        given = [SHORT.get(name.strip(), name.strip()) for name in text.split(",")]
        for name in given if several else [text]:
            check_name(kind, name)
        return ",".join(dict.fromkeys(given)) if several else text

    def completed(incomplete: str) -> list[str]:
        before, comma, last = incomplete.rpartition(",")
        return [before + comma + name for name in names(kind) if name.startswith(last)]

    choices = f"[{'|'.join(names(kind))}]{',...' * several}"
    return typer.Option(
        help=about,
        metavar=choices,
        callback=checked,
        autocompletion=completed,
        rich_help_panel=MODEL,
    )


Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print results and errors only.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Replace = Annotated[bool, typer.Option("--replace", help="Overwrite an existing --out.")]
Encoding = Annotated[
    str | None,
    typer.Option(
        help="Encoding of text files. [default: detected]",
        callback=_known_encoding,
        rich_help_panel=FILES,
    ),
]
Delimiter = Annotated[
    str | None,
    typer.Option(
        help="Character between the columns of a table. [default: detected]",
        callback=_one_character,
        rich_help_panel=FILES,
    ),
]
Separator = Annotated[
    str | None,
    typer.Option(
        help="Text between the labels in a cell of a table. [default: detected, else ;]",
        rich_help_panel=FILES,
    ),
]
Columns = Annotated[
    list[str] | None,
    typer.Option(
        metavar="FIELD=NAME",
        help="Column or key of text, title, labels, id or split, as text=abstract; may be "
        "repeated.",
        rich_help_panel=FILES,
    ),
]
InputFormat = Annotated[
    Literal["jsonl", "json", "csv", "tsv", "text"] | None,
    typer.Option(
        help="Format of the documents. [default: by the ending of the file]", rich_help_panel=FILES
    ),
]
Part = Annotated[
    Literal["test", "train", "all"] | None,
    typer.Option(help="Which documents. [default: test documents if there are any, else all]"),
]
ModelFile = Annotated[
    Path, typer.Argument(metavar="MODEL", help="A model file, as labelkin train writes it.")
]
Trusted = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME",
        help="Contents that a model file of known origin may have: omikuji, which Omikuji's code "
        "reads.",
    ),
]
CorpusName = Annotated[
    str,
    typer.Argument(
        metavar="CORPUS", help="A known corpus (labelkin corpus list), or the path of one."
    ),
]
CorpusNames = Annotated[
    list[str],
    typer.Argument(
        metavar="CORPUS",
        help="A known corpus (labelkin corpus list), or paths of files and folders.",
    ),
]
Inputs = Annotated[
    list[str],
    typer.Argument(
        metavar="INPUT",
        help="JSON, JSON lines, CSV or TSV with a column of texts, text files with a document per "
        "line, folders of .txt files, or - for stdin.",
    ),
]
Content = Annotated[str, _part("content", "Content classifier: evidence from the document.")]
Contents = Annotated[
    str | None,
    _part(
        "content",
        "Content classifier: evidence from the document. Several, as svm,nb,knn, are weighted. "
        "[default: svm for words, forest and logistic regression for other numbers]",
        several=True,
    ),
]
Labels = Annotated[str, _part("labels", "Label classifier: evidence from the other labels.")]
Variant = Annotated[
    Literal["soft", "hard"],
    typer.Option(
        help="Fill in other labels by probabilities (M2) or by decisions (M1).",
        rich_help_panel=MODEL,
    ),
]
RulesFile = Annotated[
    Path | None,
    typer.Option(
        help="Rules between labels: a table (narrower, broader) or SKOS.", rich_help_panel=MODEL
    ),
]
Vocab = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="Names of the labels: SKOS (.ttl, .rdf, .nt, .jsonld), or a table (.tsv, .csv) of "
        "uri, label_en, …, notation.",
        rich_help_panel=NAMES,
    ),
]
LabelLanguage = Annotated[
    str | None,
    typer.Option(
        metavar="CODE", help="Language of the labels' names, such as en.", rich_help_panel=NAMES
    ),
]
Include = Annotated[
    list[str] | None,
    typer.Option(
        metavar="LABEL",
        help="Assign only this label and narrower ones, by URI, notation or name; may be repeated.",
        rich_help_panel=ASSIGNED,
    ),
]
Exclude = Annotated[
    list[str] | None,
    typer.Option(
        metavar="LABEL",
        help="Do not assign this label or narrower ones; may be repeated.",
        rich_help_panel=ASSIGNED,
    ),
]
Stem = Annotated[bool, typer.Option(help="Reduce words to stems.", rich_help_panel=WORDS)]
Language = Annotated[str, typer.Option(help="Language of the texts.", rich_help_panel=WORDS)]
StopWords = Annotated[
    str, typer.Option(help="auto, smart, none, or a file.", rich_help_panel=WORDS)
]
MinDocuments = Annotated[
    int,
    typer.Option(
        min=1, help="Minimum number of documents that contain a word.", rich_help_panel=WORDS
    ),
]
RandomState = Annotated[int, typer.Option(help="Seed.")]
Dask = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS", help="Scheduler of a Dask cluster, as tcp://host:8786, to work on."
    ),
]
NJobs = Annotated[int | None, typer.Option("--n-jobs", "-j", help="Threads; -1 for all cores.")]


def read_evidence_weight(text: str) -> float | Literal["auto"]:
    """Return an evidence weight: ``"auto"`` or a number of at least 0."""
    if text == "auto":
        return "auto"
    try:
        weight = float(text)
    except ValueError:
        weight = -1.0
    if not 0 <= weight < float("inf"):
        raise ValueError(
            f"evidence_weight must be a number of at least 0 or auto, got {text!r}. 1 is the "
            "paper's, 0 the content alone."
        )
    return weight


def word_options(language: str, stop_words: str, stem: bool, min_documents: int) -> dict[str, Any]:
    """Return the parameters of ``WordCounts``."""
    return {
        "language": language,
        "stop_words": _read_stop_words(stop_words),
        "stem": stem,
        "min_documents": min_documents,
    }


def _read_stop_words(text: str) -> Any:
    """Return a name of stop words, or the words of a file; ``None`` for ``"none"``."""
    if text in ("auto", "smart"):
        return text
    if text == "none":
        return None
    path = Path(text)
    if not path.is_file():
        raise ValueError(
            f"--stop-words must be auto, smart, none or a file of words, got {text!r}."
        )
    return sorted(set(path.read_text(encoding="utf-8-sig").split()))


def read_columns(texts: list[str]) -> dict[Any, str | list[str]]:
    """Return the names of keys and columns by field; a repeated field has several.

    Examples
    --------
    >>> read_columns(["text=title", "text=abstract", "labels=tags"])
    {'text': ['title', 'abstract'], 'labels': 'tags'}
    """
    names: dict[str, list[str]] = {}
    for text in texts:
        field, _, name = text.partition("=")
        if not (field and name):
            raise ValueError(f"columns must be FIELD=NAME, as text=abstract, got {text!r}.")
        names.setdefault(field, []).append(name)
    return {field: found if found[1:] else found[0] for field, found in names.items()}


class Reading(NamedTuple):
    """Options for reading a corpus."""

    path: Annotated[
        Path | None, typer.Option(help="Path of a known corpus.", rich_help_panel=FILES)
    ] = None
    columns: Columns = None
    separator: Separator = None
    delimiter: Delimiter = None
    encoding: Encoding = None
    unlabelled: Annotated[
        Literal["none", "skip"] | None,
        typer.Option(
            help="Documents without labels: keep them (none) or skip them. [default: none]",
            rich_help_panel=FILES,
        ),
    ] = None
    merge_spellings: Annotated[
        bool | None,
        typer.Option(
            "--merge-spellings",
            help="Merge labels that differ in case, blanks or end punctuation into the most "
            "frequent spelling.",
            rich_help_panel=FILES,
        ),
    ] = None
    preferred: dict[str, Any] | None = None  #: not an option: columns of a model file

    def named(self) -> dict[str, Any]:
        """Return the given options, as :func:`labelkin.corpora.load` takes them."""
        columns = None if self.columns is None else read_columns(self.columns)
        options = self._asdict() | {"columns": columns, "unlabelled": None}
        return {key: value for key, value in options.items() if value is not None}

    def like(self, model: Path, paths: Sequence[str]) -> Reading:
        """Return options that read files as the training files of a model were read."""
        from labelkin.corpora import KNOWN, text_format
        from labelkin.storage import read_header

        kept = (read_header(model).summary or {}).get("reading", {})
        given = read_columns(self.columns or [])
        texts = {"text", "title"} if {"text", "title"} & {*given} else set()
        columns = {k: v for k, v in kept.get("columns", {}).items() if k not in texts | {*given}}
        files = [Path(one) for one in paths]
        is_table = all(one.is_file() and text_format(one) in ("csv", "tsv") for one in files)
        separator = self.separator or (kept.get("separator") if is_table else None)
        is_known = any(one in KNOWN for one in paths)
        return self._replace(preferred=None if is_known else columns or None, separator=separator)

    def kept(self) -> dict[str, Any]:
        """Return the options that a model file contains, for :meth:`like`."""
        named = self.named()
        return {name: named[name] for name in ("columns", "separator") if name in named}

    def corpus(
        self,
        name: str | list[str],
        quiet: bool = True,
        check: Callable[[Corpus], None] | None = None,
    ) -> Corpus:
        """Load a corpus by name or paths, and report how it was read.

        An option that does not apply to its format is an error. ``check`` may raise before the
        report.
        """
        check_corpus(name)
        from labelkin import corpora

        try:
            found = corpora.load(name, **self.named())
        except TypeError as error:
            unused = re.search(r"unexpected keyword argument '(\w+)'", str(error))
            if unused is None:
                raise
            called = name if isinstance(name, str) else ", ".join(name)
            rule = f"{unused[1]} must be of a corpus of texts (.csv, .tsv, .jsonl)"
            raise ValueError(f"{rule}, and {called} is another one.") from None
        left_out = self.unlabelled == "skip" and not found.is_labelled.all()
        wanted = found.labelled() if left_out else found
        if check is not None:
            check(wanted)
        if not quiet:
            print_message(_understood(found, self.unlabelled))
            print_label_notes(found)
        return wanted


def print_label_notes(corpus: Corpus) -> None:
    """Report labels that may be mistakes: words for "no label", and several spellings of one."""
    labels = [str(name) for name in corpus.label_names.tolist()]
    if strange := placeholders(labels):
        print_message(f"Note: {listed(strange)} is a label here, like any other.")
    if alike := find_spellings(dict.fromkeys(labels, 1)):
        shown = ", ".join([f"{one!r} = {other!r}" for one, other in alike.items()][:8])
        n_spellings = counted(len(alike), "spelling")
        print_message(
            f"Note: these look the same: {shown} ({n_spellings}). --merge-spellings merges them."
        )


def _understood(corpus: Corpus, unlabelled: str | None) -> str:
    """Return how a corpus was read, in one line."""
    n_documents, n_labels = corpus.Y.shape
    n_without = n_documents - int(corpus.is_labelled.sum())
    said = [counted(n_documents, "document")]
    if n_without:
        said.append(f"{n_without:,} without labels" + (" left out" if unlabelled == "skip" else ""))
    said.append(f"{counted(n_labels, 'label')}: {listed(corpus.label_names.tolist())}")
    hint = ""
    if n_without and unlabelled is None:
        hint = " Those without labels count as having none; --unlabelled skip leaves them out."
    return ", ".join([*said, *filter(None, [corpus.understood])]) + "." + hint


def reads_corpus(command: Callable[..., None]) -> Callable[..., None]:
    """Replace the parameter ``reading`` of a command by the options of :class:`Reading`."""
    return _with_reading(command, Reading._fields[:-1])


def reads_documents(command: Callable[..., None]) -> Callable[..., None]:
    """Do the same with the options that apply to documents without labels."""
    return _with_reading(command, ("columns", "separator", "delimiter", "encoding"))


def _with_reading(command: Callable[..., None], fields: Sequence[str]) -> Callable[..., None]:
    own = signature(command, eval_str=True)
    hints = get_type_hints(Reading, include_extras=True)

    @wraps(command)
    def called(**given: Any) -> None:
        reading = Reading(**{name: given.pop(name) for name in fields})
        command(**given, reading=reading)

    named = Parameter.KEYWORD_ONLY
    parameters = [p.replace(kind=named) for p in own.parameters.values() if p.name != "reading"]
    for name in fields:
        parameters.append(Parameter(name, named, default=None, annotation=hints[name]))
    called.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]
    return called


@contextmanager
def cluster(address: str | None) -> Iterator[Engine | None]:
    """Yield the cluster to work on; ``None``: this process."""
    if address is None:
        yield None
        return
    from labelkin.scaling.distributed import connected

    with connected(address) as engine:
        yield engine


def check_language(names: LabelNames, language: str | None) -> LabelNames:
    """Return names of labels; a language that they do not have is an error."""
    if language is None:
        return names
    if names.vocabulary is None:
        raise ValueError(
            "--label-language is of the names in a vocabulary, and the model has none. Train it "
            "with --vocab."
        )
    names.vocabulary.shown_in(language)  # raises with a list of languages
    return names


def open_model(path: Path, trusted: list[str] | None, *, texts: bool = False) -> FittedModel:
    """Load a model file; ``texts``: a model that takes vectors is an error."""
    from labelkin.prediction import load_model

    fitted = load_model(path, trusted or ())
    if texts:
        fitted.check_texts(str(path))
    return fitted


def check_model(path: Path) -> None:
    """Raise for a missing model file."""
    if not path.exists():
        raise FileNotFoundError(
            f"There is no model file {path} (from the folder {Path.cwd()}). labelkin train writes "
            "one."
        )


def check_corpus(names: str | list[str]) -> None:
    """Raise for a name that is neither a known corpus nor an existing path."""
    from labelkin.corpora import check_there

    for name in [names] if isinstance(names, str) else names:
        check_there(name)


def check_input(path: Path | None) -> None:
    """Raise for a missing file or folder."""
    if path is not None and not path.exists():
        raise FileNotFoundError(f"{path}: No such file, there is none in {path.absolute().parent}.")


def check_vocabulary(vocab: str | None) -> None:
    """Raise for a vocabulary that is neither a file nor in the package."""
    if vocab is not None:
        from labelkin.vocabulary.files import PACKAGED

        check_input(None if vocab in PACKAGED else Path(vocab))


def check_out(out: Path, *sources: str | Path, replace: bool = True) -> None:
    """Raise if a file cannot be written, is an input, or, unless ``replace``, exists."""
    if out.is_dir():
        raise ValueError(f"--out must be a file, and {out} is a folder. Name a file in it.")
    if not out.parent.is_dir():
        raise ValueError(f"--out must be in a folder that exists, and {out.parent} does not.")
    check_ordinary(out)
    if any(out.exists() and Path(one).exists() and out.samefile(one) for one in sources):
        raise ValueError(f"--out must be another file than the input, got {out}. Name a new file.")
    if not replace:
        check_new(out, REPLACES)


#: Hint for an existing file that --replace overwrites.
REPLACES = "--replace overwrites it; else delete it or name another."


def check_new(out: Path, hint: str = "Delete it or name another.") -> None:
    """Raise for a file that exists."""
    if out.exists():
        raise ValueError(f"--out must be a new file, and {out} exists. {hint}")


def check_model_target(out: Path, replace: bool) -> None:
    """Raise for an existing file that is not a model or must not be replaced."""
    if not out.is_file():
        return
    with out.open("rb") as file:
        if file.read(len(MODEL_START)) != MODEL_START:
            raise ValueError(
                f"--out must be a new file or an older model, and {out} exists and is no labelkin "
                "model file. Delete it or name another."
            )
    if not replace:
        check_new(out, REPLACES)
