# Each target works alone on a machine with Python and a network: it makes .venv and installs first.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: help demo docs test test-long test-scikit-learn test-lowest check format lint types bench bench-scale bench-service integration sbom dist

help:            ## what there is
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*##/  /'

demo: .venv/use  ## train and compare on the built-in corpus; ends with a report to open
	$(BIN)/labelkin demo

docs: .venv/docs ## the site, with every example run: docs/_build/html/index.html
	rm -rf docs/_build docs/gallery docs/reference/api
	$(BIN)/python -m sphinx -b html --fail-on-warning --keep-going docs docs/_build/html

test: .venv/dev  ## every test; long proofs at a small size
	$(BIN)/python -m pytest -n 2 --dist loadgroup

test-long: .venv/dev  ## every test, long proofs at full size
	LABELKIN_LONG=1 $(BIN)/python -m pytest -n 2 --dist loadgroup

test-scikit-learn: .venv-lowest/use .venv-newest/use  ## the contract on the lowest and newest versions
	for end in lowest newest; do \
		.venv-$$end/bin/python -m pip list | grep -E '^(numpy|scipy|scikit-learn|numba) ' && \
		.venv-$$end/bin/python -m pytest $(CONTRACT) || exit 1; \
	done

test-lowest: .venv-minimum/use  ## all but the browser on the lowest version of everything that is declared
	.venv-minimum/bin/python -m pip list
	.venv-minimum/bin/python -m pytest -n 2 --dist loadgroup --ignore tests/docs_make --ignore tests/test_wheel.py

sbom: .venv/use  ## what is installed with labelkin, its versions and licences, as CycloneDX
	$(BIN)/python -m docs.make.dependencies

dist: .venv/dev  ## wheel and sdist, checked, and tried in empty environments; see RELEASING.md
	rm -rf dist
	$(BIN)/python -m build
	$(BIN)/python -m twine check --strict dist/*
	$(PYTHON) -m venv --clear .venv-wheel
	.venv-wheel/bin/python -m pip install --quiet dist/*.whl
	.venv-wheel/bin/python -I tests/only_the_wheel.py
	wheel=$$(echo dist/*.whl) && .venv-wheel/bin/python -m pip install --quiet "$$wheel[all]"
	.venv-wheel/bin/labelkin demo --n-documents 300 --out .venv-wheel/demo

check: lint types test  ## format, lint, types, layers, tests, examples

format: .venv/dev  ## format the code
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

lint: .venv/dev  ## check the format, the code, docstrings and spelling
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	find src -name "*.py" | xargs $(BIN)/numpydoc lint
	$(BIN)/codespell

types: .venv/dev
	$(BIN)/mypy

bench: .venv/dev  ## CPU time against the peers, as ratios
	$(BIN)/python -m benchmarks

bench-scale: .venv/dev  ## what more documents, labels and features cost, against the peers
	$(BIN)/python -m benchmarks.growth --write docs/findings/scale.md
	$(BIN)/python -m benchmarks.scale_bars --write docs/findings/scale.md

bench-service: .venv/dev  ## suggestions over HTTP beside a route that does nothing, and documents of predict
	$(BIN)/python -m benchmarks.service

integration: .venv/use  ## inside the real programs, installed into .integration: Annif, Label Studio
	$(BIN)/python -m integration

# The two ends of what pyproject.toml allows; the lowest has wheels for Python 3.11 and 3.12.
CONTRACT := $(addprefix tests/test_,scikit_learn.py contract.py estimator_contract.py metadata_routing.py)
BOUNDS := import tomllib; about = tomllib.load(open("pyproject.toml", "rb"))["project"]; \
	print(*about["dependencies"], *about["optional-dependencies"]["fast"], sep="\n")
FOR_CONTRACT := --editable ".[fast]" mypy pandas polars pytest

.venv-lowest/use: pyproject.toml
	$(PYTHON) -m venv .venv-lowest
	$(PYTHON) -c '$(BOUNDS)' | sed 's/>=/==/' > .venv-lowest/bounds.txt
	.venv-lowest/bin/python -m pip install --quiet --constraint .venv-lowest/bounds.txt $(FOR_CONTRACT)
	touch $@

# Every extra at its minimum, and the tools of the tests as they are.
EVERY_BOUND := import tomllib; about = tomllib.load(open("pyproject.toml", "rb"))["project"]; \
	extras = about["optional-dependencies"]; \
	wanted = [n for k in ("fast", "cli", "text", "plot", "skos", "serve", "dask") for n in extras[k]]; \
	print(*about["dependencies"], *wanted, sep="\n")

.venv-minimum/use: pyproject.toml
	$(PYTHON) -m venv .venv-minimum
	$(PYTHON) -c '$(EVERY_BOUND)' | sed 's/\[.*\]//; s/>=/==/' > .venv-minimum/bounds.txt
	.venv-minimum/bin/python -m pip install --quiet --constraint .venv-minimum/bounds.txt \
		--editable ".[all,dask]" annif-client httpx hypothesis mypy pandas polars pyarrow "pytest<9.2" pytest-xdist schemathesis
	touch $@

.venv-newest/use: pyproject.toml
	$(PYTHON) -m venv .venv-newest
	.venv-newest/bin/python -m pip install --quiet --upgrade --upgrade-strategy eager $(FOR_CONTRACT)
	touch $@

.venv/use: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --editable ".[all]"
	touch $@

.venv/dev: .venv/use
	$(BIN)/python -m pip install --quiet --editable ".[dev]"
	touch $@

.venv/docs: .venv/use
	$(BIN)/python -m pip install --quiet --editable ".[docs]"
	touch $@
