# Everything a developer needs; each target makes the environment it runs in.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP_INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt

# The tests start hundreds of processes, and pytest rewrites every module of theirs: once, and not in every process.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: bench checks clean coverage demo dist docs help imports lint pages quick shape test test-all test-examples \
	test-minimums test-side-by-side tests types

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  make %-17s %s\n", $$1, $$2}'

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.core: pyproject.toml reproduction/pyproject.toml constraints.txt | $(BIN)/python
	$(PIP_INSTALL) --editable '.[plots]' --editable ./reproduction
	@touch $@

$(VENV)/.all: pyproject.toml reproduction/pyproject.toml constraints.txt | $(BIN)/python
	$(PIP_INSTALL) 'pip>=25.1'
	$(PIP_INSTALL) --editable '.[plots,spark,experiments,postgres,explorer,files]' --editable ./reproduction \
	  --group test --group docs
	@touch $@ $(VENV)/.core

demo: $(VENV)/.core ## release a private table of bundled data into demo-output/
	$(BIN)/ggdp demo --overwrite

lint: $(VENV)/.all ## check style and format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.all ## check types
	$(BIN)/mypy

imports: $(VENV)/.all ## check the layers of the packages
	$(BIN)/lint-imports --no-cache

docs: $(VENV)/.all ## build the documentation into docs/_build/html
	rm -rf docs/reference/api
	$(BIN)/python -m sphinx -q -W --keep-going -b html docs docs/_build/html

pages: $(VENV)/.all ## check that the documentation builds without a warning (in a plain theme, twice as fast)
	rm -rf docs/reference/api
	$(BIN)/python -m sphinx -q -W --keep-going -b html -D html_theme=basic docs docs/_build/plain

checks: $(VENV)/.all ## lint, types, imports and pages, two at a time
	$(MAKE) --no-print-directory --jobs=2 pages types lint imports

quick: $(VENV)/.all ## lint, types and the tests of what changed, in half a minute; or of one SUBJECT=ledger
	$(BIN)/python tests/quick.py $(SUBJECT)

test: checks tests ## the checks and the tests, in about nine minutes on two cores

tests: $(VENV)/.all ## the tests alone
	$(BIN)/python -m pytest -n 2 -m 'not exhaustive'

test-all: checks ## the same with slow tests, fresh random examples, sabotages, and every example of the pages
	HYPOTHESIS_PROFILE=fresh $(BIN)/python -m pytest -n 2
	$(BIN)/python tests/sabotage/run.py
	$(MAKE) test-examples

coverage: $(VENV)/.all ## which lines the tests run, branches too, into htmlcov/
	$(BIN)/python -m pytest -n 2 -m 'not exhaustive' --cov --cov-report=term:skip-covered --cov-report=html

test-examples: ## every example of the README and the documentation, after the README's own install
	$(PYTHON) tests/docs/fresh_install.py .venv-examples

test-minimums: ## the tests with the oldest versions that pyproject.toml allows
	$(PYTHON) tests/minimums.py .venv-minimums

test-side-by-side: ## ggdp next to other libraries and pandas 2 and 3, each in an environment
	$(PYTHON) tests/neighbours_installed.py .venv-side-by-side

dist: ## build what is released, and check it, in dist/
	rm -rf dist
	$(PYTHON) -m venv --clear .venv-dist
	.venv-dist/bin/python -m pip install --quiet --disable-pip-version-check build twine
	.venv-dist/bin/python -m build --outdir dist .
	$(if $(wildcard reproduction),.venv-dist/bin/python -m build --outdir dist reproduction)
	.venv-dist/bin/python -m twine check --strict dist/*

shape: $(VENV)/.all ## how large and how deep the library is, compared with the aims
	$(BIN)/python benchmarks/shape.py

bench: ## measure every part, beside other libraries
	$(PYTHON) benchmarks/run.py

clean: ## remove environments and everything built
	rm -rf $(VENV) .venv-minimums .venv-examples .venv-bench .venv-dist .venv-side-by-side
	rm -rf docs/_build docs/reference/api docs/figures demo-output dist htmlcov .coverage
