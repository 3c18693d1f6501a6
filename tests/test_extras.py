"""Each extra is missing in turn: the library works, and errors name the extra."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

PYPROJECT = Path(__file__).parent.parent / "pyproject.toml"
#: Extra → modules that it installs.
EXTRAS = {
    "fast": ["numba"],
    "cli": ["jinja2", "rich", "typer"],
    "text": ["Stemmer"],
    "plot": ["matplotlib"],
    "frames": ["pandas"],
    "skos": ["rdflib"],
    "dask": ["dask", "distributed"],
    "serve": [
        *("fastapi", "h11", "httptools", "prometheus_client", "starlette", "uvicorn"),
    ],
}
#: Distribution → module, if the names differ.
IMPORTED_AS = {"PyStemmer": "Stemmer", "prometheus-client": "prometheus_client"}

BLOCKED = "import sys; sys.modules.update(dict.fromkeys({modules!r}))\n"
#: scikit-learn looks for these in ``sys.modules``: they must not be there at all.
CORE = """
import tempfile
from importlib import import_module
import labelkin

for name in ("", ".corpora", ".evaluation", ".evaluation.metrics", ".evaluation.significance",
             ".evaluation.splits", ".storage", ".text", ".thresholds", ".vocabulary"):
    module = import_module(f"labelkin{name}")
    for public in getattr(module, "__all__", ()):
        getattr(module, public)
X = [[3, 0], [2, 1], [0, 4], [1, 1], [4, 0], [0, 2]]
sets = [["sea"], ["sea", "town"], ["town"], ["sea"], ["sea"], ["town"]]
model = labelkin.LabelDependenceClassifier(labelkin.NaiveBayes()).fit(X, sets)
with tempfile.TemporaryDirectory() as folder:
    again = labelkin.load(labelkin.save(model, f"{folder}/model.labelkin"))
assert (again.predict_proba(X) == model.predict_proba(X)).all()
assert again.explain(X[:1])
assert labelkin.evaluation.metrics.evaluate(sets, model.log_odds(X))
words = labelkin.text.WordCounts(stem=False, min_documents=1)
assert words.fit_transform(["a ship", "a town"]).shape == (2, 2)
"""
#: Faster with numba, and works without.
FAST = """
for content in (labelkin.PlattSVM(random_state=0), labelkin.NearestNeighbours(2)):
    content.fit(X, sets).predict_proba(X)
"""
#: Code that needs the extra.
NEEDS_IT = {
    "text": "labelkin.text.WordCounts().fit(['ships'])",
    "plot": "from labelkin.research.reports.plots import drawing; drawing((3, 2)).__enter__()",
    "frames": "labelkin.LabelAudit(labelkin.NaiveBayes()).fit(2 * X, 2 * sets).issues_frame()",
    "skos": """
import pathlib
path = pathlib.Path(tempfile.mkdtemp()) / "topics.ttl"
path.write_text("")
labelkin.vocabulary.read_vocabulary(path)
""",
    "dask": """
from labelkin.scaling.distributed import connected
connected("tcp://127.0.0.1:8786").__enter__()
""",
    "serve": "import labelkin.service; labelkin.service.create_app({})",
}


def run(program):
    return subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=False
    )


def test_every_extra_of_the_project_is_tested():
    listed = tomllib.loads(PYPROJECT.read_text())["project"]["optional-dependencies"]
    for extra in set(listed) - {"all", "dev", "docs"}:
        names = [re.match(r"[\w-]+", requirement)[0] for requirement in listed[extra]]
        assert {IMPORTED_AS.get(name, name) for name in names} <= set(EXTRAS[extra])


@pytest.mark.parametrize("extra", EXTRAS)
def test_missing_extra_is_named(extra):
    core = CORE + FAST * (extra == "fast")
    program = BLOCKED.format(modules=EXTRAS[extra]) + core + "print('core works')\n"
    done = run(program + NEEDS_IT.get(extra, ""))
    assert "core works" in done.stdout, done.stderr
    if extra in NEEDS_IT:
        *_, last = done.stderr.strip().splitlines()
        assert last.startswith("ImportError: ")
        assert f'pip install "labelkin[{extra}]"' in last
    else:
        assert done.returncode == 0, done.stderr
