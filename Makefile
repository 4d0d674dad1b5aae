# Every target makes its own environment (.venv) on a machine that has Python 3.11+, make and a C compiler.
# `make demo` shows the main job; `make test` is what CI runs; `make prove` is what takes long.

PYTHON ?= python3
BENCH ?= all
VENV := .venv
ifeq ($(OS),Windows_NT)
BIN := $(VENV)/Scripts
else
BIN := $(VENV)/bin
endif
RUN := $(BIN)/python
READY := $(VENV)/.ready

.PHONY: train help demo test quick prove conformance lint bench platforms lock wheel clean

help:
	@echo "make demo       index a small site, search it and read it through a real MCP client"
	@echo "make test       lint, types, imports, tests (what CI runs)"
	@echo "make prove      fuzzing, soaks, kills: minutes"
	@echo "make conformance   the official MCP suite: a line for each set of scenarios, and what did not pass"
	@echo "make lint       lint, types, imports alone"
	@echo "make bench      BENCH=stdio|index|protocol|egress|reading for one"
	@echo "make train      the weights of the main-content classifier, from ../shared/pages: minutes"
	@echo "make platforms  does the lock resolve to wheels everywhere we promise?"
	@echo "make lock       resolve the dependencies anew"
	@echo "make wheel      build dist/*.whl"

$(READY): requirements/dev.txt pyproject.toml
	$(PYTHON) -c 'import sys; v = sys.version_info; sys.exit(0 if v >= (3, 11) else f"Webseam needs Python 3.11 or newer, {sys.executable} is {v[0]}.{v[1]}: make PYTHON=python3.11")'
	$(PYTHON) -m venv $(VENV)
	$(RUN) -m pip install --quiet --disable-pip-version-check --require-hashes --only-binary :all: -r requirements/dev.txt
	$(RUN) -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	$(RUN) -c 'import pathlib; pathlib.Path("$(READY)").touch()'

# What is compiled is made again when its source is newer; without a C compiler everything runs as Python.
COMPILED := $(VENV)/.compiled

$(COMPILED): $(READY) scripts/compiled.py $(wildcard src/webseam/documents/*.p* src/webseam/documents/html/*.p*)
	$(RUN) scripts/compiled.py
	$(RUN) -c 'import pathlib; pathlib.Path("$(COMPILED)").touch()'

demo: $(COMPILED)
	$(RUN) -m webseam demo

PEERS := $(VENV)/.peers

$(PEERS): $(READY) scripts/peers.py requirements/mcp1.txt requirements/clients.txt $(wildcard tests/*/package.json tests/*/package-lock.json)
	$(RUN) scripts/peers.py
	$(RUN) -c 'import pathlib; pathlib.Path("$(PEERS)").touch()'

test: lint quick

quick: $(PEERS) $(COMPILED)
	$(RUN) -m pytest -m "not prove"

prove: $(PEERS) $(COMPILED)
	$(RUN) -m pytest -m prove

conformance: $(READY)
	$(RUN) scripts/conformance.py

lint: $(READY)
	$(RUN) -m ruff check .
	$(RUN) -m ruff format --check .
	$(RUN) -m mypy
	$(BIN)/lint-imports

bench: $(COMPILED)
	$(RUN) bench/run.py $(BENCH)

train: $(COMPILED)
	$(RUN) training/train.py

platforms: $(READY)
	$(RUN) scripts/platforms.py

lock: $(READY)
	$(RUN) scripts/lock.py

wheel: $(READY)
	$(RUN) -m hatchling build -t wheel

clean:
	$(PYTHON) -c 'import pathlib; [p.unlink() for e in ("so", "pyd") for p in pathlib.Path("src").rglob("*." + e)]'
	$(PYTHON) -c 'import shutil; [shutil.rmtree(p, ignore_errors=True) for p in (".venv", "dist", "build", ".mypy_cache", ".ruff_cache", ".pytest_cache")]'
