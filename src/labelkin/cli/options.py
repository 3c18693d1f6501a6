"""What several commands share: options, each written once, and the checks that come first.

The checks of paths and names are made before a module is loaded that takes a second to load.
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

#: How a model file begins; labelkin.storage, which says so, takes scikit-learn to load.
MODEL_START = b"\x89LABELKIN"


def _known_encoding(name: str | None) -> str | None:
    if name is not None:
        try:
            codecs.lookup(name)
        except LookupError:
            raise typer.BadParameter(f"Python knows no encoding {name!r}.") from None
    return name


def _one_character(text: str | None) -> str | None:
    """Take one character, and a tab also as it is typed."""
    delimiter = "\t" if text == "\\t" else text
    if delimiter is not None and len(delimiter) != 1:
        raise typer.BadParameter(f"It must be one character, or \\t for a tab, got {text!r}.")
    return delimiter


def _part(kind: Kind, about: str) -> Any:
    """Return an option that takes, checks and completes the names of a kind of part."""

    def checked(name: str) -> str:
        check_name(kind, name)
        return name

    def completed(incomplete: str) -> list[str]:
        return [name for name in names(kind) if name.startswith(incomplete)]

    choices = f"[{'|'.join(names(kind))}]"
    return typer.Option(help=about, metavar=choices, callback=checked, autocompletion=completed)


def _content_names(text: str | None) -> str | None:
    """Return the names of one content classifier or several, with commas between, in full."""
    if text is None:
        return None
    given = [SHORT.get(name.strip(), name.strip()) for name in text.split(",")]
    for name in given:
        check_name("content", name)
    return ",".join(dict.fromkeys(given))


def _completed_names(incomplete: str) -> list[str]:
    before, _, last = incomplete.rpartition(",")
    start = f"{before}," if before else ""
    return [start + name for name in names("content") if name.startswith(last)]


Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but results and errors.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]
Replace = Annotated[
    bool, typer.Option("--replace", help="Overwrite --out if it exists; else that is an error.")
]
Encoding = Annotated[
    str | None,
    typer.Option(
        help="Of the text files; if not named UTF-8, or what their bytes show.",
        callback=_known_encoding,
    ),
]
Delimiter = Annotated[
    str | None,
    typer.Option(
        help="Between the columns of a table; what the header shows if not named.",
        callback=_one_character,
    ),
]
Separator = Annotated[
    str | None,
    typer.Option(
        help="Between the labels of a document in CSV and TSV; ';' if not named, or what the first "
        "rows show."
    ),
]
Columns = Annotated[
    list[str] | None,
    typer.Option(
        metavar="FIELD=NAME",
        help="Of text, title, labels, id or split: the key or column it is in, as text=abstract; "
        "may be given again.",
    ),
]
Part = Annotated[
    Literal["test", "train", "all"] | None,
    typer.Option(help="Which documents; if not named, test ones where there are any, else all."),
]
ModelFile = Annotated[
    Path, typer.Argument(metavar="MODEL", help="A model file, as labelkin train writes it.")
]
Trusted = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME",
        help="What a model file of known origin may hold: omikuji, for Omikuji's code to read.",
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
        metavar="CORPUS...",
        help="A known corpus (labelkin corpus list), or the paths of files and folders.",
    ),
]
Content = Annotated[str, _part("content", "The content classifier: judges by the document.")]
Contents = Annotated[
    str | None,
    typer.Option(
        metavar=f"[{'|'.join(names('content'))}],...",
        help="Content classifiers: judge by the document. Several, as svm,nb,knn, are weighed "
        "against each other. If not named, svm for words, forest and logistic regression for "
        "other numbers.",
        callback=_content_names,
        autocompletion=_completed_names,
    ),
]
Labels = Annotated[str, _part("labels", "The label classifier: judges by the other labels.")]
Variant = Annotated[
    Literal["soft", "hard"],
    typer.Option(help="Fill in other labels by probabilities (M2) or by decisions (M1)."),
]
EvidenceWeight = Annotated[
    str,
    typer.Option(help="Of label evidence: auto learns it; a number fixes it, 1 is the paper's."),
]
RulesFile = Annotated[
    Path | None, typer.Option(help="Rules between labels: a table (narrower, broader) or SKOS.")
]
Vocab = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="Names for the labels: SKOS (.ttl, .rdf, .nt, .jsonld), or a table (.tsv, .csv) of "
        "uri, label_en, …, notation.",
    ),
]
LabelLanguage = Annotated[
    str | None, typer.Option(metavar="CODE", help="Language of the labels' names, such as en.")
]
Include = Annotated[
    list[str] | None,
    typer.Option(
        metavar="LABEL",
        help="Give only this label and narrower ones, by URI, notation or name; may be repeated.",
    ),
]
Exclude = Annotated[
    list[str] | None,
    typer.Option(
        metavar="LABEL", help="Do not give this label, nor narrower ones; may be given again."
    ),
]
Stem = Annotated[bool, typer.Option(help="Reduce words to stems.")]
Language = Annotated[str, typer.Option(help="Of the texts, for stems.")]
StopWords = Annotated[str, typer.Option(help="auto, smart, none, or a file.")]
MinDocuments = Annotated[int, typer.Option(min=1, help="Words in fewer documents are left out.")]
RandomState = Annotated[int, typer.Option(help="The seed of all that is drawn at random.")]
Dask = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="Work on a Dask cluster: the address of its scheduler, as tcp://host:8786.",
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


def read_stop_words(text: str) -> Any:
    """Return the stop words of a name, or of a file that has one per line; ``"none"``: none."""
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
    """Return what keys and columns are called, by field; one that is named again has several.

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
    """How a corpus is read: one field for every option; ``None``: not named."""

    path: Annotated[
        Path | None, typer.Option(help="Where a known corpus is, if not where it is looked for.")
    ] = None
    columns: Columns = None
    separator: Separator = None
    delimiter: Delimiter = None
    encoding: Encoding = None
    unlabelled: Annotated[
        Literal["none", "skip"] | None,
        typer.Option(
            help="Documents without labels: none has none (if not named), skip is left out."
        ),
    ] = None
    merge_spellings: Annotated[
        bool | None,
        typer.Option(
            "--merge-spellings",
            help="Merge labels that differ by case, blanks or end punctuation into the most "
            "frequent spelling.",
        ),
    ] = None
    preferred: dict[str, Any] | None = None  #: not an option: columns that a model file keeps

    def named(self) -> dict[str, Any]:
        """Return the options that were named, as :func:`labelkin.corpora.load` takes them."""
        columns = None if self.columns is None else read_columns(self.columns)
        options = self._asdict() | {"columns": columns, "unlabelled": None}
        return {key: value for key, value in options.items() if value is not None}

    def like(self, model: Path, paths: Sequence[str]) -> Reading:
        """Return how to read files as those that a model was trained on, unless named otherwise."""
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
        """Return the options that a model file keeps, for :meth:`like`."""
        named = self.named()
        return {name: named[name] for name in ("columns", "separator") if name in named}

    def corpus(
        self,
        name: str | list[str],
        quiet: bool = True,
        check: Callable[[Corpus], None] | None = None,
    ) -> Corpus:
        """Load a corpus by name or paths, and say what was understood.

        Options that its format has no use for are an error; so is what ``check`` raises for, of
        which nothing else is said.
        """
        found = self._load(name)
        left_out = self.unlabelled == "skip" and not found.is_labelled.all()
        wanted = found.labelled() if left_out else found
        if check is not None:
            check(wanted)
        if not quiet:
            print_message(_understood(found, self.unlabelled))
            print_label_notes(found)
        return wanted

    def _load(self, name: str | list[str]) -> Corpus:
        check_corpus(name)
        self._look_at([Path(one) for one in ([name] if isinstance(name, str) else name)])
        from labelkin import corpora

        try:
            return corpora.load(name, **self.named())
        except TypeError as error:
            unused = re.search(r"unexpected keyword argument '(\w+)'", str(error))
            if unused is None:
                raise
            called = name if isinstance(name, str) else ", ".join(name)
            rule = f"{unused[1]} must be of a corpus of texts (.csv, .tsv, .jsonl)"
            raise ValueError(f"{rule}, and {called} is another one.") from None

    def _look_at(self, paths: list[Path]) -> None:
        """Read the first documents of files: what is wrong is said before scikit-learn is loaded.

        Only of tables and lines, of which no more than the beginning is read.
        """
        from labelkin.corpora.documents import ENDINGS, DocumentFiles
        from labelkin.corpora.lines import ending_of

        if self.path is not None or not all(path.is_file() for path in paths):
            return
        if all(ENDINGS.get(ending_of(path), "json") != "json" for path in paths):
            fields = {"needed": ("text", "labels"), "optional": ("id", "split")}
            named = self._replace(merge_spellings=None).named()
            for part in DocumentFiles(paths, **fields, **named).parts:
                next(iter(part), None)


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
    """Return what a corpus was taken for, in one line."""
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
    """Give a command the options of :class:`Reading` in place of its parameter ``reading``."""
    return _with_reading(command, Reading._fields[:-1])


