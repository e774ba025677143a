# The README's two commands: make run, make test. Each sets up .venv itself; only Python 3.11+ and make are needed.
PYTHON ?= $(firstword $(foreach v,python3.13 python3.12 python3.11 python3 python,\
  $(shell $(v) -c 'import sys; sys.exit(not (3,11) <= sys.version_info[:2] <= (3,13))' 2>/dev/null && echo $(v))))
PROFILE ?= quick
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
RUN_FLAGS ?=
COVERAGE_FLAGS ?=
BENCH_FLAGS ?=
TORCH ?= torch
PYTEST ?= $(BIN)/python -m pytest

.PHONY: run test lint unit coverage test-slow test-lowest reproduce-all verify report docs notebooks readme bench clean
.DEFAULT_GOAL := help

help:
	@echo "make run            run the main job (fairpriv run experiment=attribute_conceal)"
	@echo "make test           lint and tests"
	@echo "make reproduce-all  every experiment from nothing into build/reproduce, compared with results/ (PROFILE=$(PROFILE))"
	@echo "make verify         ten minutes of committed cells computed again: equal, byte for byte?"
	@echo "make report         results/report.html from what is in results/"
	@echo "make docs           the documentation, build/site (make notebooks: run its notebooks anew)"
	@echo "make readme         the counts and times in README.md, from results/"
	@echo "make coverage       how much of fairpriv/ the tests run, child processes and workers included"
	@echo "make bench          the measurements, each beside its peer: results/benchmarks.csv (BENCH_FLAGS='recovery ldp': some)"
	@echo "make test-slow      the long tests; make test-lowest: the tests with the oldest packages we promise"

$(READY): pyproject.toml
	@test -n "$(PYTHON)" || { echo "no Python 3.11 to 3.13 found: set PYTHON=/path/to/python"; exit 2; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable '.[dev,engines]'
	@touch $(READY)

run: $(READY)
	$(BIN)/fairpriv run experiment=attribute_conceal profile=$(PROFILE) $(RUN_FLAGS)

test: lint unit

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

unit: $(READY)
	$(PYTEST) -n 2

# Child processes and the engines' workers are measured too ([tool.coverage] in pyproject.toml).
coverage: export COVERAGE_FILE := $(CURDIR)/.coverage
coverage: $(READY)
	$(BIN)/coverage erase
	$(BIN)/coverage run -m pytest $(COVERAGE_FLAGS)
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report

test-slow: $(READY)
	$(PYTEST) -m slow

# The lower bounds in pyproject.toml, really tried: a second environment with exactly those versions.
test-lowest:
	$(PYTHON) -m venv $(VENV)-lowest
	$(VENV)-lowest/bin/python -m pip install --quiet --upgrade pip uv
	$(VENV)-lowest/bin/uv pip install --quiet --python $(VENV)-lowest/bin/python --resolution lowest-direct --editable '.[dev,engines]'
	$(VENV)-lowest/bin/python -m pytest -n 2

# From nothing into build/reproduce, resumable; then compared with results/.
reproduce-all: $(READY)
	$(BIN)/fairpriv reproduce --profile $(PROFILE) $(RUN_FLAGS)

# Every combination of plug-ins in turn, as many cells as ten minutes hold.
verify: $(READY)
	$(BIN)/fairpriv verify --sample 150 --minutes 10

report: $(READY)
	$(BIN)/fairpriv report

# A second environment: the site's tools are many, and nobody else needs them.
docs:
	$(PYTHON) -m venv $(VENV)-docs
	$(VENV)-docs/bin/python -m pip install --quiet --editable '.[docs]'
	NO_MKDOCS_2_WARNING=1 $(VENV)-docs/bin/mkdocs build --strict --quiet
	@echo build/site/index.html

# The parts of README.md that are computed from results/.
readme: $(READY)
	$(BIN)/python docs/readme.py

notebooks: docs
	$(VENV)-docs/bin/python docs/notebooks/execute.py

# Everything is measured against its peer, so the peers are installed; TORCH=torch==2.13.0+cpu saves the CUDA download.
bench:
	$(PYTHON) -m venv $(VENV)-bench
	$(VENV)-bench/bin/python -m pip install --quiet '$(TORCH)' --editable '.[bench]'
	$(VENV)-bench/bin/python -m tests.benchmarks $(BENCH_FLAGS)

clean:
	rm -rf $(VENV) $(VENV)-lowest $(VENV)-docs $(VENV)-bench .pytest_cache .ruff_cache .mypy_cache .coverage .coverage.* .cache dist build
