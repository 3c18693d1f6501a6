# Each target needs only Python and a network: it creates .venv and installs labelkin first.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: help demo docs test test-long test-scikit-learn test-lowest check format lint types bench bench-scale bench-service integration sbom dist

help:            ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*##/  /'

demo: .venv/use  ## train and compare on the built-in corpus, and write an HTML report
	$(BIN)/labelkin demo

docs: .venv/docs ## build the site and run its examples: docs/_build/html/index.html
	rm -rf docs/_build docs/gallery docs/reference/api
	$(BIN)/python -m sphinx -b html --fail-on-warning --keep-going docs docs/_build/html

test: .venv/dev  ## run all tests; long tests at a small size
	$(BIN)/python -m pytest -n 2 --dist loadgroup

test-long: .venv/dev  ## run all tests at full size
	LABELKIN_LONG=1 $(BIN)/python -m pytest -n 2 --dist loadgroup

test-scikit-learn: .venv-lowest/use .venv-newest/use  ## run scikit-learn's checks on the lowest and newest versions
	for end in lowest newest; do \
		.venv-$$end/bin/python -m pip list | grep -E '^(numpy|scipy|scikit-learn|numba) ' && \
		.venv-$$end/bin/python -m pytest $(CONTRACT) || exit 1; \
	done

test-lowest: .venv-minimum/use  ## run the tests on the lowest versions of all dependencies
	.venv-minimum/bin/python -m pip list
	.venv-minimum/bin/python -m pytest -n 2 --dist loadgroup --ignore tests/docs_make --ignore tests/test_wheel.py

sbom: .venv/use  ## list dependencies with versions and licences as CycloneDX
	$(BIN)/python -m docs.make.dependencies

dist: .venv/dev  ## build wheel and sdist, and test them in empty environments; see RELEASING.md
	rm -rf dist
	$(BIN)/python -m build
	$(BIN)/python -m twine check --strict dist/*
	$(PYTHON) -m venv --clear .venv-wheel
	.venv-wheel/bin/python -m pip install --quiet dist/*.whl
	.venv-wheel/bin/python -I tests/only_the_wheel.py
	wheel=$$(echo dist/*.whl) && .venv-wheel/bin/python -m pip install --quiet "$$wheel[all]"
	.venv-wheel/bin/labelkin demo --n-documents 300 --out .venv-wheel/demo

check: lint types test  ## run lint, types and all tests

format: .venv/dev  ## format the code
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

lint: .venv/dev  ## check the format, the code, docstrings and spelling
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	find src -name "*.py" | xargs $(BIN)/numpydoc lint
	$(BIN)/codespell

types: .venv/dev  ## check types
	$(BIN)/mypy

bench: .venv/dev  ## measure CPU time relative to other libraries
	$(BIN)/python -m benchmarks

bench-scale: .venv/dev  ## measure time and memory of large corpora, relative to other libraries
	$(BIN)/python -m benchmarks.growth --write docs/findings/scale.md
	$(BIN)/python -m benchmarks.scale_bars --write docs/findings/scale.md

bench-service: .venv/dev  ## measure suggestions over HTTP relative to an empty route, and predict
	$(BIN)/python -m benchmarks.service

integration: .venv/use  ## test the packages inside Annif and Label Studio, installed into .integration
	$(BIN)/python -m integration

# The lowest and newest versions that pyproject.toml allows; the lowest have wheels for Python 3.11 and 3.12.
CONTRACT := $(addprefix tests/test_,scikit_learn.py contract.py estimator_contract.py metadata_routing.py)
BOUNDS := import tomllib; about = tomllib.load(open("pyproject.toml", "rb"))["project"]; \
	print(*about["dependencies"], *about["optional-dependencies"]["fast"], sep="\n")
FOR_CONTRACT := --editable ".[fast]" mypy pandas polars pytest

.venv-lowest/use: pyproject.toml
	$(PYTHON) -m venv .venv-lowest
	$(PYTHON) -c '$(BOUNDS)' | sed 's/>=/==/' > .venv-lowest/bounds.txt
	.venv-lowest/bin/python -m pip install --quiet --constraint .venv-lowest/bounds.txt $(FOR_CONTRACT)
	touch $@

# The lowest versions of all extras; current versions of the test tools.
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