def reads_documents(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command those of :class:`Reading` that are not of whole corpora."""
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
    """Yield the cluster to work on; ``None`` where none is named: work here."""
    if address is None:
        yield None
        return
    from labelkin.scaling.distributed import connected

    with connected(address) as engine:
        yield engine


def load_model(path: Path, trusted: list[str] | None) -> FittedModel:
    """Load a model that gives log-odds of label sets; ``trusted`` as :func:`labelkin.load` has."""
    from labelkin.prediction import fitted_model
    from labelkin.storage import load

    return fitted_model(load(path, trusted=trusted or ()), str(path))


def label_names(model: FittedModel, language: str | None) -> LabelNames:
    """Return the labels of a model as people read them; a language it has not is an error."""
    return _in_language(model.names, language)


def vocabulary_names(labels: Sequence[Any], model: Any, language: str | None) -> LabelNames:
    """Return the same for whatever model a file holds, also one without labels."""
    from labelkin.vocabulary import LabelNames, vocabulary_of

    return _in_language(LabelNames(labels, vocabulary_of(model)), language)


def _in_language(names: LabelNames, language: str | None) -> LabelNames:
    if language is None:
        return names
    if names.vocabulary is None:
        raise ValueError(
            "--label-language is of the names in a vocabulary, and the model has none. Train it "
            "with --vocab."
        )
    names.vocabulary.shown_in(language)  # says which there are
    return names


def check_model(path: Path) -> None:
    """Raise for a model file that is not there."""
    if not path.exists():
        raise FileNotFoundError(
            f"There is no model file {path} (from the folder {Path.cwd()}). labelkin train writes "
            "one."
        )


def check_corpus(names: str | list[str]) -> None:
    """Raise for what is neither a known corpus nor a path that is there."""
    from labelkin.corpora import check_there

    for name in [names] if isinstance(names, str) else names:
        check_there(name)


def check_input(path: Path | None) -> None:
    """Raise for a file or folder that is named and not there."""
    if path is not None and not path.exists():
        raise FileNotFoundError(f"{path}: No such file, there is none in {path.absolute().parent}.")


def check_vocabulary(vocab: str | None) -> None:
    """Raise for a vocabulary that is neither a file nor comes with the package."""
    if vocab is not None:
        from labelkin.vocabulary.files import PACKAGED

        check_input(None if vocab in PACKAGED else Path(vocab))


def check_out(out: Path, *sources: str | Path) -> None:
    """Raise for a place that cannot be written: a folder, in a folder that is not, the input."""
    if out.is_dir():
        raise ValueError(f"--out must be a file, and {out} is a folder. Name a file in it.")
    if not out.parent.is_dir():
        raise ValueError(f"--out must be in a folder that exists, and {out.parent} does not.")
    check_ordinary(out)
    if any(out.exists() and Path(one).exists() and out.samefile(one) for one in sources):
        raise ValueError(f"--out must be another file than the input, got {out}. Name a new file.")


def check_new(out: Path, way_out: str = "Delete it or name another.") -> None:
    """Raise for a file that exists."""
    if out.exists():
        raise ValueError(f"--out must be a new file, and {out} exists. {way_out}")


def check_model_target(out: Path, replace: bool) -> None:
    """Raise for a file that exists and is no model, or one that is not to be replaced."""
    if not out.is_file():
        return
    with out.open("rb") as file:
        if file.read(len(MODEL_START)) != MODEL_START:
            raise ValueError(
                f"--out must be a new file or an older model, and {out} exists and is no labelkin "
                "model file. Delete it or name another."
            )
    if not replace:
        check_new(out, "--replace overwrites it; else delete it or name another.")
