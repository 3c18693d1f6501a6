"""Names and files of the library that pages and docstrings mention exist."""

import ast
import builtins
import importlib
import pkgutil
import re
from functools import cache
from pathlib import Path

import pytest

import labelkin

TOP = Path(__file__).parent.parent
SOURCE = Path(labelkin.__file__).parent
PAGES = sorted([TOP / "README.md", TOP / "CONTRIBUTING.md", *(TOP / "docs").rglob("*.md")])
MODULES = sorted(["labelkin", *(m.name for m in pkgutil.walk_packages([SOURCE], "labelkin."))])
PACKAGES = sorted({".".join(name.split(".")[:2]) for name in MODULES})

#: Names of Python, with dots in the middle, at their end, or none.
WORD = r"[A-Za-z_]\w*"
FULL = re.compile(rf"\blabelkin(?:\.{WORD})+")
ROLE = re.compile(rf":(?:class|func|meth|mod|data|attr):`~?({WORD}(?:\.{WORD})*)`")
CODE = re.compile(rf"(?<!`)(?<!:)(`{{1,2}})({WORD}(?:\.{WORD})*)(?:\(\))?\1(?!`)")
CLASS = re.compile(r"[A-Z]+[a-z]\w*[A-Z]\w*")
PATH = re.compile(r"(?<![\w./])(?:src|tests|docs|examples|experiments|benchmarks)/[\w./*-]*[\w*/]")
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")

#: What looks like a name with a dot and is the name of a file.
ENDINGS = {
    "arff", "bz2", "csv", "dat", "db", "gz", "hier", "html", "json", "jsonl", "key", "labelkin",
    "md", "npy", "npz", "orig", "part", "py", "sqlite", "svm", "taxonomy", "tex", "toml", "tsv",
    "txt", "urls", "xml",
}  # fmt: skip
#: Classes of others that are mentioned without their module.
OTHERS = {
    "BayesianLogisticRegression",
    "GridSearchCV",
    "GroupKFold",
    "HalvingGridSearchCV",
    "KNeighborsClassifier",
    "LocalCluster",
    "OmikujiContent",
    "LogisticRegression",
    "RandomState",
}
#: Fitted things and answers of the service, which no import can find.
NOT_IMPORTED = {"thresholds_", "rescorer_", "parts", "labels", "labelkin_omikuji"}


@cache
def symbols():
    """Every name that any module of the library has: where it is."""
    found = {}
    for name in MODULES:
        for symbol in vars(importlib.import_module(name)):
            found.setdefault(symbol, name)
    return found


def has(owner, name):
    """Return whether an object or its instances have an attribute."""
    kinds = getattr(owner, "__mro__", ())
    return hasattr(owner, name) or any(
        name in vars(kind).get("__annotations__", ()) for kind in kinds
    )


def exists(dotted):
    """Return whether a full name can be imported."""
    parts = dotted.split(".")
    for n_parts in range(len(parts), 0, -1):
        try:
            owner = importlib.import_module(".".join(parts[:n_parts]))
        except ImportError:
            continue
        for name in parts[n_parts:]:
            if not has(owner, name):
                return False
            owner = getattr(owner, name, None)
        return True
    return False


def is_known(name, places=()):
    """Return whether a name in a text exists in the library."""
    if any(exists(f"{place}.{name}") for place in places):
        return True
    first, _, rest = name.partition(".")
    homes = [module for module in MODULES if module.endswith(f".{first}")]
    if not rest:
        return first in symbols() or bool(homes)
    if first in symbols():
        homes.append(f"{symbols()[first]}.{first}")
    return any(exists(f"{home}.{rest}") for home in homes)


def is_foreign(name):
    """Tell other libraries, files, and what only exists in a fitted model or an answer."""
    first, _, last = name.partition(".")[0], *name.rpartition(".")[1:]
    if name in OTHERS or hasattr(builtins, name):
        return True
    return last in ENDINGS or first in NOT_IMPORTED or (first != "labelkin" and exists(name))


def missing_names(text, places=()):
    """Yield names with a dot, and those of classes, that are not there."""
    for match in FULL.finditer(text):
        if not exists(match[0]) and match[0].rpartition(".")[2] not in ENDINGS:
            yield match[0]
    for match in CODE.finditer(text):
        name = match[2]
        looks_ours = "." in name or CLASS.fullmatch(name)
        skipped = name.startswith("labelkin.") or is_foreign(name)
        if looks_ours and not skipped and not is_known(name, places):
            yield name


def missing_in_docstring(text, module, owner=None):
    """Yield the missing names of a docstring; ``owner`` is the class it is in."""
    places = [module, module.rpartition(".")[0], "labelkin"]
    if owner is not None:
        places.insert(0, f"{module}.{owner}")
    yield from missing_names(text, places)
    for name in ROLE.findall(text):
        if not (exists(name) or is_known(name, places) or is_foreign(name)):
            yield name


def docstrings(path):
    """Yield the docstrings of a module: the class each is in, if any, and the text."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    yield None, ast.get_docstring(tree) or ""
    for node in tree.body:
        for inner in ast.walk(node):
            if isinstance(inner, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                owner = node.name if isinstance(node, ast.ClassDef) else None
                yield owner, ast.get_docstring(inner) or ""


def path_of(module):
    place = SOURCE.joinpath(*module.split(".")[1:])
    return place / "__init__.py" if place.is_dir() else place.with_suffix(".py")


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(TOP)))
def test_names_on_pages_exist(path):
    assert list(missing_names(path.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(TOP)))
def test_files_on_pages_exist(path):
    text = path.read_text(encoding="utf-8")
    assert [name for name in PATH.findall(text) if not list(TOP.glob(name))] == []
    assert [link for link in LINK.findall(text) if not (path.parent / link).exists()] == []


@pytest.mark.parametrize("package", PACKAGES)
def test_names_in_docstrings_exist(package):
    wrong = []
    for module in MODULES:
        if module == package or (module.startswith(f"{package}.") and package != "labelkin"):
            for owner, text in docstrings(path_of(module)):
                wrong += [(module, name) for name in missing_in_docstring(text, module, owner)]
    assert not wrong, wrong


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("see `labelkin.method.nothing`", "labelkin.method.nothing"),
        ("see ``combination.not_there``", "combination.not_there"),
        ("see `nowhere.combine()`", "nowhere.combine"),
        ("see `LabelDependenceKlassifier`", "LabelDependenceKlassifier"),
    ],
)
def test_check_detects_injected_names(text, name):
    assert list(missing_names(text)) == [name]
