# Each target works alone on a machine with Python and a network: it makes .venv and installs first.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: help demo test test-long check format lint types bench bench-scale

help:            ## what there is
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*##/  /'

demo: .venv/use  ## train and compare on the built-in corpus; ends with a report to open
	$(BIN)/labelkin demo

test: .venv/dev  ## every test; long proofs at a small size
	$(BIN)/python -m pytest -n 2 --dist loadgroup

test-long: .venv/dev  ## every test, long proofs at full size
	LABELKIN_LONG=1 $(BIN)/python -m pytest -n 2 --dist loadgroup

check: lint types test  ## format, lint, types, layers, tests, examples

format: .venv/dev  ## lay the code out
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

lint: .venv/dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: .venv/dev
	$(BIN)/mypy

bench: .venv/dev  ## CPU time against the peers, as ratios
	$(BIN)/python -m benchmarks

bench-scale: .venv/dev  ## what more documents and more labels cost, in time and memory
	$(BIN)/python -m benchmarks.scale

.venv/use: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --editable ".[all]"
	touch $@

.venv/dev: .venv/use
	$(BIN)/python -m pip install --quiet --editable ".[dev]"
	touch $@
