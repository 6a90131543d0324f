# Every verb sets up what it needs: a virtual environment in .venv with the pinned dependencies of constraints.txt.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.DEFAULT_GOAL := help
.PHONY: help setup reproduce-table1 report notebooks site bench test test-slow test-thorough dist lint types check list clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-zA-Z0-9%_-]+:.*## / {printf "  %-18s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(READY) ## create the virtual environment

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@$(BIN)/python -m nalu_bench.running.compiler
	@touch $@

reproduce-table1: reproduce-trask2018-table1 ## Table 1 of Trask et al. 2018, in minutes (BUDGET=paper: the full scale)

reproduce-%: $(READY) ## any experiment, such as reproduce-madsen2020-table1 (FRESH=1: train what results/ holds, too)
	$(BIN)/nalu-bench run experiment=$(subst -,/,$*) budget=$(or $(BUDGET),short) $(if $(FRESH),committed=false)
	$(BIN)/nalu-bench report $(subst -,/,$*) budget=$(or $(BUDGET),short)

report: $(READY) ## build the page of every experiment with results, and the index of all claims
	$(BIN)/nalu-bench report --all

bench: $(READY) ## time training against a plain torch loop, in minutes; leave the machine alone meanwhile
	$(BIN)/python benchmarks/bench.py

test: $(READY) ## run all tests but the slow ones, in minutes
	$(BIN)/python -m pytest -n 2 --dist worksteal -q -m "not slow"

test-slow: $(READY) ## run the slow tests and the notebooks
	$(BIN)/python -m pytest -n 2 --dist worksteal -q -m "slow and not thorough"
	$(BIN)/python -m pytest -n 2 --dist worksteal -q --nbmake notebooks

test-thorough: $(READY) ## run the longest tests, which show on more what slow ones show
	$(BIN)/python -m pytest -n 2 --dist worksteal -q -m thorough

notebooks: $(READY) ## open the notebooks in a browser (installs jupyterlab)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[notebooks]'
	$(BIN)/jupyter lab notebooks

site: $(READY) ## build the site in site/, for any static host, in minutes (installs nbconvert and pdoc)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[site]'
	rm -rf site
	$(BIN)/python -m nalu_bench.pages.site site

dist: $(READY) ## build a wheel in dist/ that works without this checkout
	$(BIN)/python -m hatchling build -t wheel -d dist

lint: $(READY) ## check the style
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY) ## check the types
	$(BIN)/mypy

check: test test-slow test-thorough dist lint types ## run all tests, check the style and the types

list: $(READY) ## show tasks, models, recipes, budgets, experiments
	$(BIN)/nalu-bench list

clean: ## remove the environment, the site and caches; keeps runs/ and results/
	rm -rf $(VENV) site .pytest_cache .mypy_cache .ruff_cache
