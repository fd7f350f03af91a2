# Each target sets up what it needs: a virtual environment in .venv, the dependencies, the package itself.
# PYTHON=... chooses the interpreter (3.11 or later); otherwise the first one that is recent enough.

VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
RECENT := import sys, ensurepip, venv; sys.exit(sys.version_info < (3, 11))
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11 python; do \
	if $$p -c '$(RECENT)' >/dev/null 2>&1; then echo $$p; break; fi; done)

.PHONY: install test quick golden golden-accept pythons compare docs


install: $(STAMP)

$(STAMP): pyproject.toml Makefile
	@test -n "$(PYTHON)" || { echo "dpor needs Python 3.11 or later with the venv module: make PYTHON=/path/to/python"; exit 1; }
	@$(PYTHON) -c '$(RECENT)' || { echo "$(PYTHON) is older than Python 3.11, or has no venv module"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[test]'
	touch $@

test: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	@command -v chromium >/dev/null || echo "no chromium here: the tests of pages in a browser are skipped"
	$(BIN)/python -m pytest --numprocesses auto

# The suite on each Python that is here, each in an environment of its own; says which are not here, and which failed.
pythons:
	@failed= ; skipped= ; for v in 3.11 3.12 3.13 3.14 3.15; do \
		if python$$v -c '$(RECENT)' >/dev/null 2>&1; then \
			echo "== Python $$v"; \
			$(MAKE) --no-print-directory VENV=.venv-$$v PYTHON=python$$v install \
				&& .venv-$$v/bin/python -m pytest --numprocesses auto || failed="$$failed $$v"; \
		else skipped="$$skipped $$v"; fi; \
	done; \
	[ -z "$$skipped" ] || echo "not here, and so skipped:$$skipped"; \
	[ -z "$$failed" ] || { echo "failed:$$failed"; exit 1; }

# What catches most mistakes, in under 90 seconds: the files are named in tests/quick.txt.
quick: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m pytest --numprocesses 2 $$(grep -v '^#' tests/quick.txt)

# Accesses, executions and outcomes as they were recorded, and to record them anew: tests/README.md.
golden: install
	$(BIN)/python -m tests.golden

golden-accept: install
	$(BIN)/python -m tests.golden --accept

# Parizek and Lhotak's Table 10 for our workloads, as they had it and by default, in about five minutes: bench/README.md.
compare: install
	$(BIN)/python -m bench tables 10 11 --max-seconds 12

docs: install
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build
