"""Imports point one way, as docs/decisions/0001-layers.md draws it."""

import ast
from pathlib import Path

import pytest

import labelkin

ROOT = Path(labelkin.__file__).parent
LAYERS = [
    {"cli"},
    {"research", "service"},
    {"curation"},
    {"prediction"},
    {"storage"},
    {"models"},
    {"explain", "pages"},
    {"learned"},
    {"method"},
    {"content", "thresholds"},
    {"estimator"},
    {"vocabulary"},
    {"text", "corpora", "solvers"},
    {"evaluation"},
    {"label_matrix"},
    {"scaling"},
    {
        "odds",
        "files",
        "helper_process",
        "lazy",
        "memory",
        "records",
        "registry",
        "scikit_learn",
    },
]
ROW = {name: row for row, names in enumerate(LAYERS) for name in names}


def place_of(module):
    """Return the name in the picture that a module, dotted below labelkin, belongs to."""
    return module.partition(".")[0]


def imported_modules(source):
    """Yield the dotted names a module imports, wherever in it."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, "imports are absolute"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def wrong_imports(here, source):
    """Yield every import from our own package that points up or sideways."""
    for name in imported_modules(source):
        package, _, rest = name.partition(".")
        there = place_of(rest)
        if package != "labelkin" or there == here:
            continue
        if ROW.get(there, -1) <= ROW[here]:
            yield f"{here} imports {there or package}"


def modules():
    return sorted(path for path in ROOT.rglob("*.py") if path != ROOT / "__init__.py")


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(ROOT)))
def test_every_import_points_down(path):
    here = place_of(".".join(path.relative_to(ROOT).with_suffix("").parts))
    assert here in ROW, f"{here} has no place in the layers: give it one"
    assert list(wrong_imports(here, path.read_text())) == []


@pytest.mark.parametrize(
    ("here", "source"),
    [
        ("evaluation", "from labelkin.models.classifier import LabelDependenceClassifier"),
        ("label_matrix", "import labelkin.evaluation.metrics"),
        ("models", "def f():\n    from labelkin import research"),
        ("learned", "from labelkin.models.rescorer import LabelRescorer"),
        ("method", "from labelkin.learned.fitting import LearnedWeight"),
        ("odds", "import labelkin"),
    ],
)
def test_the_guard_finds_planted_violations(here, source):
    assert list(wrong_imports(here, source))


def test_the_method_needs_nothing_but_the_scientific_core():
    core = {"numpy", "scipy", "sklearn", "joblib", "threadpoolctl", "numba", "labelkin"}
    core.add("matplotlib")  # in methods called plot, as in scikit-learn
    for path in (ROOT / "method").rglob("*.py"):
        tops = {name.split(".")[0] for name in imported_modules(path.read_text())}
        outside = {top for top in tops if top not in core and not _is_standard(top)}
        assert not outside, f"{path.name} imports {outside}"


def _is_standard(name):
    import sys

    return name in sys.stdlib_module_names


def test_importing_the_library_loads_no_extra():
    import subprocess
    import sys

    extras = "{'numba', 'matplotlib', 'rich', 'polars', 'Stemmer', 'dask', 'fastapi', 'rdflib'}"
    core = "import sys, sklearn.svm, sklearn.pipeline, sklearn.multiclass, scipy.sparse, joblib; "
    program = (
        f"{core}before = set(sys.modules); import labelkin; "
        f"print(({extras} & set(sys.modules)) - before)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "set()"
