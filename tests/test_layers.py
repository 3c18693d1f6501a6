"""Imports point one way, as docs/decisions/0001-layers.md states."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest
from docs.make.structure import (
    ambiguous_names,
    imported,
    imported_once,
    imports_below,
    layers,
    modules,
    private_imports,
)

import labelkin

ROOT = Path(labelkin.__file__).parent
LAYERS = [
    {"cli"},
    {"research", "service"},
    {"curation"},
    {"prediction"},
    {"models"},
    {"explain"},
    {"learned"},
    {"method", "storage"},
    {"content", "pages"},
    {"estimator", "thresholds", "vocabulary"},
    {"corpora", "evaluation", "solvers", "text"},
    {"label_matrix", "registry", "scaling", "scikit_learn"},
    {"files", "odds", "records", "validation"},
]
ROW = {name: row for row, names in enumerate(LAYERS) for name in names}
TREES = modules()


def wrong_imports(imports):
    """Return every import that does not point to a row below."""
    return sorted(
        f"{here} imports {there}"
        for here, others in imports.items()
        for there in others
        if ROW.get(there, -1) <= ROW[here]
    )


def test_every_package_and_module_has_a_row():
    assert set(imports_below(TREES)) == set(ROW)


def test_every_import_points_down():
    assert wrong_imports(imports_below(TREES)) == []


def test_there_are_at_most_13_layers():
    assert len(LAYERS) <= 13
    assert len(layers(imports_below(TREES))) <= 13


@pytest.mark.parametrize(
    ("here", "source"),
    [
        ("evaluation", "from labelkin.models.classifier import LabelDependenceClassifier"),
        ("label_matrix", "import labelkin.evaluation.metrics"),
        ("models", "def f():\n    from labelkin import research"),
        ("learned", "from labelkin.models.rescorer import LabelRescorer"),
        ("method", "from labelkin.learned.fitting import LearnedWeight"),
    ],
)
def test_imports_that_point_up_are_found(here, source):
    assert wrong_imports(imports_below({f"labelkin.{here}.new": ast.parse(source)}))


def test_names_and_modules_are_easy_to_find():
    assert private_imports(TREES) == []
    assert len(ambiguous_names(TREES)) <= 10
    assert len(imported_once(TREES)) <= 25


def test_the_method_needs_only_the_scientific_core():
    core = {"numpy", "scipy", "sklearn", "joblib", "threadpoolctl", "labelkin"}
    for path in (ROOT / "method").rglob("*.py"):
        found = {module.split(".")[0] for module, _ in imported(ast.parse(path.read_text()))}
        assert found <= core | sys.stdlib_module_names, path.name


def loaded_by(statement):
    """Return the modules that a statement loads in a new process."""
    program = (
        "import sys, sklearn.svm, sklearn.pipeline, sklearn.multiclass, scipy.sparse, joblib; "
        f"before = set(sys.modules); {statement}; print(*(set(sys.modules) - before))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    return set(done.stdout.split())


def test_importing_the_library_loads_no_module_of_it():
    loaded = {name for name in loaded_by("import labelkin") if name.startswith("labelkin.")}
    assert loaded == {"labelkin.registry"}


def test_importing_the_classifier_loads_only_what_it_needs():
    loaded = loaded_by("from labelkin import LabelDependenceClassifier")
    unwanted = "cli corpora curation prediction research service storage vocabulary"
    prefixes = tuple(f"labelkin.{name}" for name in unwanted.split())
    assert not {name for name in loaded if name.startswith(prefixes)}
    extras = {"numba", "matplotlib", "rich", "polars", "Stemmer", "dask", "fastapi", "rdflib"}
    assert not extras & loaded
