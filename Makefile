# Every target does its own set-up in a fresh clone: `make demo`, `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PLUGINS := $(sort $(dir $(wildcard plugins/*/pyproject.toml)))
READY := $(VENV)/.ready
WORKERS ?= auto

.PHONY: help setup demo test lint types docs build clean
.DEFAULT_GOAL := help

help:  ## List the targets
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

setup: $(READY)  ## Make .venv with everything in it

$(READY): pyproject.toml $(addsuffix pyproject.toml,$(PLUGINS)) requirements-dev.txt constraints-dev.txt
	$(PYTHON) -c 'import sys; sys.exit("codereward needs Python 3.11 or newer; choose one with make PYTHON=...") if sys.version_info < (3, 11) else 0'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints-dev.txt --requirement requirements-dev.txt
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints-dev.txt --no-build-isolation --editable . $(addprefix --editable ,$(PLUGINS))
	touch $@

demo: $(READY)  ## Train a small model with GRPO on this machine: the main job
	$(BIN)/python examples/grpo_demo/demo.py --output demo-output

test: $(READY)  ## Run all tests, in parallel, with coverage
	rm -f .coverage .coverage.*
	PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 $(BIN)/coverage run -m pytest -p xdist -p timeout -n $(WORKERS) --dist loadfile
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report --skip-covered

lint: $(READY)  ## Check style, formatting, and who imports whom
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/lint-imports

types: $(READY)  ## Check types, strictly
	$(BIN)/mypy

docs: $(READY)  ## Build the documentation, strictly
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

build: $(READY)  ## Build the wheels of all distributions into dist/
	for one in . $(PLUGINS); do $(BIN)/pip wheel --quiet --no-deps --no-build-isolation --wheel-dir dist $$one || exit 1; done

clean:  ## Remove everything that was made
	rm -rf $(VENV) dist site demo-output .demo-cache .coverage* .hypothesis .mypy_cache .ruff_cache
