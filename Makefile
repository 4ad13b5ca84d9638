# Every target makes its own virtual environment; nothing but Python 3.11+ has to be there before.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Tests that pytest has rewritten are kept for the next run, also where the shell forbids it.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: demo test test-all test-rest lint types results docs bench fuzz mutation audit-dependencies clean

$(VENV)/.runtime: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet -e .
	@touch $@

$(VENV)/.dev: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet -e '.[dev]'
	@touch $@ $(VENV)/.runtime

demo: $(VENV)/.runtime
	$(BIN)/python -m pathveil demo

CODE := src tests examples benchmarks fuzz mutation docs
# The marks of pyproject.toml that `make test` leaves out.
REST := slow or spark or browser or site or reference

# Style, types, and whatever protects a user from a wrong result. The aim is three minutes on two cores.
test: lint
	@$(MAKE) --no-print-directory --jobs=2 types results

test-all: test test-rest

lint: $(VENV)/.dev
	$(BIN)/ruff check $(CODE)
	$(BIN)/ruff format --check $(CODE)

types: $(VENV)/.dev
	$(BIN)/mypy

results: $(VENV)/.dev
	$(BIN)/pytest -n 2 --dist worksteal -m "not ($(REST))"

# More processes than cores, since many of these tests wait for Java or a browser.
test-rest: $(VENV)/.dev
	$(BIN)/pytest -n 3 --dist worksteal -m "$(REST)"

# The notebooks are run on the way, which takes most of the time.
docs: $(VENV)/.dev
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	@echo "build/site/index.html; its search needs a server: $(BIN)/python -m http.server --directory build/site"

# The libraries that we compare with want other versions of things; they get an environment of their own.
bench: $(VENV)-bench/.ready
	$(VENV)-bench/bin/python benchmarks/run.py build/benchmarks

$(VENV)-bench/.ready: pyproject.toml benchmarks/requirements.txt
	$(PYTHON) -m venv $(VENV)-bench
	$(VENV)-bench/bin/pip install --quiet -e '.[graph,spark]' -r benchmarks/requirements.txt
	@touch $@

# Every parser, coverage-guided, SECONDS each, two at a time (fuzz/run.py): an hour by default.
SECONDS ?= 600
fuzz: $(VENV)-fuzz/.ready
	$(VENV)-fuzz/bin/python fuzz/run.py $(SECONDS) $(PARSERS)

$(VENV)-fuzz/.ready: pyproject.toml fuzz/requirements.txt
	$(PYTHON) -m venv $(VENV)-fuzz
	$(VENV)-fuzz/bin/pip install --quiet -e . -r fuzz/requirements.txt
	@touch $@

# Whether the tests notice when a line is wrong (docs/development/mutation-testing.md): SAMPLE mutants in each of ROOMS, some hours.
SAMPLE ?= 80
SEED ?= 1
mutation: $(VENV)-mutation/.ready
	$(VENV)-mutation/bin/python mutation/run.py $(ROOMS) --sample $(SAMPLE) --seed $(SEED)

$(VENV)-mutation/.ready: pyproject.toml mutation/requirements.txt
	$(PYTHON) -m venv $(VENV)-mutation
	$(VENV)-mutation/bin/pip install --quiet -e '.[dev]' -r mutation/requirements.txt
	@touch $@

# Known vulnerabilities of what we depend on. --strict: a package that could not be looked up is a failure, not a pass.
audit-dependencies: $(VENV)-audit/.ready
	$(VENV)-audit/bin/pip-audit --strict .

$(VENV)-audit/.ready:
	$(PYTHON) -m venv $(VENV)-audit
	$(VENV)-audit/bin/pip install --quiet pip-audit
	@touch $@

clean:
	rm -rf $(VENV) $(VENV)-bench $(VENV)-fuzz $(VENV)-mutation $(VENV)-audit build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
