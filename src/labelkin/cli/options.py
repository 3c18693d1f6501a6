"""Options of several commands, corpora and models by options, and the check of ``--out``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, fields, is_dataclass
from functools import wraps
from inspect import Parameter, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_type_hints

import typer

from labelkin.cli.printing import counted, listed, print_message
from labelkin.corpora.tables import find_spellings, placeholders
from labelkin.files import check_ordinary
from labelkin.registry import names

if TYPE_CHECKING:
    from labelkin.corpora import Corpus
    from labelkin.prediction import FittedModel
    from labelkin.scaling.blocks import Engine
    from labelkin.vocabulary import LabelNames, Vocabulary

#: Titles of groups of options.
MODEL, WORDS, FILES = "Model", "Words of the texts", "How files are read"
ASSIGNED, NAMES = "Assigned labels", "Names of labels"
_CONTENTS, _RULES = names("content"), names("thresholds")


def option(about: str, *names: str, panel: str | None = None, **rules: Any) -> Any:
    """Return an option with a help text, in a group of options."""
    return typer.Option(*names, help=about, rich_help_panel=panel, **rules)


def argument(about: str, metavar: str | None = None, **rules: Any) -> Any:
    """Return an argument with a help text."""
    return typer.Argument(help=about, metavar=metavar, **rules)


def _number_or_name(text: str) -> float | str:
    """Return a number or, as the library takes it, a name."""
    try:
        return float(text)
    except ValueError:
        return text


def _stop_words(text: str) -> Any:
    """Return a name of stop words, or the words of a file; ``None`` for ``"none"``."""
    if text in ("auto", "smart", "none"):
        return None if text == "none" else text
    path = Path(text)
    if not path.is_file():
        raise typer.BadParameter(f"It must be auto, smart, none or a file of words, got {text!r}.")
    return sorted(set(path.read_text(encoding="utf-8-sig").split()))


Quiet = Annotated[bool, option("Print results and errors only.", "--quiet", "-q")]
AsJson = Annotated[bool, option("Print JSON.", "--json")]
Replace = Annotated[bool, option("Overwrite an existing --out.", "--replace")]
Encoding = Annotated[
    str | None,
    option("Encoding of text files. [default: detected]", panel=FILES, metavar="NAME"),
]
Delimiter = Annotated[
    str | None,
    option(
        "Character between the columns of a table. [default: detected]",
        panel=FILES,
        parser=lambda text: text.replace("\\t", "\t"),
        metavar="CHARACTER",
    ),
]
Separator = Annotated[
    str | None,
    option(
        "Text between the labels in a cell of a table. [default: detected, else ;]", panel=FILES
    ),
]
Columns = Annotated[
    list[str] | None,
    option(
        "Column or key of text, title, labels, id or split, as text=abstract; may be repeated.",
        panel=FILES,
        metavar="FIELD=NAME",
    ),
]
InputFormat = Annotated[
    Literal["jsonl", "json", "csv", "tsv", "text"] | None,
    option("Format of the documents. [default: by the ending of the file]", panel=FILES),
]
WhichPart = Annotated[
    Literal["test", "train", "all"] | None,
    option("Documents to evaluate. [default: test documents if there are any, else all]"),
]
ModelPath = Annotated[
    Path, argument("A model file, as labelkin train writes it.", metavar="MODEL", exists=True)
]
Trusted = Annotated[
    list[str] | None,
    option(
        "Compiled contents to load from a model file of known origin: omikuji.",
        metavar="NAME",
    ),
]
CorpusName = Annotated[
    str, argument("A known corpus (labelkin corpus list), or the path of one.", metavar="CORPUS")
]
CorpusNames = Annotated[
    list[str],
    argument(
        "A known corpus (labelkin corpus list), or paths of files and folders.", metavar="CORPUS"
    ),
]
InputPaths = Annotated[
    list[str],
    argument(
        "JSON, JSON lines, CSV or TSV with a column of texts, text files with a document per "
        "line, folders of .txt files, or - for stdin.",
        metavar="INPUT",
    ),
]
Content = Annotated[
    str | None,
    option(
        "Content classifier: evidence from the document. Several, as svm,nb,knn, are weighted. "
        "[default: svm for words, forest and logistic regression for other numbers]",
        panel=MODEL,
        metavar=f"[{'|'.join(_CONTENTS)}],...",
    ),
]
Labels = Annotated[
    Literal["logistic", "svm"],
    option("Label classifier: evidence from the other labels.", panel=MODEL),
]
VariantName = Annotated[
    Literal["soft", "hard"],
    option("Fill in other labels by probabilities (M2) or by decisions (M1).", panel=MODEL),
]
EvidenceWeight = Annotated[
    Any,
    option(
        "Weight of label evidence: auto learns it; 1 is the paper's. [default: auto]",
        panel=MODEL,
        parser=_number_or_name,
        metavar="auto|NUMBER",
    ),
]
RulesFile = Annotated[
    Path | None,
    option("Rules between labels: a table (narrower, broader) or SKOS.", panel=MODEL, exists=True),
]
Thresholds = Annotated[
    Any,
    option(
        "A probability, a metric such as micro_f1 or document_f1, or a rule "
        f"({', '.join(_RULES)}). [default: 0.5]",
        panel=ASSIGNED,
        parser=_number_or_name,
        metavar="NUMBER|NAME",
    ),
]
VocabularyFile = Annotated[
    str | None,
    option(
        "Names of the labels: SKOS (.ttl, .rdf, .nt, .jsonld), or a table (.tsv, .csv) of "
        "uri, label_en, …, notation.",
        panel=NAMES,
        metavar="FILE",
    ),
]
LabelLanguage = Annotated[
    str | None, option("Language of the labels' names, such as en.", panel=NAMES, metavar="CODE")
]
Include = Annotated[
    list[str] | None,
    option(
        "Assign only this label and narrower ones, by URI, notation or name; may be repeated.",
        panel=ASSIGNED,
        metavar="LABEL",
    ),
]
Exclude = Annotated[
    list[str] | None,
    option(
        "Do not assign this label or narrower ones; may be repeated.",
        panel=ASSIGNED,
        metavar="LABEL",
    ),
]
RandomState = Annotated[int, option("Seed.")]
Dask = Annotated[
    str | None,
    option("Scheduler of a Dask cluster, for example tcp://host:8786.", metavar="ADDRESS"),
]
NJobs = Annotated[int | None, option("Threads; -1 for all cores.", "--n-jobs", "-j")]


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


@dataclass(frozen=True)
class CountedWords:
    """Options for counting words."""

    stem: Annotated[bool, option("Reduce words to stems.", "--stem/--no-stem", panel=WORDS)] = True
    language: Annotated[str, option("Language of the texts.", panel=WORDS)] = "english"
    stop_words: Annotated[
        Any,
        option("auto, smart, none, or a file.", panel=WORDS, parser=_stop_words, metavar="NAME"),
    ] = "auto"
    min_documents: Annotated[
        int, option("Minimum number of documents that contain a word.", panel=WORDS, min=1)
    ] = 3


@dataclass(frozen=True)
class DocumentReading:
    """Options for reading documents."""

    columns: Columns = None
    separator: Separator = None
    delimiter: Delimiter = None
    encoding: Encoding = None

    def named(self) -> dict[str, Any]:
        """Return the given options, as :func:`labelkin.corpora.load` takes them."""
        columns = None if self.columns is None else read_columns(self.columns)
        options = vars(self) | {"columns": columns, "unlabelled": None}
        return {key: value for key, value in options.items() if value is not None}

    def like(self, model: Path, paths: Sequence[str]) -> dict[str, Any]:
        """Return the given options, else those of the training files of a model."""
        from labelkin.corpora import KNOWN, text_format
        from labelkin.storage import read_header

        found = self.named()
        kept = (read_header(model).summary or {}).get("reading", {})
        given = {*found.get("columns", ())}
        texts = {"text", "title"} if {"text", "title"} & given else set()
        columns = {k: v for k, v in kept.get("columns", {}).items() if k not in texts | given}
        if columns and not any(one in KNOWN for one in paths):
            found["preferred"] = columns
        files = [Path(one) for one in paths]
        if all(one.is_file() and text_format(one) in ("csv", "tsv") for one in files):
            found = {name: kept[name] for name in kept if name == "separator"} | found
        return found


@dataclass(frozen=True)
class Reading(DocumentReading):
    """Options for reading a corpus."""

    path: Annotated[Path | None, option("Path of a known corpus.", panel=FILES)] = None
    unlabelled: Annotated[
        Literal["none", "skip"] | None,
        option(
            "Documents without labels: keep them (none) or skip them. [default: none]", panel=FILES
        ),
    ] = None
    merge_spellings: Annotated[
        bool | None,
        option(
            "Merge labels that differ in case, blanks or end punctuation into the most "
            "frequent spelling.",
            "--merge-spellings",
            panel=FILES,
        ),
    ] = None

    def corpus(
        self, name: str | list[str], quiet: bool = True, model: Path | None = None
    ) -> Corpus:
        """Load a corpus by name or paths, and report how it was read.

        Files for a model are read as its training files were.
        """
        from labelkin import corpora

        paths = [name] if isinstance(name, str) else name
        found = corpora.load(name, **(self.like(model, paths) if model else self.named()))
        is_labelled = found.is_labelled
        if not quiet:
            _report(found, len(is_labelled) - int(is_labelled.sum()), self.unlabelled)
        is_part = self.unlabelled == "skip" and not is_labelled.all()
        return found.labelled() if is_part else found


def _report(corpus: Corpus, n_unlabelled: int, unlabelled: str | None) -> None:
    """Print how a corpus was read, in one line, and labels that may be mistakes."""
    facts, hint = [counted(corpus.Y.shape[0], "document")], ""
    if n_unlabelled:
        left_out = " left out" if unlabelled == "skip" else ""
        facts.append(f"{n_unlabelled:,} without labels{left_out}")
        if unlabelled is None:
            hint = " Those without labels are kept; --unlabelled skip leaves them out."
    facts.append(f"{counted(corpus.Y.shape[1], 'label')}: {listed(corpus.label_names.tolist())}")
    if corpus.understood:
        facts.append(corpus.understood)
    print_message(f"{', '.join(facts)}.{hint}")
    print_label_notes(corpus)


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


def expand(command: Callable[..., None]) -> Callable[..., None]:
    """Replace parameters that are records of options by their options."""
    own = signature(command, eval_str=True)
    parameters: list[Parameter] = []
    records: dict[str, tuple[Any, list[str]]] = {}
    for one in own.parameters.values():
        if not is_dataclass(one.annotation):
            parameters.append(one.replace(kind=Parameter.KEYWORD_ONLY))
            continue
        hints = get_type_hints(one.annotation, include_extras=True)
        found = fields(one.annotation)
        records[one.name] = (one.annotation, [field.name for field in found])
        parameters += [
            Parameter(f.name, Parameter.KEYWORD_ONLY, default=f.default, annotation=hints[f.name])
            for f in found
        ]

    @wraps(command)
    def called(**given: Any) -> None:
        for name, (record, options) in records.items():
            given[name] = record(**{option: given.pop(option) for option in options})
        command(**given)

    called.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]
    return called


def cluster(address: str | None) -> AbstractContextManager[Engine | None]:
    """Return the cluster to work on, as a context; ``None``: this process."""
    if address is None:
        return nullcontext()
    from labelkin.scaling.distributed import connected

    return connected(address)


def read_rules(labels: list[Any], path: Path, vocabulary: Vocabulary | None, quiet: bool) -> Any:
    """Read rules between labels and report how many apply."""
    from labelkin.vocabulary.matching import rules_between

    found = rules_between(labels, path, vocabulary)
    number = f"{len(found.rules)} rules about labels of the corpus, of {found.n_found} in {path}."
    print_message(number, quiet)
    if found.unknown:
        print_message(
            f"{len(found.unknown)} labels of the rules are not in the corpus: "
            f"{listed(found.unknown)}.",
            quiet,
        )
    return found.rules


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
    """Load a model file; with ``texts``, a model that takes vectors is an error."""
    from labelkin.prediction import fitted_model
    from labelkin.storage.file import load

    fitted = fitted_model(load(path, trusted=trusted or ()), str(path))
    if texts and not fitted.takes_texts:
        raise ValueError(
            f"{path} must take texts, and takes vectors: it was trained on a corpus of them. "
            "Train a model on texts, or give this one vectors in Python (labelkin.load)."
        )
    return fitted


def check_out(
    out: Path | None, *sources: str | Path, replace: bool | None = None, hint: str = ""
) -> None:
    """Raise if a file cannot be written, is an input, or exists.

    Parameters
    ----------
    out : Path, optional
        The file to write.
    *sources : str or Path
        Inputs.
    replace : bool, optional
        Value of ``--replace``, if the command has this option.
    hint : str
        Hint for a file that exists.
    """
    if out is None:
        return
    if out.is_dir():
        raise ValueError(f"--out must be a file, and {out} is a folder. Name a file in it.")
    if not out.parent.is_dir():
        raise ValueError(f"--out must be in a folder that exists, and {out.parent} does not.")
    check_ordinary(out)
    if not out.exists():
        return
    if any(Path(one).exists() and out.samefile(one) for one in sources):
        raise ValueError(f"--out must be another file than the input, got {out}. Name a new file.")
    if not replace:
        overwrites = "" if replace is None else "--replace overwrites it; else "
        hint = hint or f"{overwrites}delete it or name another."
        raise ValueError(f"--out must be a new file, and {out} exists: {hint}")
